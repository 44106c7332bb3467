"""Executables: compiled programs on a device.

`Executable.call` is the one door: buffers of the arguments in, buffers of the results
out. `Runnable` is all that a caller may want of what is behind it, so that something else
than a program of XLA can be. The door checks nothing: XLA compares sizes in bytes only,
so the caller must know that the avals are right; `run` checks first. Two hot callers
write the door's body out, as `Executable` says. Computation is asynchronous: a result
may still be computing when these return.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol, final

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
    """Bytes that one execution takes, as the compiler planned them."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    alias_size_in_bytes: int
    temp_size_in_bytes: int
    generated_code_size_in_bytes: int


class Runnable(Protocol):
    """What answers a call: a program of XLA, or anything else with this door."""

    @property
    def device(self) -> Place:
        """Where the buffers of arguments must be, and those of results will be."""
        ...

    def call(self, buffers: list[Buffer], /) -> list[Buffer]:
        """Compute; raise DeletedArrayError if a buffer is gone."""
        ...


@final
class Executable:
    """A compiled program; made by `compile` and `deserialize`.

    `execute` and `handlers` are for who writes `call` out: the warm path, which saves
    80 ns of 3,500, and `host_call`, which needs the execution's token. They look
    `execute` up in each call: in a forked process it is one that refuses.

    Attributes:
        execute: Takes a list of buffers; the result goes to `consume_with_handlers`.
        handlers: What makes the results buffers, one per result.
        out_avals: The avals of the results.
        device: Where it runs.
        in_shardings: How its arguments are spread over devices; none on one device.
        out_shardings: How its results are; none on one device.
        callbacks: The functions of the host that it calls; it has them as long as it is.
    """

    __slots__ = (
        *("__weakref__", "_loaded", "_nbytes"),
        *("callbacks", "device", "execute", "handlers", "in_shardings", "out_avals"),
        "out_shardings",
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
        self._nbytes = nbytes  # 0 until somebody asks
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
        """Execute on the buffers of the arguments, unchecked; return the results'.

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
            in_avals: What the program takes; without it, dtypes and shapes are not
                checked.

        Raises:
            ArgumentError: The number of buffers is wrong.
            DTypeError: A buffer has another dtype than the program takes.
            ShapeError: A buffer has another shape than the program takes.
            DeletedArrayError: A buffer was deleted or donated.
        """
        if in_avals is not None:
            _check(buffers, in_avals)
        for at, buffer in enumerate(buffers):
            if is_deleted(buffer):
                raise deleted_error("execute", _argument(at, buffer))
        return self.call(list(buffers))

    def serialize(self) -> bytes:
        """Return the program in a form that `deserialize` takes in another process."""
        data: bytes = self._loaded.serialize()
        self._nbytes = len(data)
        return data

    @property
    def nbytes(self) -> int:
        """The size of the program: of its serialized form, made once to measure it."""
        return self._nbytes or len(self.serialize())

    @property
    def loaded(self) -> Any:
        """The engine's own object."""
        return self._loaded

    def hlo_text(self) -> str:
        """Return the optimized program, as XLA prints it."""
        return self._loaded.get_hlo_text()

    def cost_analysis(self) -> dict[str, float]:
        """Return XLA's estimates, such as `flops` and `bytes accessed`."""
        return dict(self._loaded.cost_analysis())

    def memory_stats(self) -> MemoryStats:
        """Return how many bytes one execution takes, by use."""
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


def compile(  # noqa: A001 - the word of the field; used as `runtime.compile`
    module_text: str | bytes,
    out_avals: Sequence[Aval],
    options: CompileOptions | None = None,
    device: Place | None = None,
    callbacks: tuple[HostFunction, ...] = (),
) -> Executable:
    """Compile a StableHLO module with a public function `main`.

    The result keeps no reference to the text. Other threads run meanwhile.

    Args:
        module_text: The module.
        out_avals: The avals of its results.
        options: How it is compiled.
        device: Where it runs.
        callbacks: The functions of the host that its text calls, by their index.

    Raises:
        CompileError: XLA refused the program or an option.
    """
    on = device or default_device()
    chosen = CompileOptions() if options is None else options
    built = assigned(chosen.build(), on)
    built.env_option_overrides = [
        *built.env_option_overrides,
        *corrections(module_text),
    ]
    prepare(module_text, on.platform)
    if isinstance(on, Partition) and on.spans_processes:
        check_agreement(module_text, on.mesh.flat_devices)
    module: Any = parse_module(module_text) if callbacks else module_text
    callers: Callers = {}
    called: dict[str, Any] = {}
    if callbacks:  # a text would be refused with them
        called["host_callbacks"] = [host_callback(callers, f) for f in callbacks]
    try:
        loaded = on.client.compile_and_load(module, device_list(on), built, **called)
    except EngineError as err:
        raise explain_compile_error(chosen, err) from err
    if not callbacks:
        return Executable(loaded, out_avals, on)
    return Executable(loaded, out_avals, on, callbacks=callbacks, callers=callers)


def hlo_text(module_text: str, *, debug_info: bool = False) -> str:
    """Return a StableHLO module as HLO, which nothing has optimized yet.

    Args:
        module_text: the module.
        debug_info: whether lines carry the user's source lines.
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
    """Load what `serialize` gave, on a machine of equal `engine_version()`.

    The engine trusts the bytes: never load any that somebody else may have written.

    Raises:
        CompileError: The bytes are no executable.
    """
    on = device or default_device()
    chosen = CompileOptions() if options is None else options
    prepare(data, on.platform)
    try:
        loaded = on.client.deserialize_executable(
            data, device_list(on), assigned(chosen.build(), on)
        )
    except EngineError as err:
        raise CompileError(
            f"deserialize: expected an executable of jaxlib {jaxlib_version}, got "
            f"{len(data)} bytes that it cannot read. Delete them and compile again."
        ) from err
    return Executable(loaded, out_avals, on, nbytes=len(data))


# ---- errors ----


def explain_execute_error(buffers: Sequence[Buffer], err: Exception) -> Exception:
    """Return the error to raise for what was raised while executing."""
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
