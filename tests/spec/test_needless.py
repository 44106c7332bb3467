"""Needless misses: something changed that a function reads, and its program did not."""

import imprint
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
