"""Scenarios: objects and classes of each kind that hold the value."""


def class_that_a_metaclass_of_pythons_makes():
    global C, c, f
    C = abc.ABCMeta("C", (), {"rate": 1.0, "twice": lambda self: self.rate * 2})
    c = C()
    f = lambda x: x * c.twice()
    yield
    C.rate = 3.0
    yield
    c.rate = 4.0
    yield
    C.twice = lambda self: 9.0
    yield


def slots():
    global M, m, f

    class M:
        __slots__ = ("w",)

    m = M()
    m.w = 1.0
    f = lambda x: x * m.w
    yield
    m.w = 2.0
    yield
    M.w = 3.0
    yield


def name_of_a_class_which_its_objects_do_not_show():
    global M, m, f

    class M:
        w = 1.0

        def name(self):
            return type(self).__name__

    m = M()
    f = lambda x: x * m.w * len(m.name())
    yield
    M.__name__ = "Longer"
    yield


def slots_with_a_class_attribute():
    global M, m, f

    class M:
        __slots__ = ()
        w = 1.0

    m = M()
    f = lambda x: x * m.w
    yield
    M.w = 2.0
    yield


def slots_through_a_parameter():
    global M, m, h, f

    class M:
        __slots__ = ("w",)

    m = M()
    m.w = 1.0

    def h(o):
        return o.w

    f = lambda x: x * h(m)
    yield
    m.w = 2.0
    yield


def slot_that_holds_an_object():
    global M, m, f

    class M:
        __slots__ = ("o",)

    m = M()
    m.o = O
    f = lambda x: x * m.o.rate
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield
    m.o = L()
    yield


def slot_that_is_not_set():
    global M, m, f

    class M:
        __slots__ = ("w",)

    m = M()
    f = lambda x: x * getattr(m, "w", 1.0)
    yield
    m.w = 2.0
    yield
    del m.w
    yield


def namedtuple_with_an_object():
    global P, p, f
    P = collections.namedtuple("P", "o")
    p = P(O)
    f = lambda x: x * p.o.rate
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def namedtuple_with_a_list():
    global P, p, f
    P = collections.namedtuple("P", "l")
    p = P([1.0])
    f = lambda x: x * p.l[0]
    yield
    p.l[0] = 2.0
    yield


def namedtuple_with_a_module():
    global P, p, f
    P = collections.namedtuple("P", "m")
    p = P(cfg)
    f = lambda x: x * p.m.W
    yield
    cfg.W = 2.0
    yield


def namedtuple_with_a_class_attribute():
    global P, p, f

    class P(typing.NamedTuple):
        a: float = 1.0

    P.rate = 1.0
    p = P()
    f = lambda x: x * p.rate
    yield
    P.rate = 2.0
    yield


def method_of_a_namedtuple():
    global P, p, f

    class P(typing.NamedTuple):
        a: float

        def h(self):
            return self.a

    p = P(1.0)
    f = lambda x: x * p.h()
    yield
    P.h = lambda self: 2.0
    yield


def field_defaults():
    global P, f
    P = collections.namedtuple("P", "a", defaults=(1.0,))
    f = lambda x: x * P._field_defaults["a"]
    yield
    P._field_defaults["a"] = 2.0
    yield


def dataclass():
    global P, p, f

    @dataclasses.dataclass
    class P:
        a: float = 1.0

    p = P()
    f = lambda x: x * p.a
    yield
    p.a = 2.0
    yield
    p = P(3.0)
    yield


def dataclass_with_slots():
    global P, p, f

    @dataclasses.dataclass(slots=True)
    class P:
        a: float = 1.0

    p = P()
    f = lambda x: x * p.a
    yield
    p.a = 2.0
    yield


def dataclass_in_a_parameter():
    global P, p, h, f

    @dataclasses.dataclass
    class P:
        a: float = 1.0

    p = P()

    def h(c):
        return c.a

    f = lambda x: x * h(p)
    yield
    p.a = 2.0
    yield


def default_of_a_dataclass():
    global P, f

    @dataclasses.dataclass
    class P:
        a: float = 1.0

    f = lambda x: x * P().a
    yield
    P.__init__.__defaults__ = (2.0,)
    yield


def default_factory_of_a_dataclass():
    global W, P, f
    W = 1.0

    @dataclasses.dataclass
    class P:
        a: float = dataclasses.field(default_factory=lambda: W)

    f = lambda x: x * P().a
    yield
    W = 2.0
    yield


