"""Functions of signals are JAX's, which are SciPy's."""

import itertools

import jax
import jax.scipy.signal
import numpy as np
import pytest

import imprint
import imprint.scipy
from imprint.errors import ArgumentError, ShapeError
from imprint.scipy import signal
from tests import oracle
from tests.tolerances import assert_close


def numbers(*shape, dtype="float32"):
    made = np.random.default_rng(sum(shape)).normal(size=shape)
    return (made * (1 + 1j) if dtype == "complex64" else made * 4).astype(dtype)


PAIRS = [
    (numbers(7), numbers(3)),
    (numbers(2), numbers(6, dtype="complex64")),
    (numbers(5, 4), numbers(2, 3)),
    (numbers(2, 3, dtype="int32"), numbers(4, 3)),
    (numbers(3, 3), numbers(3, 3, dtype="complex64")),
]


@pytest.mark.parametrize("name", ["convolve", "correlate", "convolve2d", "correlate2d"])
def test_convolutions_are_those_of_jax(name):
    cases = [
        (x, y, mode)
        for (x, y), mode in itertools.product(PAIRS, ["full", "same", "valid"])
        if x.ndim == 2 or not name.endswith("2d")
    ]
    theirs, ours = getattr(jax.scipy.signal, name), getattr(signal, name)
    want = oracle.jit(lambda: [theirs(*case) for case in cases])()
    got = [ours(*case) for case in cases]
    staged = imprint.jit(lambda: [ours(*case) for case in cases])()
    for a, b, c in zip(want, got, staged, strict=True):
        assert_close(b, np.asarray(a), "contraction")
        assert_close(c, np.asarray(a), "contraction")


def test_convolutions_by_transforms_are_those_of_jax():
    cases = list(itertools.product(PAIRS, ["full", "same", "valid"]))
    theirs = jax.scipy.signal.fftconvolve
    want = oracle.jit(lambda: [theirs(x, y, mode) for (x, y), mode in cases])()
    for ((x, y), mode), expected in zip(cases, want, strict=True):
        assert_close(signal.fftconvolve(x, y, mode), np.asarray(expected), "program")
    x, y = numbers(3, 4, 2), numbers(2, 4, 2)
    want = theirs(x, y, "same", axes=0)
    assert_close(signal.fftconvolve(x, y, "same", 0), np.asarray(want), "program")
    by_method = signal.convolve(*PAIRS[0], method="fft")
    assert_close(by_method, signal.fftconvolve(*PAIRS[0]), "program")


def test_trends_are_those_of_jax():
    x = numbers(3, 8) + np.arange(8, dtype="f4")
    theirs = jax.scipy.signal.detrend
    cases = [{}, {"type": "constant"}, {"axis": 0}, {"bp": [3, 7]}, {"bp": 5}]
    want = oracle.jit(lambda: [theirs(x, **case) for case in cases])()
    for case, expected in zip(cases, want, strict=True):
        assert_close(signal.detrend(x, **case), np.asarray(expected), "program")
    grad = imprint.grad(lambda x: (signal.detrend(x) ** 2).sum())(x)
    assert_close(grad, 2 * np.asarray(signal.detrend(x)), "gradient")


REFUSED = [
    (
        lambda: signal.convolve(numbers(2), numbers(2, 2)),
        ShapeError,
        "convolve: expected two arrays of as many axes that are not empty, got "
        "float32[2] and float32[2,2]. Add axes with imprint.numpy.expand_dims.",
    ),
    (
        lambda: signal.convolve(numbers(2, 3), numbers(3, 2)),
        ShapeError,
        "convolve: expected one array that is along each axis as long as the other, got "
        "float32[2,3] and float32[3,2]. Pad one with imprint.numpy.pad.",
    ),
    (
        lambda: signal.convolve2d(numbers(2), numbers(2)),
        ShapeError,
        "convolve2d: expected two arrays of two axes, got float32[2] and float32[2]. Call "
        "imprint.scipy.signal.convolve, or map with imprint.vmap.",
    ),
    (
        lambda: signal.correlate2d(numbers(2, 2), numbers(2, 2), boundary="wrap"),
        ArgumentError,
        "correlate2d: expected boundary='fill' and fillvalue=0, got boundary='wrap' and "
        "fillvalue=0. Pad with imprint.numpy.pad.",
    ),
    (
        lambda: signal.fftconvolve(numbers(2, 3), numbers(2, 2), axes=0),
        ShapeError,
        "fftconvolve: expected arrays that are equally long but along axes (0,), got "
        "float32[2,3] and float32[2,2].",
    ),
    (
        lambda: signal.fftconvolve(numbers(2), numbers(2), "some"),
        ArgumentError,
        "fftconvolve: expected a mode of ('full', 'same', 'valid'), got 'some'.",
    ),
    (
        lambda: signal.convolve(numbers(2), numbers(2), method="some"),
        ArgumentError,
        "convolve: expected a method of auto, direct or fft, got 'some'.",
    ),
    (
        lambda: signal.detrend(numbers(2), type="some"),
        ArgumentError,
        "detrend: expected a type of linear or constant, got 'some'.",
    ),
    (
        lambda: signal.detrend(numbers(2), bp=3),
        ArgumentError,
        "detrend: expected places in [0, 2] where a line begins, got bp=3.",
    ),
]


@pytest.mark.parametrize(("call", "error", "said"), REFUSED)
def test_error_messages(call, error, said):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == said


def test_it_is_a_name_of_imprint():
    assert imprint.scipy.signal is signal
