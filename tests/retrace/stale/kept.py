"""Scenarios: objects of an installed library in which users keep their settings.

Three common classes: one that keeps a dictionary, one that is a dictionary and shows its
keys as attributes, and one that defines its own `__dict__`. Then some libraries.
"""

import textwrap

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
_SETTINGS = f"""
made = types.ModuleType("stale_settings")
made.__file__ = "/env/lib/python3/site-packages/stale_settings.py"
sys.modules["stale_settings"] = made
exec(compile({LIBRARY!r}, made.__file__, "exec"), vars(made))
from stale_settings import Config, Shown, Hiding
"""
_WAYS = {
    "attribute": """
        c = {kind}(rate=1.0, step=1)
        f = lambda x: x * c.rate
        --- c.rate = 3.0
        --- setattr(c, "rate", 4.0)
        --- c = {kind}(rate=5.0)
        """,
    "nested": """
        c = {kind}(o={kind}(rate=1.0))
        f = lambda x: x * c.o.rate
        --- c.o.rate = 3.0
        --- c.o.rate = 4.0
        --- c.o = {kind}(rate=5.0)
        --- c.o.rate = 6.0
        """,
    "in an object of the user's": """
        class T:
            def __init__(self): self.c = {kind}(rate=1.0)
            def step(self, x):
                def loss(p): return p * self.c.rate
                return grad(loss)(x)
        t = T()
        f = lambda x: t.step(x)
        --- t.c.rate = 3.0
        --- t.c.rate = 4.0
        """,
    "given to a helper": """
        c = {kind}(rate=1.0)
        def h(x, cs): return sum(x * each.rate for each in cs)
        f = lambda x: h(x, [c, c])
        --- c.rate = 3.0
        """,
    "comes to be": """
        c = {kind}(rate=1.0)
        f = lambda x: x * getattr(c, "scale", 1.0)
        --- c.scale = 3.0
        --- c.scale = 4.0
        --- del c.scale
        """,
}
_STATIC = {
    "static argument": """
        S = {kind}(rate=1.0)
        f = lambda x, s: x * s.rate
        --- S.rate = 3.0
        """,
}
_ITEMS = {
    "item": """
        c = {kind}(rate=1.0)
        f = lambda x: x * c["rate"]
        --- c["rate"] = 3.0
        --- c.rate = 4.0
        """,
    "item that comes to be": """
        c = {kind}(rate=1.0)
        f = lambda x: x * c.get("scale", 1.0)
        --- c["scale"] = 3.0
        """,
    "all items": """
        c = {kind}(rate=1.0)
        f = lambda x: sum(x * c[name] for name in c)
        --- c["rate"] = 3.0
        --- c["other"] = 4.0
        """,
    "item by a key that is worked out": """
        c = {kind}(rate=1.0)
        f = lambda x: x * c["".join(["ra", "te"])]
        --- c["rate"] = 3.0
        """,
}


_INSTALLED = """
from addict import Dict
from munch import Munch
import ml_collections
def ConfigDict(**held): return ml_collections.ConfigDict(held)
"""
_CHANGES = {
    "update": """
        c = {kind}(o={kind}(rate=1.0), step=1)
        f = lambda x: x * c.o.rate
        --- c.update({"o": {kind}(rate=3.0)})
        --- c.o.update({"rate": 4.0})
        """,
    "items": """
        c = {kind}(rate=1.0)
        def f(x):
            for name, value in c.items(): x = x * value
            return x
        --- c["rate"] = 3.0
        --- c["scale"] = 2.0
        --- del c["rate"]
        """,
}
_MADE = {
    "copy that the trace makes": """
        c = {kind}(rate=1.0)
        f = lambda x: x * ml_collections.FrozenConfigDict(c).rate
        --- c.rate = 3.0
        --- c["rate"] = 4.0
        """,
}


def _written(before, kinds, ways):
    return {
        f"{way} of {kind}": before + textwrap.dedent(text.replace("{kind}", kind))
        for kind in kinds
        for way, text in ways.items()
    }


KEPT = {
    **_written(_SETTINGS, ("Config", "Shown", "Hiding"), _WAYS),
    **_written(_SETTINGS, ("Config",), _STATIC),
    **_written(_SETTINGS, ("Config", "Shown", "Hiding"), _ITEMS),
    **_written(_INSTALLED, ("ConfigDict", "Munch"), {**_WAYS, **_ITEMS, **_CHANGES}),
    **_written(_INSTALLED, ("ConfigDict",), _MADE),
    **_written(_INSTALLED, ("Dict",), _CHANGES),
}
