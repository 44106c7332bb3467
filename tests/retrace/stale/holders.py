"""Scenarios: objects and classes of each kind that hold the value."""

HOLDERS = {
    "class that a metaclass of Python's makes": """
        C = abc.ABCMeta("C", (), {"rate": 1.0, "twice": lambda self: self.rate * 2})
        c = C()
        f = lambda x: x * c.twice()
        --- C.rate = 3.0
        --- c.rate = 4.0
        --- C.twice = lambda self: 9.0
        """,
    "slots": """
        class M:
            __slots__ = ("w",)
        m = M(); m.w = 1.0
        f = lambda x: x * m.w
        --- m.w = 2.0
        --- M.w = 3.0
        """,
    "name of a class, which its objects do not show": """
        class M:
            w = 1.0
            def name(self): return type(self).__name__
        m = M()
        f = lambda x: x * m.w * len(m.name())
        --- M.__name__ = "Longer"
        """,
    "slots with a class attribute": """
        class M:
            __slots__ = ()
            w = 1.0
        m = M()
        f = lambda x: x * m.w
        --- M.w = 2.0
        """,
    "slots through a parameter": """
        class M:
            __slots__ = ("w",)
        m = M(); m.w = 1.0
        def h(o): return o.w
        f = lambda x: x * h(m)
        --- m.w = 2.0
        """,
    "slot that holds an object": """
        class M:
            __slots__ = ("o",)
        m = M(); m.o = O
        f = lambda x: x * m.o.rate
        --- K.rate = 2.0
        --- O.rate = 3.0
        --- m.o = L()
        """,
    "slot that is not set": """
        class M:
            __slots__ = ("w",)
        m = M()
        f = lambda x: x * getattr(m, "w", 1.0)
        --- m.w = 2.0
        --- del m.w
        """,
    "namedtuple with an object": """
        P = collections.namedtuple("P", "o")
        p = P(O)
        f = lambda x: x * p.o.rate
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "namedtuple with a list": """
        P = collections.namedtuple("P", "l")
        p = P([1.0])
        f = lambda x: x * p.l[0]
        --- p.l[0] = 2.0
        """,
    "namedtuple with a module": """
        P = collections.namedtuple("P", "m")
        p = P(cfg)
        f = lambda x: x * p.m.W
        --- cfg.W = 2.0
        """,
    "namedtuple with a class attribute": """
        class P(typing.NamedTuple):
            a: float = 1.0
        P.rate = 1.0
        p = P()
        f = lambda x: x * p.rate
        --- P.rate = 2.0
        """,
    "method of a namedtuple": """
        class P(typing.NamedTuple):
            a: float
            def h(self): return self.a
        p = P(1.0)
        f = lambda x: x * p.h()
        --- P.h = lambda self: 2.0
        """,
    "_field_defaults": """
        P = collections.namedtuple("P", "a", defaults=(1.0,))
        f = lambda x: x * P._field_defaults["a"]
        --- P._field_defaults["a"] = 2.0
        """,
    "dataclass": """
        @dataclasses.dataclass
        class P:
            a: float = 1.0
        p = P()
        f = lambda x: x * p.a
        --- p.a = 2.0
        --- p = P(3.0)
        """,
    "dataclass with slots": """
        @dataclasses.dataclass(slots=True)
        class P:
            a: float = 1.0
        p = P()
        f = lambda x: x * p.a
        --- p.a = 2.0
        """,
    "dataclass in a parameter": """
        @dataclasses.dataclass
        class P:
            a: float = 1.0
        p = P()
        def h(c): return c.a
        f = lambda x: x * h(p)
        --- p.a = 2.0
        """,
    "default of a dataclass": """
        @dataclasses.dataclass
        class P:
            a: float = 1.0
        f = lambda x: x * P().a
        --- P.__init__.__defaults__ = (2.0,)
        """,
    "default factory of a dataclass": """
        W = 1.0
        @dataclasses.dataclass
        class P:
            a: float = dataclasses.field(default_factory=lambda: W)
        f = lambda x: x * P().a
        --- W = 2.0
        """,
    "keyword-only dataclass": """
        @dataclasses.dataclass(kw_only=True)
        class P:
            a: float = 1.0
        f = lambda x: x * P().a
        --- P.__init__.__kwdefaults__["a"] = 2.0
        """,
    "InitVar": """
        @dataclasses.dataclass
        class P:
            scale: dataclasses.InitVar[float] = 1.0
            def __post_init__(self, scale): self.w = scale * K.rate
        f = lambda x: x * P().w
        --- K.rate = 2.0
        --- P.__post_init__ = lambda self, scale: setattr(self, "w", 3.0)
        """,
    "frozen dataclass with an object": """
        @dataclasses.dataclass(frozen=True)
        class P:
            o: object
        p = P(O)
        f = lambda x: x * p.o.rate
        --- K.rate = 2.0
        --- O.rate = 3.0
        --- p = P(L())
        """,
    "frozen dataclass with a list": """
        @dataclasses.dataclass(frozen=True)
        class P:
            l: list
        p = P([O])
        f = lambda x: x * p.l[0].rate
        --- O.rate = 2.0
        --- L.rate = 5.0; p.l[0] = L()
        """,
    "method of a frozen dataclass": """
        @dataclasses.dataclass(frozen=True)
        class P:
            a: float = 1.0
            def h(self): return self.a * self.scale
        P.scale = 1.0
        p = P()
        f = lambda x: x * p.h()
        --- P.scale = 2.0
        """,
    "SimpleNamespace": """
        n = types.SimpleNamespace(w=1.0)
        f = lambda x: x * n.w
        --- n.w = 2.0
        --- n.__dict__["w"] = 3.0
        """,
    "nested SimpleNamespace": """
        n = types.SimpleNamespace(a=types.SimpleNamespace(b=[types.SimpleNamespace(w=1.0)]))
        f = lambda x: x * n.a.b[0].w
        --- n.a.b[0].w = 2.0
        --- n.a.b[0] = types.SimpleNamespace(w=3.0)
        """,
    "SimpleNamespace in a parameter": """
        n = types.SimpleNamespace(w=1.0)
        def h(c): return c.w
        f = lambda x: x * h(n)
        --- n.w = 2.0
        """,
    "attribute of an enum's member": """
        class E(enum.Enum):
            A = 1
        E.A.w = 1.0
        f = lambda x: x * E.A.w
        --- E.A.w = 2.0
        """,
    "method of an enum": """
        class E(enum.Enum):
            A = 1.0
            def h(self): return self.value * self.scale
        E.scale = 1.0
        f = lambda x: x * E.A.h()
        --- E.scale = 2.0
        --- E.h = lambda self: 3.0
        """,
    "enum that the function makes": """
        G, H = 3.0, 4.0
        def f(x):
            class Made(enum.Enum):
                A = 1.0
                B = G
                @property
                def more(self): return self.value * H
            other = enum.IntFlag("other", "C D")
            return x * Made.A.value * Made.B.more * (other.C | other.D).value
        --- G = 5.0
        --- H = 6.0
        """,
    "enum that is replaced": """
        E = enum.Enum("E", {"A": 1.0})
        f = lambda x: x * E.A.value
        --- E = enum.Enum("E", {"A": 2.0})
        """,
    "member of an enum in a global": """
        class E(enum.Enum):
            A = 1.0
            B = 2.0
        MODE = E.A
        def f(x):
            match MODE:
                case E.A: return x
                case E.B: return -x
        --- MODE = E.B
        """,
    "property": """
        class M:
            def __init__(self): self._w = 1.0
            @property
            def w(self): return self._w
        m = M()
        f = lambda x: x * m.w
        --- m._w = 2.0
        --- M.w = property(lambda self: 3.0)
        """,
    "property with a setter": """
        class M:
            _w = 1.0
            @property
            def w(self): return self._w
            @w.setter
            def w(self, v): self._w = v
        m = M()
        f = lambda x: x * m.w
        --- m.w = 2.0
        """,
    "property that gives an object": """
        class M:
            @property
            def part(self): return O
        m = M()
        f = lambda x: x * m.part.rate
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "property that comes to hide": """
        O.w = 1.0
        f = lambda x: x * O.w
        --- K.w = property(lambda self: 2.0)
        """,
    "class made by exec": """
        exec("class X:\\n    w = 1.0\\n    def h(self): return self.w")
        o = X()
        f = lambda x: x * o.h()
        --- X.w = 2.0
        --- o.w = 3.0
        """,
    "class made by exec, without a module": """
        names = {}
        exec("class X:\\n    w = 1.0", names)
        X = names["X"]; o = X()
        f = lambda x: x * o.w
        --- X.w = 2.0
        --- o.w = 3.0
        """,
    "class made by type": """
        X = type("X", (), {"w": 1.0})
        f = lambda x: x * X.w
        --- X.w = 2.0
        """,
    "object of a class made by type": """
        o = type("X", (K,), {})()
        f = lambda x: x * o.rate
        --- K.rate = 2.0
        --- type(o).rate = 3.0
        """,
    "class made by types.new_class": """
        X = types.new_class("X", (), {}, lambda ns: ns.update(w=1.0))
        f = lambda x: x * X.w
        --- X.w = 2.0
        """,
    "object of types.new_class": """
        o = types.new_class("X", (), {}, lambda ns: ns.update(w=1.0))()
        f = lambda x: x * o.w
        --- type(o).w = 2.0
        --- o.w = 3.0
        """,
    "make_dataclass": """
        X = dataclasses.make_dataclass("X", [("w", float, 1.0)])
        o = X()
        f = lambda x: x * o.w
        --- o.w = 2.0
        """,
    "class attribute of make_dataclass": """
        X = dataclasses.make_dataclass("X", [], namespace={"w": 1.0})
        f = lambda x: x * X().w
        --- X.w = 2.0
        """,
    "class of a class": """
        class A:
            class B: rate = 1.0
        f = lambda x: x * A.B.rate
        --- A.B.rate = 2.0
        --- A.B = L; L.rate = 3.0
        """,
    "class in a dict": "D = {'a': K}\nf = lambda x: x * D['a'].rate --- K.rate = 2.0 --- D['a'] = L; L.rate = 3.0",
    "class that a function gives": "def get(): return K\nf = lambda x: x * get().rate --- K.rate = 2.0",
    "class that is called": """
        class A:
            def __init__(self): self.w = K.rate
        f = lambda x: x * A().w
        --- K.rate = 2.0
        --- A.__init__ = lambda self: setattr(self, "w", 3.0)
        """,
    "__init_subclass__": """
        class A:
            def __init_subclass__(cls): cls.w = K.rate
        def f(x):
            class B(A): pass
            return x * B.w
        --- K.rate = 2.0
        """,
    "__set_name__": """
        class D:
            def __set_name__(self, owner, name): owner.w = K.rate
        def f(x):
            class B: d = D()
            return x * B.w
        --- K.rate = 2.0
        """,
    "attribute annotated": "class A:\n    w: float = 1.0\nf = lambda x: x * A.w --- A.w = 2.0",
    "__annotations__ of a class": "class A:\n    w: 'a'\nf = lambda x: x * len(A.__annotations__['w']) --- A.__annotations__['w'] = 'ab'",
    "__doc__ of a class": "class A:\n    'a'\nf = lambda x: x * len(A.__doc__) --- A.__doc__ = 'ab'",
    "__name__ of a class": "f = lambda x: x * len(K.__name__) --- K.__name__ = 'AB'",
    "exception with an attribute": "E = ValueError(1.0); E.w = 1.0\nf = lambda x: x * E.w --- E.w = 2.0",
    "args of an exception": "E = ValueError(1.0)\nf = lambda x: x * E.args[0] --- E.args = (2.0,)",
    "int with an attribute": "class I(int): pass\nI_ = I(1); I_.w = 1.0\nf = lambda x: x * I_.w --- I_.w = 2.0",
    "str with an attribute": "class T(str): pass\nT_ = T('a'); T_.w = 1.0\nf = lambda x: x * T_.w --- T_.w = 2.0",
    "list with an attribute": "class T(list): pass\nT_ = T(); T_.w = 1.0\nf = lambda x: x * T_.w --- T_.w = 2.0",
    "dict with an attribute": "class T(dict): pass\nT_ = T(); T_.w = 1.0\nf = lambda x: x * T_.w --- T_.w = 2.0",
    "tuple with an attribute": "class T(tuple): pass\nT_ = T(); T_.w = 1.0\nf = lambda x: x * T_.w --- T_.w = 2.0",
    "float with a class attribute": "class T(float): w = 1.0\nT_ = T(1)\nf = lambda x: x * T_.w --- T.w = 2.0",
    "module subclass of imprint": """
        class Net(Module):
            w: float = field(static=True)
            scale = 1.0
            def __call__(self, x): return x * self.w * self.scale
        n = Net(1.0)
        f = lambda x: n(x)
        --- Net.scale = 2.0
        --- n = Net(3.0)
        """,
    "functools.cache holding an object": """
        @functools.cache
        def get(): return O
        get()
        f = lambda x: x * get().rate
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "class that belongs to no module": """
        N = {}
        exec("M = type('M', (), {'w': 1.0})", N)
        M = N["M"]
        m = M()
        def f(x):
            return x * m.w
        --- m.w = 2.0
        --- M.w = 3.0; del m.w
        """,
    "iterator that calls a function": """
        o = K()
        R = map(lambda _: o.rate, itertools.count())
        f = lambda x: x * next(R)
        --- o.rate = 4.0
        """,
    "proxy of a dict": """
        d = {"a": 1.0, 0: 1.0}
        m = types.MappingProxyType(d)
        f = lambda x: x * m["a"] * m[0]
        --- d["a"] = 3.0
        --- d[0] = 5.0
        """,
    "descriptor that stores its result under its own name": """
        class D:
            def __set_name__(self, owner, name): self.name = name
            def __get__(self, o, _): return o.__dict__[self.name]
            def __set__(self, o, value): o.__dict__[self.name] = value
        class M: w, v = D(), D()
        o = M(); o.w = 1.0; o.v = [1.0]; o.u = K()
        f = lambda x: x * o.w * sum(o.v)
        --- o.w = 3.0
        --- o.v.append(4.0)
        --- o.v = [7.0]
        --- o.__dict__ = {"w": 8.0, "v": [9.0]}
        """,
    "property over a slot of its name": """
        class M: __slots__ = ("w",)
        slot = M.w
        class N(M):
            __slots__ = ()
            @property
            def w(self): return super().w * 2
        o = N(); slot.__set__(o, 1.0)
        f = lambda x: x * o.w
        --- slot.__set__(o, 3.0)
        --- slot.__set__(o, 5.0)
        """,
    "what an exception was raised from": """
        e = ValueError(1.0)
        e.__cause__ = e.__context__ = KeyError(2.0)
        f = lambda x: x * e.__cause__.args[0] * e.__context__.args[0]
        --- e.__cause__ = KeyError(3.0)
        --- e.__context__.args = (5.0,)
        --- e.__context__ = KeyError(7.0)
        """,
    "whether an exception hides its context": """
        e = ValueError()
        f = lambda x: x * (1.0 if e.__suppress_context__ else 2.0)
        --- e.__cause__ = KeyError()
        --- e.__suppress_context__ = False
        """,
    "exception that the trace raises from another": """
        e = ValueError(1.0)
        def f(x):
            try:
                try: raise KeyError(2.0)
                except KeyError as k: raise e from k
            except ValueError as o:
                return x * o.__cause__.args[0] * o.__context__.args[0] * o.args[0]
        --- e.args = (3.0,)
        """,
}
