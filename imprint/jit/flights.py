"""Single flight: many threads want one version, one of them makes it.

The others wait until it is there. When making it fails, or is interrupted, the waiting
threads try in turn, so each caller sees the error of its own attempt and nothing half
made stays behind.
"""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar, final

V = TypeVar("V")


@final
class Flights(Generic[V]):
    """The keys that are being made now, over a table of what was made."""

    __slots__ = ("_lock", "_pending", "_table")

    def __init__(self, table: dict[Hashable, V]) -> None:
        self._table = table
        self._lock = threading.Lock()
        self._pending: dict[Hashable, tuple[int, threading.Event]] = {}

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the entry of `key`; make it, once, if there is none."""
        me = threading.get_ident()
        while True:
            with self._lock:
                found = self._table.get(key)
                if found is not None:
                    return found
                flight = self._pending.get(key)
                if flight is None:
                    done = threading.Event()
                    self._pending[key] = me, done
                    break
            owner, done = flight
            if owner == me:  # tracing called the function again for the same key
                return make()
            done.wait()
        try:
            made = make()
            return self._table.setdefault(key, made)
        finally:
            with self._lock:
                del self._pending[key]
            done.set()
