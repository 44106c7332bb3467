"""The transform under JAX's name: its dtypes and refusals."""

import jax
import numpy as np
import pytest

from imprint import lax
from imprint.errors import ArgumentError, DTypeError, ShapeError
from tests.tolerances import assert_close

X = np.arange(12, dtype=np.float32).reshape(2, 6)


@pytest.mark.parametrize("kind", ["FFT", "ifft", "RFFT", "irfft"])
def test_types_by_name_and_by_value(kind):
    lengths = (2, 10) if kind == "irfft" else (2, 6)
    want = jax.lax.fft(X, kind, lengths)
    for given in (kind, lax.FftType[kind.upper()]):
        assert_close(lax.fft(X, given, lengths), np.asarray(want), "reduction")


def test_no_lengths_transform_nothing():
    assert lax.fft(X, "fft", ()).dtype == "complex64"


@pytest.mark.parametrize(
    ("operand", "kind", "lengths", "error", "message"),
    [
        (
            X,
            "ftt",
            (6,),
            ArgumentError,
            "fft: expected a FftType or its name, one of ['FFT', 'IFFT', 'RFFT', "
            "'IRFFT'], got str 'ftt'. Did you mean 'FFT'?",
        ),
        (
            X,
            2,
            (6,),
            ArgumentError,
            "fft: expected a FftType or its name, one of ['FFT', 'IFFT', 'RFFT', "
            "'IRFFT'], got int 2.",
        ),
        (
            X,
            "irfft",
            (6,),
            ShapeError,
            "fft: expected last axes [4] for IRFFT of fft_lengths=[6], got "
            "complex64[2,6]. To cut or to pad axes, call a function of "
            "imprint.numpy.fft.",
        ),
        (
            X,
            "fft",
            (1, 2, 6),
            ShapeError,
            "fft: expected the lengths of the last 1 to 3 axes of complex64[2,6], got "
            "fft_lengths=[1,2,6]. For others, call imprint.numpy.fft.fftn.",
        ),
        (
            1j * X,
            "rfft",
            (6,),
            DTypeError,
            "fft: expected float32 or float64 for RFFT, got complex64[2,6]. Convert "
            "with `.astype(float)`; of complex numbers take FFT.",
        ),
        (
            X[:, :0],
            "rfft",
            (0,),
            ShapeError,
            "fft: expected numbers to transform along the last axis, got "
            "float32[2,0]. Leave an array without elements as it is.",
        ),
    ],
)
def test_messages(operand, kind, lengths, error, message):
    with pytest.raises(error) as caught:
        lax.fft(operand, kind, lengths)
    assert str(caught.value) == message


def test_the_primitive_itself_takes_complex_numbers():
    with pytest.raises(DTypeError) as caught:
        lax.fft_p.bind_all(X, fft_type=lax.FftType.FFT, fft_lengths=(6,))
    assert str(caught.value) == (
        "fft: expected complex numbers for FFT, got float32[2,6]. Call "
        "imprint.lax.fft, which converts."
    )
