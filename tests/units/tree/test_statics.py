import collections
import copy
import dataclasses
import functools
from typing import ClassVar

import numpy as np
import pytest

from imprint import tree
from imprint._src.tree.statics import Static, StaticGuard, detached, static_of


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
    ({1, 2}, {2, 1}),
    (np.ones(2), np.ones(2)),
    (None, None),
    (Setting((1, 2)), Setting((1, 2))),
    (Setting(1, note=1), Setting(1, note=2)),  # by `==`
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
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),  # a reader may depend on the order
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


# ---- mutable data ----

CHANGES = {
    "list": (lambda: [1], lambda x: x.append(2)),
    "in a tuple": (lambda: (1, [2.0]), lambda x: x[1].append(2)),
    "in a list": (lambda: [[1], "a"], lambda x: x[0].clear()),
    "set": (lambda: {1, "a"}, lambda x: x.add(2)),
    "dict": (lambda: {"a": 1}, lambda x: x.update(a=True)),
    "in a dict": (lambda: {"a": {"b": [0.0]}}, lambda x: x["a"]["b"].append(1)),
    "order of a dict": (lambda: {"a": 1, "b": 2}, lambda x: x.update(a=x.pop("a"))),
    "OrderedDict": (
        lambda: collections.OrderedDict(a=1, b=2),
        lambda x: x.move_to_end("a"),
    ),
    "defaultdict": (lambda: collections.defaultdict(list), lambda x: x["a"]),
    "deque": (lambda: collections.deque([1], 3), lambda x: x.append(2)),
    "bytearray": (lambda: bytearray(b"a"), lambda x: x.append(2)),
    "array": (lambda: np.arange(3), lambda x: x.fill(1)),
    "named tuple": (
        lambda: collections.namedtuple("P", "x")([1]),
        lambda x: x.x.append(2),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_mutable_data_is_a_key_by_content(name):
    make, change = CHANGES[name]
    value = make()
    before = static_of(value)
    same = static_of(functools.reduce(lambda x, _: detached(x), range(2), value))
    assert (before, hash(before)) == (same, hash(same))
    change(value)
    after = static_of(value)
    assert before != after
    assert before == same
    assert repr(before) != repr(after)
    assert static_of(make()) != after


@pytest.mark.parametrize("name", CHANGES)
def test_rebuilt_data_shares_nothing_mutable(name):
    make, change = CHANGES[name]
    kept = static_of(make())
    first, second = kept.value, kept.value
    assert type(first) is type(second)
    change(first)
    assert static_of(second) == kept
    assert static_of(first) != kept


def test_immutable_data_is_kept_as_it_is():
    class Thing:
        pass

    for value in (1, "a", (1, (2, "b")), frozenset({1}), Thing(), len, range(3)):
        assert detached(value) is value
        assert static_of(value).value is value
    held = Thing()
    assert detached([held])[0] is held
    assert detached(collections.deque([1], 3)).maxlen == 3
    assert detached(collections.defaultdict(list, a=[1])).default_factory is list


@pytest.mark.parametrize(
    ("a", "b"), [([1], [True]), ([1], (1,)), ({1}, {1.0}), ({"a": 0.0}, {"a": -0.0})]
)
def test_content_is_compared_by_exact_type(a, b):
    assert static_of(a) != static_of(b)


def test_data_with_items_that_have_an_equality_alone_is_compared():
    class Loose:
        __hash__ = None

        def __eq__(self, other):
            return isinstance(other, Loose)

    assert static_of([Loose()]) == static_of([Loose()])
    assert hash(static_of([Loose()])) == hash(static_of([Loose()]))
    assert static_of([Loose()]) != static_of([1])


def test_data_with_unhashable_items_is_compared_but_is_no_key():
    class Loose(list):
        pass

    assert static_of([Loose()]) == static_of([Loose()])
    assert static_of([Loose()]) != static_of([1])
    with pytest.raises(TypeError, match="unhashable"):
        hash(static_of([Loose()]))


def test_a_key_of_a_user_subclass_of_str_is_not_plain():
    class Text(str):
        pass

    first = tree.structure({"a": 1, "b": None})
    key = Text("a")
    other = tree.structure({key: 1, "b": None})
    assert other != first
    assert type(next(iter(tree.unflatten(other, [2])))) is Text
    assert tree.structure({"a": 1, "b": None}) == first


# ---- from call to call ----


def test_remembered_data_is_recognized_and_distinguished():
    values = [
        *(1, 1.0, True, 0.0, -0.0, None, "a", b"a", (1, 2.0), (1, 2), (True, 2)),
        *([1, 2], [1.0, 2], [True, 2], [0.0], [-0.0], [[1]], [[1.0]], ([1],), ["a"]),
        *([b"a"], [np.zeros(1, "i1")], [bytearray(b"a")], {"a": 1}, {"a": 1.0}),
        *({"a": 1, "b": 2}, {"b": 2, "a": 1}, {1: 0}, {True: 0}, {1}, {1.0}),
        *(np.zeros(2), np.zeros(3), np.zeros(2, "f4"), Setting(1), Setting(1.0)),
        *((Setting([1]), "a"), (Setting([2]), "a"), (Setting(1), [2]), (Setting(1), 2)),
    ]
    again = copy.deepcopy(values)
    for i, one in enumerate(values):
        known = StaticGuard(one)
        for j, other in enumerate(again):
            assert known.differs(other) == (i != j), (one, other)
        assert not known.differs(one)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_remembered_data_is_seen(name):
    make, change = CHANGES[name]
    value = make()
    known = StaticGuard(value)
    assert not any(known.differs(value) for _ in range(5))
    change(value)
    assert known.differs(value)
    value = make()
    known = StaticGuard((value, "a", len))
    assert not any(known.differs((value, "a", len)) for _ in range(5))
    change(value)
    assert known.differs((value, "a", len))


def test_identical_items_of_remembered_data_are_not_compared():
    class Spy:
        def __eq__(self, other):
            raise AssertionError("compared")

        __hash__ = object.__hash__

    value = [Setting(i) for i in range(100)]
    known, spied = StaticGuard(value), StaticGuard([len, Spy])
    assert not known.differs([*value])
    assert not spied.differs([len, Spy])
    assert known.differs([*value[:-1], Setting(100)])
    assert not known.differs([*value[:-1], Setting(99)])


def test_an_object_that_is_equal_is_hashed_once():
    class Counted:
        hashed = 0

        def __eq__(self, other):
            return type(other) is Counted

        def __hash__(self):
            Counted.hashed += 1
            return 1

    known = StaticGuard(Counted())
    for _ in range(9):  # it is learned again after 1, 2, 4, 8
        assert not known.differs(Counted())
    Counted.hashed = 0
    assert not known.differs(Counted())
    assert Counted.hashed == 1
