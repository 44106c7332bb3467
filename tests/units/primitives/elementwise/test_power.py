"""pow at its edges: zero to zero, NaN to zero, negative bases, integer powers."""

import numpy as np
import pytest

from imprint._src.config import enable_x64
from imprint._src.core.aval import ShapedArray
from imprint._src.primitives.elementwise.power import pow_, pow_p
from imprint.errors import DTypeError
from tests.tolerances import assert_close
from tests.units.primitives.agreement import assert_agreed, by_jax, tangent

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_ieee_powers(dtype):
    x = np.array([0, 0, -0.0, -0.0, NAN, 1, -8, -2, -1, INF, 0.5]).astype(dtype)
    y = np.array([0, -1, -1, 3, 0, NAN, 0.5, 3, INF, -1, INF]).astype(dtype)
    want = np.array([1, INF, -INF, -0.0, 1, 1, NAN, -8, 1, 0, 0]).astype(dtype)
    assert_agreed(pow_, [x, y], want)


@pytest.mark.parametrize("power", ["int8", "int32", "int64", "uint8"])
@pytest.mark.parametrize("base", ["float32", "float16", "bfloat16", "complex64"])
def test_an_integer_power_takes_the_dtype_of_the_base(base, power):
    x, y = np.array([2, 0, 1]).astype(base), np.array([3, 0, 7], power)
    with enable_x64(True):
        assert_close(pow_(x, y), by_jax(pow_p, x, y), "pow")
        assert np.asarray(pow_(x, np.array(2, power))).dtype == x.dtype


def test_weak_types_and_refusals():
    strong = ShapedArray((), np.dtype("float32"))
    weak = ShapedArray((), np.dtype("int32"), True)
    assert pow_p.aval(strong, weak) == (strong,)
    with pytest.raises(DTypeError, match="pow: expected a float or complex dtype"):
        pow_(np.int32(2), np.int32(2))
    with pytest.raises(DTypeError, match="pow: expected operands of one dtype"):
        pow_(np.float32(2), np.float16(2))


def test_derivatives_at_zero():
    zero, one = np.array([0.0]), np.array([1.0])
    for y, want in [(0, 0.0), (1, 1.0), (2, 0.0)]:  # not nan, though log(0) is -inf
        exponent = np.array([y], "int32")
        got = tangent(lambda x, e=exponent: pow_(x, e), [zero], [one])
        np.testing.assert_array_equal(got, [want])
    got = tangent(lambda y: pow_(zero, y), [one + 1], [one])
    np.testing.assert_array_equal(got, [0.0])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_powers_are_those_of_the_engine(dtype):
    values = np.array([0, 1, -1, 1j, 2 + 3j, INF, complex(NAN, 1), -0.5], dtype)
    x, y = (part.ravel() for part in np.meshgrid(values, values))
    with enable_x64(True), np.errstate(all="ignore"):
        got, want = np.asarray(pow_(x, y)), by_jax(pow_p, x, y)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    kept = np.isfinite(want)
    np.testing.assert_array_equal(np.isfinite(got), kept)
    assert_close(got[kept], want[kept], "program")
