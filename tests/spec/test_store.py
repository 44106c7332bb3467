"""A store shared by processes: later ones load, and killed ones do no harm."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from imprint._src.jit.disk_cache.eviction import entries
from imprint._src.jit.disk_cache.files import TEMPORARY
from tests.lanes import exhaustive
from tests.spec import edited
from tests.tolerances import tolerance

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import sys
import imprint
import imprint.numpy as np
assert not [name for name in sys.modules if name.startswith("imprint._src.jit.disk_cache")]

def chain(x):
    for _ in range(int(sys.argv[1])):
        x = np.sin(x) * 1.01
    return x

x = imprint.jit(chain)(np.ones(8))
counts = imprint.debug.counters()
print(counts.compiles, counts.loads, float(x[0]).hex())
"""

# The first values of the program of `edited`.
MAIN = "import runpy, sys; sys.path.insert(0, ''); runpy.run_path('main.py')"

# Write entries whose content follows from their key, and read those of other processes.
WORKER = """
import random, sys, time
from pathlib import Path
from imprint._src.jit.disk_cache.entry import digest
from imprint._src.jit.disk_cache.store import Store

store = Store(Path(sys.argv[1]), writes=True, limit=2_000_000)
draw = random.Random(int(sys.argv[2]))
print("ready", flush=True)
until = time.monotonic() + float(sys.argv[3])
while time.monotonic() < until:
    number = draw.randrange(30)
    key, body = digest(bytes([number])), bytes([number]) * (number * 10_000)
    with store.compile_lock(key):
        found = store.get(key)
        assert found in (None, body), "a wrong answer"
        if found is None or draw.random() < 0.2:
            assert store.put(key, {"name": str(number)}, body)
"""


def start(code, *words, cwd=None, **environment):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
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
@pytest.mark.parametrize(("seed", "count"), [(0, 3), *exhaustive((1, 40))])
def test_no_edit_gets_the_answer_of_another_program(seed, count, store, tmp_path):
    seen = set()
    for chosen in edited.edits(seed, count):
        edited.write(tmp_path, chosen)
        process = start(MAIN, cwd=tmp_path, WEIGHT=chosen["environment"], **store)
        result, expected, work = (line.split() for line in ended(process))
        near = tolerance(np.float32, "program")
        np.testing.assert_allclose(
            np.array(result, float), np.array(expected, float), near.rtol, near.atol
        )
        traces, *work = work
        assert work in (["0", "1"], ["1", "0"])  # `2` and `2.0` make one program
        is_known = edited.program_part(chosen) in seen
        assert not is_known or (traces, *work) == ("0", "0", "1")
        seen.add(edited.program_part(chosen))


@pytest.mark.slow
@pytest.mark.parametrize(("count", "seconds"), [(2, 0.5), *exhaustive((8, 20))])
def test_killed_processes_leave_a_working_store(count, seconds, tmp_path):
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
    strays = [path for path in folder.rglob("*") if path.name.startswith(TEMPORARY)]
    assert len(strays) <= len(killed)
    assert [*entries(folder)]
    assert ended(start(WORKER, folder, 99, 0.1)) == ["ready"]


@pytest.fixture
def small_disk(tmp_path):
    """Give a small file system in memory, where this process may mount one."""
    options = "size=256k,mode=700"
    command = ["mount", "-t", "tmpfs", "-o", options, "none", tmp_path]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("no right to mount")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


def output_of(process):
    """Return the output and warnings of a process, which must have succeeded."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out, err


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_full_disk_gives_a_warning(small_disk):
    store = {"IMPRINT_CACHE": "write", "IMPRINT_CACHE_DIR": str(small_disk)}
    (small_disk / "much").write_bytes(bytes(230_000))
    out, err = output_of(start(PROGRAM, 600, **store))
    assert out.startswith("1 0 ")
    assert err.count("expected to write into") == 1
    assert "No space left on device" in err
    files = {path.name for path in small_disk.rglob("*") if path.is_file()}
    assert files == {"much", "lock"}


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_read_only_disk_serves_its_entries(small_disk):
    store = {"IMPRINT_CACHE": "write", "IMPRINT_CACHE_DIR": str(small_disk)}
    ended(start(PROGRAM, 3, **store))
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    assert ended(start(PROGRAM, 3, **store))[0].startswith("0 1 ")
    out, err = output_of(start(PROGRAM, 4, **store))
    assert out.startswith("1 0 ")
    assert err.count("expected to write into") == 1
    assert "Read-only file system" in err
    only_read = {**store, "IMPRINT_CACHE": "read"}
    assert ended(start(PROGRAM, 4, **only_read))[0].startswith("1 0 ")
