import collections
import dataclasses
import enum
import functools
import gc
import math
import types
import typing
import warnings
import weakref

import ml_dtypes
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import tree
from imprint._src.jit.fingerprint import static_values
from imprint._src.jit.fingerprint.static_values import (
    check_equal_hashes,
    is_plain_value,
    same_value,
    static_token,
)
from imprint._src.jit.fingerprint.wording import show
from imprint.errors import ArgumentError
from tests.units.callables import (
    Colour,
    Metres,
    Model,
    Point,
    Scale,
    Slim,
    scaled,
)


class Named(typing.NamedTuple):
    a: object
    b: object = 0


class ByValue:
    def __init__(self, a):
        self.a = a

    def __eq__(self, other):
        return self.a == other.a  # raises for objects that are no ByValue

    def __hash__(self):
        return hash(self.a)


class HashOnly:
    def __hash__(self):
        return 1


class EqOnly:
    def __eq__(self, other):
        return True


class HashRaises:
    def __eq__(self, other):
        return True

    def __hash__(self):
        raise RuntimeError("no hash today")


class EqRaises:
    def __eq__(self, other):
        raise RuntimeError("no answer")

    def __hash__(self):
        return 1


class EqOfArrays:
    def __eq__(self, other):
        return np.ones(2) == 1

    def __hash__(self):
        return 1


class HashableDict(dict):
    def __hash__(self):
        return hash(tuple(sorted(self.items())))


class HashableBytes(bytearray):
    def __hash__(self):
        return hash(bytes(self))


class Text(str):
    pass


class SlottedObject:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


@dataclasses.dataclass
class Open:
    a: int = 1


@dataclasses.dataclass(unsafe_hash=True)
class Unsafe:
    a: int = 1


@dataclasses.dataclass(frozen=True, eq=False)
class ByIdentity:
    a: object


@tree.register_dataclass
@dataclasses.dataclass
class Node:
    w: object
    sizes: object = dataclasses.field(default=(1, 2), metadata={"static": True})


class Flags(enum.Flag):
    A = enum.auto()
    B = enum.auto()


def token(value):
    return static_token(value, "n")


# ---- equal and different values ----

SAME = [
    lambda: 10**20,
    lambda: "a b",
    lambda: math.nan,
    lambda: -0.0,
    lambda: (1, (2.0, "a", None)),
    lambda: frozenset({1, "a"}),
    lambda: Named(1, (2,)),
    lambda: Scale(2.0),
    lambda: Scale(math.nan),
    lambda: Slim(2.0),
    lambda: Scale(Slim((1, 2))),
    lambda: ByValue(1),
    lambda: Unsafe(2),
    lambda: HashableDict(a=1),
    lambda: (ByValue(1), ByValue(2)),
    lambda: scaled(1),
    lambda: scaled((1, [2])),
    lambda: functools.partial(scaled(1), 2),
    lambda: Colour.RED,
    lambda: Flags.A | Flags.B,
    lambda: np.float32,
    lambda: np.dtype("f4"),
    lambda: np.float32(1),
    lambda: Metres(1.0),
    lambda: Point((1, 2)),
    lambda: inp.sin,
    lambda: math.sin,
    lambda: types,
    lambda: range(3),
    lambda: slice(1, 2),
    lambda: int,
    lambda: None,
    lambda: ...,
    lambda: Scale(tuple(range(9000))),
    lambda: (range(9000), *map(float, range(9000))),
]


@pytest.mark.parametrize("make", SAME)
def test_equal_values_have_equal_tokens(make):
    one, other = make(), make()
    assert token(one) == token(other)
    assert hash(token(one)) == hash(token(other))
    assert token(one) == token(one)


