"""Declarations of the user about inputs that a trace does not see.

- `assume`: a function, class or module gives the same in each process, so traces that
  read it may be kept. A manifest holds only where the same is declared.
- `note_file`, `note_value`: files and values that results are made from. A manifest holds
  only where they are the same.
"""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from types import BuiltinFunctionType
from typing import Any, Final

from imprint._src.core.identity import module_name, type_name
from imprint._src.core.user_code import is_module, module_namespace
from imprint._src.jit.fingerprint.raw_access import class_of
from imprint._src.jit.manifest.file_digests import (
    Stamp,
    Stamps,
    changed,
    stamp_of,
    stamp_of_code,
)
from imprint._src.jit.manifest.not_cacheable import Refused, Why

_names: Final[set[str]] = set()
OBJECTS: Final[dict[int, tuple[Any, str]]] = {}
"""What is declared pure, but for modules, by `id`, with its name."""
_files: Final[Stamps] = {}
_values: Final[dict[str, str]] = {}


def assume(x: Any, name: str = "") -> None:
    """Declare a function, a class or all of a module pure.

    Args:
        x: it.
        name: the name by which the user gave it, if by one.
    """
    if name:
        _names.add(name)
    if not is_module(x):
        known = _name_of(x)
        _names.add(known)
        OBJECTS[id(x)] = x, known
        return
    held = module_namespace(x)
    _names.add(str(held.get("__name__")))
    functions = (f for f in held.values() if type(f) is BuiltinFunctionType)
    _names.update(map(_name_of, functions))  # `os` has those of `posix`


def _name_of(x: Any) -> str:
    kind = class_of(x)
    module = module_name(x) if issubclass(kind, type) else getattr(x, "__module__", "")
    own = getattr(x, "__qualname__", None) or getattr(x, "__name__", "")
    return f"{module or type_name(kind)}.{own}"


def assumed(module: str, name: str) -> str:
    """Return the declaration that covers something in a module; "" if there is none."""
    whole = f"{module}.{name}"
    while whole and whole not in _names:
        whole = whole.rpartition(".")[0]
    return whole


def note_file(path: str) -> None:
    """Take in a file that results are made from; OSError if it cannot be read."""
    _files[path] = stamp_of(path)


def note_value(digest: str, text: str) -> None:
    """Take in a value that results are made from, with what it prints as."""
    _values[digest] = text


def look() -> Stamps:
    """Return the noted files as they are now; Refused if one is gone."""
    for path, stamp in (*_files.items(),):
        try:
            _files[path] = stamp_of(path, stamp)
        except OSError:
            raise Refused(Why.VALUE, f"the file {path}, which is not there") from None
    return {**_files}


@contextmanager
def until_here() -> Generator[None]:
    """Forget, when the block is left, what was declared in it."""
    held: tuple[Any, ...] = _names, OBJECTS, _files, _values
    before = [each.copy() for each in held]
    try:
        yield
    finally:
        for each, was in zip(held, before, strict=True):
            each.clear()
            each.update(was)


def declaration(relied: set[str], own: Iterable[str], before: Stamps) -> dict[str, Any]:
    """Return what a trace relies on, as plain data.

    Args:
        relied: the declarations that its values rely on.
        own: user files in C that hold such values.
        before: the files that were noted when it began.

    Raises:
        Refused: a file changed meanwhile, or since this process began.
    """
    noted = {**_files, **before}
    files = look()
    for path, stamp in noted.items():
        if files[path].digest != stamp.digest:
            what = f"the file {path}, which was written while it was traced"
            raise Refused(Why.VALUE, what)
    files |= {path: stamp_of_code(path) for path in own}
    return {"assumed": sorted(relied), "files": files, "values": [*_values.items()]}


def adopt(plain: Mapping[str, Any]) -> None:
    """Note the files of a manifest that is used."""
    _files.update({path: Stamp(*stamp) for path, stamp in plain["files"].items()})


def difference_of(plain: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return the first difference from what was declared: its name, what it was, is."""
    for name in plain["assumed"]:
        if name not in _names:
            return f"what is assumed of {name}", "", ""
    for was, now in zip_longest(plain["values"], _values.items(), fillvalue=("", "")):
        if was[0] != now[0]:
            return "the value that depends_on was given", was[1], now[1]
    then = plain["files"]
    file = next((path for path in _files if path not in then), "") or changed(then)
    return (f"the file {file}", "", "") if file else None
