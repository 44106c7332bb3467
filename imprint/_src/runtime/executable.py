"""Executables: compiled programs on a device.

`Executable.call` takes the buffers of the arguments and returns those of the results.
`Runnable` is the part of it that callers use, so that it need not be a program of XLA.
`call` checks nothing, and XLA compares only sizes in bytes, so the caller must have checked
the avals; `run` checks first. Two hot callers inline the body of `call`. Computation is
asynchronous: results may still be computing when these return.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol, final

from imprint._src import native
from imprint._src.errors import ArgumentError, CompileError, DTypeError, ShapeError
from imprint._src.runtime.buffer import (
    Aval,
    Buffer,
    collect_garbage,
    deleted_error,
    is_deleted,
    show,
)
from imprint._src.runtime.callbacks import (
    Callers,
    HostFunction,
    host_callback,
    parse_module,
    waiting_execute,
)
from imprint._src.runtime.client import default_device
from imprint._src.runtime.compat import (
    EngineError,
    corrections,
    engine,
    jaxlib_version,
    result_handler,
)
from imprint._src.runtime.kernels import register_kernels
from imprint._src.runtime.lapack import prepare
from imprint._src.runtime.options import CompileOptions, explain_compile_error
from imprint._src.runtime.partition import (
    Partition,
    Place,
    assigned,
    device_list,
    engine_shardings,
    input_shardings,
    output_shardings,
    serialized_execute,
)
from imprint._src.runtime.processes import check_agreement


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """The bytes of an execution, as the compiler planned them."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    alias_size_in_bytes: int
    temp_size_in_bytes: int
    generated_code_size_in_bytes: int


class Runnable(Protocol):
    """A program of XLA, or another object that computes on buffers."""

    @property
    def device(self) -> Place:
        """The device of the buffers of arguments and results."""
        ...

    def call(self, buffers: list[Buffer], /) -> list[Buffer]:
        """Compute; raise DeletedArrayError if a buffer was deleted."""
        ...


class LayoutFields(NamedTuple):
    """The layout of an array in memory; the fields of `sharding.layout.Layout`."""

    major_to_minor: tuple[int, ...]
    tiling: tuple[tuple[int, ...], ...]
    sub_byte_element_size_in_bits: int


def _fields(layout: Any) -> LayoutFields:
    known = layout._xla_layout()
    order = tuple(known.minor_to_major())[::-1]
    return LayoutFields(order, tuple(known.tiling()), known.element_size_in_bits())


