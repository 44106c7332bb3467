"""Scenarios: partials, decorators, descriptors, special methods and context managers."""


def partial():
    global h, f
    h = functools.partial(lambda o, x: x * o.rate, O)
    f = lambda x: h(x)
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def partial_with_a_keyword():
    global h, f
    h = functools.partial(lambda x, *, o: x * o.rate, o=O)
    f = lambda x: h(x)
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def partial_made_inside():
    global f
    f = lambda x: functools.partial(lambda o, y: y * o.rate, O)(x)
    yield
    K.rate = 2.0
    yield


def partialmethod():
    global M, m, f

    class M:
        def h(self, k):
            return self.w * k

        g = functools.partialmethod(h, 1.0)
        w = 1.0

    m = M()
    f = lambda x: x * m.g()
    yield
    M.w = 2.0
    yield
    m.w = 3.0
    yield


def cached_property():
    global M, m, f

    class M:
        @functools.cached_property
        def w(self):
            return 1.0

    m = M()
    m.w
    f = lambda x: x * m.w
    yield
    m.w = 2.0
    yield
    del m.w
    M.w = 3.0
    yield


def cached_property_that_reads():
    global M, m, f

    class M:
        v = 1.0

        @functools.cached_property
        def w(self):
            return self.v

    m = M()
    f = lambda x: x * m.w
    yield
    m.w = 2.0
    yield


def singledispatchmethod():
    global M, m, f

    class M:
        w = 1.0

        @functools.singledispatchmethod
        def h(self, k):
            return 0.0

        @h.register
        def _(self, k: int):
            return self.w

    m = M()
    f = lambda x: x * m.h(1)
    yield
    M.w = 2.0
    yield
    m.w = 3.0
    yield


def singledispatch_of_a_registered_function():
    global W, h, f
    W = 1.0

    @functools.singledispatch
    def h(k):
        return 0.0

    @h.register
    def _(k: K):
        return k.rate * W

    f = lambda x: x * h(O)
    yield
    K.rate = 2.0
    yield
    W = 3.0
    yield


def wraps():
    global deco, h, f

    def deco(g):
        @functools.wraps(g)
        def wrapper(*a, **k):
            return g(*a, **k) * wrapper.scale

        wrapper.scale = 1.0
        return wrapper

    @deco
    def h(o):
        return o.rate

    f = lambda x: x * h(O)
    yield
    h.scale = 2.0
    yield
    O.rate = 3.0
    yield
    h.__wrapped__.__code__ = (lambda o: 5.0).__code__
    yield


def descriptor():
    global D, M, m, f

    class D:
        def __get__(self, o, cls):
            return o.rate

    class M(K):
        d = D()

    m = M()
    f = lambda x: x * m.d
    yield
    K.rate = 2.0
    yield
    m.rate = 3.0
    yield
    D.__get__ = lambda self, o, cls: 4.0
    yield


def descriptor_with_a_state():
    global D, M, m, f

    class D:
        def __init__(self):
            self.w = 1.0

        def __get__(self, o, cls):
            return self.w

    class M:
        d = D()

    m = M()
    f = lambda x: x * m.d
    yield
    vars(M)["d"].w = 2.0
    yield


def classmethod_of_a_name():
    global M, f

    class M(K):
        @classmethod
        def h(cls):
            return cls.rate

    f = lambda x: x * M.h()
    yield
    K.rate = 2.0
    yield
    M.rate = 3.0
    yield


def classmethod_of_an_object():
    global M, m, f

    class M(K):
        @classmethod
        def h(cls):
            return cls.rate

    m = M()
    f = lambda x: x * m.h()
    yield
    K.rate = 2.0
    yield


def classmethod_as_a_factory():
    global M, f

    class M:
        w = 1.0

        @classmethod
        def make(cls):
            o = cls()
            o.v = cls.w
            return o

    f = lambda x: x * M.make().v
    yield
    M.w = 2.0
    yield


def staticmethod_of_a_name():
    global M, f

    class M:
        @staticmethod
        def h(o):
            return o.rate

    f = lambda x: x * M.h(O)
    yield
    K.rate = 2.0
    yield
    M.h = staticmethod(lambda o: 3.0)
    yield


def metaclass():
    global Meta, M, f

    class Meta(type):
        rate = 1.0

    class M(metaclass=Meta):
        pass

    f = lambda x: x * M.rate
    yield
    Meta.rate = 2.0
    yield
    M.rate = 3.0
    yield


def property_of_a_metaclass():
    global Meta, M, f

    class Meta(type):
        @property
        def rate(cls):
            return cls.w

    class M(metaclass=Meta):
        w = 1.0

    f = lambda x: x * M.rate
    yield
    M.w = 2.0
    yield


def call_of_a_metaclass():
    global Meta, M, f

    class Meta(type):
        w = 1.0

        def __call__(cls):
            return cls.w

    class M(metaclass=Meta):
        pass

    f = lambda x: x * M()
    yield
    Meta.w = 2.0
    yield
    M.w = 3.0
    yield


def dunder_getattr():
    global M, m, f

    class M:
        def __getattr__(self, name):
            return self.__class__.w

        w = 1.0

    m = M()
    f = lambda x: x * m.rate
    yield
    M.w = 2.0
    yield
    m.rate = 3.0
    yield


def getattr_to_a_dict():
    global M, m, f

    class M:
        def __init__(self):
            self.d = {"rate": 1.0}

        def __getattr__(self, name):
            return self.d[name]

    m = M()
    f = lambda x: x * m.rate
    yield
    m.d["rate"] = 2.0
    yield
    m.d = {"rate": 3.0}
    yield


