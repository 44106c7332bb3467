"""Scenarios: a nested function reads an attribute through a captured object."""

NESTED = {
    "loss of a step": """
        class M(K):
            def step(self, x):
                def loss(p): return p * self.rate
                return grad(loss)(x)
        f = M().step
        --- K.rate = 2.0
        """,
    "loss of a step, attribute of the object": """
        class M:
            def __init__(self): self.rate = 1.0
            def step(self, x):
                def loss(p): return p * self.rate
                return grad(loss)(x)
        m = M(); f = m.step
        --- m.rate = 2.0
        """,
    "lambda in grad": "f = lambda x: grad(lambda p: p * O.rate)(x) --- K.rate = 2.0",
    "local class in a lambda": """
        def f(x):
            c = K
            return (lambda: x * c.rate)()
        --- K.rate = 2.0
        """,
    "local object in a lambda": """
        def f(x):
            o = O
            return (lambda: x * o.rate)()
        --- K.rate = 2.0
        """,
    "local module in a lambda": """
        def f(x):
            m = cfg
            return (lambda: x * m.W)()
        --- cfg.W = 2.0
        """,
    "genexpr": """
        def f(x):
            o = O
            return sum(x * o.rate for _ in range(2))
        --- K.rate = 2.0
        """,
    "list comprehension": """
        def f(x):
            o = O
            return [x * o.rate for _ in range(2)][1]
        --- K.rate = 2.0
        """,
    "dict comprehension": """
        def f(x):
            m = cfg
            return x * {i: m.W for i in range(2)}[1]
        --- cfg.W = 2.0
        """,
    "set comprehension": """
        def f(x):
            o = O
            return x * max({o.rate for _ in range(2)})
        --- K.rate = 2.0
        """,
    "condition of a comprehension": """
        def f(x):
            o = O
            return x * len([i for i in (1, 2, 3) if i > o.rate])
        --- K.rate = 2.0
        """,
    "iterable of a comprehension": """
        def f(x):
            o = O
            return x * len([i for i in range(int(o.rate))])
        --- K.rate = 2.0
        """,
    "genexpr in a genexpr": """
        def f(x):
            o = O
            return sum(sum(x * o.rate for _ in range(2)) for _ in range(2))
        --- K.rate = 2.0
        """,
    "function in a function in a function": """
        def f(x):
            o = O
            def a():
                def b():
                    def c(): return x * o.rate
                    return c()
                return b()
            return a()
        --- K.rate = 2.0
        """,
    "parameter that is captured": """
        def step(o, x):
            return vmap(lambda y: y * o.rate)(inp.ones(2)).sum() * x
        f = lambda x: step(O, x)
        --- K.rate = 2.0
        """,
    "loop variable that is captured": """
        def f(x):
            fs = []
            for o in (O, O): fs.append(lambda: x * o.rate)
            return fs[0]()
        --- K.rate = 2.0
        """,
    "loop variable as a default": """
        def f(x):
            fs = [lambda o=o: x * o.rate for o in (O, O)]
            return fs[1]()
        --- K.rate = 2.0
        """,
    "nonlocal that is bound later": """
        def f(x):
            o = L()
            def g(): return x * o.rate
            o = O
            return g()
        --- K.rate = 3.0
        """,
    "nonlocal that another function binds": """
        def f(x):
            o = L()
            def put():
                nonlocal o
                o = O
            def g(): return x * o.rate
            put()
            return g()
        --- K.rate = 3.0
        """,
    "with in a nested function": """
        class C:
            w = 1.0
            def __enter__(self): return self
            def __exit__(self, *a): pass
        def f(x):
            c = C()
            def g():
                with c as d: return x * d.w
            return g()
        --- C.w = 2.0
        """,
    "nested jit": """
        def f(x):
            o = O
            @jit
            def g(y): return y * o.rate
            return g(x)
        --- K.rate = 2.0
        """,
    "nested jit of a lambda in a lambda": """
        f = lambda x: jit(lambda y: (lambda: y * O.rate)())(x)
        --- K.rate = 2.0
        """,
    "nested filter_jit": """
        def f(x):
            o = O
            return filter_jit(lambda y: y * o.rate)(x)
        --- K.rate = 2.0
        """,
    "compiled by filter_jit": """
        def f(x):
            o = O
            def g(y): return y * o.rate
            return g(x)
        compiled = filter_jit(f)
        --- K.rate = 2.0
        """,
    "grad of grad": """
        def f(x):
            o = O
            return grad(grad(lambda p: p * p * o.rate))(x)
        --- K.rate = 2.0
        """,
    "vmap of grad": """
        def f(x):
            m = cfg
            return vmap(grad(lambda p: p * m.W))(inp.ones(2))[0] * x
        --- cfg.W = 2.0
        """,
    "value_and_grad": """
        def f(x):
            o = O
            return imprint.value_and_grad(lambda p: p * o.rate)(x)[1]
        --- K.rate = 2.0
        """,
    "jvp": """
        def f(x):
            o = O
            return imprint.jvp(lambda p: p * o.rate, (x,), (x,))[1]
        --- K.rate = 2.0
        """,
    "method in a nested function": """
        class M:
            def h(self): return 1.0
        m = M()
        def f(x):
            o = m
            return grad(lambda p: p * o.h())(x)
        --- M.h = lambda self: 2.0
        """,
    "class made in the function": """
        def f(x):
            o = O
            class C:
                def m(self): return x * o.rate
            return C().m()
        --- K.rate = 2.0
        """,
    "class body": """
        def f(x):
            o = O
            class C:
                w = o.rate
            return x * C.w
        --- K.rate = 2.0
        """,
    "default of a nested function": """
        def f(x):
            o = O
            def g(w=o.rate): return x * w
            return g()
        --- K.rate = 2.0
        """,
    "decorator inside": """
        def f(x):
            o = O
            def scaled(g): return lambda y: g(y) * o.rate
            @scaled
            def h(y): return y
            return h(x)
        --- K.rate = 2.0
        """,
    "closure made at module level": """
        def make(o):
            def f(x):
                def loss(p): return p * o.rate
                return grad(loss)(x)
            return f
        f = make(O)
        --- K.rate = 2.0
        """,
    "closure over a module": """
        def make(m):
            return lambda x: (lambda: x * m.W)()
        f = make(cfg)
        --- cfg.W = 2.0
        """,
    "recursion inside": """
        def f(x):
            o = O
            def go(n): return x * o.rate if n == 0 else go(n - 1)
            return go(3)
        --- K.rate = 2.0
        """,
    "chain through a captured module": """
        cfg.o = O
        def f(x):
            m = cfg
            return (lambda: x * m.o.rate)()
        --- K.rate = 2.0
        """,
    "lambda that map calls": """
        def f(x):
            o = O
            return sum(map(lambda y: y * o.rate, [x, x]))
        --- K.rate = 2.0
        """,
    "generator inside": """
        def f(x):
            o = O
            def g():
                yield x * o.rate
            return next(g())
        --- K.rate = 2.0
        """,
    "f-string inside": """
        def f(x):
            o = O
            return (lambda: x * float(f"{o.rate}"))()
        --- K.rate = 2.0
        """,
    "type parameter of a comprehension over a class": """
        def f(x):
            return [x * c.rate for c in (K,)][0]
        --- K.rate = 2.0
        """,
}
