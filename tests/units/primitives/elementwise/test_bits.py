"""Bits of one operand: negative integers, every width, booleans."""

import numpy as np
import pytest

from imprint._src.primitives.elementwise.bits import clz, not_, population_count
from imprint.errors import DTypeError
from tests.units.primitives.agreement import assert_agreed

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
