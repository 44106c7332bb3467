"""`imprint compare`: a JAX program on JAX and on imprint."""

import json
from pathlib import Path

import numpy as np
import pytest

from imprint._src.as_jax.compare import Run, compare, differences, is_alike, table

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_with_jax.py"
PROGRAM = """\
import sys
import jax, jax.numpy as jnp
import numpy as np

def loss(w):
    return ((w - 3.0) ** 2).sum()

w = jnp.zeros(3)
for _ in range(5):
    w = w - 0.1 * jax.jit(lambda w: jax.grad(loss)(w))(w)
print("loss", loss(w), sys.argv[1:])
np.save("w.npy", w)
"""


def a_run(*, status=0, output="", errors="", arrays=(), **figures):
    figures = {"wall": 1.0, "status": status, **figures}
    return Run(figures, output, errors, dict(arrays))


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        ("loss 1.25", "loss 1.250001", True),
        ("loss 1.25", "loss 1.26", False),
        ("loss 1.25", "cost 1.25", False),
        ("[1 2]  x", "[1 2] x", True),
        ("nan inf", "nan inf", True),
        ("1e-3", "0.001", True),
        (None, "", False),
    ],
)
def test_lines_agree_up_to_the_last_digits(a, b, alike):
    assert is_alike(a, b) is alike


def test_each_run_that_differs_has_a_sentence():
    runs = {
        ("jax", "cold"): a_run(output="a\nb", arrays=[("w.npy", np.ones(2))]),
        ("jax", "warm"): a_run(output="a", arrays=[("w.npy", np.ones(2))]),
        ("imprint", "cold"): a_run(
            status=1, output="a\nb", errors="Traceback\nValueError: no"
        ),
        ("imprint", "warm"): a_run(output="a\nb", arrays=[("w.npy", np.ones(2) * 2)]),
    }
    assert [*differences(runs)] == [
        "jax warm: line 2 of the output is None, not 'b'",
        "imprint cold: exit status 1: ValueError: no",
        "imprint cold: w.npy was saved by one run only",
        "imprint warm: w.npy differs by up to 1",
    ]


def test_the_table_names_functions_that_only_jax_recompiled():
    runs = {
        ("jax", "cold"): a_run(functions={"step": 30, "once": 1}),
        ("imprint", "cold"): a_run(functions={"step": 2}),
    }
    text = "\n".join(table(runs))
    assert "cold: imprint takes 1.00 of JAX's time" in text
    assert "JAX compiled `step` 30 times, imprint 2" in text
    assert "once" not in text.partition("JAX compiled")[2]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_program_is_run_on_both_cold_and_warm(tmp_path, monkeypatch, capsys):
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    assert compare([str(script), "--fast"], json_file="out.json") == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "Output and saved arrays agree."
    assert "JAX compiled `<lambda>` 5 times, imprint 1" in out
    runs = json.loads((tmp_path / "out.json").read_text())["runs"]
    assert runs["imprint warm"]["traces"] == runs["imprint warm"]["compiles"] == 0
    assert runs["imprint cold"]["compiles"] < runs["jax cold"]["compiles"]
    assert runs["jax warm"]["loads"] > 0


@pytest.mark.slow
@pytest.mark.exhaustive
def test_the_second_process_traces_nothing_of_an_equinox_program(capsys):
    assert compare([str(EXAMPLE)], json_file="-") == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert runs["imprint cold"]["traces"] > 0
    assert runs["imprint warm"]["traces"] == runs["imprint warm"]["compiles"] == 0


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_program_that_fails_is_reported(tmp_path, monkeypatch, capsys):
    script = tmp_path / "train.py"
    script.write_text("import jax\nraise ValueError('no data')\n")
    monkeypatch.chdir(tmp_path)
    assert compare([str(script)]) == 1
    assert "imprint cold: exit status 1: ValueError: no data" in capsys.readouterr().out
