"""Fourier transforms: values, dtypes and weak types as JAX's, errors whole."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as ip
from imprint.errors import ArgumentError, AxisError, DTypeError, ShapeError
from tests import oracle
from tests.lanes import exhaustive
from tests.tolerances import assert_close

ONE = [
    ((5,), {}),
    ((4, 3), {"axis": 0}),
    ((4, 3), {"n": 2, "norm": "ortho"}),
    ((4, 3), {"n": 7, "axis": 0, "norm": "forward"}),
    ((2, 1), {}),
    ((0, 3), {}),
    ((2, 4), {"norm": "backward", "axis": 1}),
]
SEVERAL = [
    ((5, 4), {}),
    ((4, 3, 2), {"axes": (2, 0), "s": (3, 5), "norm": "ortho"}),
    ((4, 3, 2), {"axes": (0, 1), "norm": "forward"}),
]
MANY = [
    *SEVERAL,
    ((4, 3, 2), {"s": (2, 2)}),
    ((3, 2, 2, 3), {}),
    ((2, 3, 2, 2, 3), {}),
    ((3, 2), {"axes": ()}),
]
CALLS = [
    *(
        (name, *call)
        for name in ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
        for call in ONE
    ),
    *(
        (name, *call)
        for name in ["fft2", "ifft2", "rfft2", "irfft2"]
        for call in SEVERAL
    ),
    *((name, *call) for name in ["fftn", "ifftn", "rfftn", "irfftn"] for call in MANY),
]
REAL = ("rfft", "ihfft", "rfft2", "rfftn")


def calls(functions, operands):
    return [
        function(x, **kwargs)
        for function, x, (_, _, kwargs) in zip(functions, operands, CALLS, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "x64"),
    [
        ("complex64", False),
        ("int32", True),
        *exhaustive(("float64", True), ("bool", False)),
    ],
)
def test_transforms_are_those_of_jax(dtype, x64):
    rng = np.random.default_rng(0)
    operands = []
    for name, shape, _ in CALLS:
        x = rng.normal(size=shape) * 3 + 3j * rng.normal(size=shape)
        real = name in REAL or not dtype.startswith("complex")
        kept = "float32" if real and dtype.startswith("complex") else dtype
        operands.append((x.real if real else x).astype(kept))
    ours, theirs = (
        functools.partial(calls, [getattr(home, name) for name, _, _ in CALLS])
        for home in (ip.fft, jnp.fft)
    )
    with imprint.enable_x64(x64), jax.enable_x64(x64):
        want = oracle.jit(theirs)(operands)
        for run in (ours, imprint.jit(ours)):
            for call, a, b in zip(CALLS, run(operands), want, strict=True):
                assert a.weak_type == b.weak_type, call
                scaled = [np.asarray(x) / 16 for x in (a, b)]  # of sums of 3s
                assert_close(*scaled, "reduction")


def test_frequencies_and_shifts():
    for home in (ip.fft, np.fft):
        assert home.fftfreq(5, 0.5).tolist() == pytest.approx([0, 0.4, 0.8, -0.8, -0.4])
        assert home.rfftfreq(4, 2).tolist() == [0, 0.125, 0.25]
    assert ip.fft.fftfreq(4, dtype="float16").dtype == "float16"
    traced = imprint.jit(lambda d: ip.fft.fftfreq(4, d))(2.0)
    assert traced.tolist() == np.fft.fftfreq(4, 2).tolist()
    x = np.arange(30).reshape(2, 3, 5)
    for axes in (None, 1, (0, -1), ()):
        for name in ("fftshift", "ifftshift"):
            ours, theirs = getattr(ip.fft, name), getattr(np.fft, name)
            assert ours(x, axes).tolist() == theirs(x, axes).tolist()


@pytest.mark.slow
def test_derivatives_and_batches_are_those_of_jax():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 4, 6))

    def program(home):
        def loss(x):
            half = home.fft.rfft2(x, norm="ortho")
            back = home.fft.irfft2(half * half, s=(5, 7))
            whole = home.fft.ifft(home.fft.fftn(x * 1j), n=3)
            return (back**2).sum() + home.abs(whole).sum()

        return loss

    with imprint.enable_x64(True), jax.enable_x64(True):
        want = jax.vmap(jax.grad(program(jnp)), 1)(x)
        got = imprint.jit(imprint.vmap(imprint.grad(program(ip)), 1))(x)
        assert_close(np.asarray(got), np.asarray(want), "gradient")


def test_real_numbers_in_lower_precision_stay_so():
    x = np.ones(4, np.float32)
    assert ip.fft.fft(x).dtype == ip.fft.rfft(x).dtype == "complex64"
    assert ip.fft.irfft(x).dtype == ip.fft.hfft(x).dtype == "float32"


X = np.ones((2, 3), np.float32)
MESSAGES = {
    "norm": (
        lambda: ip.fft.fft(X, norm="orto"),
        ArgumentError,
        "fft: expected norm to be one of ['backward', 'ortho', 'forward'], got str "
        "'orto'. Did you mean 'ortho'?",
    ),
    "complex": (
        lambda: ip.fft.rfft2(1j * X),
        DTypeError,
        "rfft2: expected real numbers, got complex64[2,3]. Call imprint.numpy.fft.fft2, "
        "or take a part first: imprint.numpy.real.",
    ),
    "narrow": (
        lambda: ip.fft.ihfft(X.astype(np.float16)),
        DTypeError,
        "ihfft: expected float32, float64 or integers, got float16[2,3]. Convert with "
        "`.astype(float)`.",
    ),
    "axis": (
        lambda: ip.fft.hfft(X, axis=2),
        AxisError,
        "hfft: expected an axis in [-2, 2), got 2. The array has 2 axes.",
    ),
    "axes of one": (
        lambda: ip.fft.ifft(X, axis=(0, 1)),
        ArgumentError,
        "ifft: expected one axis, got tuple (0, 1). For several call "
        "imprint.numpy.fft.ifftn.",
    ),
    "axes of two": (
        lambda: ip.fft.fft2(X, axes=(0,)),
        ArgumentError,
        "fft2: expected two axes, got tuple (0,). For another number call "
        "imprint.numpy.fft.fftn.",
    ),
    "lengths": (
        lambda: ip.fft.fftn(X, s=(2,), axes=(0, 1)),
        ShapeError,
        "fftn: expected a length for each of 2 axes, got (2,). Give as many lengths as "
        "axes.",
    ),
    "length": (
        lambda: ip.fft.irfft(X, n=0),
        ShapeError,
        "irfft: expected lengths of at least 1, got (0,). Leave them out to keep those "
        "of the array.",
    ),
    "nothing": (
        lambda: ip.fft.rfft(X[:, :0]),
        ShapeError,
        "rfft: expected numbers along axis 1, got float32[2,0]. Leave an array without "
        "elements as it is.",
    ),
    "distance": (
        lambda: ip.fft.fftfreq(4, [1.0]),
        ArgumentError,
        "fftfreq: expected one number as d, the distance of two samples, got list "
        "[1.0]. For several call it through imprint.vmap.",
    ),
    "samples": (
        lambda: ip.fft.rfftfreq(ip.arange(3)),
        ArgumentError,
        "rfftfreq: expected the number of samples, got int32[3]. Pass its length, "
        "x.shape[0].",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(case):
    call, error, message = MESSAGES[case]
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
