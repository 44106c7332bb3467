"""Purity: does code give the same in another process, as far as its text tells?

What stands at places that were read is for `reader` to judge. Here are the names by which
code reads what no place tells: attributes of libraries, which nobody watches; names that
are worked out; modules that it imports. What is read of libraries is listed, so that a
process in which somebody has put something else there is told apart; what is not the same
in each process is refused, but what the user declares to be: that is
listed too.
"""

import builtins
import sys
from collections.abc import Iterable, Iterator
from importlib.util import resolve_name
from types import CodeType, ModuleType
from typing import Any, Final, final

from imprint.core.libraries import entry, holds, is_module, is_user, module_namespace
from imprint.manifest.declared import assumed, has_part
from imprint.manifest.refused import Refused, Why
from imprint.record.mentions import mentions_of
from imprint.watch.seen import Ran

LibraryRead = tuple[str, str]
"""A module and a name in it."""


@final
class Met:
    """What of libraries a way through values has met.

    Attributes:
        modules: the names of modules that are values.
        files: those of modules.
        relied: what is assumed of what would be refused.
        own: the files of the user's in which that is, as C functions are.
    """

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.files: set[str] = set()
        self.relied: set[str] = set()
        self.own: set[str] = set()

    def copy(self) -> "Met":
        """Return what is met so far, to which more comes."""
        other = Met()
        for name, found in vars(self).items():
            getattr(other, name).update(found)
        return other


def check_names(ran: Ran) -> None:
    """Raise Refused if code of a trace works names out: nobody else knows them."""
    for code, _ in ran.codes:
        mentions = mentions_of(code)
        if mentions.reads_module or mentions.reads_any:
            owner = "its module" if mentions.reads_module else "attributes"
            what = f"({code.co_qualname}) reads {owner} by names that are worked out"
            raise Refused(Why.DYNAMIC, what)


def check_codes(ran: Ran, met: Met) -> list[LibraryRead]:
    """Return what the code of a trace reads of libraries.

    Args:
        ran: the code.
        met: what it met as values. What is assumed of a part of a module says nothing of
            the rest, which any of the code may read.

    Raises:
        Refused: it may give something else in another process.
    """
    found: dict[LibraryRead, None] = {}
    parts = [sys.modules[name] for name in sorted(met.modules) if has_part(name)]
    for code, names in ran.codes:
        mentions = mentions_of(code)
        words = {word for each in _all(code) for word in _attributes(each)}
        _check_parts(mentions.parts, names)
        for module in (*_modules(code, mentions.imports, names), *parts):
            found |= dict.fromkeys(_reads_of(module, words, met))
    return [*found]


def state_of_draws() -> tuple[Any, Any]:
    """Return the state of the generators that code of libraries may draw from, if any."""
    draws: Any = sys.modules.get("random")
    of_numpy: Any = sys.modules.get("numpy.random")
    state = None
    if of_numpy is not None:
        name, keys, *rest = of_numpy.get_state()
        state = name, keys.tobytes(), rest
    return None if draws is None else draws.getstate(), state


def has_drawn(before: tuple[object, object]) -> bool:
    """Tell whether anything was drawn since; what was imported since starts by itself."""
    own, of_numpy = state_of_draws()
    if before[0] is None and own is not None and _is_fresh(own[1][-1]):
        own = None
    if before[1] is None and of_numpy is not None and _is_fresh(of_numpy[2][0]):
        of_numpy = None
    return before != (own, of_numpy)


def _is_fresh(position: int) -> bool:
    """Tell whether a Mersenne Twister was seeded, and gave nothing yet."""
    return position >= 623


