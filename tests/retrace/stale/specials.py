"""Scenarios: special methods, which Python calls although no code names them."""

SPECIALS = {
    "truth comes": """
        class D: pass
        o = D()
        f = lambda x: x if o else -x
        --- D.__bool__ = lambda self: False
        """,
    "length comes": """
        class D: pass
        o = D()
        f = lambda x: x if o else -x
        --- D.__len__ = lambda self: 0
        """,
    "length comes to a base": """
        class B: pass
        class D(B): pass
        o = D()
        f = lambda x: x if o else -x
        --- B.__len__ = lambda self: 0
        """,
    "truth is added where another name is deleted": """
        class M:
            other = 1.0
            def __len__(self): return 3
        m = M()
        f = lambda x: x * len(m) * (1.0 if m else 2.0)
        --- del M.other; M.__bool__ = lambda self: False
        --- del M.__bool__; M.other = 2.0
        """,
    "truth is added to a base where another name is deleted": """
        class Base: other = 1.0
        class M(Base): more = 1.0
        m = M()
        f = lambda x: x * (1.0 if m else 2.0)
        --- del Base.other; Base.__bool__ = lambda self: False
        --- del M.more; M.__bool__ = lambda self: True
        """,
    "attribute comes to a metaclass": """
        class Meta(type): pass
        class M(metaclass=Meta): pass
        f = lambda x: x * getattr(M, "rate", 1.0) * (2.0 if hasattr(M, "more") else 1.0)
        --- Meta.rate = 3.0
        --- Meta.more = 4.0
        --- M.rate = 5.0
        --- del M.rate, Meta.rate
        """,
    "attribute comes to a metaclass, missed": """
        class Meta(type): pass
        class M(metaclass=Meta): pass
        def f(x):
            try:
                return x * M.rate
            except AttributeError:
                return x
        --- Meta.rate = 3.0
        --- del Meta.rate
        """,
    "truth is deleted": """
        class D:
            def __bool__(self): return False
        o = D()
        f = lambda x: x if o else -x
        --- del D.__bool__
        """,
    "equality comes": """
        class D: pass
        o = D()
        f = lambda x: x if o == 3 else -x
        --- D.__eq__ = lambda self, other: True
        """,
    "search comes": """
        class D:
            def __iter__(self): return iter([1])
        o = D()
        f = lambda x: x if 1 in o else -x
        --- D.__contains__ = lambda self, k: False
        """,
    "method for missing attributes is added": """
        class D: pass
        o = D()
        f = lambda x: x * getattr(o, "v", 5.0)
        --- D.__getattr__ = lambda self, name: 3.0
        """,
    "method for attributes is added": """
        class D: w = 1.0
        o = D()
        f = lambda x: x * o.w
        --- D.__getattribute__ = lambda self, name: 3.0
        """,
    "a value becomes a descriptor": """
        class P: v = 2.0
        class D: w = P()
        o = D()
        f = lambda x: x * o.w.v
        --- P.__get__ = lambda self, o, cls: L()
        --- P.__get__ = lambda self, o, cls: self
        """,
    "the receiver is one of all arguments": """
        class D:
            def __len__(*a): return 3
        o = D()
        f = lambda x: x * len(o)
        --- D.__len__ = lambda *a: 4
        --- D.__len__ = lambda *a, k=1: 5
        --- D.__len__ = lambda *a: 6
        """,
    "descriptor with all arguments": """
        class P:
            def __get__(*a): return 3.0
        class D: w = P()
        o = D()
        f = lambda x: x * o.w
        --- P.__get__ = lambda *a: 4.0
        --- P.__get__ = lambda *a: 5.0
        """,
    "decorated": """
        def dec(g):
            @functools.wraps(g)
            def h(*a): return g(*a)
            return h
        class D: __len__ = dec(lambda self: 3)
        o = D()
        f = lambda x: x * len(o)
        --- D.__len__ = dec(lambda self: 4)
        """,
    "remembered": """
        class D: __len__ = functools.cache(lambda self: 3)
        o = D()
        f = lambda x: x * len(o)
        --- D.__len__ = functools.cache(lambda self: 4)
        """,
    "an object that is called": """
        class C:
            def __init__(self, n): self.n = n
            def __call__(self): return self.n
        class D: __len__ = C(3)
        o = D()
        f = lambda x: x * len(o)
        --- D.__len__ = C(4)
        --- D.__len__.n = 5
        """,
    "a partial": """
        class D: __len__ = staticmethod(functools.partial(int, 3))
        o = D()
        f = lambda x: x * len(o)
        --- D.__len__ = staticmethod(functools.partial(int, 4))
        """,
    "a partial method": """
        class D: __add__ = functools.partialmethod(lambda self, k, o: k, 3)
        o = D()
        f = lambda x: x * (o + 1)
        --- D.__add__ = functools.partialmethod(lambda self, k, o: k, 4)
        """,
    "a static method": """
        class D: __len__ = staticmethod(lambda: 3)
        o = D()
        f = lambda x: x * len(o)
        --- D.__len__ = staticmethod(lambda: 4)
        """,
    "a method of a number": """
        class D: __add__ = (3).__add__
        o = D()
        f = lambda x: x * (o + 1)
        --- D.__add__ = (4).__add__
        """,
    "of a metaclass": """
        class M(type):
            def __len__(cls): return 3
        class D(metaclass=M): pass
        f = lambda x: x * len(D)
        --- M.__len__ = lambda *a: 4
        --- M.__len__ = lambda *a: 5
        """,
}

