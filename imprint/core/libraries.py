"""Whose code it is: the user's, or an installed library's.

A version watches what the user's code reads; what an installed library defines is taken
to stay as it is. The standard library, everything in a `site-packages` and imprint
itself are libraries; a script, a notebook cell, a package that is installed editable and
the programs of `imprint.cli` are the user's. Nothing here runs a user's code: no `==`,
no `isinstance`, no attribute of an instance.
"""

import os
import re
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Final, cast, final

from imprint.core.identity import module_name
from imprint.core.source import is_library

BEGAN: Final = time.time_ns()
"""When this process imported imprint: a file that is written later is not what runs."""

_STANDARD: Final = tuple(
    {
        os.path.join(path, "")
        for path in (
            sysconfig.get_path("stdlib"),
            sysconfig.get_path("platstdlib"),
            str(Path(os.__file__).parent),
        )
    }
)
_GENERATED: Final = ("<frozen ", "<attrs generated ")
_INSTALLED: Final = re.compile(r"[\\/](site|dist)-packages[\\/]")
_PROGRAMS: Final = os.path.join(Path(__file__).resolve().parent.parent, "cli", "")

_get: Final = cast("Any", dict).get
_known: Final[dict[str, bool]] = {}
_known_own: Final[dict[str, bool]] = {}
own_file: Final = _known_own.get
"""`own_file(name)`: the memo of `is_own_file`, None for a file not asked about yet."""


def is_own_file(name: str) -> bool:
    """Tell whether a source file is imprint's own, or a text that imprint generated."""
    known = _known_own.get(name)
    if known is None:
        known = _known_own[name] = is_library(name) or name.startswith("<imprint ")
    return known


def is_user_file(name: str) -> bool:
    """Tell whether a source file is the user's; a name in `<>` counts as one."""
    known = _known.get(name)
    if known is None:
        known = _known[name] = name.startswith(_PROGRAMS) or not (
            is_own_file(name)
            or name.startswith((*_STANDARD, *_GENERATED))
            or _INSTALLED.search(name)
        )
    return known


@final
class _Foreign(dict[str, bool]):
    """Whether a source file is a library's that is not imprint, by its name.

    A subscript is the cheapest way to ask: each result of a library's function asks it.
    """

    def __missing__(self, name: str) -> bool:
        found = self[name] = not (is_user_file(name) or is_own_file(name))
        return found


_foreign: Final = _Foreign()
is_foreign_file: Final = _foreign.__getitem__
"""Tell whether code of a source file is neither imprint's nor the user's; hot."""


def is_called_by_library(frame: FrameType) -> bool:
    """Tell whether a library's code, and none of imprint's, called a frame; hot."""
    back = frame.f_back
    return back is not None and _foreign[back.f_code.co_filename]


def is_own_code(code: CodeType, namespace: dict[str, Any]) -> bool:
    """Tell whether code is imprint's own; code made from text belongs to its module."""
    name = code.co_filename
    if name.startswith("<"):
        file = _text(namespace, "__file__")
        return is_own_file(name) or (file is not None and is_own_file(file))
    return is_own_file(name)


def is_user_code(code: CodeType, namespace: dict[str, Any]) -> bool:
    """Tell whether code is the user's; code made from text belongs to its module."""
    name = code.co_filename
    if not is_user_file(name):
        return False
    return not name.startswith("<") or is_user_namespace(namespace)


def is_user_function(value: Any) -> bool:
    """Tell whether a value is a function, and its code the user's."""
    return type(value) is FunctionType and is_user_code(
        value.__code__, value.__globals__
    )


def is_of_library(frame: FrameType) -> bool:
    """Tell whether what runs in a frame is neither imprint's nor the user's."""
    code = frame.f_code
    return is_foreign_file(code.co_filename) or not (
        is_own_code(code, frame.f_globals) or is_user_code(code, frame.f_globals)
    )


def is_asked_by_imprint(frame: FrameType) -> bool:
    """Tell whether imprint, not the user's code, called a library: for a signature."""
    asking = frame.f_back
    while asking is not None and not is_own_code(asking.f_code, asking.f_globals):
        if is_user_code(asking.f_code, asking.f_globals):
            return False
        asking = asking.f_back
    return asking is not None


