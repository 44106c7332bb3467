"""`imprint tune`: which form is kept, where, and which results agree."""

import textwrap

import numpy as np
import pytest

from imprint._src.cli.tune import _close
from tests.units.cli.programs import ENVIRONMENT, imprint, python, write

PROGRAM = """
    import imprint
    import imprint.numpy as np

    @imprint.jit
    def wave(x):
        return np.sin(x) + x % 0.3

    @imprint.jit(donate_argnums=0)
    def spent(x):
        return x + 1

    @imprint.jit
    def watched(x):
        imprint.debug.callback(lambda x: None, x)
        return x

    x = np.linspace(0, 9, 20_000)
    for _ in range(3):
        y = wave(x)
    spent(np.ones(3)), watched(np.ones(3))
    print(float(y[7]))
"""
TUNED = """
    import sys
    from imprint._src.cli import tune

    tune.HOT, tune.GAIN = 0, {gain}
    tune.tune(sys.argv[1:])
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a folder with a program, and a store."""
    (tmp_path / "store").mkdir(mode=0o700)
    monkeypatch.setitem(ENVIRONMENT, "IMPRINT_CACHE_DIR", str(tmp_path / "store"))
    monkeypatch.setitem(ENVIRONMENT, "IMPRINT_CACHE", "write")
    write(tmp_path / "waves.py", PROGRAM)
    return tmp_path


def tuned(folder, gain):
    """Return the lines of a program that keeps each form below a share of the time."""
    code = textwrap.dedent(TUNED.format(gain=gain))
    done = python("-c", code, "waves.py", cwd=folder)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.slow
def test_a_later_process_loads_the_form_that_won(folder):
    number, *lines = tuned(folder, "float('inf')")
    (line,) = (line for line in lines if line.startswith("wave, 3 calls of "))
    assert "of its time by plain formulations" in line
    assert line.endswith("; kept")
    assert not any(line.startswith(("spent", "watched")) for line in lines)
    (entry,) = (
        line for line in imprint("cache", "ls", cwd=folder).stdout.splitlines()
        if "jit_wave" in line
    )  # fmt: skip
    assert "tuned: plain formulations" in entry
    later = imprint("cache", "warm", "waves.py", cwd=folder)
    assert later.stdout.split() == [number]  # the same sine, up to what is printed
    assert ", loaded 0 " not in later.stderr


@pytest.mark.exhaustive
def test_the_usual_form_stays_if_it_is_the_fastest(folder):
    _, *lines = tuned(folder, "0")
    (line,) = (line for line in lines if line.startswith("wave"))
    assert line.endswith(": as it is; kept")


def test_without_a_store_nothing_runs(folder):
    (folder / "store").rmdir()
    done = imprint("tune", "waves.py", cwd=folder)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("no store: ")
    assert imprint("tune", "none.py", cwd=folder).returncode == 2


def test_results_agree_up_to_rounding_of_the_largest():
    x = np.array([1.0, -1e3, 1e-9, np.inf, np.nan], np.float32)
    assert _close(x, x)
    assert _close(x, np.array([1.001, -1e3, 0, np.inf, np.nan], np.float32))
    for wrong in ([1.1, -1e3, 0, np.inf, np.nan], [1, -1e3, 0, -np.inf, np.nan]):
        assert not _close(x, np.array(wrong, np.float32))
    assert not _close(x, np.array([1, -1e3, 0, 1, np.nan], np.float32))
    assert not _close(np.array([1, 2]), np.array([1, 3]))
    assert _close(np.zeros(0, np.float32), np.zeros(0, np.float32))
