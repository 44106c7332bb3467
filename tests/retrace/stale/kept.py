"""Scenarios: objects of an installed library in which users keep their settings.

Four kinds of such classes, as they are common: one that keeps a dictionary, one that is a
dictionary and shows its keys as attributes, one that says itself what its `__dict__` is,
and one whose items are in objects of another class of the library. Then some libraries.
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
class Node:
    __slots__ = ("_value",)
    def __init__(self, value): self._value = value
    def value(self): return self._value
class Nodes:
    def __init__(self, **held):
        object.__setattr__(self, "_held", {n: Node(v) for n, v in held.items()})
    def __getattr__(self, name):
        if name[0] == "_" or name not in self._held: raise AttributeError(name)
        return self._held[name].value()
    def __setattr__(self, name, value):
        if name in self._held: self._held[name]._value = value
        else: self._held[name] = Node(value)
    def __delattr__(self, name): del self._held[name]
"""
"""The text of a module of a library that keeps settings."""
_SETTINGS = f"""
made = types.ModuleType("stale_settings")
made.__file__ = "/env/lib/python3/site-packages/stale_settings.py"
sys.modules["stale_settings"] = made
exec(compile({LIBRARY!r}, made.__file__, "exec"), vars(made))
from stale_settings import Config, Shown, Hiding, Nodes
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
    "name that is worked out": """
        c = {kind}(rate=1.0)
        f = lambda x: x * getattr(c, "".join(["ra", "te"]))
        --- c.rate = 3.0
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
import ml_collections, wrapt
def ConfigDict(**held): return ml_collections.ConfigDict(held)
def Proxy(**held): return wrapt.ObjectProxy(types.SimpleNamespace(**held))
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
    "item that refers to another": """
        c = {kind}(rate=1.0)
        c.both = c.get_ref("rate") * 2
        f = lambda x: x * c.both
        --- c.rate = 3.0
        --- c.rate = 4.0
        """,
}
_SHOWING = """
made = types.ModuleType("stale_showing")
made.__file__ = "/env/lib/python3/site-packages/stale_showing.py"
sys.modules["stale_showing"] = made
exec(compile('''
class Inner:
    def __init__(self, c): self._c = c
    @property
    def c(self): return self._c
    @c.setter
    def c(self, c): self._c = c
class Spline:
    def __init__(self, c): self._inner, self._steps = Inner(c), [c]
    @property
    def c(self): return self._inner.c
    @c.setter
    def c(self, c): self._inner.c = c
    @property
    def steps(self): return dict(enumerate(self.listed))
    @property
    def listed(self): return tuple(self._steps)
    def add(self, step): self._steps.append(step)
''', made.__file__, "exec"), vars(made))
from stale_showing import Spline
"""
_PROPERTIES = {
    "property of a library's that another object answers": """
        s = Spline(2.0)
        f = lambda x: x * s.c
        --- s.c = 3.0
        --- s.c = 4.0
        """,
    "property of a library's that reads a list by another": """
        s = Spline(2.0)
        f = lambda x: x * sum(s.steps.values())
        --- s.add(3.0)
        --- s.add(4.0)
        """,
}
_NUMPY = {
    "coefficients of a polynomial": """
        p = np.polynomial.Polynomial([1.0, 2.0])
        f = lambda x: x * p(2.0)
        --- p.coef = np.array([3.0, 4.0])
        --- p.domain = np.array([-2.0, 2.0])
        """,
}


def _written(before, kinds, ways):
    return {
        f"{way} of {kind}": before + textwrap.dedent(text.replace("{kind}", kind))
        for kind in kinds
        for way, text in ways.items()
    }


KEPT = {
    **_written(_SETTINGS, ("Config", "Shown", "Hiding", "Nodes"), _WAYS),
    **_written(_SETTINGS, ("Config", "Nodes"), _STATIC),
    **_written(_SETTINGS, ("Config", "Shown", "Hiding"), _ITEMS),
    **_written(_INSTALLED, ("ConfigDict", "Munch"), {**_WAYS, **_ITEMS, **_CHANGES}),
    **_written(_INSTALLED, ("ConfigDict",), _MADE),
    **_written(_INSTALLED, ("Dict",), _CHANGES),
    **_written(_INSTALLED, ("Proxy",), _WAYS),
    **{w: _SHOWING + textwrap.dedent(text) for w, text in _PROPERTIES.items()},
    **_NUMPY,
}
