"""Scenarios: another thread edits the program while it is traced, or runs a part of it.

The first edit of each is made where `f` calls `meanwhile()`.
"""

THREADS = {
    "global": """
        W = 1.0
        def f(x):
            y = x * W
            meanwhile()
            return y
        --- W = 2.0
        --- W = 3.0
        """,
    "class that becomes a node of trees": """
        def f(x):
            n = len(imprint.tree.leaves([O, L()]))
            meanwhile()
            return x * n
        --- imprint.tree.register_static(K)
        --- imprint.tree.register_static(L)
        """,
    "global, read twice": """
        W = 1.0
        def f(x):
            y = x * W
            meanwhile()
            return y + W
        --- W = 2.0
        --- W = 3.0
        """,
    "global, read after it": """
        W = 1.0
        def f(x):
            meanwhile()
            return x * W
        --- W = 2.0
        --- W = 3.0
        """,
    "there and back": """
        W = 1.0
        def f(x):
            y = x * W
            meanwhile()
            return y
        --- W = 2.0; W = 1.0
        --- W = 3.0
        """,
    "edited where it was read, then back": """
        W = 1.0
        def f(x):
            meanwhile()
            return x * W
        --- W = 2.0
        --- W = 1.0
        --- W = 2.0
        """,
    "global, to an equal function with variables of its own": """
        def make(a, b):
            return lambda: a * len(b)
        h = make(1.0, [3])
        def f(x):
            meanwhile()
            return x * h()
        --- h = make(1.0, [3])
        --- h.__closure__[1].cell_contents.append(5)
        """,
    "global, to an equal function with a default of its own": """
        def make():
            def h(w=2.0): return w
            return h
        h = make()
        def f(x):
            meanwhile()
            return x * h()
        --- h = make()
        --- h.__defaults__ = (3.0,)
        """,
    "code of what is traced, which has a callback": """
        def h(w, v): return v * w
        def f(x):
            meanwhile()
            return imprint.pure_callback(functools.partial(h, 2.0), inp.asarray(x), x)
        --- f.__code__ = (lambda x: imprint.pure_callback(functools.partial(h, 3.0), inp.asarray(x), x)).__code__
        """,
    "class attribute": """
        def f(x):
            y = x * K.rate
            meanwhile()
            return y
        --- K.rate = 2.0
        --- K.rate = 3.0
        """,
    "class attribute of an object": """
        def f(x):
            y = x * O.rate
            meanwhile()
            return y
        --- K.rate = 2.0
        --- K.rate = 3.0
        """,
    "attribute": """
        O.w = 1.0
        def f(x):
            y = x * O.w
            meanwhile()
            return y
        --- O.w = 2.0
        --- O.w = 3.0
        """,
    "attribute that hides": """
        def f(x):
            y = x * O.rate
            meanwhile()
            return y
        --- O.rate = 2.0
        --- O.rate = 3.0
        """,
    "attribute of self": """
        class M:
            def __init__(self): self.w = 1.0
            def step(self, x):
                y = x * self.w
                meanwhile()
                return y
        m = M(); f = m.step
        --- m.w = 2.0
        --- m.w = 3.0
        """,
    "attribute of a module": """
        def f(x):
            y = x * cfg.W
            meanwhile()
            return y
        --- cfg.W = 2.0
        --- cfg.W = 3.0
        """,
    "item of a dict": """
        D = {"w": 1.0}
        def f(x):
            y = x * D["w"]
            meanwhile()
            return y
        --- D["w"] = 2.0
        --- D["w"] = 3.0
        """,
    "item of a list": """
        V = [1.0]
        def f(x):
            y = x * V[0]
            meanwhile()
            return y
        --- V[0] = 2.0
        --- V.append(5.0); V[0] = 3.0
        """,
    "new key": """
        D = {}
        def f(x):
            y = x * D.get("w", 1.0)
            meanwhile()
            return y
        --- D["w"] = 2.0
        --- D["w"] = 3.0
        """,
    "cell": """
        def make():
            w = 1.0
            def f(x):
                y = x * w
                meanwhile()
                return y
            def put(v):
                nonlocal w
                w = v
            return f, put
        f, put = make()
        --- put(2.0)
        --- put(3.0)
        """,
    "helper": """
        def h(): return 1.0
        def f(x):
            y = x * h()
            meanwhile()
            return y
        --- h = lambda: 2.0
        --- h = lambda: 3.0
        """,
    "code of a helper": """
        def h(): return 1.0
        def f(x):
            y = x * h()
            meanwhile()
            return y
        --- h.__code__ = (lambda: 2.0).__code__
        --- h.__code__ = (lambda: 3.0).__code__
        """,
    "default of a helper": """
        def h(w=1.0): return w
        def f(x):
            y = x * h()
            meanwhile()
            return y
        --- h.__defaults__ = (2.0,)
        --- h.__defaults__ = (3.0,)
        """,
    "method": """
        class M:
            def h(self): return 1.0
        m = M()
        def f(x):
            y = x * m.h()
            meanwhile()
            return y
        --- M.h = lambda self: 2.0
        --- m.h = lambda: 3.0
        """,
    "global that is deleted": """
        W = 1.0
        def f(x):
            y = x * W
            meanwhile()
            return y
        --- del W
        --- W = 3.0
        """,
    "global that comes to be": """
        def f(x):
            try: y = x * W
            except NameError: y = x
            meanwhile()
            return y
        --- W = 2.0
        --- W = 3.0
        """,
    "class of an object": """
        def f(x):
            y = x * O.rate
            meanwhile()
            return y
        --- O.__class__ = L
        --- L.rate = 3.0
        """,
    "function of the user that writes": """
        W = 1.0
        def put(v):
            global W
            W = v
        def f(x):
            y = x * W
            meanwhile()
            return y
        --- put(2.0)
        --- put(3.0)
        """,
    "method of the user that writes": """
        class M:
            w = 1.0
            def put(self, w): self.w = w
        m = M()
        def f(x):
            y = x * m.w
            meanwhile()
            return y
        --- m.put(2.0)
        --- m.put(3.0)
        """,
    "attribute beside a counter": """
        class M:
            n, w = 0, 1.0
        m = M()
        def f(x):
            m.n += 1
            y = x * m.w
            meanwhile()
            return y
        --- m.w = 2.0
        --- m.w = 3.0
        """,
    "item beside a counter": """
        D = {"n": 0, "w": 1.0}
        def f(x):
            D["n"] += 1
            y = x * D["w"]
            meanwhile()
            return y
        --- D["w"] = 2.0
        --- D["w"] = 3.0
        """,
    "in a nested function": """
        def f(x):
            o = O
            def loss(p):
                y = p * o.rate
                meanwhile()
                return y
            return grad(loss)(x)
        --- K.rate = 2.0
        --- K.rate = 3.0
        """,
    "in a nested jit": """
        W = 1.0
        @jit
        def g(x):
            y = x * W
            meanwhile()
            return y
        def f(x): return g(x)
        --- W = 2.0
        --- W = 3.0
        """,
    "after a nested jit": """
        W = 1.0
        @jit
        def g(x): return x * W
        def f(x):
            y = g(x)
            meanwhile()
            return y
        --- W = 2.0
        --- W = 3.0
        """,
    "list beside a log, after a nested jit that was traced before": """
        L, LOG = [1.0, 2.0], []
        @jit
        def g(x): return x * sum(L)
        g(1.0)
        def f(x):
            LOG.append(1)
            y = g(x)
            meanwhile()
            return y
        --- L[0] = 7.0
        --- L[0] = 1.0
        """,
    "list beside a log, after the rule of a derivative": """
        L, LOG = [1.0, 2.0], []
        @imprint.custom_jvp
        def c(y): return y
        @c.defjvp
        def rule(p, t):
            LOG.append(1)
            return c(*p), t[0] * sum(L)
        def f(x):
            y = grad(c)(x)
            meanwhile()
            return y
        --- L[0] = 7.0
        --- L[0] = 1.0
        """,
    "attribute that goes on by one, as one that the trace counts": """
        class K:
            def tick(self): self.n = self.n + 1
        k, o = K(), K()
        k.n, o.n = 0, 1
        def f(x):
            k.tick()
            y = x * o.n
            meanwhile()
            return y
        --- o.n = 2
        --- o.n = 1
        """,
    "rule of what is jitted, replaced": '''
        NEW = """
        @imprint.custom_jvp
        def c(y): return y * 1.0
        def h(): return B.w
        @c.defjvp
        def r(p, t): return c(*p), t[0] * h()
        j = imprint.jit(lambda y: c(y) * 1.0)
        """
        class B: w = 1.0
        from textwrap import dedent
        exec(dedent(NEW))
        r.__code__ = (lambda p, t: (p[0], t[0] * 5.0)).__code__
        def f(x):
            meanwhile()
            return grad(lambda y: j(y).sum())(inp.ones(2)).sum()
        --- exec(dedent(NEW))
        --- B.w = 3.0
        ''',
    "attribute of a function that comes to be before it is read": """
        def h():
            try: return h.w
            except AttributeError: return 1.0
        def f(x):
            meanwhile()
            return x * h()
        --- h.w = 2.0
        --- del h.w
        """,
    "object that counts, replaced before nested jits read it": """
        class K:
            n = 0
            @property
            def w(self):
                self.n += 1
                return self.rate
            rate = 1.0
        k = K()
        @jit
        def g(x): return x * k.w
        def f(x):
            meanwhile()
            return vmap(g)(inp.stack([x, x])).sum() + vmap(g)(inp.stack([x] * 3)).sum()
        --- k = K(); k.rate = 2.0
        --- k.rate = 3.0
        """,
    "two at once": """
        V, W = 1.0, 1.0
        def f(x):
            y = x * V * W
            meanwhile()
            return y
        --- V, W = 2.0, 5.0
        --- V = 3.0
        --- W = 3.0
        """,
    "name bound to a library's": """
        from imprint.numpy import negative as op
        def f(x):
            y = op(x)
            meanwhile()
            return y
        --- op = lambda x: x * 2.0
        --- op = lambda x: x * 3.0
        """,
    "attribute of a static object": """
        S = O; O.w = 1.0
        def f(x, s):
            y = x * s.w
            meanwhile()
            return y
        --- S.w = 2.0
        --- S.w = 3.0
        """,
    "item of a static object": """
        S = O; O.l = [1.0]
        def f(x, s):
            y = x * s.l[0]
            meanwhile()
            return y
        --- S.l[0] = 2.0
        --- S.l[0] = 3.0
        """,
    "attribute of a captured object": """
        def make(o):
            def f(x):
                y = x * o.rate
                meanwhile()
                return y
            return f
        f = make(O)
        --- O.rate = 2.0
        --- K.rate = 7.0; del O.rate
        """,
    "list of a captured object": """
        def make(l):
            def f(x):
                y = x * sum(l)
                meanwhile()
                return y
            return f
        V = [1.0]; f = make(V)
        --- V.append(1.0)
        --- V[0] = 3.0
        """,
    "module in sys.modules": """
        def f(x):
            import stale_cfg as c
            y = x * c.W
            meanwhile()
            return y
        --- sys.modules["stale_cfg"] = other
        --- other.W = 3.0
        """,
    "helper that a pool runs": """
        W = 1.0
        def h(): return W
        POOL = ThreadPoolExecutor(1); POOL.submit(int).result()
        def f(x):
            meanwhile()
            return x * POOL.submit(h).result()
        --- W = 2.0
        --- W = 3.0
        """,
    "global, where code may write any name": """
        W = 1.0
        O.w = 1.0
        def f(x):
            y = x * W + vars(O)["w"]
            meanwhile()
            return y
        --- W = 2.0
        --- W = 3.0
        """,
    "global, where the trace counts in a list": """
        W = 1.0
        C = []
        def f(x):
            C.append(1)
            y = x * W + vars(O).get("w", 1.0)
            meanwhile()
            return y
        --- W = 2.0
        --- W = 3.0
        """,
    "global, where a captured list grows": """
        W = 1.0
        def make(calls):
            def f(x):
                calls.append(1)
                y = x * W + vars(O).get("w", 1.0)
                meanwhile()
                return y
            return f
        f = make([])
        --- W = 2.0
        --- W = 3.0
        """,
    "closure variable of one of two equal functions": """
        def make(a):
            return jit(lambda x: (x * a, meanwhile())[0])
        g = make(1.0)
        def f(x):
            return g(x)
        compiled = f
        --- g.__wrapped__.__closure__[0].cell_contents = 2.0
        --- g = make(1.0)
        """,
    "static field of a node": """
        class N(Module):
            a: object = field(static=True)
        n = N([1.0])
        g = jit(lambda x, n: (meanwhile(), x * n.a[0])[1])
        def f(x):
            return g(x, n)
        compiled = f
        --- n.a[0] = 2.0
        --- n.a[0] = 3.0
        """,
    "code of a helper that did not run yet": """
        def h():
            return 1.0
        p = functools.partial(h)
        N = {}
        exec("class K: w = 1.0", N)
        V = [N["K"]()]
        def f(x):
            meanwhile()
            return x * p() * V[0].w
        --- h.__code__ = (lambda: 2.0).__code__
        --- h.__code__ = (lambda: 3.0).__code__
        """,
}

