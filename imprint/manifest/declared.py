"""Declared: what the user says of a program that no trace can hear.

- What something of a library gives is taken to follow from its arguments alone (`assume`),
  so that what calls it may be kept. A manifest names what it relies on, and holds only
  where the same is said.
- Files and values of which answers are made (`note_file`, `note_value`): a manifest of
  this process holds only where they are as they were.
"""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from types import BuiltinFunctionType
from typing import Any, Final

from imprint.core.identity import module_name, type_name
from imprint.core.libraries import is_module, module_namespace
from imprint.manifest.refused import Refused, Why
from imprint.manifest.stamps import Stamp, Stamps, changed, stamp_of, stamp_of_code
from imprint.watch.classes import class_of

# ---- what is assumed to be pure ----

_names: Final[set[str]] = set()
OBJECTS: Final[dict[int, tuple[Any, str]]] = {}
"""What is assumed, but for modules, by `id`: it, and what it is called."""


def assume(x: Any, name: str = "") -> None:
    """Take it that a function, a class or all of a module reads its arguments alone.

    Args:
        x: it.
        name: by which name the user knows it, if by one.
    """
    if name:
        _names.add(name)
    if not is_module(x):
        known = name_of(x)
        _names.add(known)
        OBJECTS[id(x)] = x, known
        return
    held = module_namespace(x)
    _names.add(str(held.get("__name__")))
    functions = (f for f in held.values() if type(f) is BuiltinFunctionType)
    _names.update(map(name_of, functions))  # `os` has those of `posix`


def name_of(x: Any) -> str:
    """Return what a function or a class is called."""
    kind = class_of(x)
    module = module_name(x) if issubclass(kind, type) else getattr(x, "__module__", "")
    own = getattr(x, "__qualname__", None) or getattr(x, "__name__", "")
    return f"{module or type_name(kind)}.{own}"


def assumed(module: str, name: str) -> str:
    """Return what is assumed of something in a module; "" if nothing is."""
    whole = f"{module}.{name}" if name else module
    while whole and whole not in _names:
        whole = whole.rpartition(".")[0]
    return whole


def has_part(module: str) -> bool:
    """Tell whether something is assumed of a part of a module."""
    start = f"{module}."
    return any(name.startswith(start) for name in _names)


# ---- what answers are made of ----


_files: Final[Stamps] = {}
_values: Final[dict[str, str]] = {}


def note_file(path: str) -> None:
    """Take in a file of which answers are made from now on.

    Raises:
        OSError: it cannot be read.
    """
    _files[path] = stamp_of(path)


def note_value(digest: str, text: str) -> None:
    """Take in a value of which answers are made from now on.

    Args:
        digest: stands for it.
        text: what it prints as; "" if that would say too much.
    """
    _values[digest] = text


def look() -> Stamps:
    """Return the files that were noted, as they are now.

    Raises:
        Refused: one is not there any more.
    """
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


# ---- what of it a manifest keeps ----


def declaration(relied: set[str], own: Iterable[str], before: Stamps) -> dict[str, Any]:
    """Return what a trace relies on, in plain data.

    Args:
        relied: what is assumed of what it met.
        own: files of the user's that hold what is assumed.
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
    """Have answers of this process made of the files of one that it found."""
    _files.update({path: Stamp(*stamp) for path, stamp in plain["files"].items()})


def difference_of(plain: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return the first thing that is not as it was declared; None if all is.

    Returns:
        What it is, what it was and what it is; "" for what does not print.
    """
    for name in plain["assumed"]:
        if name not in _names:
            return f"what is assumed of {name}", "", ""
    for was, now in zip_longest(plain["values"], _values.items(), fillvalue=("", "")):
        if was[0] != now[0]:
            return "the value that depends_on was given", was[1], now[1]
    then = plain["files"]
    file = next((path for path in _files if path not in then), "") or changed(then)
    return (f"the file {file}", "", "") if file else None
