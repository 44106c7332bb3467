"""Guards: whether everything that a trace read is unchanged.

A guard first compares values (`Dependencies.rebound`). At its second success it is compiled
to steps that compare by identity, in C (`core.Guard`) or in Python (`python_guard`). Where
one fails values are compared again; equal plain data replaces the recorded value, and
the guard is compiled again after twice as many comparisons. A location on a dead object is
skipped.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, final
from weakref import ref

from imprint._src import native
from imprint._src.core.identity import WeakStandin
from imprint._src.jit.fingerprint.code import Code
from imprint._src.jit.fingerprint.raw_access import GONE, MISSING, storage_of
from imprint._src.jit.guards.dependencies import Dependencies
from imprint._src.jit.guards.guard_steps import guard_steps
from imprint._src.jit.guards.locations import Contents, location_name
from imprint._src.jit.guards.values import Dependency, RecordedItems, is_same_plain

_COMPILED_AT: Final = 2
"""The success at which a guard is compiled first: many versions are called once."""


def _new_check(
    dependencies: Dependencies, otherwise: Callable[[], bool]
) -> Callable[[], bool]:
    make: Any = None if native.core is None else native.core.Guard
    if make is None:
        from imprint._src.jit.guards.python_guard import python_guard as make  # noqa: PLC0415 - few machines lack the core
    return make(guard_steps(dependencies.reads), otherwise)


class Change(NamedTuple):
    """A location that changed.

    Args:
        kind: of the owner: "global", "closure", "class", "function" or "object".
        name: the location, as a user would name it: `global SCALE`.
        old: the recorded value.
        new: the value now.
        module: the name of the module it is in.
        action: "rebound", "deleted", "defined" or "written into".
    """

    kind: str
    name: str
    old: Any
    new: Any
    module: str
    action: str = "rebound"

    def __str__(self) -> str:
        where = f" in {self.module}" if self.module else ""
        return f"{self.name} {self.action}{where}"


@final
class Guard:
    """Whether the dependencies of a version are unchanged.

    Args:
        dependencies: them.

    Attributes:
        check: returns it; replaced when the guard is compiled.
        changed: is called with the new `check`.
    """

    __slots__ = ("__weakref__", "_count", "changed", "check", "dependencies")

    def __init__(self, dependencies: Dependencies) -> None:
        self.dependencies: Dependencies = dependencies
        self.changed: Callable[[Callable[[], bool]], None] | None = None
        self._count = 0
        self.check: Callable[[], bool] = self._comparison()

    def _comparison(self) -> Callable[[], bool]:
        reference = ref(self)  # a cycle would keep both alive until a collection

        def compare() -> bool:
            guard = reference()
            return guard is not None and guard.compare()

        return compare

    def holds(self) -> bool:
        """Return whether everything is unchanged."""
        return self.check()

    def compare(self) -> bool:
        """Compare values; from now on equal values replace the recorded ones."""
        roots = [standin() for standin in self.dependencies.roots]
        # Dead static values are in the key; so is a root that is None.
        is_gone = roots and roots[0] is None
        if is_gone and type(self.dependencies.roots[0]) is WeakStandin:
            return False
        found = self.dependencies.rebound(roots)
        if found is None:
            return False
        self.dependencies = found
        self._count = count = self._count + 1
        if count >= _COMPILED_AT and count & (count - 1) == 0:  # 2, 4, 8, ...
            self.check = _new_check(found, self._comparison())
            if self.changed is not None:
                self.changed(self.check)
        return True

    def changes(self) -> list[Change]:
        """Return the locations that changed."""
        return [
            change
            for read in self.dependencies.failing()
            for change in changes_of(read, read.location.get())
        ]

    @property
    def names(self) -> tuple[str, ...]:
        """The locations, as a user would name them."""
        return self.dependencies.names


def changes_of(read: Dependency, now: Any) -> list[Change]:
    """Return the change of one location; of defaults, one for each parameter."""
    location, seen = read
    was = seen.value
    if location.name == "__defaults__" and type(was) is type(now) is tuple:
        code = location.owner.__code__
        names = code.co_varnames[code.co_argcount - len(was) : code.co_argcount]
        where = f" of {location.owner.__qualname__}"
        if len(was) == len(now):
            return [
                Change("function", f"default {name}{where}", old, new, location.module)
                for name, old, new in zip(names, was, now, strict=True)
                if not is_same_plain(old, new)
            ]
    if type(location) is Contents:
        if seen.rest is not None:
            now = seen.rest(now)
        was, now = _built(location.owner, was), _built(location.owner, now)
    kind, name, module = location_name(location)
    if was is GONE:
        was = DeadObject(seen.kind, seen.code)
    return [Change(kind, name, was, now, module, _action(seen, now))]


class DeadObject(NamedTuple):
    """Stands for an object that is no longer alive.

    Args:
        cls: its class.
        code: the code, if it was a user function.
    """

    cls: type
    code: Code | None = None


def _built(container: Any, items: Any) -> Any:
    """Return items in a container of the same class, to be shown."""
    storage: Any = storage_of(container)
    if storage is dict:
        return dict(zip(items[::2], items[1::2], strict=True))
    kind: Any = storage if storage in (list, set) else tuple
    return kind(items)


def _action(seen: Any, now: Any) -> str:
    if type(seen) is RecordedItems:
        return "written into"
    if now is MISSING:
        return "deleted"
    return "defined" if seen.value is MISSING else "rebound"
