"""Whose code it is: the user's, or an installed library's.

A version watches what the user's code reads; what an installed library defines is taken
to stay as it is. The standard library, everything in a `site-packages` and imprint
itself are libraries; a script, a notebook cell, a package that is installed editable and
the programs of `imprint tour` are the user's. So is, for the rest of the process, an
installed package that a jitted function comes from (`adopt`). Nothing here runs a user's
code: no `==`, no `isinstance`, no attribute of an instance.
"""

import os
import re
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, Final, cast, final

from imprint._src.core.identity import module_name
from imprint._src.diagnostics.source import is_library

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
_PROGRAMS: Final = os.path.join(Path(__file__).resolve().parents[1], "cli", "")

_get: Final = cast("Any", dict).get
_class_of: Final = cast("Callable[[Any], Any]", type)
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
        if not known and name.startswith((*_adopted,)) and not is_own_file(name):
            known = _known[name] = True
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


# ---- the package that a jitted function comes from ----


def adopt(fun: Callable[..., Any]) -> None:
    """Count the installed package that a jitted function comes from as user code.

    It is the top regular package in which its file is, or the file where there is none.
    imprint itself and what it is built on stay libraries. A decorated function counts,
    not its decorator. Each binding calls this; a file that was decided takes 0.1 µs.
    """
    if (
        type(fun) is FunctionType
        and fun.__code__.co_filename in _decided
        and not fun.__dict__
    ):
        return
    for part in _parts_of(fun):
        file = _file_of(part)
        if file is not None and file not in _decided:
            _decided.add(file)
            if not (is_user_file(file) or is_own_file(file)):
                _adopt(file)


def _adopt(file: str) -> None:
    """Count the package of an installed file as user code, in all memos."""
    site = max((m.end() for m in _INSTALLED.finditer(file)), default=0)
    folders = [m.end() for m in _SEPARATOR.finditer(file, site)]
    top = re.split(r"[\\/.]", file[site:], maxsplit=1)[0]
    if not site or top in _BELOW:
        return
    found = next((file[:end] for end in folders if _is_regular(file[:end])), file)
    _adopted.append(found)
    for memo in (_known, _foreign):
        for name in [*memo]:
            if name.startswith(found):
                memo.pop(name, None)


def _parts_of(given: Any) -> Iterator[FunctionType | type]:
    """Yield the functions and classes that say where a callable comes from."""
    waiting, seen = [given], set[int]()
    while waiting and len(seen) < _MOST:
        fun = waiting.pop()
        if id(fun) not in seen:
            seen.add(id(fun))
            part, inner = _taken_apart(fun)
            waiting += inner
            if part is not None:
                yield part


def _taken_apart(fun: Any) -> tuple[FunctionType | type | None, list[Any]]:
    """Return what says where a callable comes from, and the callables in it to look at.

    Of a bound method both the function and the class of the object count, as a method
    may be inherited from another package. A function of imprint counts as the functions
    that it was given: the step of a loop.
    """
    kind = _class_of(fun)
    if kind is FunctionType:
        inner = entry(fun.__dict__, "__wrapped__")
        if inner is not None:
            return None, [inner]
        return (None, _captured(fun)) if _is_own(fun) else (fun, [])
    if kind is MethodType:
        owner = fun.__self__
        return owner if _is_class(owner) else _class_of(owner), [fun.__func__]
    if issubclass(kind, partial):
        run = _function_of(fun)
        return None, [run, *(filter(callable, _args_of(fun)) if _is_own(run) else ())]
    if _is_class(fun):
        return fun, []
    if (kind is _CACHED or is_own_class(kind)) and hasattr(fun, "__wrapped__"):
        return None, [fun.__wrapped__]
    calls = (_namespace_of(base).get("__call__") for base in _bases_of(kind))
    return kind, [call for call in calls if type(call) is FunctionType][:1]


def _is_own(fun: Any) -> bool:
    return type(fun) is FunctionType and is_own_file(fun.__code__.co_filename)


def _captured(fun: FunctionType) -> list[Any]:
    """Return the callables that a function captures."""
    found: list[Any] = []
    for cell in fun.__closure__ or ():
        with suppress(ValueError):  # an empty cell
            found.append(cell.cell_contents)
    return [value for value in found if callable(value)]


def _is_class(value: Any) -> bool:
    return issubclass(type(value), type)


def _file_of(part: FunctionType | type) -> str | None:
    """Return the file in which a function or a class was defined, if it is known."""
    if type(part) is FunctionType:
        name = part.__code__.co_filename
        return _text(part.__globals__, "__file__") if name.startswith("<") else name
    module = sys.modules.get(module_name(part))
    if module is None or not is_module(module):
        return None
    return _text(module_namespace(module), "__file__")


def _is_regular(folder: str) -> bool:
    """Return whether a folder is a package with a file of its own."""
    try:
        return any(name.startswith("__init__.") for name in os.listdir(folder))
    except OSError:
        return False


_MOST: Final = 64
"""After how many callables the search for functions ends."""
_SEPARATOR: Final = re.compile(r"[\\/]")
_BELOW: Final = frozenset(("imprint", "jaxlib", "ml_dtypes", "numpy", "optree"))
_CACHED: Final = type(lru_cache(len))
_adopted: Final[list[str]] = []
_decided: Final[set[str]] = set()
_function_of: Final = vars(partial)["func"].__get__
_args_of: Final = vars(partial)["args"].__get__
_bases_of: Final = vars(type)["__mro__"].__get__
_namespace_of: Final = vars(type)["__dict__"].__get__


# ---- code, modules, classes ----


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
    path = entry(namespace, "__path__")
    if _class_of(path) is _NAMESPACE_PATH:
        path = path._path  # to iterate over it searches the parent
    if _class_of(path) is not list:
        return []
    return [os.path.join(folder, "") for folder in path if type(folder) is str]


_NAMESPACE_PATH: Final[type] = vars(sys.modules["_frozen_importlib_external"])[
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
