"""Scenarios: state of functions besides their code, and suspended generators."""

FUNCTIONS = {
    "what a captured function says of itself": """
        def wrap(g):
            def f(x): return x * float(g.__doc__) + len(g.__name__) + len(f.__name__)
            return f
        def g(x):
            "2"
        f = wrap(g)
        --- g.__doc__ = "5"
        --- g.__name__ = "longer"
        --- f.__name__ = "f" * 20
        """,
    "what the root's method says of itself": """
        class C:
            def m(self, x): return x * float(self.m.__doc__)
        C.m.__doc__ = "2"
        c = C()
        f = c.m
        --- C.m.__doc__ = "5"
        """,
    "defined again with other annotations": """
        def h(a: 1.0): pass
        f = lambda x: x * h.__annotations__["a"]
        --- def h(a: 2.0): pass
        --- h.__annotations__["a"] = 3.0
        --- def h(a: 1.0): pass
        --- def h(a: 2.0): pass
        """,
    "defined again with other annotations, read whole": """
        def h(a: 1.0): pass
        f = lambda x: x * sum(h.__annotations__.values())
        --- def h(a: 2.0): pass
        --- h.__annotations__["a"] = 3.0
        --- def h(a: 1.0): pass
        """,
    "made again under another name": """
        def make(name):
            def h(): pass
            h.__name__ = name
            return h
        h = make("a")
        f = lambda x: x * len(h.__name__)
        --- h = make("longer")
        """,
    "__defaults__": "def h(w=1.0): return w\nf = lambda x: x * h() --- h.__defaults__ = (2.0,)",
    "__kwdefaults__": "def h(*, w=1.0): return w\nf = lambda x: x * h() --- h.__kwdefaults__ = {'w': 2.0} --- h.__kwdefaults__['w'] = 3.0",
    "__code__": "def h(): return 1.0\nf = lambda x: x * h() --- h.__code__ = (lambda: 2.0).__code__",
    "__code__ of a nested function": """
        def make():
            def h(): return 1.0
            return h, lambda x: x * h()
        h, f = make()
        --- h.__code__ = (lambda: 2.0).__code__
        """,
    "__name__": "def h(): pass\nf = lambda x: x * len(h.__name__) --- h.__name__ = 'ab'",
    "__qualname__": "def h(): pass\nf = lambda x: x * len(h.__qualname__) --- h.__qualname__ = 'ab'",
    "__doc__": "def h(): 'a'\nf = lambda x: x * len(h.__doc__) --- h.__doc__ = 'ab'",
    "__annotations__": "def h(a: 'a'): pass\nf = lambda x: x * len(h.__annotations__['a']) --- h.__annotations__['a'] = 'ab' --- h.__annotations__ = {'a': 'abc'}",
    "__module__": "def h(): pass\nf = lambda x: x * len(h.__module__) --- h.__module__ = 'ab'",
    "__defaults__ that the code reads": "def h(w=1.0): pass\nf = lambda x: x * h.__defaults__[0] --- h.__defaults__ = (2.0,)",
    "__kwdefaults__ that the code reads": "def h(*, w=1.0): pass\nf = lambda x: x * h.__kwdefaults__['w'] --- h.__kwdefaults__['w'] = 2.0",
    "__code__ that the code reads": "def h(): pass\nf = lambda x: x * h.__code__.co_argcount + x --- h.__code__ = (lambda a: a).__code__",
    "__wrapped__": """
        def h(): return 1.0
        @functools.wraps(h)
        def g(): return 0.0
        f = lambda x: x * g.__wrapped__()
        --- g.__wrapped__ = lambda: 2.0
        """,
    "attribute": "def h(): pass\nh.w = 1.0\nf = lambda x: x * h.w --- h.w = 2.0",
    "attribute of itself": "def f(x): return x * f.w\nf.w = 1.0 --- f.w = 2.0",
    "attribute, nested": "def h(): pass\nh.o = O\nf = lambda x: x * h.o.rate --- K.rate = 2.0 --- O.rate = 3.0 --- h.o = L()",
    "attribute that comes to be": "def h(): pass\nf = lambda x: x * getattr(h, 'w', 1.0) --- h.w = 2.0",
    "attribute through a parameter": "def h(): pass\nh.w = 1.0\ndef g(fun): return fun.w\nf = lambda x: x * g(h) --- h.w = 2.0",
    "attribute of a method": """
        class M:
            def h(self): pass
            h.w = 1.0
        f = lambda x: x * M.h.w
        --- M.h.w = 2.0
        """,
    "attribute of a bound method": """
        class M:
            def h(self): pass
            h.w = 1.0
        m = M()
        f = lambda x: x * m.h.w
        --- M.h.w = 2.0
        """,
    "__self__": "class M(K):\n    def h(self): pass\nb = M().h\nf = lambda x: x * b.__self__.rate --- b.__self__.rate = 2.0",
    "__func__": "class M:\n    def h(self): return 1.0\nb = M().h\nf = lambda x: x * b.__func__(None) --- M.h.__code__ = (lambda self: 2.0).__code__",
    "func of a partial": "def h(): return 1.0\np = functools.partial(h)\nf = lambda x: x * p.func() --- h.__code__ = (lambda: 2.0).__code__",
    "attribute of a partial": "p = functools.partial(int); p.w = 1.0\nf = lambda x: x * p.w --- p.w = 2.0",
    "function in a list": "A = [lambda: 1.0]\nf = lambda x: x * A[0]() --- A[0] = lambda: 2.0 --- A[0].__code__ = (lambda: 3.0).__code__",
    "default that is a function": "def h(g=lambda: 1.0): return g()\nf = lambda x: x * h() --- h.__defaults__ = (lambda: 2.0,)",
    "default that is a list": "def h(l=[1.0]): return l[0]\nf = lambda x: x * h() --- h.__defaults__[0][0] = 2.0",
    "method's default": """
        class M:
            def h(self, w=1.0): return w
        m = M()
        f = lambda x: x * m.h()
        --- M.h.__defaults__ = (2.0,)
        """,
    "default of __init__": """
        class M:
            def __init__(self, w=1.0): self.w = w
        f = lambda x: x * M().w
        --- M.__init__.__defaults__ = (2.0,)
        """,
    "global of a function of another module": """
        exec("W = 1.0\\nh = lambda: W", vars(cfg))
        g = cfg.h
        f = lambda x: x * g()
        --- cfg.W = 2.0
        """,
    "global of a function without a module": """
        names = {"W": 1.0}
        exec("h = lambda: W", names)
        g = names["h"]
        f = lambda x: x * g()
        --- names["W"] = 2.0
        """,
    "generator that began": """
        W = 1.0
        def numbers():
            while True: yield W
        g = numbers(); next(g)
        f = lambda x: x * next(g)
        --- W = 2.0
        """,
    "generator that began, attribute": """
        def numbers(o):
            while True: yield o.rate
        g = numbers(O); next(g)
        f = lambda x: x * next(g)
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "generator that did not begin": """
        def numbers(o):
            while True: yield o.rate
        g = numbers(O)
        f = lambda x: x * next(g)
        --- K.rate = 2.0
        """,
    "generator in an object": """
        def numbers(o):
            while True: yield o.rate
        O.g = numbers(O); next(O.g)
        f = lambda x: x * next(O.g)
        --- K.rate = 2.0
        """,
    "generator that is sent to": """
        def echo(o):
            k = 1.0
            while True: k = yield o.rate
        g = echo(O); next(g)
        f = lambda x: x * g.send(1.0)
        --- K.rate = 2.0
        """,
    "slot of an object that a primed generator gives": """
        class P: __slots__ = "w"
        def give(p):
            while True: yield p
        p = P(); p.w = 1.0
        g = give(p); next(g)
        def get(p):
            return max([p, p], key=lambda each: each.w).w
        def f(x):
            return x * get(next(g))
        --- p.w = 2.0
        """,
    "attributes of functions that imprint made": """
        h = jit(lambda x: x)
        p = imprint.custom_jvp(lambda x: x)
        p.defjvp(lambda x, t: (x[0], t[0]))
        h.rate, p.rate = 1.0, K()
        f = lambda x: h(x) * p(x) * h.rate * p.rate.rate
        --- h.rate = 3.0
        --- p.rate.rate = 4.0
        --- p.rate = L
        --- L.rate = 5.0
        """,
    "rule of a function that a nested jit calls, then one as at first": """
        from imprint.custom_batching import custom_vmap
        def rule(size, batched, y): return y * 2.0, batched[0]
        def other_rule(size, batched, y): return y * 3.0, batched[0]
        def make():
            global double, inner
            double = custom_vmap(lambda y: y)
            double.def_vmap(rule)
            inner = jit(lambda y: double(y) * 1.0)
        make()
        def f(x): return vmap(inner)(inp.ones(2)).sum() + x
        --- rule.__code__ = other_rule.__code__
        ---
        def rule(size, batched, y): return y * 2.0, batched[0]
        make()
        """,
    "rule of a function that a factory's jit captures, then one as at first": """
        from imprint.custom_batching import custom_vmap
        def make(rule):
            double = custom_vmap(lambda y: y)
            double.def_vmap(rule)
            return jit(lambda y: double(y) * 1.0)
        def rule(size, batched, y): return y * 2.0, batched[0]
        def other_rule(size, batched, y): return y * 3.0, batched[0]
        inner = make(rule)
        def f(x): return vmap(inner)(inp.ones(2)).sum() + x
        --- rule.__code__ = other_rule.__code__
        ---
        def rule(size, batched, y): return y * 2.0, batched[0]
        inner = make(rule)
        """,
    "policy of the values that a nested jit recomputes, then an equal one": """
        def policy(*a, **k): return True
        def other_policy(*a, **k): return False
        def make():
            global inner
            inner = jit(imprint.checkpoint(lambda y: inp.sin(inp.sin(y)), policy=policy))
        make()
        def f(x): return x * str(imprint.make_jaxpr(grad(inner))(1.0)).count("sin")
        --- policy.__code__ = other_policy.__code__
        ---
        def policy(*a, **k): return True
        make()
        """,
}
