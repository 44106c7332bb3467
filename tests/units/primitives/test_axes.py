"""Params made of ints: negative axes, and invalid ones."""

import numpy as np
import pytest

from imprint._src.primitives.axes import (
    canonical_axes,
    canonical_axis,
    insert,
    int_tuple,
    push,
)
from imprint.errors import ShapeError


def test_int_tuple_gives_python_ints():
    found = int_tuple([np.int64(2), 3, np.uint8(1)])
    assert found == (2, 3, 1)
    assert {type(n) for n in found} == {int}


def test_negative_axes_count_from_the_end():
    assert canonical_axis("f", -1, 3) == 2
    assert canonical_axes("f", (-1, 0), 3) == (2, 0)


def test_axis_out_of_range():
    with pytest.raises(ShapeError) as caught:
        canonical_axis("squeeze", 2, 1)
    assert str(caught.value) == (
        "squeeze: expected an axis in [-1, 1), got 2. The array has 1 axis."
    )


def test_axis_named_twice():
    with pytest.raises(ShapeError) as caught:
        canonical_axes("squeeze", (1, -1), 2)
    assert str(caught.value) == (
        "squeeze: expected distinct axes, got (1, -1), which is (1, 1) counted from 0. "
        "Name each axis once."
    )


def test_one_more_axis():
    assert insert((4, 5), 1, 9) == (4, 9, 5)
    assert push((0, 1, 2), 1) == (0, 2, 3)
