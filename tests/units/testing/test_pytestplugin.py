"""The pytest plugin, in test runs of its own: in this process, in others, under xdist."""

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import imprint
from imprint._src.config import traceback_filtering
from imprint._src.jit.versions.version import OBSERVERS

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[3]
INSTALLED = importlib.metadata.entry_points(group="pytest11", name="imprint")
# Where imprint is installed pytest finds the plugin by itself.
PLUGIN = () if INSTALLED else ("-p", "pytest_imprint")
OPTIONS = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--strict-markers")

TOTAL = """
import imprint
import imprint.numpy as np
import pytest

@imprint.jit
def total(x):
    return x.sum()

"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Give a function that runs a test file, whose lines follow those of `TOTAL`."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    imprint.clear_caches()

    def run_file(text, *options):
        pytester.makepyfile(TOTAL + text)
        result = pytester.runpytest(*OPTIONS, *PLUGIN, *options)
        assert not OBSERVERS
        return result

    return run_file


def lines_of(result):
    """Return the lines of the report; `S` stands for seconds."""
    text = "\n".join(result.outlines)
    found = re.search(r"=+ imprint: compiles per test =+\n(.*?)\n+=", text, re.DOTALL)
    return re.sub(r" *\b\d+\.\d+", " S", found[1]).split("\n")


# ---- tracebacks ----


FAILING = """
@imprint.jit
def inner(x):
    return np.dot(x, np.ones(7))  # inner line

@imprint.jit
def outer(x):
    return inner(x) + 1  # outer line

@imprint.filter_jit
def mine(x):
    raise KeyError("mine")  # inner line

class Model(imprint.Module):
    weight: object

    @imprint.filter_jit
    def __call__(self, x):
        return self.weight @ x  # inner line

def wrong_argument(x):
    imprint.jit(abs)("text")  # inner line

def wrong_shape(x):
    np.reshape(x, (4, 4))  # inner line

def from_another(x):
    try:
        outer(x)
    except TypeError as err:
        raise RuntimeError("later") from err  # inner line

CALLS = {
    "called": lambda x: outer(x),
    "raised": mine,
    "model": lambda x: Model(np.ones((2, 5)))(x),
    "gradient": lambda x: imprint.grad(lambda x: outer(x).sum())(x),
    "mapped": lambda x: imprint.vmap(mine)(x),
    "lowered": lambda x: outer.lower(x),
    "shape": lambda x: imprint.eval_shape(mine, x),
    "jaxpr": lambda x: imprint.make_jaxpr(mine)(x),
    "argument": wrong_argument,
    "eager": wrong_shape,
    "chained": from_another,
}

@pytest.mark.parametrize("name", CALLS)
def test_failing(name):
    CALLS[name](np.ones(3))  # the line of the test
"""


@pytest.mark.parametrize("style", ["long", "short", "native"])
def test_a_failure_shows_only_user_code(run, style):
    result = run(FAILING, f"--tb={style}")
    result.assert_outcomes(failed=11)
    text = "\n".join(result.outlines)
    failures = text[: text.index("short test summary")].split("_ test_failing[")[1:]
    assert len(failures) == 11
    for failure in failures:
        assert "# the line of the test" in failure
        assert "# inner line" in failure
        assert not re.search(r"\bimprint/\w+/\w+\.py", failure), failure


def test_a_full_trace_shows_all_lines(run):
    result = run(FAILING, "--full-trace", "-k", "called")
    assert "_src/jit/dispatch.py" in "\n".join(result.outlines)


def test_a_failure_of_imprint_itself_keeps_its_lines(run):
    text = """
def test_failing(monkeypatch):
    monkeypatch.setattr("imprint._src.jit.compile_version.lower_traced", None)
    total(np.ones(3))
"""
    result = run(text, "--tb=short")
    assert "_src/jit/dispatch.py" in "\n".join(result.outlines)


def test_a_failure_shows_all_lines_under_the_flag(run):
    with traceback_filtering(False):
        result = run(FAILING, "--tb=short", "-k", "called")
    assert "_src/jit/dispatch.py" in "\n".join(result.outlines)


# ---- the marker ----


def test_marker_limits_the_call_of_a_test(run):
    result = run(
        """
@pytest.fixture
def warm():
    return total(np.ones(2))

@pytest.mark.max_compiles(0)
def test_warm(warm):
    total(np.ones(2))

