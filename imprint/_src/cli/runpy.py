"""Run a Python program inside this process as Python itself would.

The program takes over the process: it is `__main__`, and sets `sys.argv` and `sys.path[0]`
for good. Its tracebacks show only its own frames. It ends when its threads have ended, with
the exit status 0, the argument of `sys.exit`, 1 for an exception, or 130 for Ctrl-C. `exec`
runs its code: the standard `runpy` would drop the module at the end, and with it the
versions whose calls the report still counts.
"""

import builtins
import importlib.util
import io
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any, Final

_OURS: Final = {__file__, importlib.util.find_spec.__code__.co_filename}


def run_program(words: Sequence[str]) -> int:
    """Run a program and return its exit status.

    Args:
        words: the script or `-m` and the module, then the program's own arguments.
    """
    threads = threading.enumerate()
    status = _run(words)
    with suppress(KeyboardInterrupt):
        for thread in threading.enumerate():
            if thread not in threads and not thread.daemon:
                thread.join()
    return status


def _run(words: Sequence[str]) -> int:
    main = sys.modules["__main__"] = ModuleType("__main__")
    try:
        if words[0] == "-m":
            sys.argv[:] = words[1:]
            _search_first(os.getcwd())
            code, names = _module(words[1])
            sys.argv[0] = names["__file__"]
        else:
            sys.argv[:] = words
            _search_first(os.path.dirname(os.path.realpath(words[0])))
            code, names = _script(words[0])
        vars(main).update(names, __builtins__=builtins, __annotations__={})
        exec(code, vars(main))
    except SystemExit as end:
        return _status(end.code)
    except BaseException as err:
        err.__traceback__ = _users(err.__traceback__)
        sys.excepthook(type(err), err, err.__traceback__)
        return 130 if isinstance(err, KeyboardInterrupt) else 1
    return 0


def _search_first(folder: str) -> None:
    """Put the folder of a program into the place of that of the command."""
    if not sys.flags.safe_path:
        sys.path[:1] = [folder]


def _script(name: str) -> tuple[CodeType, dict[str, Any]]:
    """Return the code of a script and its initial names."""
    path = os.path.abspath(name)
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    loader = SourceFileLoader("__main__", path)
    return code, {"__file__": path, "__cached__": None, "__loader__": loader}


def _module(name: str) -> tuple[CodeType, dict[str, Any]]:
    """Return the code of a module, or of the `__main__` of a package, and its names."""
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        name = f"{name}.__main__"
        spec = importlib.util.find_spec(name)
    loader: Any = None if spec is None else spec.loader
    code = loader.get_code(name) if hasattr(loader, "get_code") else None
    if spec is None or code is None:
        raise ImportError(f"No module named {name}")
    return code, {
        "__file__": spec.origin,
        "__cached__": spec.cached,
        "__package__": spec.parent,
        "__loader__": loader,
        "__spec__": spec,
    }


def _status(code: object) -> int:
    """Return the exit status of a `SystemExit`, and print its text if it has one."""
    if code is None or isinstance(code, int):
        return int(code or 0)
    with suppress(OSError, ValueError):  # a stream that is closed
        print(code, file=sys.stderr or sys.__stderr__)
    return 1


def _users(traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback from the first frame of the program on."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename in _OURS:
        traceback = traceback.tb_next
    return traceback
