"""Bits at their edges: shifts as far as the width and farther, negative distances."""

import numpy as np
import pytest

from imprint._src.primitives.elementwise.bitwise import (
    and_,
    clz,
    not_,
    or_,
    population_count,
    shift_left,
    shift_right_arithmetic,
    shift_right_logical,
    xor,
)
from imprint.errors import DTypeError
from tests.units.primitives.agreement import assert_agreed

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", SIGNED)
def test_far_and_negative_shifts_of_signed_integers(dtype):
    width, least, most = (
        np.iinfo(dtype).bits,
        np.iinfo(dtype).min,
        np.iinfo(dtype).max,
    )
    x = np.array([-1, -1, -1, most, 1, least, 5], dtype)
    y = np.array([1, width, -1, width + 1, width - 1, width - 1, 0], dtype)
    left = np.array([-2, 0, 0, 0, least, 0, 5], dtype)
    logical = np.array([most, 0, 0, 0, 0, 1, 5], dtype)
    arithmetic = np.array([-1, -1, -1, 0, 0, -1, 5], dtype)
    assert_agreed(shift_left, [x, y], left)
    assert_agreed(shift_right_logical, [x, y], logical)
    assert_agreed(shift_right_arithmetic, [x, y], arithmetic)


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_far_shifts_of_unsigned_integers(dtype):
    width, most = np.iinfo(dtype).bits, np.iinfo(dtype).max
    top = most // 2 + 1
    x = np.array([most, most, most, top, 1, 6], dtype)
    y = np.array([1, width, most, width - 1, width - 1, 1], dtype)
    assert_agreed(shift_left, [x, y], np.array([most - 1, 0, 0, 0, top, 12], dtype))
    logical = np.array([most // 2, 0, 0, 1, 0, 3], dtype)
    assert_agreed(shift_right_logical, [x, y], logical)
    arithmetic = np.array([most, most, most, most, 0, 3], dtype)
    assert_agreed(shift_right_arithmetic, [x, y], arithmetic)


def test_logic_of_booleans_and_of_bits():
    x, y = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    assert_agreed(and_, [x, y], np.array([0, 0, 0, 1], bool))
    assert_agreed(or_, [x, y], np.array([0, 1, 1, 1], bool))
    assert_agreed(xor, [x, y], np.array([0, 1, 1, 0], bool))
    x, y = np.array([-1, 12], "int32"), np.array([5, 10], "int32")
    assert_agreed(and_, [x, y], np.array([5, 8], "int32"))
    assert_agreed(or_, [x, y], np.array([-1, 14], "int32"))
    assert_agreed(xor, [x, y], np.array([-6, 6], "int32"))


def test_bits_of_floats_are_refused():
    one = np.float32(1)
    with pytest.raises(DTypeError, match=r"and: expected an integer or bool, got"):
        and_(one, one)
    with pytest.raises(DTypeError, match=r"shift_left: expected an integer dtype, got"):
        shift_left(np.True_, np.True_)


# ---- one operand ----

WIDTHS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


@pytest.mark.parametrize(("dtype", "width"), WIDTHS.items())
def test_a_negative_integer_is_the_bits_that_it_is_stored_as(dtype, width):
    x = np.array([-1, np.iinfo(dtype).min, 0, 1, 6, np.iinfo(dtype).max], dtype)
    counts = np.array([width, 1, 0, 1, 2, width - 1])
    zeros = np.array([0, 0, width, width - 1, width - 3, 1])
    for stored in (dtype, f"u{dtype}"):
        assert_agreed(population_count, [x.view(stored)], counts.astype(stored))
        assert_agreed(clz, [x.view(stored)], zeros.astype(stored))


def test_not_inverts_bits_and_booleans():
    assert_agreed(not_, [np.array([True, False])], np.array([False, True]))
    assert_agreed(not_, [np.int8([0, -1, 5])], np.int8([-1, 0, -6]))
    assert_agreed(not_, [np.uint8([0, 255])], np.uint8([255, 0]))


@pytest.mark.parametrize("fun", [population_count, clz])
def test_only_integers_have_bits_to_count(fun):
    with pytest.raises(DTypeError, match=": expected an integer dtype, got bool"):
        fun(np.array([True]))


def test_floats_have_no_bits():
    with pytest.raises(DTypeError, match="not: expected an integer or bool, got float"):
        not_(np.float32(1))