@final
class Executable:
    """A compiled program; made by `compile` and `deserialize`.

    `execute` and `handlers` are for callers that inline `call`: the warm path, which saves
    80 ns of 3,500, and `host_call`, which needs the token of the execution. They read
    `execute` in each call, because a fork replaces it by a function that raises.

    Attributes:
        execute: Takes a list of buffers; the result goes to `consume_with_handlers`.
        handlers: The functions that make a buffer of each result.
        out_avals: The avals of the results.
        device: Its device.
        in_shardings: The layouts of its arguments; none on one device.
        out_shardings: Those of its results; none on one device.
        callbacks: The functions of the host that it calls, which it keeps alive.
        serialized: With IMPRINT_DIRECT=1, the bytes that it was loaded from: what the
            engine loads, it serializes without the object code.
    """

    __slots__ = (
        *("__weakref__", "_loaded", "_nbytes"),
        *("callbacks", "device", "execute", "handlers", "in_shardings", "out_avals"),
        *("out_shardings", "serialized"),
    )

    def __init__(
        self,
        loaded: Any,
        out_avals: Sequence[Aval],
        device: Place,
        *,
        nbytes: int = 0,
        callbacks: tuple[HostFunction, ...] = (),
        callers: Callers | None = None,
    ) -> None:
        self._loaded: Final = loaded
        self._nbytes = nbytes  # 0 until it is measured
        self.serialized: bytes = b""
        self.device: Final = device
        self.callbacks: Final = callbacks
        self.execute: Callable[..., Any] = loaded.execute_sharded
        if callers is not None:
            self.execute = waiting_execute(callers, loaded.execute_sharded)
        self.out_avals: Final = tuple(out_avals)
        self.in_shardings: Final = input_shardings(loaded, device)
        self.out_shardings: Final = output_shardings(loaded, device, self.out_avals)
        if isinstance(device, Partition):
            self.execute = serialized_execute(loaded)
        self.handlers: Final[list[Any]] = [
            result_handler(aval, sharding)
            for aval, sharding in zip(
                self.out_avals,
                engine_shardings(device, self.out_shardings, self.out_avals),
                strict=True,
            )
        ]
        device.executables.add(self)

    def call(self, buffers: list[Buffer], /) -> list[Buffer]:
        """Execute on the buffers of the arguments, unchecked; return those of the results.

        Raises:
            DeletedArrayError: A buffer was deleted or donated.
        """
        try:
            outs: list[Buffer] = self.execute(buffers).consume_with_handlers(
                self.handlers
            )
        except EngineError as err:
            raise explain_execute_error(buffers, err) from err
        collect_garbage()
        return outs

    def run(
        self, buffers: Sequence[Buffer], in_avals: Sequence[Aval] | None = None
    ) -> list[Buffer]:
        """Execute, checking the buffers first.

        Args:
            buffers: The arguments of the program.
            in_avals: The avals of its arguments; None skips the check of dtypes and shapes.

        Raises:
            ArgumentError: The number of buffers is wrong.
            DTypeError: A buffer has the wrong dtype.
            ShapeError: A buffer has the wrong shape.
            DeletedArrayError: A buffer was deleted or donated.
        """
        if in_avals is not None:
            _check(buffers, in_avals)
        for at, buffer in enumerate(buffers):
            if is_deleted(buffer):
                raise deleted_error("execute", _argument(at, buffer))
        return self.call(list(buffers))

    def serialize(self) -> bytes:
        """Return the program as bytes, for `deserialize` in another process."""
        data: bytes = self._loaded.serialize()
        self._nbytes = len(data)
        return data

    @property
    def nbytes(self) -> int:
        """The size of its serialized form, which is made once to measure it."""
        return self._nbytes or len(self.serialize())

    @property
    def loaded(self) -> Any:
        """The object of the engine."""
        return self._loaded

    def layouts(self) -> tuple[list[LayoutFields], list[LayoutFields]]:
        """Return the layouts of the arguments and of the results."""
        arguments = self._loaded.get_parameter_layouts()
        results = self._loaded.get_output_layouts()
        return [*map(_fields, arguments)], [*map(_fields, results)]

    def hlo_text(self) -> str:
        """Return the optimized program, as XLA prints it."""
        return self._loaded.get_hlo_text()

    def cost_analysis(self) -> dict[str, float]:
        """Return XLA's estimates, such as `flops` and `bytes accessed`."""
        return dict(self._loaded.cost_analysis())

    def memory_stats(self) -> MemoryStats:
        """Return the bytes of an execution, by use."""
        stats = self._loaded.get_compiled_memory_stats()
        return MemoryStats(
            argument_size_in_bytes=stats.argument_size_in_bytes,
            output_size_in_bytes=stats.output_size_in_bytes,
            alias_size_in_bytes=stats.alias_size_in_bytes,
            temp_size_in_bytes=stats.temp_size_in_bytes,
            generated_code_size_in_bytes=self.nbytes,  # XLA's own figure is 0 on the CPU
        )

    def __repr__(self) -> str:
        results = ", ".join(map(show, self.out_avals))
        return f"<Executable on {self.device!r} -> ({results})>"


