"""Daemon threads that use imprint while the process ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import atexit, sys, threading, time
import numpy
import imprint
import imprint.numpy as np

f = imprint.jit(lambda x: np.sin(x) @ x)
x = np.ones((10, 10))
ahead = f.lower(x).compile()

def compiles(i):
    imprint.jit(lambda x: np.cos(x) * i)(x)

def runs(i):
    f(x)

def runs_ahead(i):
    ahead(x)

def traces(i):
    imprint.make_jaxpr(lambda x: np.sin(x) * i)(1.0)

def lowers(i):
    imprint.jit(lambda x: np.sin(x) * i).lower(1.0)

def puts(i):
    imprint.device_put(numpy.ones(1000))

def work(how):
    i = 0
    while True:
        i += 1
        how(i)

@atexit.register
def at_exit():
    print(float(f(x)[0, 0]), float(imprint.jit(lambda x: x + 1)(1.0)))

for name in sys.argv[1:]:
    for _ in range(2):
        threading.Thread(target=work, args=(globals()[name],), daemon=True).start()
time.sleep(0.1)
sys.exit(5)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        "compiles runs",
        pytest.param("runs_ahead traces", marks=pytest.mark.exhaustive),
        pytest.param("lowers puts", marks=pytest.mark.exhaustive),
    ],
)
def test_threads_end_silently_and_other_callbacks_still_compute(names):
    given = {k: v for k, v in os.environ.items() if not k.startswith("IMPRINT")}
    given |= {"PYTHONPATH": str(ROOT), "IMPRINT_CACHE": "off"}
    command = [
        sys.executable,
        "-W",
        "ignore::UserWarning",
        "-c",
        PROGRAM,
        *names.split(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=given)
    assert done.returncode == 5, done.stderr
    first, second = map(float, done.stdout.split())
    assert (round(first, 3), second) == (8.415, 2)
    assert not done.stderr
