"""The stages of a compilation, one object each: Traced, Lowered, Compiled.

`f.trace(x).lower().compile()(x)` does by hand what `f(x)` does. Nothing here touches the
function's versions.
"""

from collections.abc import Callable
from typing import Any, final

from imprint import tree
from imprint.array import ArrayImpl, to_array
from imprint.compile.program import Module, Program, compile_module, lower
from imprint.core.aval import ShapedArray, get_aval
from imprint.core.jaxpr import ClosedJaxpr
from imprint.errors import ArgumentError
from imprint.jit.signature import Signature, Split
from imprint.jit.tracing import TracedCall, arguments_tree
from imprint.runtime import MemoryStats

Respell = Callable[[tuple[Any, ...], dict[str, Any]], Split]


@final
class Traced:
    """A function traced for one kind of call."""

    def __init__(self, traced: TracedCall, signature: Signature, split: Split) -> None:
        self._traced = traced
        self._signature = signature
        self._split = split

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program."""
        return self._traced.closed

    @property
    def out_tree(self) -> tree.TreeDef:
        """The tree of the result."""
        return self._traced.out_tree

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        """The avals of the leaves of the result."""
        return self._traced.closed.out_avals

    def lower(self) -> "Lowered":
        """Write the program as StableHLO."""
        name = f"jit_{self._signature.function_name}"
        return Lowered(self, lower(self._traced.closed, name))

    def in_leaves(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> list[ArrayImpl]:
        """Return the leaves of a call, which must be of the kind that was traced."""
        self._signature.check_call(args, kwargs)
        split = self._signature.split(args, kwargs)
        expected = arguments_tree(self._split)
        leaves, treedef = tree.flatten((split.args, split.kwargs))
        name = self._signature.function_name
        if treedef != expected:
            raise ArgumentError(
                f"{name}: expected arguments of structure {expected}, got {treedef}. "
                "A Compiled takes only the kind of call it was compiled for; call the "
                "jitted function for another."
            )
        names = self._signature.leaf_names(split)
        for leaf, aval, leaf_name in zip(
            leaves, self._traced.closed.in_avals, names, strict=True
        ):
            came = get_aval(leaf)
            if came.shape != aval.shape or came.dtype != aval.dtype:
                raise ArgumentError(
                    f"{name}: expected {aval} as argument {leaf_name}, got {came}. "
                    "A Compiled takes only the kind of call it was compiled for; call "
                    "the jitted function for another."
                )
        return [to_array(x) for x in leaves]


@final
class Lowered:
    """A program in StableHLO."""

    def __init__(self, traced: Traced, module: Module) -> None:
        self._traced = traced
        self._module = module

    def as_text(self) -> str:
        """Return the StableHLO module."""
        return self._module.text

    def compile(self) -> "Compiled":
        """Compile the program with XLA."""
        program = compile_module(
            self._module, lambda values: [to_array(v).buffer for v in values]
        )
        return Compiled(self._traced, program)


@final
class Compiled:
    """An executable for one kind of call."""

    def __init__(self, traced: Traced, program: Program) -> None:
        self._traced = traced
        self._program = program

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Execute; the arguments must be of the kind that was compiled for."""
        leaves = self._traced.in_leaves(args, kwargs)
        program = self._program
        outs = program.run([leaves[i].buffer for i in program.kept])
        return self._traced.out_tree.unflatten(map(ArrayImpl, program.out_avals, outs))

    def as_text(self) -> str:
        """Return the optimized HLO."""
        return self._program.executable.hlo_text()

    def cost_analysis(self) -> dict[str, float]:
        """Return XLA's estimates: flops, bytes accessed and so on."""
        return self._program.executable.cost_analysis()

    def memory_analysis(self) -> MemoryStats:
        """Return XLA's memory plan, in bytes."""
        return self._program.executable.memory_stats()
