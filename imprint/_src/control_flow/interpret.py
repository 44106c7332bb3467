"""Evaluation of a jaxpr by its primitives' references, on NumPy arrays.

The reference of a control primitive evaluates its bodies this way, with their effects;
nothing is traced or compiled. A debugger that steps through a program replaces this
interpreter (`interpreting`), and so sees the bodies of every control primitive.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import numpy as np

from imprint._src.core.jaxpr import Eqn, Jaxpr, Literal, Var
from imprint._src.core.primitive import Values

Interpreter = Callable[[Jaxpr, Sequence[Any]], Values]

_interpreter: Final[ContextVar[Interpreter | None]] = ContextVar(
    "imprint_interpreter", default=None
)


def interpret(jaxpr: Jaxpr, arrays: Sequence[Any]) -> Values:
    """Run a jaxpr without constants on NumPy arrays, by the primitives' references."""
    other = _interpreter.get()
    if other is not None:
        return other(jaxpr, arrays)
    env: dict[Var, Any] = dict(zip(jaxpr.invars, arrays, strict=True))

    def read(atom: Var | Literal) -> Any:
        return literal_value(atom) if isinstance(atom, Literal) else env[atom]

    for eqn in jaxpr.eqns:
        env.update(zip(eqn.outvars, compute(eqn, map(read, eqn.invars)), strict=True))
    return tuple(read(atom) for atom in jaxpr.outvars)


def compute(eqn: Eqn, operands: Iterable[Any]) -> Values:
    """Return the results of an equation, by the reference of its primitive."""
    results = eqn.primitive.reference(*operands, **eqn.params)
    # NumPy computes integers below a byte as int8: only the dtype cuts them.
    pairs = zip(results, eqn.outvars, strict=True)
    return tuple([np.asarray(x, v.aval.dtype) for x, v in pairs])


def literal_value(literal: Literal) -> Any:
    """Return the value of a literal as a NumPy array."""
    return np.asarray(literal.value, literal.aval.dtype)


@contextmanager
def interpreting(interpreter: Interpreter | None) -> Generator[None]:
    """Let `interpret` hand jaxprs to another interpreter inside the `with` block."""
    token = _interpreter.set(interpreter)
    try:
        yield
    finally:
        _interpreter.reset(token)