def compile(  # noqa: A001 - the standard term; used as `runtime.compile`
    module_text: str | bytes,
    out_avals: Sequence[Aval],
    options: CompileOptions | None = None,
    device: Place | None = None,
    callbacks: tuple[HostFunction, ...] = (),
) -> Executable:
    """Compile a StableHLO module with a public function `main`.

    The result keeps no reference to the text. The GIL is released.

    Args:
        module_text: The module.
        out_avals: The avals of its results.
        options: The options of XLA.
        device: Its device.
        callbacks: The functions of the host that its text calls, by their index.

    Raises:
        CompileError: XLA rejected the program or an option.
    """
    on = device or default_device()
    chosen = CompileOptions() if options is None else options
    built = assigned(chosen.build(), on)
    built.env_option_overrides = [
        *built.env_option_overrides,
        *corrections(module_text),
    ]
    prepare(module_text, on.platform)
    register_kernels(module_text, on.platform)
    if isinstance(on, Partition) and on.spans_processes:
        check_agreement(module_text, on.mesh.flat_devices)
    module: Any = parse_module(module_text) if callbacks else module_text
    callers: Callers = {}
    extra: dict[str, Any] = {}
    if callbacks:  # XLA takes no text with them
        extra["host_callbacks"] = [host_callback(callers, f) for f in callbacks]
    try:
        loaded = on.client.compile_and_load(module, device_list(on), built, **extra)
    except EngineError as err:
        raise explain_compile_error(chosen, err) from err
    if not callbacks:
        return Executable(loaded, out_avals, on)
    return Executable(loaded, out_avals, on, callbacks=callbacks, callers=callers)


def hlo_text(module_text: str, *, debug_info: bool = False) -> str:
    """Return a StableHLO module as unoptimized HLO.

    Args:
        module_text: the module.
        debug_info: whether lines have the source lines of the user.
    """
    shown = import_module("jaxlib._hlo").HloPrintOptions.short_parsable()
    shown.print_metadata = debug_info
    computation = engine.mlir.mlir_module_to_xla_computation(
        module_text, use_tuple_args=False
    )
    return computation.as_hlo_module().to_string(shown)


def deserialize(
    data: bytes,
    out_avals: Sequence[Aval],
    options: CompileOptions | None = None,
    device: Place | None = None,
) -> Executable:
    """Load the bytes of `serialize`, on a machine of equal `engine_version()`.

    The engine trusts the bytes: never load bytes that another user may have written.

    Raises:
        CompileError: The bytes are no executable.
    """
    on = device or default_device()
    chosen = CompileOptions() if options is None else options
    prepare(data, on.platform)
    register_kernels(data, on.platform)
    try:
        loaded = on.client.deserialize_executable(
            data, device_list(on), assigned(chosen.build(), on)
        )
    except EngineError as err:
        raise CompileError(
            f"deserialize: expected an executable of jaxlib {jaxlib_version}, got "
            f"{len(data)} bytes that it cannot read. Delete them and compile again."
        ) from err
    made = Executable(loaded, out_avals, on, nbytes=len(data))
    if native.direct is not None:
        made.serialized = data
    return made


# ---- errors ----


def explain_execute_error(buffers: Sequence[Buffer], err: Exception) -> Exception:
    """Return the error to raise for an error of an execution."""
    for at, buffer in enumerate(buffers):
        if is_deleted(buffer):
            return deleted_error("execute", _argument(at, buffer))
    if "donated in the same call" in str(err):
        return deleted_error("execute", "one that is also another argument")
    return err


def _check(buffers: Sequence[Any], in_avals: Sequence[Aval]) -> None:
    if len(buffers) != len(in_avals):
        raise ArgumentError(
            f"execute: expected {len(in_avals)} arguments, got {len(buffers)}. "
            "Pass one buffer for each argument of the program."
        )
    for at, (buffer, aval) in enumerate(zip(buffers, in_avals, strict=True)):
        got: Aval = buffer.aval
        if got.dtype == aval.dtype and got.shape == aval.shape:
            continue
        kind = ShapeError if got.dtype == aval.dtype else DTypeError
        raise kind(
            f"execute: expected {show(aval)} as argument {at}, got {show(got)}. "
            "Convert it, or compile the program for its aval."
        )


def _argument(at: int, buffer: Any) -> str:
    return f"argument {at} ({show(buffer.aval)})"
