"""Placements as plain data: each comes back equal, and no two are alike."""

import json
from itertools import combinations

import numpy as np
import pytest

import imprint
from imprint import NamedSharding, P
from imprint._src.jit.compilation.layout import Spread
from imprint._src.jit.manifest.not_cacheable import NotCacheable
from imprint._src.jit.manifest.plain_data import (
    deserialize_placement,
    deserialize_spread,
    serialize_placement,
    serialize_spread,
)
from imprint._src.sharding.single import Uncommitted
from imprint.sharding import AbstractMesh, AxisType, Mesh, SingleDeviceSharding

DEVICE = imprint.devices()[0]
GRID = np.array([[DEVICE]])
MESH = Mesh(GRID, ("x", "y"))
PLACEMENTS = [
    None,
    DEVICE,
    SingleDeviceSharding(DEVICE),
    Uncommitted(DEVICE),
    MESH,
    Mesh(GRID, ("y", "x")),
    Mesh(GRID, ("x", "y"), AxisType.Explicit),
    Mesh(np.array([DEVICE]), "x"),
    AbstractMesh((1, 1), ("x", "y")),
    AbstractMesh((2, 1), ("x", "y")),
    *[P(), P("x"), P(None, "x"), P(("x", "y")), P(("y", "x")), P(P.UNCONSTRAINED)],
    NamedSharding(MESH, P("x")),
    NamedSharding(MESH, P("y")),
]


def carried(x):
    return json.loads(json.dumps(x))


def test_each_comes_back():
    for placement in PLACEMENTS:
        again = deserialize_placement(carried(serialize_placement(placement)))
        assert type(again) is type(placement)
        assert again == placement


def test_no_two_are_alike():
    for one, other in combinations(PLACEMENTS, 2):
        assert serialize_placement(one) != serialize_placement(other)


def test_a_device_that_is_not_here_is_not_found():
    _, platform, number, kind = serialize_placement(DEVICE)
    for other in (platform, 99, kind), (platform, number, "another kind"):
        with pytest.raises(LookupError):
            deserialize_placement(["device", *other])


def test_invalid_placements_are_refused():
    with pytest.raises(NotCacheable, match="the placement 'x' is not kept yet"):
        serialize_placement("x")


def test_how_a_program_is_spread_comes_back():
    rows = NamedSharding(MESH, P("x"))
    for spread in (None, Spread(MESH, (rows, None), (None,))):
        assert deserialize_spread(carried(serialize_spread(spread))) == spread
