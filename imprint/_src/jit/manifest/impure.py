"""Objects that give something else in each process, and random generators that were used.

A trace that reads one of these objects is not kept, unless the user declares it pure. The
objects count, not their names: `batch.time` and `imprint.random.normal` are others.
"""

import sys
from typing import Any, Final

from imprint._src.core.user_code import module_namespace

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
    "time": _ALL,
    "datetime": ("datetime", "date"),
    "random": _ALL,
    "numpy.random": _ALL,
    "numpy": ("load", "loadtxt", "genfromtxt", "fromfile", "memmap", "fromregex"),
    "imprint.numpy": ("load", "loadtxt", "genfromtxt", "fromfile"),
    "gc": _ALL,
    "inspect": _ALL,
    "io": ("open", "FileIO", "open_code"),
    "pathlib": ("Path", "PosixPath"),
    "threading": ("current_thread", "get_ident", "get_native_id", "main_thread"),
    **dict.fromkeys(
        (
            *("secrets", "uuid", "tempfile", "subprocess", "socket", "shutil", "glob"),
            *("platform", "getpass", "locale", "resource", "urllib.request"),
        ),
        _ALL,
    ),
}
"""By module, the names of these objects in it."""
_PURE_OF_OS: Final = frozenset(
    ("PathLike", "fspath", "fsencode", "fsdecode", "Mapping")
)
_known: Final[dict[int, tuple[str, str]]] = {}
_listed: Final[dict[str, list[Any]]] = {}  # what `_known` has the `id` of, kept alive


def impure_objects() -> dict[int, tuple[str, str]]:
    """Return the module and name of each of these objects, by `id`."""
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
                _known.setdefault(id(value), (module, name))
    return _known


def _is_of(x: Any, module: str) -> bool:
    """Return whether something that can be called belongs to a module."""
    if not callable(x):
        return False
    home: Any = getattr(x, "__module__", None) or getattr(x, "__self__", None)
    if type(home) is not str:
        return home is not None  # a method of what the module holds
    home = "os" if home == "posix" else home
    return home == module or home.startswith(f"{module}.") or home == f"_{module}"


# ---- random generators ----


def state_of_draws() -> tuple[Any, Any]:
    """Return the states of the generators that library code may draw from, if any."""
    draws: Any = sys.modules.get("random")
    of_numpy: Any = sys.modules.get("numpy.random")
    state = None
    if of_numpy is not None:
        name, keys, *rest = of_numpy.get_state()
        state = name, keys.tobytes(), rest
    return None if draws is None else draws.getstate(), state


def has_drawn(before: tuple[Any, Any]) -> bool:
    """Return whether a generator was used since; an import seeds it and uses none."""
    own, of_numpy = state_of_draws()
    if before[0] is None and own is not None and own[1][-1] >= _SEEDED:
        own = None
    if before[1] is None and of_numpy is not None and of_numpy[2][0] >= _SEEDED:
        of_numpy = None
    return before != (own, of_numpy)


_SEEDED: Final = 623
"""The position of a Mersenne Twister that was seeded, and gave nothing yet."""