def _all(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if type(const) is CodeType:
            yield from _all(const)


def _attributes(code: CodeType) -> set[str]:
    """Return the names that code may read of something, or import from it."""
    mentions = mentions_of(code)
    return {*code.co_names}.difference(mentions.globals) | mentions.names


def _modules(
    code: CodeType, imports: Iterable[str], names: dict[str, Any]
) -> Iterator[ModuleType]:
    """Yield the modules of libraries that code names or imports."""
    for each in _all(code):
        for name in each.co_names:
            value = entry(names, name) if holds(names, name) else _of_python(name)
            if is_module(value) and not is_user(value):
                yield value
    for name in imports:
        full = resolve_name(name, entry(names, "__package__"))
        value = sys.modules.get(full)
        if value is None:
            raise Refused(Why.IMPURE, f"the module {full}, which is not there")
        if not is_module(value):
            raise Refused(Why.IMPURE, f"what stands for the module {full}")
        if not is_user(value):
            yield value


def _check_parts(parts: Iterable[str], names: dict[str, Any]) -> None:
    """Refuse a module of the user's that a package does not have: it may come to be."""
    for part in parts:
        full = resolve_name(part, entry(names, "__package__"))
        outer, _, name = full.rpartition(".")
        package = sys.modules.get(outer)
        if full in sys.modules or not is_module(package) or not is_user(package):
            continue
        held = module_namespace(package)
        if holds(held, "__path__") and not holds(held, name):
            raise Refused(Why.IMPURE, f"the module {full}, which is not there")


def _of_python(name: str) -> Any:
    return vars(builtins).get(name)


def _reads_of(module: ModuleType, words: set[str], met: Met) -> Iterator[LibraryRead]:
    """Yield what may be read of a module, and of modules in it."""
    queue, seen = [module], {id(module)}
    for each in queue:  # it grows
        held = module_namespace(each)
        name = str(held.get("__name__"))
        if name not in sys.modules:
            continue
        denied = _DENIED.get(name, frozenset())
        for word in sorted(words.intersection(held)):
            value = held[word]
            if word in denied or (word in _READERS and name.startswith("imprint.")):
                _rely(name, word, met)
            if is_module(value):
                if id(value) not in seen and not is_user(value):
                    inner = str(module_namespace(value).get("__name__"))
                    check_library(inner, "", met)
                    seen.add(id(value))
                    queue.append(value)
            elif not word.startswith("__"):
                yield name, word
        check_library(name, "", met)


_READERS: Final = frozenset(
    (
        *("load", "loadtxt", "genfromtxt", "fromfile", "memmap", "fromregex"),
        *("open_memmap", "read_array"),
    )
)
"""What reads files, in NumPy and in what bears its names."""
_DENIED: Final = {
    "typing": frozenset(("get_type_hints",)),
    "numpy": _READERS,
}


def check_library(module: str, name: str, met: Met) -> None:
    """Refuse what a library has that is not the same in each process.

    Args:
        module: the name of a module.
        name: what of it; "" for the module itself, which passes if what may be read of it
            is looked at one by one.
        met: takes what is assumed of it, if it would be refused.

    Raises:
        Refused: it may give another answer tomorrow: the time, a file, a random number.
    """
    root = module.partition(".")[0]
    if root == "builtins":
        refused = name in _IMPURE_BUILTINS
    elif root == "os":
        refused = name not in _PURE_OF_OS
    elif root in sys.stdlib_module_names:
        refused = root not in _PURE or name in _UNTOLD_BY
    else:
        refused = module.startswith("numpy.random") or name in _READERS
    if refused and (name or not has_part(module)):
        _rely(module, name, met)


def _rely(module: str, name: str, met: Met) -> None:
    """Take in what is assumed of something that would be refused; else refuse it."""
    known = assumed(module, name)
    if not known:
        raise Refused(Why.IMPURE, f"`{name}` of {module}" if name else f"`{module}`")
    met.relied.add(known)


_IMPURE_BUILTINS: Final = frozenset(
    (
        *("open", "input", "print", "eval", "exec", "compile", "globals", "locals"),
        *("vars", "id", "hash", "breakpoint", "__import__", "help", "dir"),
    )
)
_UNTOLD_BY: Final = frozenset(("get_type_hints", "get_annotations"))
"""What reads of a function or a class what is not told here."""
_PURE_OF_OS: Final = frozenset(("", "environ", "getenv"))
_PURE: Final = frozenset(
    (
        *("__future__", "_collections_abc", "_functools", "_operator", "abc", "bisect"),
        *("builtins", "cmath", "collections", "contextlib", "copy", "dataclasses"),
        *("enum", "fractions", "functools", "heapq", "itertools", "math", "numbers"),
        *("operator", "re", "reprlib", "string", "struct", "textwrap"),
        *("types", "typing"),
    )
)
"""Of the standard library, what gives the same in each process."""
