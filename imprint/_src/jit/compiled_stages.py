"""`Lowered` and `Compiled`: the stages of a call after the trace.

Each stage knows the call it is for. Stages live longer than calls, so they hold no
arrays. `stages` has `Traced`, the first stage; `symbolic_stages` the programs for all
sizes of axes that have names.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import (
    Any,
    NamedTuple,
    Protocol,
    Self,
    TypeAlias,
    final,
)

from imprint._src import runtime
from imprint._src.array import ArrayImpl, to_array
from imprint._src.config import Settings, settings
from imprint._src.core.aval import DType, Shape, ShapedArray, get_aval
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.core.trace import Tracer, current_trace
from imprint._src.diagnostics import html
from imprint._src.errors import ArgumentError, DTypeError, NonFiniteError
from imprint._src.jit.calls.device_assignment import (
    DeviceAssignment,
    ShardedAssignment,
    is_as,
    shown,
)
from imprint._src.jit.calls.filtering import Split
from imprint._src.jit.calls.key import (
    Pending,
    check_leaves,
    check_values,
    static_tokens,
)
from imprint._src.jit.calls.native_trees import match_of
from imprint._src.jit.calls.options import JitOptions, check_compiler_options
from imprint._src.jit.calls.signature import Call, CallForm, Signature
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.compilation.lowered import LoweredProgram
from imprint._src.jit.compile_steps import (
    compile_lowered,
    donated_leaves,
)
from imprint._src.jit.fingerprint.static_values import static_token
from imprint._src.jit.versions.version import Version
from imprint._src.jit.warm_call import AcceptedCall, CompiledCall, split_call
from imprint._src.passes import nan_checks
from imprint._src.runtime import CompileOptions, MemoryStats
from imprint._src.sharding.layout import DeviceLocalLayout, Format
from imprint._src.sharding.single import Sharding, SingleDeviceSharding
from imprint._src.tree import internal as tree

CompilerOptions: TypeAlias = Mapping[str, Any]
"""XLA's options by name."""


@final
@dataclass(frozen=True, slots=True)
class ArgInfo:
    """Metadata of one array among the arguments.

    Args:
        aval: its shape, dtype and weak type.
        donated: whether the results may take its memory.
    """

    aval: ShapedArray
    donated: bool

    @property
    def shape(self) -> Shape:
        """The length of each axis."""
        return self.aval.shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self.aval.dtype


class CallDetails(NamedTuple):
    """The properties of a call that its trace lacks.

    Args:
        static: the tokens of its static values.
        avals: the avals of its leaves, with their placement.
        positional: how many arguments were given by position.
        disk: its `DiskLookup`, which is not imported here: 5 ms; None without one.
    """

    static: tuple[Hashable, ...]
    avals: tuple[ShapedArray, ...]
    positional: int
    disk: Any = None

    @classmethod
    def of(cls, pending: Pending, positional: int) -> Self:
        """Return the details of a call."""
        tokens = static_tokens(pending.call)
        return cls(tokens, tuple(map(get_aval, pending.leaves)), positional)


