"""Settings: what is told of objects in which all counts, and what is not watched of others."""

import sys

import pytest
from ml_collections import ConfigDict

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


CONFIGS = {
    "subclass of dict": (Config(rate=2.0, step=0), "config['step']: 0 → 1"),
    "of a library": (
        ConfigDict({"rate": 2.0, "step": 0}),
        "config['step']: 0 → 1",
    ),
}


@pytest.mark.parametrize(("config", "told"), CONFIGS.values(), ids=CONFIGS)
def test_it_is_told_that_all_counts(config, told):
    compiled = imprint.jit(lambda x: x * config.rate)
    assert compiled(1.0) == 2.0
    config["step"] = 1
    (difference,) = compiled.explain(1.0).differences
    assert str(difference) == told
    assert difference.remedy == (
        "All that is in such an object counts; keep what changes often apart."
    )
    config["step"] = 0
    assert compiled(1.0) == 2.0
    assert compiled.cache_info().misses == 1


def test_a_key_that_comes_to_be_is_told():
    config = Config(rate=2.0)
    compiled = imprint.jit(lambda x: x * sum(config.values()))
    assert compiled(1.0) == 2.0
    config["more"] = 3.0
    (difference,) = compiled.explain(1.0).differences
    assert str(difference) == "closure variable config['more']: <absent> → 3.0"
    assert compiled(1.0) == 5.0


@pytest.mark.unaudited  # an audit prints, too
def test_what_prints_is_no_reason_to_trace_again():
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


QUANTITIES = """
class Unit:
    def __init__(self, name):
        self.name = name

class Registry:
    def __init__(self):
        self.parsed = {}

    def parse(self, name):
        self.parsed[name] = Unit(name)
        return self.parsed[name]

registry = Registry()

class Quantity:
    def __init__(self, magnitude, unit):
        self.magnitude = [magnitude]
        self.unit = registry.parse(unit)
        self.asked = {}

    def __getattr__(self, name):
        raise AttributeError(name)

    def __getitem__(self, i):
        return self.magnitude[i]

    def __setitem__(self, i, value):
        self.magnitude[i] = value

    def to(self, name):
        unit = self.asked[name] = registry.parse(name)
        return self[0] * len(unit.name)
"""


def test_what_settings_and_a_library_keep_for_themselves_is_no_other_threads():
    library = make_library("quantities", QUANTITIES)
    try:
        registry, q = library.registry, library.Quantity(3.0, "m")
        compiled = imprint.jit(lambda x: x * q.to("cm") * len(registry.parsed))
        before = imprint.debug.counters().traces
        for _ in range(3):
            assert compiled(1.0) == 12.0
        assert imprint.debug.counters().traces - before == 1
        q[0] = 4.0
        assert compiled(1.0) == 16.0
        q.unit.name = "km"
        assert compiled(1.0) == 16.0
    finally:
        del sys.modules["quantities"]


BASE = """
class Base:
    def __init__(self):
        self.cache, self.log = {}, []

    def look(self, key):
        self.cache[key] = object()
        self.log.append(key)
        return len(self.cache)
"""


def test_what_a_librarys_method_keeps_in_the_users_object_is_no_other_threads():
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
