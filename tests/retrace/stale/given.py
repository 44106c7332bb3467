"""Scenarios: objects of the user's to which only libraries lead, or C, and no name.

Which object a library keeps is taken not to change, but its attributes are the user's.
"""

import textwrap

_KEEPS = """
def library(text):
    made = types.ModuleType("stale_lib")
    made.__file__ = "/env/lib/python3/site-packages/stale_lib.py"
    sys.modules["stale_lib"] = made
    exec(compile(text, made.__file__, "exec"), vars(made))
    return made
r = library('''
import contextlib
kept = []
by_name = {}
def last(): return kept[-1]
def nested(): return [{"v": (kept[-1],)}]
def each():
    for o in kept: yield o
@contextlib.contextmanager
def using(): yield kept[-1]
def apply(fun): return fun(kept[-1])
def closure(o): return lambda: o
class Table:
    held = {}
    @classmethod
    def get(cls, n): return cls.held[n]
class App:
    def __init__(self): self.parts = []
app = App()
def current(): return app
class Quiet:
    name = "end"
    def end(self, kind): return kind is AttributeError
    def __enter__(self): return self
    def __exit__(self, kind, *_): return getattr(self, self.name)(kind)
quiet = Quiet()
''')
"""

_HELD = {
    *(
        "name of a library's module",
        "coroutine that goes on",
    ),
    *("name of a library's class", "of a context variable", "of a thread"),
    *("in an array of objects", "object that stands for a module"),
}
"""To these leads what names lead to: nobody needs to be heard."""
_GIVEN = {
    "result": """
        r.kept.append(K())
        f = lambda x: x * r.last().rate
        --- r.last().rate = 5.0
        --- r.last().rate = 6.0
        --- K.rate = 9.0; del r.last().rate
        """,
    "in a result": """
        r.kept.append(K())
        f = lambda x: x * r.nested()[0]["v"][0].rate
        --- r.kept[0].rate = 5.0
        """,
    "yielded": """
        r.kept += [K(), K()]
        f = lambda x: x * sum(o.rate for o in r.each())
        --- r.kept[1].rate = 5.0
        """,
    "result of a classmethod": """
        r.Table.held["a"] = K()
        f = lambda x: x * r.Table.get("a").rate
        --- r.Table.get("a").rate = 5.0
        """,
    "what a with gives": """
        r.kept.append(K())
        def f(x):
            with r.using() as o: return x * o.rate
        --- r.kept[0].rate = 5.0
        """,
    "what a callback is given": """
        r.kept.append(K())
        f = lambda x: x * r.apply(lambda o: o.rate)
        --- r.kept[0].rate = 5.0
        """,
    "result of a closure": """
        g = r.closure(K())
        f = lambda x: x * g().rate
        --- g().rate = 5.0
        --- g = r.closure(L())
        """,
    "held by a library's object": """
        r.app.parts.append(K())
        f = lambda x: x * r.current().parts[0].rate
        --- r.app.parts[0].rate = 5.0
        """,
    "name of a library's module": """
        r.config = K()
        f = lambda x: x * r.config.rate
        --- r.config.rate = 5.0
        """,
    "name of a library's class": """
        r.Table.config = K()
        f = lambda x: x * r.Table.config.rate
        --- r.Table.config.rate = 5.0
        """,
    "result that may lack the attribute": """
        class A: pass
        r.kept.append(A())
        def f(x):
            try: return x * r.last().w
            except AttributeError: return x
        --- r.last().w = 3.0
        --- del r.last().w
        --- A.w = 4.0
        """,
    "lacking in one of many bodies of a with": """
        class A: pass
        P, O = A(), A()
        def f(x):
            with r.quiet: P.w
            with r.quiet: P.w
            with r.quiet: x = x * O.v
            return x
        --- O.v = 3.0
        """,
    "rule of a derivative": """
        class A: pass
        r.kept.append(A())
        @imprint.custom_vjp
        def h(x): return x
        def fwd(x): return x, None
        def bwd(_, g):
            try: return (g * r.last().w,)
            except AttributeError: return (g,)
        h.defvjp(fwd, bwd)
        j = jit(lambda x: h(x) * 2.0)
        f = lambda x: grad(j)(x)
        --- r.last().w = 3.0
        """,
    "object that a rule left in a table, and another in its place": """
        class T: rate = None
        TABLE = {}
        def kept():
            if 3 not in TABLE: TABLE[3] = T()
            return TABLE[3].rate or 1.0
        c = imprint.custom_vjp(lambda y: y)
        c.defvjp(lambda y: (y, None), lambda _, ct: (ct * kept(),))
        f = lambda x: grad(lambda y: c(y) * 2.0)(x)
        --- TABLE[3].rate = 5.0
        --- TABLE[3] = T()
        --- TABLE[3].rate = 7.0
        """,
    "object that a rule left in a table that was emptied since": """
        class T: rate = None
        TABLE, LIST = {}, []
        def kept():
            if 3 not in TABLE: TABLE[3] = T()
            if not LIST: LIST.append(T())
            return (TABLE[3].rate or 1.0) * (LIST[0].rate or 1.0)
        c = imprint.custom_vjp(lambda y: y)
        c.defvjp(lambda y: (y, None), lambda _, ct: (ct * kept(),))
        f = lambda x: grad(lambda y: c(y) * 2.0)(x)
        compiled = jit(f)
        --- TABLE.clear(); LIST.clear()
        for _ in range(3): compiled(1.0)
        TABLE[3].rate = 7.0
        """,
    "generator that goes on in a library": """
        def g(o):
            while True: yield o.rate
        G = g(K()); next(G)
        r.kept.append(G)
        f = lambda x: x * next(r.last())
        --- G.gi_frame.f_locals["o"].rate = 5.0
        """,
    "coroutine that goes on": """
        class Once:
            def __await__(self): yield
        async def run(o):
            while True:
                await Once()
                out.append(o.rate)
        out = []
        C = run(K()); C.send(None)
        def f(x):
            C.send(None)
            return x * out.pop()
        --- C.cr_frame.f_locals["o"].rate = 3.0
        """,
    "of a context variable": """
        V = contextvars.ContextVar("V"); V.set(K())
        f = lambda x: x * V.get().rate
        --- V.get().rate = 3.0
        """,
    "of a thread": """
        import threading
        V = threading.local(); V.o = K()
        f = lambda x: x * V.o.rate
        --- V.o.rate = 3.0
        """,
    "dict of a context variable": """
        V = contextvars.ContextVar("V", default={"w": 1.0})
        f = lambda x: x * V.get()["w"]
        --- V.get()["w"] = 3.0
        --- del V.get()["w"]
        """,
    "list of a thread": """
        import threading
        V = threading.local(); V.w = [1.0]
        f = lambda x: x * V.w[-1]
        --- V.w.append(3.0)
        --- V.w[-1] = 4.0
        """,
    "dict and list of a memo": """
        @functools.cache
        def m(n): return {"w": 1.0}, [n]
        f = lambda x: x * m(1)[0]["w"] * m(2)[1][0]
        --- m(1)[0]["w"] = 3.0
        --- m(2)[1][0] = 4.0
        """,
    "list of a memo that forgets what is old": """
        class T:
            @functools.lru_cache(2)
            def m(self): return [1.0, {}]
        t = T()
        f = lambda x: x * t.m()[0] + len(t.m()[1])
        --- t.m()[0] = 3.0
        --- t.m()[1]["w"] = 4.0
        """,
    "in an array of objects": """
        V = np.array([K()], object)
        f = lambda x: x * V[0].rate
        --- V[0].rate = 3.0
        """,
    "object that stands for a module": """
        sys.modules["stale_obj"] = O
        def f(x):
            import stale_obj
            return x * stale_obj.rate
        --- O.rate = 3.0
        """,
}
GIVEN = {
    name: _KEEPS + textwrap.dedent(text) if "r." in text else text
    for name, text in _GIVEN.items()
}
HELD = {name: text for name, text in GIVEN.items() if name in _HELD}
