"""The primitive that calls an exported function inside a program.

Its shapes are those of the exported function at the sizes of the operands. It has no rules
for derivatives or batches, because the computation of the module is unknown. A function
that was exported with its derivative is called through a function with a custom rule.
"""

from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np

from imprint._src.control_flow.call import call
from imprint._src.core.aval import ShapedArray
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.core.padding import PerSize
from imprint._src.core.primitive import Absent, Avals, Primitive, Values
from imprint._src.export.module import Functions, retyped, write_call
from imprint._src.interpreters.lowering import ir_type
from imprint._src.stablehlo import Builder, Value


class Callee(Protocol):
    """An exported function, as the primitive uses it."""

    fun_name: str
    module_kept_var_idx: tuple[int, ...]

    def results_at(self, avals: Sequence[ShapedArray]) -> Avals:
        """Return the avals of the results; ShapeError if the operands do not fit."""
        ...

    def types_at(self, avals: Sequence[ShapedArray]) -> tuple[Avals, Avals]:
        """Return the avals of the arguments and results of `functions_at`."""
        ...

    def functions_at(self, avals: Sequence[ShapedArray]) -> Functions:
        """Return its StableHLO for operands of these avals."""
        ...

    def program_at(self, avals: Sequence[ShapedArray]) -> ClosedJaxpr:
        """Return the program of one call of it."""
        ...


def _aval(*avals: ShapedArray, exported: Callee) -> Avals:
    return exported.results_at(avals)


def _reference(*arrays: Any, exported: Callee) -> Values:
    avals = tuple([ShapedArray(x.shape, x.dtype) for x in arrays])
    outs = call(exported.program_at(avals), arrays, exported.fun_name)
    return tuple(map(np.asarray, outs))


def _lower(b: Builder, *values: Value, exported: Callee) -> tuple[Value, ...]:
    avals = tuple([ShapedArray(x.shape, x.dtype) for x in values])
    kept = [values[i] for i in exported.module_kept_var_idx]
    functions, types = exported.functions_at(avals), exported.types_at(avals)
    outs = write_call(b, functions, types, kept)
    wanted = map(ir_type, exported.results_at(avals))
    return tuple(retyped(b, x, to) for x, to in zip(outs, wanted, strict=True))


_NO_DERIVATIVE: Final = Absent(
    "an exported function has the derivative that it was serialized with: "
    "exported.serialize(vjp_order=1)"
)

call_exported_p: Final = Primitive(
    name="call_exported",
    multiple_results=True,
    aval=_aval,
    reference=_reference,
    lower=_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_NO_DERIVATIVE,
    transpose=_NO_DERIVATIVE,
    batch=Absent(
        "an exported function has no batched form: use imprint.lax.map, or export "
        "imprint.vmap of the function"
    ),
    pad=PerSize("its module is for the sizes of the operands"),
    samples=Absent("tests/units/export has the programs that are exported"),
)
