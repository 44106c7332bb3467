"""Scenarios: the forms in which an attribute is read without its owner's name."""


def super_of_a_name():
    global M, m, f

    class M(K):
        def h(self):
            return super().rate

    m = M()
    f = lambda x: x * m.h()
    yield
    K.rate = 2.0
    yield


def super_with_arguments():
    global M, m, f

    class M(K):
        def h(self):
            return super(M, self).rate

    m = M()
    f = lambda x: x * m.h()
    yield
    K.rate = 2.0
    yield


def super_bound_to_a_name():
    global M, m, f

    class M(K):
        def h(self):
            s = super()
            return s.rate

    m = M()
    f = lambda x: x * m.h()
    yield
    K.rate = 2.0
    yield


def super_in_a_classmethod():
    global M, f

    class M(K):
        @classmethod
        def h(cls):
            return super().rate

    f = lambda x: x * M.h()
    yield
    K.rate = 2.0
    yield


def super_in_new():
    global B, M, f

    class B:
        w = 1.0

    class M(B):
        def __new__(cls):
            o = super().__new__(cls)
            o.v = super().w
            return o

    f = lambda x: x * M().v
    yield
    B.w = 2.0
    yield


def super_of_a_class_in_the_middle():
    global A, B, C, c, f

    class A:
        rate = 1.0

    class B(A):
        pass

    class C(B):
        def h(self):
            return super().rate

    c = C()
    f = lambda x: x * c.h()
    yield
    A.rate = 2.0
    yield
    B.rate = 3.0
    yield


def super_of_a_mixin():
    global A, Mix, C, c, f

    class A:
        def h(self):
            return 1.0

    class Mix:
        def h(self):
            return super().h()

    class C(Mix, A):
        pass

    c = C()
    f = lambda x: x * c.h()
    yield
    A.h = lambda self: 2.0
    yield


def method_of_super():
    global A, B, b, f

    class A:
        def h(self):
            return self.w

    class B(A):
        w = 1.0

        def h(self):
            return super().h()

    b = B()
    f = lambda x: x * b.h()
    yield
    B.w = 2.0
    yield
    A.h = lambda self: 3.0
    yield
    b.h = lambda: 4.0
    yield


def property_of_super():
    global A, B, b, f

    class A:
        @property
        def w(self):
            return 1.0

    class B(A):
        @property
        def w(self):
            return super().w

    b = B()
    f = lambda x: x * b.w
    yield
    A.w = property(lambda self: 2.0)
    yield


def init_of_super():
    global A, B, f

    class A:
        def __init__(self):
            self.w = 1.0

    class B(A):
        def __init__(self):
            super().__init__()

    f = lambda x: x * B().w
    yield
    A.__init__ = lambda self: setattr(self, "w", 2.0)
    yield


def type_self():
    global M, m, f

    class M(K):
        def h(self):
            return type(self).rate

    m = M()
    f = lambda x: x * m.h()
    yield
    K.rate = 2.0
    yield
    M.rate = 3.0
    yield


def type_o():
    global f, O
    f = lambda x: x * type(O).rate
    yield
    K.rate = 2.0
    yield
    O = L()
    L.rate = 3.0
    yield


def type_of_a_parameter():
    global h, f

    def h(o):
        return type(o).rate

    f = lambda x: x * h(O)
    yield
    K.rate = 2.0
    yield
    O.__class__ = L
    L.rate = 3.0
    yield


def self_class():
    global M, m, f

    class M(K):
        def h(self):
            return self.__class__.rate

    m = M()
    f = lambda x: x * m.h()
    yield
    K.rate = 2.0
    yield
    m.__class__ = type("N", (M,), {"rate": 3.0})
    yield


def a_class():
    global M, m, f

    class M(K):
        def h(self):
            return __class__.rate

    m = M()
    f = lambda x: x * m.h()
    yield
    K.rate = 2.0
    yield


def mro():
    global M, f

    class M(K):
        pass

    f = lambda x: x * M.__mro__[1].rate
    yield
    K.rate = 2.0
    yield