@pytest.mark.max_compiles(n=1)
def test_cold(warm):
    total(np.ones(3))
    total(np.ones(4))
"""
    )
    result.assert_outcomes(passed=1, failed=1)
    error = [line[8:] for line in result.outlines if line.startswith("E   ")]
    name = "test_marker_limits_the_call_of_a_test.py"
    assert error == [
        "imprint.errors.RecompileError: pytest.mark.max_compiles(1): expected at most 1 "
        f"compile in the call of test_cold, got one more. total at {name}:21 compiles: "
        "it differs from version 1 in x.shape[0]: 3 → 4. Pad axis 0 of x to a multiple "
        "of 2. Or name it: `abstracted_axes={'x': {0: 'n'}}`.",
        f"  Compiled there before: total at {name}:20.",
        "  Make such a call before, or allow it: pytest.mark.max_compiles(2).",
    ]


def test_the_closest_marker_applies(run):
    result = run(
        """
pytestmark = pytest.mark.max_compiles(0)

def test_of_the_module():
    with pytest.raises(imprint.errors.RecompileError):
        total(np.ones(1))

@pytest.mark.max_compiles(1)
class TestClass:
    def test_of_the_class(self):
        total(np.ones(2))
        with pytest.raises(imprint.errors.RecompileError):
            total(np.ones(3))

    @pytest.mark.max_compiles(2)
    def test_of_the_function(self):
        total(np.ones(4))
        total(np.ones(5))
"""
    )
    result.assert_outcomes(passed=3)


def test_a_thread_of_the_test_fails_it(run):
    result = run(
        """
import threading

@pytest.mark.max_compiles(0)
def test_thread():
    def work():
        with pytest.raises(imprint.errors.RecompileError):
            total(np.ones(2))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""
    )
    result.assert_outcomes(failed=1)


@pytest.mark.parametrize(
    "given", ["", "-1", "True", "1.0", "'one'", "1, 2", "most=1", "1, of=2"]
)
def test_a_bad_marker_is_refused_before_a_test_runs(run, given):
    result = run(f"@pytest.mark.max_compiles({given})\ndef test_it():\n    pass\n")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    name = "test_a_bad_marker_is_refused_before_a_test_runs.py"
    assert (
        f"{name}::test_it: expected @pytest.mark.max_compiles(n) with the number of "
        "compiles to allow, an integer of at least 0, got "
        f"@pytest.mark.max_compiles({given}). Write @pytest.mark.max_compiles(1) for a "
        "test that compiles one version."
    ) in result.outlines


@pytest.mark.slow
def test_a_bad_marker_is_refused_under_xdist(run):
    text = "@pytest.mark.max_compiles(-1)\ndef test_it():\n    pass\n"
    result = run(text, "-n", "2")
    result.assert_outcomes(errors=1)
    assert "got @pytest.mark.max_compiles(-1)" in "\n".join(result.outlines)


def test_marker_is_documented(run):
    result = run("", "--markers")
    assert result.outlines[0] == (
        "@pytest.mark.max_compiles(n): the call of the test, without its fixtures, may "
        "make at most n new versions of functions jitted by imprint, in all threads"
    )


# ---- the fixture ----


def test_fixture_gives_the_block(run):
    result = run(
        """
def test_it(max_compiles):
    with max_compiles(2) as made:
        total(np.ones(2))
    assert made.count == 1
    with pytest.raises(imprint.errors.RecompileError), max_compiles(0):
        total(np.ones(3))
"""
    )
    result.assert_outcomes(passed=1)


# ---- the report ----

REPORTED = """
@pytest.fixture(scope="module")
def warm():
    total(np.ones(2))

def test_first(warm):
    total(np.ones(2))

def test_three():
    for n in range(5, 8):
        np.sin(total(np.ones(n)))

def test_none():
    pass
"""


