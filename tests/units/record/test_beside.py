"""Which other threads ran beside a trace."""

import gc
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from imprint.record import beside as module
from imprint.record.beside import Beside

ROUND = "def serve(asked, answered):\n    while asked.acquire() and not ended:\n"
ROUND += "        sum(range(100_000))\n"  # clocks of virtual machines miss 20 µs
ROUND += "        answered.release()\n"
QUIET = 5  # looks, one after the other, at which it did not run


class Server:
    """A thread that waits, answers when it is asked, and waits again.

    Args:
        file: of its code.
        name: of its module.
        waits: whether to begin when it waits.
    """

    def __init__(self, file, name, *, waits=True):
        self.waits = waits
        self.asked, self.answered = threading.Semaphore(0), threading.Semaphore(0)
        self.names = {"__name__": name, "__file__": file, "ended": []}
        exec(compile(ROUND, file, "exec"), self.names)
        self.thread = threading.Thread(
            target=self.names["serve"], args=(self.asked, self.answered)
        )

    def __enter__(self):
        self.thread.start()
        self.ask()
        quiet = 0
        while self.waits and module._HAS_CLOCKS and quiet < QUIET:
            beside = Beside()
            time.sleep(0.01)  # it is on its way to wait, and may be kept from a core
            quiet = 0 if beside.ran() else quiet + 1
        return self

    def __exit__(self, *_):
        self.names["ended"].append(1)
        self.asked.release()
        self.thread.join()

    def ask(self):
        self.asked.release()
        self.answered.acquire()


needs_clocks = pytest.mark.skipif(
    not module._HAS_CLOCKS, reason="then each thread may have run"
)


@needs_clocks
def test_a_thread_that_waits_did_not_run():
    with Server("/a_project/server.py", "server"):
        beside = Beside()
        assert sum(range(10_000)) > 0
        assert not beside.ran()


def test_a_thread_that_waits_again_ran():
    with Server("/a_project/server.py", "server") as server:
        beside = Beside()
        server.ask()
        assert beside.ran()


@needs_clocks
def test_a_thread_of_a_library_is_not_asked():
    file = f"{sys.prefix}/lib/python3/site-packages/some_library/server.py"
    with Server(file, "some_library.server") as server:
        beside = Beside()
        server.ask()
        assert not beside.ran()


def test_a_pool_that_waits_for_work_is():
    with Server(threading.__file__, "threading") as server:
        beside = Beside()
        server.ask()
        assert beside.ran()


def test_a_thread_that_began_ran():
    beside = Beside()
    with Server("/a_project/server.py", "server"):
        assert beside.ran()


def test_where_the_system_does_not_count_a_thread_may_have_run(monkeypatch):
    monkeypatch.setattr(module, "_HAS_CLOCKS", False)
    with Server("/a_project/server.py", "server", waits=False):
        assert Beside().ran()


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="collections begin between instructions"
)
def test_no_collection_begins_while_frames_of_other_threads_are_read(monkeypatch):
    """It would run code, and with it the thread whose frame is being read."""
    read, kept, begun = module._is_service, [], []

    def is_service(frame):
        kept.extend(SimpleNamespace() for _ in range(9))  # enough for a collection
        result = read(frame)
        kept.clear()
        return result

    def note(phase, _):
        if phase == "start":
            begun.append(bool(kept))

    monkeypatch.setattr(module, "_is_service", is_service)
    before = gc.get_threshold()
    with Server("/a_project/server.py", "server"):
        gc.callbacks.append(note)
        try:
            gc.set_threshold(1, 2, 3)
            Beside()
            after = gc.get_threshold()
        finally:
            gc.set_threshold(*before)
            gc.callbacks.remove(note)
    assert after == (1, 2, 3)
    assert begun
    assert not any(begun)
