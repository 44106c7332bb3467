"""The key that the dispatch writes out by itself is the one that `calls.key` builds."""

import functools
from dataclasses import dataclass

import numpy
import pytest

import imprint
import imprint.numpy as np
from imprint._src.config import Settings
from imprint._src.core.aval import ShapedArray
from imprint._src.jit.calls.key import CallKey, pending_of


class RecordingTable(dict):
    """A table of versions that records the requested keys."""

    def __init__(self, table):
        super().__init__(table)
        self.keys_asked = []

    def __getitem__(self, key):
        self.keys_asked.append(key)
        return super().__getitem__(key)

    def get(self, key, default=None):
        self.keys_asked.append(key)
        return super().get(key, default)


@dataclass(frozen=True)
class Rate:
    value: float


def total(*args, **kwargs):
    leaves = imprint.tree.leaves((args, kwargs))
    return sum(leaf for leaf in leaves if hasattr(leaf, "dtype"))


def scaled(x, by=2, *, power=1, mode="sum"):
    return (x * by) ** power


X, Y, HOST = np.arange(3.0), np.ones(3, "int32"), numpy.ones(3, "float32")
FLAT = imprint.jit(total)
STATIC = imprint.jit(scaled, static_argnames=("mode", "power"))
FILTERED = imprint.filter_jit(total)

CALLS = {
    "no argument": (FLAT, (), {}),
    "arrays": (FLAT, (X, Y), {}),
    "host values": (FLAT, (X, HOST, 2.0, 3, True), {}),
    "a tree": (FLAT, ({"a": X, "b": [Y, None]},), {}),
    "a tree of host values": (FLAT, ({"a": HOST, "b": (X, 1)},), {}),
    "keywords": (FLAT, (X,), {"y": Y, "a": X}),
    "a static default": (STATIC, (X,), {}),
    "static values": (STATIC, (X, Y), {"power": 3, "mode": "mean"}),
    "a static object": (STATIC, (X,), {"mode": Rate(0.5)}),
    "a default given": (STATIC, (X, 2), {}),
    "filtered": (FILTERED, (X, "sum", {"w": Y, "rate": 0.1}), {}),
    "filtered host values": (FILTERED, (HOST, "sum", [Y, None, Rate(2.0)]), {}),
    "filtered keywords": (FILTERED, (X,), {"mode": "sum", "f": max}),
}
each_call = pytest.mark.parametrize(
    ("f", "args", "kwargs"), CALLS.values(), ids=CALLS.keys()
)


def keys_of_warm_calls(f, args, kwargs):
    """Return the keys of three warm calls: by the slow path, then the fast."""
    f(*args, **kwargs)
    f(*args, **kwargs)
    real = f._definition.versions.current
    f._current = asked = RecordingTable(real)
    try:
        for _ in range(3):
            f(*args, **kwargs)
    finally:
        f._current = real
    return asked.keys_asked


@each_call
def test_the_inlined_key_is_the_one_that_is_built(f, args, kwargs):
    keys = keys_of_warm_calls(f, args, kwargs)
    built = pending_of(f._definition.signature, args, kwargs).key
    assert len(keys) >= 3
    for key in keys:
        assert key == built
        assert hash(key) == hash(built)


@each_call
def test_a_key_is_split_into_its_parts(f, args, kwargs):
    f(*args, **kwargs)
    packed = pending_of(f._definition.signature, args, kwargs).key
    key = CallKey.unpack(packed)
    assert key.packed() == packed
    assert type(key.settings) is Settings
    assert all(type(aval) is ShapedArray for aval in key.avals)


@each_call
def test_a_pending_call_has_the_key_of_its_version(f, args, kwargs):
    f(*args, **kwargs)
    pending = pending_of(f._definition.signature, args, kwargs)
    version = f._definition.versions.current[pending.key]
    assert pending.kind == version.key


@pytest.mark.parametrize("part", CallKey._fields)
def test_each_part_of_a_key_distinguishes_two_calls(part):
    f = imprint.jit(scaled, static_argnames=("mode", "power"))
    other = {
        "spec": functools.partial(f, X, np.ones(3)),
        "treedef": functools.partial(f, {"x": X}),
        "static": functools.partial(f, X, power=4),
        "settings": functools.partial(f, X),
        "avals": functools.partial(f, Y),
        "axes": functools.partial(f, X),
    }[part]
    signature = f._current_definition().signature
    flag = imprint.enable_x64(part == "settings")
    before = pending_of(signature, (X,), {}).key
    keys = []

    def note(_):
        keys.append(pending_of(signature, other.args, other.keywords).key)

    with flag:
        imprint.vmap(note, axis_name="i" if part == "axes" else None)(np.ones(2))
    (after,) = keys
    assert before != after
    assert CallKey.unpack(after).packed() == after
    changed = (
        getattr(CallKey.unpack(before), part),
        getattr(CallKey.unpack(after), part),
    )
    assert changed[0] != changed[1]
