"""The initialization of the LAPACK kernels of the engine.

A program names them in its text (`lapack_spotrf_ffi`). They call SciPy's LAPACK through
pointers that are null until `initialize` has imported SciPy, which takes 0.3 s: a program
that runs before ends the process, also one that was deserialized. So `prepare` is called
before an executable is made of a text or of bytes. Without such a name it is a search of a
microsecond.
"""

from importlib import import_module
from threading import Lock

from imprint._src.errors import CompileError
from imprint._src.runtime.compat import engine


def prepare(program: str | bytes, platform: str) -> None:
    """Initialize the kernels if a program, as text or bytes, may call one.

    Raises:
        CompileError: it is for another platform than the CPU.
    """
    if _ready and platform == "cpu":
        return
    names = _NAMES if isinstance(program, str) else [n.encode() for n in _NAMES]
    if any(name in program for name in names):  # pyright: ignore[reportOperatorIssue] - both are texts or bytes
        if platform != "cpu":
            raise CompileError(
                "compile: expected a program without decompositions and solvers that call "
                f"LAPACK, which only the CPU has, got one for the {platform}. Compute them "
                "there: imprint.device_put(x, imprint.devices('cpu')[0]), or "
                "jit(..., backend='cpu')."
            )
        with _lock:
            if not _ready:
                _initialize()


_NAMES = ["lapack_", "tridiagonal_solve_perturbed_ffi"]
_ready: list[bool] = []
_lock = Lock()


def _initialize() -> None:
    kernels = import_module("jaxlib.cpu._lapack")
    kernels.initialize()
    for name, kernel in kernels.registrations().items():
        # Twice is harmless; JAX does so too.
        engine.register_custom_call_target(
            name, kernel, platform="cpu", api_version=int(name.endswith("_ffi"))
        )
    _ready.append(True)
