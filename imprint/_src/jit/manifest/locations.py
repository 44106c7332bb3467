"""The locations that a trace read, as plain data, and their restoration.

Each location is a step `[kind, name, extra, owner, digest, by_parts, text]`. Its owner is
a module by name, a class or function by module and name, the value of an earlier step, or
a node of the hashes so far (equal hashes have equal nodes) or the globals of one. A location that only reaches
others is a step without a digest. The roots, which are the function and its static values,
are the first steps and not in the list.
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
    contents_of,
    defining_class,
    namespace_of,
    qualname_of,
)
from imprint._src.jit.guards.code_names import Head, StepKind, code_names
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
    MissingNames,
    Referent,
    Root,
    SpecialMethods,
    TypeOf,
)
from imprint._src.jit.guards.values import Dependency, RecordedItems, RecordedValue
from imprint._src.jit.manifest.not_cacheable import DECLARED, NotCacheable, Reason
from imprint._src.jit.manifest.stable_hash import StableHash, is_reachable

Plain = list[Any]


class Mismatch(NamedTuple):
    """The first difference from a trace.

    Args:
        what: a location, a file, or a declaration of the user.
        was: its text before, if that was kept.
        now: the value of the location, or the text of the declaration.
    """

    what: Location | str
    was: str = ""
    now: Any = MISSING


# ---- to plain data ----


def serialize_reads(
    to: StableHash,
    roots: tuple[Any, ...],
    dependencies: Dependencies,
    printed: Callable[[Any], str],
) -> list[Plain]:
    """Return the locations that a trace read.

    Args:
        to: hashes their values.
        roots: the function and its static values.
        dependencies: the locations and the code that ran.
        printed: returns the text of a value; "" if that says nothing, or too much.

    Raises:
        NotCacheable: another process could not find one, or could not compare its value.
    """
    serializer = _ReadSerializer(to, roots, printed)
    left = [read for read in dependencies.reads if not _is_covered(read.location)]
    if (
        not dependencies.is_observed
    ):  # code counts that did not run: `__hash__` of dataclasses
        left = [read for read in left if read.location.get() is not hash]
    while left:  # an owner may be found by a later location
        later = [read for read in left if not serializer.add(read)]
        if len(later) == len(left):
            raise NotCacheable(Reason.OWNER, str(later[0].location))
        left = later
    known = set(map(code_digest, _with_nested(dependencies.reads, roots)))
    for code, _ in dependencies.ran:
        if code_digest(code) not in known:
            raise NotCacheable(Reason.OWNER, f"what {code.co_qualname}() does")
    return serializer.plain


def _is_covered(location: Location) -> bool:
    """Return whether a location is inside of imprint or of a declared pure object."""
    parent = location.parent
    if parent is None:
        return False
    value = parent.get()
    is_own = _is_of_imprint(parent, value)
    return is_own or id(value) in DECLARED.objects or _is_covered(parent)


@final
class _ReadSerializer:
    """The steps of the locations added so far."""

    def __init__(
        self, to: StableHash, roots: tuple[Any, ...], printed: Callable[[Any], str]
    ) -> None:
        self.plain: list[Plain] = []
        self._to = to
        self._printed = printed
        self._values: list[Any] = [*roots]
        self._at: dict[Any, int] = {("root", i, ""): i for i in range(len(roots))}
        self._users: dict[int, int] = {}  # functions, by the `id` of their globals
        for root in roots:
            self._add_user(root)

    def _add_user(self, value: Any) -> None:
        """Let the globals of a function be found by it, as they may be no module."""
        number = self._to.number(value)
        if number is not None and type(value) is FunctionType:
            self._users.setdefault(id(value.__globals__), number)

    def add(self, read: Dependency) -> bool:
        """Add a location that was read; return whether its owner is known."""
        location, seen = read
        owner, name = self._owner(location), self._name(location)
        if owner is None or name is None:
            return False
        if seen.is_left and not _is_import(location):
            raise NotCacheable(Reason.EFFECT, f"wrote {location}")
        value = location.get()
        try:
            digest = digest_at(self._to, location, value, by_parts=seen.by_parts)
        except NotCacheable as err:
            raise err.at(location) from None
        text = "" if seen.by_parts else self._printed(value)
        self._add_user(value)
        self._add(location, value, name, [owner, digest, seen.by_parts, text])
        return True

    def _add(self, location: Location, value: Any, name: Any, rest: Plain) -> int:
        at = self._at[location.key] = len(self._values)
        self._values.append(value)
        self.plain.append([_NAMES[type(location)], name, _extra(location), *rest])
        return at

    def _name(self, location: Location) -> Any:
        """Return the name of a location; None if a key is not known yet."""
        name = location.name
        if type(location) is MissingNames:
            return sorted(name)
        return name if type(name) in (str, int, bool) else self._reference(name)

    def _reference(self, x: Any) -> Any:
        """Return the reference to an object that is no earlier step."""
        number = self._to.number(x)
        return _by_name(x) if number is None else ["node", number]

    def _owner(self, location: Location) -> Any:
        """Return the reference to the owner of a location; None if not known yet."""
        owner = location.owner
        if owner is None:
            raise NotCacheable(Reason.OWNER, str(location))
        if isinstance(location, Global) or _is_of_module(location):
            user = self._users.get(id(owner))
            return _module_of(owner) or (None if user is None else ["globals", user])
        at = None if location.parent is None else self._step(location.parent)
        if at is not None and self._values[at] is owner:
            return at
        return self._reference(owner)

    def _step(self, location: Location) -> int | None:
        """Return the step of a location that reaches others; None if there is none."""
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


def _is_of_module(location: Location) -> bool:
    """Return whether a location has the names that a module lacks."""
    is_missing = type(location) is MissingNames and location.parent is None
    return is_missing and class_of(location.owner) is dict


def _module_of(names: Any) -> Any:
    if names is sys.modules:
        return ["modules", ""]
    name: Any = names.get("__name__")
    module: Any = sys.modules.get(name) if type(name) is str else None
    if module is not None and module_namespace(module) is names:
        return ["module", name]
    return None


def _by_name(x: Any) -> Any:
    if issubclass(class_of(x), type):
        module, name = module_name(x), qualname_of(x)
    elif class_of(x) is FunctionType:
        module, name = x.__module__, x.__qualname__
    else:
        return None
    return ["named", module, name] if is_reachable(x, module, name) else None


def _extra(location: Location) -> Any:
    """Return the part of a location that is neither its owner nor its name."""
    if isinstance(location, Global):
        return location.is_builtin
    if isinstance(location, Cell):
        return location.index
    if isinstance(location, Contents):
        return location.is_strict
    if isinstance(location, Referent):
        return location.is_item
    return None


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


_NAMES: Final[dict[type[Location], str]] = {
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
    MissingNames: "absent",
}


def digest_at(to: StableHash, location: Location, value: Any, *, by_parts: bool) -> str:
    """Return the digest of the value at a location.

    Args:
        to: hashes it.
        location: where it is.
        value: the value.
        by_parts: whether the items of this container are at locations of their own.

    Raises:
        NotCacheable: another process could not know that it has the same.
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


