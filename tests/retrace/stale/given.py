"""Scenarios: user objects that are reachable only through libraries or C code.

A library is assumed to keep the same object; the attributes of the object may change.
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
        "resumed coroutine",
    ),
    *("name of a library's class", "object in place of a module"),
}
"""Values that are reached from names: no code has to be observed."""
_GIVEN = {
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
    "resumed coroutine": """
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
    "object in place of a module": """
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