def is_user_namespace(namespace: dict[str, Any]) -> bool:
    """Tell whether a module's dictionary is that of one of the user's modules."""
    file = _text(namespace, "__file__")
    if file is not None:
        return is_user_file(file)
    name = _text(namespace, "__name__") or ""
    if name.startswith("namedtuple_"):
        return False  # where `collections` makes the methods of a named tuple
    if name in sys.builtin_module_names:
        return False
    spec = entry(namespace, "__spec__")
    origin = spec.origin if type(spec) is ModuleSpec else None
    if origin in ("built-in", "frozen"):
        return False
    folders = _folders_of(namespace)  # a namespace package has no file
    return not folders or any(map(is_user_file, folders))


def _folders_of(namespace: dict[str, Any]) -> list[str]:
    """Return the folders of a package, each with a separator at its end."""
    path: Any = entry(namespace, "__path__")
    if type(path) is _NAMESPACE_PATH:
        path = entry(vars(path), "_path")  # to iterate over it searches the parent
    if type(path) is not list:
        return []
    folders = cast("list[object]", path)
    return [os.path.join(folder, "") for folder in folders if type(folder) is str]


_NAMESPACE_PATH: Final = vars(sys.modules["_frozen_importlib_external"])[
    "_NamespacePath"
]


def is_own_namespace(namespace: dict[str, Any]) -> bool:
    """Tell whether a module's dictionary is that of a module of imprint."""
    file = _text(namespace, "__file__")
    return file is not None and is_own_file(file)


holds: Final = cast("Callable[[Any, object], bool]", vars(dict)["__contains__"])
"""Whether a dict has a key; a class of the user's is not asked."""
keys_of: Final = cast("Callable[[Any], Iterable[Any]]", vars(dict)["keys"])
"""The keys of a dict; a class of the user's is not asked."""


def entry(namespace: dict[str, Any], name: str) -> Any:
    """Return what a namespace holds, or None; a class of the user's is not asked."""
    found: Any = _get(namespace, name)
    return found


def named(code: CodeType, namespace: dict[str, Any]) -> FunctionType | None:
    """Return the function of some code that its module has under its name, or None."""
    found = entry(namespace, code.co_qualname)
    return found if type(found) is FunctionType and found.__code__ is code else None


def _text(namespace: dict[str, Any], name: str) -> str | None:
    """Return a text that a namespace holds; neither need be of the very class."""
    value: Any = _get(namespace, name)
    if type(value) is str:
        return value
    return str.__str__(value) if issubclass(type(value), str) else None


def is_module(value: object) -> bool:
    """Tell whether a value is a module; a proxy that claims to be one is not."""
    return issubclass(type(value), ModuleType)


def module_namespace(module: Any) -> dict[str, Any]:
    """Return a module's dictionary, whatever its class makes of attributes."""
    return ModuleType.__getattribute__(module, "__dict__")


def is_user_class(cls: type) -> bool:
    """Tell whether a class was defined in one of the user's modules.

    One that was made from text, or by a function, may bear the name of the module that
    made it; then that does not have it.
    """
    module = module_name(cls)
    if not _in_library(module):
        return True
    if module not in _MAKERS or not _flags_of(cls) & _HEAP:
        return False
    return _name_of(cls) not in vars(sys.modules[module])


def is_own_class(cls: type) -> bool:
    """Tell whether a class was defined in a module of imprint."""
    found = sys.modules.get(module_name(cls))
    if found is None or not is_module(found):
        return False
    return is_own_namespace(module_namespace(found)) and not is_user_class(cls)


def is_fixed(cls: type) -> bool:
    """Tell whether no code in Python can write into a class: most of C's are so."""
    return bool(_flags_of(cls) & _IMMUTABLE)


def is_user(owner: Any) -> bool:
    """Tell whether a class or a module is the user's."""
    if is_module(owner):
        return is_user_namespace(module_namespace(owner))
    return is_user_class(owner)


_MAKERS: Final = frozenset(("abc", "builtins", "dataclasses", "types"))
_HEAP: Final = 1 << 9  # Py_TPFLAGS_HEAPTYPE: not one of the interpreter's own
_IMMUTABLE: Final = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
_flags_of: Final = vars(type)["__flags__"].__get__
_name_of: Final = vars(type)["__name__"].__get__


def _in_library(module: object) -> bool:
    if module == "__main__":  # a profiler's own, when it runs a script
        return False
    if module == "builtins":  # of most
        return True
    found = sys.modules.get(module) if isinstance(module, str) else None
    if found is None or not is_module(found):
        return False
    return not is_user_namespace(module_namespace(found))