def _is_import(location: Location) -> bool:
    """Return whether an import bound a name that a trace bound."""
    if not isinstance(location, Global):
        return False
    names = location.namespace
    is_user = names is not sys.modules and is_user_namespace(names)
    return not is_user or is_module(location.get())


def _is_own(module: Any) -> bool:
    """Return whether a module is one of imprint."""
    return type(module) is str and module.partition(".")[0] == "imprint"


def _is_of_imprint(location: Location, value: Any) -> bool:
    """Return whether a location in a module of imprint has an object of imprint."""
    if not isinstance(location, Global) or not _is_own(location.module):
        return False
    return _is_own(getattr(value, "__module__", None))


def written_containers(dependencies: Dependencies) -> str:
    """Return the name of a container that a trace read and wrote; "" if there is none."""
    held = {
        read.location.name
        for read in dependencies.reads
        if id(class_of(read.location.get())) in CONTAINERS
    }
    for code, offsets in dependencies.ran:
        for chain in code_names(code).chains:
            if chain.head is Head.FIRST and code.co_name in _INITIALIZERS:
                continue  # it writes into an object that it makes
            names = [chain.name, *(step.name for step in chain.steps)]
            for before, step in zip(names[:-1], chain.steps, strict=True):
                is_write = step.kind is StepKind.METHOD and step.name in _WRITES
                has_run = offsets is None or step.offset in offsets
                if is_write and has_run and before in held:
                    return str(before)
    return ""


