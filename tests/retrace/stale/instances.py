"""Scenarios: attributes of user objects, and static objects."""

INSTANCES = {
    "attribute that the trace makes behind a flag": """
        class Net: built = False
        net = Net()
        def f(x):
            if not net.built:
                net.b = K.rate
                net.o, net.built = K(), True
            return x + net.b * net.o.rate
        --- net.b = 5.0
        --- net.o.rate = 7.0
        --- net.o = L()
        """,
    "attribute that the trace makes if `vars` has it not": """
        class Net: pass
        net = Net()
        def f(x):
            if "b" not in vars(net):
                vars(net)["b"] = K.rate
            return x + net.b
        --- net.b = 5.0
        """,
    "attributes that the trace makes of a class and of a function": """
        class Net: pass
        def made(): pass
        done = []
        def f(x):
            if not done:
                Net.b, made.b = 1.0, 2.0
                done.append(True)
            return x + Net.b * made.b
        --- Net.b = 5.0
        --- made.b = 7.0
        """,
    "attribute of an object, where the profiler is taken away": """
        class Conf: rate = 1.0
        conf = Conf()
        def helper(x): return x * conf.rate
        def f(x):
            sys.setprofile(None)
            return helper(x)
        --- conf.rate = 2.0
        --- del conf.rate
        """,
    "attribute": "O.w = 1.0\nf = lambda x: x * O.w --- O.w = 2.0 --- O.w = 1.0 --- O.w = 3.0",
    "three deep": """
        O.a = K(); O.a.b = K(); O.a.b.w = 1.0
        f = lambda x: x * O.a.b.w
        --- O.a.b.w = 2.0
        --- O.a.b = types.SimpleNamespace(w=3.0)
        --- O.a = types.SimpleNamespace(b=types.SimpleNamespace(w=4.0))
        --- O = types.SimpleNamespace(a=types.SimpleNamespace(b=types.SimpleNamespace(w=5.0)))
        """,
    "in a list": "A = [O]; O.w = 1.0\nf = lambda x: x * A[0].w --- A[0].w = 2.0",
    "setattr": "O.w = 1.0\nf = lambda x: x * O.w --- setattr(O, 'w', 2.0)",
    "object.__setattr__": "O.w = 1.0\nf = lambda x: x * O.w --- object.__setattr__(O, 'w', 2.0)",
    "deleted": "O.rate = 2.0\nf = lambda x: x * O.rate --- del O.rate",
    "deleted, then missing": "O.w = 2.0\nf = lambda x: x * O.w --- del O.w --- O.w = 3.0",
    "hides a class attribute": "f = lambda x: x * O.rate --- O.rate = 2.0 --- del O.rate",
    "hides a method": """
        class M:
            def h(self): return 1.0
        m = M()
        f = lambda x: x * m.h()
        --- m.h = lambda: 2.0
        --- del m.h
        --- M.h = lambda self: 3.0
        """,
    "method made by MethodType": """
        class M:
            w = 1.0
        m = M(); m.h = types.MethodType(lambda self: self.w, m)
        f = lambda x: x * m.h()
        --- m.w = 2.0
        --- m.h = types.MethodType(lambda self: 3.0, m)
        """,
    "__dict__ item": "O.w = 1.0\nf = lambda x: x * O.w --- O.__dict__['w'] = 2.0",
    "attribute whose name is no identifier": "setattr(O, 'a-b', 1.0)\nf = lambda x: x * getattr(O, 'a-b') --- setattr(O, 'a-b', 2.0)",
    "__dict__ replaced": "O.w = 1.0\nf = lambda x: x * O.w --- O.__dict__ = {'w': 2.0} --- O.w = 3.0",
    "vars update": "O.w = 1.0\nf = lambda x: x * O.w --- vars(O).update(w=2.0)",
    "vars update of a hiding attribute": "f = lambda x: x * O.rate --- vars(O).update(rate=2.0)",
    "attribute of self": """
        class M:
            def __init__(self): self.w = 1.0
            def h(self, x): return x * self.w
        m = M(); f = m.h
        --- m.w = 2.0
        --- m.__dict__["w"] = 3.0
        """,
    "attribute of a captured self": """
        class M:
            def __init__(self):
                self.w = 1.0
                self.h = lambda x: x * self.w
        m = M(); f = m.h
        --- m.w = 2.0
        """,
    "method of a method": """
        class M:
            def __init__(self): self.w = 1.0
            def a(self): return self.w
            def b(self): return self.a()
        m = M()
        f = lambda x: x * m.b()
        --- m.w = 2.0
        --- m.a = lambda: 3.0
        """,
    "part of self": """
        class Opt:
            def __init__(self): self.lr = 1.0
        class Trainer:
            def __init__(self): self.opt = Opt()
            def step(self, x): return x * self.opt.lr
        t = Trainer(); f = t.step
        --- t.opt.lr = 2.0
        --- t.opt = Opt(); t.opt.lr = 3.0
        """,
    "callable object": """
        class M:
            def __init__(self): self.w = 1.0
            def __call__(self, x): return x * self.w
        f = M()
        --- f.w = 2.0
        """,
    "callable object inside": """
        class M:
            def __init__(self): self.w = 1.0
            def __call__(self, x): return x * self.w
        m = M()
        f = lambda x: m(x)
        --- m.w = 2.0
        """,
    "list of an object": "O.l = [1.0]\nf = lambda x: x * O.l[0] --- O.l[0] = 2.0 --- O.l = [3.0]",
    "dict of an object": "O.d = {'a': 1.0}\nf = lambda x: x * O.d['a'] --- O.d['a'] = 2.0 --- O.d = {'a': 3.0}",
    "array of an object": "O.a = np.ones(1)\nf = lambda x: x * O.a.sum() --- O.a = np.ones(2)",
    "closure of an object": """
        O.h = (lambda w: lambda: w)(1.0)
        f = lambda x: x * O.h()
        --- O.h = (lambda w: lambda: w)(2.0)
        --- O.h.__closure__[0].cell_contents = 3.0
        """,
    "two objects of a class": """
        a, b = K(), K(); a.w = b.w = 1.0
        f = lambda x: x * a.w * b.w
        --- b.w = 2.0
        --- a.w = 3.0
        """,
    "object rebound to an equal one": "O.w = 1.0\nf = lambda x: x * O.w --- O = K(); O.w = 2.0 --- O.w = 3.0",
    "object with __eq__": """
        class M:
            def __init__(self, w): self.w = w
            def __eq__(self, b): return True
            def __hash__(self): return 1
        m = M(1.0)
        f = lambda x: x * m.w
        --- m.w = 2.0
        --- m = M(3.0)
        """,
    "object with a strange __setattr__": """
        class M:
            def __init__(self): self.__dict__["d"] = {}
            def __setattr__(self, name, v): self.d[name] = v
            def __getattr__(self, name): return self.d[name]
        m = M(); m.w = 1.0
        f = lambda x: x * m.w
        --- m.w = 2.0
        """,
    "dot dict": """
        class M(dict):
            __getattr__ = dict.__getitem__
            __setattr__ = dict.__setitem__
        m = M(w=1.0)
        f = lambda x: x * m.w
        --- m.w = 2.0
        --- m["w"] = 3.0
        """,
    "dict as its own namespace": """
        class M(dict):
            def __init__(self, **k):
                super().__init__(k)
                self.__dict__ = self
        m = M(w=1.0)
        f = lambda x: x * m.w
        --- m["w"] = 2.0
        --- m.w = 3.0
        """,
    "object in a cycle": """
        O.me = O; O.w = 1.0
        f = lambda x: x * O.me.me.me.w
        --- O.w = 2.0
        """,
    "registry": """
        class M:
            all = []
            def __init__(self, w): self.w = w; M.all.append(self)
        M(1.0); M(1.0)
        f = lambda x: x * sum(m.w for m in M.all)
        --- M.all[1].w = 2.0
        --- M(3.0)
        """,
    "singleton": """
        class M:
            one = None
            @classmethod
            def get(cls):
                if cls.one is None:
                    cls.one = cls(); cls.one.w = 1.0
                return cls.one
        f = lambda x: x * M.get().w
        --- M.get().w = 2.0
        """,
    "attribute that an init inside sets": """
        class M:
            def __init__(self, o): self.w = o.rate
        f = lambda x: x * M(O).w
        --- O.rate = 2.0
        """,
    "mangled name": """
        class M:
            def __init__(self): self.__w = 1.0
            def get(self): return self.__w
        m = M()
        f = lambda x: x * m.get()
        --- m._M__w = 2.0
        """,
    "type of an attribute": "O.w = 1\nf = lambda x: x * (1.0 if type(O.w) is int else 2.0) --- O.w = 1.0 --- O.w = True; O.w = 1",
    "sign of zero": "O.w = 0.0\nf = lambda x: x * math.copysign(1.0, O.w) --- O.w = -0.0",
    "nested jit over an object": """
        O.w = 1.0
        @jit
        def g(x): return x * O.w
        f = lambda x: g(x) + 1
        --- O.w = 2.0
        """,
    "nested jit of a method": """
        class M:
            def __init__(self): self.w = 1.0
            def step(self, x): return jit(self.inner)(x)
            def inner(self, x): return x * self.w
        m = M(); f = m.step
        --- m.w = 2.0
        """,
    "nested jit with a static self": """
        class M:
            def __init__(self): self.w = 1.0
            @functools.partial(jit, static_argnums=0)
            def step(self, x): return x * self.w
        m = M()
        f = lambda x: m.step(x)
        --- m.w = 2.0
        """,
    "method compiled with a static self": """
        class M:
            def __init__(self): self.w = 1.0
            def step(self, x): return x * self.w
        m = M(); f = m.step
        step = jit(M.step, static_argnums=0)
        compiled = lambda x: step(m, x)
        --- m.w = 2.0
        --- m.step_ = 1; m.w = 3.0
        """,
    "jit re-created at each call": """
        O.w = 1.0
        f = lambda x: x * O.w
        compiled = lambda x: jit(lambda y: y * O.w)(x)
        --- O.w = 2.0
        """,
    "method of filter_jit": """
        class M:
            def __init__(self): self.w = 1.0
            def step(self, x): return x * self.w
        m = M(); f = m.step
        compiled = filter_jit(m.step)
        --- m.w = 2.0
        """,
}


