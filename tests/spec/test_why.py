"""`imprint.cache.why` and `imprint cache why`: why a call does not start warm."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import imprint
from imprint._src.config import roll_loops, settings
from tests.spec import reborn

TEXTS = {
    "model": """
import threading
import imprint.numpy as np

RATE = 0.1
TABLE = {"a": 1.0}
SECRET = "one"
LOCK = threading.Lock()

class Scale:
    by = 2.0

def norm(x):
    return x / np.sqrt((x * x).sum())
""",
    "main": """
import functools, time
import imprint
import imprint.numpy as np
import model

def shifted(by):
    return lambda x: x + by

def made(c):
    def inner(x):
        return x + 1
    shift = shifted(0.5)
    @imprint.jit
    def f(x, n=2, *, k=3):
        x = model.norm(x) * model.RATE * model.Scale.by + inner(x) * c + shift(x)
        x = x + model.TABLE["a"] + len(model.SECRET)
        return x * n + k
    return f

f = made(1.0)
kept = imprint.jit(lambda x, n: x * n, static_argnums=1)

@imprint.jit
def timed(x):
    return x + time.time()

@imprint.jit
def locked(x):
    return x + bool(model.LOCK)
""",
}
X = np.ones(3, np.float32)


@pytest.fixture
def life(tmp_path, imprint_store):
    """Return how a life begins, with one edit: a text for another."""

    def begin(old="", new=""):
        assert any(old in text for text in TEXTS.values())
        edited = {name: text.replace(old, new) for name, text in TEXTS.items()}
        return reborn.begin(edited if old else TEXTS, tmp_path).main

    return begin


def said_of(fun, *args, **kwargs):
    """Return the answer about the disk, without a trace or a compilation."""
    before = imprint.debug.counters()
    found = imprint.cache.why(fun, *args, **kwargs).disk
    after = imprint.debug.counters()
    assert (after.traces, after.compiles) == (before.traces, before.compiles)
    return found


EDITS = {
    "helper": (
        "(x * x).sum()",
        "(x * x).max()",
        "helper `norm` at model.py:13 changed",
    ),
    "global": ("RATE = 0.1", "RATE = 0.2", "global RATE in model was 0.1, is 0.2"),
    "type": ("RATE = 0.1", "RATE = 1", "global RATE in model was 0.1, is 1"),
    "text": ('"one"', '"two"', "global SECRET in model changed"),
    "class": ("by = 2.0", "by = 3.0", "class `Scale` of model changed"),
    "gone": ("RATE = 0.1", "", "global RATE in model is not defined any more"),
    "itself": (
        "return x * n + k",
        "return x * n",
        "`made.<locals>.f` at main.py:14 changed",
    ),
    "inner": (
        "return x + 1",
        "return x + 2",
        "`made.<locals>.inner` at main.py:11 changed",
    ),
    "default": ("n=2", "n=4", "default n of made.<locals>.f was 2, is 4"),
    "keyword": ("k=3", "k=4", "default k of made.<locals>.f was 3, is 4"),
    "captured by a helper": (
        *("shifted(0.5)", "shifted(0.75)"),
        "closure variable by of shifted.<locals>.<lambda> was 0.5, is 0.75",
    ),
    "captured": (
        *("made(1.0)", "made(1.5)"),
        "closure variable c of made.<locals>.f was 1.0, is 1.5",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_the_first_difference_is_named(life, name):
    old, new, text = EDITS[name]
    life().f(X)
    fun = life(old, new).f
    assert said_of(fun, X) == f"The disk does not answer it: {text}."


def test_the_difference_of_a_call_is_named(life):
    main = life()
    main.f(X)
    main.kept(X, 2)
    main = life()
    start = "The disk does not answer it: "
    assert said_of(main.f, X[:2]) == f"{start}x was float32[3], is float32[2]."
    assert (
        said_of(main.f, X.astype("int32")) == f"{start}x was float32[3], is int32[3]."
    )
    assert said_of(main.f, X, n=7) == f"{start}n is new."
    assert said_of(main.kept, X, 5) == f"{start}static n was 2, is 5."
    with roll_loops(not settings().roll_loops):
        said = said_of(main.f, X)
    assert said.startswith(f"{start}flag roll_loops was ")


def test_stored_and_missing_programs_are_distinguished(life, imprint_store):
    fun = life().f
    nothing = "The disk does not answer it: nothing of it is on the disk."
    assert said_of(fun, X) == nothing
    fun(X)
    assert said_of(fun, X) == "A new process starts without a trace."
    why = imprint.cache.why(life().f, X)
    assert (why.is_kept, why.hit) == (True, False)
    assert str(why).endswith(" starts warm: the disk has its program.")
    for path in imprint_store.glob("??/*"):
        path.unlink()
    assert said_of(life().f, X) == nothing
    imprint.cache.configure(mode="off")
    assert said_of(life().f, X) == "The disk does not answer it: the store is off."


def test_a_program_that_is_never_stored_has_a_reason_and_a_remedy(life):
    main = life()
    main.timed(X)
    main.locked(X)
    assert said_of(main.timed, X) == (
        "A new process traces it: E-IMPURE: it reads `time` (global time), which may give "
        "something else in a new process; call it outside, and pass the result as an "
        "argument; if it is the same everywhere, declare it with "
        "imprint.cache.assume_pure."
    )
    assert said_of(main.locked, X) == (
        "A new process traces it: E-VALUE: it reads an object of class _thread.lock "
        "(global LOCK), of which a new process cannot tell that it is the same; pass it "
        "as an argument, or make it a frozen dataclass of numbers, texts and arrays."
    )


def test_no_user_text_is_stored(life, imprint_store):
    life('"one"', '"my password"').f(X)
    assert not any(b"password" in p.read_bytes() for p in imprint_store.glob("??/*"))


# ---- the command ----

SCRIPT = """
import time
import imprint
import imprint.numpy as np
RATE = 0.1

