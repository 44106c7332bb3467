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
    "module": """
        cfg.o = O
        def h(_):
            o = cfg.o
            return {read}
        """,
    "class": """
        class T: o = O
        def h(_):
            o = T.o
            return {read}
        """,
    "list of a class of what is given": """
        class T:
            o = [O]
            def get(self):
                o = self.o[0]
                return {read}
        t = T()
        def h(_): return t.get()
        """,
    "variable of a context": """
        V = contextvars.ContextVar("V")
        V.set([O])
        def h(_):
            o = V.get()[0]
            return {read}
        """,
    "variable of a thread": """
        import threading
        V = threading.local()
        V.o = O
        def h(_):
            o = V.o
            return {read}
        """,
    "weak reference": """
        import weakref
        V = weakref.ref(O)
        def h(_):
            o = V()
            return {read}
        """,
    "walk over a dictionary": """
        V = {1: O}
        def h(_): return sum({read} for o in V.values())
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


def _written(ways, given):
    return {
        f"{read} of {way}": _BEFORE
        + textwrap.dedent(text).replace("{read}", code)
        + f"\nf = lambda x: x * h({given})\n"
        + _EDITS
        for way, text in ways.items()
        for read, code in _READS.items()
    }


_STEPS = {
    "attribute of an attribute of a module": (
        'f = lambda x: x * getattr(getattr(cfg.o, f"p{1}"), "ra" + TE)'
    ),
    "attribute of an attribute, in a generator expression": (
        'def h(): return sum(getattr(getattr(o, f"p{1}"), "ra" + TE) for o in [cfg.o])\n'
        "f = lambda x: x * h()"
    ),
    "attribute of an attribute, in a walk over a dictionary": (
        "f = lambda x: x * sum(\n"
        '    getattr(getattr(o, f"p{1}"), "ra" + TE) for o in {1: cfg.o}.values())'
    ),
}
_OF_A_MODULE = """
cfg.o = K()
cfg.o.p1 = O
{reads}
--- O.rate = 3.0
--- cfg.o.p1 = K(); cfg.o.p1.rate = 4.0
"""
WORKED_OUT = {
    **_written(_SCOPES, "O"),
    **_written(_GIVERS, "None"),
    **{
        way: _BEFORE + _OF_A_MODULE.replace("{reads}", reads)
        for way, reads in _STEPS.items()
    },
    "class": """
        TE = "te"
        class C(K): pass
        def h(c): return sum(getattr(c, "ra" + TE) for _ in (0,))
        f = lambda x: x * h(C)
        --- C.rate = 3.0
        --- del C.rate; K.rate = 4.0
        """,
    "attribute of the metaclass of an object's class": """
        TE = "te"
        class M(type): rate = 1.0
        class C(metaclass=M): pass
        c = C()
        f = lambda x: x * (lambda: getattr(type(c), "ra" + TE))()
        --- M.rate = 3.0
        --- C.rate = 4.0
        """,
    "named tuple": """
        TE, O.rate = "te", 1.0
        n = collections.namedtuple("N", "o")(O)
        f = lambda x: x * getattr(n.o, "ra" + TE)
        --- O.rate = 3.0
        """,
    "what was raised": """
        TE, O.rate = "te", 1.0
        class E(Exception): pass
        def h(): raise E(O)
        def f(x):
            try: h()
            except E as error: return x * getattr(error.args[0], "ra" + TE)
        --- O.rate = 3.0
        """,
    "what is put somewhere first": """
        TE, O.rate = "te", 1.0
        D = {}
        def h(): D["o"] = O
        def f(x):
            h()
            return x * getattr(D["o"], "ra" + TE)
        --- O.rate = 3.0
        """,
    "result of a function that imprint calls": """
        TE, O.rate = "te", 1.0
        f = lambda x: x * getattr(imprint.tree.map(lambda _: O, 1), "ra" + TE)
        --- O.rate = 3.0
        """,
    "getattr in a dictionary": """
        TE, O.rate = "te", 1.0
        D = {"get": getattr}
        f = lambda x: x * D["get"](O, "ra" + TE)
        --- O.rate = 3.0
        """,
    "getattr in a partial": """
        TE, O.rate = "te", 1.0
        p = functools.partial(getattr, O)
        f = lambda x: x * p("ra" + TE)
        --- O.rate = 3.0
        """,
    "what names lead to later": """
        TE, O.rate = "te", 1.0
        P = K()
        P.inner = O
        def later(): return getattr(P.inner, "ra" + TE)
        f = lambda x: x * getattr(P, "ra" + TE) * later()
        --- P.rate = 2.0
        --- O.rate = 3.0
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
