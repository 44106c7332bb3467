"""Needless misses: something changed that a function reads, and its program did not."""

import re

import pytest

import imprint
import imprint.testing
from imprint.versions.observers import OBSERVERS
from tests.units.modules import make_module

NEEDLESS = "name = 'a'\ndef f(x):\n    name\n    return x + 1\n"


def test_a_miss_that_gives_the_same_program_is_needless():
    user = make_module("needless", NEEDLESS)
    f = imprint.jit(user.f)
    f(1.0)
    before = imprint.debug.counters().needless
    user.name = "b"
    f(1.0)
    f(1)  # of another kind
    assert imprint.debug.counters().needless - before == 1
    f(1.0)
    user.name = "c"
    f(1.0)
    assert f.last_miss.is_needless
    assert f.last_miss.as_dict()["needless"] is True
    assert imprint.debug.counters().needless - before == 2


def test_a_miss_that_gives_another_program_is_not():
    user = make_module("needed", "rate = 1.0\ndef f(x): return x + rate\n")
    f = imprint.jit(user.f)
    f(1.0)
    before = imprint.debug.counters().needless
    user.rate = 2.0
    assert f(1.0) == 3.0
    assert not f.last_miss.is_needless
    f.versions[0].evict()
    f.versions[0].evict()
    f(1.0)
    assert imprint.debug.counters().needless == before


HIDDEN = """
class Settings:
    rate = 2.0
s, D = Settings(), False
s.rate = 3.0
f = lambda x: x * (Settings.rate if D else s.rate)
"""


class Told:
    """Keeps what observers are told."""

    def __init__(self):
        self.of = []

    def missed(self, miss):
        self.of.append(("missed", miss))

    def renewed(self, miss):
        self.of.append(("renewed", miss))

    def failed(self, miss):
        self.of.append(("failed", miss))

    def compiled(self, miss, costs):
        self.of.append(("compiled", miss))


@pytest.fixture
def told():
    told = Told()
    OBSERVERS.append(told)
    yield told.of
    OBSERVERS.remove(told)


def test_a_call_that_may_have_to_compile_says_so_and_then_what_came_of_it(told):
    user = make_module("hidden", HIDDEN)
    f = imprint.jit(user.f)
    assert f(1.0) == 3.0
    told.clear()
    user.Settings.rate = 7.0
    before = f.explain(1.0)
    assert not before.hit
    assert before.as_dict()["undecided"] is True
    assert re.sub(" at .*? compiles", " compiles", str(before)) == (
        "<lambda> compiles if it reads what changed since version 0: class attribute "
        "Settings.rate in hidden: 2.0 → 7.0. A trace will tell. A version is kept for "
        "each value; pass what changes often as an argument."
    )
    assert f(1.0) == 3.0
    assert [(what, miss.hit) for what, miss in told] == [("renewed", True)]
    assert f.last_miss is told[0][1]
    assert re.sub(r" at .*? is|\d\.\d\d s", " is", str(f.last_miss)) == (
        "<lambda> is answered by version 0, which does not read what changed: class "
        "attribute Settings.rate in hidden: 2.0 → 7.0. To find out it was traced again. "
        "It took  is."
    )
    assert str(f.explain(1.0)).count("is answered by version 0.") == 1


def test_what_is_read_compiles_after_all(told):
    user = make_module("hidden", HIDDEN.replace("s.rate = 3.0", ""))
    f = imprint.jit(user.f)
    f(1.0)
    told.clear()
    user.Settings.rate = 7.0
    assert f(1.0) == 7.0
    assert [what for what, _ in told] == ["missed", "compiled"]
    assert not f.last_miss.hit


def test_where_no_compile_is_allowed_a_trace_is():
    user = make_module("hidden", HIDDEN)
    f = imprint.jit(user.f)
    f(1.0)
    with imprint.testing.max_compiles(0):
        user.Settings.rate = 7.0
        assert f(1.0) == 3.0
    user.D = True
    with (
        pytest.raises(imprint.errors.RecompileError, match=r"global D"),
        imprint.testing.max_compiles(0),
    ):
        f(1.0)
