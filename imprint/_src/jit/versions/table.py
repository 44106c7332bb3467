"""The table of versions or traces by key, and the byte budget that bounds all tables.

Items with one key differ in their guards: a global was rebound, or a helper patched.
`current` has the last item used, which the warm path reads directly; `find` tries the
others when its guard fails. The budget counts an estimate of the memory of each item, as
XLA reports no exact figure. Above the limit it drops items that were not called since the
last check, oldest first. It holds tables and items weakly.
"""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar, final

from imprint._src.jit.compilation.counters import COUNTERS


class Holds(Protocol):
    """An item of a table."""

    def holds(self) -> bool:
        """Return whether the guard of the item holds."""
        ...


T = TypeVar("T", bound=Holds)
_REASONS = 256


@final
class Table(Generic[T]):
    """Items by key; all methods may be called from any thread."""

    __slots__ = (
        *("__weakref__", "_dead", "_flights", "_gone", "_lock", "_others", "current"),
    )

    def __init__(self) -> None:
        self.current: dict[Hashable, T] = {}
        self._others: dict[Hashable, tuple[T, ...]] = {}
        self._lock = threading.RLock()  # a collection inside may run code of the user
        self._flights: dict[Hashable, tuple[int, threading.Event]] = {}
        self._dead: list[T] = []
        # By the hash of a key, which keeps nothing alive: why its item was dropped.
        self._gone: OrderedDict[int, str] = OrderedDict()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[T]:
        found: dict[int, T] = {}  # an item may have two keys
        for key, item in self.current.copy().items():
            for each in (item, *self._others.get(key, ())):
                found[id(each)] = each
        return iter(found.values())

    def find(self, key: Hashable) -> T | None:
        """Return the item of `key` that holds, and make it the current one."""
        item = self.current.get(key)
        if item is None or item.holds():
            return item
        for other in self._others.get(key, ()):
            if other.holds():
                self.put(key, other)
                return other
        return None

    def all_of(self, key: Hashable) -> tuple[T, ...]:
        """Return the items of a key, whether they hold or not."""
        item = self.current.get(key)
        return () if item is None else (item, *self._others.get(key, ()))

    def put(self, key: Hashable, item: T) -> None:
        """Make an item the current one of `key`; keep the previous one."""
        with self._lock:
            self._bury()
            self._gone.pop(hash(key), None)
            before = self.current.get(key)
            if before is item:
                return
            others = [x for x in self._others.get(key, ()) if x is not item]
            if before is not None:
                self._others[key] = (before, *others)
            self.current[key] = item

    def drop(self, item: T, reason: str = "") -> None:
        """Drop an item from all its keys, and record the reason."""
        with self._lock:
            for key, current in self.current.copy().items():
                if reason and (current is item or item in self._others.get(key, ())):
                    self._gone[hash(key)] = reason
                    if len(self._gone) > _REASONS:
                        self._gone.popitem(last=False)
                others = [x for x in self._others.pop(key, ()) if x is not item]
                if current is item:
                    del self.current[key]
                    if others:
                        self.current[key] = others.pop(0)
                if others:
                    self._others[key] = tuple(others)

    def bury(self, item: T) -> None:
        """Drop an item in a garbage collection, which must not wait for a lock."""
        self._dead.append(item)
        if self._lock.acquire(blocking=False):
            try:
                self._bury()
            finally:
                self._lock.release()

    def _bury(self) -> None:
        while self._dead:
            self.drop(self._dead.pop())

    def key_of(self, item: T) -> Hashable:
        """Return a key of an item; None if the table lacks it."""
        for key, current in self.current.copy().items():
            if current is item or item in self._others.get(key, ()):
                return key
        return None

    def why_gone(self, key: Hashable) -> str:
        """Return why the item of a key was dropped; "" if it was not."""
        return self._gone.get(hash(key), "")

    def clear(self) -> None:
        """Drop all items and recorded reasons."""
        with self._lock:
            self._gone.clear()
            self.current.clear()
            self._others.clear()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the item of `key` that holds; if there is none, make and insert it.

        `make` may insert it under another key, if an argument was changed meanwhile.

        If several threads need one item, one of them makes it and the others wait. If it
        fails or is interrupted, the waiting threads try in turn. So each caller sees the
        error of its own attempt, and no partial item remains.
        """
        me = threading.get_ident()
        while True:
            found = self.find(key)
            if found is not None:
                return found
            with self._lock:
                flight = self._flights.get(key)
                if flight is None:
                    done = threading.Event()
                    self._flights[key] = me, done
                    break
            owner, done = flight
            if owner == me:  # tracing called the function again for the same key
                return make()
            done.wait()
        try:
            return self.find(key) or make()
        finally:
            with self._lock:
                del self._flights[key]
            done.set()


# ---- the byte budget ----


DEFAULT_LIMIT: Final = 4 << 30  # bytes


@dataclass(slots=True)
class _BudgetItem:
    table: weakref.ref[Table[Any]]
    item: weakref.ref[Any]
    nbytes: int
    copy: tuple[weakref.ref[Table[Any]], weakref.ref[Any]] | None = None
    hits: int = 1  # the call that made it


class ByteBudget:
    """The bytes of all items; drops items above the limit."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        self._lock = threading.RLock()  # a key that dies may run code of the user
        self._entries: OrderedDict[int, _BudgetItem] = OrderedDict()
        self._count = 0
        self._total = 0

    @property
    def nbytes(self) -> int:
        """The estimated bytes of all items."""
        return self._total

    def add(
        self,
        table: Table[Any],
        item: Any,
        nbytes: int,
        copy: tuple[Table[Any], Any] | None = None,
    ) -> None:
        """Count an item of `table`.

        Args:
            table: its table.
            item: the item.
            nbytes: its memory.
            copy: another table, and its item that shares the memory and is dropped too.
        """
        with self._lock:
            number = self._count = self._count + 1
            ref = weakref.ref(item, lambda _: self._forget(number))
            beside = copy and (weakref.ref(copy[0]), weakref.ref(copy[1]))
            self._entries[number] = _BudgetItem(weakref.ref(table), ref, nbytes, beside)
            self._total += nbytes
            if self._total > self.limit:
                self._evict(keep=number)

    def resize(self, limit: int) -> None:
        """Set the limit, and drop items above it."""
        with self._lock:
            self.limit: int = limit
            self._evict()

    def clear(self) -> None:
        """Drop every item."""
        with self._lock:
            for number in list(self._entries):
                self._remove(number)

    def _evict(self, keep: int = 0) -> None:
        for _ in range(2):  # items called since the last check get a second chance
            for number in list(self._entries):  # a list of pairs lets a collection in
                entry = self._entries.get(number)
                if self._total <= self.limit:
                    return
                if (
                    entry is None
                    or number == keep
                    or getattr(entry.item(), "stays", False)
                ):
                    continue
                hits = getattr(entry.item(), "calls", entry.hits)
                if hits != entry.hits:
                    entry.hits = hits
                    self._entries.move_to_end(number)
                    continue
                self._remove(number, f"the byte budget of {self.limit:,} bytes")
                COUNTERS.evictions += 1

    def _remove(self, number: int, reason: str = "") -> None:
        entry = self._entries.get(number)
        if entry is None:
            return
        self._forget(number)
        for place, held in filter(None, ((entry.table, entry.item), entry.copy)):
            table, item = place(), held()
            if item is None:
                continue
            if table is not None:
                table.drop(item, reason)
            if hasattr(item, "drop"):
                item.drop(reason)

    def _forget(self, number: int) -> None:
        # Also called by the garbage collector, while this thread may hold the lock.
        entry = self._entries.pop(number, None)
        if entry is not None:
            self._total -= entry.nbytes


BUDGET: Final = ByteBudget()
"""The budget of this process."""