def test_different_values_have_different_tokens():
    values = [
        *(0, 0.0, -0.0, False, None, "", b"", (), frozenset(), ..., math.nan, 0j),
        *(
            1,
            1.0,
            True,
            np.int32(1),
            np.int64(1),
            np.float64(1),
            np.float32(1),
            Metres(1),
        ),
        *((1,), (1.0,), (True,), ((1,),), Point((1,)), Named(1), Named(1.0), (1, 0)),
        *(frozenset({1}), frozenset({1.0}), frozenset({True})),
        *(Scale(1), Scale(1.0), Scale(True), Slim(1), Slim(1.0), Scale(Slim(1))),
        *(ByValue(1), ByValue(2.5), ByValue("a"), ByValue((1,)), Unsafe(1)),
        *(HashableDict(a=1), HashableDict(), HashableDict(b=1)),
        *(scaled(1), scaled(1.0), functools.partial(scaled(1)), Model.step),
        *(Colour.RED, Colour.BLUE, Flags.A, Flags.B),
        *(np.float32, np.dtype("f4"), np.dtype(">f4"), np.dtype("f8"), float, int),
        *(np.zeros(1, [(name, "i4")])[0] for name in "ab"),
        *(np.datetime64(1, unit) for unit in "DYs"),
        *(ml_dtypes.bfloat16(1), ml_dtypes.float8_e4m3fn(1), ml_dtypes.int4(1)),
        *(range(3), range(4), slice(3), slice(4), "1", b"1"),
    ]
    tokens = [token(value) for value in values]
    assert len({*tokens}) == len(values)


def test_plain_objects_are_compared_by_identity():
    one, other = Model(1), Model(1)
    assert token(one) == token(one)
    assert token(one) != token(other)
    assert token(ByIdentity(1)) != token(ByIdentity(1))


def test_classes_are_compared_by_identity_under_every_metaclass():
    class Meta(type):
        pass

    one, other = (Meta("Same", (), {"a": 1}) for _ in range(2))
    assert token(one) == token(one) != token(other)


def marked(value):
    value.mark = [1]
    return value


def test_numbers_and_texts_with_attributes_are_compared_by_both():
    assert token(marked(Metres(1))) == token(marked(Metres(1)))
    assert token(marked(Metres(1))) != token(marked(Metres(2)))
    assert token(marked(Metres(1))) != token(Metres(1)) != token(1.0)


CHANGES = {
    "attribute": (lambda m: setattr(m, "rate", 2), lambda m: setattr(m, "rate", 1)),
    "list": (lambda m: m.rate.append(2), lambda m: m.rate.pop()),
    "dict": (lambda m: m.rate.update(a=1), lambda m: m.rate.clear()),
    "array": (lambda m: m.rate.__setitem__(0, 2), lambda m: m.rate.__setitem__(0, 1)),
    "object": (
        lambda m: setattr(m.rate, "rate", 2),
        lambda m: setattr(m.rate, "rate", 1),
    ),
    "slot": (lambda m: setattr(m, "b", 2), lambda m: delattr(m, "b")),
    "a": (lambda m: setattr(m, "a", 2), lambda m: setattr(m, "a", 1)),
    "a.append": (lambda m: m.a.append(2), lambda m: m.a.pop()),
    "w.append": (lambda m: m.w.append(2), lambda m: m.w.pop()),
    "mark.append": (lambda m: m.mark.append(2), lambda m: m.mark.pop()),
    "item": (lambda m: m.update(a=2), lambda m: m.update(a=1)),
    "item of a tuple": (
        lambda m: setattr(m[1], "rate", 2),
        lambda m: setattr(m[1], "rate", 1),
    ),
    "owner": (
        lambda m: setattr(m.__self__, "rate", 2),
        lambda m: setattr(m.__self__, "rate", 1),
    ),
}


