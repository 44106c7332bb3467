"""The bottom interpreter: evaluate one primitive now.

Outside any trace a primitive runs by its NumPy reference, so `x + y` compiles nothing.
A primitive in `COMPILED` holds a program or is too slow in NumPy: it is compiled, once
for each jaxpr. IEEE results (inf, nan) are values, not warnings: references run in a
context of this thread in which NumPy says nothing. The flags of the caller's context do
not reach them: what depends on a flag is in the avals and the params.
"""

import contextvars
import threading
from typing import Any, Final

import numpy as np

from imprint import runtime
from imprint.array import ArrayImpl, from_host, host_values, to_array
from imprint.compile.program import Program, compile_closed
from imprint.control.call import jit_p
from imprint.core import hooks
from imprint.core.aval import get_aval
from imprint.core.jaxpr import ClosedJaxpr
from imprint.core.primitive import Primitive
from imprint.core.trace import Tracer

COMPILED: Final = frozenset({jit_p})
"""Primitives that eager evaluation compiles."""


class _Quiet(threading.local):
    """A context without NumPy's floating-point warnings; 0.1 us where errstate is 0.7."""

    def __init__(self) -> None:
        context = contextvars.copy_context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


_quiet = _Quiet()


def evaluate(
    primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]
) -> tuple[Any, ...]:
    """Apply a primitive to concrete operands; hot."""
    if primitive in COMPILED:
        return _run_compiled(primitive, operands, params)
    avals: list[Any] = []
    hosts: list[Any] = []
    for x in operands:
        if type(x) is ArrayImpl:
            avals.append(x.aval)
            try:  # the property `host` costs 50 ns more
                hosts.append(x._host)  # pyright: ignore[reportPrivateUsage] - the hot path
            except AttributeError:
                hosts.append(x.host)
        elif isinstance(x, Tracer):
            to_array(x)  # raises: the tracer has leaked
        else:
            aval = get_aval(x)
            avals.append(aval)
            is_typed = isinstance(x, np.generic)  # nothing to check, nothing to share
            make = np.asarray if is_typed else host_values
            hosts.append(make(x, aval.dtype))
    out_avals = primitive.out_avals(tuple(avals), params)
    outs = _quiet.run(primitive.reference, *hosts, **params)
    return tuple(
        [
            from_host(aval, np.asarray(out))
            for aval, out in zip(out_avals, outs, strict=True)
        ]
    )


def _run_compiled(
    primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]
) -> tuple[Any, ...]:
    closed = params["jaxpr"]
    assert isinstance(closed, ClosedJaxpr)
    program: Program = closed.derived(
        "program", lambda: compile_closed(closed, params["name"], _buffers_of)
    )
    arrays = [to_array(x) for x in operands]
    buffers = program.run([arrays[i].buffer for i in program.kept])
    return tuple(map(ArrayImpl, program.out_avals, buffers))


def _buffers_of(values: Any) -> list[runtime.Buffer]:
    return [to_array(x).buffer for x in values]


hooks.install_eager(evaluate)
