"""Scenarios: an object is replaced by an equal one, which is edited later.

The calls in between hit the version of the first object.
"""

EQUALS = {
    "dict that a nested jit reads by a key": """
        D = {"k": 2.0}
        class O: pass
        o = O()
        o.w = 1.0
        inner = jit(lambda y: y * D["k"])
        f = lambda x: inner(x) * o.w
        compiled = jit(f)
        --- D = {"k": 2.0}
        for _ in range(3): compiled(1.0)
        o.w = 3.0
        --- D["k"] = 5.0
        --- D = {"k": 5.0, "more": 0}
        for _ in range(3): compiled(1.0)
        o.w = 4.0
        --- D["k"] = 6.0
        """,
    "one of two ways to a dict, the other of which counts as a whole": """
        D = {"n": {"b": 2.0}}
        E = D["n"]
        class Counted:
            n = 0
            @property
            def w(self):
                self.n += 1
                return 1.0
        O = Counted()
        f = lambda x: x * D["n"]["b"] * E["b"] * O.w
        --- E = {"b": 3.0}
        --- D = {"n": E}
        --- E["b"] = 4.0
        """,
    "function in a frozen static argument": """
        @dataclasses.dataclass(frozen=True)
        class Task: fn: object
        def h(v, k=2.0): return v * k
        S = Task(h)
        f = lambda x, task: task.fn(x)
        compiled = jit(f, static_argnums=1)
        --- def h(v, k=2.0): return v * k
        S = Task(h)
        for _ in range(3): compiled(1.0, S)
        h.__defaults__ = (3.0,)
        --- def h(v, k=2.0): return v * k
        S = Task(h)
        --- h.__code__ = (lambda v, k: v + 7 * k).__code__
        """,
    "function given to a jitted function": """
        apply = jit(lambda x, fn: fn(x), static_argnums=1)
        def h(v, k=2.0): return v * k
        f = lambda x: apply(x, h)
        compiled = jit(f)
        --- def h(v, k=2.0): return v * k
        for _ in range(3): compiled(1.0)
        h.__defaults__ = (3.0,)
        --- def h(v, k=2.0): return v * k
        --- h.__defaults__ = (4.0,)
        """,
    "function given to a function jitted by its leaves": """
        apply = filter_jit(lambda x, fn: fn(x))
        def h(v, k=2.0): return v * k
        f = lambda x: apply(x, h)
        compiled = jit(f)
        --- def h(v, k=2.0): return v * k
        for _ in range(3): compiled(1.0)
        h.__defaults__ = (3.0,)
        --- def h(v, k=2.0): return v * k
        --- h.__defaults__ = (4.0,)
        """,
    "function of a Partial": """
        apply = jit(lambda x, p: p(x))
        def h(v, k=2.0): return v * k
        P = imprint.tree_util.Partial(h)
        f = lambda x: apply(x, P)
        compiled = jit(f)
        --- def h(v, k=2.0): return v * k
        P = imprint.tree_util.Partial(h)
        for _ in range(3): compiled(1.0)
        h.__defaults__ = (3.0,)
        --- h.__code__ = (lambda v, k: v + 7 * k).__code__
        """,
    "function that axes with names are given to": """
        apply = jit(lambda x, fn: fn(x), static_argnums=1, abstracted_axes=({0: "n"},))
        def h(v, k=2.0): return v.sum() * k
        f = lambda x: apply(inp.ones(3), h) * x
        compiled = jit(f)
        --- def h(v, k=2.0): return v.sum() * k
        for _ in range(3): compiled(1.0)
        h.__defaults__ = (3.0,)
        --- def h(v, k=2.0): return v.sum() * k
        --- h.__defaults__ = (4.0,)
        """,
    "callback": """
        def host(v, k=2.0): return np.float32(v * k)
        f = lambda x: imprint.pure_callback(host, imprint.ShapeDtypeStruct((), "float32"), x)
        compiled = jit(f)
        --- def host(v, k=2.0): return np.float32(v * k)
        for _ in range(3): compiled(1.0)
        host.__defaults__ = (3.0,)
        --- host.__code__ = (lambda v, k: np.float32(v + 7 * k)).__code__
        --- def host(v, k=2.0): return np.float32(v * k)
        """,
    "callback of a partial": """
        def host(k, v): return np.float32(v * k)
        p = functools.partial(host, 2.0)
        f = lambda x: imprint.pure_callback(p, imprint.ShapeDtypeStruct((), "float32"), x)
        compiled = jit(f)
        --- host.__code__ = (lambda k, v: np.float32(v + 7 * k)).__code__
        --- def host(k, v): return np.float32(v * k)
        p = functools.partial(host, 2.0)
        """,
    "method that is a callback": """
        class Table:
            def look(self, v): return np.float32(v * 2)
        T = Table()
        f = lambda x: imprint.pure_callback(T.look, imprint.ShapeDtypeStruct((), "float32"), x)
        compiled = jit(f)
        --- Table.look.__code__ = (lambda self, v: np.float32(v + 7)).__code__
        --- Table.look.__code__ = (lambda self, v: np.float32(v * 2)).__code__
        """,
    "default of a frozen field, then a property": """
        @dataclasses.dataclass(frozen=True)
        class Rates: w: float = 1.0
        rates = Rates(2.0)
        f = lambda x: x * rates.w
        compiled = jit(f)
        --- Rates.w = 3.0
        for _ in range(3): compiled(1.0)
        Rates.w = property(lambda self: 10.0)
        """,
    "static field of a module, then a property": """
        class Rates(Module): w: float = field(static=True, default=1.0)
        rates = Rates(2.0)
        f = lambda x: x * rates.w
        compiled = jit(f)
        --- Rates.w = 3.0
        for _ in range(3): compiled(1.0)
        Rates.w = property(lambda self: 10.0)
        """,
}
"""Each is traced at most once more after a change."""

THROUGH_C = {
    "types of a union": """
        U = K | int
        f = lambda x: x * U.__args__[0].rate
        --- K.rate = 3.0
        """,
    "end of a slice": """
        part = slice(O, None)
        f = lambda x: x * part.start.rate
        --- O.rate = 3.0 --- K.rate = 4.0; del O.rate
        """,
    "array inside of a strict function that another calls": """
        A = np.ones(3)
        inner = jit(lambda x: x * float(A.sum()), strict=True)
        f = lambda x: inner(x) + 1.0
        --- A[0] = 5.0 --- inner(1.0); A[1] = 5.0
        """,
}
"""Values reached through objects of C, and data of classes and functions outside `__dict__`."""
