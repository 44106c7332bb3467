"""Small StableHLO programs, an aval of plain data, and a fresh interpreter to run code."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imprint._src import runtime

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class PlainAval:
    shape: tuple[int, ...]
    dtype: np.dtype
    weak_type: bool = False


def aval(dtype, *shape):
    return PlainAval(shape, np.dtype(dtype))


def put(value, *, copy=True):
    value = np.asarray(value)
    return runtime.put(value, PlainAval(value.shape, value.dtype), copy=copy)


def program(body, arguments="%x: tensor<4xf32>", result="tensor<4xf32>"):
    return f"module @m {{ func.func public @main({arguments}) -> {result} {{\n{body}\n}} }}"


F4 = aval("float32", 4)
DOUBLE = program("%y = stablehlo.add %x, %x : tensor<4xf32>\nreturn %y : tensor<4xf32>")
DONATING = program(
    "%y = stablehlo.add %x, %x : tensor<4xf32>\nreturn %y : tensor<4xf32>",
    "%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}",
)
DONATING_FIRST_OF_TWO = program(
    "%z = stablehlo.add %x, %y : tensor<4xf32>\nreturn %z : tensor<4xf32>",
    "%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<4xf32>",
)


ADD = DONATING_FIRST_OF_TWO.replace(" {tf.aliasing_output = 0 : i32}", "")


def growth(setup, statement):
    """Return the Python blocks and the resident bytes that 10 000 repetitions add."""
    before, after = (
        map(int, line.split())
        for line in in_fresh_process(GROWTH.format(setup=setup, statement=statement))
    )
    return tuple(b - a for a, b in zip(before, after, strict=True))


GROWTH = """
import sys
from pathlib import Path
import numpy as np
from imprint._src import runtime
from tests.units.runtime.programs import DOUBLE, F4
executable = runtime.compile(DOUBLE, [F4])
{setup}

def used():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    print(sys.getallocatedblocks(), pages * 4096)

def repeat(times):
    for _ in range(times):
        {statement}

repeat(3000)
used()
repeat(10_000)
used()
"""


def in_fresh_process(code, *arguments):
    """Run code in an interpreter without pytest; return its lines."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.splitlines()
