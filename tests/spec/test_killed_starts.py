"""Processes that start warm from one store while others are killed: every answer is right."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from imprint._src.jit.disk_cache.files import TEMPORARY
from tests.lanes import exhaustive

ROOT = Path(__file__).resolve().parents[2]

# Each life is a program of two texts drawn from nine, most of which another one traced.
WORKER = '''
import random, sys, time, warnings
from pathlib import Path
import numpy as np
import imprint
from tests.spec import reborn

warnings.simplefilter("ignore", imprint.errors.RecompileWarning)
TEXT = """
import imprint
RATE = {rate}
def helper(x):
    return x * RATE + {shift}
@imprint.jit
def f(x):
    return helper(x) - x / 2
"""
draw, x = random.Random(int(sys.argv[1])), np.ones(3, np.float32)
print("ready", flush=True)
until, warm = time.monotonic() + float(sys.argv[2]), 0
while time.monotonic() < until or not warm:
    rate, shift = draw.choice((1.0, 2.0, 3.0)), draw.choice((0.5, 1.5, 2.5))
    text = TEXT.format(rate=rate, shift=shift)
    fun = reborn.begin({"main": text}, Path(".")).main.f
    result, traces = reborn.traces(fun, x)
    assert (np.asarray(result) == rate + shift - 0.5).all(), "a wrong answer"
    warm += traces == 0
print("warm" if warm else "cold")
'''


def start(seed, seconds, folder):
    environment = {
        **os.environ,
        "IMPRINT_CACHE": "write",
        "IMPRINT_CACHE_DIR": str(folder),
        "PYTHONPATH": str(ROOT),
    }
    words = [sys.executable, "-W", "error", "-c", WORKER, str(seed), str(seconds)]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, env=environment)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "seconds"), [(2, 0.5), *exhaustive((8, 60))])
def test_killed_processes_leave_valid_manifests(count, seconds, tmp_path):
    (tmp_path / "store").mkdir(0o700)
    folder, draw = tmp_path / "store", random.Random(count)
    workers = [start(seed, seconds, folder) for seed in range(count)]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    killed, others = workers[: count // 2], workers[count // 2 :]
    for worker in killed:
        time.sleep(draw.uniform(0, seconds / count))
        worker.kill()
        worker.communicate()
    for worker in [*others, start(99, 0.1, folder)]:
        out, err = worker.communicate(timeout=300)
        assert (worker.returncode, out.splitlines()[-1]) == (0, "warm"), err
    strays = [path for path in folder.rglob("*") if path.name.startswith(TEMPORARY)]
    assert len(strays) <= len(killed)
