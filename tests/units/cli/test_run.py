"""`imprint run`: the table, the JSON, the exit status."""

import json
import os
import re
import subprocess
import sys
from functools import partial

import pytest

import imprint as package
import imprint.numpy as np
from imprint._src.cli.compile_log import CompileLog
from imprint._src.cli.run import split_words
from imprint._src.jit.versions.version import OBSERVERS
from imprint.cli import main
from tests.units.cli.programs import COMMAND, ENVIRONMENT, ROOT, imprint, write

TRAIN = """
    import imprint
    import imprint.numpy as np

    @imprint.jit(static_argnames="n")
    def step(batch, n=2):
        for _ in range(40):
            batch = {"mask": np.sin(batch["mask"]) + 1}
        return batch["mask"].sum() * n

    for length in (128, 131, 131, 140):
        step({"mask": np.ones((4, length))})
    step({"mask": np.ones((4, 128))}, n=3)

    def shifted(i):
        return imprint.jit(lambda x: x + i)

    for i in (0, 1, 0, 1, 0):
        shifted(i)(1.0)
"""

PAGE = ROOT / "docs" / "how-to" / "find-recompiles.md"
FENCES = re.findall(
    r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
)
SECONDS = re.compile(r"\d+\.\d{3}|\d\.\d\d(?= s to)")


@pytest.fixture
def train(tmp_path):
    return write(tmp_path / "train.py", TRAIN)


@pytest.mark.slow
def test_the_table_is_that_of_the_page(tmp_path):
    (_, program), (_, command), (_, table) = FENCES[:3]
    write(tmp_path / "train.py", program)
    done = imprint(*command.split()[1:], cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout == ""
    assert SECONDS.sub("#", done.stderr) == SECONDS.sub("#", table)


@pytest.mark.slow
def test_json_on_the_output_is_its_last_line(train, tmp_path):
    train.write_text(train.read_text() + "\nprint('the program speaks')\n")
    done = imprint("run", "--json", "train.py", "--json", "x", cwd=tmp_path)
    said, last = done.stdout.splitlines()
    assert said == "the program speaks"
    data = json.loads(last)
    assert data.pop("imprint") == package.__version__
    assert data.pop("program") == ["train.py", "--json", "x"]
    assert data.pop("status") == 0
    step, shifted = data.pop("functions")
    assert not data
    assert step["function"] == "step"
    assert step["defined"] == f"{train}:5"
    assert (step["versions"], step["recompiles"], step["hits"]) == (4, 3, 1)
    assert (shifted["versions"], shifted["recompiles"], shifted["hits"]) == (2, 1, 3)
    assert [miss["reason"] for miss in step["misses"]] == [
        "first call",
        "batch['mask'].shape[1]: 128 → 131",
        "batch['mask'].shape[1]: 131 → 140",
        "static n: 2 → 3",
    ]
    first = step["misses"][0]
    costs = [first["trace_s"], first["lower_s"], first["compile_s"]]
    assert min(costs) > 0
    assert sum(costs) == pytest.approx(first["seconds"])
    for name in ("trace_s", "lower_s", "compile_s"):
        assert step[name] == pytest.approx(sum(m[name] for m in step["misses"]))
    (difference,) = step["misses"][3]["differences"]
    assert (difference["slot"], difference["old"], difference["new"]) == (
        *("static n", "2", "3"),
    )


@pytest.mark.slow
def test_json_in_a_file_and_too_many_recompiles(train, tmp_path):
    words = ("run", "--fail-on-recompile", "1", "--json=report.json", "train.py")
    done = imprint(*words, cwd=tmp_path)
    assert done.returncode == 3
    assert not done.stdout
    assert done.stderr.endswith(
        "imprint run: expected at most 1 recompile of each function "
        "(--fail-on-recompile), got 3 of step (train.py:5). The table says why, and "
        "what to do.\n"
    )
    data = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert data["status"] == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "program", "status"),
    [(3, "", 0), (2, "", 3), (0, "import sys; sys.exit(9)", 9), (0, "1/0", 1)],
)
def test_the_status_is_the_programs_unless_that_is_0(limit, program, status, tmp_path):
    script = """
        import imprint
        f = imprint.jit(lambda x: x + 1)
        for x in (1, 1.0, True, 1j):
            f(x)
    """
    path = write(tmp_path / "script.py", script)
    path.write_text(path.read_text() + program)
    done = imprint("run", f"--fail-on-recompile={limit}", "script.py", cwd=tmp_path)
    assert done.returncode == status
    assert ("got 3 of <lambda> (script.py:3)" in done.stderr) == (limit < 3)


@pytest.mark.slow
def test_calls_of_dropped_versions_are_counted(tmp_path):
    script = """
        import warnings
        import imprint
        warnings.simplefilter("ignore")

        @imprint.jit(max_versions=1)
        def small(x):
            return x + 1

        for x in (1, 1, 1, 1.0, 1.0, 1, 1):
            small(x)

        @imprint.jit
        def wrong(x):
            raise ValueError("no version is made")

        try:
            wrong(1)
        except ValueError:
            pass
    """
    write(tmp_path / "script.py", script)
    done = imprint("run", "--json", "script.py", cwd=tmp_path)
    (row,) = json.loads(done.stdout)["functions"]
    assert (row["versions"], row["hits"]) == (3, 4)
    assert row["misses"][2]["reason"] == (
        "the version for this call was dropped by max_versions=1"
    )


