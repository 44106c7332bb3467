"""Redundant misses: a value that a function reads changed, and its program did not."""

import pytest

import imprint
import imprint.testing
from imprint._src.jit.versions.version import OBSERVERS
from tests.units.modules import make_module

NEEDLESS = "name = 'a'\ndef f(x):\n    name\n    return x + 1\n"


def test_a_miss_that_gives_the_same_program_is_redundant():
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


def test_a_miss_that_gives_another_program_is_not_redundant():
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


class Recorder:
    """Keeps the events that observers receive."""

    def __init__(self):
        self.of = []

    def missed(self, miss):
        self.of.append(("missed", miss))

    def failed(self, miss):
        self.of.append(("failed", miss))

    def compiled(self, miss, costs):
        self.of.append(("compiled", miss))


@pytest.fixture
def events():
    recorder = Recorder()
    OBSERVERS.append(recorder)
    yield recorder.of
    OBSERVERS.remove(recorder)


def test_an_observer_receives_a_miss_and_its_outcome(events):
    user = make_module("hidden", HIDDEN.replace("s.rate = 3.0", ""))
    f = imprint.jit(user.f)
    f(1.0)
    events.clear()
    user.Settings.rate = 7.0
    assert f(1.0) == 7.0
    assert [name for name, _ in events] == ["missed", "compiled"]
    assert not f.last_miss.hit