@imprint.jit
def f(x):
    return x * RATE

@imprint.jit
def timed(x):
    return x + time.time()

for size in (3, 4):
    f(np.ones(size))
timed(1.0)
"""
MAIN = "import sys; from imprint.cli import main; sys.exit(main())"


def why(script, store):
    """Return the output of `imprint cache why` for a script."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("IMPRINT")}
    root = str(Path(__file__).resolve().parents[2])
    env |= {"IMPRINT_CACHE_DIR": str(store), "PYTHONPATH": root}
    command = [sys.executable, "-c", MAIN, "cache", "why", str(script)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return done.stderr.splitlines()


@pytest.mark.slow
def test_the_command_lists_each_function_of_a_program(tmp_path):
    script, store = tmp_path / "train.py", tmp_path / "store"
    timed = (
        "timed(x: ~float32[]):",
        "  is traced each time: E-IMPURE: it reads `time` (global time), which may give "
        "something else in a",
        "  new process; call it outside, and pass the result as an argument; if it is the "
        "same everywhere,",
        "  declare it with imprint.cache.assume_pure",
    )
    then = "; the next process starts warm"
    script.write_text(SCRIPT)
    assert why(script, store) == [
        f"f(x: float32[3]): was traced: nothing of it is on the disk{then}",
        f"f(x: float32[4]): was traced: x was float32[3], is float32[4]{then}",
        *timed,
    ]
    assert why(script, store) == [
        "f(x: float32[3]): started warm",
        "f(x: float32[4]): started warm",
        *timed,
    ]
    script.write_text(SCRIPT.replace("0.1", "0.2"))
    changed = f"was traced: global RATE in __main__ was 0.1, is 0.2{then}"
    assert why(script, store) == [
        f"f(x: float32[3]): {changed}",
        f"f(x: float32[4]): {changed}",
        *timed,
    ]
    script.write_text("print('nothing')")
    assert why(script, store) == ["nothing was compiled"]