@pytest.mark.slow
def test_functions_of_imprint_are_listed_and_not_limited(tmp_path):
    script = """
        from imprint import random
        for shape in (3, 4, 5):  # more than are computed without a program
            random.uniform(random.key(0), (1000 * shape, 1000))
    """
    write(tmp_path / "script.py", script)
    words = ("run", "--json", "--fail-on-recompile", "0", "script.py")
    done = imprint(*words, cwd=tmp_path)
    assert done.returncode == 0
    functions = json.loads(done.stdout)["functions"]
    assert all(f["library"] for f in functions)
    (most,) = (f for f in functions if f["recompiles"] == 2)
    assert most["misses"][2]["differences"]
    assert f"  {most['function']} (imprint's own)\n" in done.stderr
    assert len(done.stderr.splitlines()) == 3 + len(functions)


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ((), 0),
        (("x.py", "--json"), 0),
        (("--json", "x.py", "--json"), 1),
        (("--json=a.json", "--fail-on-recompile", "2", "x.py"), 3),
        (("--fail-on-recompile=2", "-m", "module", "-m"), 1),
    ],
)
def test_arguments_after_the_program_are_its_own(words, own):
    assert split_words(words) == (list(words[:own]), list(words[own:]))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "expected a script, or -m and a module"),
        (["-m"], "expected a module after -m"),
        (["no.py"], "expected a script, got 'no.py', which is no file"),
        (
            ["--json", "a.json", "x.py"],
            "expected a script, got 'a.json'; for a report, write --json=a.json",
        ),
        (
            ["--json=no/a.json", os.__file__],
            "expected --json=FILE in a directory that exists, got 'no/a.json'",
        ),
        (
            ["--fail-on-recompile", "-1", "x.py"],
            "argument --fail-on-recompile: expected 0 or more, got -1",
        ),
    ],
)
def test_wrong_usage_runs_nothing(words, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["run", *words])
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith(f"imprint run: error: {message}\n")


@pytest.mark.slow
def test_the_table_has_compiles_of_threads_that_outlive_the_program(tmp_path):
    script = """
        import threading, time
        import imprint

        def late():
            time.sleep(0.05)
            imprint.jit(lambda x: x + 1)(1.0)

        threading.Thread(target=late).start()
        raise SystemExit(4)
    """
    write(tmp_path / "script.py", script)
    done = imprint("run", "--json", "script.py", cwd=tmp_path)
    assert done.returncode == 4
    assert [f["versions"] for f in json.loads(done.stdout)["functions"]] == [1]


@pytest.mark.slow
def test_the_table_follows_the_output_of_the_program(tmp_path):
    write(tmp_path / "script.py", "print('text')")
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "run", "script.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
    )
    assert done.stdout == "text\n\nimprint run: no jitted function was compiled.\n"


def test_no_observer_is_left_after_a_run(tmp_path, monkeypatch):
    for name in ("argv", "path"):
        monkeypatch.setattr(sys, name, getattr(sys, name)[:])
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    script = write(tmp_path / "script.py", "import imprint")
    before = OBSERVERS[:]
    assert main(["run", str(script)]) == 0
    assert before == OBSERVERS


@pytest.mark.slow
def test_a_program_that_leaves_its_directory_and_closes_the_streams_is_reported(
    tmp_path,
):
    write(tmp_path / "x.py", "import os, sys; os.chdir('/'); sys.stderr.close()")
    done = imprint("run", "--json=report.json", "x.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "report.json").read_text())["status"] == 0


def test_functions_of_two_places_are_two_rows_and_those_of_a_loop_one():
    def loss(x, by=1.0):
        return x * x * by

    log = CompileLog()
    OBSERVERS.append(log)
    try:
        slope = package.jit(package.grad(loss))
        value = package.jit(package.vmap(loss))
        slope(1.0), value(np.ones(2)), value(np.ones(3))
        pair = package.jit(partial(loss, by=2.0)), package.jit(partial(loss, by=3.0))
        for each in pair:
            each(1.0)
        for by in (4.0, 5.0, 6.0):
            package.jit(lambda x, by=by: loss(x, by))(1.0)
    finally:
        OBSERVERS.remove(log)
    rows = sorted(log.rows(), key=lambda row: str(row.jitted_at))
    found = [(row.function, row.versions, row.recompiles) for row in rows]
    assert sorted(found) == [
        ("<lambda>", 3, 2),
        *[("loss", 1, 0)] * 3,
        ("loss", 2, 1),
    ]


@pytest.mark.slow
def test_a_program_that_replaces_the_streams_is_reported(tmp_path):
    write(tmp_path / "x.py", "import sys; sys.stdout = sys.stderr = None")
    done = imprint("run", "--json", "x.py", cwd=tmp_path)
    assert done.stderr == "\nimprint run: no jitted function was compiled.\n"
    assert json.loads(done.stdout)["functions"] == []
