"""Kernels in C++ that compiled programs for the CPU call, if they were built.

`ffi.h` is XLA's interface; a family of kernels is a header, and `kernels.cc` names all of
them. It is compiled for each instruction set, of which `library.cc` chooses one. The library
serves all Pythons and releases of jaxlib: it is linked against neither. A binary of another
source is refused. `IMPRINT_NATIVE=0` turns the kernels off. Without them the same programs
are written in operations of StableHLO, slower.
"""

import ctypes
import os
from _blake2 import blake2b  # as in `runtime/compat`
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["KERNELS", "Kernels", "load", "source"]

# With a dot in its name, it does not look like a module.
KERNELS: Final = Path(__file__).with_name("kernels.ffi.so")


class Kernels(NamedTuple):
    """The kernels of this process.

    Args:
        handlers: the addresses of handlers by the names that programs call.
        status: whether they are loaded, or why not.
        source: the digest of their source; "" without them.
    """

    handlers: dict[str, int]
    status: str
    source: str = ""


@cache
def load() -> Kernels:
    """Return the kernels; none if they were not built, or cannot be used."""
    if os.environ.get("IMPRINT_NATIVE") == "0":
        return Kernels({}, "off: IMPRINT_NATIVE=0")
    if not KERNELS.exists():
        return Kernels({}, "not built: there was no C++ compiler")
    try:
        library = ctypes.CDLL(str(KERNELS))
        library.imprint_source.restype = ctypes.c_char_p
        library.imprint_kernels.restype = ctypes.POINTER(_Kernel)
    except (OSError, AttributeError) as err:
        return Kernels({}, f"not loaded: {err}")
    digest = library.imprint_source().decode()
    if digest != source():
        return Kernels(
            {}, "not loaded: they were built from another source; build them again"
        )
    handlers: dict[str, int] = {}
    for kernel in library.imprint_kernels():
        if kernel.name is None:
            break
        handlers[kernel.name.decode()] = kernel.handler
    return Kernels(handlers, "loaded", digest)


class _Kernel(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("handler", ctypes.c_void_p))


def source() -> str:
    """Return the digest of the source, which identifies it in its binary."""
    folder = KERNELS.parent
    parts = sorted(folder.glob("*.h")) + sorted(folder.glob("*.cc"))
    text = b"".join([part.read_bytes() for part in parts])
    return blake2b(text, digest_size=16).hexdigest()
