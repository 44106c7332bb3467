import subprocess
import sys
from dataclasses import replace

import numpy
import pytest
from numpy.testing import assert_array_equal

import imprint
from examples.__main__ import main
from examples.demo import (
    CHAPTERS,
    PARTS,
    demo,
    digit_failures,
    show_digits,
    show_examples,
)
from examples.digits import DigitFigures, answer, learn_digits, logits, make_network
from examples.example import prints
from examples.performance import unrolled
from examples.programs import selu_of_random_numbers
from tests.meta.sources import ROOT
from tests.quick import as_for_users
from tests.tolerances import assert_close

EXAMPLES = [example for programs in CHAPTERS.values() for example in programs]
APART = {selu_of_random_numbers, unrolled}
"""Where XLA optimizes little, one has other digits, and one takes for ever.

The demo runs both, in a process that compiles as for users.
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "example",
    [example for example in EXAMPLES if example not in APART],
    ids=lambda e: e.fun.__name__,
)
def test_every_example_prints_the_expected_text(example):
    printed = example.run()
    assert example.accepts(printed), printed


@prints("2\n")
def right():
    """Add."""
    x = 1
    print(x + 1)


@prints("The 1st...lines")
def open_ended():
    """Print more than is said."""
    print("The 1st of\nthree\nlines")


@prints("3")
def wrong():
    """Add wrongly."""
    print(2)


@prints("")
def failing():
    """Raise."""
    print("so far")
    raise ValueError("no further")


def test_an_example_shows_its_body_and_its_first_line():
    assert right.heading == "Add."
    assert right.code == "x = 1\nprint(x + 1)"


@pytest.mark.parametrize(
    ("example", "printed", "passed"),
    [
        (right, "2", True),
        (open_ended, "The 1st of\nthree\nlines", True),
        (wrong, "2", False),
        (failing, "so far\nValueError: no further", False),
    ],
)
def test_an_example_is_compared_whole(example, printed, passed):
    assert example.run() == printed
    assert example.accepts(printed) is passed


def test_a_failed_example_is_shown_with_its_name_and_the_expected_text(capsys):
    assert list(show_examples({"One": (right, wrong)})) == ["Add wrongly."]
    shown = capsys.readouterr().out
    assert "[ok] Add.\n\n    x = 1\n    print(x + 1)\n\n  | 2\n" in shown
    assert (
        "[FAILED] Add wrongly.\n\n    print(2)\n\n  | 2\n\n  expected:\n  | 3" in shown
    )


@pytest.mark.slow
def test_a_short_training_compiles_once_and_draws(tmp_path):
    figures = learn_digits(60, tmp_path / "new")
    assert figures.compiles == 1
    assert figures.last_loss < figures.first_loss
    assert figures.accuracy > 0.8
    assert figures.learnt + figures.held_out == 1797
    assert figures.reloaded
    assert figures.picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_saved_network_is_the_one_that_learnt(tmp_path):
    figures = learn_digits(2, tmp_path)
    pixels = numpy.random.default_rng(0).random((5, 64), numpy.float32)
    like = imprint.filter_eval_shape(make_network)
    network = imprint.tree_deserialise_leaves(figures.model, like)
    found = numpy.frombuffer(answer(figures.model, pixels.tobytes()), numpy.float32)
    found = found.reshape(5, 10)
    assert_array_equal(found, logits(network, pixels))
    assert not numpy.allclose(found, logits(make_network(), pixels))
    first, last = [map(numpy.asarray, (x.weight, x.bias)) for x in network.layers]
    (w, b), (v, c) = first, last
    assert_close(found, numpy.maximum(pixels @ w.T + b, 0) @ v.T + c, "program")


@pytest.mark.slow
def test_too_little_training_fails_the_demo(tmp_path, capsys):
    (failed,) = show_digits(tmp_path, steps=2)
    assert failed.startswith("97% of the held-out digits are right, not ")
    assert "compiles    1" in capsys.readouterr().out


@pytest.mark.parametrize("module", ["sklearn.datasets", "PIL.Image"])
def test_a_missing_extra_is_named(module, tmp_path, monkeypatch):
    pytest.importorskip(module)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SystemExit) as caught:
        learn_digits(2, tmp_path)
    assert str(caught.value) == (
        f"examples: expected the module {module}, got ModuleNotFoundError: import "
        f"of {module} halted; None in sys.modules. Install the extra that the demo "
        "needs: pip install '.[demo]'."
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["digits", "--steps", "1"], "expected at least 2 steps, got 1"),
        (
            ["digits", "nothing"],
            "expected a part of the demo, got 'nothing'. Choose of ",
        ),
    ],
)
def test_wrong_usage_exits_with_2(words, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [
        ["examples", "twice", "digits"],
        # It takes a minute of CPU; each other part has a test in a file of its own.
        pytest.param(PARTS, marks=pytest.mark.exhaustive),
    ],
    ids=["quick parts", "all"],
)
def test_the_demo_passes_without_jax(tmp_path, parts):
    store = tmp_path / "store"
    done = subprocess.run(
        [sys.executable, "-m", "examples", *parts, "--out", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=as_for_users()
        | {"IMPRINT_CACHE": "write", "IMPRINT_CACHE_DIR": str(store)},
    )
    assert not done.stderr
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("[ok]") == len(EXAMPLES)
    assert done.stdout.endswith("no module of JAX was imported.\n")
    assert (tmp_path / "digits.png").is_file()
    assert not store.exists()  # each run compiles


def test_the_demo_fails_if_jax_was_imported(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", sys)
    assert demo((), tmp_path, 2) == 1
    assert "FAILED: no module of JAX is imported\n" in capsys.readouterr().out
    monkeypatch.delitem(sys.modules, "jax")
    assert demo((), tmp_path, 2) == 0


def test_each_figure_is_checked(tmp_path):
    figures = DigitFigures(
        learnt=80,
        held_out=100,
        right=97,
        compiles=1,
        first_step_s=1.0,
        step_s=0.001,
        first_loss=2.0,
        last_loss=1.0,
        reloaded=True,
        model=tmp_path,
        picture=tmp_path,
    )
    assert not list(digit_failures(figures))
    wrong = replace(figures, compiles=2, right=96, reloaded=False)
    assert list(digit_failures(wrong)) == [
        "the training step compiles once, not 2 times",
        "97% of the held-out digits are right, not 96.0%",
        "the saved network gives the same logits in a fresh process",
    ]