def getattr_to_another_object():
    global Proxy, p, f

    class Proxy:
        def __init__(self, o):
            self.o = o

        def __getattr__(self, name):
            return getattr(self.o, name)

    p = Proxy(O)
    f = lambda x: x * p.rate
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield
    p.o = L()
    yield


def getattribute():
    global M, W, m, f

    class M:
        def __getattribute__(self, name):
            return W

    W = 1.0
    m = M()
    f = lambda x: x * m.rate
    yield
    W = 2.0
    yield


def getitem():
    global M, m, f

    class M:
        w = 1.0

        def __getitem__(self, i):
            return self.w

    m = M()
    f = lambda x: x * m[0]
    yield
    m.w = 2.0
    yield
    M.__getitem__ = lambda self, i: 3.0
    yield


def class_getitem():
    global M, f

    class M:
        w = 1.0

        def __class_getitem__(cls, i):
            return cls.w

    f = lambda x: x * M[int]
    yield
    M.w = 2.0
    yield


def operators():
    global M, m, f

    class M:
        w = 1.0

        def __rmul__(self, x):
            return x * self.w

    m = M()
    f = lambda x: x * m
    yield
    M.w = 2.0
    yield
    m.w = 3.0
    yield


def contains():
    global M, m, f

    class M:
        w = 1.0

        def __contains__(self, k):
            return k == self.w

    m = M()
    f = lambda x: x if 1.0 in m else -x
    yield
    m.w = 2.0
    yield


def generic():
    global T, G, g, f
    T = typing.TypeVar("T")

    class G(typing.Generic[T]):
        rate = 1.0

    g = G[int]()
    f = lambda x: x * g.rate
    yield
    G.rate = 2.0
    yield
    g.rate = 3.0
    yield


def abc():
    global A, B, b, f

    class A(abc.ABC):
        @abc.abstractmethod
        def h(self):
            return 1.0

    class B(A):
        def h(self):
            return super().h()

    b = B()
    f = lambda x: x * b.h()
    yield
    A.h = lambda self: 2.0
    yield


def multiple_inheritance():
    global A, B, C, c, f

    class A:
        rate = 1.0

    class B:
        pass

    class C(B, A):
        pass

    c = C()
    f = lambda x: x * c.rate
    yield
    A.rate = 2.0
    yield
    B.rate = 3.0
    yield


def dunder_bases():
    global A, C, B, c, f

    class A:
        rate = 1.0

    class C(A):
        pass

    class B:
        rate = 2.0

    c = C()
    f = lambda x: x * c.rate
    yield
    C.__bases__ = (B,)
    yield
    B.rate = 3.0
    yield


def bases_of_a_base():
    global A, B, C, D, f

    class A:
        rate = 1.0

    class B(A):
        pass

    class C(B):
        pass

    class D:
        rate = 2.0

    f = lambda x: x * C().rate
    yield
    B.__bases__ = (D,)
    yield
    D.rate = 3.0
    yield


def class_of_an_object():
    global f
    f = lambda x: x * O.rate
    yield
    O.__class__ = L
    yield
    L.rate = 3.0
    yield


def class_of_an_object_method():
    global A, B, a, f

    class A:
        def h(self):
            return 1.0

    class B:
        def h(self):
            return 2.0

    a = A()
    f = lambda x: x * a.h()
    yield
    a.__class__ = B
    yield
    B.h = lambda self: 3.0
    yield


def context_manager_by_a_generator():
    global using, f

    @contextlib.contextmanager
    def using(o):
        yield o.rate

    def f(x):
        with using(O) as w:
            return x * w

    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def context_manager_by_a_class():
    global C, c, f

    class C:
        def __init__(self, o):
            self.o = o

        def __enter__(self):
            return self.o.rate

        def __exit__(self, *a):
            return None

    c = C(O)

    def f(x):
        with c as w:
            return x * w

    yield
    O.rate = 2.0
    yield
    L.rate = 5.0
    c.o = L()
    yield


def exitstack():
    global using, f

    @contextlib.contextmanager
    def using(o):
        yield o.rate

    def f(x):
        with contextlib.ExitStack() as s:
            return x * s.enter_context(using(O))

    yield
    O.rate = 2.0
    yield


def generator():
    global rates, f

    def rates(*a):
        for o in a:
            yield o.rate

    f = lambda x: x * sum(rates(O, K()))
    yield
    O.rate = 2.0
    yield
    K.rate = 3.0
    yield


def yield_from():
    global inner, outer, f

    def inner(o):
        yield o.rate

    def outer(o):
        yield from inner(o)

    f = lambda x: x * sum(outer(O))
    yield
    O.rate = 2.0
    yield


def copy():
    global copy, f
    import copy

    O.w = 1.0
    f = lambda x: x * copy.copy(O).w
    yield
    O.w = 2.0
    yield


def deepcopy():
    global copy, f
    import copy

    O.w = [1.0]
    f = lambda x: x * copy.deepcopy(O).w[0]
    yield
    O.w[0] = 2.0
    yield


def replace_of_a_dataclass():
    global P, p, f

    @dataclasses.dataclass
    class P:
        a: float = 1.0
        b: float = 1.0

    p = P()
    f = lambda x: x * dataclasses.replace(p, b=2.0).a
    yield
    p.a = 2.0
    yield
