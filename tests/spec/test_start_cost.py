"""Modules that a process loads before its first result from a warm store."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import json, sys, types
import numpy
floor = {*sys.modules}
import imprint
import imprint.numpy as np

@imprint.jit
def f(x):
    return np.sin(x) * 2

f(numpy.ones(3, "float32"))
counts = sys.modules["imprint._src.jit.compilation.counters"].COUNTERS
ran = {name for name, each in sys.modules.items() if type(each) is types.ModuleType}
print(json.dumps([counts.traces, counts.compiles, sorted(ran - floor)]))
"""
UNWANTED = {
    *("asyncio", "concurrent.futures", "email", "hashlib", "html", "http"),
    *(
        "importlib.metadata",
        "logging",
        "multiprocessing",
        "scipy",
        "sqlite3",
        "zipfile",
    ),
    *(
        "imprint._src.jit.bucketing",
        "imprint.export",
        "imprint.lax",
        "imprint._src.jit.manifest.diff",
    ),
    *(
        "imprint.module",
        "imprint.nn",
        "imprint._src.numpy.einsum",
        "imprint._src.numpy.files",
    ),
    *(
        "imprint._src.numpy.sorting.sorting",
        "imprint.optim",
        "imprint._src.passes.pipeline",
    ),
    *("imprint.random", "imprint.scipy"),
    *("imprint._src.dynamic_shapes", "imprint.testing"),
}


def run(folder):
    given = {k: v for k, v in os.environ.items() if not k.startswith("IMPRINT")}
    given |= {"PYTHONPATH": str(ROOT), "IMPRINT_CACHE_DIR": str(folder)}
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=given
    )
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_warm_start_loads_only_needed_modules(tmp_path):
    assert run(tmp_path / "store")[:2] == [1, 1]
    traces, compiles, loaded = run(tmp_path / "store")
    assert (traces, compiles) == (0, 0)
    assert UNWANTED.intersection(loaded) == set()
    ours = [name for name in loaded if name.startswith("imprint")]
    assert len(ours) <= 198
    assert len(loaded) - len(ours) <= 67  # jaxlib, optree, ml_dtypes, and Python's own