MISSED = {
    "of the result of a call": """
        class D: pass
        L = [D()]
        def h(): return L[0]
        f = lambda x: x * getattr(h(), "w", 1.0)
        --- L[0].w = 2.0
        --- del L[0].w
        --- D.w = 3.0
        """,
    "of an object that a call makes": """
        class D: pass
        def h(): return D()
        f = lambda x: x * getattr(h(), "w", 1.0)
        --- D.w = 2.0
        """,
    "of the class that a call gives": """
        class D: pass
        def h(): return D
        f = lambda x: x * (2.0 if hasattr(h(), "w") else 1.0)
        --- D.w = 2.0
        """,
    "of the function that a call gives": """
        def g(): pass
        def h(): return g
        f = lambda x: x * getattr(h(), "w", 1.0)
        --- g.w = 2.0
        """,
    "of the result of a call, tried": """
        class D: pass
        o = D()
        class K:
            def give(self): return {"o": o}
        def f(x):
            try: return x * K().give()["o"].w
            except AttributeError: return x
        --- o.w = 2.0
        """,
    "of the result of a call, by a helper": """
        class D: pass
        L = [D()]
        def h(): return L[0]
        def g(): return h().w
        def f(x):
            try: return x * g()
            except AttributeError: return x
        --- L[0].w = 2.0
        """,
    "of the result of a call, where a user `__exit__` continues": """
        class D: pass
        L = [D()]
        def h(): return L[0]
        class Going:
            def __enter__(self): pass
            def __exit__(self, *error): return True
        def f(x):
            with Going(): return x * h().w
            return x
        --- L[0].w = 2.0
        """,
    "of the result of a call, where a user generator continues": """
        class D: pass
        L = [D()]
        def h(): return L[0]
        @contextlib.contextmanager
        def going():
            try: yield
            except AttributeError: pass
        def f(x):
            with going(): return x * h().w
            return x
        --- L[0].w = 2.0
        """,
    "of the result of a method in C": """
        class D: pass
        L = {"a": (D(),)}
        f = lambda x: x * getattr(next(iter(L.copy().values()))[0], "w", 1.0)
        --- L["a"][0].w = 2.0
        """,
    "of the result of a call, then kept by the trace": """
        class D: pass
        L = [D()]
        def h(): return L[0]
        def f(x):
            if not hasattr(h(), "w"): h().w = 2.0
            return x * h().w
        --- L[0].w = 5.0
        --- L[0] = D()
        """,
    "by a property, in a pattern": """
        class D: w = property(lambda self: self.v)
        o = D()
        def f(x):
            match o:
                case object(w=w): return x * w
            return x
        --- o.v = 2.0
        """,
    "by a property, with a default": """
        class D: w = property(lambda self: self.v)
        o = D()
        f = lambda x: x * getattr(o, "w", 5.0)
        --- o.v = 2.0
        --- del o.v
        """,
    "by a helper": """
        class D: pass
        o = D()
        def h(o): return o.v
        def f(x):
            try: return x * h(o)
            except AttributeError: return x
        --- o.v = 2.0
        --- D.v = 3.0; del o.v
        """,
    "by a helper, of a global": """
        class D: pass
        o = D()
        def h(): return o.v
        def f(x):
            with contextlib.suppress(AttributeError): return x * h()
            return x
        --- D.v = 2.0
        """,
    "by a method of a method": """
        class D:
            def m(self): return self.v
            def n(self): return self.m()
        o = D()
        def f(x):
            try: return x * o.n()
            except Exception: return x
        --- o.v = 2.0
        """,
    "by a generator": """
        class D: pass
        o = D()
        def g():
            yield None
            yield o.v
        def f(x):
            try: return x * [*g()][1]
            except AttributeError: return x
        --- o.v = 2.0
        """,
}
"""Absent attributes, where a caller catches the error and continues."""
