"""The engine's profiler: sessions, marks on the timeline, and profiles of memory.

The profiler is a library of its own, which is loaded at its first use. A mark costs 50 ns
while no session is under way.
"""

from functools import cache
from importlib import import_module
from typing import Any

from imprint._src.runtime.client import devices, first_device


@cache
def _profiler() -> Any:
    return import_module("jaxlib._profiler")


def profile_options() -> Any:
    """Return new options of a session, with the engine's defaults."""
    return _profiler().ProfileOptions()


def start_session(options: Any) -> Any:
    """Return a new session; EngineError if one is under way.

    The devices are started first: those that start later are not recorded.
    """
    first_device()
    return _profiler().ProfilerSession(options)


def end_session(session: Any, folder: str) -> None:
    """End a session, and write what it recorded into a folder."""
    session.stop_and_export(folder)


def mark(name: str, metadata: dict[str, Any]) -> Any:
    """Return a context manager, whose block is an event with a name on the timeline."""
    return _profiler().TraceMe(name, **metadata)


def heap_profile(platform: str | None) -> bytes:
    """Return which buffers and programs are in memory, as a compressed file for `pprof`."""
    profile = devices(platform)[0].client.heap_profile()
    return import_module("gzip").compress(profile)  # slow to import
