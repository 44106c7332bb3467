"""The locations that a trace read, as plain data, and found again in another process.

Each location is a step `[kind, name, extra, owner, digest, by_parts, text]`. Its owner is
a module by name, a class or function by module and name, what an earlier step gives, or
a node of the hashes so far (equal hashes have equal nodes). So locations that only lead to others are steps, too, without a digest. The first steps
are the roots: the function and its static values, which are not in the list.
"""

import gc
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple, final

from imprint._src.core.identity import identity, module_name
from imprint._src.core.user_code import (
    is_module,
    is_user_class,
    is_user_namespace,
    module_namespace,
)
from imprint._src.jit.fingerprint.code import code_digest
from imprint._src.jit.fingerprint.raw_access import (
    CONTAINERS,
    GONE,
    MISSING,
    class_of,
    defining_class,
    namespace_of,
    qualname_of,
)
from imprint._src.jit.guards.code_names import StepKind, code_names
from imprint._src.jit.guards.dependencies import Dependencies
from imprint._src.jit.guards.locations import (
    Attribute,
    Cell,
    ClassAttribute,
    Contents,
    FunctionPart,
    Global,
    Item,
    Location,
    Referent,
    Root,
    SpecialMethods,
    TypeOf,
)
from imprint._src.jit.guards.values import Dependency, RecordedItems, RecordedValue
from imprint._src.jit.manifest.assumptions import OBJECTS
from imprint._src.jit.manifest.not_cacheable import Refused, Why
from imprint._src.jit.manifest.stable_hash import StableHash, is_standing

Plain = list[Any]


class Mismatch(NamedTuple):
    """The first difference from what a trace read.

    Args:
        what: a location, a file, or what the user declared.
        was: what it printed as, if that was kept.
        now: its value; of what was declared, what it prints as.
    """

    what: Location | str
    was: str = ""
    now: Any = MISSING


# ---- to plain data ----


def plain_reads(
    to: StableHash,
    roots: tuple[Any, ...],
    given: Dependencies,
    shown: Callable[[Any], str],
) -> list[Plain]:
    """Return the locations that a trace read.

    Args:
        to: hashes their values.
        roots: the function and its static values.
        given: what the trace depends on.
        shown: returns how a value prints; "" if that says nothing, or too much.

    Raises:
        Refused: another process could not find one, or could not compare its value.
    """
    steps = _Steps(to, roots, shown)
    left = [read for read in given.reads if not _is_settled(read.location)]
    if not given.is_observed:  # code counts that did not run: `__hash__` of dataclasses
        left = [read for read in left if read.location.get() is not hash]
    while left:  # an owner may be found by a later location
        later = [read for read in left if not steps.add(read)]
        if len(later) == len(left):
            raise Refused(Why.OWNER, str(later[0].location))
        left = later
    covered = set(map(code_digest, _with_nested(given.reads, roots)))
    for code, offsets in given.ran:
        if code_digest(code) not in covered:
            raise Refused(Why.OWNER, f"what {code.co_qualname}() does")
        for each in code_names(code).imports:
            if offsets is None or each.offset in offsets:
                _check_import(each.name, each.taken)
    return steps.plain


def _is_settled(location: Location) -> bool:
    """Return whether a location is inside of imprint, or of what the user declared pure."""
    parent = location.parent
    if parent is None:
        return False
    value = parent.get()
    is_own = _is_of_imprint(parent, value)
    return is_own or id(value) in OBJECTS or _is_settled(parent)


def _check_import(name: str, taken: tuple[str, ...]) -> None:
    """Raise Refused if an import failed: the module may come to be."""
    module = sys.modules.get(name)
    held = module_namespace(module) if is_module(module) else {}
    is_package = "__path__" in held and is_user_namespace(held)
    lacking = [f"{name}.{x}" for x in taken if is_package and x not in held]
    for each in (*lacking, *([] if module or name[0] == "." else [name])):
        raise Refused(Why.IMPURE, f"the module {each}, which is not there")


