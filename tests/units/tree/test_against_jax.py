"""The functions on trees as in JAX, case by case: results, errors, text.

A case is a function of `jax.tree_util`, or of `imprint.tree_util`. `DIFFERENT` are those
that differ on purpose, with reasons.
"""

import collections
import enum
import operator
import pickle
import time
import types
from collections import OrderedDict, defaultdict

import jax
import pytest

from imprint import tree_util
from tests.units.tree.examples import Pair, Point


class Shade(enum.Enum):
    a = 1
    b = 2


CASES = {
    "mixed keys": lambda u: u.tree_leaves({1: 1, "a": 2}),
    "mixed keys map": lambda u: u.tree_map(lambda x: x + 1, {1: 1, "a": 2}),
    "int/str keys in OD": lambda u: u.tree_leaves(OrderedDict([(1, 1), ("a", 2)])),
    "tuple keys": lambda u: u.tree_leaves({(1, 2): 1, (0, 1): 2}),
    "none key": lambda u: u.tree_leaves({None: 1}),
    "none keys": lambda u: u.tree_leaves({None: 1, "a": 2}),
    "dd": lambda u: u.tree_map(lambda x: x + 1, defaultdict(list, {"b": 1, "a": 2})),
    "dict v dd": lambda u: u.tree_map(
        operator.add, {"a": 1}, defaultdict(int, {"a": 2})
    ),
    "dd v dict": lambda u: u.tree_map(
        operator.add, defaultdict(int, {"a": 2}), {"a": 1}
    ),
    "OD order": lambda u: u.tree_map(
        operator.add, OrderedDict(a=1, b=2), OrderedDict(b=1, a=2)
    ),
    "OD v dict": lambda u: u.tree_map(
        operator.add, OrderedDict(a=1, b=2), {"a": 1, "b": 2}
    ),
    "list v tuple": lambda u: u.tree_map(operator.add, [1], (1,)),
    "nt v tuple": lambda u: u.tree_map(operator.add, Point(1, 2), (1, 2)),
    "tuple v nt": lambda u: u.tree_map(operator.add, (1, 2), Point(1, 2)),
    "none v leaf": lambda u: u.tree_map(lambda a, b: (a, b), None, 1),
    "leaf v none": lambda u: u.tree_map(lambda a, b: (a, b), 1, None),
    "len": lambda u: u.tree_map(operator.add, [1, 2], [1]),
    "unflatten few": lambda u: u.tree_unflatten(u.tree_structure([1, 2]), [1]),
    "unflatten many": lambda u: u.tree_unflatten(u.tree_structure([1, 2]), [1, 2, 3]),
    "unflatten iter": lambda u: u.tree_unflatten(
        u.tree_structure([1, 2]), iter([1, 2])
    ),
    "unflatten nonleaf": lambda u: u.tree_unflatten(
        u.tree_structure([1, 2]), [[1], None]
    ),
    "transpose": lambda u: u.tree_transpose(
        u.tree_structure([0, 0]), u.tree_structure({"a": 0}), [{"a": 1}, {"a": 2}]
    ),
    "transpose none": lambda u: u.tree_transpose(
        u.tree_structure([0, 0]), None, [{"a": 1}, {"a": 2}]
    ),
    "transpose bad": lambda u: u.tree_transpose(
        u.tree_structure([0, 0]), u.tree_structure({"a": 0}), [{"a": 1}]
    ),
    "reduce empty": lambda u: u.tree_reduce(operator.add, ()),
    "reduce init none": lambda u: u.tree_reduce(lambda a, b: b, (), None),
    "all": lambda u: u.tree_all([True, [1, None]]),
    "treedef_tuple": lambda u: str(
        u.treedef_tuple((u.tree_structure([1]), u.tree_structure(None)))
    ),
    "treedef_tuple iter": lambda u: str(
        u.treedef_tuple(iter((u.tree_structure([1]), u.tree_structure(None))))
    ),
    "children": lambda u: str(u.treedef_children(u.tree_structure({"a": [1], "b": 2}))),
    "str": lambda u: [
        str(u.tree_structure(t))
        for t in (
            1,
            None,
            [1, (2, None)],
            {"a": 1},
            Point(1, [2]),
            OrderedDict(a=1),
            defaultdict(int, {"a": 1}),
            (),
            [],
        )
    ],
    "eq": lambda u: (
        u.tree_structure([1]) == u.tree_structure([2]),
        u.tree_structure([1]) != u.tree_structure((1,)),
        u.tree_structure({"a": 1, "b": 2}) == u.tree_structure({"b": 1, "a": 2}),
    ),
    "compose": lambda u: str(
        u.tree_structure([1, 1]).compose(u.tree_structure({"a": 1}))
    ),
    "flatten_up_to": lambda u: u.tree_structure([1, 1]).flatten_up_to([[1], None]),
    "flatten_up_to bad": lambda u: u.tree_structure([1, 1]).flatten_up_to([[1]]),
    "flatten_up_to type": lambda u: u.tree_structure([1, 1]).flatten_up_to((1, 2)),
    "keystr": lambda u: [
        u.keystr(p)
        for p, _ in u.tree_leaves_with_path(
            {"a": [1, Point(1, 2)], "z": defaultdict(int, z=1)}
        )
    ],
    "keystr simple": lambda u: [
        u.keystr(p, simple=True, separator="/")
        for p, _ in u.tree_leaves_with_path(
            {"a": [1, Point(1, 2)], "z": u.Partial(max, 1, k=3)}
        )
    ],
    "keys repr": lambda u: repr(
        [u.DictKey("a"), u.SequenceKey(1), u.GetAttrKey("x"), u.FlattenedIndexKey(3)]
    ),
    "path is_leaf": lambda u: [
        u.keystr(p)
        for p, _ in u.tree_leaves_with_path(
            [(1, 2), [3]], is_leaf=lambda x: isinstance(x, tuple)
        )
    ],
    "map_with_path many": lambda u: u.tree_map_with_path(
        lambda p, a, b: (u.keystr(p), a, b), {"a": 1}, {"a": [2]}
    ),
    "partial": lambda u: u.tree_map(lambda x: x + 1, u.Partial(operator.add, 1))(1),
    "partial of partial": lambda u: (
        lambda p: (p.args, p.func is operator.add, u.tree_leaves(p))
    )(u.Partial(u.Partial(operator.add, 1), 2)),
    "partial call": lambda u: u.Partial(max, 1)(3),
    "broadcast": lambda u: u.tree_broadcast((1, [2]), ({"a": 0}, [{"b": 0}])),
    "broadcast bad": lambda u: u.tree_broadcast((1, 2), (1,)),
    "leaves is_leaf none": lambda u: u.tree_leaves(
        [None, 1], is_leaf=lambda x: x is None
    ),
    "structure is_leaf": lambda u: str(
        u.tree_structure([(1, 2)], is_leaf=lambda x: isinstance(x, tuple))
    ),
    "all_leaves": lambda u: (
        u.all_leaves([1, 2]),
        u.all_leaves([1, None]),
        u.all_leaves([()]),
    ),
    "sets are leaves": lambda u: (
        u.tree_leaves([{1, 2}, frozenset()]) == [{1, 2}, frozenset()]
    ),
    "str leaf": lambda u: u.tree_leaves("abc"),
    "register twice": lambda u: u.register_pytree_node(
        Pair, lambda p: ((), None), lambda a, c: None
    ),
    "hash": lambda u: (
        hash(u.tree_structure({"a": [1]})) == hash(u.tree_structure({"a": [2]}))
    ),
    "unflatten method": lambda u: u.tree_structure({"a": 0}).unflatten([5]),
    "flatten kw": lambda u: u.tree_flatten(tree=[1])[0],
    "map kw": lambda u: u.tree_map(f=lambda x: x, tree=[1]),
    "reduce kw": lambda u: u.tree_reduce(
        function=operator.add, tree=[1, 2], initializer=3
    ),
    "transpose kw": lambda u: u.tree_transpose(
        outer_treedef=u.tree_structure([0]),
        inner_treedef=u.tree_structure((0,)),
        pytree_to_transpose=[(1,)],
    ),
    "all_leaves kw": lambda u: u.all_leaves(iterable=[1]),
    "treedef pickle": lambda u: (
        pickle.loads(pickle.dumps(u.tree_structure([1]))) == u.tree_structure([1])
    ),
    "ordered paths": lambda u: [
        u.keystr(p) for p, _ in u.tree_leaves_with_path(OrderedDict(b=1, a=2))
    ],
    "bool leaves": lambda u: u.tree_map(lambda x: not x, [True, {"k": False}]),
    "subclass dict": lambda u: len(u.tree_leaves(type("SD", (dict,), {})(a=1, b=2))),
    "subclass list": lambda u: len(u.tree_leaves(type("SL", (list,), {})([1, 2]))),
    "subclass nt": lambda u: u.tree_leaves(type("SP", (Point,), {})(1, 2)),
    "Counter": lambda u: len(u.tree_leaves(collections.Counter("aab"))),
    "deque": lambda u: len(u.tree_leaves(collections.deque([1, 2]))),
    "structseq": lambda u: len(u.tree_leaves(time.localtime())),
    "mappingproxy": lambda u: len(
        u.tree_leaves(types.MappingProxyType({"a": 1, "b": 2}))
    ),
    "float int keys": lambda u: u.tree_leaves({1.5: 1, 1: 2}),
    "bool/int keys": lambda u: u.tree_leaves({True: 1, 0: 2}),
    "bytes/str keys": lambda u: u.tree_leaves({b"a": 1, "b": 2}),
    "enum keys": lambda u: u.tree_leaves({Shade.b: 1, Shade.a: 2}),
    "obj keys": lambda u: u.tree_leaves({object(): 1, object(): 2}),
    "one obj key": lambda u: u.tree_leaves({object(): 1}),
}

