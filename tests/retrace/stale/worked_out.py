"""Scenarios: names that are worked out, asked of an object that no name of the code holds.

It is a variable of the function outside, or what a function gave.
"""

import textwrap

_BEFORE = """
TE = "te"
O.rate = 1.0
"""
_READS = {
    "getattr": 'getattr(o, "ra" + TE)',
    "getattr with a default": 'getattr(o, f"ra{TE}", 0.0)',
    "vars": "sum(vars(o).values())",
    "__dict__": 'o.__dict__["ra" + TE]',
    "attrgetter": 'operator.attrgetter("ra" + TE)(o)',
}
_EDITS = """
--- O.rate = 3.0
--- O.rate = 4.0
"""
_SCOPES = {
    "generator expression": """
        def h(o): return sum({read} for _ in (0,))
        """,
    "dictionary comprehension": """
        def h(o): return {k: {read} for k in (0,)}[0]
        """,
    "nested function": """
        def h(o):
            def inner(): return {read}
            return inner()
        """,
    "function in a function in a function": """
        def h(o):
            def inner():
                return sum(map(lambda _: {read}, (0,)))
            return inner()
        """,
}
_GIVERS = {
    "function": """
        def get(): return O
        def h(_):
            o = get()
            return {read}
        """,
    "function of a function": """
        def inner(): return O
        def get(): return inner()
        def h(_):
            o = get()
            return {read}
        """,
    "method": """
        class T:
            def get(self): return O
        t = T()
        def h(_):
            o = t.get()
            return {read}
        """,
    "property": """
        class T:
            @property
            def o(self): return O
        t = T()
        def h(_):
            o = t.o
            return {read}
        """,
    "cached property": """
        class T:
            @functools.cached_property
            def o(self): return O
        t = T()
        def h(_):
            o = t.o
            return {read}
        """,
    "memo": """
        @functools.lru_cache
        def get(): return O
        def h(_):
            o = get()
            return {read}
        """,
    "generator": """
        def each(): yield O
        def h(_):
            for o in each(): return {read}
        """,
    "context": """
        @contextlib.contextmanager
        def using(): yield O
        def h(_):
            with using() as o: return {read}
        """,
    "item that a method gives": """
        class T(dict):
            def __missing__(self, _): return O
        t = T()
        def h(_):
            o = t["a"]
            return {read}
        """,
    "tuple that a function gives": """
        def get(): return 1, [O]
        def h(_):
            o = get()[1][0]
            return {read}
        """,
}


def _written(ways):
    return {
        f"{read} of {way}": _BEFORE
        + textwrap.dedent(text).replace("{read}", code)
        + "\nf = lambda x: x * h(O)\n"
        + _EDITS
        for way, text in ways.items()
        for read, code in _READS.items()
    }


WORKED_OUT = {
    **_written(_SCOPES),
    **_written(_GIVERS),
    "class": """
        TE = "te"
        class C(K): pass
        def h(c): return sum(getattr(c, "ra" + TE) for _ in (0,))
        f = lambda x: x * h(C)
        --- C.rate = 3.0
        --- del C.rate; K.rate = 4.0
        """,
    "function's attribute": """
        TE = "te"
        def g(): pass
        g.rate = 1.0
        def h(c): return sum(getattr(c, "ra" + TE) for _ in (0,))
        f = lambda x: x * h(g)
        --- g.rate = 3.0
        --- g.rate = 4.0
        """,
    "another object at the next call": """
        TE = "te"
        O.rate, P = 1.0, K()
        P.rate, pick = 2.0, [O, O]
        def h(c): return sum(getattr(c, "ra" + TE) for _ in (0,))
        f = lambda x: x * h(pick[0]) * h(pick[1])
        --- pick[1] = P
        --- P.rate = 3.0
        --- O.rate = 4.0
        """,
    "class that a metaclass of Python's makes": """
        C = abc.ABCMeta("C", (), {"rate": 1.0, "twice": lambda self: self.rate * 2})
        c = C()
        f = lambda x: x * c.twice()
        --- C.rate = 3.0
        --- c.rate = 4.0
        --- C.twice = lambda self: 9.0
        """,
    "class that is called into being": """
        C = type("C", (collections.ChainMap,), {})
        c = C({"rate": 1.0})
        f = lambda x: x * c["rate"]
        --- c["rate"] = 3.0
        --- c.maps.insert(0, {"rate": 4.0})
        """,
    "keys that come to a mapping given with two stars": """
        class T(collections.abc.Mapping):
            def __getitem__(self, name): return {"a": 1.0, "b": 2.0}[name]
            def __iter__(self): return iter(("a", "b"))
            def __len__(self): return 2
        t = T()
        def h(**held): return sum(held.values())
        f = lambda x: x * h(**t)
        --- T.keys = lambda self: ["a"]
        """,
    "dictionary that is its own __dict__ and says it has all": """
        class D(dict):
            def __init__(self, **held):
                super().__init__(held)
                self.__dict__ = self
            def __contains__(self, _): return True
            def __missing__(self, _): return 1.5
        d = D(a=1.0, b=2.0)
        f = lambda x: x * sum(d.values())
        --- d.a = 3.0
        --- d["c"] = 4.0
        """,
    "what pydantic hands to its serializer": """
        made = types.ModuleType("stale_pydantic")
        made.__file__ = "/env/lib/python3/site-packages/stale_pydantic.py"
        sys.modules["stale_pydantic"] = made
        text = \"\"\"
        class Model:
            __pydantic_serializer__ = __import__("operator").attrgetter("__dict__")
            def dump(self): return dict(self.__pydantic_serializer__(self))
        \"\"\"
        exec(compile(__import__("textwrap").dedent(text), made.__file__, "exec"), vars(made))
        class C(made.Model):
            def __init__(self): self.a, self.b = 1.0, 2.0
        c = C()
        f = lambda x: x * sum(c.dump().values())
        --- c.a = 3.0
        --- c.b = 4.0
        """,
}
