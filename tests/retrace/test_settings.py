"""Settings objects: how a changed key is named, and library state that is not guarded."""

import sys

import pytest

import imprint
from tests.units.modules import make_library

PRINTS = """
class Console:
    def __init__(self):
        self.printed = []

    def print(self, text):
        self.printed.append(text)
        return len(text)
"""


class Config(dict):
    """Shows its items as attributes, as many do."""

    def __getattr__(self, name):
        return self[name]


def test_a_new_key_is_named():
    config = Config(rate=2.0)
    compiled = imprint.jit(lambda x: x * sum(config.values()))
    assert compiled(1.0) == 2.0
    config["more"] = 3.0
    (difference,) = compiled.explain(1.0).differences
    assert str(difference) == "closure variable config['more']: <absent> → 3.0"
    assert compiled(1.0) == 5.0


@pytest.mark.unaudited  # an audit prints, too
def test_a_print_during_the_trace_causes_no_retrace():
    console = make_library("a_console", PRINTS).Console()
    try:
        compiled = imprint.jit(lambda x: x * console.print("traced"))
        for _ in range(3):
            console.print("between")
            assert compiled(1.0) == 6.0
        assert compiled.cache_info().misses == 1
        assert console.printed == ["between", "traced", "between", "between"]
    finally:
        del sys.modules["a_console"]


BASE = """
class Base:
    def __init__(self):
        self.cache, self.log = {}, []

    def look(self, key):
        self.cache[key] = object()
        self.log.append(key)
        return len(self.cache)
"""


def test_a_library_method_may_write_into_a_user_object():
    library = make_library("a_base", BASE)
    try:

        class Model(library.Base):
            rate = 2.0

        model = Model()
        compiled = imprint.jit(lambda x: x * model.look("a") * model.rate)
        before = imprint.debug.counters().traces
        for _ in range(3):
            assert compiled(1.0) == 2.0
        assert imprint.debug.counters().traces - before == 1
        model.rate = 3.0
        assert compiled(1.0) == 3.0
    finally:
        del sys.modules["a_base"]
