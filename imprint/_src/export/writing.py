"""The module of a program for every size.

XLA replaces the names of sizes by numbers; this is tried for some sizes before the module
is stored. If it fails, the error names the equation that has no such form.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from imprint._src import runtime
from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var
from imprint._src.dynamic_shapes import SymbolicScope
from imprint._src.dynamic_shapes.values import allows
from imprint._src.errors import ArgumentError, ConcretizationError, ShapeError
from imprint._src.export.module import at_sizes
from imprint._src.interpreters.lowering import SizeSource, lower_jaxpr
from imprint._src.interpreters.trace_to_jaxpr import hoist_consts
from imprint._src.jit.bucketing.sizes import scope_of, size_at, sources
from imprint._src.runtime import EngineError

_TRIED: Final = (2, 3, 5, 8, 16, 32, 64, 256, 1, 1024)
_FAILURES: Final = (ShapeError, ConcretizationError, EngineError)


class ExportModule(NamedTuple):
    """A module.

    Args:
        text: StableHLO.
        calls_python: whether it calls functions of this process.
    """

    text: str
    calls_python: bool


def write(who: str, closed: ClosedJaxpr, name: str) -> ExportModule:
    """Return the module of a program whose sizes may be names.

    Raises:
        ArgumentError: there is none that holds for all sizes.
    """
    names = sources(who, closed.in_avals)
    try:
        module = lower_jaxpr(
            hoist_consts(closed).jaxpr,
            name,
            sizes=names,
            consts=[np.asarray(c) for c in closed.consts],
        )
        text = module.text()
        if names:
            _try(text, closed.in_avals, closed.out_avals)
    except _FAILURES as err:
        if not names:
            raise
        raise _explained(who, closed, err) from err
    return ExportModule(text, bool(module.callbacks))


def _try(text: str, takes: Sequence[ShapedArray], gives: Sequence[ShapedArray]) -> None:
    """Raise EngineError if XLA cannot replace the names by numbers."""
    scope = scope_of("export", takes)
    values = (
        None
        if scope is None
        else _allowed_sizes(scope, sorted(sources("export", takes)))
    )
    if values is not None:
        avals = [_at(aval, values) for aval in takes]
        at_sizes(runtime.functions_of(text), takes, gives, avals)


def _allowed_sizes(scope: SymbolicScope, names: Sequence[str]) -> dict[str, int] | None:
    """Return sizes that the constraints allow; None if a short search finds none."""
    same = ((n,) * len(names) for n in _TRIED)
    several = product(_TRIED, repeat=len(names)) if len(names) < 4 else ()
    for numbers in (*same, *several):
        values = dict(zip(names, numbers, strict=True))
        if allows(scope, values):
            return values
    return None


def _at(aval: ShapedArray, values: Mapping[str, int]) -> ShapedArray:
    shape = tuple([size_at(n, values) for n in aval.shape])
    return ShapedArray(shape, aval.dtype, aval.weak_type)


# ---- equations without a form for every size ----


def _explained(who: str, closed: ClosedJaxpr, err: Exception) -> ArgumentError:
    """Return the error of a program that has no module for every size."""
    names = sources(who, closed.in_avals)
    lengths = [closed.in_avals[s.argument] for s in names.values()]
    at = [s.axis for s in names.values()]
    holders = [
        ShapedArray((a.shape[i],), np.dtype(np.int8))
        for a, i in zip(lengths, at, strict=True)
    ]
    for eqn in _equations(closed.jaxpr):
        reason = _reason(eqn, names, holders)
        if reason:
            place = "" if eqn.source is None else f" at {eqn.source}"
            return ArgumentError(
                f"{who}: expected operations that have a form for every size, got "
                f"{eqn.primitive}{place}: {reason} Export for sizes that are numbers, or "
                "compute it otherwise."
            )
    return ArgumentError(
        f"{who}: expected a program that has a form for every size, got one that the "
        f"engine does not take: {err} Export for sizes that are numbers."
    )


def _equations(jaxpr: Jaxpr) -> Iterator[Eqn]:
    for eqn in jaxpr.eqns:
        for body in eqn.primitive.jaxprs(eqn.params):
            yield from _equations(body.jaxpr)
        yield eqn


def _reason(
    eqn: Eqn, names: Mapping[str, SizeSource], holders: Sequence[ShapedArray]
) -> str:
    """Return why an equation has no form for every size; "" if it has one."""
    args = [Var(v.aval) for v in eqn.invars]
    sizes = [Var(aval) for aval in holders]
    alone = Eqn(args, eqn.outvars, eqn.primitive, eqn.params)
    jaxpr = Jaxpr((), [*sizes, *args], eqn.outvars, [alone])
    found = {
        name: SizeSource(i, 0, s.factor, s.offset)
        for i, (name, s) in enumerate(names.items())
    }
    try:
        text = lower_jaxpr(jaxpr, "alone", sizes=found, locations=False).text()
        _try(text, [v.aval for v in jaxpr.invars], [v.aval for v in jaxpr.outvars])
    except (ShapeError, ConcretizationError) as err:
        return str(err)
    except EngineError:
        return "it has none in StableHLO."
    return ""
