"""The registration of the native kernels with the engine.

A program names them in its text (`imprint_kernel_sort`). They are registered before an
executable is made of a text or of bytes that names one; other programs do not need them.
The identity of the kernels is part of that of the machine, so a program on the disk is
found where the same kernels are.
"""

import ctypes
from threading import Lock
from typing import Final

from imprint._src.errors import CompileError
from imprint._src.native import kernels
from imprint._src.runtime.compat import engine


def has_kernels() -> bool:
    """Return whether the native kernels can be called."""
    return bool(kernels.load().handlers)


def kernels_status() -> str:
    """Return whether the native kernels are loaded, or why not."""
    return kernels.load().status


def kernels_identity() -> str:
    """Return the digest of the source of the kernels; "none" without them."""
    return kernels.load().source or "none"


def register_kernels(program: str | bytes, platform: str) -> None:
    """Register the kernels if a program, as text or bytes, may call one.

    Raises:
        CompileError: there are none, or it is for another platform than the CPU.
    """
    if _ready or not _names_one(program):
        return
    loaded = kernels.load()
    if not loaded.handlers or platform != "cpu":
        reason = loaded.status if platform == "cpu" else f"the platform is {platform}"
        raise CompileError(
            "compile: expected a program without native kernels, which are not there "
            f"({reason}), got one that calls them. Lower it again where it shall run, or "
            "with compiler_options={'formulations': 'plain'}."
        )
    with _lock:
        if not _ready:
            for name, address in loaded.handlers.items():
                engine.register_custom_call_target(
                    name, _capsule(address, _KIND, None), platform="cpu", api_version=1
                )
            _ready.append(True)


def _names_one(program: str | bytes) -> bool:
    if isinstance(program, str):
        return "stablehlo.custom_call @imprint_kernel_" in program
    return b"imprint_kernel_" in program


_ready: Final[list[bool]] = []
_lock: Final = Lock()
_KIND: Final = b"xla._CUSTOM_CALL_TARGET"
"""The name that the engine expects of a capsule; it keeps the pointer."""
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
