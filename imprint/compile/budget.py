"""The byte budget of all versions of a process, and of the traces they came from.

Each version counts with an estimate of the memory that its machine code takes (there is
no exact figure from the engine). Past the limit the versions that were not called since
the last look go first, oldest before youngest. A function that dies takes its versions
out. `imprint.clear_caches` empties everything. Whoever drops a version or a trace does
it here, so that nothing stays counted and no key stays alive.
"""

import threading
import weakref
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from imprint.compile.counters import COUNTERS

DEFAULT_LIMIT: Final = 4 << 30  # bytes


@dataclass(slots=True)
class _Entry:
    owner: weakref.ref[Any]
    table: dict[Any, Any]
    key: Any
    nbytes: int
    hits: int = 1  # the call that made it


class Budget:
    """Bytes by version, and which to drop when there are too many."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        self._lock = threading.RLock()  # a key that dies may run code of the user
        self._entries: OrderedDict[int, _Entry] = OrderedDict()
        self._count = 0
        self._total = 0

    @property
    def nbytes(self) -> int:
        """The bytes of all versions, estimated."""
        return self._total

    def add(self, owner: Any, table: dict[Any, Any], key: Any, nbytes: int) -> None:
        """Count a version that is about to stand at `table[key]`."""
        with self._lock:
            number = self._count = self._count + 1
            ref = weakref.ref(owner, lambda _: self._drop(number))
            self._entries[number] = _Entry(ref, table, key, nbytes)
            self._total += nbytes
            if self._total > self.limit:
                self._evict(keep=number)

    def clear(self, table: dict[Any, Any] | None = None) -> None:
        """Drop every version, or those of one table."""
        with self._lock:
            for number, entry in list(self._entries.items()):
                if table is None or entry.table is table:
                    self._remove(number)

    def remove(self, table: dict[Any, Any], key: Any) -> None:
        """Drop the version at `table[key]`."""
        with self._lock:
            for number, entry in list(self._entries.items()):
                if entry.table is table and entry.key == key:
                    self._remove(number)

    def _evict(self, keep: int) -> None:
        for _ in range(2):  # a version called since the last look gets a second chance
            for number, entry in list(self._entries.items()):
                if self._total <= self.limit:
                    return
                if number == keep:
                    continue
                version = entry.table.get(entry.key)
                hits = getattr(version, "hits", entry.hits)
                if hits != entry.hits:
                    entry.hits = hits
                    self._entries.move_to_end(number)
                    continue
                self._remove(number)
                COUNTERS.evictions += 1

    def _remove(self, number: int) -> None:
        entry = self._entries.pop(number, None)
        if entry is None:  # its function died meanwhile
            return
        self._total -= entry.nbytes
        entry.table.pop(entry.key, None)

    def _drop(self, number: int) -> None:
        # Called by the garbage collector, perhaps while this thread holds the lock.
        entry = self._entries.pop(number, None)
        if entry is not None:
            self._total -= entry.nbytes


BUDGET: Final = Budget()
"""The budget of this process."""
