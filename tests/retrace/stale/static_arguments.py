"""Scenarios: attributes of static arguments."""


def object_of_a_name():
    global S, f
    S = O
    O.w = 1.0
    f = lambda x, s: x * s.w
    yield
    S.w = 2.0
    yield
    S = L()
    S.w = 3.0
    yield


def class_attribute_of_an_object():
    global S, f
    S = O
    f = lambda x, s: x * s.rate
    yield
    K.rate = 2.0
    yield
    S.rate = 3.0
    yield


def read_in_a_helper():
    global S, h, f
    S = O

    def h(o):
        return o.rate

    f = lambda x, s: x * h(s)
    yield
    K.rate = 2.0
    yield
    S.rate = 3.0
    yield


def read_in_a_nested_function():
    global S, f
    S = O
    f = lambda x, s: grad(lambda p: p * s.rate)(x)
    yield
    K.rate = 2.0
    yield
    S.rate = 3.0
    yield


def two_deep():
    global S, f
    S = O
    O.a = K()
    O.a.w = 1.0
    f = lambda x, s: x * s.a.w
    yield
    S.a.w = 2.0
    yield
    S.a = types.SimpleNamespace(w=3.0)
    yield


def in_a_tuple():
    global S, f
    S = (O, 1)
    f = lambda x, s: x * s[0].rate
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def list_of_an_object():
    global S, f
    S = O
    O.l = [1.0]
    f = lambda x, s: x * s.l[0]
    yield
    S.l[0] = 2.0
    yield
    S.l.insert(0, 3.0)
    yield


def object_in_a_list_of_an_object():
    global S, f
    S = O
    O.l = [K()]
    f = lambda x, s: x * s.l[0].rate
    yield
    S.l[0].rate = 2.0
    yield
    S.l[0] = L()
    L.rate = 3.0
    yield


def method():
    global M, S, f

    class M:
        w = 1.0

        def h(self):
            return self.w

    S = M()
    f = lambda x, s: x * s.h()
    yield
    S.w = 2.0
    yield
    S.h = lambda: 3.0
    yield
    del S.h
    M.h = lambda self: 4.0
    yield


def slots():
    global M, S, f

    class M:
        __slots__ = ("w",)

    S = M()
    S.w = 1.0
    f = lambda x, s: x * s.w
    yield
    S.w = 2.0
    yield
    M.w = 3.0
    yield


def property_of_a_name():
    global M, S, f

    class M:
        _w = 1.0

        @property
        def w(self):
            return self._w

    S = M()
    f = lambda x, s: x * s.w
    yield
    S._w = 2.0
    yield


def cached_property():
    global M, S, f

    class M:
        @functools.cached_property
        def w(self):
            return 1.0

    S = M()
    S.w
    f = lambda x, s: x * s.w
    yield
    S.w = 2.0
    yield


def dataclass_by_identity():
    global P, S, f

    @dataclasses.dataclass(eq=False)
    class P:
        a: float = 1.0

    S = P()
    f = lambda x, s: x * s.a
    yield
    S.a = 2.0
    yield


def dataclass_with_a_hash():
    global P, S, f

    @dataclasses.dataclass(unsafe_hash=True)
    class P:
        a: float = 1.0

    S = P()
    f = lambda x, s: x * s.a
    yield
    S.a = 2.0
    yield
    S = P(3.0)
    yield


def frozen_dataclass_with_an_object():
    global P, S, f

    @dataclasses.dataclass(frozen=True)
    class P:
        o: object

    S = P(O)
    f = lambda x, s: x * s.o.rate
    yield
    O.rate = 2.0
    yield
    K.rate = 3.0
    del O.rate
    yield


def namedtuple_with_an_object():
    global P, S, f
    P = collections.namedtuple("P", "o")
    S = P(O)
    f = lambda x, s: x * s.o.rate
    yield
    O.rate = 2.0
    yield


def simplenamespace_in_an_object():
    global S, f
    S = O
    O.n = types.SimpleNamespace(w=1.0)
    f = lambda x, s: x * s.n.w
    yield
    S.n.w = 2.0
    yield


def attribute_of_an_enums_member():
    global E, S, f

    class E(enum.Enum):
        A = 1

    S = E.A
    S.w = 1.0
    f = lambda x, s: x * s.w
    yield
    S.w = 2.0
    yield


def class_attribute_of_an_enum():
    global E, S, f

    class E(enum.Enum):
        A = 1

        def h(self):
            return self.scale

    E.scale = 1.0
    S = E.A
    f = lambda x, s: x * s.h()
    yield
    E.scale = 2.0
    yield


def int_with_an_attribute():
    global T, S, f

    class T(int):
        pass

    S = T(1)
    S.w = 1.0
    f = lambda x, s: x * s.w
    yield
    S.w = 2.0
    yield


def str_with_an_attribute():
    global T, S, f

    class T(str):
        pass

    S = T("a")
    S.w = 1.0
    f = lambda x, s: x * s.w
    yield
    S.w = 2.0
    yield


def exception():
    global S, f
    S = ValueError(1.0)
    S.w = 1.0
    f = lambda x, s: x * s.w
    yield
    S.w = 2.0
    yield


def args_of_an_exception():
    global S, f
    S = ValueError(1.0)
    f = lambda x, s: x * s.args[0]
    yield
    S.args = (2.0,)
    yield