POOLS = {
    "submit": """
        W = 1.0
        def h(): return W
        POOL = ThreadPoolExecutor(1); POOL.submit(int).result()
        f = lambda x: x * POOL.submit(h).result()
        --- W = 2.0
        """,
    "submit, attribute of an argument": """
        def h(o): return o.rate
        POOL = ThreadPoolExecutor(1); POOL.submit(int).result()
        f = lambda x: x * POOL.submit(h, O).result()
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "map": """
        W = 1.0
        def h(i): return i * W
        POOL = ThreadPoolExecutor(2); POOL.submit(int).result()
        f = lambda x: x * sum(POOL.map(h, [1, 2]))
        --- W = 2.0
        """,
    "lambda": """
        POOL = ThreadPoolExecutor(1); POOL.submit(int).result()
        def f(x):
            o = O
            return x * POOL.submit(lambda: o.rate).result()
        --- K.rate = 2.0
        """,
    "method": """
        class M:
            w = 1.0
            def h(self): return self.w
        m = M()
        POOL = ThreadPoolExecutor(1); POOL.submit(int).result()
        f = lambda x: x * POOL.submit(m.h).result()
        --- m.w = 2.0
        """,
    "helper of a helper": """
        W = 1.0
        def g(): return W
        def h(): return g()
        POOL = ThreadPoolExecutor(1); POOL.submit(int).result()
        f = lambda x: x * POOL.submit(h).result()
        --- W = 2.0
        --- g = lambda: 3.0
        """,
    "pool made inside": """
        W = 1.0
        def h(): return W
        def f(x):
            with ThreadPoolExecutor(1) as pool: return x * pool.submit(h).result()
        --- W = 2.0
        """,
    "thread made inside": """
        import threading
        W = 1.0
        def f(x):
            found = []
            def h(): found.append(W)
            t = threading.Thread(target=h); t.start(); t.join()
            return x * found[0]
        --- W = 2.0
        """,
}
