"""Comparisons at their edges: NaN, signed zeros, booleans, complex numbers, weak types."""

import numpy as np
import pytest

from imprint._src.core.aval import ShapedArray
from imprint._src.primitives.elementwise.comparison import (
    eq,
    eq_p,
    ge,
    gt,
    le,
    lt,
    lt_p,
    maximum,
    minimum,
    ne,
)
from imprint.errors import DTypeError
from tests.units.primitives.agreement import assert_agreed, assert_same

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_nan_is_in_no_order_and_zeros_are_equal(dtype):
    x = np.array([NAN, NAN, 1.0, 0.0, -INF]).astype(dtype)
    y = np.array([NAN, 1.0, NAN, -0.0, INF]).astype(dtype)
    for fun, want in [
        (eq, [False, False, False, True, False]),
        (ne, [True, True, True, False, True]),
        (lt, [False, False, False, False, True]),
        (le, [False, False, False, True, True]),
        (gt, [False, False, False, False, False]),
        (ge, [False, False, False, True, False]),
    ]:
        assert_agreed(fun, [x, y], np.array(want))


def test_unsigned_integers_have_no_negative_reading():
    x, y = np.array([255, 0], "uint8"), np.array([1, 255], "uint8")
    assert_agreed(lt, [x, y], np.array([False, True]))
    x, y = x.astype("int8"), y.astype("int8")
    assert_agreed(lt, [x, y], np.array([True, False]))


def test_false_lies_before_true():
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    assert_agreed(lt, [x, y], ~x & y)
    assert_agreed(ge, [x, y], x | ~y)


def test_complex_numbers_have_equality_but_no_order():
    x = np.array([1 + 1j, complex(NAN, 0), -0.0], "complex64")
    y = np.array([1 + 1j, complex(NAN, 0), 0.0], "complex64")
    assert_agreed(eq, [x, y], np.array([True, False, True]))
    with pytest.raises(DTypeError) as caught:
        lt(x, y)
    assert str(caught.value) == (
        "lt: expected a real or bool dtype, got complex64[3]. Convert it with "
        "`.astype(...)`, or call imprint.numpy, which promotes."
    )


@pytest.mark.parametrize("primitive", [eq_p, lt_p], ids=str)
def test_a_comparison_of_weak_operands_is_weak(primitive):
    strong = ShapedArray((), np.dtype("float32"))
    weak = ShapedArray((), np.dtype("float32"), True)
    assert primitive.aval(weak, weak) == (ShapedArray((), np.dtype(bool), True),)
    assert primitive.aval(strong, weak) == (ShapedArray((), np.dtype(bool)),)


def test_maximum_and_minimum_do_not_leave_zeros_open():
    x, y = np.array([0.0, -0.0, -0.0]), np.array([-0.0, 0.0, -0.0])
    assert_same(maximum(x, y), [0.0, 0.0, -0.0])
    assert_same(minimum(x, y), [-0.0, -0.0, -0.0])
    assert_same(maximum(np.float32([-1.0]), np.float32([-0.0])), np.float32([-0.0]))
