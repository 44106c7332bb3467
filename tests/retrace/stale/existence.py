"""Scenarios: code that checks whether a name exists, and in which order names are.

The names are keys of `vars`, `globals()` and `dir`, attributes of a module that may be
missing, or attributes of bases, by `super()`.
"""


def name_that_a_module_may_not_have():
    global f

    def f(x):
        try:
            from stale_cfg import EXTRA
        except ImportError:
            EXTRA = 1.0
        return x * EXTRA

    yield
    cfg.EXTRA = 2.0
    yield
    cfg.EXTRA = 3.0
    yield
    del cfg.EXTRA
    yield


def name_that_a_module_may_lack_read_by_a_helper():
    global get, f

    def get():
        from stale_cfg import EXTRA as e

        return e

    def f(x):
        try:
            return x * get()
        except ImportError:
            return x

    yield
    cfg.EXTRA = 2.0
    yield
    del cfg.EXTRA
    yield
    cfg.EXTRA = 3.0
    yield


def module_that_may_be_missing_in_a_package_read_by_a_helper():
    global get, f

    def get():
        from stale_pkg import later

        return later.W

    def f(x):
        try:
            return x * get()
        except ImportError:
            return x

    yield
    stale_pkg.later = other
    yield
    del stale_pkg.later
    yield


def attributes_that_may_be_missing_read_by_helpers():
    global h, of_module, of_class, of_type, of_function, of_part, or_one, f

    def h():
        pass

    def of_module():
        return cfg.Z

    def of_class():
        return K.z

    def of_type():
        return type(O).y

    def of_function():
        return h.z

    def of_part():
        return cfg.part.z

    def or_one(g):
        try:
            return g()
        except AttributeError:
            return 1.0

    def f(x):
        return (
            x
            * or_one(of_module)
            * or_one(of_class)
            * or_one(of_type)
            * or_one(of_function)
            * or_one(of_part)
        )

    yield
    cfg.Z = 2.0
    yield
    K.z = 3.0
    yield
    K.y = 5.0
    yield
    h.z = 7.0
    yield
    cfg.part = types.SimpleNamespace(z=11.0)
    yield
    del cfg.part.z
    yield
    del cfg.Z
    yield


def module_that_may_not_be_there():
    global f

    def f(x):
        try:
            import stale_nothere as m
        except ImportError:
            return x
        return x * m.W

    yield
    sys.modules["stale_nothere"] = types.ModuleType("stale_nothere")
    sys.modules["stale_nothere"].W = 4.0
    yield
    sys.modules["stale_nothere"].W = 5.0
    yield


def order_of_bases_that_super_asks():
    global A, B, C, D, d, f

    class A:
        def go(s):
            return 1.0

    class B(A):
        def go(s):
            return 2.0

    class C(A):
        def go(s):
            return 3.0

    class D(B, C):
        def go(s):
            return super().go() * 10

    d = D()

    def f(x):
        return x * d.go()

    yield
    D.__bases__ = (C, B)
    yield
    D.__bases__ = (A,)
    yield


def order_of_bases_that_a_bases_super_asks():
    global A, A2, B, D, d, f

    class A:
        def go(s):
            return 1.0

    class A2:
        def go(s):
            return 4.0

    class B(A):
        def go(s):
            return super().go() * 2.0

    class D(B):
        def go(s):
            return super().go() * 10

    d = D()

    def f(x):
        return x * d.go()

    yield
    B.__bases__ = (A2,)
    yield
    A2.go = lambda s: 5.0
    yield


def class_of_an_object_which_only_isinstance_asks():
    global f
    f = lambda x: x * (2.0 if isinstance(O, K) else 3.0)
    yield
    O.__class__ = L
    yield
    O.__class__ = K
    yield


def class_of_an_object_which_only_type_asks():
    global f
    f = lambda x: x * (2.0 if type(O) is K else 3.0)
    yield
    O.__class__ = L
    yield


def table_by_class():
    global T, f
    T = {K: 1.0, L: 2.0}
    f = lambda x: x * T[type(O)]
    yield
    O.__class__ = L
    yield
    T[L] = 5.0
    yield


def class_of_an_object_by_singledispatch():
    global h, f

    @functools.singledispatch
    def h(o):
        return 1.0

    @h.register(L)
    def _(o):
        return 2.0

    f = lambda x: x * h(O)
    yield
    O.__class__ = L
    yield


def class_of_an_object_in_a_list():
    global A, f
    A = [K(), [K()]]

    def f(x):
        return x * sum(isinstance(a, K) for a in (A[0], *A[1]))

    yield
    A[0].__class__ = L
    yield
    A[1][0].__class__ = L
    yield


def class_pattern_without_attributes():
    global f

    def f(x):
        match O:
            case L():
                return x * 3
            case K():
                return x * 2

    yield
    O.__class__ = L
    yield


def class_of_a_parameter_by_isinstance():
    global h, f

    def h(o):
        return isinstance(o, K)

    def f(x):
        return x * (1.0 + h(O))

    yield
    O.__class__ = L
    yield


def class_of_a_static_object():
    global S, f
    S = K()

    def f(x, S):
        return x * (1.0 + isinstance(S, K))

    yield
    S.__class__ = L
    yield


def bases_which_only_isinstance_asks():
    global A, B, a, f

    class A(K):
        pass

    class B(L):
        pass

    a = A()

    def f(x):
        return x * (1.0 + isinstance(a, K))

    yield
    A.__bases__ = (B,)
    yield


def bases_which_only_issubclass_asks():
    global A, B, f

    class A(K):
        pass

    class B(L):
        pass

    def f(x):
        return x * (1.0 + issubclass(A, K))

    yield
    A.__bases__ = (B,)
    yield


def bases_of_an_exception_that_is_caught():
    global E, F, f, G

    class E(Exception):
        pass

    class F(E):
        pass

    def f(x):
        try:
            raise F()
        except E:
            return x * 2
        except Exception:
            return x * 3

    yield

    class G(Exception):
        pass

    F.__bases__ = (G,)
    yield


def name_of_a_class_that_a_metaclass_answers():
    global T, M, table, f

    class T(type):
        def __getattr__(cls, name):
            return table[name]

    class M(metaclass=T):
        pass

    table = {"w": 1.0}
    f = lambda x: x * M.w
    yield
    table["w"] = 3.0
    yield
    M.w = 4.0
    yield
    M.w = 5.0
    yield
    del M.w
    table["w"] = 6.0
    yield
