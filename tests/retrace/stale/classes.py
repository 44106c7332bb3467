"""Scenarios: classes that are created in unusual ways, and objects of their subclasses."""


def class_made_by_exec():
    global o, f
    exec("class X:\n    w = 1.0\n    def h(self): return self.w", globals())
    o = X()
    f = lambda x: x * o.h()
    yield
    X.w = 2.0
    yield
    o.w = 3.0
    yield


def class_made_by_exec_without_a_module():
    global names, X, o, f
    names = {}
    exec("class X:\n    w = 1.0", names)
    X = names["X"]
    o = X()
    f = lambda x: x * o.w
    yield
    X.w = 2.0
    yield
    o.w = 3.0
    yield


def class_made_by_type():
    global X, f
    X = type("X", (), {"w": 1.0})
    f = lambda x: x * X.w
    yield
    X.w = 2.0
    yield


def object_of_a_class_made_by_type():
    global o, f
    o = type("X", (K,), {})()
    f = lambda x: x * o.rate
    yield
    K.rate = 2.0
    yield
    type(o).rate = 3.0
    yield


def class_made_by_types_new_class():
    global X, f
    X = types.new_class("X", (), {}, lambda ns: ns.update(w=1.0))
    f = lambda x: x * X.w
    yield
    X.w = 2.0
    yield


def object_of_types_new_class():
    global o, f
    o = types.new_class("X", (), {}, lambda ns: ns.update(w=1.0))()
    f = lambda x: x * o.w
    yield
    type(o).w = 2.0
    yield
    o.w = 3.0
    yield


def make_dataclass():
    global X, o, f
    X = dataclasses.make_dataclass("X", [("w", float, 1.0)])
    o = X()
    f = lambda x: x * o.w
    yield
    o.w = 2.0
    yield


def class_attribute_of_make_dataclass():
    global X, f
    X = dataclasses.make_dataclass("X", [], namespace={"w": 1.0})
    f = lambda x: x * X().w
    yield
    X.w = 2.0
    yield


def class_of_a_class():
    global A, f

    class A:
        class B:
            rate = 1.0

    f = lambda x: x * A.B.rate
    yield
    A.B.rate = 2.0
    yield
    A.B = L
    L.rate = 3.0
    yield


def class_in_a_dict():
    global D, f
    D = {"a": K}
    f = lambda x: x * D["a"].rate
    yield
    K.rate = 2.0
    yield
    D["a"] = L
    L.rate = 3.0
    yield


def class_that_a_function_gives():
    global get, f

    def get():
        return K

    f = lambda x: x * get().rate
    yield
    K.rate = 2.0
    yield


def class_that_is_called():
    global A, f

    class A:
        def __init__(self):
            self.w = K.rate

    f = lambda x: x * A().w
    yield
    K.rate = 2.0
    yield
    A.__init__ = lambda self: setattr(self, "w", 3.0)
    yield


def init_subclass():
    global A, f

    class A:
        def __init_subclass__(cls):
            cls.w = K.rate

    def f(x):
        class B(A):
            pass

        return x * B.w

    yield
    K.rate = 2.0
    yield


def set_name():
    global D, f

    class D:
        def __set_name__(self, owner, name):
            owner.w = K.rate

    def f(x):
        class B:
            d = D()

        return x * B.w

    yield
    K.rate = 2.0
    yield


def attribute_annotated():
    global A, f

    class A:
        w: float = 1.0

    f = lambda x: x * A.w
    yield
    A.w = 2.0
    yield


def annotations_of_a_class():
    global A, f

    class A:
        w: "a"

    f = lambda x: x * len(A.__annotations__["w"])
    yield
    A.__annotations__["w"] = "ab"
    yield


def doc_of_a_class():
    global A, f

    class A:
        "a"

    f = lambda x: x * len(A.__doc__)
    yield
    A.__doc__ = "ab"
    yield


def name_of_a_class():
    global f
    f = lambda x: x * len(K.__name__)
    yield
    K.__name__ = "AB"
    yield


def exception_with_an_attribute():
    global E, f
    E = ValueError(1.0)
    E.w = 1.0
    f = lambda x: x * E.w
    yield
    E.w = 2.0
    yield


def args_of_an_exception():
    global E, f
    E = ValueError(1.0)
    f = lambda x: x * E.args[0]
    yield
    E.args = (2.0,)
    yield


def int_with_an_attribute():
    global I, I_, f

    class I(int):
        pass

    I_ = I(1)
    I_.w = 1.0
    f = lambda x: x * I_.w
    yield
    I_.w = 2.0
    yield


