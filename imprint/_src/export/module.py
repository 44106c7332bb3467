"""The StableHLO of a call: names in sizes become the numbers of its arguments.

XLA refines a module whose `main` takes numbers for sizes; this `main` passes its arguments
on to the exported `main`. Inside another program the functions of a module have names of
that program.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from imprint._src import runtime
from imprint._src.core.aval import ShapedArray
from imprint._src.interpreters.lowering import ir_type
from imprint._src.stablehlo import Builder, ModuleWriter, TensorType, Value
from imprint._src.stablehlo.builder import function_text

Functions = Mapping[str, str]
"""The texts of functions by their names; one is `main`."""
Avals = Sequence[ShapedArray]

_SYMBOL: Final = re.compile(r"@([A-Za-z_][\w$.]*)")


def at_sizes(
    functions: Functions, takes: Avals, gives: Avals, avals: Avals
) -> Functions:
    """Return the functions of a module for every size, at the sizes of a call.

    Args:
        functions: of the module.
        takes: the avals of its arguments.
        gives: those of its results.
        avals: those of the arguments of the call.
    """
    writer = ModuleWriter("exported")
    b = Builder(writer)
    args = [Value(f"%arg{i}", ir_type(a)) for i, a in enumerate(avals)]
    results = write_call(b, functions, (takes, gives), args)
    writer.add(function_text("main", b, [(x, "") for x in args], results, public=True))
    return runtime.functions_of(runtime.refine_sizes(writer.text()))


def write_call(
    b: Builder, functions: Functions, types: tuple[Avals, Avals], args: Sequence[Value]
) -> tuple[Value, ...]:
    """Write a call of the `main` of a module, and the functions the first time.

    Args:
        b: the builder of the calling function.
        functions: of the module.
        types: the avals of its arguments, and of its results.
        args: the arguments.
    """
    takes, gives = [[ir_type(a) for a in avals] for avals in types]

    def define(symbol: str) -> tuple[TensorType, ...]:
        _put(b.module, functions, symbol)
        return tuple(gives)

    symbol, _ = b.module.function(functions, "exported", define)
    given = [retyped(b, x, wanted) for x, wanted in zip(args, takes, strict=True)]
    return b.call(symbol, given, gives)


def retyped(b: Builder, x: Value, wanted: TensorType) -> Value:
    """Return a value with a type that knows other sizes of it."""
    if x.type.text == wanted.text:
        return x
    return b.dynamic_op("stablehlo.convert {}", [x], wanted)


def _put(writer: ModuleWriter, functions: Functions, main: str) -> None:
    """Write the functions of a module into another one, with `main` under a name."""
    names = {n: main if n == "main" else writer.unique_name(n) for n in functions}
    for text in functions.values():
        head, rest = text.split("@", 1)
        private = f"func.func private @{rest}" if "func.func" in head else text
        writer.add(
            _SYMBOL.sub(lambda at: f"@{names.get(at[1], at[1])}", private) + "\n"
        )
