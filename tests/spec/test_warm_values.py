"""Values that start warm: trees, keys, weak references, objects of libraries."""

import sys

import numpy as np
import pytest

from imprint._src.core import user_code
from imprint._src.jit.manifest import environment
from tests.spec import reborn

X = np.ones(3, np.float32)
LIBRARY = """
class Settings:
    def __init__(self, rate, parts=()):
        self.rate, self.parts, self.calls = rate, list(parts), 0

    def scale(self, x):
        return x * self.rate

class Counter(Settings):
    def scale(self, x):
        self.calls += 1
        return x * self.rate * self.calls

class Slots:
    __slots__ = ("rate",)
    def __init__(self, rate):
        self.rate = rate

class Locked(Settings):
    def __init__(self, rate):
        super().__init__(rate)
        import threading
        self.lock = threading.Lock()
"""
HEAD = """
import functools, operator, types, weakref
import imprint, a_library
import imprint.numpy as np
from imprint import random, tree

class Thing:
    def __init__(self, rate):
        self.rate = rate
    def scaled(self, x):
        return x * self.rate

def jitted(fun, static):
    f = imprint.jit(fun, static_argnums=1)
    return lambda x: f(x, static)
"""


@pytest.fixture
def life(tmp_path, imprint_store, monkeypatch):
    """Return how a life begins: with the text of a program that defines `f`."""
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "a_library.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(user_code, "BEGAN", 1 << 62)
    monkeypatch.setattr(environment, "_known", {})

    def begin(text):
        sys.modules.pop("a_library", None)
        return reborn.begin({"main": HEAD + text}, tmp_path).main.f

    yield begin
    sys.modules.pop("a_library", None)


