"""A store between processes: who comes later loads, and who is killed harms nobody."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from imprint.store.files import STRAY
from imprint.store.sweep import entries
from tests.lanes import exhaustive

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import sys
import imprint
import imprint.numpy as np
assert not [name for name in sys.modules if name.startswith("imprint.store")]

def chain(x):
    for _ in range(int(sys.argv[1])):
        x = np.sin(x) * 1.01
    return x

x = imprint.jit(chain)(np.ones(8))
counts = imprint.debug.counters()
print(counts.compiles, counts.loads, float(x[0]).hex())
"""

# Writes entries that say by themselves what they must be, and reads those of others.
WORKER = """
import random, sys, time
from pathlib import Path
from imprint.store.entry import digest
from imprint.store.store import Store

store = Store(Path(sys.argv[1]), writes=True, limit=2_000_000)
draw = random.Random(int(sys.argv[2]))
print("ready", flush=True)
until = time.monotonic() + float(sys.argv[3])
while time.monotonic() < until:
    number = draw.randrange(30)
    key, body = digest(bytes([number])), bytes([number]) * (number * 10_000)
    with store.flight(key):
        found = store.get(key)
        assert found in (None, body), "a wrong answer"
        if found is None or draw.random() < 0.2:
            assert store.put(key, {"name": str(number)}, body)
"""


def start(code, *words, **environment):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


def ended(process):
    """Return the lines that a process printed, which must have ended well."""
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    return out.splitlines()


@pytest.fixture
def store(tmp_path):
    return {"IMPRINT_CACHE": "write", "IMPRINT_CACHE_DIR": str(tmp_path / "store")}


def test_the_next_process_compiles_nothing(store):
    compiles, loads, first = ended(start(PROGRAM, 3, **store))[0].split()
    assert (compiles, loads) == ("1", "0")
    assert ended(start(PROGRAM, 3, **store)) == [f"0 1 {first}"]


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, *exhaustive(8)])
def test_processes_that_start_together_compile_once(count, store):
    processes = [start(PROGRAM, 600, **store) for _ in range(count)]
    lines = [ended(process)[0].split() for process in processes]
    assert sum(int(compiles) for compiles, *_ in lines) == 1
    assert sum(int(loads) for _, loads, _ in lines) == count - 1
    assert len({value for *_, value in lines}) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("count", "seconds"), [(2, 0.5), *exhaustive((8, 20))])
def test_the_killed_leave_a_store_that_works(count, seconds, tmp_path):
    (tmp_path / "store").mkdir(0o700)
    folder, draw = tmp_path / "store", random.Random(count)
    workers = [start(WORKER, folder, i, seconds) for i in range(count)]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    killed, others = workers[: count // 2], workers[count // 2 :]
    for worker in killed:
        time.sleep(draw.uniform(0, seconds / count))
        worker.kill()
    for worker in others:
        assert ended(worker) == []
    for worker in killed:
        worker.communicate()
    strays = [path for path in folder.rglob("*") if path.name.startswith(STRAY)]
    assert len(strays) <= len(killed)
    assert [*entries(folder)]
    assert ended(start(WORKER, folder, 99, 0.1)) == ["ready"]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_full_disk_costs_a_warning(tmp_path):
    """A small file system in memory, where this process may mount one."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", tmp_path],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("no right to mount")
    try:
        store = {"IMPRINT_CACHE": "write", "IMPRINT_CACHE_DIR": str(tmp_path)}
        done = start(PROGRAM, 600, **store)
        out, err = done.communicate(timeout=120)
        assert done.returncode == 0
        assert out.startswith("1 0 ")
        assert err.count("expected to write into") == 1
        assert "No space left on device" in err
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert [path.name for path in files] == ["lock"]
    finally:
        subprocess.run(["umount", tmp_path], check=True)
