"""Scenarios: names of a module, and of builtins."""


def name_that_comes_to_be_builtin():
    global builtins, f, STALE_LATER
    import builtins

    def f(x):
        try:
            return x * STALE_LATER
        except NameError:
            return x

    yield
    builtins.STALE_LATER = 2.0
    yield
    builtins.STALE_LATER = 3.0
    yield
    STALE_LATER = 4.0
    yield
    del STALE_LATER
    yield
    del builtins.STALE_LATER
    yield


def imported_function():
    global negative, f
    from imprint.numpy import negative

    f = lambda x: negative(x)
    yield
    negative = lambda x: x * 2.0
    yield


def imported_function_of_math():
    global floor, f
    from math import floor

    f = lambda x: x * floor(1.5)
    yield
    floor = lambda x: 2.0
    yield


def np():
    global f, np
    f = lambda x: x * np.float32(1)
    yield
    np = types.SimpleNamespace(float32=lambda v: 2.0)
    yield


def np_after_a_helper():
    global h, f, np, np_

    def h():
        return np.ones(1).sum()

    f = lambda x: x * h()
    yield
    np = types.SimpleNamespace(ones=lambda n: np_.zeros(n))
    import numpy as np_

    yield


def inp():
    global f, inp
    f = lambda x: inp.negative(x)
    yield
    inp = types.SimpleNamespace(negative=lambda x: x * 2.0)
    yield


def inp_becomes_np():
    global f, inp
    f = lambda x: x * len(inp.__name__)
    yield
    inp = np
    yield


def math():
    global f, math
    f = lambda x: x * math.floor(1.5)
    yield
    math = types.SimpleNamespace(floor=lambda v: 2.0)
    yield


def functools_reduce():
    global reduce, f
    from functools import reduce

    f = lambda x: reduce(lambda a, b: a * b, [x, 2.0])
    yield
    reduce = lambda g, a: a[0]
    yield


def functools():
    global f, functools
    f = lambda x: functools.reduce(max, [1, 2]) * x
    yield
    functools = types.SimpleNamespace(reduce=lambda g, a: 1.0)
    yield


def constant_of_a_library():
    global inf, f
    from math import inf

    f = lambda x: x * inf
    yield
    inf = 3.0
    yield


def librarys_name_deleted():
    global inf, f
    from math import inf

    f = lambda x: x * inf
    yield
    del inf
    yield
    inf = 3.0
    yield


def librarys_value_under_another_name():
    global area, f
    area = math.inf
    f = lambda x: x * area
    yield
    area = 3.0
    yield


def librarys_name_in_another_module():
    global f
    cfg.op = inp.negative
    f = lambda x: cfg.op(x)
    yield
    cfg.op = lambda x: x * 2.0
    yield


def librarys_function_in_a_dict():
    global D, f
    D = {"op": inp.negative}
    f = lambda x: D["op"](x)
    yield
    D["op"] = lambda x: x * 2.0
    yield


def librarys_function_on_a_class():
    global f
    K.op = staticmethod(inp.negative)
    f = lambda x: K.op(x)
    yield
    K.op = staticmethod(lambda x: x * 2.0)
    yield


def librarys_function_on_an_object():
    global f
    O.op = inp.negative
    f = lambda x: O.op(x)
    yield
    O.op = lambda x: x * 2.0
    yield


def librarys_function_as_a_default():
    global f

    def f(x, op=inp.negative):
        return op(x)

    yield
    f.__defaults__ = (lambda x: x * 2.0,)
    yield


def librarys_function_in_a_cell():
    global make, f, put

    def make(op):
        def put(v):
            nonlocal op
            op = v

        return lambda x: op(x), put

    f, put = make(inp.negative)
    yield
    put(lambda x: x * 2.0)
    yield


def librarys_class():
    global OrderedDict, f
    from collections import OrderedDict

    f = lambda x: x * len(OrderedDict(a=1))
    yield
    OrderedDict = lambda **k: [1, 2]
    yield


def grad():
    global f, grad
    f = lambda x: grad(lambda y: y * y)(x)
    yield
    grad = lambda g: lambda x: g(x) * 5
    yield


