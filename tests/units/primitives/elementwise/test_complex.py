"""Complex numbers and their parts: signed zeros, repeated operands, transposes, refusals."""

import jax
import numpy as np
import pytest
from jax import lax

import imprint
from imprint._src.config import enable_x64
from imprint._src.core.aval import ShapedArray
from imprint._src.primitives.elementwise.complex import (
    complex_,
    conj,
    conj_p,
    imag,
    real,
    real_p,
)
from imprint.errors import DTypeError
from tests.units.primitives.agreement import assert_agreed
from tests.units.primitives.twin import assert_as_jax

NAN, INF = np.nan, np.inf
X = np.array([1 - 2j, complex(-0.0, 0.0), complex(0.0, -0.0), complex(INF, NAN)])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_parts_and_back_keep_every_bit(dtype):
    x = X.astype(dtype)
    assert_agreed(real, [x], x.real)
    assert_agreed(imag, [x], x.imag)
    assert_agreed(lambda x: complex_(real(x), imag(x)), [x], x)
    assert_agreed(conj, [x], np.conj(x))


def test_an_infinite_part_does_not_touch_the_other():
    x, y = np.array([INF, 1.0], "float32"), np.array([0.0, INF], "float32")
    want = np.array([complex(INF, 0), complex(1, INF)], "complex64")
    assert_agreed(complex_, [x, y], want)


def test_one_part_may_have_rank_0():
    x = np.array([1.0, 2.0])
    assert_agreed(complex_, [x, np.array(3.0)], np.array([1 + 3j, 2 + 3j]))
    assert_agreed(complex_, [np.array(3.0), x], np.array([3 + 1j, 3 + 2j]))


def test_the_conjugate_of_a_real_number_is_complex():
    x = np.array([1.0, -0.0], "float32")
    want = np.array([complex(1, 0), complex(-0.0, 0)], "complex64")
    assert_agreed(conj, [x], want)
    assert " conj[input_dtype=float32] a" in str(imprint.make_jaxpr(conj)(x))


def test_transposes_pair_without_conjugation_as_in_jax():
    z, x = np.array([1 - 2j, 3 + 1j]), np.array([0.5, -1.5])
    scalar = np.array(2.0)
    for ours, theirs, operands, ct in [
        (real, lax.real, [z], x),
        (imag, lax.imag, [z], x),
        (conj, lax.conj, [z], z),
        (conj, lax.conj, [x], z),
        (complex_, lax.complex, [x, x], z),
        (complex_, lax.complex, [scalar, x], z),
    ]:
        assert_as_jax(pullback(imprint, ours, ct), pullback(jax, theirs, ct), *operands)


def pullback(lib, fun, ct):
    return lambda *operands: lib.vjp(fun, *operands)[1](ct)


def test_weak_types_are_kept():
    weak = ShapedArray((), np.dtype("complex64"), True)
    assert real_p.aval(weak) == (ShapedArray((), np.dtype("float32"), True),)


def test_dtypes_without_parts_are_refused():
    with pytest.raises(DTypeError, match="real: expected a complex dtype, got float32"):
        real(np.float32(1))
    half = np.float16(1)
    with pytest.raises(DTypeError, match="complex: expected float32 or float64, got "):
        complex_(half, half)
    with pytest.raises(
        DTypeError, match="conj: expected float32 or float64, got int32"
    ):
        conj(np.int32(1))
    with enable_x64(True), pytest.raises(DTypeError) as caught:
        conj_p.bind_all(np.ones(2, "complex128"), input_dtype=np.dtype("complex64"))
    assert str(caught.value) == (
        "conj: expected input_dtype=complex128 for operand complex128[2], got complex64. "
        "Call conj(x), which fills it in."
    )
