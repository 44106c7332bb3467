"""How the tests draw operands and params of a primitive: plain data.

A primitive declares `Samples`; the laws (tests/laws) turn it into Hypothesis
strategies. This file knows no Hypothesis: `cases` lists whole sets of operand shapes
and params where operands depend on each other, everything else is drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from imprint._src.core.aval import Shape


@dataclass(frozen=True)
class Case:
    """One call: operand shapes, params, and dtypes where not those of the samples.

    In `dtypes` None stands for the dtype of the samples, each in turn.
    """

    shapes: tuple[Shape, ...]
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    dtypes: tuple[str | None, ...] | None = None


@dataclass(frozen=True)
class Samples:
    """What the laws may feed a primitive.

    Args:
        dtypes: names of the dtypes that the primitive takes (all operands alike).
        arity: number of operands when `cases` is empty: the laws draw their shapes,
            equal or rank 0, for elementwise primitives.
        domain: open interval from which smooth values are drawn.
        edges: values that every run meets (laws 1 to 3 and 7, not the derivatives).
        cases: whole calls, for primitives whose operands depend on each other.
        operand_domains: the interval per operand, where they differ.
        differentiable: False for primitives with no derivative (results discrete).
        conventional: True where the derivative is a convention which differences do not
            show: JAX says what it is, and laws 5 and 6 say nothing.
        finite: True where nothing says what infinities give: programs of the engine's
            differ in whether they multiply them by the zeros of padding.
        ulps: how far XLA may lie from NumPy, in units in the last place.
        fit: `(*arrays, **params) -> arrays`: makes drawn operands ones that the
            primitive means, such as matrices that have an inverse; also of a stack.
    """

    dtypes: tuple[str, ...]
    arity: int = 0
    domain: tuple[float, float] = (-4.0, 4.0)
    edges: tuple[Any, ...] = ()
    cases: tuple[Case, ...] = ()
    operand_domains: tuple[tuple[float, float], ...] = ()
    differentiable: bool = True
    conventional: bool = False
    finite: bool = False
    ulps: float = 4.0
    fit: Callable[..., tuple[Any, ...]] | None = None
