"""Objects of libraries at names: what they hold counts, for another process too."""

import sys
import time
from types import ModuleType

import numpy as np
import pytest

import imprint
from imprint._src.core import user_code
from tests.spec import reborn

X = np.ones(3, np.float32)
LIBRARY = """
class Chain:
    def __init__(self, *steps, scale=1.0):
        self.steps, self.scale, self.count = [*steps], scale, 0

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x * self.scale


class Counting(Chain):
    def __call__(self, x):
        self.count += 1
        return super().__call__(x) + self.count % 2


class Unreadable(Chain):
    def __init__(self, *steps):
        super().__init__(*steps)
        self.generator = iter(())
"""
MAIN = """
import imprint
from chains import Chain, Counting, Unreadable

RATE = 2.0


def scaled(x):
    return x * RATE


{line}
"""
LINES = {
    "global": "chain = Chain(scaled); f = imprint.jit(lambda x: chain(x))",
    "item": "chains = [Chain(scaled)]; f = imprint.jit(lambda x: chains[0](x))",
    "inner": "chain = Chain(Chain(scaled)); f = imprint.jit(lambda x: chain(x))",
    "closure": "f = (lambda chain: imprint.jit(lambda x: chain(x)))(Chain(scaled))",
    "of a class": """
class Model:
    chain = Chain(scaled)

f = imprint.jit(lambda x: Model.chain(x))
""",
}


@pytest.fixture
def begin(tmp_path, imprint_store, monkeypatch):
    """Return a function that begins a life of a program with a line of its own."""
    file = tmp_path / "site-packages" / "chains.py"
    file.parent.mkdir()
    file.write_text(LIBRARY)

    def life(line, **edits):
        monkeypatch.setattr(user_code, "BEGAN", time.time_ns())
        library = ModuleType("chains")
        library.__file__ = str(file)
        exec(compile(LIBRARY, str(file), "exec"), vars(library))
        monkeypatch.setitem(sys.modules, "chains", library)
        text = MAIN.format(line=line)
        for old, new in edits.values():
            assert old in text
            text = text.replace(old, new)
        return reborn.begin({"main": text}, tmp_path).main

    return life


@pytest.mark.parametrize("name", LINES)
def test_a_global_of_a_function_in_it_counts(begin, name):
    main = begin(LINES[name])
    assert reborn.traces(main.f, X)[1] == 1
    assert reborn.traces(begin(LINES[name]).f, X)[1] == 0
    main = begin(LINES[name], rate=("RATE = 2.0", "RATE = 5.0"))
    np.testing.assert_allclose(main.f(X), 5.0 * X)
    main.RATE = 7.0
    np.testing.assert_allclose(main.f(X), 7.0 * X)


@pytest.mark.parametrize("new", ["scaled, scaled", "scaled, scale=3.0"])
def test_the_state_of_it_counts(begin, new):
    line = LINES["global"]
    assert reborn.traces(begin(line).f, X)[1] == 1
    main = begin(line, state=("Chain(scaled)", f"Chain({new})"))
    result, count = reborn.traces(main.f, X)
    assert count == 1
    np.testing.assert_allclose(result, main.chain(X))


@pytest.mark.parametrize(
    ("made", "said"),
    [("Counting(scaled)", "class chains.Counting"), ("Unreadable()", "tuple_iterator")],
)
def test_one_that_the_trace_wrote_or_without_content_is_not_kept(begin, made, said):
    line = f"chain = {made}; f = imprint.jit(lambda x: chain(x))"
    for _ in range(2):
        fun = begin(line).f
        assert reborn.traces(fun, X)[1] == 1
    assert said in fun.versions[0].restarts


def test_methods_of_a_class_in_a_static_treedef_count():
    class Model(imprint.module.Module):
        weight: float

        def __call__(self, x):
            return x * self.weight

    leaves, treedef = imprint.tree.flatten(Model(3.0))
    f = imprint.jit(lambda tree, x: tree.unflatten(leaves)(x), static_argnums=0)
    np.testing.assert_allclose(f(treedef, X), 3 * X)
    Model.__call__ = lambda self, x: x * self.weight + 1
    np.testing.assert_allclose(f(treedef, X), 3 * X + 1)
