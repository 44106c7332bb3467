"""The native core: warm calls in C, if it was built.

- `core.c`: the calls
- `eager.c`, `guards.c`, `trees.c` and `walks.c`: parts of it, the evaluation of primitives,
  the guards, trees of containers, and walks over any trees
- `kernels`: kernels in C++ for compiled programs
- `direct.c`: an extension of its own, calls of small programs without the engine

`core` is the extension, or None; `status` says which, and why. A binary of another source
is refused. The environment variable IMPRINT_NATIVE=0 turns it off. Without it the same
calls run in Python, slower. `direct` is None unless IMPRINT_DIRECT=1. The modules themselves
begin with `_`: one that is imported for itself, as by a walk over a package, turns nothing on.
"""

import os
import sysconfig
from _blake2 import blake2b  # as in `runtime/compat`
from importlib import import_module
from pathlib import Path
from typing import Any, Final

__all__ = ["core", "direct", "direct_status", "status"]


def source() -> str:
    """Return the digest of the source, which identifies it in its binary."""
    parts = sorted(Path(__file__).parent.glob("*.c"))
    text = b"".join([part.read_bytes() for part in parts])
    return blake2b(text, digest_size=16).hexdigest()


def _load(name: str = "core") -> tuple[Any, str]:
    """Return an extension, or None; and a line on it."""
    if os.environ.get("IMPRINT_NATIVE") == "0":
        return None, "off: IMPRINT_NATIVE=0"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None, "not loaded: this Python has no GIL"
    try:
        loaded: Any = import_module(f"imprint._src.native._{name}")
    except ImportError as err:
        return None, f"not loaded: {err}"
    if loaded.source != source():
        return None, "not loaded: it was built from another source; build it again"
    return loaded, "loaded"


def _load_direct() -> tuple[Any, str]:
    if os.environ.get("IMPRINT_DIRECT") != "1":
        return None, "off: IMPRINT_DIRECT is not 1"
    return _load("direct") if core is not None else (None, f"core: {status}")


_loaded: Final = _load()
core: Final[Any] = _loaded[0]
"""The extension, or None."""
status: Final[str] = _loaded[1]
"""Whether it is loaded, or why not."""
_direct: Final = _load_direct()
direct: Final[Any] = _direct[0]
"""The extension that calls small programs without the engine, or None."""
direct_status: Final[str] = _direct[1]
"""Whether it is loaded, or why not."""