@pytest.mark.parametrize(
    ("value", "change"),
    [
        (ByValue(1), "a"),
        (Unsafe(1), "a"),
        (HashableDict(a=1), "item"),
        (marked(Metres(1)), "mark.append"),
        (marked(Text("a")), "mark.append"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_changed_value_is_another_key(value, change):
    change, undo = CHANGES[change]
    before = token(value)
    assert token(value) == before
    change(value)
    assert token(value) != before
    undo(value)
    assert token(value) == before


@pytest.mark.parametrize(
    ("value", "change"),
    [
        (Model(1), "attribute"),
        (Model([1]), "list"),
        (Model(list(range(5000))), "list"),
        (Model({}), "dict"),
        (Model(Model(1)), "object"),
        (Model(np.ones(3)), "array"),
        (SlottedObject(1), "slot"),
        ((1, Model(1)), "item of a tuple"),
        (Model(1).step, "owner"),
        (ByIdentity([1]), "a.append"),
        (Scale(Model(1)), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_object_without_eq_is_one_key_with_any_content(value, change):
    """Its attributes that a trace reads are guarded; see tests/retrace."""
    change = CHANGES[change][0] if change else lambda m: setattr(m.factor, "rate", 2)
    before = token(value)
    change(value)
    assert token(value) == before


def test_a_rebound_variable_in_a_frozen_dataclass_is_another_key():
    a = 1
    value = Scale(lambda x: x + a)
    before = token(value)
    a = 2
    assert token(value) != before


def test_enum_members_are_not_looked_into():
    Colour.RED.mark = [1]
    before = token(Colour.RED)
    Colour.RED.mark.append(2)
    assert token(Colour.RED) == before
    del Colour.RED.mark


def test_an_object_with_its_own_eq_is_compared_by_it():
    one = HashableBytes(b"a")
    assert token(one) == token(HashableBytes(b"a"))
    assert token(one) != token(HashableBytes(b"b"))
    before = token(one)
    one.append(1)
    assert token(one) != before


def test_quick_ways_give_the_general_token():
    for make in SAME:
        value = make()
        token(value)
        assert (
            token(value)
            == static_values._read(value, "n", static_values._StaticReader())[0]
        )


# ---- declarations of classes ----


class Spy:
    """Compared by an attribute; records reads of attributes and comparisons."""

    asked: typing.ClassVar[list[str]] = []

    def __init__(self, a, ignored=0):
        self.a, self.ignored = a, ignored

    def __getattribute__(self, name):
        Spy.asked.append(name)
        return object.__getattribute__(self, name)

    def __eq__(self, other):
        Spy.asked.append("==")
        return vars(self)["a"] == vars(other)["a"]

    def __hash__(self):
        Spy.asked.append("hash")
        return 1


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: (x, 1), Scale])
def test_an_eq_that_ignores_a_field_is_believed(wrap):
    one, other = Spy(1, "a"), Spy(1, "b")
    assert token(wrap(one)) == token(wrap(other))
    assert token(wrap(one)) != token(wrap(Spy(2, "a")))


def test_fields_that_a_dataclass_does_not_compare_are_ignored():
    @dataclasses.dataclass(frozen=True)
    class Partly:
        a: object
        note: object = dataclasses.field(default=None, compare=False)

    assert token(Partly(1, "a")) == token(Partly(1, [2]))
    assert token(Partly(1)) != token(Partly(1.0))
    assert "not compared" in show(token(Partly(1)))


def test_a_dataclass_with_its_own_hash_is_compared_by_it():
    @dataclasses.dataclass(frozen=True)
    class Graph:
        nodes: list

        def __hash__(self):
            return hash(tuple(self.nodes))

    assert token(Graph([1, 2])) == token(Graph([1, 2]))
    assert token(Graph([1, 2])) != token(Graph([1, 3]))


def test_an_object_with_an_eq_is_not_walked():
    value = Spy([Spy(i) for i in range(100)])
    f = imprint.jit(lambda x, n: x + 1, static_argnums=1)
    f(1.0, value)
    for _ in range(3):
        Spy.asked.clear()
        f(1.0, value)
        assert set(Spy.asked) <= {"hash", "__class__"}
        assert Spy.asked.count("hash") == 1
    Spy.asked.clear()
    f(1.0, Spy(vars(value)["a"]))
    assert Spy.asked.count("==") == 1


def test_static_data_with_an_eq_is_not_walked():
    f = imprint.jit(lambda node: node.w + 1)
    value = Spy([Spy(i) for i in range(100)])
    nodes = [Node(inp.ones(2), value), Node(inp.ones(2), value)]
    for node in nodes * 2:
        f(node)
    for node in nodes:
        Spy.asked.clear()
        f(node)
        assert Spy.asked == []
    f(Node(inp.ones(2), Spy(vars(value)["a"], "another")))
    assert f._cache_size() == 1


def test_the_same_object_has_one_token_while_a_key_holds_it():
    for value in (Spy(1), Scale((Scale(1.0), 2)), tuple(range(20)), frozenset({1, 2})):
        assert token(value) is token(value)


def test_the_declaration_of_an_object_is_read_each_time():
    class Speaker:
        said = 1

        def __imprint_token__(self):
            return self.said

    value = Speaker()
    before = token(value)
    value.said = 2
    assert token(value) != before


def test_tuples_that_are_kept_are_few():
    for i in range(3 * static_values._MOST):
        token((i, *range(20)))
    assert len(static_values._strong) <= static_values._MOST
    kept = [
        x
        for x in static_values._known.values()
        if type(x) is static_values._StrongEntry
    ]
    assert len(kept) <= static_values._MOST


def test_items_of_a_tuple_are_not_kept_alive():
    value = Model(1)
    token((value, *range(20)))
    gone = weakref.ref(value)
    del value
    gc.collect()
    assert gone() is None


def test_a_hash_that_fails_later_is_refused_as_the_first():
    token(ByValue(1))
    with pytest.raises(ArgumentError, match=r"n: expected ByValue\.__hash__ to answer"):
        token(ByValue([1]))
    value = ByValue(1)
    key = token(value)
    value.a = [1]
    with pytest.raises(ArgumentError, match=r"ByValue\.__hash__ to answer"):
        token(value)
    assert hash(key) == hash(1)


def test_a_list_in_static_data_is_compared_by_content():
    f = imprint.jit(lambda node: node.w * len(node.sizes))
    sizes = [float(i) for i in range(100)]
    node = Node(inp.ones(()), sizes)
    assert [float(f(node)) for _ in range(3)] == [100.0] * 3
    assert float(f(Node(inp.ones(()), [float(i) for i in range(100)]))) == 100.0
    assert f._cache_size() == 1
    sizes[3] = 3
    f(node)
    assert f._cache_size() == 2
    sizes.append(0.0)
    assert float(f(node)) == 101.0


# ---- refusals ----

REFUSED = {
    "list": (lambda: [1], "n: expected a hashable value, got list. Pass a tuple."),
    "dict": (
        lambda: {"a": 1},
        "n: expected a hashable value, got dict. Pass a frozen dataclass, or a tuple "
        "of pairs.",
    ),
    "set": (lambda: {1}, "n: expected a hashable value, got set. Pass a frozenset."),
    "bytearray": (
        lambda: bytearray(),
        "n: expected a hashable value, got bytearray. Pass bytes.",
    ),
    "deque": (
        collections.deque,
        "n: expected a hashable value, got deque. Pass a tuple.",
    ),
    "in a tuple": (
        lambda: (1, (2, [3])),
        "n[1][1]: expected a hashable value, got list. Pass a tuple.",
    ),
    "in a field": (
        lambda: Scale(1, [3]),
        "n.name: expected a hashable value, got list. Pass a tuple.",
    ),
    "in a named tuple": (
        lambda: Named(1, {2}),
        "n.b: expected a hashable value, got set. Pass a frozenset.",
    ),
    "dataclass": (
        Open,
        "n: expected a hashable value, got Open. Declare it @dataclass(frozen=True).",
    ),
    "__eq__ alone": (
        EqOnly,
        "n: expected a hashable value, got EqOnly. It defines __eq__ without __hash__: "
        "define both on the same attributes, or make it a frozen dataclass.",
    ),
    "__hash__ alone": (
        HashOnly,
        "n: expected a class with __eq__ beside __hash__, got HashOnly, which has only "
        "__hash__: equal hashes would never make two objects equal, and each would be "
        "compiled for. Define __eq__ on the same attributes, or make it a frozen "
        "dataclass.",
    ),
    "__hash__ raises": (
        HashRaises,
        "n: expected HashRaises.__hash__ to answer, got RuntimeError: no hash today. "
        "Compute it from attributes that can be hashed and compared, or make the class "
        "a frozen dataclass.",
    ),
    "__eq__ raises": (
        EqRaises,
        "n: expected EqRaises.__eq__ to answer, got RuntimeError: no answer. Compute it "
        "from attributes that can be hashed and compared, or make the class a frozen "
        "dataclass.",
    ),
    "array": (
        lambda: np.ones(2),
        "n: expected a value known before tracing, got an array array([1., 1.]). Pass "
        "it as an ordinary (traced) argument.",
    ),
    "array in a field": (
        lambda: Scale(1.0, (2, np.ones(2))),
        "n.name[1]: expected a value known before tracing, got an array "
        "array([1., 1.]). Pass it as an ordinary (traced) argument.",
    ),
    "array in a node": (
        lambda: Node(np.ones(2)),
        "n: expected a hashable value, got Node. It holds an array (.w): pass it as an "
        "ordinary (traced) argument.",
    ),
    "array deep in a node": (
        lambda: Node({"a": [1, np.ones(2)]}),
        "n: expected a hashable value, got Node. It holds an array (.w['a'][1]): pass it "
        "as an ordinary (traced) argument.",
    ),
    "dict of arrays": (
        lambda: {"w": [np.ones(2)]},
        "n: expected a hashable value, got dict. It holds an array (['w'][0]): pass it "
        "as an ordinary (traced) argument.",
    ),
    "namespace": (
        types.SimpleNamespace,
        "n: expected a hashable value, got SimpleNamespace. Make its class a frozen "
        "dataclass.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_the_part_and_the_remedy(name):
    make, message = REFUSED[name]
    for _ in range(2):  # a refused class is refused each time
        with pytest.raises(ArgumentError) as caught:
            token(make())
        assert str(caught.value) == f"static argument {message}"


def test_an_imprint_array_is_refused():
    with pytest.raises(ArgumentError, match="known before tracing"):
        token(inp.ones(2))


def test_the_cause_is_chained():
    with pytest.raises(ArgumentError) as caught:
        token(HashRaises())
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_an_eq_that_gives_no_bool_is_refused():
    with pytest.raises(ArgumentError, match=r"EqOfArrays\.__eq__ to answer, got Value"):
        token(EqOfArrays())


def test_the_parts_of_an_object_are_free():
    assert token(Model([np.ones(2), {"a": Open()}]))


def test_equal_objects_that_hash_differently_warn_once():
    class Careless(ByValue):
        def __hash__(self):
            return id(self)

    one, other = Careless(1), Careless(1)
    token(one)
    check_equal_hashes(one, "cfg")
    with pytest.warns(UserWarning, match="cfg: expected equal Careless objects"):
        check_equal_hashes(other, "cfg")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_equal_hashes(Careless(1), "cfg")
        for a in range(10):
            check_equal_hashes(ByValue(a), "cfg")
            check_equal_hashes(ByValue(1), "cfg")


# ---- lifetimes ----


@pytest.mark.parametrize(
    "make",
    [
        lambda: Model(1),
        lambda: Scale(1.0),
        lambda: Scale(Model(1)),
        lambda: Model(Model(1)),
        lambda: scaled(1),
    ],
)
def test_a_key_keeps_no_object_alive(make):
    value = make()
    key = token(value)
    gone = weakref.ref(value)
    del value
    gc.collect()
    assert gone() is None
    assert key is not None


def test_a_dead_object_never_matches():
    tokens = [token(Model(1)) for _ in range(50)]
    assert len({*tokens}) == 50


def test_the_memo_of_a_frozen_dataclass_dies_with_it():
    for i in range(50):  # objects that follow each other at one address
        value = Scale(float(i))
        assert token(value) == token(Scale(float(i)))
        assert token(value) != token(Scale(float(i + 1)))


# ---- plain values ----


def test_same_value_is_exact():
    values = [
        0,
        0.0,
        -0.0,
        False,
        1,
        True,
        1.0,
        "1",
        b"1",
        None,
        ...,
        0j,
        -0j,
        math.nan,
    ]
    for i, one in enumerate(values):
        assert is_plain_value(one)
        for j, other in enumerate(values):
            assert same_value(one, other) == (i == j), (one, other)
    assert same_value(float("nan"), math.nan)
    assert not is_plain_value((1,))
    assert not is_plain_value(np.float32(1))
    assert not same_value(np.ones(2), 1)
