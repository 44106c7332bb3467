"""Changes of values whose state is hard to read are seen.

The pieces of `oracle.kinds`, each edit by itself, read by a strict function, by a jitted
function inside a strict one, as a static argument and as the static data of a node. The
last tests are of values that cannot be read: they are refused, or a warning names them.
"""

import collections
import contextvars
import dataclasses
import functools
import io
import itertools
import logging
import random
import re
import socket
import struct
import sys
import threading

import numpy
import pytest

import imprint
import imprint.numpy as np
from imprint import tree
from imprint.module import Module, field
from tests.retrace.oracle.kinds import KINDS, STATIC_KINDS
from tests.retrace.oracle.programs import HEAD, Program, Step, filled
from tests.retrace.oracle.world import MODULES, World, run

pytestmark = [
    pytest.mark.unaudited,  # they compare with a fresh trace themselves
    pytest.mark.filterwarnings("ignore:.* was compiled 8 times"),
]

GLOBAL = "def root(x):\n    return emit(x, <>)"
INNER = "@imprint.jit\ndef inner(x):\n    return emit(x, <>)\ndef root(x):\n    return inner(x)"
CAPTURED = """
def make(F):
    def inner(x):
        return emit(x, F())
    inner = imprint.jit(inner)
    return lambda x: inner(x)
root = make(lambda: (<>))
"""
NODE = """
@tree.register_dataclass
@dataclass
class Node:
    n: object = dataclasses.field(metadata={"static": True})
"""


@pytest.fixture(autouse=True)
def _no_modules_left():
    yield
    for name in MODULES:
        sys.modules.pop(name, None)


def edits_of(kinds):
    """Return the edits of each kind, by itself."""
    return [
        pytest.param(
            *(name, edit),
            id=f"{name}: {edit}".replace("#", ""),
        )
        for name, piece in kinds.items()
        for edit in (*piece.edits, *piece.holes)
    ]


def program(piece, edit, root, static=None, *, is_node=False):
    """Return a program that reads a piece, and is edited three times."""
    text = filled(root, 0, 3, filled(piece.read, 0, 3))
    lines = [HEAD, filled(piece.define, 0, 3), text]
    steps = tuple(Step(filled(edit, 0, k), called=True) for k in (0, 2, 2))
    return Program("\n".join(lines), "root", static, is_node, steps)


@pytest.mark.parametrize(("name", "edit"), edits_of(KINDS))
def test_a_strict_function_sees_it(name, edit):
    run(program(KINDS[name], edit, GLOBAL), strict=True)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("root", [INNER, CAPTURED], ids=["by name", "captured"])
@pytest.mark.parametrize(("name", "edit"), edits_of(KINDS))
def test_a_jit_inside_a_strict_function_sees_it(name, edit, root):
    world = World(program(KINDS[name], edit, root), strict=True)
    _, compiled = world.pairs[-1]
    for step in world.program.steps:
        found = [world.outcome(compiled) for _ in range(3)]
        imprint.clear_caches()
        assert found == [world.outcome(compiled)] * 3
        world.step(step.statement)


@pytest.mark.parametrize(("name", "edit"), edits_of(STATIC_KINDS))
def test_a_static_argument_is_compared_by_it(name, edit):
    root = "def root(x, n):\n    return emit(x, <>)"
    run(program(STATIC_KINDS[name], edit, root, "S"), strict=False)


@pytest.mark.parametrize(("name", "edit"), edits_of(STATIC_KINDS))
def test_the_static_data_of_a_node_is_compared_by_it(name, edit):
    if edit.startswith("S ="):
        edit = f"{edit}; T = Node(S)"
    root = (
        f"{NODE}T = Node(S)\ndef root(x, node):\n    n = node.n\n    return emit(x, <>)"
    )
    run(program(STATIC_KINDS[name], edit, root, "T", is_node=True), strict=False)


# ---- unreadable values ----


class Local(threading.local):
    pass


def closed_socket():
    with socket.socket() as made:
        return made


OPAQUE = {
    "generator": lambda: (i for i in range(3)),
    "iterator": lambda: iter([1]),
    "count": itertools.count,
    "file": lambda: io.StringIO("text"),
    "socket": closed_socket,
    "local": threading.local,
    "subclass of a local": Local,
    "context variable": lambda: contextvars.ContextVar("v"),
    "random": random.Random,
    "generator of NumPy": lambda: numpy.random.default_rng(0),
}
SETTLED = {
    "lock": threading.Lock,
    "reentrant lock": threading.RLock,
    "module": lambda: numpy,
    "class": lambda: int,
    "class of a metaclass": lambda: numpy.dtype,
    "function": lambda: len,
    "universal function": lambda: numpy.sin,
    "descriptor": lambda: str.upper,
    "field of a named tuple": lambda: vars(Pair)["a"],
    "memo": lambda: functools.lru_cache(len),
    "pattern": lambda: re.compile("a"),
    "struct": lambda: struct.Struct("i"),
    "logger": lambda: logging.getLogger("kinds"),
    "compiled function": lambda: imprint.jit(len),
    "dtype": lambda: np.float32,
    "device": lambda: imprint.devices()[0],
    "object": object,
}


Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass(frozen=True)
class Config:
    source: object


class Node(Module):
    source: object = field(static=True)


@pytest.mark.parametrize("make", OPAQUE.values(), ids=OPAQUE)
def test_an_unreadable_static_argument_is_compared_by_identity(make):
    static = imprint.jit(lambda x, n: x, static_argnums=1)
    value, other = make(), make()
    for held in (value, other, value):
        assert static(1.0, held) == static(1.0, Config(held)) == 1.0
    assert static._cache_size() == 4
    assert imprint.filter_jit(lambda x, n: x)(1.0, value) == 1.0
    assert imprint.jit(lambda x, n: x)(1.0, Node(value)) == 1.0
    assert tree.map(lambda x: x, Node(value)).source is value


@pytest.mark.parametrize("make", SETTLED.values(), ids=SETTLED)
def test_parts_of_programs_are_static_arguments(make):
    assert imprint.jit(lambda x, n: x, static_argnums=1)(1.0, make()) == 1.0
