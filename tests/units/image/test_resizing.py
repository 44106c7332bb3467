"""Images in other sizes: JAX's values, by each method, and their derivatives."""

import jax
import numpy as np
import pytest

import imprint
from imprint import image
from imprint.errors import ArgumentError, ShapeError
from tests import oracle
from tests.tolerances import assert_close

X = np.random.default_rng(0).normal(size=(5, 4, 2)).astype(np.float32)
METHODS = ("nearest", "linear", "cubic", "lanczos3", "lanczos5")
NEWER = ("cubic-pytorch", "area") if hasattr(jax.image.ResizeMethod, "AREA") else ()
CALLS = [
    (X, shape, method, antialias)
    for method in (*METHODS, *NEWER)
    for shape, antialias in (((3, 9, 2), True), ((2, 7, 2), False))
]
CALLS += [
    (X, (5, 4, 2), "linear"),
    (X, (0, 4, 2), "linear"),
    (np.arange(6), (4,), "bilinear"),
    (np.arange(6), (4,), "nearest"),
]


def every(home):
    return [home.resize(*call) for call in CALLS]


@pytest.mark.slow
def test_sizes_are_those_of_jax():
    wanted = oracle.jit(lambda: every(jax.image))()
    for got in (every(image), imprint.jit(lambda: every(image))()):
        for call, a, b in zip(CALLS, got, wanted, strict=True):
            assert a.weak_type == b.weak_type, call
            assert_close(np.asarray(a), np.asarray(b), "program")


@pytest.mark.slow
def test_scales_and_translations_and_their_derivatives_are_those_of_jax():
    scale, move = np.array([1.7, 0.6], np.float32), np.array([0.4, -0.3], np.float32)

    def moved(home):
        return lambda x, s, t: home.scale_and_translate(
            x, (6, 5, 2), (0, 1), s, t, "cubic"
        )

    ours, theirs = moved(image), moved(jax.image)
    want = jax.jit(theirs)(X, scale, move)
    for run in (ours, imprint.jit(ours)):
        assert_close(np.asarray(run(X, scale, move)), np.asarray(want), "program")

    def total(draw):
        return lambda *args: (draw(*args) ** 2).sum()

    wanted = jax.jit(jax.grad(total(theirs), (0, 1, 2)))(X, scale, move)
    got = imprint.jit(imprint.grad(total(ours), (0, 1, 2)))(X, scale, move)
    for a, b in zip(got, wanted, strict=True):
        assert_close(np.asarray(a) / 64, np.asarray(b) / 64, "gradient")


def test_a_method_is_itself_or_a_name():
    for given in ("linear", "trilinear", image.ResizeMethod.LINEAR):
        assert image.resize(X[0, :, 0], (8,), given).shape == (8,)
    for name in ("bicubic", "lanczos5", "nearest"):
        theirs = jax.image.ResizeMethod.from_string(name)
        ours = image.ResizeMethod.from_string(name)
        assert (ours.name, ours.value) == (theirs.name, theirs.value)


MESSAGES = {
    "method": (
        lambda: image.resize(X, (2, 2, 2), "linaer"),
        ArgumentError,
        "resize: expected method to be a ResizeMethod or one of ['nearest', 'linear', "
        "'bilinear', 'trilinear', 'triangle', 'lanczos3', 'lanczos5', 'cubic', "
        "'bicubic', 'tricubic', 'cubic-pytorch', 'bicubic-pytorch', 'area'], got str "
        "'linaer'. Did you mean 'linear'?",
    ),
    "shape": (
        lambda: image.resize(X, (2, 2), "linear"),
        ShapeError,
        "resize: expected a shape of 3 lengths for float32[5,4,2], got (2, 2). Name the "
        "length of each axis, also of those that stay.",
    ),
    "nothing": (
        lambda: image.resize(X[:0], (2, 4, 2), "linear"),
        ShapeError,
        "resize: expected elements along the axes that get another length, got "
        "float32[0,4,2] for (2, 4, 2). Make the new ones with imprint.numpy.zeros.",
    ),
    "nearest": (
        lambda: image.scale_and_translate(X, X.shape, (0,), [1.0], [0.0], "nearest"),
        ArgumentError,
        "scale_and_translate: expected a method that weighs elements, got 'nearest'. "
        "Take 'linear', or call imprint.image.resize.",
    ),
    "scale": (
        lambda: image.scale_and_translate(
            X, X.shape, (0,), np.ones(2, "float32"), np.zeros(2, "float32"), "linear"
        ),
        ShapeError,
        "scale_and_translate: expected a scale and a translation for each of 1 axes, "
        "got float32[2] and float32[2]. Give vectors of that length.",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(case):
    call, error, message = MESSAGES[case]
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
