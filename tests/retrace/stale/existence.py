"""Scenarios: code that checks whether a name exists, and in which order names are.

The names are keys of `vars`, `globals()` and `dir`, attributes of a module that may be
missing, or attributes of bases, by `super()`.
"""

EXISTENCE = {
    "name that a module may not have": """
        def f(x):
            try: from stale_cfg import EXTRA
            except ImportError: EXTRA = 1.0
            return x * EXTRA
        --- cfg.EXTRA = 2.0
        --- cfg.EXTRA = 3.0
        --- del cfg.EXTRA
        """,
    "name that a module may lack, read by a helper": """
        def get():
            from stale_cfg import EXTRA as e
            return e
        def f(x):
            try: return x * get()
            except ImportError: return x
        --- cfg.EXTRA = 2.0
        --- del cfg.EXTRA
        --- cfg.EXTRA = 3.0
        """,
    "module that may be missing in a package, read by a helper": """
        def get():
            from stale_pkg import later
            return later.W
        def f(x):
            try: return x * get()
            except ImportError: return x
        --- stale_pkg.later = other
        --- del stale_pkg.later
        """,
    "attributes that may be missing, read by helpers": """
        def h(): pass
        def of_module(): return cfg.Z
        def of_class(): return K.z
        def of_type(): return type(O).y
        def of_function(): return h.z
        def of_part(): return cfg.part.z
        def or_one(g):
            try: return g()
            except AttributeError: return 1.0
        def f(x):
            return x * or_one(of_module) * or_one(of_class) * or_one(of_type) * or_one(of_function) * or_one(of_part)
        --- cfg.Z = 2.0
        --- K.z = 3.0
        --- K.y = 5.0
        --- h.z = 7.0
        --- cfg.part = types.SimpleNamespace(z=11.0)
        --- del cfg.part.z
        --- del cfg.Z
        """,
    "module that may not be there": """
        def f(x):
            try: import stale_nothere as m
            except ImportError: return x
            return x * m.W
        --- sys.modules["stale_nothere"] = types.ModuleType("stale_nothere"); sys.modules["stale_nothere"].W = 4.0
        --- sys.modules["stale_nothere"].W = 5.0
        """,
    "order of bases that super() asks": """
        class A:
            def go(s): return 1.0
        class B(A):
            def go(s): return 2.0
        class C(A):
            def go(s): return 3.0
        class D(B, C):
            def go(s): return super().go() * 10
        d = D()
        def f(x): return x * d.go()
        --- D.__bases__ = (C, B)
        --- D.__bases__ = (A,)
        """,
    "order of bases that a base's super() asks": """
        class A:
            def go(s): return 1.0
        class A2:
            def go(s): return 4.0
        class B(A):
            def go(s): return super().go() * 2.0
        class D(B):
            def go(s): return super().go() * 10
        d = D()
        def f(x): return x * d.go()
        --- B.__bases__ = (A2,)
        --- A2.go = lambda s: 5.0
        """,
    "class of an object, which only isinstance asks": """
        f = lambda x: x * (2.0 if isinstance(O, K) else 3.0)
        --- O.__class__ = L
        --- O.__class__ = K
        """,
    "class of an object, which only type asks": """
        f = lambda x: x * (2.0 if type(O) is K else 3.0)
        --- O.__class__ = L
        """,
    "table by class": """
        T = {K: 1.0, L: 2.0}
        f = lambda x: x * T[type(O)]
        --- O.__class__ = L
        --- T[L] = 5.0
        """,
    "class of an object, by singledispatch": """
        @functools.singledispatch
        def h(o): return 1.0
        @h.register(L)
        def _(o): return 2.0
        f = lambda x: x * h(O)
        --- O.__class__ = L
        """,
    "class of an object in a list": """
        A = [K(), [K()]]
        def f(x): return x * sum(isinstance(a, K) for a in (A[0], *A[1]))
        --- A[0].__class__ = L
        --- A[1][0].__class__ = L
        """,
    "class pattern without attributes": """
        def f(x):
            match O:
                case L(): return x * 3
                case K(): return x * 2
        --- O.__class__ = L
        """,
    "class of a parameter, by isinstance": """
        def h(o): return isinstance(o, K)
        def f(x): return x * (1.0 + h(O))
        --- O.__class__ = L
        """,
    "class of a static object": """
        S = K()
        def f(x, S): return x * (1.0 + isinstance(S, K))
        --- S.__class__ = L
        """,
    "bases, which only isinstance asks": """
        class A(K): pass
        class B(L): pass
        a = A()
        def f(x): return x * (1.0 + isinstance(a, K))
        --- A.__bases__ = (B,)
        """,
    "bases, which only issubclass asks": """
        class A(K): pass
        class B(L): pass
        def f(x): return x * (1.0 + issubclass(A, K))
        --- A.__bases__ = (B,)
        """,
    "bases of an exception that is caught": """
        class E(Exception): pass
        class F(E): pass
        def f(x):
            try: raise F()
            except E: return x * 2
            except Exception: return x * 3
        --- class G(Exception): pass
        F.__bases__ = (G,)
        """,
    "name of a class that a metaclass answers": """
        class T(type):
            def __getattr__(cls, name): return table[name]
        class M(metaclass=T): pass
        table = {"w": 1.0}
        f = lambda x: x * M.w
        --- table["w"] = 3.0
        --- M.w = 4.0
        --- M.w = 5.0
        --- del M.w; table["w"] = 6.0
        """,
}