@final
class _Steps:
    """Steps in the making."""

    def __init__(
        self, to: StableHash, roots: tuple[Any, ...], shown: Callable[[Any], str]
    ) -> None:
        self.plain: list[Plain] = []
        self._to = to
        self._shown = shown
        self._values: list[Any] = [*roots]
        self._at: dict[Any, int] = {("root", i, ""): i for i in range(len(roots))}
        self._homes: dict[int, int] = {}  # modules without a name, by functions there
        for root in roots:
            self._note_home(root)

    def _note_home(self, value: Any) -> None:
        number = self._to.number(value)
        if number is not None and type(value) is FunctionType:
            self._homes.setdefault(id(value.__globals__), number)

    def add(self, read: Dependency) -> bool:
        """Add a location that was read; return whether its owner is known."""
        location, seen = read
        owner, name = self._owner(location), self._name(location)
        if owner is None or name is None:
            return False
        if seen.is_left and not _is_loaded(location):
            raise Refused(Why.EFFECT, f"wrote {location}")
        value = location.get()
        try:
            digest = digest_at(self._to, location, value, by_parts=seen.by_parts)
        except Refused as err:
            raise err.at(location) from None
        text = "" if seen.by_parts else self._shown(value)
        self._note_home(value)
        self._add(location, value, name, [owner, digest, seen.by_parts, text])
        return True

    def _add(self, location: Location, value: Any, name: Any, rest: Plain) -> int:
        at = self._at[location.key] = len(self._values)
        self._values.append(value)
        self.plain.append([_KINDS[type(location)], name, _extra(location), *rest])
        return at

    def _name(self, location: Location) -> Any:
        """Return the name of a location; None if a key is not known yet."""
        name = location.name
        return name if type(name) in (str, int, bool) else self._ref(name)

    def _ref(self, x: Any) -> Any:
        """Return how something is found that no earlier step gives."""
        number = self._to.number(x)
        return _named(x) if number is None else ["node", number]

    def _owner(self, location: Location) -> Any:
        """Return how the owner of a location is found; None if it is not known yet."""
        owner = location.owner
        if owner is None:
            raise Refused(Why.OWNER, str(location))
        if isinstance(location, Global):
            home = self._homes.get(id(owner))
            return _module_of(owner) or (None if home is None else ["globals", home])
        at = None if location.parent is None else self._step(location.parent)
        if at is not None and self._values[at] is owner:
            return at
        return self._ref(owner)

    def _step(self, location: Location) -> int | None:
        """Return the step of a location that leads to others; None if there is none."""
        at = self._at.get(location.key)
        if at is not None:
            return at
        value = location.get()
        if value is MISSING or value is GONE:
            return None
        owner, name = self._owner(location), self._name(location)
        if owner is None or name is None:
            return None
        return self._add(location, value, name, [owner, "", False, ""])


def _module_of(names: Any) -> Any:
    if names is sys.modules:
        return ["modules", ""]
    name: Any = names.get("__name__")
    module: Any = sys.modules.get(name) if type(name) is str else None
    if module is not None and module_namespace(module) is names:
        return ["module", name]
    return None


def _named(x: Any) -> Any:
    if issubclass(class_of(x), type):
        module, name = module_name(x), qualname_of(x)
    elif class_of(x) is FunctionType:
        module, name = x.__module__, x.__qualname__
    else:
        return None
    return ["named", module, name] if is_standing(x, module, name) else None


def _extra(location: Location) -> Any:
    """Return what is needed to make a location, beside its owner and its name."""
    name = location.name
    extra: Any = None
    if isinstance(location, Global):
        extra = location.is_builtin
    elif isinstance(location, Cell):
        extra = location.index
    elif isinstance(location, Contents):
        extra = location.is_strict
    elif isinstance(location, Referent):
        found = gc.get_referents(location.owner)
        if not (name < len(found) and found[name] is location.get()):
            raise Refused(Why.OWNER, str(location))
    return extra


