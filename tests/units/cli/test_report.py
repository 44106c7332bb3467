"""The table of `imprint run`: with rich on a terminal, as plain text elsewhere."""

import io
import sys
from dataclasses import replace

import pytest

import imprint
from imprint._src.cli.compile_log import CompileLog, Miss, Row
from imprint._src.cli.report import print_report
from imprint._src.diagnostics.source import Source
from imprint._src.jit.explain.explanation import Comparison, Difference, Explanation
from imprint._src.jit.versions.version import VersionCosts


class Terminal(io.StringIO):
    def isatty(self):
        return True


def a_miss(seconds, *differences):
    why = Explanation("f", False, 1, Comparison(None, differences), defined="/x/a.py:3")
    return Miss(why, VersionCosts(0.0, 0.0, seconds))


def a_row(count):
    remedy = "Pass [n] as an array."
    change = [
        Difference("static", "n", f"[{i}]", f"[{i + 1}]", remedy) for i in range(count)
    ]
    misses = [a_miss(1.0), *(a_miss(0.001 * i, d) for i, d in enumerate(change))]
    return Row("f", "/x/a.py:3", misses)


PLAIN = """
imprint run: 1 function, 3 versions, 2 recompiles, 1.00 s to make them.
versions  hits  trace s  lower s  compile s  function, and why
       3     0    0.000    0.000      1.001  f (/x/a.py:3)
                  0.000    0.000      1.000    first call
                  0.000    0.000      0.000    n: [0] → [1]
                                                 Pass [n] as an array.
                  0.000    0.000      0.001    n: [1] → [2]
"""


def test_plain_text_without_a_terminal():
    stream = io.StringIO()
    print_report([a_row(2)], stream)
    assert stream.getvalue() == PLAIN


def test_functions_of_the_library_have_their_own_sum():
    own = Row("_uniform", f"{imprint.__path__[0]}/random/draw.py:3", [a_miss(2.0)])
    stream = io.StringIO()
    print_report([own, a_row(2)], stream)
    _, summary, _, row, *_ = stream.getvalue().splitlines()
    assert summary == (
        "imprint run: 1 function, 3 versions, 2 recompiles, 1.00 s to make them. "
        "Of imprint's own: 1 function, 1 version, 2.00 s."
    )
    assert row.endswith("  _uniform (imprint's own)")


def test_the_functions_that_took_longest_come_first():
    ledger = CompileLog()
    for function, seconds in [("quick", 0.1), ("slow", 0.3), ("often", 0.1)]:
        why = replace(a_miss(seconds).why, function=function)
        ledger.compiled(why, VersionCosts(seconds, 0.0, 0.0))
    ledger.compiled(replace(why, seconds=0.1), VersionCosts(0.1, 0.0, 0.0))
    assert [row.function for row in ledger.rows()] == ["slow", "often", "quick"]


def test_a_first_call_of_another_function_of_the_line_is_no_recompile():
    row = Row("<lambda>", "/x/a.py:3", [a_miss(1.0) for _ in range(3)])
    assert (row.versions, row.recompiles) == (3, 0)
    stream = io.StringIO()
    print_report([row], stream)
    assert "1 function, 3 versions, 0 recompiles" in stream.getvalue()


def test_a_redundant_recompile_is_marked_and_counted():
    row = a_row(3)
    for i in (1, 3):
        why = replace(row.misses[i].why, is_needless=True)
        row.misses[i] = row.misses[i]._replace(why=why)
    stream = io.StringIO()
    print_report([row], stream)
    assert "4 versions, 3 recompiles (2 needless), 1.0" in stream.getvalue()
    assert stream.getvalue().count("→") == 3
    assert stream.getvalue().count("], needless: it is the same program\n") == 2
    assert row.as_dict()["needless"] == 2
    assert [m["needless"] for m in row.as_dict()["misses"]] == [
        False,
        True,
        False,
        True,
    ]


def test_an_unrolled_loop_is_reported_once_below_its_misses():
    row = a_row(2)
    advice = "100 equal blocks of 40 equations from a Python loop at a.py:4."
    for i, miss in enumerate(row.misses):
        row.misses[i] = miss._replace(why=replace(miss.why, advice=advice))
    stream = io.StringIO()
    print_report([row], stream)
    lines = stream.getvalue().splitlines()
    first = next(i for i, line in enumerate(lines) if line.endswith("  first call"))
    assert lines[first + 1].strip() == advice
    assert stream.getvalue().count(advice) == 1
    assert row.as_dict()["misses"][0]["advice"] == advice


def test_plain_text_without_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    stream = Terminal()
    print_report([a_row(2)], stream)
    assert stream.getvalue() == PLAIN


def test_rich_draws_the_same_on_a_terminal(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    print_report([a_row(2)], stream)
    drawn = [line.split() for line in stream.getvalue().splitlines()]
    assert drawn == [line.split() for line in PLAIN.splitlines()]


def test_the_longest_of_many_misses_are_shown():
    stream = io.StringIO()
    print_report([a_row(100)], stream)
    lines = stream.getvalue().splitlines()
    assert "first call" in lines[4]
    assert [line.split()[-3:] for line in lines[5:-1] if "Pass" not in line] == [
        [f"[{i}]", "→", f"[{i + 1}]"] for i in range(89, 100)
    ]
    assert lines[-1].strip() == "and 89 more, which took less; --json lists all"


LOADED = """
imprint run: 2 functions, 3 versions (1 loaded from the disk), 0 recompiles, 1.75 s to make them.
versions  hits  trace s  lower s  compile s  load s  function, and why
       2     0    0.000    0.000      1.000   0.250  f (/x/a.py:3), jitted at /x/a.py:1
                  0.000    0.000      1.000   0.000    first call
                  0.000    0.000      0.000   0.250    n: [0] → [1], loaded from the disk
       1     0    0.000    0.000      0.500   0.000  f (/x/a.py:3), jitted at /x/a.py:2
                  0.000    0.000      0.500   0.000    first call, its program was in memory
"""


def test_the_origin_of_each_version_and_the_place_of_like_functions():
    code = compile("x = 1\ny = 2", "/x/a.py", "exec")
    first, second = (Source(code, at) for at in (2, len(code.co_code) - 6))
    assert (first.line, second.line) == (1, 2)
    change = Difference("static", "n", "[0]", "[1]", "Pass [n] as an array.")
    log = CompileLog()
    for seconds, at, origin, *differences in (
        (1.0, first, "compiled"),
        (0.25, first, "disk", change),
        (0.5, second, "memory", change),  # from another function: no recompile
    ):
        why = a_miss(seconds, *differences).why
        why = replace(why, jitted_at=at, origin=origin)
        log.compiled(why, VersionCosts(0.0, 0.0, seconds))
    stream = io.StringIO()
    print_report(log.rows(), stream)
    assert stream.getvalue() == LOADED
    row, other = (row.as_dict() for row in log.rows())
    assert (row["jitted"], row["versions"], row["loaded"]) == ("/x/a.py:1", 2, 1)
    assert (row["compile_s"], row["load_s"], row["recompiles"]) == (1.0, 0.25, 0)
    assert [miss["origin"] for miss in row["misses"]] == ["compiled", "disk"]
    assert (other["recompiles"], other["misses"][0]["differences"]) == (0, [])
