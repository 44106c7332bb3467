"""Compile locks: one process at a time compiles a key, and none waits for ever."""

import subprocess
import sys

import pytest

from imprint._src.jit.disk_cache.entry import digest
from imprint._src.jit.disk_cache.store import CompileLocks

KEY, OTHER = digest(b"one"), digest(b"two")

# Holds the lock of a place until its input ends.
HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX, 1, int(sys.argv[2]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Give a process that holds the lock of a key."""
    place = int.from_bytes(KEY[:7], "big")
    command = [sys.executable, "-S", "-c", HOLDER, tmp_path / "lock", str(place)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.stdin.close()


def test_a_free_key_is_locked_at_once(tmp_path):
    locks = CompileLocks(tmp_path, 60)
    for _ in range(2):
        with locks.of(KEY) as waited:
            assert not waited


def test_one_process_waits_until_the_other_ends_or_dies(tmp_path, holder):
    holder.kill()
    with CompileLocks(tmp_path, 60).of(KEY):
        pass


def test_one_waits_no_longer_than_its_patience(tmp_path, holder):
    with CompileLocks(tmp_path, 0.02).of(KEY) as waited:
        assert waited
    assert holder.poll() is None


def test_another_key_is_not_waited_for(tmp_path, holder):
    with CompileLocks(tmp_path, 60).of(OTHER) as waited:
        assert not waited


def test_without_locks_no_process_waits(tmp_path):
    with CompileLocks(tmp_path / "missing", 60).of(KEY) as waited:
        assert not waited