def _with_nested(
    reads: Iterable[Dependency], roots: tuple[Any, ...]
) -> Iterable[CodeType]:
    """Yield the code of functions at locations, and the code in it."""
    queue = [read.location.get() for read in reads if read.location.name == "__code__"]
    queue += [root.__code__ for root in roots[:1] if type(root) is FunctionType]
    for code in queue:  # it grows
        if type(code) is CodeType:
            yield code
            queue += [c for c in code.co_consts if type(c) is CodeType]


_KINDS: Final[dict[type[Location], str]] = {
    Global: "global",
    Cell: "cell",
    FunctionPart: "function",
    ClassAttribute: "attribute of class",
    SpecialMethods: "specials",
    TypeOf: "type",
    Attribute: "attribute",
    Item: "item",
    Contents: "contents",
    Referent: "referent",
}


def digest_at(to: StableHash, location: Location, value: Any, *, by_parts: bool) -> str:
    """Return what stands for a value at a location.

    Args:
        to: hashes it.
        location: where it is.
        value: it.
        by_parts: whether what is in this container is at locations of its own.

    Raises:
        Refused: another process could not tell that it has the same.
    """
    if by_parts and id(class_of(value)) in CONTAINERS:
        return to.digest(("container", class_of(value).__name__)).hex()
    if _is_of_imprint(location, value):  # it has no node: it may not be loaded
        name = getattr(value, "__qualname__", "")
        return to.digest(("own", value.__module__, name)).hex()
    if isinstance(location, ClassAttribute):
        base = defining_class(location.owner, location.name)
        if base is not None and not is_user_class(base):
            return to.digest(("inherited", base, location.name)).hex()
    return to.digest(value).hex()


def written_containers(given: Dependencies) -> str:
    """Return the name of a container that a trace read and wrote; "" if there is none."""
    held = {
        read.location.name
        for read in given.reads
        if id(class_of(read.location.get())) in CONTAINERS
    }
    for code, offsets in given.ran:
        for chain in code_names(code).chains:
            names = [chain.name, *(step.name for step in chain.steps)]
            for before, step in zip(names[:-1], chain.steps, strict=True):
                writes = step.kind is StepKind.METHOD and step.name in _WRITES
                has_run = offsets is None or step.offset in offsets
                if writes and has_run and before in held:
                    return str(before)
    return ""


_WRITES: Final = frozenset(
    (
        *("append", "add", "extend", "clear", "appendleft", "update", "pop", "insert"),
        *("remove", "discard", "setdefault", "popitem", "sort", "reverse"),
    )
)

# ---- from plain data ----


def restored(
    to: StableHash, roots: tuple[Any, ...], plain: list[Plain], *, strict: bool
) -> Dependencies | Mismatch:
    """Return what a trace depends on in this process, or the first difference.

    Args:
        to: hashes values.
        roots: the function and its static values.
        plain: the locations.
        strict: whether the contents of arrays count.

    Raises:
        Exception: a location is not there.
    """
    steps: list[tuple[Location, Any]] = [
        (Root(root, "", i), root) for i, root in enumerate(roots)
    ]
    reads: list[Dependency] = []
    each: Any
    for each in plain:
        kind, name, extra, found, digest, by_parts, was = each
        if type(found) is int:
            parent, owner = steps[found]
        else:
            parent, owner = None, _found(to, found)
            if owner is None and found[0] == "module" and _is_own(found[1]):
                steps.append((Root(None, "", -1), MISSING))  # it loads when it is used
                continue
            if owner is None:
                return Mismatch(f"the module {found[1]}")
        key: Any = _found(to, name) if type(name) is list else name
        location = _made(kind, owner, key, extra, parent)
        value = location.get()
        if digest:
            if value is MISSING and digest != _MISSING and kind == "global":
                if _is_own(name if owner is sys.modules else owner.get("__name__")):
                    steps.append((location, MISSING))  # its sources are in the key
                    continue
                value = _load(owner, key)  # as the trace would
            if digest_at(to, location, value, by_parts=by_parts) != digest:
                return Mismatch(location, was, value)
            if kind == "contents":
                seen: Any = RecordedItems(value, is_strict=strict)
            else:
                captured = _is_captured(location)
                seen = RecordedValue(value, is_captured=captured, is_strict=strict)
                seen.by_parts = by_parts
            reads.append(Dependency(location, seen))
        steps.append((location, value))
    ran = tuple((code, None) for code in _with_nested(reads, roots))
    _note_run(reads, {id(code) for code, _ in ran})
    return Dependencies(tuple(map(identity, roots)), tuple(reads), ran)