_MIXED = "keys that Python cannot sort have an order of their own"
_KINDS = (
    "dictionaries of several kinds are matched by key, as long as the first decides"
)
_NODES = "it is a node: its items are leaves"
DIFFERENT = {
    **dict.fromkeys(
        ("mixed keys", "mixed keys map", "none keys", "bytes/str keys"), _MIXED
    ),
    **dict.fromkeys(("enum keys", "obj keys"), _MIXED),
    **dict.fromkeys(("dict v dd", "dd v dict", "OD order", "OD v dict"), _KINDS),
    **dict.fromkeys(("deque", "structseq"), _NODES),
    "str": "named tuples and dictionaries print as they are written",
    "keystr simple": "the parts of a Partial have their names",
    "partial of partial": "the arguments of both are children",
}


def outcome(case, library):
    try:
        return str(case(library))
    except Exception as err:
        return err


@pytest.mark.parametrize("name", CASES)
def test_a_case_does_the_same_as_with_jax(name):
    ours, theirs = outcome(CASES[name], tree_util), outcome(CASES[name], jax.tree_util)
    if isinstance(ours, Exception) and isinstance(theirs, Exception):
        same = isinstance(ours, type(theirs))
    else:
        same = ours == theirs
    assert same != (name in DIFFERENT), (ours, theirs)
