import dataclasses
from typing import ClassVar

import numpy as np
import pytest

from imprint.tree.statics import Static


@dataclasses.dataclass(frozen=True)
class Setting:
    value: object
    note: object = dataclasses.field(default=None, compare=False)
    kind: ClassVar[str] = "setting"


NAN, OTHER_NAN = float("nan"), -float("nan") * 0

SAME = [
    (1, 1),
    ("a", "a"),
    (float("nan"), float("nan")),
    ((1, [2.0]), (1, [2.0])),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({1, 2}, {2, 1}),
    (np.ones(2), np.ones(2)),
    (None, None),
    (Setting((1, 2)), Setting((1, 2))),
    (Setting(1, note=1), Setting(1, note=2)),
    ({1: "a", 2: "b"}, {2: "b", 1: "a"}),
]
DIFFERENT = [
    (1, True),
    (1, 1.0),
    (0.0, -0.0),
    (complex(0, 0.0), complex(0, -0.0)),
    ((1,), (True,)),
    ((1,), [1]),
    ((1,), (1, 2)),
    ({"a": 1}, {"a": True}),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, {}),
    ({1}, {True}),
    (frozenset({1}), frozenset({1.0})),
    (np.ones(2), np.ones(3)),
    (np.ones(2), np.ones(2, np.float32)),
    ("a", "b"),
    (Setting(1), Setting(1.0)),
    (Setting(1), Setting(2)),
    (Setting((1,)), Setting((True,))),
    ({1: "a"}, {1.0: "a"}),
    ({1, 2.0}, {1.0, 2}),
    (frozenset({Setting(1)}), frozenset({Setting(1.0)})),
    (np.float32(0.0), np.float32(-0.0)),
]


@pytest.mark.parametrize(("a", "b"), SAME, ids=str)
def test_same(a, b):
    assert Static(a) == Static(b)


@pytest.mark.parametrize(("a", "b"), DIFFERENT, ids=str)
def test_different(a, b):
    assert Static(a) != Static(b)
    assert Static(b) != Static(a)


def test_hash_and_repr_are_those_of_the_value():
    assert hash(Static("a")) == hash("a")
    assert repr(Static("a")) == "'a'"
    assert Static(1) != 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(Static([]))