def keyword_only_dataclass():
    global P, f

    @dataclasses.dataclass(kw_only=True)
    class P:
        a: float = 1.0

    f = lambda x: x * P().a
    yield
    P.__init__.__kwdefaults__["a"] = 2.0
    yield


def initvar():
    global P, f

    @dataclasses.dataclass
    class P:
        scale: dataclasses.InitVar[float] = 1.0

        def __post_init__(self, scale):
            self.w = scale * K.rate

    f = lambda x: x * P().w
    yield
    K.rate = 2.0
    yield
    P.__post_init__ = lambda self, scale: setattr(self, "w", 3.0)
    yield


def frozen_dataclass_with_an_object():
    global P, p, f

    @dataclasses.dataclass(frozen=True)
    class P:
        o: object

    p = P(O)
    f = lambda x: x * p.o.rate
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield
    p = P(L())
    yield


def frozen_dataclass_with_a_list():
    global P, p, f

    @dataclasses.dataclass(frozen=True)
    class P:
        l: list

    p = P([O])
    f = lambda x: x * p.l[0].rate
    yield
    O.rate = 2.0
    yield
    L.rate = 5.0
    p.l[0] = L()
    yield


def method_of_a_frozen_dataclass():
    global P, p, f

    @dataclasses.dataclass(frozen=True)
    class P:
        a: float = 1.0

        def h(self):
            return self.a * self.scale

    P.scale = 1.0
    p = P()
    f = lambda x: x * p.h()
    yield
    P.scale = 2.0
    yield


def simplenamespace():
    global n, f
    n = types.SimpleNamespace(w=1.0)
    f = lambda x: x * n.w
    yield
    n.w = 2.0
    yield
    n.__dict__["w"] = 3.0
    yield


def nested_simplenamespace():
    global n, f
    n = types.SimpleNamespace(a=types.SimpleNamespace(b=[types.SimpleNamespace(w=1.0)]))
    f = lambda x: x * n.a.b[0].w
    yield
    n.a.b[0].w = 2.0
    yield
    n.a.b[0] = types.SimpleNamespace(w=3.0)
    yield


def simplenamespace_in_a_parameter():
    global n, h, f
    n = types.SimpleNamespace(w=1.0)

    def h(c):
        return c.w

    f = lambda x: x * h(n)
    yield
    n.w = 2.0
    yield


def attribute_of_an_enums_member():
    global E, f

    class E(enum.Enum):
        A = 1

    E.A.w = 1.0
    f = lambda x: x * E.A.w
    yield
    E.A.w = 2.0
    yield


def method_of_an_enum():
    global E, f

    class E(enum.Enum):
        A = 1.0

        def h(self):
            return self.value * self.scale

    E.scale = 1.0
    f = lambda x: x * E.A.h()
    yield
    E.scale = 2.0
    yield
    E.h = lambda self: 3.0
    yield


def enum_that_the_function_makes():
    global G, H, f
    G, H = 3.0, 4.0

    def f(x):
        class Made(enum.Enum):
            A = 1.0
            B = G

            @property
            def more(self):
                return self.value * H

        other = enum.IntFlag("other", "C D")
        return x * Made.A.value * Made.B.more * (other.C | other.D).value

    yield
    G = 5.0
    yield
    H = 6.0
    yield


def enum_that_is_replaced():
    global E, f
    E = enum.Enum("E", {"A": 1.0})
    f = lambda x: x * E.A.value
    yield
    E = enum.Enum("E", {"A": 2.0})
    yield


def member_of_an_enum_in_a_global():
    global E, MODE, f

    class E(enum.Enum):
        A = 1.0
        B = 2.0

    MODE = E.A

    def f(x):
        match MODE:
            case E.A:
                return x
            case E.B:
                return -x

    yield
    MODE = E.B
    yield


def property_of_a_name():
    global M, m, f

    class M:
        def __init__(self):
            self._w = 1.0

        @property
        def w(self):
            return self._w

    m = M()
    f = lambda x: x * m.w
    yield
    m._w = 2.0
    yield
    M.w = property(lambda self: 3.0)
    yield


def property_with_a_setter():
    global M, m, f

    class M:
        _w = 1.0

        @property
        def w(self):
            return self._w

        @w.setter
        def w(self, v):
            self._w = v

    m = M()
    f = lambda x: x * m.w
    yield
    m.w = 2.0
    yield


def property_that_gives_an_object():
    global M, m, f

    class M:
        @property
        def part(self):
            return O

    m = M()
    f = lambda x: x * m.part.rate
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def property_that_comes_to_hide():
    global f
    O.w = 1.0
    f = lambda x: x * O.w
    yield
    K.w = property(lambda self: 2.0)
    yield
