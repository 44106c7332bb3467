"""Values by keys that all processes share.

They are in the first process, and end with it. A value is text or bytes of at most a
few megabytes; a key is a path such as `"step/3"`. Every wait has a time limit.
"""

from typing import final

from imprint._src import runtime
from imprint._src.errors import BackendError
from imprint._src.runtime import Processes


def key_value_store() -> "KeyValueStore":
    """Return the values that the processes share.

    Raises:
        BackendError: this process has not joined others.
    """
    found = runtime.joined()
    if found is None:
        raise BackendError(
            "key_value_store: expected a process that has joined others, got one that is "
            "alone. Call imprint.distributed.initialize() first."
        )
    return KeyValueStore(found)


@final
class KeyValueStore:
    """Values by key, the same in all processes."""

    __slots__ = ("_processes",)

    def __init__(self, processes: Processes) -> None:
        self._processes = processes

    def set(self, key: str, value: str | bytes) -> None:
        """Set or replace a value."""
        raw = value.encode() if isinstance(value, str) else value
        self._processes.put(f"user/{key}", raw)

    def get(self, key: str, timeout: float = 60.0) -> bytes:
        """Return a value as bytes, as soon as a process has set it.

        Args:
            key: the key.
            timeout: the seconds to wait.

        Raises:
            TimeoutError: no process set it in time.
        """
        return self._processes.get(f"user/{key}", timeout)

    def delete(self, key: str) -> None:
        """Delete a value, or all values under a key that ends with a slash."""
        self._processes.delete(f"user/{key}")

    def wait_at_barrier(self, name: str, timeout: float = 60.0) -> None:
        """Wait until all processes wait here; a name is for one use.

        Args:
            name: the name of the barrier.
            timeout: the seconds to wait.

        Raises:
            TimeoutError: some process did not come in time.
        """
        self._processes.wait(f"user/{name}", timeout)
