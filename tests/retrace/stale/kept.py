"""Scenarios: objects of a library in which users keep their settings.

`Config` keeps a dictionary, `Shown` is a dictionary and shows its keys as attributes,
`Hiding` defines its own `__dict__`. `ConfigDict`, `Munch` and `Dict` are of published
libraries.
"""

import functools

LIBRARY = """
class Config:
    def __init__(self, **held):
        object.__setattr__(self, "_held", held)
    def __getattr__(self, name):
        if name[0] == "_": raise AttributeError(name)
        try: return self[name]
        except KeyError: raise AttributeError(name)
    def __setattr__(self, name, value): self._held[name] = value
    def __getitem__(self, name): return self._held[name]
    def __setitem__(self, name, value): self._held[name] = value
    def __delattr__(self, name): del self._held[name]
    def __iter__(self): return iter(self._held)
    def get(self, name, default=None): return self._held.get(name, default)
class Shown(dict):
    def __getattr__(self, name):
        try: return self[name]
        except KeyError: raise AttributeError(name)
    def __setattr__(self, name, value): self[name] = value
    def __delattr__(self, name): del self[name]
class Hiding(Shown):
    @property
    def __dict__(self): return dict(self)
"""
"""The text of a module of a library that keeps settings."""
PUBLISHED = """
import ml_collections
from addict import Dict
from munch import Munch
def ConfigDict(**held): return ml_collections.ConfigDict(held)
"""


def of(*kinds):
    """Run a scenario with each of these classes."""

    def mark(scenario):
        scenario.kinds = kinds
        return scenario

    return mark


@of("Config", "Shown", "Hiding", "ConfigDict", "Munch")
def attribute(kind):
    global c, f
    c = kind(rate=1.0, step=1)
    f = lambda x: x * c.rate
    yield
    c.rate = 3.0
    yield
    setattr(c, "rate", 4.0)
    yield
    c = kind(rate=5.0)
    yield


@of("Config", "Shown", "Hiding", "ConfigDict", "Munch")
def nested(kind):
    global c, f
    c = kind(o=kind(rate=1.0))
    f = lambda x: x * c.o.rate
    yield
    c.o.rate = 3.0
    yield
    c.o.rate = 4.0
    yield
    c.o = kind(rate=5.0)
    yield
    c.o.rate = 6.0
    yield


@of("Config", "Shown", "Hiding", "ConfigDict", "Munch")
def in_an_object_of_the_users(kind):
    global T, t, f

    class T:
        def __init__(self):
            self.c = kind(rate=1.0)

        def step(self, x):
            def loss(p):
                return p * self.c.rate

            return grad(loss)(x)

    t = T()
    f = lambda x: t.step(x)
    yield
    t.c.rate = 3.0
    yield
    t.c.rate = 4.0
    yield


@of("Config", "Shown", "Hiding", "ConfigDict", "Munch")
def given_to_a_helper(kind):
    global c, h, f
    c = kind(rate=1.0)

    def h(x, cs):
        return sum(x * each.rate for each in cs)

    f = lambda x: h(x, [c, c])
    yield
    c.rate = 3.0
    yield


@of("Config", "Shown", "Hiding", "ConfigDict", "Munch")
def comes_to_be(kind):
    global c, f
    c = kind(rate=1.0)
    f = lambda x: x * getattr(c, "scale", 1.0)
    yield
    c.scale = 3.0
    yield
    c.scale = 4.0
    yield
    del c.scale
    yield


@of("Config", "Shown", "Hiding", "ConfigDict", "Munch")
def in_a_list(kind):
    global L, f
    L = [kind(rate=1.0)]

    def f(x):
        for each in L:
            x = x * each.rate
        return x

    yield
    L[0].rate = 3.0
    yield
    del L[0].rate
    L[0].rate = 4.0
    yield


@of("Config", "Shown", "Hiding", "ConfigDict", "Munch")
def given_by_a_partial(kind):
    global P, f
    c = kind(rate=1.0)
    P = functools.partial(lambda o: o, c)
    f = lambda x: x * P().rate
    yield
    c.rate = 3.0
    yield


@of("Config", "Shown", "Hiding", "ConfigDict", "Munch")
def given_by_default(kind):
    global f
    c = kind(rate=1.0)

    def scale(o=c):
        return o.rate

    f = lambda x: x * scale()
    yield
    c.rate = 3.0
    yield


@of("Config", "Shown", "Hiding", "ConfigDict", "Munch")
def comes_to_be_in_a_list(kind):
    global L, f
    L = [kind(other=1.0)]

    def f(x):
        for each in L:
            x = x * getattr(each, "rate", 2.0)
        return x

    yield
    L[0].rate = 3.0
    yield


@of("Config")
def static_argument(kind):
    global S, f
    S = kind(rate=1.0)
    f = lambda x, s: x * s.rate
    yield
    S.rate = 3.0
    yield


@of("Config", "Shown", "Hiding", "ConfigDict", "Munch")
def item(kind):
    global c, f
    c = kind(rate=1.0)
    f = lambda x: x * c["rate"]
    yield
    c["rate"] = 3.0
    yield
    c.rate = 4.0
    yield


@of("Config", "Shown", "Hiding", "ConfigDict", "Munch")
def item_that_comes_to_be(kind):
    global c, f
    c = kind(rate=1.0)
    f = lambda x: x * c.get("scale", 1.0)
    yield
    c["scale"] = 3.0
    yield


@of("Config", "Shown", "Hiding", "ConfigDict", "Munch")
def all_items(kind):
    global c, f
    c = kind(rate=1.0)
    f = lambda x: sum(x * c[name] for name in c)
    yield
    c["rate"] = 3.0
    yield
    c["other"] = 4.0
    yield


@of("Config", "Shown", "Hiding", "ConfigDict", "Munch")
def item_by_a_key_that_is_worked_out(kind):
    global c, f
    c = kind(rate=1.0)
    f = lambda x: x * c["".join(["ra", "te"])]
    yield
    c["rate"] = 3.0
    yield


@of("ConfigDict", "Munch", "Dict")
def update(kind):
    global c, f
    c = kind(o=kind(rate=1.0), step=1)
    f = lambda x: x * c.o.rate
    yield
    c.update({"o": kind(rate=3.0)})
    yield
    c.o.update({"rate": 4.0})
    yield


@of("ConfigDict", "Munch", "Dict")
def items(kind):
    global c, f
    c = kind(rate=1.0)

    def f(x):
        for name, value in c.items():
            x = x * value
        return x

    yield
    c["rate"] = 3.0
    yield
    c["scale"] = 2.0
    yield
    del c["rate"]
    yield


@of("ConfigDict")
def copy_that_the_trace_makes(kind):
    global c, f, ml_collections
    import ml_collections

    c = kind(rate=1.0)
    f = lambda x: x * ml_collections.FrozenConfigDict(c).rate
    yield
    c.rate = 3.0
    yield
    c["rate"] = 4.0
    yield
