"""Declarations of facts that no trace can observe: pure functions, and files."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import imprint
from imprint._src.config import audit
from imprint._src.jit.manifest.not_cacheable import DECLARED, local_declarations
from imprint.errors import ArgumentError, StaleVersionError
from tests.spec import reborn

ROOT = Path(__file__).resolve().parents[2]
X = np.ones(3, np.float32)
HEAD = """
import colorsys, ctypes, functools, os, time
import numpy
import imprint

cos = ctypes.CDLL(None).abs

def clock():
    return time.time() * 0 + 1

def word(path):
    with open(path) as file:
        return float(file.read())
"""


@pytest.fixture(autouse=True)
def _nothing_declared():
    with local_declarations():
        yield


@pytest.fixture
def life(tmp_path, imprint_store):
    """Return a function that begins a life with declarations and a term of its function."""

    def begin(adds, says=""):
        for each in DECLARED:
            each.clear()
        text = f"{HEAD}\n{says}\n@imprint.jit\ndef f(x):\n    return x + {adds}\n"
        return reborn.begin({"main": text}, tmp_path).main.f

    return begin


def why(fun):
    return imprint.cache.why(fun, X).disk


# ---- assume_pure ----

PURE = {
    "function": ("time.time() * 0", "imprint.cache.assume_pure(time.time)"),
    "by name": ("time.time() * 0", "imprint.cache.assume_pure('time.time')"),
    "module": ("time.time() * 0", "imprint.cache.assume_pure(time)"),
    "another's": ("os.getpid() * 0", "imprint.cache.assume_pure('os')"),
    "C": ("cos(-3)", "imprint.cache.assume_pure(cos)"),
    "helper": ("clock()", "imprint.cache.assume_pure(time.time)"),
}


@pytest.mark.parametrize("name", PURE)
def test_a_program_of_functions_assumed_pure_is_stored(life, name):
    adds, says = PURE[name]
    first, count = reborn.traces(life(adds), X)
    assert count == 1
    for expected in (1, 0):
        fun = life(adds, says)
        again, count = reborn.traces(fun, X)
        assert count == expected, fun.versions[0].restarts
        np.testing.assert_array_equal(first, again)
    assert fun.versions[0].restarts == "without a trace"
    fun = life(adds)
    assert why(fun).endswith(" changed.")
    assert reborn.traces(fun, X)[1] == 1  # nothing assumes it any more


@pytest.mark.unaudited
def test_an_audit_finds_a_wrong_assume_pure(life):
    says = "imprint.cache.assume_pure(time.perf_counter)"
    life("time.perf_counter() % 1", says)(X)
    with audit(1.0), pytest.raises(StaleVersionError) as raised:
        life("time.perf_counter() % 1", says)(X)
    assert (
        "It was assumed of time.perf_counter that it reads its arguments alone: if that is not "
        "so, leave out assume_pure."
    ) in str(raised.value)


# ---- depends_on ----


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("2.0")
    return path


def test_a_manifest_depends_on_a_declared_file(life, table, imprint_store):
    pure, path = "imprint.cache.assume_pure(open)", repr(str(table))
    adds = f"word(imprint.cache.depends_on({path}))"
    for traces in (1, 0):
        result, count = reborn.traces(life(adds, pure), X)
        assert (count, float(result[0])) == (traces, 3.0)
    assert why(life(adds, pure)) == "the disk has its program."
    before = table.stat()
    table.write_text("4.0")
    os.utime(table, ns=(before.st_atime_ns, before.st_mtime_ns))
    fun = life(adds, pure)
    assert why(fun) == f"The disk does not answer it: the file {table} changed."
    for traces in (1, 0):
        result, count = reborn.traces(life(adds, pure), X)
        assert (count, float(result[0])) == (traces, 5.0)
    table.unlink()
    assert why(life(adds, pure)).endswith(f"the file {table} changed.")


def test_a_file_declared_later_causes_a_trace(life, table):
    says = f"imprint.cache.depends_on({str(table)!r})"
    life("1")(X)
    assert reborn.traces(life("1", says), X)[1] == 1
    assert reborn.traces(life("1", says), X)[1] == 0
    assert reborn.traces(life("1"), X)[1] == 0
    table.write_text("3.0")
    assert reborn.traces(life("1", says), X)[1] == 1


def test_a_file_written_during_the_process_is_named(life, table):
    says = f"""