def bases():
    global M, f

    class M(K):
        pass

    f = lambda x: x * M.__bases__[0].rate
    yield
    K.rate = 2.0
    yield
    M.__bases__ = (L,)
    L.rate = 3.0
    yield


def class_pattern_with_a_keyword():
    global f

    def f(x):
        match O:
            case K(rate=r):
                return x * r

    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def class_pattern_with_a_literal():
    global f

    def f(x):
        match O:
            case K(rate=2.0):
                return -x
            case _:
                return x

    yield
    O.rate = 2.0
    yield


def class_pattern_by_position():
    global P, p, f

    class P:
        __match_args__ = ("a", "b")
        a, b = 1.0, 2.0

    p = P()

    def f(x):
        match p:
            case P(r, _):
                return x * r

    yield
    p.a = 3.0
    yield
    P.__match_args__ = ("b", "a")
    yield


def class_pattern_by_position_of_a_dataclass():
    global P, p, f

    @dataclasses.dataclass
    class P:
        a: float = 1.0

    p = P()

    def f(x):
        match p:
            case P(r):
                return x * r

    yield
    p.a = 3.0
    yield


def class_pattern_that_does_not_fit():
    global f, O

    def f(x):
        match O:
            case L():
                return -x
            case _:
                return x

    yield
    O = L()
    yield


def value_pattern():
    global f

    def f(x):
        match 2.0:
            case O.rate:
                return -x
            case _:
                return x

    yield
    O.rate = 2.0
    yield


def mapping_pattern():
    global D, f
    D = {"a": {"b": 1.0}}

    def f(x):
        match D:
            case {"a": {"b": w}}:
                return x * w

    yield
    D["a"]["b"] = 2.0
    yield


def mapping_pattern_with_objects():
    global D, f
    D = {"a": O}

    def f(x):
        match D:
            case {"a": K(rate=w)}:
                return x * w

    yield
    O.rate = 2.0
    yield


def mapping_pattern_with_the_rest():
    global D, f
    D = {"a": 1, "w": O}

    def f(x):
        match D:
            case {"a": 1, **rest}:
                return x * rest["w"].rate

    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def sequence_pattern():
    global A, f
    A = [O, K()]

    def f(x):
        match A:
            case [_, o]:
                return x * o.rate

    yield
    A[1].rate = 2.0
    yield
    K.rate = 5.0
    del A[1].rate
    yield


def pattern_with_a_guard():
    global f

    def f(x):
        match O:
            case o if o.rate > 1:
                return -x
            case _:
                return x

    yield
    O.rate = 2.0
    yield


def getattr_of_a_name():
    global f
    f = lambda x: x * getattr(O, "rate")
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def getattr_of_a_class():
    global f
    f = lambda x: x * getattr(K, "rate")
    yield
    K.rate = 2.0
    yield


def getattr_with_a_default():
    global f
    f = lambda x: x * getattr(O, "w", 1.0)
    yield
    O.w = 2.0
    yield
    del O.w
    yield
    K.w = 3.0
    yield


def getattr_in_map():
    global f
    f = lambda x: x * sum(map(lambda o: getattr(o, "rate"), [O]))
    yield
    K.rate = 2.0
    yield


def hasattr_of_a_name():
    global f
    f = lambda x: -x if hasattr(O, "w") else x
    yield
    O.w = 2.0
    yield
    del O.w
    yield
    K.w = 1
    yield


def attrgetter_made_inside():
    global f
    f = lambda x: x * operator.attrgetter("rate")(O)
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def methodcaller_made_inside():
    global M, m, f

    class M:
        def h(self):
            return 1.0

    m = M()
    f = lambda x: x * operator.methodcaller("h")(m)
    yield
    M.h = lambda self: 3.0
    yield


def itemgetter():
    global D, get, f
    D = {"a": O}
    get = operator.itemgetter("a")
    f = lambda x: x * get(D).rate
    yield
    O.rate = 2.0
    yield
    D["a"] = L()
    L.rate = 3.0
    yield