_MISSING: Final = StableHash().digest(MISSING).hex()


def _is_loaded(location: Location) -> bool:
    """Return whether a name that a trace bound is one that an import binds."""
    if not isinstance(location, Global):
        return False
    names = location.namespace
    return (
        names is sys.modules
        or is_module(location.get())
        or (not is_user_namespace(names))
    )


def _is_own(module: Any) -> bool:
    """Return whether a module is one of imprint."""
    return type(module) is str and module.partition(".")[0] == "imprint"


def _is_of_imprint(location: Location, value: Any) -> bool:
    """Return whether a module of imprint has a thing of imprint at a location."""
    if not isinstance(location, Global) or not _is_own(location.module):
        return False
    return _is_own(getattr(value, "__module__", None))


def _load(names: dict[str, Any], name: str) -> Any:
    """Import a module, or what a module gives when it is asked for."""
    if names is sys.modules:
        return import_module(name)
    module = names.get("__name__")
    if not is_user_namespace(names):
        return getattr(sys.modules[str(module)], name, MISSING)
    return import_module(f"{module}.{name}") if "__path__" in names else MISSING


def _note_run(reads: list[Dependency], ran: set[int]) -> None:
    for _, seen in reads:
        for each in seen.items if type(seen) is RecordedItems else (seen,):
            value = each.value
            each.has_run = type(value) is FunctionType and id(value.__code__) in ran


def _found(to: StableHash, found: Any) -> Any:
    """Return an owner; None if its module is not there."""
    word, at, *rest = found
    if word == "modules":
        return sys.modules
    if word == "node":
        return to.nodes[at]
    if word == "globals":
        return to.nodes[at].__globals__
    module: Any = sys.modules.get(at)
    if module is None:
        return None
    names: Any = module_namespace(module)
    value: Any = names
    for step in rest[0].split(".") if rest else ():
        value = names[step]
        names = namespace_of(value) if issubclass(class_of(value), type) else {}
    return value


def _made(
    kind: str, owner: Any, name: Any, extra: Any, parent: Location | None
) -> Location:
    """Return the location of a step; LookupError if the closure is another."""
    path = "" if parent is None else parent.value_path
    if kind == "global":
        return Global(owner, name, is_builtin=extra)
    if kind == "cell":
        if owner.__code__.co_freevars[extra] != name:
            raise LookupError(name)
        return Cell(owner, extra, parent)
    if kind == "contents":
        return Contents(owner, parent, path, is_strict=extra)
    if kind == "referent":
        return Referent(owner, name, gc.get_referents, parent, path)
    if kind == "type":
        return TypeOf(owner, parent, path)
    if kind == "specials":
        return SpecialMethods(owner, parent)
    if kind in ("attribute", "item"):
        made = Attribute if kind == "attribute" else Item
        return made(owner, name, parent, path)
    return (FunctionPart if kind == "function" else ClassAttribute)(owner, name, parent)


def _is_captured(location: Location | None) -> bool:
    while location is not None and not isinstance(location, Root):
        location = location.parent
    return location is not None