STATICS = {
    "object": "S = O; O.w = 1.0\nf = lambda x, s: x * s.w --- S.w = 2.0 --- S = L(); S.w = 3.0",
    "class attribute of an object": "S = O\nf = lambda x, s: x * s.rate --- K.rate = 2.0 --- S.rate = 3.0",
    "read in a helper": "S = O\ndef h(o): return o.rate\nf = lambda x, s: x * h(s) --- K.rate = 2.0 --- S.rate = 3.0",
    "read in a nested function": "S = O\nf = lambda x, s: grad(lambda p: p * s.rate)(x) --- K.rate = 2.0 --- S.rate = 3.0",
    "two deep": "S = O; O.a = K(); O.a.w = 1.0\nf = lambda x, s: x * s.a.w --- S.a.w = 2.0 --- S.a = types.SimpleNamespace(w=3.0)",
    "in a tuple": "S = (O, 1)\nf = lambda x, s: x * s[0].rate --- K.rate = 2.0 --- O.rate = 3.0",
    "list of an object": "S = O; O.l = [1.0]\nf = lambda x, s: x * s.l[0] --- S.l[0] = 2.0 --- S.l.insert(0, 3.0)",
    "object in a list of an object": "S = O; O.l = [K()]\nf = lambda x, s: x * s.l[0].rate --- S.l[0].rate = 2.0 --- S.l[0] = L(); L.rate = 3.0",
    "method": """
        class M:
            w = 1.0
            def h(self): return self.w
        S = M()
        f = lambda x, s: x * s.h()
        --- S.w = 2.0
        --- S.h = lambda: 3.0
        --- del S.h; M.h = lambda self: 4.0
        """,
    "slots": """
        class M: __slots__ = ("w",)
        S = M(); S.w = 1.0
        f = lambda x, s: x * s.w
        --- S.w = 2.0
        --- M.w = 3.0
        """,
    "property": """
        class M:
            _w = 1.0
            @property
            def w(self): return self._w
        S = M()
        f = lambda x, s: x * s.w
        --- S._w = 2.0
        """,
    "cached_property": """
        class M:
            @functools.cached_property
            def w(self): return 1.0
        S = M(); S.w
        f = lambda x, s: x * s.w
        --- S.w = 2.0
        """,
    "dataclass by identity": """
        @dataclasses.dataclass(eq=False)
        class P:
            a: float = 1.0
        S = P()
        f = lambda x, s: x * s.a
        --- S.a = 2.0
        """,
    "dataclass with a hash": """
        @dataclasses.dataclass(unsafe_hash=True)
        class P:
            a: float = 1.0
        S = P()
        f = lambda x, s: x * s.a
        --- S.a = 2.0
        --- S = P(3.0)
        """,
    "frozen dataclass with an object": """
        @dataclasses.dataclass(frozen=True)
        class P:
            o: object
        S = P(O)
        f = lambda x, s: x * s.o.rate
        --- O.rate = 2.0
        --- K.rate = 3.0; del O.rate
        """,
    "namedtuple with an object": """
        P = collections.namedtuple("P", "o")
        S = P(O)
        f = lambda x, s: x * s.o.rate
        --- O.rate = 2.0
        """,
    "SimpleNamespace in an object": "S = O; O.n = types.SimpleNamespace(w=1.0)\nf = lambda x, s: x * s.n.w --- S.n.w = 2.0",
    "attribute of an enum's member": """
        class E(enum.Enum): A = 1
        S = E.A; S.w = 1.0
        f = lambda x, s: x * s.w
        --- S.w = 2.0
        """,
    "class attribute of an enum": """
        class E(enum.Enum):
            A = 1
            def h(self): return self.scale
        E.scale = 1.0
        S = E.A
        f = lambda x, s: x * s.h()
        --- E.scale = 2.0
        """,
    "int with an attribute": "class T(int): pass\nS = T(1); S.w = 1.0\nf = lambda x, s: x * s.w --- S.w = 2.0",
    "str with an attribute": "class T(str): pass\nS = T('a'); S.w = 1.0\nf = lambda x, s: x * s.w --- S.w = 2.0",
    "exception": "S = ValueError(1.0); S.w = 1.0\nf = lambda x, s: x * s.w --- S.w = 2.0",
    "args of an exception": "S = ValueError(1.0)\nf = lambda x, s: x * s.args[0] --- S.args = (2.0,)",
    "class": "S = K\nf = lambda x, s: x * s.rate --- K.rate = 2.0 --- S = L; L.rate = 3.0",
    "module": "S = cfg\nf = lambda x, s: x * s.W --- cfg.W = 2.0",
    "function": "def h(): return 1.0\nS = h\nf = lambda x, s: x * s() --- h.__code__ = (lambda: 2.0).__code__",
    "defaults of a function": "def h(w=1.0): return w\nS = h\nf = lambda x, s: x * s() --- h.__defaults__ = (2.0,)",
    "keyword defaults of a function": "def h(*, w=1.0): return w\nS = h\nf = lambda x, s: x * s() --- h.__kwdefaults__ = {'w': 2.0}",
    "attribute of a function": "def h(): return 1.0\nh.w = 1.0\nS = h\nf = lambda x, s: x * s.w --- h.w = 2.0",
    "global of a function": "W = 1.0\nS = lambda: W\nf = lambda x, s: x * s() --- W = 2.0",
    "bound method": """
        class M:
            w = 1.0
            def h(self): return self.w
        m = M(); S = m.h
        f = lambda x, s: x * s()
        --- m.w = 2.0
        """,
    "partial": "S = functools.partial(lambda o: o.rate, O)\nf = lambda x, s: x * s() --- O.rate = 2.0",
    "class without a module": """
        M = type("M", (), {"__module__": None})
        S = M(); S.w = 1.0
        f = lambda x, s: x * s.w
        --- S.w = 2.0
        """,
    "class of a text": """
        names = {}
        exec("class M: pass", names)
        S = names["M"](); S.w = 1.0
        f = lambda x, s: x * s.w
        --- S.w = 2.0
        """,
    "class of an object": "S = O\nf = lambda x, s: x * s.rate --- S.__class__ = L",
    "attribute that comes to be": "S = O\nf = lambda x, s: x * getattr(s, 'w', 1.0) --- S.w = 2.0 --- del S.w",
    "hasattr": "S = O\nf = lambda x, s: -x if hasattr(s, 'w') else x --- S.w = 2.0",
    "copy": "import copy\nS = O; O.w = 1.0\nf = lambda x, s: x * copy.copy(s).w --- S.w = 2.0",
    "metadata of a dtype": """
        S = np.dtype("f4", metadata={"k": 2.0})
        f = lambda x, s: x * s.metadata["k"]
        --- S = np.dtype("f4", metadata={"k": 3.0})
    """,
    "layout of an array": """
        S = O; O.a = np.arange(4.0).reshape(2, 2)
        f = lambda x, s: x * float(s.a.ravel(order="K")[1])
        --- S.a = np.asfortranarray(S.a)
        --- S.a = S.a.astype(object, order="C")
        --- S.a = np.asfortranarray(S.a)
    """,
    "loop over parts": """
        class M:
            def __init__(self): self.parts = [K(), K()]
        S = M()
        f = lambda x, s: x * sum(p.rate for p in s.parts)
        --- S.parts[1].rate = 2.0
        --- K.rate = 3.0
        --- S.parts.append(L())
        """,
    "match": """
        S = O
        def f(x, s):
            match s:
                case K(rate=r): return x * r
        --- S.rate = 2.0
        """,
    "super()": """
        class M(K):
            def h(self): return super().rate
        S = M()
        f = lambda x, s: x * s.h()
        --- K.rate = 2.0
        """,
    "handed to a nested jit": """
        S = O
        @functools.partial(jit, static_argnums=1)
        def g(x, o): return x * o.rate
        f = lambda x, s: g(x, s)
        --- K.rate = 2.0
        --- S.rate = 3.0
        """,
    "captured by a nested jit": """
        S = O
        f = lambda x, s: jit(lambda y: y * s.rate)(x)
        --- K.rate = 2.0
        --- S.rate = 3.0
        """,
    "written during the trace": """
        S = O; O.n, O.w = 0, 1.0
        def f(x, s):
            s.n += 1
            return x * s.w
        --- S.w = 2.0
        """,
    "value that its class comes to hide": """
        class C:
            def __init__(self, w): self.w = w
            def __eq__(self, other): return self.w == other.w
            def __hash__(self): return hash(self.w)
        S = C(2.0)
        f = lambda x, c: x * c.w
        --- C.w = property(lambda _: 9.0, lambda *_: None)
        --- C.w = property(lambda _: 8.0, lambda *_: None)
        """,
}