def a_class():
    global S, f
    S = K
    f = lambda x, s: x * s.rate
    yield
    K.rate = 2.0
    yield
    S = L
    L.rate = 3.0
    yield


def module():
    global S, f
    S = cfg
    f = lambda x, s: x * s.W
    yield
    cfg.W = 2.0
    yield


def function():
    global h, S, f

    def h():
        return 1.0

    S = h
    f = lambda x, s: x * s()
    yield
    h.__code__ = (lambda: 2.0).__code__
    yield


def defaults_of_a_function():
    global h, S, f

    def h(w=1.0):
        return w

    S = h
    f = lambda x, s: x * s()
    yield
    h.__defaults__ = (2.0,)
    yield


def keyword_defaults_of_a_function():
    global h, S, f

    def h(*, w=1.0):
        return w

    S = h
    f = lambda x, s: x * s()
    yield
    h.__kwdefaults__ = {"w": 2.0}
    yield


def attribute_of_a_function():
    global h, S, f

    def h():
        return 1.0

    h.w = 1.0
    S = h
    f = lambda x, s: x * s.w
    yield
    h.w = 2.0
    yield


def global_of_a_function():
    global W, S, f
    W = 1.0
    S = lambda: W
    f = lambda x, s: x * s()
    yield
    W = 2.0
    yield


def bound_method():
    global M, m, S, f

    class M:
        w = 1.0

        def h(self):
            return self.w

    m = M()
    S = m.h
    f = lambda x, s: x * s()
    yield
    m.w = 2.0
    yield


def partial():
    global S, f
    S = functools.partial(lambda o: o.rate, O)
    f = lambda x, s: x * s()
    yield
    O.rate = 2.0
    yield


def class_without_a_module():
    global M, S, f
    M = type("M", (), {"__module__": None})
    S = M()
    S.w = 1.0
    f = lambda x, s: x * s.w
    yield
    S.w = 2.0
    yield


def class_of_a_text():
    global names, S, f
    names = {}
    exec("class M: pass", names)
    S = names["M"]()
    S.w = 1.0
    f = lambda x, s: x * s.w
    yield
    S.w = 2.0
    yield


def class_of_an_object():
    global S, f
    S = O
    f = lambda x, s: x * s.rate
    yield
    S.__class__ = L
    yield


def attribute_that_comes_to_be():
    global S, f
    S = O
    f = lambda x, s: x * getattr(s, "w", 1.0)
    yield
    S.w = 2.0
    yield
    del S.w
    yield


def hasattr_of_a_name():
    global S, f
    S = O
    f = lambda x, s: -x if hasattr(s, "w") else x
    yield
    S.w = 2.0
    yield


def copy():
    global copy, S, f
    import copy

    S = O
    O.w = 1.0
    f = lambda x, s: x * copy.copy(s).w
    yield
    S.w = 2.0
    yield


def metadata_of_a_dtype():
    global S, f
    S = np.dtype("f4", metadata={"k": 2.0})
    f = lambda x, s: x * s.metadata["k"]
    yield
    S = np.dtype("f4", metadata={"k": 3.0})
    yield


def layout_of_an_array():
    global S, f
    S = O
    O.a = np.arange(4.0).reshape(2, 2)
    f = lambda x, s: x * float(s.a.ravel(order="K")[1])
    yield
    S.a = np.asfortranarray(S.a)
    yield
    S.a = S.a.astype(object, order="C")
    yield
    S.a = np.asfortranarray(S.a)
    yield


def loop_over_parts():
    global M, S, f

    class M:
        def __init__(self):
            self.parts = [K(), K()]

    S = M()
    f = lambda x, s: x * sum(p.rate for p in s.parts)
    yield
    S.parts[1].rate = 2.0
    yield
    K.rate = 3.0
    yield
    S.parts.append(L())
    yield


def match():
    global S, f
    S = O

    def f(x, s):
        match s:
            case K(rate=r):
                return x * r

    yield
    S.rate = 2.0
    yield


def super_of_a_name():
    global M, S, f

    class M(K):
        def h(self):
            return super().rate

    S = M()
    f = lambda x, s: x * s.h()
    yield
    K.rate = 2.0
    yield


def handed_to_a_nested_jit():
    global S, g, f
    S = O

    @functools.partial(jit, static_argnums=1)
    def g(x, o):
        return x * o.rate

    f = lambda x, s: g(x, s)
    yield
    K.rate = 2.0
    yield
    S.rate = 3.0
    yield


def captured_by_a_nested_jit():
    global S, f
    S = O
    f = lambda x, s: jit(lambda y: y * s.rate)(x)
    yield
    K.rate = 2.0
    yield
    S.rate = 3.0
    yield


def written_during_the_trace():
    global S, f
    S = O
    O.n, O.w = 0, 1.0

    def f(x, s):
        s.n += 1
        return x * s.w

    yield
    S.w = 2.0
    yield


def value_that_its_class_comes_to_hide():
    global C, S, f

    class C:
        def __init__(self, w):
            self.w = w

        def __eq__(self, other):
            return self.w == other.w

        def __hash__(self):
            return hash(self.w)

    S = C(2.0)
    f = lambda x, c: x * c.w
    yield
    C.w = property(lambda _: 9.0, lambda *_: None)
    yield
    C.w = property(lambda _: 8.0, lambda *_: None)
    yield
