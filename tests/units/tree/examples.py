"""Pytrees for the tests, and the same classes registered with imprint and with JAX.

JAX names keys with classes of its own, so key paths are compared as text.
"""

import collections
import dataclasses

import jax
from hypothesis import strategies as st

from imprint import tree

Point = collections.namedtuple("Point", "x y")


class Pair:
    """Registered without keys, with static data."""

    def __init__(self, a, b, unit=None):
        self.a, self.b, self.unit = a, b, unit

    def __eq__(self, other):
        return vars(self) == vars(other)

    def __repr__(self):
        return f"Pair({self.a}, {self.b}, {self.unit!r})"

    __hash__ = None


class Box:
    """Registered with keys."""

    def __init__(self, inside):
        self.inside = inside

    def __eq__(self, other):
        return vars(self) == vars(other)

    __hash__ = None


@dataclasses.dataclass
class Layer:
    """Registered as a dataclass."""

    w: object
    b: object
    name: str = dataclasses.field(default="layer", metadata={"static": True})


class Unit(str):
    """Registered as static."""

    __slots__ = ()


def both(register):
    for library in (tree, jax.tree_util):
        register(library)


@both
def _register(library):
    library.register_pytree_node(
        Pair, lambda p: ((p.a, p.b), p.unit), lambda unit, parts: Pair(*parts, unit)
    )
    library.register_pytree_with_keys(
        Box,
        lambda box: ([(library.GetAttrKey("inside"), box.inside)], None),
        lambda _, parts: Box(*parts),
    )
    library.register_dataclass(Layer)
    library.register_static(Unit)


LEAVES = st.integers(0, 9) | st.just("leaf") | st.floats(0, 1)
KEYS = st.text("abc", max_size=2)


def containers(trees):
    dicts = st.dictionaries(KEYS, trees, max_size=3)
    return st.one_of(
        st.lists(trees, max_size=3),
        st.lists(trees, max_size=3).map(tuple),
        dicts,
        dicts.map(collections.OrderedDict),
        dicts.map(lambda d: collections.defaultdict(list, d)),
        st.dictionaries(st.integers(0, 5), trees, max_size=3),
        st.builds(Point, trees, trees),
        st.builds(Pair, trees, trees, st.none() | KEYS),
        st.builds(Box, trees),
        st.builds(Layer, trees, trees, KEYS),
    )


TREES = st.recursive(LEAVES | st.none() | st.just(Unit("m")), containers, max_leaves=8)
