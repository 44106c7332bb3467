"""The garbage collector, while imprint is imported at the start of a program.

An import makes some 30,000 objects that stay until the process ends. The collector looks
at them all several times: 25 ms during the import, and 50 ms at the exit, where it takes
apart what the process gives back anyway. So it pauses, and what is there when the import
ends is frozen: `gc.freeze` keeps it out of all collections. `gc.unfreeze` takes it back.
What is frozen is never freed if it ends as a cycle, so nothing of the user's may be among
it: it is done only where nothing but imports runs, and the script has made nothing yet, not
in a notebook, a function or a test. `imprint` imports this file before all others.
"""

import gc
import sys
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType
from typing import Any, Final
from weakref import finalize

_MADE_BY_IMPORTS: Final = (
    *(type, ModuleType, FunctionType, BuiltinFunctionType),
    *(str, bytes, bool, int, float, complex, type(None)),
)


def end() -> None:
    """Freeze what the import has made, and let the collector go on."""
    if _go_on is not None and _go_on.alive:
        gc.freeze()
        _go_on()


def _pause() -> "finalize[[], Any] | None":
    """Turn the collector off, until what is returned is called, or the import fails."""
    if not gc.isenabled() or not _is_start_of_program():
        return None
    gc.disable()
    return finalize(sys.modules["imprint"], gc.enable)


def _is_start_of_program() -> bool:
    """Tell whether nothing but imports runs, and the script has made no object so far."""
    frame: FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage] - inspect takes 2 ms
    while frame is not None:
        if not _is_of_an_import(frame):
            return False
        frame = frame.f_back
    script = sys.modules.get("__main__")
    return script is not None and all(
        isinstance(value, _MADE_BY_IMPORTS)
        for name, value in vars(script).items()
        if name[:2] != "__"
    )


def _is_of_an_import(frame: FrameType) -> bool:
    """Tell whether a frame runs a module, or is Python's own on the way to one."""
    code = frame.f_code
    python = ("<frozen importlib._", "<frozen runpy>")
    return code.co_name == "<module>" or code.co_filename.startswith(python)


_go_on: Final = _pause()
