from dataclasses import replace

import numpy
import pytest

from examples.demo import show_letters, text_failures
from examples.drawings import draw_curve
from examples.letters import (
    TextFigures,
    learn_letters,
    surprise_of_guessing,
    zen_of_python,
)
from examples.transformer import continue_text
from tests.tolerances import assert_close


@pytest.fixture
def nothing_drawn_yet():
    """Forget the samples that other tests drew with models of other sizes."""
    continue_text.clear_cache()


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.usefixtures("nothing_drawn_yet")
def test_a_short_training_compiles_once_and_beats_guessing():
    lesson = learn_letters(120)
    assert (lesson.step_compiles, lesson.draw_compiles) == (1, 1)
    assert abs(lesson.losses[0] - numpy.log(len(set(zen_of_python())))) < 0.1
    assert lesson.loss < lesson.guessing - 0.25
    assert len(lesson.losses) == 120
    assert zen_of_python().startswith(lesson.beginning)
    assert len(lesson.drawn) == 200
    assert set(lesson.drawn) <= set(zen_of_python())


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_drawn_yet")
def test_too_little_training_fails_the_demo(capsys):
    (failed,) = show_letters(2)
    assert failed.startswith("the transformer's loss falls below 1.0, not from 3.8")
    shown = capsys.readouterr().out
    assert "compiles    1 of the step, 1 to draw" in shown
    assert "  | The Zen of Python, by Tim Peters" in shown


def test_the_text_is_the_zen(capsys):
    assert "\nNow is better than never.\n" in zen_of_python()
    assert not capsys.readouterr().out


def test_guessing_knows_how_often_each_letter_occurs():
    assert_close(surprise_of_guessing(numpy.array([0, 1, 0, 1])), numpy.log(2.0))
    assert surprise_of_guessing(numpy.array([0, 0, 0])) == 0


def test_a_curve_shows_means_and_their_baseline():
    losses = [4.0] * 72 + [2.0] * 36 + [0.0] * 36
    lines = draw_curve(losses, 3.0).splitlines()
    assert lines[0] == " 4.00 |" + "*" * 36
    assert lines[3] == " 3.08 |" + "." * 72
    assert lines[6] == " 2.15 |" + " " * 36 + "*" * 18
    assert lines[13] == " 0.00 |" + " " * 54 + "*" * 18
    assert lines[15] == "step   1" + "144".rjust(71)
    assert draw_curve([1.0, 2.0], 2.0).splitlines()[-1] == "step   12"


def test_each_figure_of_a_lesson_is_checked():
    lesson = TextFigures(
        letters=856,
        guessing=3.1,
        losses=(3.8, 0.5),
        step_compiles=1,
        draw_compiles=1,
        first_step_s=1.0,
        step_s=0.01,
        beginning="The",
        drawn=" Zen",
    )
    assert lesson.loss == 2.15
    assert not list(text_failures(replace(lesson, losses=(1.5, 0.5))))
    assert list(text_failures(replace(lesson, draw_compiles=2))) == [
        "the transformer's step compiles once, and so does drawing, not 1 and 2 times",
        "the transformer's loss falls below 1.0, not from 3.800 to 2.150",
    ]
