"""The nearest version has the fewest listed differences."""

import itertools

import numpy as np
import pytest

from imprint._src.core.aval import ShapedArray
from imprint._src.jit.explain.arrays import array_differences, count_differences
from imprint.sharding import SingleDeviceSharding

SHAPES = (), (3,), (4,), (3, 4), (4, 3), (4, 4)
KINDS = (
    (np.dtype("float32"), False),
    (np.dtype("float32"), True),
    (np.dtype("int32"), False),
)
PLACES = None, SingleDeviceSharding("cpu:0"), SingleDeviceSharding("cpu:1")
AVALS = [
    ShapedArray(shape, *kind, place)
    for shape, kind, place in itertools.product(SHAPES, KINDS, PLACES)
]


@pytest.mark.parametrize("old", AVALS, ids=repr)
def test_each_difference_of_an_aval_is_counted(old):
    for new in AVALS:
        listed = array_differences("x", old, new)
        assert count_differences(old, new) == len(listed)
