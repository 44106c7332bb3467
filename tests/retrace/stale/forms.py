"""Scenarios: the forms in which an attribute is read without its owner's name."""

FORMS = {
    "super()": """
        class M(K):
            def h(self): return super().rate
        m = M()
        f = lambda x: x * m.h()
        --- K.rate = 2.0
        """,
    "super() with arguments": """
        class M(K):
            def h(self): return super(M, self).rate
        m = M()
        f = lambda x: x * m.h()
        --- K.rate = 2.0
        """,
    "super() bound to a name": """
        class M(K):
            def h(self):
                s = super()
                return s.rate
        m = M()
        f = lambda x: x * m.h()
        --- K.rate = 2.0
        """,
    "super() in a classmethod": """
        class M(K):
            @classmethod
            def h(cls): return super().rate
        f = lambda x: x * M.h()
        --- K.rate = 2.0
        """,
    "super() in __new__": """
        class B:
            w = 1.0
        class M(B):
            def __new__(cls):
                o = super().__new__(cls)
                o.v = super().w
                return o
        f = lambda x: x * M().v
        --- B.w = 2.0
        """,
    "super() of a class in the middle": """
        class A: rate = 1.0
        class B(A): pass
        class C(B):
            def h(self): return super().rate
        c = C()
        f = lambda x: x * c.h()
        --- A.rate = 2.0
        --- B.rate = 3.0
        """,
    "super() of a mixin": """
        class A:
            def h(self): return 1.0
        class Mix:
            def h(self): return super().h()
        class C(Mix, A): pass
        c = C()
        f = lambda x: x * c.h()
        --- A.h = lambda self: 2.0
        """,
    "method of super()": """
        class A:
            def h(self): return self.w
        class B(A):
            w = 1.0
            def h(self): return super().h()
        b = B()
        f = lambda x: x * b.h()
        --- B.w = 2.0
        --- A.h = lambda self: 3.0
        --- b.h = lambda: 4.0
        """,
    "property of super()": """
        class A:
            @property
            def w(self): return 1.0
        class B(A):
            @property
            def w(self): return super().w
        b = B()
        f = lambda x: x * b.w
        --- A.w = property(lambda self: 2.0)
        """,
    "__init__ of super()": """
        class A:
            def __init__(self): self.w = 1.0
        class B(A):
            def __init__(self): super().__init__()
        f = lambda x: x * B().w
        --- A.__init__ = lambda self: setattr(self, "w", 2.0)
        """,
    "type(self)": """
        class M(K):
            def h(self): return type(self).rate
        m = M()
        f = lambda x: x * m.h()
        --- K.rate = 2.0
        --- M.rate = 3.0
        """,
    "type(o)": "f = lambda x: x * type(O).rate --- K.rate = 2.0 --- O = L(); L.rate = 3.0",
    "type of a parameter": "def h(o): return type(o).rate\nf = lambda x: x * h(O) --- K.rate = 2.0 --- O.__class__ = L; L.rate = 3.0",
    "self.__class__": """
        class M(K):
            def h(self): return self.__class__.rate
        m = M()
        f = lambda x: x * m.h()
        --- K.rate = 2.0
        --- m.__class__ = type("N", (M,), {"rate": 3.0})
        """,
    "__class__": """
        class M(K):
            def h(self): return __class__.rate
        m = M()
        f = lambda x: x * m.h()
        --- K.rate = 2.0
        """,
    "__mro__": "class M(K): pass\nf = lambda x: x * M.__mro__[1].rate --- K.rate = 2.0",
    "__bases__": "class M(K): pass\nf = lambda x: x * M.__bases__[0].rate --- K.rate = 2.0 --- M.__bases__ = (L,); L.rate = 3.0",
    "class pattern with a keyword": """
        def f(x):
            match O:
                case K(rate=r): return x * r
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "class pattern with a literal": """
        def f(x):
            match O:
                case K(rate=2.0): return -x
                case _: return x
        --- O.rate = 2.0
        """,
    "class pattern by position": """
        class P:
            __match_args__ = ("a", "b")
            a, b = 1.0, 2.0
        p = P()
        def f(x):
            match p:
                case P(r, _): return x * r
        --- p.a = 3.0
        --- P.__match_args__ = ("b", "a")
        """,
    "class pattern by position of a dataclass": """
        @dataclasses.dataclass
        class P:
            a: float = 1.0
        p = P()
        def f(x):
            match p:
                case P(r): return x * r
        --- p.a = 3.0
        """,
    "class pattern that does not fit": """
        def f(x):
            match O:
                case L(): return -x
                case _: return x
        --- O = L()
        """,
    "value pattern": """
        def f(x):
            match 2.0:
                case O.rate: return -x
                case _: return x
        --- O.rate = 2.0
        """,
    "mapping pattern": """
        D = {"a": {"b": 1.0}}
        def f(x):
            match D:
                case {"a": {"b": w}}: return x * w
        --- D["a"]["b"] = 2.0
        """,
    "mapping pattern with objects": """
        D = {"a": O}
        def f(x):
            match D:
                case {"a": K(rate=w)}: return x * w
        --- O.rate = 2.0
        """,
    "mapping pattern with the rest": """
        D = {"a": 1, "w": O}
        def f(x):
            match D:
                case {"a": 1, **rest}: return x * rest["w"].rate
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "sequence pattern": """
        A = [O, K()]
        def f(x):
            match A:
                case [_, o]: return x * o.rate
        --- A[1].rate = 2.0
        --- K.rate = 5.0; del A[1].rate
        """,
    "pattern with a guard": """
        def f(x):
            match O:
                case o if o.rate > 1: return -x
                case _: return x
        --- O.rate = 2.0
        """,
    "getattr": "f = lambda x: x * getattr(O, 'rate') --- K.rate = 2.0 --- O.rate = 3.0",
    "getattr of a class": "f = lambda x: x * getattr(K, 'rate') --- K.rate = 2.0",
    "getattr with a default": "f = lambda x: x * getattr(O, 'w', 1.0) --- O.w = 2.0 --- del O.w --- K.w = 3.0",
    "getattr in map": "f = lambda x: x * sum(map(lambda o: getattr(o, 'rate'), [O])) --- K.rate = 2.0",
    "hasattr": "f = lambda x: -x if hasattr(O, 'w') else x --- O.w = 2.0 --- del O.w --- K.w = 1",
    "attrgetter made inside": "f = lambda x: x * operator.attrgetter('rate')(O) --- K.rate = 2.0 --- O.rate = 3.0",
    "methodcaller made inside": """
        class M:
            def h(self): return 1.0
        m = M()
        f = lambda x: x * operator.methodcaller("h")(m)
        --- M.h = lambda self: 3.0
        """,
    "itemgetter": "D = {'a': O}; get = operator.itemgetter('a')\nf = lambda x: x * get(D).rate --- O.rate = 2.0 --- D['a'] = L(); L.rate = 3.0",
    "partial": "h = functools.partial(lambda o, x: x * o.rate, O)\nf = lambda x: h(x) --- K.rate = 2.0 --- O.rate = 3.0",
    "partial with a keyword": "h = functools.partial(lambda x, *, o: x * o.rate, o=O)\nf = lambda x: h(x) --- K.rate = 2.0 --- O.rate = 3.0",
    "partial made inside": "f = lambda x: functools.partial(lambda o, y: y * o.rate, O)(x) --- K.rate = 2.0",
    "partialmethod": """
        class M:
            def h(self, k): return self.w * k
            g = functools.partialmethod(h, 1.0)
            w = 1.0
        m = M()
        f = lambda x: x * m.g()
        --- M.w = 2.0
        --- m.w = 3.0
        """,
    "cached_property": """
        class M:
            @functools.cached_property
            def w(self): return 1.0
        m = M(); m.w
        f = lambda x: x * m.w
        --- m.w = 2.0
        --- del m.w; M.w = 3.0
        """,
    "cached_property that reads": """
        class M:
            v = 1.0
            @functools.cached_property
            def w(self): return self.v
        m = M()
        f = lambda x: x * m.w
        --- m.w = 2.0
        """,
    "singledispatchmethod": """
        class M:
            w = 1.0
            @functools.singledispatchmethod
            def h(self, k): return 0.0
            @h.register
            def _(self, k: int): return self.w
        m = M()
        f = lambda x: x * m.h(1)
        --- M.w = 2.0
        --- m.w = 3.0
        """,
    "singledispatch, of a registered function": """
        W = 1.0
        @functools.singledispatch
        def h(k): return 0.0
        @h.register
        def _(k: K): return k.rate * W
        f = lambda x: x * h(O)
        --- K.rate = 2.0
        --- W = 3.0
        """,
    "wraps": """
        def deco(g):
            @functools.wraps(g)
            def wrapper(*a, **k): return g(*a, **k) * wrapper.scale
            wrapper.scale = 1.0
            return wrapper
        @deco
        def h(o): return o.rate
        f = lambda x: x * h(O)
        --- h.scale = 2.0
        --- O.rate = 3.0
        --- h.__wrapped__.__code__ = (lambda o: 5.0).__code__
        """,
    "descriptor": """
        class D:
            def __get__(self, o, cls): return o.rate
        class M(K): d = D()
        m = M()
        f = lambda x: x * m.d
        --- K.rate = 2.0
        --- m.rate = 3.0
        --- D.__get__ = lambda self, o, cls: 4.0
        """,
    "descriptor with a state": """
        class D:
            def __init__(self): self.w = 1.0
            def __get__(self, o, cls): return self.w
        class M: d = D()
        m = M()
        f = lambda x: x * m.d
        --- vars(M)["d"].w = 2.0
        """,
    "classmethod": """
        class M(K):
            @classmethod
            def h(cls): return cls.rate
        f = lambda x: x * M.h()
        --- K.rate = 2.0
        --- M.rate = 3.0
        """,
    "classmethod of an object": """
        class M(K):
            @classmethod
            def h(cls): return cls.rate
        m = M()
        f = lambda x: x * m.h()
        --- K.rate = 2.0
        """,
    "classmethod as a factory": """
        class M:
            w = 1.0
            @classmethod
            def make(cls):
                o = cls()
                o.v = cls.w
                return o
        f = lambda x: x * M.make().v
        --- M.w = 2.0
        """,
    "staticmethod": """
        class M:
            @staticmethod
            def h(o): return o.rate
        f = lambda x: x * M.h(O)
        --- K.rate = 2.0
        --- M.h = staticmethod(lambda o: 3.0)
        """,
    "metaclass": """
        class Meta(type): rate = 1.0
        class M(metaclass=Meta): pass
        f = lambda x: x * M.rate
        --- Meta.rate = 2.0
        --- M.rate = 3.0
        """,
    "property of a metaclass": """
        class Meta(type):
            @property
            def rate(cls): return cls.w
        class M(metaclass=Meta): w = 1.0
        f = lambda x: x * M.rate
        --- M.w = 2.0
        """,
    "__call__ of a metaclass": """
        class Meta(type):
            w = 1.0
            def __call__(cls): return cls.w
        class M(metaclass=Meta): pass
        f = lambda x: x * M()
        --- Meta.w = 2.0
        --- M.w = 3.0
        """,
    "__getattr__": """
        class M:
            def __getattr__(self, name): return self.__class__.w
            w = 1.0
        m = M()
        f = lambda x: x * m.rate
        --- M.w = 2.0
        --- m.rate = 3.0
        """,
    "__getattr__ to a dict": """
        class M:
            def __init__(self): self.d = {"rate": 1.0}
            def __getattr__(self, name): return self.d[name]
        m = M()
        f = lambda x: x * m.rate
        --- m.d["rate"] = 2.0
        --- m.d = {"rate": 3.0}
        """,
    "__getattr__ to another object": """
        class Proxy:
            def __init__(self, o): self.o = o
            def __getattr__(self, name): return getattr(self.o, name)
        p = Proxy(O)
        f = lambda x: x * p.rate
        --- K.rate = 2.0
        --- O.rate = 3.0
        --- p.o = L()
        """,
    "__getattribute__": """
        class M:
            def __getattribute__(self, name): return W
        W = 1.0; m = M()
        f = lambda x: x * m.rate
        --- W = 2.0
        """,
    "__getitem__": """
        class M:
            w = 1.0
            def __getitem__(self, i): return self.w
        m = M()
        f = lambda x: x * m[0]
        --- m.w = 2.0
        --- M.__getitem__ = lambda self, i: 3.0
        """,
    "__class_getitem__": """
        class M:
            w = 1.0
            def __class_getitem__(cls, i): return cls.w
        f = lambda x: x * M[int]
        --- M.w = 2.0
        """,
    "operators": """
        class M:
            w = 1.0
            def __rmul__(self, x): return x * self.w
        m = M()
        f = lambda x: x * m
        --- M.w = 2.0
        --- m.w = 3.0
        """,
    "__contains__": """
        class M:
            w = 1.0
            def __contains__(self, k): return k == self.w
        m = M()
        f = lambda x: x if 1.0 in m else -x
        --- m.w = 2.0
        """,
    "generic": """
        T = typing.TypeVar("T")
        class G(typing.Generic[T]):
            rate = 1.0
        g = G[int]()
        f = lambda x: x * g.rate
        --- G.rate = 2.0
        --- g.rate = 3.0
        """,
    "ABC": """
        class A(abc.ABC):
            @abc.abstractmethod
            def h(self): return 1.0
        class B(A):
            def h(self): return super().h()
        b = B()
        f = lambda x: x * b.h()
        --- A.h = lambda self: 2.0
        """,
    "multiple inheritance": """
        class A: rate = 1.0
        class B: pass
        class C(B, A): pass
        c = C()
        f = lambda x: x * c.rate
        --- A.rate = 2.0
        --- B.rate = 3.0
        """,
    "bases": """
        class A: rate = 1.0
        class C(A): pass
        class B: rate = 2.0
        c = C()
        f = lambda x: x * c.rate
        --- C.__bases__ = (B,)
        --- B.rate = 3.0
        """,
    "bases of a base": """
        class A: rate = 1.0
        class B(A): pass
        class C(B): pass
        class D: rate = 2.0
        f = lambda x: x * C().rate
        --- B.__bases__ = (D,)
        --- D.rate = 3.0
        """,
    "class of an object": "f = lambda x: x * O.rate --- O.__class__ = L --- L.rate = 3.0",
    "class of an object, method": """
        class A:
            def h(self): return 1.0
        class B:
            def h(self): return 2.0
        a = A()
        f = lambda x: x * a.h()
        --- a.__class__ = B
        --- B.h = lambda self: 3.0
        """,
    "context manager by a generator": """
        @contextlib.contextmanager
        def using(o): yield o.rate
        def f(x):
            with using(O) as w: return x * w
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "context manager by a class": """
        class C:
            def __init__(self, o): self.o = o
            def __enter__(self): return self.o.rate
            def __exit__(self, *a): return None
        c = C(O)
        def f(x):
            with c as w: return x * w
        --- O.rate = 2.0
        --- L.rate = 5.0; c.o = L()
        """,
    "ExitStack": """
        @contextlib.contextmanager
        def using(o): yield o.rate
        def f(x):
            with contextlib.ExitStack() as s: return x * s.enter_context(using(O))
        --- O.rate = 2.0
        """,
    "generator": """
        def rates(*a):
            for o in a: yield o.rate
        f = lambda x: x * sum(rates(O, K()))
        --- O.rate = 2.0
        --- K.rate = 3.0
        """,
    "yield from": """
        def inner(o): yield o.rate
        def outer(o): yield from inner(o)
        f = lambda x: x * sum(outer(O))
        --- O.rate = 2.0
        """,
    "copy": "import copy\nO.w = 1.0\nf = lambda x: x * copy.copy(O).w --- O.w = 2.0",
    "deepcopy": "import copy\nO.w = [1.0]\nf = lambda x: x * copy.deepcopy(O).w[0] --- O.w[0] = 2.0",
    "replace of a dataclass": """
        @dataclasses.dataclass
        class P:
            a: float = 1.0
            b: float = 1.0
        p = P()
        f = lambda x: x * dataclasses.replace(p, b=2.0).a
        --- p.a = 2.0
        """,
}
