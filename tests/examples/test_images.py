"""The convolutional network learns, in one version, and its figures are checked."""

from dataclasses import replace

import pytest

from examples.demo import image_failures, show_images
from examples.images import ImageFigures, learn_images


@pytest.mark.slow
def test_a_short_training_compiles_once(capsys):
    (failed,) = show_images(3)
    assert failed.startswith(
        "the convolutional network is right about 99% of the held-"
    )
    shown = capsys.readouterr().out
    assert "network     39530 numbers, in layers of imprint.nn" in shown
    assert "compiles    1" in shown


@pytest.mark.exhaustive
def test_the_network_is_right_about_99_of_100():
    sight = learn_images(400)
    assert sight.held_out == 359
    assert sight.accuracy >= 0.99


def test_each_figure_of_the_images_is_checked():
    sight = ImageFigures(
        parameters=1,
        held_out=100,
        right=99,
        compiles=1,
        first_step_s=1.0,
        step_s=0.001,
    )
    assert not list(image_failures(sight))
    assert list(image_failures(replace(sight, compiles=2, right=98))) == [
        "the convolutional step compiles once, not 2 times",
        "the convolutional network is right about 99% of the held-out digits, not 98.0%",
    ]
