"""Containers that a function empties and refills with objects of its own.

Examples are a graph of nodes, a tape, the records of the last step. A call finds the
objects of another call there; that is no reason to trace again.
"""

import gc

import pytest

import imprint
from tests.units.modules import make_module

MODULE = """
import collections
K = 2.0
class T:
    def __init__(self, v):
        self.v, self.itself = v, self
class Node:
    all = []
    def __init__(self, v):
        self.v = v
        Node.all.append(self)
class Model:
    def __init__(self):
        self.tape, self.by_name = [], {}
    def step(self, x):
        self.tape.clear()
        self.tape.append(T(x * K))
        self.by_name.clear()
        self.by_name["a"] = [T(x)]
        return self.tape[0].v * self.by_name["a"][0].v
L, S, D, Q = [], set(), {}, collections.deque(maxlen=2)
ONE = [T(0.0)]
GROUPED = collections.defaultdict(list)
model = Model()
def in_class(x):
    Node.all.clear()
    return Node(x * K).v * len(Node.all)
def in_list(x):
    L.clear()
    L.append(T(x * K))
    return L[0].v
def in_slice(x):
    L[:] = [T(x * K), T(x)]
    return L[0].v * L[1].v
def in_set(x):
    S.clear()
    S.add(T(x * K))
    return sum(t.v for t in S)
def in_dict(x):
    D.clear()
    D["a"] = {"z": T(x * K)}
    return D["a"]["z"].v
def in_ring(x):
    Q.append(T(x * K))
    return Q[-1].v
def in_item(x):
    ONE[0] = T(x * K)
    return ONE[0].v
def in_groups(x):
    GROUPED.clear()
    GROUPED["a"].append(T(x * K))
    return GROUPED["a"][0].v
def in_method(x):
    return model.step(x)
def capturing():
    tape = []
    def f(x):
        tape.clear()
        tape.append(T(x * K))
        return tape[0].v
    return f
def keeping():
    last = None
    def f(x):
        nonlocal last
        last = T(x * K)
        return last.v
    return f
in_captured, in_cell = capturing(), keeping()
"""
WAYS = [word for word in MODULE.split() if word.startswith("in_")]
WAYS = dict.fromkeys(word.partition("(")[0].rstrip(",") for word in WAYS)

# They count traces, and an audit fills containers, too.
pytestmark = pytest.mark.unaudited


@pytest.mark.parametrize("is_called_first", [False, True], ids=["anew", "called first"])
@pytest.mark.parametrize("way", WAYS)
def test_each_state_is_traced_and_then_answered(way, is_called_first):
    module = make_module("rebuilt", MODULE)
    plain = getattr(module, way)
    if is_called_first:
        plain(1.0)
    compiled = imprint.jit(plain)
    for k in (2.0, 3.0):
        module.K = k
        traces = []
        for _ in range(4):
            gc.collect()  # the dropped objects are in cycles
            before = imprint.debug.counters().traces
            assert compiled(1.0) == k
            traces.append(imprint.debug.counters().traces - before)
        # The first trace finds that the captured value is an effect.
        assert traces in ([1, 0, 0, 0], [1, 1, 0, 0])
