"""The profiler: a timeline of programs on the devices, and profiles of memory.

The engine records it. One recording is under way at a time in a process; its file is in
the format of Chrome's traces, which Perfetto opens.
"""

import gzip
import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar

from imprint._src import runtime
from imprint._src.core.functions import check_function, name_of
from imprint._src.errors import ArgumentError

P = ParamSpec("P")
R = TypeVar("R")

# ---- traces ----


def ProfileOptions() -> Any:  # noqa: N802 - JAX's name
    """Return options of a trace: `host_tracer_level`, `python_tracer_level` and others.

    Example:
        >>> import imprint
        >>> options = imprint.profiler.ProfileOptions()
        >>> options.python_tracer_level = 0  # no calls of Python functions
    """
    return runtime.profile_options()


_lock: Final = threading.Lock()
_running: Final[list[tuple[Any, Path, bool]]] = []


def start_trace(
    log_dir: str | PathLike[str],
    create_perfetto_trace: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    profiler_options: Any = None,
) -> None:
    """Start to record calls of Python functions, compilations and runs of programs.

    Args:
        log_dir: the directory to write into; it is made if there is none.
        create_perfetto_trace: whether to write `perfetto_trace.json.gz` too, the same
            events without metadata.
        profiler_options: what is recorded, see `ProfileOptions`.

    Returns:
        None; recording has started.

    Raises:
        RuntimeError: a recording is under way.

    Example:
        >>> import imprint, tempfile
        >>> imprint.profiler.start_trace(tempfile.mkdtemp())
        >>> imprint.profiler.stop_trace()
    """
    with _lock:
        if _running:
            raise RuntimeError(
                "start_trace: expected no trace under way, got the one into "
                f"{_running[0][1]}. Call imprint.profiler.stop_trace first."
            )
        options = ProfileOptions() if profiler_options is None else profiler_options
        session = runtime.start_session(options)
        _running.append((session, Path(fspath(log_dir)), create_perfetto_trace))


def stop_trace() -> None:
    """End the recording, and write its files.

    The timeline is `plugins/profile/<time>/<host>.trace.json.gz` in the directory. Open it
    at https://ui.perfetto.dev, which reads it in the browser, or with TensorBoard.

    Raises:
        RuntimeError: no recording is under way.

    Example:
        >>> import imprint, tempfile
        >>> imprint.profiler.start_trace(tempfile.mkdtemp())
        >>> imprint.profiler.stop_trace()
    """
    with _lock:
        if not _running:
            raise RuntimeError(
                "stop_trace: expected a trace under way, got none. Call "
                "imprint.profiler.start_trace(directory) first."
            )
        session, folder, is_perfetto = _running.pop()
        runtime.end_session(session, str(folder))
        if is_perfetto:
            _write_perfetto(folder)


def _write_perfetto(folder: Path) -> None:
    latest = max(
        (folder / "plugins" / "profile").iterdir(), key=lambda f: f.stat().st_mtime
    )
    (file,) = latest.glob("*.trace.json.gz")
    events = json.loads(gzip.decompress(file.read_bytes()))
    events.pop("metadata", None)
    data = gzip.compress(json.dumps(events).encode())
    (latest / "perfetto_trace.json.gz").write_bytes(data)


@contextmanager
def trace(
    log_dir: str | PathLike[str],
    create_perfetto_trace: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    profiler_options: Any = None,
) -> Generator[None]:
    """Record a block: `start_trace` before it, `stop_trace` after it.

    Args:
        log_dir: the directory to write into; it is made if there is none.
        create_perfetto_trace: whether to write `perfetto_trace.json.gz` too.
        profiler_options: what is recorded, see `ProfileOptions`.

    Yields:
        Nothing, for `with`.

    Raises:
        RuntimeError: a recording is under way.

    Example:
        >>> import imprint, tempfile
        >>> import imprint.numpy as np
        >>> from pathlib import Path
        >>> f = imprint.jit(lambda x: np.sin(x).sum())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with imprint.profiler.trace(folder):
        ...         _ = f(np.ones(3)).block_until_ready()
        ...     len([*Path(folder).rglob("*.trace.json.gz")])
        1
    """
    start_trace(log_dir, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


# ---- events of the user ----


class TraceAnnotation:
    """A context manager whose block is an event of the timeline.

    Args:
        name: the name of the event.
        **metadata: further fields of the event: numbers and texts.

    Example:
        >>> import imprint
        >>> with imprint.profiler.TraceAnnotation("load", batch=3):
        ...     pass
    """

    def __init__(self, name: str, **metadata: Any) -> None:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - the engine's error names its own types
            raise ArgumentError(
                f"{type(self).__name__}: expected a name, got {name!r}. Write other values "
                "as keywords."
            )
        self._mark: Any = runtime.mark(name, metadata)

    def __enter__(self) -> "TraceAnnotation":
        self._mark.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        err: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._mark.__exit__(kind, err, tb)

    def set_metadata(self, **metadata: Any) -> None:
        """Add fields to the event."""
        self._mark.set_metadata(**metadata)


class StepTraceAnnotation(TraceAnnotation):
    """A context manager whose block is a step of a training on the timeline.

    Args:
        name: the name of the event.
        **metadata: further fields, such as `step_num`.

    Example:
        >>> import imprint
        >>> for step in range(2):
        ...     with imprint.profiler.StepTraceAnnotation("train", step_num=step):
        ...         pass
    """

    def __init__(self, name: str, **metadata: Any) -> None:
        super().__init__(name, _r=1, **metadata)


def annotate_function(
    func: Callable[P, R], name: str | None = None, **decorator_kwargs: Any
) -> Callable[P, R]:
    """Return a function whose calls are events of the timeline.

    Args:
        func: the function.
        name: the name of the events; that of the function by default.
        **decorator_kwargs: further fields of the events.

    Returns:
        A function of the same arguments, with the same result.

    Example:
        >>> import imprint
        >>> @imprint.profiler.annotate_function
        ... def load(n):
        ...     return n + 1
        >>> load(2)
        3
    """
    check_function(func, "annotate_function")
    shown = name or getattr(func, "__qualname__", None) or name_of(func)

    @wraps(func)
    def annotated(*args: P.args, **kwargs: P.kwargs) -> R:
        with TraceAnnotation(shown, **decorator_kwargs):
            return func(*args, **kwargs)

    return annotated


# ---- memory ----


def device_memory_profile(backend: str | None = None) -> bytes:
    """Return which arrays and programs are in the memory of the devices.

    Args:
        backend: the platform, such as `cpu`; the default one by default.

    Returns:
        A compressed protocol buffer, which Google's `pprof` reads.

    Example:
        >>> import imprint
        >>> data = imprint.profiler.device_memory_profile()
    """
    return runtime.heap_profile(backend)


def save_device_memory_profile(
    filename: str | PathLike[str], backend: str | None = None
) -> None:
    """Write `device_memory_profile` to a file.

    Args:
        filename: the file.
        backend: the platform; the default one by default.

    Returns:
        None; the file is written.

    Example:
        >>> import imprint, tempfile
        >>> file = tempfile.mkdtemp() + "/memory.prof"
        >>> imprint.profiler.save_device_memory_profile(file)
    """
    Path(filename).write_bytes(device_memory_profile(backend))
