"""Scenarios: user objects that are reachable only through libraries or C code.

A library is assumed to keep the same object; the attributes of the object may change.
"""

LIBRARY = """
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
"""
"""The text of a module of a library, `stale_lib`."""


def name_of_a_librarys_module():
    global r, f
    import stale_lib as r

    r.config = K()
    f = lambda x: x * r.config.rate
    yield
    r.config.rate = 5.0
    yield


def name_of_a_librarys_class():
    global r, f
    import stale_lib as r

    r.Table.config = K()
    f = lambda x: x * r.Table.config.rate
    yield
    r.Table.config.rate = 5.0
    yield


def lacking_in_one_of_many_bodies_of_a_with():
    global r, A, P, O, f
    import stale_lib as r

    class A:
        pass

    P, O = A(), A()

    def f(x):
        with r.quiet:
            P.w
        with r.quiet:
            P.w
        with r.quiet:
            x = x * O.v
            return x
        return x

    yield
    O.v = 3.0
    yield


def object_that_a_rule_left_in_a_table_and_another_in_its_place():
    global T, TABLE, kept, c, f

    class T:
        rate = None

    TABLE = {}

    def kept():
        if 3 not in TABLE:
            TABLE[3] = T()
        return TABLE[3].rate or 1.0

    c = imprint.custom_vjp(lambda y: y)
    c.defvjp(lambda y: (y, None), lambda _, ct: (ct * kept(),))
    f = lambda x: grad(lambda y: c(y) * 2.0)(x)
    yield
    TABLE[3].rate = 5.0
    yield
    TABLE[3] = T()
    yield
    TABLE[3].rate = 7.0
    yield


def object_that_a_rule_left_in_a_table_that_was_emptied_since():
    global T, TABLE, LIST, kept, c, f, compiled

    class T:
        rate = None

    TABLE, LIST = {}, []

    def kept():
        if 3 not in TABLE:
            TABLE[3] = T()
        if not LIST:
            LIST.append(T())
        return (TABLE[3].rate or 1.0) * (LIST[0].rate or 1.0)

    c = imprint.custom_vjp(lambda y: y)
    c.defvjp(lambda y: (y, None), lambda _, ct: (ct * kept(),))
    f = lambda x: grad(lambda y: c(y) * 2.0)(x)
    compiled = jit(f)
    yield
    TABLE.clear()
    LIST.clear()
    for _ in range(3):
        compiled(1.0)
    TABLE[3].rate = 7.0
    yield


def resumed_coroutine():
    global Once, run, out, C, f

    class Once:
        def __await__(self):
            yield

    async def run(o):
        while True:
            await Once()
            out.append(o.rate)

    out = []
    C = run(K())
    C.send(None)

    def f(x):
        C.send(None)
        return x * out.pop()

    yield
    C.cr_frame.f_locals["o"].rate = 3.0
    yield


def object_in_place_of_a_module():
    global f
    sys.modules["stale_obj"] = O

    def f(x):
        import stale_obj

        return x * stale_obj.rate

    yield
    O.rate = 3.0
    yield
