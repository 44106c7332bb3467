"""Cosine transforms as in JAX and SciPy; invalid arguments raise."""

import jax
import jax.scipy.fft as jsf
import numpy as np
import pytest
import scipy.fft

import imprint
from imprint.errors import ArgumentError, ShapeError
from imprint.scipy import fft
from tests import oracle
from tests.lanes import exhaustive
from tests.tolerances import assert_close

CALLS = [
    ("dct", (7,), {}),
    ("dct", (4, 6), {"axis": 0, "norm": "ortho"}),
    ("dct", (4, 6), {"n": 3}),
    ("dct", (1,), {}),
    ("dctn", (3, 4), {"s": (2, 5), "norm": "ortho"}),
    ("dctn", (2, 3, 4), {"axes": (0, 2)}),
    ("dctn", (2, 3, 4), {}),
    ("idct", (7,), {"norm": "backward"}),
    ("idct", (4, 6), {"axis": 0, "n": 5, "norm": "ortho"}),
    ("idctn", (3, 4), {}),
    ("idctn", (2, 3, 4), {"axes": (1,), "s": (5,)}),
]


def every(home, operands):
    return [
        getattr(home, name)(x, **kwargs)
        for (name, _, kwargs), x in zip(CALLS, operands, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", *exhaustive("complex64")])
def test_transforms_are_those_of_jax_and_scipy(dtype):
    rng = np.random.default_rng(0)
    operands = [
        (rng.normal(size=s) + 1j * rng.normal(size=s)).astype(dtype)
        if dtype == "complex64"
        else rng.normal(size=s).astype(dtype)
        for _, s, _ in CALLS
    ]
    wanted = oracle.jit(lambda xs: every(jsf, xs))(operands)
    known = every(scipy.fft, operands)
    for run in (lambda xs: every(fft, xs), imprint.jit(lambda xs: every(fft, xs))):
        for got, want, true in zip(run(operands), wanted, known, strict=True):
            assert_close(np.asarray(got), np.asarray(want), "program")
            assert_close(np.asarray(got), true, "program")


def test_the_inverse_gives_back_and_is_differentiable():
    x = np.arange(5, dtype=np.float32)
    with imprint.enable_x64(True), jax.enable_x64(True):
        assert_close(np.asarray(fft.idct(fft.dct(x))), x, "program")
        for norm in (None, "ortho"):
            got = imprint.grad(lambda x: (fft.dct(x, norm=norm) ** 2).sum())(x)  # noqa: B023
            want = jax.grad(lambda x: (jsf.dct(x, norm=norm) ** 2).sum())(x)  # noqa: B023
            assert_close(np.asarray(got), np.asarray(want), "gradient")


def test_integers_and_nothing():
    assert fft.dct(np.arange(3)).dtype == jsf.dct(np.arange(3)).dtype
    assert fft.dctn(np.ones((0, 3), np.float32)).shape == (0, 3)


MESSAGES = {
    "type": (
        lambda: fft.dct(np.ones(3), type=1),
        NotImplementedError,
        "dct: expected type=2, got int 1. Type 3 is its inverse, up to "
        "the scale: call idct or idctn.",
    ),
    "norm": (
        lambda: fft.idctn(np.ones(3), norm="orto"),
        ArgumentError,
        "idctn: expected norm to be one of ['backward', 'ortho'], got str 'orto'. Did "
        "you mean 'ortho'?",
    ),
    "lengths": (
        lambda: fft.dctn(np.ones((2, 3)), s=(2,), axes=(0, 1)),
        ShapeError,
        "dctn: expected a length for each of 2 axes, got (2,). Give as many lengths as "
        "axes.",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(case):
    call, error, message = MESSAGES[case]
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