KEPT = {
    "a tree": (
        "f = jitted(lambda x, t: x * t.num_leaves, tree.structure([1, {'a': 2}]))",
        [("[1, {", "[1, 3, {"), ("'a'", "'b'")],
    ),
    "a tree with static data": (
        """
class Node:
    def __init__(self, rate):
        self.rate = rate
imprint.tree_util.register_pytree_node(Node, lambda n: ((), n.rate), lambda rate, _: Node(rate))
f = jitted(lambda x, t: x * t.unflatten([]).rate, tree.structure(Node(2.0)))
""",
        [("2.0", "3.0")],
    ),
    "a captured tree": (
        "T = tree.structure((1, 2))\nf = imprint.jit(lambda x: x * T.num_leaves)",
        [("(1, 2)", "(1,)")],
    ),
    "a key": (
        "K = random.key(3)\nf = imprint.jit(lambda x: x * random.normal(K, (3,)))",
        [("3)\n", "4)\n"), ("3)\n", "3, impl='rbg')\n")],
    ),
    "a key in a partial": (
        """
f = imprint.jit(functools.partial(lambda k, x: x * random.uniform(k), random.key(3)))
""",
        [("key(3)", "key(4)")],
    ),
    "a weak reference": (
        """
THING = Thing(2.0)
REF = weakref.ref(THING)
f = imprint.jit(lambda x: x * REF().rate)
""",
        [("2.0", "3.0")],
    ),
    "a weak reference in an object": (
        """
THING, CHILD = Thing(2.0), Thing(1.0)
CHILD.parent = weakref.ref(THING)
f = imprint.jit(lambda x: x * CHILD.parent().rate)
""",
        [("2.0", "3.0")],
    ),
    "a weak method": (
        """
THING = Thing(2.0)
REF = weakref.WeakMethod(THING.scaled)
f = imprint.jit(lambda x: REF()(x))
""",
        [("2.0", "3.0")],
    ),
    "a function for each class": (
        """
@functools.singledispatch
def scale(rate, x):
    return x * rate
@scale.register
def _(rate: str, x):
    return x * len(rate) * 1.5
f = imprint.jit(lambda x: scale(2.0, x) + scale("ab", x))
""",
        [("x * rate", "x + rate"), ("1.5", "2.5"), ("2.0", "3.0")],
    ),
    "a weak dictionary in an object": (
        """
T = Thing(2.0)
T.seen = weakref.WeakKeyDictionary()
f = imprint.jit(T.scaled)
""",
        [("2.0", "3.0")],
    ),
    "a getter": (
        "GET = operator.attrgetter('rate')\nT = Thing(2.0)\n"
        "f = imprint.jit(lambda x: x * GET(T))",
        [("2.0", "3.0"), ("T = Thing(2.0)", "T = Thing(2.0)\nT.rate = 4.0")],
    ),
    "an item getter": (
        "GET = operator.itemgetter(0)\nf = imprint.jit(lambda x: GET((x, x + 1)))",
        [("getter(0)", "getter(1)")],
    ),
    "a partial method": (
        """
class Scaled:
    def by(self, rate, x):
        return x * rate
    twice = functools.partialmethod(by, 2.0)
S = Scaled()
f = imprint.jit(lambda x: S.twice(x))
""",
        [("2.0", "3.0")],
    ),
    "a partial of a function of imprint": (
        """
class Parts:
    def __init__(self):
        self.parts = {"a": functools.partial(np.multiply, 2.0)}
P = Parts()
f = imprint.jit(lambda x: P.parts["a"](x))
""",
        [("2.0", "3.0"), ("multiply", "add")],
    ),
    "an object of a library": (
        "f = jitted(lambda x, s: s.scale(x), a_library.Settings(2.0, [1]))",
        [("2.0", "3.0"), ("[1]", "[2]"), ("Settings", "Counter")],
    ),
    "an object of a library that code reads by name": (
        "S = a_library.Settings(2.0)\nf = imprint.jit(lambda x: S.scale(x))",
        [("2.0", "3.0"), ("Settings", "Counter")],
    ),
    "a nested object of a library": (
        "T = Thing(a_library.Slots(2.0))\n"
        "f = jitted(lambda x, t: x * t.rate.rate, T)",
        [("2.0", "3.0")],
    ),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", KEPT)
def test_it_starts_warm_until_it_is_another(life, name):
    text, edits = KEPT[name]
    first, count = reborn.traces(life(text), X)
    assert count >= 1
    again, count = reborn.traces(life(text), X)
    assert count == 0
    np.testing.assert_array_equal(again, first)
    for old, new in edits:
        assert old in text
        assert reborn.traces(life(text.replace(old, new)), X)[1] >= 1


REFUSED = {
    "an object that the trace writes": "jitted(lambda x, s: s.scale(x), a_library.Counter(2.0))",
    "an object with a lock": "jitted(lambda x, s: s.scale(x), a_library.Locked(2.0))",
    "an object in a weak reference": "imprint.jit(lambda x: REF().scale(x))",
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_traced_in_each_process(life, name):
    text = "S = a_library.Settings(2.0)\nREF = weakref.ref(S)\nf = " + REFUSED[name]
    for _ in range(2):
        assert reborn.traces(life(text), X)[1] == 1


def test_a_tree_whose_static_data_changes_is_traced_again(life):
    text = """
class Node:
    pass
DATA = Thing(2.0)
imprint.tree_util.register_pytree_node(Node, lambda n: ((), DATA), lambda data, _: Node())
T = tree.structure(Node())
f = imprint.jit(lambda x: x * T.node_data()[1].rate)
f.data = DATA
"""
    for _ in range(2):
        f = life(text)
        assert float(f(X)[0]) == 2
        f.data.rate = 5.0
        assert float(f(X)[0]) == 5


MODEL = """
from imprint.module import Module, field
class Model(Module):
    weight: object
    act: object
    name: str = field(static=True)
    def __call__(self, x):
        return self.act(self.weight * x)
def loss(model, x):
    return model(x).sum()
def stepped(model, x):
    return imprint.apply_updates(model, imprint.filter_grad(loss)(model, x)), x
M = Model(np.ones(3), functools.partial(np.multiply, 2.0), "a")
RESULTS = {
    "the model": lambda m, x: m,
    "its gradient": imprint.filter_grad(loss),
    "a step": stepped,
    "its function": lambda m, x: {"f": m.act, "x": x},
}
def f(x):
    found = imprint.filter_jit(RESULTS[KIND])(M, x)
    leaves = [leaf.args[0] if callable(leaf) else leaf for leaf in tree.leaves(found)]
    return str(tree.structure(found)), *map(np.asarray, leaves)
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name", ["the model", "its gradient", "a step", "its function"]
)
def test_a_model_that_is_returned_starts_warm(life, name):
    def lived(text):
        found, traces = reborn.traces(life(f"KIND = {name!r}\n{text}"), X)
        return [x if type(x) is str else np.asarray(x).tolist() for x in found], traces

    first, traces = lived(MODEL)
    assert traces == 1
    assert lived(MODEL) == (first, 0)
    edited, traces = lived(MODEL.replace("2.0", "3.0"))
    assert traces == 1
    assert edited != first
    assert lived(MODEL.replace('"a"', '"b"'))[1] == 1


def test_a_result_that_is_none_of_the_arguments_is_traced_in_each_process(life):
    for text in ("lambda m, x: (loss, x)", "lambda m, x: (Other(x), x)"):
        program = MODEL.split("RESULTS")[0] + (
            "class Other(Module):\n    held: object\n"
            f"g = imprint.filter_jit({text})\nf = lambda x: g(M, x)[1]"
        )
        for _ in range(2):
            assert reborn.traces(life(program), X)[1] == 1