def str_with_an_attribute():
    global T, T_, f

    class T(str):
        pass

    T_ = T("a")
    T_.w = 1.0
    f = lambda x: x * T_.w
    yield
    T_.w = 2.0
    yield


def list_with_an_attribute():
    global T, T_, f

    class T(list):
        pass

    T_ = T()
    T_.w = 1.0
    f = lambda x: x * T_.w
    yield
    T_.w = 2.0
    yield


def dict_with_an_attribute():
    global T, T_, f

    class T(dict):
        pass

    T_ = T()
    T_.w = 1.0
    f = lambda x: x * T_.w
    yield
    T_.w = 2.0
    yield


def tuple_with_an_attribute():
    global T, T_, f

    class T(tuple):
        pass

    T_ = T()
    T_.w = 1.0
    f = lambda x: x * T_.w
    yield
    T_.w = 2.0
    yield


def float_with_a_class_attribute():
    global T, T_, f

    class T(float):
        w = 1.0

    T_ = T(1)
    f = lambda x: x * T_.w
    yield
    T.w = 2.0
    yield


def module_subclass_of_imprint():
    global Net, n, f

    class Net(Module):
        w: float = field(static=True)
        scale = 1.0

        def __call__(self, x):
            return x * self.w * self.scale

    n = Net(1.0)
    f = lambda x: n(x)
    yield
    Net.scale = 2.0
    yield
    n = Net(3.0)
    yield


def functools_cache_holding_an_object():
    global get, f

    @functools.cache
    def get():
        return O

    get()
    f = lambda x: x * get().rate
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def class_that_belongs_to_no_module():
    global N, M, m, f
    N = {}
    exec("M = type('M', (), {'w': 1.0})", N)
    M = N["M"]
    m = M()

    def f(x):
        return x * m.w

    yield
    m.w = 2.0
    yield
    M.w = 3.0
    del m.w
    yield


def iterator_that_calls_a_function():
    global o, R, f
    o = K()
    R = map(lambda _: o.rate, itertools.count())
    f = lambda x: x * next(R)
    yield
    o.rate = 4.0
    yield


def proxy_of_a_dict():
    global d, m, f
    d = {"a": 1.0, 0: 1.0}
    m = types.MappingProxyType(d)
    f = lambda x: x * m["a"] * m[0]
    yield
    d["a"] = 3.0
    yield
    d[0] = 5.0
    yield


def descriptor_that_stores_its_result_under_its_own_name():
    global D, M, o, f

    class D:
        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, o, _):
            return o.__dict__[self.name]

        def __set__(self, o, value):
            o.__dict__[self.name] = value

    class M:
        w, v = D(), D()

    o = M()
    o.w = 1.0
    o.v = [1.0]
    o.u = K()
    f = lambda x: x * o.w * sum(o.v)
    yield
    o.w = 3.0
    yield
    o.v.append(4.0)
    yield
    o.v = [7.0]
    yield
    o.__dict__ = {"w": 8.0, "v": [9.0]}
    yield


def property_over_a_slot_of_its_name():
    global M, slot, N, o, f

    class M:
        __slots__ = ("w",)

    slot = M.w

    class N(M):
        __slots__ = ()

        @property
        def w(self):
            return super().w * 2

    o = N()
    slot.__set__(o, 1.0)
    f = lambda x: x * o.w
    yield
    slot.__set__(o, 3.0)
    yield
    slot.__set__(o, 5.0)
    yield


def what_an_exception_was_raised_from():
    global e, f
    e = ValueError(1.0)
    e.__cause__ = e.__context__ = KeyError(2.0)
    f = lambda x: x * e.__cause__.args[0] * e.__context__.args[0]
    yield
    e.__cause__ = KeyError(3.0)
    yield
    e.__context__.args = (5.0,)
    yield
    e.__context__ = KeyError(7.0)
    yield


def whether_an_exception_hides_its_context():
    global e, f
    e = ValueError()
    f = lambda x: x * (1.0 if e.__suppress_context__ else 2.0)
    yield
    e.__cause__ = KeyError()
    yield
    e.__suppress_context__ = False
    yield


def exception_that_the_trace_raises_from_another():
    global e, f
    e = ValueError(1.0)

    def f(x):
        try:
            try:
                raise KeyError(2.0)
            except KeyError as k:
                raise e from k
        except ValueError as o:
            return x * o.__cause__.args[0] * o.__context__.args[0] * o.args[0]

    yield
    e.args = (3.0,)
    yield