imprint.cache.assume_pure(open)
def turned():
    imprint.cache.depends_on({str(table)!r})
    with open({str(table)!r}, "a") as file:
        file.write("1")
    return 1
"""
    fun = life("turned()", says)
    fun(X)
    assert (
        f"the file {table}, which was written while it was" in fun.versions[0].restarts
    )


def test_a_manifest_depends_on_a_declared_value(life):
    def begin(value):
        return life("1", f"imprint.cache.depends_on(value={value})")

    begin("(1, 2)")(X)
    assert reborn.traces(begin("(1, 2)"), X)[1] == 0
    text = "the value that depends_on was given was (1, 2), is (1, 3)"
    assert why(begin("(1, 3)")) == f"The disk does not answer it: {text}."
    assert why(life("1")).endswith("the value that depends_on was given changed.")
    assert reborn.traces(begin("(1, 3)"), X)[1] == 1


# ---- between processes ----

PROGRAM = """
import sys, time
import imprint
import imprint.numpy as np
imprint.cache.assume_pure(open)
path = imprint.cache.depends_on(sys.argv[1])

def table():
    with open(path) as file:
        return float(file.read())

@imprint.jit
def f(x):
    return x * table()

print(f(np.ones(2))[0], imprint.debug.counters().traces)
"""


@pytest.mark.slow
def test_processes_compare_declared_files(tmp_path, table):
    environment = {"IMPRINT_CACHE": "write", "IMPRINT_CACHE_DIR": str(tmp_path / "s")}
    program = tmp_path / "main.py"
    program.write_text(PROGRAM)

    def run():
        return subprocess.run(
            [sys.executable, "-W", "error", str(program), str(table)],
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    assert (run(), run()) == ("2.0 1\n", "2.0 0\n")
    table.write_text("7.0")
    assert (run(), run()) == ("7.0 1\n", "7.0 0\n")


# ---- refused declarations ----


def helper(x):
    return x


@pytest.mark.parametrize(
    ("what", "text"),
    [
        (
            3,
            "cache.assume_pure: expected a function, a class or a module of a library, or "
            "its name, got 3, which is none of them.",
        ),
        (
            "tiem.time",
            "cache.assume_pure: expected a function, a class or a module of a library, or "
            "its name, got 'tiem.time': No module named 'tiem'.",
        ),
        (
            helper,
            "cache.assume_pure: expected a function, a class or a module of a library, or "
            f"its name, got {helper!r}, whose reads are heard. Say it of what it calls: "
            "cache.assume_pure(open).",
        ),
    ],
    ids=["number", "name", "user"],
)
def test_assume_pure_refuses_other_values(what, text):
    with pytest.raises(ArgumentError) as raised:
        imprint.cache.assume_pure(what)
    assert str(raised.value) == text


def test_depends_on_refuses_unreadable_files_and_values(tmp_path):
    with pytest.raises(ArgumentError) as raised:
        imprint.cache.depends_on(tmp_path / "none")
    assert str(raised.value) == (
        "cache.depends_on: expected the path of a file that can be read, got "
        f"{tmp_path / 'none'!r}: [Errno 2] No such file or directory: "
        f"'{tmp_path / 'none'}'. A value is given by its name: depends_on(value=...)."
    )
    with pytest.raises(ArgumentError) as raised:
        imprint.cache.depends_on(value=iter([1]))
    assert str(raised.value).startswith(
        "cache.depends_on: expected a value of numbers, texts and arrays, which another "
        "process can compare, got <list_iterator object at "
    )
    with pytest.raises(ArgumentError) as raised:
        imprint.jit(lambda x: imprint.cache.depends_on(value=1))(X)
    assert str(raised.value) == (
        "cache.depends_on: expected a value before the function is traced, got 1 in a "
        "trace, which another process leaves out. Give it where the function is defined."
    )