class Stage:
    """The call that a stage is for; the base of all stages.

    Trees of arguments are pairs `((positional, ...), {keyword: ...})` of traced values.
    They lack static arguments and arguments that equal their defaults.
    """

    def __init__(
        self, traced: TracedCall, signature: Signature, given: CallDetails
    ) -> None:
        self._traced = traced
        self._signature = signature
        self._given = given

    @property
    def args_info(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The `ArgInfo` of each array, in the tree of the arguments."""
        donated = donated_leaves(self._traced.spec, self._traced.in_tree)
        avals = enumerate(self._traced.closed.in_avals)
        return self._arranged(ArgInfo(aval, i in donated) for i, aval in avals)

    @property
    def in_tree(self) -> tree.TreeDef:
        """The tree of the arguments, `((positional, ...), {keyword: ...})`."""
        return tree.structure(self.args_info)

    @property
    def in_avals(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The avals of the arrays, in the tree of the arguments."""
        return self._arranged(self._traced.closed.in_avals)

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """Which of the leaves of `args_info` are donated."""
        infos = enumerate(tree.leaves(self.args_info))
        return tuple(i for i, info in infos if info.donated)

    @property
    def out_tree(self) -> tree.TreeDef:
        """The tree of the result."""
        return self._traced.out_tree

    @property
    def out_avals(self) -> Any:
        """The avals of the arrays of the result, in its tree."""
        return self._traced.results.unflatten(self._traced.closed.out_avals)

    @property
    def out_info(self) -> Any:
        """The result's tree with shapes and dtypes in place of arrays."""
        return shape_tree_of(self._traced)

    @property
    def leaf_order(self) -> tuple[int, ...]:
        """Which argument of the jaxpr each leaf of `in_tree` is."""
        count = len(self._traced.closed.in_avals)
        return tuple(tree.leaves(self._arranged(range(count))))

    def _arranged(
        self, leaves: Iterable[Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the tree of the arguments with these values as traced leaves."""
        call = self._traced.spec.call_of(leaves, self._traced.in_tree)
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for slot, value in zip(call.spec.dynamic, call.dynamic, strict=True):
            if isinstance(slot, int) and slot < self._given.positional:
                args.append(value)
            else:
                kwargs[self._signature.slot_name(slot)] = value
        return tuple(args), kwargs

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """Return a call of the kind that the stage is for; ArgumentError if it is not."""
        form = self._form_without_static(args, kwargs)
        if form is not None:
            call = Call(form.spec, form.picked((*args, *kwargs.values())), ())
        else:
            call = self._signature.call(args, kwargs)
            self._check_static(call)
        self._check_tree(call)
        return call

    def _form_without_static(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> CallForm | None:
        """Return the form of a call that leaves static arguments out; None of another."""
        spec = self._traced.spec
        if not spec.static:
            return None
        slots = zip(spec.dynamic, spec.names, strict=True)
        free = [n for s, n in slots if isinstance(s, int) and n not in kwargs]
        if len(args) != len(free) or {*free, *kwargs} != {*spec.names}:
            return None
        given = [*free, *kwargs]
        order = tuple([given.index(name) for name in spec.names])
        return CallForm(spec, order, (), (), len(given))

    def _check_static(self, call: Call) -> None:
        if call.spec is not self._traced.spec:
            return
        names = call.spec.static_names
        for value, token, name in zip(
            call.static, self._given.static, names, strict=True
        ):
            if static_token(value, name) != token:
                raise ArgumentError(
                    f"{self._signature.function_name}: expected the static argument "
                    f"{name} with the value that was compiled for, got {value!r}. "
                    f"{self._one_kind}"
                )

    def _check_tree(self, call: Call) -> None:
        spec, came = self._traced.spec, tree.structure(call.dynamic)
        if call.spec is spec and came == self._traced.in_tree:
            return
        wanted, came = spec.treedef or self._traced.in_tree, call.spec.treedef or came
        expected, got = f"arguments of structure {wanted}", str(came)
        if came == wanted and spec.treedef is not None:
            expected = f"arrays as {', '.join(spec.names)} and nothing else"
            got = f"them as {', '.join(call.spec.names) or 'nothing'}"
        raise ArgumentError(
            f"{self._signature.function_name}: expected {expected}, got {got}. "
            f"{self._one_kind}"
        )

    @property
    def _one_kind(self) -> str:
        kinds = type(self).__mro__
        name = next(x for x in kinds if Stage in x.__bases__).__name__
        return (
            f"A {name} takes only the kind of call it was {name.lower()} for; call the "
            "jitted function for another."
        )


def lowered(
    traced: TracedCall,
    signature: Signature,
    options: JitOptions,
    module: LoweredProgram,
    given: CallDetails,
) -> "Lowered":
    """Return a call as the program that it is."""
    program = _OneProgram(traced, signature, options, module, given)
    return Lowered(traced, signature, program, given)


class StageProgram(Protocol):
    """The program of a `Lowered`: for one call, or for all sizes."""

    def as_text(self, dialect: str | None, *, debug_info: bool) -> str:
        """Return the program as text."""
        ...

    def compile(self, asked: CompileOptions) -> "Compiled":
        """Compile the program, with options of XLA over those given to `jit`."""
        ...


@final
class Lowered(Stage):
    """A program in StableHLO."""

    def __init__(
        self,
        traced: TracedCall,
        signature: Signature,
        program: StageProgram,
        given: CallDetails,
    ) -> None:
        super().__init__(traced, signature, given)
        self._program = program

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """Return the program as text.

        Args:
            dialect: "stablehlo", the default, or "hlo". Named sizes print as `?` and
                have no "hlo".
            debug_info: whether lines carry the source lines of user code.
        """
        return self._program.as_text(dialect, debug_info=debug_info)

    def compiler_ir(self, dialect: str | None = None) -> str:
        """Return the input of the compiler, as text with the source lines of user code.

        Args:
            dialect: as in `as_text`.
        """
        return self.as_text(dialect, debug_info=True)

    def cost_analysis(self) -> dict[str, float]:
        """Return XLA's estimates: flops, bytes accessed and so on. Compiles."""
        return self.compile().cost_analysis()

    def _repr_html_(self) -> str:
        title = f"Lowered {self._signature.function_name}"
        values = {"arguments": self.in_avals, "results": self.out_tree}
        return html.fields(title, values) + html.folded("StableHLO", self.as_text())

    def compile(self, compiler_options: CompilerOptions | None = None) -> "Compiled":
        """Compile the program with XLA.

        If sizes have names it is compiled for the least ones; others follow when called.

        Args:
            compiler_options: options of XLA, over those given to `jit`.
        """
        return self._program.compile(check_compiler_options(compiler_options))


@final
class _OneProgram:
    """The program of a call.

    Args:
        traced: the call as it was traced.
        signature: the function's.
        options: of `jit`.
        module: the program.
        given: the details of the call.
    """

    def __init__(
        self,
        traced: TracedCall,
        signature: Signature,
        options: JitOptions,
        module: LoweredProgram,
        given: CallDetails,
    ) -> None:
        self._traced = traced
        self._signature = signature
        self._options = options
        self._module = module
        self._given = given

    def as_text(self, dialect: str | None, *, debug_info: bool) -> str:
        """Return the program as text."""
        if dialect not in (None, "stablehlo", "hlo"):
            raise ArgumentError(
                f"dialect: expected 'stablehlo' or 'hlo', got {dialect!r}. For the "
                "optimized HLO call `.compile().as_text()`."
            )
        if dialect == "hlo":
            return runtime.hlo_text(self._module.text, debug_info=debug_info)
        return self._module.text if debug_info else self._module.plain_text

    def compile(self, asked: CompileOptions) -> "Compiled":
        """Compile the program, with options of XLA over those given to `jit`."""
        compiled = asked.over(self._options.compile)
        if compiled.is_plain is not self._options.compile.is_plain:
            raise ArgumentError(
                "compile: expected the formulations of the lowered program, got "
                f"{dict(asked.compiler_options)}. Give them to jit, which lowers."
            )
        options = replace(self._options, compile=compiled)
        traced, name = self._traced, self._signature.function_name
        disk = self._given.disk if compiled == self._options.compile else None
        found: Version | None = None if disk is None else disk.found
        program, assignment = (
            compile_lowered(self._module, name, options, traced, self._given.avals)
            if found is None
            else (found.program, found.assignment)
        )
        version = Version(traced, program, name, assignment._replace(moves=True))
        if found is not None:
            version.trace_reason = found.trace_reason
        elif disk is not None:
            disk.keep(version)
            disk.notify(version)
        return Compiled(version, self._signature, self._given._replace(disk=None))


class Compiled(CompiledCall, Stage):
    """An executable for one call signature."""

    def __init__(
        self, version: Version, signature: Signature, given: CallDetails
    ) -> None:
        super().__init__(version.traced, signature, given)
        self._version = version

    def _checked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Execute, checking the arguments first."""
        if current_trace() is not None and any(
            isinstance(x, Tracer) for x in tree.leaves((args, kwargs))
        ):
            raise ArgumentError(
                f"{self._signature.function_name}: expected arrays, got a traced "
                "value: a Compiled can be run, and not traced, mapped or "
                "differentiated. Call the jitted function there."
            )
        call = self._call(args, kwargs)
        result = self._run(call)
        self._accepted = self._accept(args, kwargs, call) or self._accepted
        flags = settings()
        if flags.debug_nans or flags.debug_infs:
            self._check_finite(result, flags)
        return result

    def _run(self, call: Call) -> Any:
        return self._version.run(self._leaves(call))

    def _accept(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], call: Call
    ) -> AcceptedCall | None:
        """Return how to answer calls like this one, which passed.

        None if its arrays are not where it runs, or it has what only `_checked` takes.
        """
        flags, before = settings(), self._accepted
        leaves, treedef = tree.flatten(call.dynamic)
        if flags.debug_nans or flags.debug_infs or not self._are_there(leaves):
            return None
        form = self._form_without_static(args, kwargs)
        form = form or self._signature.form(args, kwargs)
        match: Any = before.match if before else None
        if match is None and isinstance(call.spec, Split):
            match, *_ = call.spec.recall(form.picked((*args, *kwargs.values())))
        elif match is None and not treedef.is_flat_tuple:
            try:
                match = match_of(call.dynamic)
            except KeyError:
                return None
        split = split_call(form, match, call.spec, args, kwargs)
        if split is None:
            return None
        version = before.version if before else self._version
        if isinstance(version.assignment, DeviceAssignment) and not before:
            version = version.where_it_runs()
        spelled = len(args), *kwargs
        return AcceptedCall(version, form, match, call.spec, spelled, split[0])

    def _are_there(self, leaves: Sequence[Any]) -> bool:
        """Return whether arrays are where it runs, and host values go there by themselves."""
        assignment = self._version.assignment
        arrays = [x for x in leaves if type(x) is ArrayImpl]
        if not isinstance(assignment, DeviceAssignment):
            return len(arrays) == len(leaves)
        device = assignment.device
        has_hosts = len(arrays) < len(leaves)
        if has_hosts and device is not runtime.first_device():
            return False
        return all(x.device is device for x in arrays)

    def _check_finite(self, result: Any, flags: Settings) -> None:
        """Raise NonFiniteError if a result has NaN or infinity and a flag forbids it."""
        kinds = {"nans": flags.debug_nans, "infinities": flags.debug_infs}
        for path, leaf in tree.leaves_with_path(result):
            if isinstance(leaf, ArrayImpl) and nan_checks.holds_one(leaf, **kinds):
                raise NonFiniteError(
                    f"{self._signature.function_name}: expected no "
                    f"{nan_checks.watched_for(**kinds)}, got one as result{tree.keystr(path)}. "
                    "Call the jitted function, which says where it is made."
                )

    def as_text(self) -> str:
        """Return the optimized HLO."""
        return self._version.executable.hlo_text()

    def _repr_html_(self) -> str:
        title = f"Compiled {self._signature.function_name}"
        values = {"arguments": self.in_avals, "results": self.out_tree}
        costs = {name: f"{n:,}" for name, n in asdict(self.memory_analysis()).items()}
        text = html.folded("Optimized HLO", self.as_text())
        return html.fields(title, values | costs) + text

    def cost_analysis(self) -> dict[str, float]:
        """Return XLA's estimates: flops, bytes accessed and so on."""
        return self._version.executable.cost_analysis()

    def memory_analysis(self) -> MemoryStats:
        """Return XLA's memory plan, in bytes."""
        return self._version.executable.memory_stats()

    def runtime_executable(self) -> Any:
        """Return the engine's own executable."""
        return self._version.executable.loaded

    @property
    def input_shardings(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The sharding of each array among the arguments; None if it is unused."""
        kept = dict(zip(self._version.program.kept, self._inputs, strict=True))
        count = len(self._traced.closed.in_avals)
        return self._arranged(map(kept.get, range(count)))

    @property
    def output_shardings(self) -> Any:
        """Where each array of the result is."""
        count = len(self._traced.closed.out_avals)
        assignment = self._version.assignment
        if isinstance(assignment, ShardedAssignment):
            return self._traced.results.unflatten(assignment.outputs[:count])
        one = SingleDeviceSharding(assignment.device)
        return self._traced.results.unflatten([one] * count)

    @property
    def input_formats(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The `Format` of each array among the arguments; None if it is unused."""
        program = self._version.program
        layouts = self._version.executable.layouts()[0][len(program.consts) :]
        made = map(_format, layouts, self._inputs)
        kept = dict(zip(program.kept, made, strict=True))
        return self._arranged(map(kept.get, range(len(self._traced.closed.in_avals))))

    @property
    def output_formats(self) -> Any:
        """The `Format` of each array of the result."""
        results = self._traced.results
        shardings = results.arrays(self.output_shardings)
        layouts = self._version.executable.layouts()[1]
        return results.unflatten(map(_format, layouts, shardings))

    @property
    def _inputs(self) -> Sequence[Any]:
        """How each argument is spread that the program takes."""
        assignment, program = self._version.assignment, self._version.program
        if isinstance(assignment, ShardedAssignment):
            return assignment.inputs[len(program.consts) :]
        return [SingleDeviceSharding(assignment.device)] * len(program.kept)

    def _leaves(self, call: Call) -> list[Any]:
        leaves, came = self._given_leaves(call)
        name, expected = self._signature.function_name, self._traced.closed.in_avals
        for i, (got, aval) in enumerate(zip(came, expected, strict=True)):
            if got.shape != aval.shape or got.dtype != aval.dtype:
                raise ArgumentError(
                    f"{name}: expected {aval} as argument "
                    f"{self._traced.leaf_names()[i]}, got {got}. {self._one_kind}"
                )
        self._check_places(came)
        return [to_array(x) for x in leaves]

    def _given_leaves(self, call: Call) -> tuple[list[Any], list[ShapedArray]]:
        """Return the arrays of a call, and their avals."""
        leaves, treedef = tree.flatten(call.dynamic)
        name = self._signature.function_name
        try:
            came = [get_aval(leaf) for leaf in leaves]
        except (ArgumentError, DTypeError):
            check_leaves(name, call.spec, leaves, treedef)
            raise
        check_values(name, call, leaves)
        return leaves, came

    def _check_places(self, came: Sequence[ShapedArray]) -> None:
        """Raise ArgumentError if an argument is committed to other devices."""
        for i, want in zip(self._version.program.kept, self._inputs, strict=True):
            placement: Any = came[i].sharding if i < len(came) else None
            if not isinstance(placement, Sharding) or is_as(came[i], want):
                continue
            is_one = isinstance(want, SingleDeviceSharding)
            raise ArgumentError(
                f"{self._signature.function_name}: expected argument "
                f"{self._traced.leaf_names()[i]} {shown(want)}, got one "
                f"{'committed to' if is_one else 'that is'} "
                f"{shown(placement).removeprefix('on ') if is_one else shown(placement)}. "
                f"{self._one_kind}"
            )


def _format(layout: Any, sharding: Any) -> Format:
    return Format(DeviceLocalLayout(*layout), sharding)


def shape_tree_of(traced: TracedCall) -> Any:
    """Return the tree of a result with shapes and dtypes in place of arrays."""
    avals = traced.closed.out_avals
    return traced.results.unflatten(map(ShapeDtypeStruct.of, avals))