def vmap():
    global f, vmap
    f = lambda x: vmap(lambda y: y * 2)(inp.ones(1))[0] * x
    yield
    vmap = lambda g: lambda x: x
    yield


def nested_jit():
    global f, jit
    f = lambda x: jit(lambda y: y * 2)(x)
    yield
    jit = lambda g: lambda x: x
    yield


def len_of_a_name():
    global f, len
    f = lambda x: x * len("a")
    yield
    len = lambda _: 2.0
    yield
    del len
    yield


def range_of_a_name():
    global f, range
    f = lambda x: sum(x for _ in range(2))
    yield
    range = lambda n: [1]
    yield
    del range
    yield


def abs_of_a_name():
    global f, abs
    f = lambda x: x * abs(-1.0)
    yield
    abs = lambda v: v
    yield
    del abs
    yield


def float_of_a_name():
    global f, float_, float
    f = lambda x: x * float("1")
    yield
    float_, float = float, lambda v: 2.0
    yield
    del float
    yield


def max_of_a_name():
    global f, max
    f = lambda x: x * max(1.0, 2.0)
    yield
    max = min
    yield
    del max
    yield


def isinstance_of_a_name():
    global f, isinstance
    f = lambda x: x if isinstance(1, int) else -x
    yield
    isinstance = lambda *a: False
    yield
    del isinstance
    yield


def print_of_a_name():
    global f, print

    def f(x):
        y = [x]
        print("", end="")
        return y[0]

    yield
    print = lambda *a, **k: y_()
    yield


def super_of_a_name():
    global M, m, f, super

    class M(K):
        def h(self):
            return super().rate

    m = M()
    f = lambda x: x * m.h()
    yield
    super = lambda *a: L
    yield


def exception():
    global f, LookupError

    def f(x):
        try:
            raise KeyError
        except LookupError:
            return x
        except Exception:
            return -x

    yield
    LookupError = ZeroDivisionError
    yield


def builtin_of_a_helper():
    global h, f, len

    def h():
        return len("a")

    f = lambda x: x * h()
    yield
    len = lambda _: 2.0
    yield
    del len
    yield


def builtin_in_a_lambda():
    global f, len
    f = lambda x: (lambda: x * len("a"))()
    yield
    len = lambda _: 2.0
    yield
    del len
    yield


def builtin_that_is_hidden_then_not():
    global len, f
    len = lambda _: 2.0
    f = lambda x: x * len("a")
    yield
    del len
    yield
    len = lambda _: 3.0
    yield


def builtin_of_another_module():
    global f
    exec("def h(): return len('a')", vars(cfg))
    f = lambda x: x * cfg.h()
    yield
    cfg.len = lambda _: 2.0
    yield
    del cfg.len
    yield


def operator():
    global half, f
    half = operator.truediv
    f = lambda x: half(x, 2.0)
    yield
    half = operator.mul
    yield


def global_that_comes_to_be():
    global f, NEW

    def f(x):
        try:
            return x * NEW
        except NameError:
            return x

    yield
    NEW = 2.0
    yield
    del NEW
    yield


def global_deleted():
    global W, f
    W = 1.0
    f = lambda x: x * W
    yield
    del W
    yield
    W = 2.0
    yield


def ufunc():
    global add, f
    from numpy import add

    f = lambda x: x * add(1, 1)
    yield
    add = lambda a, b: 3.0
    yield


def dtype():
    global t, f
    from numpy import float32 as t

    f = lambda x: x * t(1.5)
    yield
    t = int
    yield


def global_that_a_builtin_answers_for_when_it_is_gone():
    global f
    cfg.max, cfg.a, cfg.b, cfg.c = max, 1.0, 1.0, 1.0
    f = lambda x: x * cfg.a * cfg.b * cfg.c * cfg.max(1, 2)
    yield
    del cfg.max
    yield
    cfg.max = max
    yield


def global_that_a_builtin_replaces_when_it_is_deleted():
    global f
    cfg.max, cfg.a, cfg.b, cfg.c = max, 1.0, 1.0, 1.0
    f = lambda x: x * cfg.a * cfg.b * cfg.c * (2.0 if hasattr(cfg, "max") else 1.0)
    yield
    del cfg.max
    yield
    cfg.max = max
    yield