def test_report_lists_tests_by_seconds_with_reasons(run):
    result = run(REPORTED, "--imprint-compiles")
    result.assert_outcomes(passed=3)
    head, *rows, last = lines_of(result)
    name = "test_report_lists_tests_by_seconds_with_reasons.py"
    assert head == "compiles      trace s    lower s  compile s  test"
    assert last == "       4 S S S  in all"
    first = [f"       1 S S S  {name}::test_first"]
    three = [
        f"       3 S S S  {name}::test_three",
        *(
            f"          total at {name}:19 compiles: it differs from version {i} in "
            f"x.shape[0]: {old} → {old + step}. It took S s. Pad axis 0 of x to a "
            f"multiple of 2{advice}. Or name it: "
            "`abstracted_axes={'x': {0: 'n'}}`."
            for i, old, step, advice in [
                (0, 2, 3, ": `np.pad(x, [(0, 1)])`"),
                (1, 5, 1, ""),
                (2, 6, 1, ": `np.pad(x, [(0, 1)])`"),
            ]
        ),
    ]
    assert rows in (first + three, three + first)
    seconds = [
        sum(map(float, re.findall(r"\d+\.\d{3}\b", line)))
        for line in result.outlines
        if re.match(r" +\d .*::test", line)
    ]
    assert len(seconds) == 2
    assert seconds == sorted(seconds, reverse=True)


@pytest.mark.slow
def test_report_gathers_the_workers_of_xdist(run):
    result = run(REPORTED, "--imprint-compiles", "-n", "2")
    result.assert_outcomes(passed=3)
    rows = lines_of(result)
    counts = {row.split()[-1]: int(row.split()[0]) for row in rows if "::" in row}
    name = "test_report_gathers_the_workers_of_xdist.py"
    assert counts == {f"{name}::test_first": 1, f"{name}::test_three": 3}
    assert rows[-1] == "       4 S S S  in all"


@pytest.mark.slow
def test_report_shows_twenty_tests_or_all(run):
    text = """
@pytest.mark.parametrize("n", range(23))
def test_size(n):
    total(np.ones(n))
"""
    *_, rest, last = lines_of(run(text, "--imprint-compiles"))
    assert rest == "       3 S S S  3 more tests (-v)"
    assert last == "      23 S S S  in all"
    imprint.clear_caches()
    rows = lines_of(run(text, "--imprint-compiles", "-v"))
    assert len([row for row in rows if "::test_size" in row]) == 23


def test_report_of_a_run_without_compiles(run):
    result = run("def test_it():\n    pass\n", "--imprint-compiles")
    assert lines_of(result) == ["no test compiled a version"]


def test_no_report_unless_asked(run):
    result = run("def test_it():\n    total(np.ones(2))\n")
    result.assert_outcomes(passed=1)
    assert "imprint: compiles" not in "\n".join(result.outlines)


# ---- costs ----


@pytest.mark.slow
def test_a_run_without_imprint_does_not_import_it(tmp_path):
    test = tmp_path / "test_it.py"
    test.write_text(
        "import sys\n\ndef test_it():\n    assert 'imprint' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *OPTIONS, *PLUGIN, str(test)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_limits_and_checks_import_little():
    code = "import sys, imprint, imprint.testing; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    # The second costs 9 ms.
    assert not {"pytest", "numpy.random"} & {*done.stdout.split()}


# ---- the store ----


def test_the_store_is_off_in_tests_and_in_their_processes(run, monkeypatch):
    monkeypatch.delenv("IMPRINT_CACHE")
    result = run(
        """
import os, subprocess, sys

def test_off():
    total(np.ones(3))
    assert total.versions[0].stored == "not stored: the store is off"
    shown = subprocess.run(
        [sys.executable, "-c", "import os; print(os.environ['IMPRINT_CACHE'])"],
        capture_output=True, text=True,
    )
    assert shown.stdout == "off\\n"
"""
    )
    result.assert_outcomes(passed=1)
    assert "IMPRINT_CACHE" not in os.environ


def test_store_settings_of_the_environment_apply(run, monkeypatch):
    monkeypatch.setenv("IMPRINT_CACHE", "read")
    result = run(
        "def test_it(): assert __import__('os').environ['IMPRINT_CACHE']=='read'"
    )
    result.assert_outcomes(passed=1)
    assert os.environ["IMPRINT_CACHE"] == "read"


def test_a_test_may_have_an_empty_store(run):
    result = run(
        """
def test_loads(imprint_store):
    total(np.ones(3))
    assert total.versions[0].origin == "compiled"
    assert any(imprint_store.rglob("*"))
    imprint.clear_caches()
    total(np.ones(3))
    assert total.versions[0].origin == "disk"

def test_another_has_another(imprint_store):
    assert not imprint_store.exists()
    total(np.ones(3))
    assert total.versions[0].origin == "compiled"
"""
    )
    result.assert_outcomes(passed=2)
