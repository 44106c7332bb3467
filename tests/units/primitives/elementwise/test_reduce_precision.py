"""reduce_precision is JAX's in every format, and linear in both modes."""

from functools import partial

import ml_dtypes
import numpy as np
import pytest

import imprint
from imprint._src.config import enable_x64
from imprint._src.core.aval import ShapedArray
from imprint._src.core.tangents import UndefinedPrimal
from imprint._src.interpreters.batching import batch_flat
from imprint._src.primitives.elementwise.reduce_precision import (
    reduce_precision,
    reduce_precision_p,
)
from imprint.errors import ArgumentError
from tests.quick import options_of
from tests.units.primitives.agreement import agreed, assert_same, by_jax, tangent

FORMATS = [(5, 10), (8, 7), (4, 3), (5, 2), (2, 0), (11, 52), (8, 23), (3, 20)]
TIE = 1 + 2.0**-11  # between two floats of ten mantissa bits


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("exponent_bits", "mantissa_bits"), FORMATS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_rounds_to_even_and_knows_the_limits(dtype, exponent_bits, mantissa_bits):
    values = [0.0, 1.0, TIE, TIE + 2.0**-10, 1.99999, 65519.0, 65520.0, 3e38, 2.0**-14]
    values += [2.0**-15 * 1.5, 0.3, 240.0, 250.0, 1e-30, np.inf]
    with np.errstate(over="ignore"):
        x = np.array([*values, *np.negative(values), np.nan]).astype(dtype)
    params = {"exponent_bits": exponent_bits, "mantissa_bits": mantissa_bits}
    options = options_of(reduce_precision_p)
    got = agreed(lambda x: reduce_precision(x, **params), x, options=options)
    with enable_x64(True):
        assert_same(got, by_jax(reduce_precision_p, x, **params))


@pytest.mark.parametrize(
    "dtype", ["float8_e4m3b11fnuz", "float8_e5m2", "float8_e8m0fnu"]
)
def test_formats_of_a_byte_are_rounded_on_the_host_as_in_programs(dtype):
    x = np.arange(256, dtype=np.uint8).view(np.dtype(getattr(ml_dtypes, dtype)))
    for exponent_bits, mantissa_bits in ((5, 10), (4, 2), (3, 1)):
        function = partial(
            reduce_precision, exponent_bits=exponent_bits, mantissa_bits=mantissa_bits
        )
        got, want = (np.asarray(f(x)) for f in (function, imprint.jit(function)))
        np.testing.assert_array_equal(got.astype(np.float32), want.astype(np.float32))


def test_tangents_and_cotangents_are_rounded():
    x = np.array([1.0, 2.0])
    t = np.array([TIE, -TIE])
    got = tangent(lambda x: reduce_precision(x, 5, 10), [x], [t])
    np.testing.assert_array_equal(got, [1.0, -1.0])
    operand = UndefinedPrimal(ShapedArray((2,), np.dtype("float64")))
    with enable_x64(True):
        (ct,) = reduce_precision_p.transpose(
            (t,), (operand,), exponent_bits=5, mantissa_bits=10
        )
    np.testing.assert_array_equal(np.asarray(ct), [1.0, -1.0])


def test_a_hidden_axis_stays_where_it_is():
    x = np.float32([[1.0, TIE], [-TIE, 3.0]])
    (out,), dims = batch_flat(lambda x: [reduce_precision(x, 5, 10)], [x], (1,))
    assert dims == (1,)
    np.testing.assert_array_equal(np.asarray(out), [[1.0, 1.0], [-1.0, 3.0]])


def test_a_format_has_an_exponent():
    with pytest.raises(ArgumentError) as caught:
        reduce_precision(np.float32(1), 0, 3)
    assert str(caught.value) == (
        "reduce_precision: expected exponent_bits of at least 1 and mantissa_bits of at "
        "least 0, got 0 and 3. float16 has 5 and 10, bfloat16 has 8 and 7."
    )
