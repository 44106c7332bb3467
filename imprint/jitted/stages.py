"""The stages of a compilation, one object each: Traced, Lowered, Compiled.

`f.trace(x).lower().compile()(x)` does by hand what `f(x)` does. Nothing here touches the
function's versions.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, final

from imprint import tree
from imprint.array import to_array
from imprint.calls.home import home_of_call
from imprint.calls.leaves import check_leaves, check_values
from imprint.calls.options import JitOptions
from imprint.calls.signature import Call, Signature
from imprint.calls.tracing import TracedCall
from imprint.core.aval import ShapedArray, get_aval
from imprint.core.jaxpr import ClosedJaxpr
from imprint.core.shape_struct import ShapeDtypeStruct
from imprint.core.trace import current_trace
from imprint.errors import ArgumentError, DTypeError
from imprint.jitted.compiling import lower_traced
from imprint.program.lowered import LoweredProgram
from imprint.program.program import compile_module
from imprint.runtime import CompileOptions, MemoryStats
from imprint.sharding.single import SingleDeviceSharding
from imprint.static.exact import static_token
from imprint.versions.version import Version


class Given(NamedTuple):
    """What a call has that its trace does not: its static values, where its arrays are.

    Args:
        static: the tokens of its static values.
        avals: the avals of its leaves, with their placement.
    """

    static: tuple[Hashable, ...]
    avals: tuple[ShapedArray, ...]


class _Stage:
    """What all stages know: the call they are for."""

    def __init__(self, traced: TracedCall, signature: Signature, given: Given) -> None:
        self._traced = traced
        self._signature = signature
        self._given = given

    @property
    def in_tree(self) -> tree.TreeDef:
        """The tree of the dynamic arguments, a tuple in the order of the parameters.

        Of a `filter_jit` function that of all arguments, whose leaves are of both kinds.
        """
        return self._traced.form.treedef or self._traced.in_tree

    @property
    def out_tree(self) -> tree.TreeDef:
        """The tree of the result."""
        return self._traced.out_tree

    @property
    def in_avals(self) -> tuple[ShapedArray, ...]:
        """The avals of the leaves of the arguments."""
        return self._traced.closed.in_avals

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        """The avals of the leaves of the result."""
        return self._traced.closed.out_avals

    @property
    def args_info(self) -> dict[str, ShapeDtypeStruct]:
        """The shape and dtype of each leaf of the arguments, by its name."""
        names = self._traced.leaf_names()
        return {
            n: ShapeDtypeStruct.of(a) for n, a in zip(names, self.in_avals, strict=True)
        }

    @property
    def out_info(self) -> Any:
        """The result's tree with shapes and dtypes in place of arrays."""
        return shape_tree_of(self._traced)


@final
class Traced(_Stage):
    """A function traced for one kind of call."""

    def __init__(
        self,
        traced: TracedCall,
        signature: Signature,
        options: JitOptions,
        given: Given,
    ) -> None:
        super().__init__(traced, signature, given)
        self._options = options

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program."""
        return self._traced.closed

    @property
    def fun_name(self) -> str:
        """The name of the function."""
        return self._signature.function_name

    def lower(self) -> "Lowered":
        """Write the program as StableHLO."""
        module = lower_traced(self._traced, self.fun_name, self._options)
        return Lowered(
            self._traced, self._signature, self._options, module, self._given
        )


@final
class Lowered(_Stage):
    """A program in StableHLO."""

    def __init__(
        self,
        traced: TracedCall,
        signature: Signature,
        options: JitOptions,
        module: LoweredProgram,
        given: Given,
    ) -> None:
        super().__init__(traced, signature, given)
        self._options = options
        self._module = module

    def as_text(self, dialect: str = "stablehlo", *, debug_info: bool = False) -> str:
        """Return the StableHLO module.

        Args:
            dialect: "stablehlo", the only one written here.
            debug_info: whether lines carry the user's source lines.
        """
        self._check_dialect(dialect)
        return self._module.text if debug_info else self._module.plain_text

    def compiler_ir(self, dialect: str = "stablehlo") -> str:
        """Return what the compiler is given, as text."""
        self._check_dialect(dialect)
        return self._module.text

    def cost_analysis(self) -> dict[str, float]:
        """Return XLA's estimates: flops, bytes accessed and so on. Compiles."""
        return self.compile().cost_analysis()

    def compile(self, compiler_options: Mapping[str, Any] | None = None) -> "Compiled":
        """Compile the program with XLA.

        Args:
            compiler_options: options of XLA, over those given to `jit`.
        """
        asked = dict(self._options.compile.compiler_options)
        options = CompileOptions.of({**asked, **(compiler_options or {})})
        traced, name = self._traced, self._signature.function_name
        avals, kept = self._given.avals, self._module.kept
        home = home_of_call(name, self._options, traced, avals, kept)
        program = compile_module(self._module, options, home.device)
        version = Version(traced, program, name, home._replace(moves=True))
        return Compiled(version, self._signature, self._given)

    def _check_dialect(self, dialect: str) -> None:
        if dialect != "stablehlo":
            raise ArgumentError(
                f"dialect: expected 'stablehlo', got {dialect!r}. For the optimized "
                "HLO call `.compile().as_text()`."
            )


