"""Why a trace cannot be kept for another process.

A trace that reads an object of the impure table is not kept, unless the user declares that
object pure. The objects count, not their names: `batch.time` and `imprint.random.normal`
are other objects. The states of random generators are compared before and after a trace.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from enum import Enum
from types import BuiltinFunctionType
from typing import Any, Final, NamedTuple

from imprint._src.core.identity import module_name, type_name
from imprint._src.core.user_code import is_module, module_namespace
from imprint._src.jit.guards.locations import class_of


class Reason(Enum):
    """The code of a reason in its message."""

    VALUE = "E-VALUE"
    SIZE = "E-SIZE"
    IMPURE = "E-IMPURE"
    EFFECT = "E-EFFECT"
    OWNER = "E-OWNER"
    RECORDER = "E-RECORDER"
    RESULT = "E-RESULT"
    OPTION = "E-OPTION"


class NotCacheable(Exception):  # noqa: N818 - no error: users see its text alone
    """Another process could not know that it would trace the same program.

    Args:
        reason: the code.
        culprit: the part of the message that names the culprit.
    """

    def __init__(self, reason: Reason, culprit: str) -> None:
        super().__init__(f"{reason.value}: {_TEXTS[reason].format(what=culprit)}")
        self.reason = reason
        self._culprit = culprit

    def at(self, location: object) -> "NotCacheable":
        """Return the same with the location of the culprit."""
        return NotCacheable(self.reason, f"{self._culprit} ({location})")


_OF_VALUES: Final = (
    "it reads {what}, of which a new process cannot tell that it is the same; "
    "pass it as an argument, or make it a frozen dataclass of numbers, texts and arrays"
)
_TEXTS: Final = {
    Reason.VALUE: _OF_VALUES,
    Reason.SIZE: _OF_VALUES,
    Reason.IMPURE: "it reads {what}, which may give something else in a new process; call "
    "it outside, and pass the result as an argument; if it is the same everywhere, "
    "declare it with imprint.cache.assume_pure",
    Reason.EFFECT: "tracing it {what}, which a warm start would not do; do it outside",
    Reason.OWNER: "it reads {what}, which no name reaches; give it a name in a module",
    Reason.RECORDER: "{what}, so not all that it read is known",
    Reason.RESULT: "it returns {what}; return arrays and leaves of its arguments, in "
    "tuples, lists, dictionaries, or nodes of its arguments",
    Reason.OPTION: "{what} is not kept yet; leave it out of programs that shall start warm",
}

# ---- declarations of the user ----


class Declarations(NamedTuple):
    """Inputs that the user declared with `assume_pure` and `depends_on`.

    Args:
        names: the names of pure functions, classes and modules.
        objects: pure objects other than modules with their names, by `id`.
        files: files that results are made from, by path.
        values: values that results are made from: digest to text.
    """

    names: set[str]
    objects: dict[int, tuple[Any, str]]
    files: dict[str, Any]
    values: dict[str, str]


DECLARED: Final = Declarations(set(), {}, {}, {})
"""The declarations of this process."""


@contextmanager
def local_declarations() -> Generator[None]:
    """Drop the declarations of the block when it is left."""
    declared: tuple[Any, ...] = (*DECLARED,)
    before = [each.copy() for each in declared]
    try:
        yield
    finally:
        for each, was in zip(declared, before, strict=True):
            each.clear()
            each.update(was)


def assume_pure(x: Any, name: str = "") -> None:
    """Declare that a function, a class or a module gives the same in each process.

    Args:
        x: the object.
        name: the name that the user gave instead of the object; else "".
    """
    names, objects, *_ = DECLARED
    if name:
        names.add(name)
    if not is_module(x):
        known = _qualified_name(x)
        names.add(known)
        objects[id(x)] = x, known
        return
    held = module_namespace(x)
    names.add(str(held.get("__name__")))
    functions = (f for f in held.values() if type(f) is BuiltinFunctionType)
    names.update(map(_qualified_name, functions))  # `os` has those of `posix`


def _qualified_name(x: Any) -> str:
    kind = class_of(x)
    module = module_name(x) if issubclass(kind, type) else getattr(x, "__module__", "")
    own = getattr(x, "__qualname__", None) or getattr(x, "__name__", "")
    return f"{module or type_name(kind)}.{own}"


# ---- impure objects ----

_ALL: Final = ("*",)
_TABLE: Final[dict[str, tuple[str, ...]]] = {
    "builtins": (
        *("open", "input", "print", "eval", "exec", "compile", "globals", "locals"),
        *("vars", "dir", "id", "hash", "breakpoint", "__import__", "help"),
    ),
    "os": (*_ALL, "environ", "environb"),
    "posixpath": (
        *("exists", "lexists", "isfile", "isdir", "islink", "ismount", "getmtime"),
        *("getsize", "getatime", "getctime", "expanduser", "expandvars", "realpath"),
        *("abspath", "samefile"),
    ),
    "sys": ("argv", "stdin", "path", "modules", "_getframe", "getrefcount", "flags"),
    "datetime": ("datetime", "date"),
    "numpy": ("load", "loadtxt", "genfromtxt", "fromfile", "memmap", "fromregex"),
    "imprint.numpy": ("load", "loadtxt", "genfromtxt", "fromfile"),
    "io": ("open", "FileIO", "open_code"),
    "pathlib": ("Path", "PosixPath"),
    "threading": ("current_thread", "get_ident", "get_native_id", "main_thread"),
    **dict.fromkeys(
        (
            *("time", "random", "numpy.random", "gc", "inspect", "secrets", "uuid"),
            *("tempfile", "subprocess", "socket", "shutil", "glob", "platform"),
            *("getpass", "locale", "resource", "urllib.request"),
        ),
        _ALL,
    ),
}
"""The names of impure objects, by module."""
_PURE_OF_OS: Final = frozenset(
    ("PathLike", "fspath", "fsencode", "fsdecode", "Mapping")
)
_impure: Final[dict[int, tuple[str, str]]] = {}
_listed: Final[dict[str, list[Any]]] = {}  # keeps the objects of `_impure` alive


def impure_objects() -> dict[int, tuple[str, str]]:
    """Return the module and name of each impure object, by `id`."""
    for module, given in _TABLE.items():
        if module in _listed or module not in sys.modules:
            continue
        names = module_namespace(sys.modules[module])
        every = (
            [n for n, x in names.items() if _is_of(x, module)] if "*" in given else []
        )
        held = {n: names[n] for n in (*every, *given) if n in names}
        _listed[module] = [*held.values()]
        for name, value in held.items():
            if not (module == "os" and name in _PURE_OF_OS):
                _impure.setdefault(id(value), (module, name))
    return _impure


def _is_of(x: Any, module: str) -> bool:
    """Return whether a callable belongs to a module."""
    if not callable(x):
        return False
    owner: Any = getattr(x, "__module__", None) or getattr(x, "__self__", None)
    if type(owner) is not str:
        return owner is not None  # a method of an object in the module
    owner = "os" if owner == "posix" else owner
    return owner == module or owner.startswith(f"{module}.") or owner == f"_{module}"


def declared_name(x: Any, impure: dict[int, tuple[str, str]]) -> str:
    """Return the declaration that makes an impure object pure.

    Raises:
        NotCacheable: it is not declared.
    """
    names, objects, *_ = DECLARED
    if id(x) in objects:
        return objects[id(x)][1]
    module, name = impure[id(x)]
    whole = f"{module}.{name}"
    while whole and whole not in names:
        whole = whole.rpartition(".")[0]
    if not whole:
        raise NotCacheable(Reason.IMPURE, f"`{name}`")
    return whole


# ---- random generators ----


def random_state() -> tuple[Any, Any]:
    """Return the states of the global generators of `random` and NumPy, if loaded."""
    python: Any = sys.modules.get("random")
    numpy: Any = sys.modules.get("numpy.random")
    state = None
    if numpy is not None:
        name, keys, *rest = numpy.get_state()
        state = name, keys.tobytes(), rest
    return None if python is None else python.getstate(), state


def has_drawn(before: tuple[Any, Any]) -> bool:
    """Return whether a generator was used since; an import seeds it and uses none."""
    python, numpy = random_state()
    if before[0] is None and python is not None and python[1][-1] >= _SEEDED:
        python = None
    if before[1] is None and numpy is not None and numpy[2][0] >= _SEEDED:
        numpy = None
    return before != (python, numpy)


_SEEDED: Final = 623
"""The position of a Mersenne Twister that was seeded and not used."""
