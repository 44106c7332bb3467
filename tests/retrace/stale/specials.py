"""Scenarios: special methods, which Python calls although no code names them."""


def truth_comes():
    global D, o, f

    class D:
        pass

    o = D()
    f = lambda x: x if o else -x
    yield
    D.__bool__ = lambda self: False
    yield


def length_comes():
    global D, o, f

    class D:
        pass

    o = D()
    f = lambda x: x if o else -x
    yield
    D.__len__ = lambda self: 0
    yield


def length_comes_to_a_base():
    global B, D, o, f

    class B:
        pass

    class D(B):
        pass

    o = D()
    f = lambda x: x if o else -x
    yield
    B.__len__ = lambda self: 0
    yield


def truth_is_added_where_another_name_is_deleted():
    global M, m, f

    class M:
        other = 1.0

        def __len__(self):
            return 3

    m = M()
    f = lambda x: x * len(m) * (1.0 if m else 2.0)
    yield
    del M.other
    M.__bool__ = lambda self: False
    yield
    del M.__bool__
    M.other = 2.0
    yield


def truth_is_added_to_a_base_where_another_name_is_deleted():
    global Base, M, m, f

    class Base:
        other = 1.0

    class M(Base):
        more = 1.0

    m = M()
    f = lambda x: x * (1.0 if m else 2.0)
    yield
    del Base.other
    Base.__bool__ = lambda self: False
    yield
    del M.more
    M.__bool__ = lambda self: True
    yield


def attribute_comes_to_a_metaclass():
    global Meta, M, f

    class Meta(type):
        pass

    class M(metaclass=Meta):
        pass

    f = lambda x: x * getattr(M, "rate", 1.0) * (2.0 if hasattr(M, "more") else 1.0)
    yield
    Meta.rate = 3.0
    yield
    Meta.more = 4.0
    yield
    M.rate = 5.0
    yield
    del M.rate, Meta.rate
    yield


def attribute_comes_to_a_metaclass_missed():
    global Meta, M, f

    class Meta(type):
        pass

    class M(metaclass=Meta):
        pass

    def f(x):
        try:
            return x * M.rate
        except AttributeError:
            return x

    yield
    Meta.rate = 3.0
    yield
    del Meta.rate
    yield


def truth_is_deleted():
    global D, o, f

    class D:
        def __bool__(self):
            return False

    o = D()
    f = lambda x: x if o else -x
    yield
    del D.__bool__
    yield


def equality_comes():
    global D, o, f

    class D:
        pass

    o = D()
    f = lambda x: x if o == 3 else -x
    yield
    D.__eq__ = lambda self, other: True
    yield


def search_comes():
    global D, o, f

    class D:
        def __iter__(self):
            return iter([1])

    o = D()
    f = lambda x: x if 1 in o else -x
    yield
    D.__contains__ = lambda self, k: False
    yield


def method_for_missing_attributes_is_added():
    global D, o, f

    class D:
        pass

    o = D()
    f = lambda x: x * getattr(o, "v", 5.0)
    yield
    D.__getattr__ = lambda self, name: 3.0
    yield


def method_for_attributes_is_added():
    global D, o, f

    class D:
        w = 1.0

    o = D()
    f = lambda x: x * o.w
    yield
    D.__getattribute__ = lambda self, name: 3.0
    yield


def a_value_becomes_a_descriptor():
    global P, D, o, f

    class P:
        v = 2.0

    class D:
        w = P()

    o = D()
    f = lambda x: x * o.w.v
    yield
    P.__get__ = lambda self, o, cls: L()
    yield
    P.__get__ = lambda self, o, cls: self
    yield


def the_receiver_is_one_of_all_arguments():
    global D, o, f

    class D:
        def __len__(*a):
            return 3

    o = D()
    f = lambda x: x * len(o)
    yield
    D.__len__ = lambda *a: 4
    yield
    D.__len__ = lambda *a, k=1: 5
    yield
    D.__len__ = lambda *a: 6
    yield


def descriptor_with_all_arguments():
    global P, D, o, f

    class P:
        def __get__(*a):
            return 3.0

    class D:
        w = P()

    o = D()
    f = lambda x: x * o.w
    yield
    P.__get__ = lambda *a: 4.0
    yield
    P.__get__ = lambda *a: 5.0
    yield


def decorated():
    global dec, D, o, f

    def dec(g):
        @functools.wraps(g)
        def h(*a):
            return g(*a)

        return h

    class D:
        __len__ = dec(lambda self: 3)

    o = D()
    f = lambda x: x * len(o)
    yield
    D.__len__ = dec(lambda self: 4)
    yield


def remembered():
    global D, o, f

    class D:
        __len__ = functools.cache(lambda self: 3)

    o = D()
    f = lambda x: x * len(o)
    yield
    D.__len__ = functools.cache(lambda self: 4)
    yield


def an_object_that_is_called():
    global C, D, o, f

    class C:
        def __init__(self, n):
            self.n = n

        def __call__(self):
            return self.n

    class D:
        __len__ = C(3)

    o = D()
    f = lambda x: x * len(o)
    yield
    D.__len__ = C(4)
    yield
    D.__len__.n = 5
    yield


def a_partial():
    global D, o, f

    class D:
        __len__ = staticmethod(functools.partial(int, 3))

    o = D()
    f = lambda x: x * len(o)
    yield
    D.__len__ = staticmethod(functools.partial(int, 4))
    yield


def a_partial_method():
    global D, o, f

    class D:
        __add__ = functools.partialmethod(lambda self, k, o: k, 3)

    o = D()
    f = lambda x: x * (o + 1)
    yield
    D.__add__ = functools.partialmethod(lambda self, k, o: k, 4)
    yield


def a_static_method():
    global D, o, f

    class D:
        __len__ = staticmethod(lambda: 3)

    o = D()
    f = lambda x: x * len(o)
    yield
    D.__len__ = staticmethod(lambda: 4)
    yield


def a_method_of_a_number():
    global D, o, f

    class D:
        __add__ = (3).__add__

    o = D()
    f = lambda x: x * (o + 1)
    yield
    D.__add__ = (4).__add__
    yield


def of_a_metaclass():
    global M, D, f

    class M(type):
        def __len__(cls):
            return 3

    class D(metaclass=M):
        pass

    f = lambda x: x * len(D)
    yield
    M.__len__ = lambda *a: 4
    yield
    M.__len__ = lambda *a: 5
    yield
