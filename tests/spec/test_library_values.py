"""A library of which a file changed that gave another file something at its import."""

import sys

import numpy as np
import pytest

from imprint._src.core import user_code
from imprint._src.jit.manifest import environment
from tests.spec import reborn

X = np.ones(3, np.float32)
FILES = {
    "__init__": "from . import config, tables, work",
    "config": "rate = 2.0\nclass Options:\n    bias = 0.0\noptions = Options()",
    "tables": "def made():\n    return 1.0",
    "work": """
from typing import NamedTuple
from . import config, tables
from .config import options
SCALE = tables.made()
calls = 0
memo = None
class Pair(NamedTuple):
    init: object
    update: object
class Optimizer(Pair):  # it has a `__dict__`, as optax's has
    pass
def scheduled(steps):
    def update(x):
        nonlocal steps
        steps = float(steps)
        return x / steps
    return Optimizer(abs, update)
def scaled(x):
    global calls, memo
    calls += 1
    memo = memo or 1.0
    return x * config.rate * SCALE * memo + options.bias
""",
}
MAIN = """
import imprint, a_package
{says}
f = imprint.jit(lambda x: a_package.work.scaled(x))
"""


@pytest.fixture
def life(tmp_path, imprint_store, monkeypatch):
    """Return how a life begins: with lines of the program, and files of a package."""
    site = tmp_path / "lib" / "python3" / "site-packages"
    (site / "a_package").mkdir(parents=True)
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def begin(says="", main_tail="", **files):
        monkeypatch.setattr(environment, "_known", {})
        for name, text in {**FILES, **files}.items():
            (site / "a_package" / f"{name}.py").write_text(text)
        monkeypatch.setattr(user_code, "BEGAN", 1 << 62)
        forget()
        return reborn.begin(
            {"main": MAIN.format(says=says) + main_tail}, tmp_path
        ).main.f

    yield begin
    forget()


def forget():
    for name in [n for n in sys.modules if n.partition(".")[0] == "a_package"]:
        del sys.modules[name]


def test_a_value_imported_from_another_library_file_is_tracked(life):
    assert reborn.traces(life(), X)[1] == 1
    edited = FILES["tables"].replace("1.0", "2.0")
    result, count = reborn.traces(life(tables=edited), X)
    assert (count, float(result[0])) == (1, 4)


def test_a_counter_of_a_library_is_no_input(life):
    assert reborn.traces(life("a_package.work.calls = 1"), X)[1] == 1
    assert reborn.traces(life("a_package.work.calls = 2"), X)[1] == 0


OPTIMIZED = """
optimizer = a_package.work.scheduled({steps})
f = imprint.jit(lambda x: optimizer.update(x))
"""


def test_a_number_that_library_code_makes_a_float_is_the_same_number(life):
    def begin(steps):
        main = life("", main_tail=OPTIMIZED.format(steps=steps))
        return reborn.traces(main, X)

    assert begin(4)[1] == 1
    assert begin(4)[1] == 0
    result, count = begin(8)
    assert (count, float(result[0])) == (1, 0.125)
