"""The byte budget of a process: versions, and the traces they came from.

Each counts with an estimate of the memory it takes (the engine gives no exact figure).
Past the limit those that were not called since the last look go first, oldest before
youngest. An entry knows its table and its item weakly: what is dropped elsewhere leaves
the count by itself.
"""

import threading
import weakref
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.versions.table import Table

DEFAULT_LIMIT: Final = 4 << 30  # bytes


@dataclass(slots=True)
class _Entry:
    table: weakref.ref[Table[Any]]
    item: weakref.ref[Any]
    nbytes: int
    copy: tuple[weakref.ref[Table[Any]], weakref.ref[Any]] | None = None
    hits: int = 1  # the call that made it


class Budget:
    """Bytes by item, and which to drop when there are too many."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        self._lock = threading.RLock()  # a key that dies may run code of the user
        self._entries: OrderedDict[int, _Entry] = OrderedDict()
        self._count = 0
        self._total = 0

    @property
    def nbytes(self) -> int:
        """The bytes of all items, estimated."""
        return self._total

    def add(
        self,
        table: Table[Any],
        item: Any,
        nbytes: int,
        copy: tuple[Table[Any], Any] | None = None,
    ) -> None:
        """Count an item that stands, or is about to stand, in `table`.

        Args:
            table: its table.
            item: it.
            nbytes: the memory that it takes.
            copy: another table and an item there that shares the memory, and goes with it.
        """
        with self._lock:
            number = self._count = self._count + 1
            ref = weakref.ref(item, lambda _: self._forget(number))
            beside = copy and (weakref.ref(copy[0]), weakref.ref(copy[1]))
            self._entries[number] = _Entry(weakref.ref(table), ref, nbytes, beside)
            self._total += nbytes
            if self._total > self.limit:
                self._evict(keep=number)

    def resize(self, limit: int) -> None:
        """Set the limit; what is over it goes."""
        with self._lock:
            self.limit: int = limit
            self._evict()

    def clear(self) -> None:
        """Drop every item."""
        with self._lock:
            for number in list(self._entries):
                self._remove(number)

    def _evict(self, keep: int = 0) -> None:
        for _ in range(2):  # what was called since the last look gets a second chance
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


BUDGET: Final = Budget()
"""The budget of this process."""