_INITIALIZERS: Final = ("__init__", "__post_init__")
_WRITES: Final = frozenset(
    (
        *("append", "add", "extend", "clear", "appendleft", "update", "pop", "insert"),
        *("remove", "discard", "setdefault", "popitem", "sort", "reverse"),
    )
)

# ---- from plain data ----


def restore_reads(
    to: StableHash, roots: tuple[Any, ...], plain: list[Plain], *, strict: bool
) -> Dependencies | Mismatch:
    """Return the dependencies of a trace in this process, or the first difference.

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
            parent, owner = None, _find(to, found)
            if owner is None and found[0] == "module" and _is_own(found[1]):
                steps.append((Root(None, "", -1), MISSING))  # it loads when it is used
                continue
            if owner is None:
                return Mismatch(f"the module {found[1]}")
        key = _restored_name(to, kind, name)
        location = _location(kind, owner, key, extra, parent)
        value = location.get()
        if digest:
            if value is MISSING and digest != _MISSING and kind == _NAMES[Global]:
                if _is_own(name if owner is sys.modules else owner.get("__name__")):
                    steps.append((location, MISSING))  # its sources are in the key
                    continue
                value = _load(owner, key)  # as the trace would
            if digest_at(to, location, value, by_parts=by_parts) != digest:
                inner = _cell_that_changed(to, location, value, plain, len(steps))
                return inner or Mismatch(location, was, value)
            seen: Any = None
            if kind == _NAMES[Contents]:
                seen = RecordedItems(value, is_strict=strict)
            else:
                is_captured = _is_captured(location)
                seen = RecordedValue(value, is_captured=is_captured, is_strict=strict)
                seen.by_parts = by_parts
            reads.append(Dependency(location, seen))
        steps.append((location, value))
    codes = [*_with_nested(reads, roots)]
    _mark_run(reads, set(map(id, codes)))
    ran = tuple([(code, None) for code in codes])
    return Dependencies(tuple(map(identity, roots)), tuple(reads), ran)


def _cell_that_changed(
    to: StableHash, parent: Location, value: Any, plain: list[Plain], at: int
) -> Mismatch | None:
    """Return the first closure variable that differs, of step `at`, if it is a function."""
    each: Any
    for each in plain if type(value) is FunctionType else ():
        kind, name, extra, found, digest, by_parts, was = each
        if found == at and was and digest and kind == _NAMES[Cell]:
            try:
                location = _location(kind, value, name, extra, parent)
                now = location.get()
                if digest_at(to, location, now, by_parts=by_parts) != digest:
                    return Mismatch(location, was, now)
            except (LookupError, NotCacheable):
                return None
    return None


_MISSING: Final = StableHash().digest(MISSING).hex()


def _load(names: dict[str, Any], name: str) -> Any:
    """Import a module, or a lazy attribute of a module."""
    if names is sys.modules:
        return import_module(name)
    module = names.get("__name__")
    if not is_user_namespace(names):
        return getattr(sys.modules[str(module)], name, MISSING)
    return import_module(f"{module}.{name}") if "__path__" in names else MISSING


def _is_captured(location: Location | None) -> bool:
    while location is not None and not isinstance(location, Root):
        location = location.parent
    return location is not None


def _mark_run(reads: list[Dependency], ran: set[int]) -> None:
    for _, seen in reads:
        for each in seen.items if type(seen) is RecordedItems else (seen,):
            value = each.value
            each.has_run = type(value) is FunctionType and id(value.__code__) in ran


def _find(to: StableHash, reference: Any) -> Any:
    """Return a referenced object; None if its module is not there."""
    kind, at, *rest = reference
    if kind == "modules":
        return sys.modules
    if kind == "node":
        return to.nodes[at]
    if kind == "globals":
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


def _restored_name(to: StableHash, kind: str, name: Any) -> Any:
    if kind == _NAMES[MissingNames]:
        return frozenset(name)
    return _find(to, name) if type(name) is list else name


def _location(
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
        get = contents_of if extra else gc.get_referents
        return Referent(owner, name, get, parent, path)
    if kind == "type":
        return TypeOf(owner, parent, path)
    if kind == "specials":
        return SpecialMethods(owner, parent)
    if kind in _WITH_PATH:
        return _WITH_PATH[kind](owner, name, parent, path)
    return (FunctionPart if kind == "function" else ClassAttribute)(owner, name, parent)


_WITH_PATH: Final[dict[str, Callable[..., Location]]] = {
    _NAMES[kind]: kind for kind in (Attribute, Item, MissingNames)
}
