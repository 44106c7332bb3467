"""Warm calls by the kind and size of static values.

A row passes one array and one value that is either a static argument or the static data of a
node. The value is a frozen dataclass of 1, 10 or 100 frozen items, a list of as many numbers
(static data only: a list is no static argument), or an object with such a list that defines
`==` and hash by it. The twin is JAX's `jit` with the same classes. The program is one
addition, so nearly all is dispatch.
"""

import dataclasses

import jax
import jax.numpy as jnp

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Pair, Suite

SIZES = (1, 10, 100)
GOAL = 1.5


@dataclasses.dataclass(frozen=True)
class Item:
    number: float
    name: str


@dataclasses.dataclass(frozen=True)
class Frozen:
    items: tuple


class ByItems:
    """An object whose class compares it by content."""

    def __init__(self, items):
        self.items = items

    def __eq__(self, other):
        return type(other) is ByItems and self.items == other.items

    def __hash__(self):
        return hash(tuple(self.items))


def frozen(size):
    return Frozen(tuple([Item(i + 0.5, f"item {i}") for i in range(size)]))


def numbers(size):
    return [i + 0.5 for i in range(size)]


def by_items(size):
    return ByItems(numbers(size))


STATIC = {"frozen dataclasses": frozen, "own ==": by_items}
KINDS = {"frozen dataclasses": frozen, "list": numbers, "own ==": by_items}


def argument_call(library, names, value):
    """Return a call with a static argument."""
    compiled, x = library.jit(lambda x, s: x + 1, static_argnums=1), names.ones(8)
    return lambda: compiled(x, value)


def node_call(library, names, value):
    """Return a call with a node that has static data."""

    class Node:
        def __init__(self, x, aux):
            self.x, self.aux = x, aux

    library.tree_util.register_pytree_node(
        Node, lambda n: ((n.x,), n.aux), lambda aux, children: Node(*children, aux)
    )
    compiled, node = library.jit(lambda n: n.x + 1), Node(names.ones(8), value)
    return lambda: compiled(node)


def pairs_of(what, call, kinds):
    """Return a row for each kind and size."""
    return [
        Pair(
            f"{what}, {kind}, {size}",
            call(imprint, inp, make(size)),
            call(jax, jnp, make(size)),
            GOAL,
        )
        for kind, make in kinds.items()
        for size in SIZES
    ]


PAIRS = [
    *pairs_of("static argument", argument_call, STATIC),
    *pairs_of("static data of a node", node_call, KINDS),
]


class Statics(Suite):
    """Calls with static values."""

    pairs = PAIRS
