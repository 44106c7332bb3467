"""The native core: warm calls in C, if it was built.

- `core.c`: the calls
- `guards.c`: a part of it, the guards
- `kernels`: kernels in C++ for compiled programs

`core` is the extension, or None; `status` says which, and why. A binary of another source
is refused. The environment variable IMPRINT_NATIVE=0 turns it off. Without it the same
calls run in Python, slower.
"""

import os
import sysconfig
from _blake2 import blake2b  # as in `runtime/compat`
from importlib import import_module
from pathlib import Path
from typing import Any, Final

__all__ = ["core", "status"]


def source() -> str:
    """Return the digest of the source, which identifies it in its binary."""
    parts = sorted(Path(__file__).parent.glob("*.c"))
    text = b"".join([part.read_bytes() for part in parts])
    return blake2b(text, digest_size=16).hexdigest()


def _load() -> tuple[Any, str]:
    """Return the extension, or None; and a line on it."""
    if os.environ.get("IMPRINT_NATIVE") == "0":
        return None, "off: IMPRINT_NATIVE=0"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None, "not loaded: this Python has no GIL"
    try:
        loaded: Any = import_module("imprint._src.native.core")
    except ImportError as err:
        return None, f"not loaded: {err}"
    if loaded.source != source():
        return None, "not loaded: it was built from another source; build it again"
    return loaded, "loaded"


_loaded: Final = _load()
core: Final[Any] = _loaded[0]
"""The extension, or None."""
status: Final[str] = _loaded[1]
"""Whether it is loaded, or why not."""