@final
class Compiled(_Stage):
    """An executable for one kind of call."""

    def __init__(self, version: Version, signature: Signature, given: Given) -> None:
        super().__init__(version.traced, signature, given)
        self._version = version

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Execute; the arguments must be of the kind that was compiled for.

        Static arguments are left out, as in JAX, or given with the same value.
        """
        if current_trace() is not None:
            raise ArgumentError(
                f"{self._signature.function_name}: expected a call outside traced "
                "functions, got a call of a Compiled inside one. Call the jitted "
                "function there."
            )
        return self._version.run(self._leaves(self._call(args, kwargs)))

    def as_text(self) -> str:
        """Return the optimized HLO."""
        return self._version.executable.hlo_text()

    def cost_analysis(self) -> dict[str, float]:
        """Return XLA's estimates: flops, bytes accessed and so on."""
        return self._version.executable.cost_analysis()

    def memory_analysis(self) -> MemoryStats:
        """Return XLA's memory plan, in bytes."""
        return self._version.executable.memory_stats()

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        form = self._traced.form
        if form.static:
            slots = zip(form.dynamic, form.names, strict=True)
            free = [n for s, n in slots if isinstance(s, int) and n not in kwargs]
            if len(args) == len(free) and {*free, *kwargs} == set(form.names):
                values = {**dict(zip(free, args, strict=True)), **kwargs}
                return Call(form, tuple([values[n] for n in form.names]), ())
        call = self._signature.call(args, kwargs)
        self._check_static(call)
        return call

    def _check_static(self, call: Call) -> None:
        if call.form is not self._traced.form:
            return
        names = call.form.static_names
        for value, token, name in zip(
            call.static, self._given.static, names, strict=True
        ):
            if static_token(value, name) != token:
                raise ArgumentError(
                    f"{self._signature.function_name}: expected the static argument "
                    f"{name} with the value that was compiled for, got {value!r}. "
                    f"{_ONE_KIND}"
                )

    def _leaves(self, call: Call) -> list[Any]:
        leaves, treedef = tree.flatten(call.dynamic)
        name = self._signature.function_name
        form = self._traced.form
        if call.form is not form or treedef != self._traced.in_tree:
            came_tree = call.form.treedef or treedef
            expected, got = f"arguments of structure {self.in_tree}", str(came_tree)
            if came_tree == self.in_tree and form.treedef is not None:
                expected = f"arrays as {', '.join(form.names)} and nothing else"
                got = f"them as {', '.join(call.form.names) or 'nothing'}"
            raise ArgumentError(f"{name}: expected {expected}, got {got}. {_ONE_KIND}")
        try:
            came = [get_aval(leaf) for leaf in leaves]
        except (ArgumentError, DTypeError):
            check_leaves(name, call.form, leaves, treedef)
            raise
        check_values(name, call, leaves)
        for i, (got, aval) in enumerate(zip(came, self.in_avals, strict=True)):
            if got.shape != aval.shape or got.dtype != aval.dtype:
                raise ArgumentError(
                    f"{name}: expected {aval} as argument "
                    f"{self._traced.leaf_names()[i]}, got {got}. {_ONE_KIND}"
                )
        self._check_places(came)
        return [to_array(x) for x in leaves]

    def _check_places(self, came: Sequence[ShapedArray]) -> None:
        """Raise ArgumentError if an argument is committed to another device."""
        device = self._version.home.device
        for i in self._version.program.kept:
            placement = came[i].sharding
            if (
                type(placement) is SingleDeviceSharding
                and placement.device is not device
            ):
                raise ArgumentError(
                    f"{self._signature.function_name}: expected argument "
                    f"{self._traced.leaf_names()[i]} on {device}, got one committed to "
                    f"{placement.device}. {_ONE_KIND}"
                )


_ONE_KIND = (
    "A Compiled takes only the kind of call it was compiled for; call the jitted "
    "function for another."
)


def shape_tree_of(traced: TracedCall) -> Any:
    """Return the tree of a result with shapes and dtypes in place of arrays."""
    avals = traced.closed.out_avals
    return traced.results.unflatten(map(ShapeDtypeStruct.of, avals))
