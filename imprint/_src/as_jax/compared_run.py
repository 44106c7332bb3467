"""One run of a program for `imprint compare`: `compared_run.py WHICH FILE PROGRAM …`.

WHICH is `jax` or `imprint`; the figures go to FILE as JSON when the process ends. This file
is run as a script and names no module of either library in an import, so that both start
alike.
"""

import atexit
import importlib
import json
import logging
import resource
import runpy
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final


def main(which: str, file: str, words: Sequence[str]) -> None:
    """Run a program, and write its figures."""
    start = time.perf_counter()
    counts = _COUNTING[which]()
    seconds = time.perf_counter() - start

    @atexit.register
    def write() -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        size = peak * (1 if sys.platform == "darwin" else 1024)
        figures = {"import_seconds": seconds, "peak_bytes": size, **counts()}
        Path(file).write_text(json.dumps(figures), "utf-8")

    if words[0] == "-m":
        sys.argv[:] = words[1:]
        sys.path[0] = ""
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv[:] = words
        sys.path[0] = str(Path(words[0]).resolve().parent)
        runpy.run_path(words[0], run_name="__main__")


Counts = Mapping[str, Any]


class CompiledNames(logging.Handler):
    """How often JAX compiles each function, from the messages of its log."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Count a message that a function is compiled."""
        if record.msg.startswith("Compiling") and isinstance(record.args, tuple):
            self.counts[str(record.args[0]).removeprefix("jit(").rstrip(")")] += 1


def count_jax() -> Callable[[], Counts]:
    """Import JAX, and return a function that returns its counts."""
    jax: Any = importlib.import_module("jax")
    events: Counter[str] = Counter()
    functions = CompiledNames()
    logger = logging.getLogger("jax._src.interpreters.pxla")
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    logger.addHandler(functions)

    def count(event: str, *seconds: float, **more: object) -> None:
        events[event] += 1

    jax.monitoring.register_event_duration_secs_listener(count)
    jax.monitoring.register_event_listener(count)

    def counts() -> Counts:
        loads = events["/jax/compilation_cache/cache_hits"]
        programs = events["/jax/core/compile/backend_compile_duration"]
        return {
            "version": jax.__version__,
            "traces": events["/jax/core/compile/jaxpr_trace_duration"],
            "compiles": programs - loads,
            "loads": loads,
            "functions": functions.counts,
        }

    return counts


class CompiledFunctions:
    """How often imprint compiles each function: an observer of misses."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def missed(self, miss: Any) -> None:
        """Do nothing: the miss may be loaded from the disk."""

    def failed(self, miss: Any) -> None:
        """Do nothing: it made no program."""

    def compiled(self, miss: Any, costs: Any) -> None:
        """Count a compile."""
        if miss.origin == "compiled":
            self.counts[miss.function.partition(" ")[0]] += 1


def count_imprint() -> Callable[[], Counts]:
    """Import imprint as JAX, and return a function that returns its counts."""
    importlib.import_module("imprint.as_jax")
    jax: Any = importlib.import_module("jax")
    counters: Any = importlib.import_module("imprint._src.jit.compilation.counters")
    versions: Any = importlib.import_module("imprint._src.jit.versions.version")
    functions = CompiledFunctions()
    versions.OBSERVERS.append(functions)

    def counts() -> Counts:
        return {
            "version": jax.__imprint__,
            "traces": counters.COUNTERS.traces,
            "compiles": counters.COUNTERS.compiles,
            "loads": counters.COUNTERS.loads,
            "functions": functions.counts,
        }

    return counts


_COUNTING: Final = {"jax": count_jax, "imprint": count_imprint}

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
