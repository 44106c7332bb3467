"""Scenarios: state of functions besides their code, and suspended generators."""


def what_a_captured_function_says_of_itself():
    global wrap, g, f

    def wrap(g):
        def f(x):
            return x * float(g.__doc__) + len(g.__name__) + len(f.__name__)

        return f

    def g(x):
        "2"

    f = wrap(g)
    yield
    g.__doc__ = "5"
    yield
    g.__name__ = "longer"
    yield
    f.__name__ = "f" * 20
    yield


def what_the_roots_method_says_of_itself():
    global C, c, f

    class C:
        def m(self, x):
            return x * float(self.m.__doc__)

    C.m.__doc__ = "2"
    c = C()
    f = c.m
    yield
    C.m.__doc__ = "5"
    yield


def defined_again_with_other_annotations():
    global h, f

    def h(a: 1.0):
        pass

    f = lambda x: x * h.__annotations__["a"]
    yield

    def h(a: 2.0):
        pass

    yield
    h.__annotations__["a"] = 3.0
    yield

    def h(a: 1.0):
        pass

    yield

    def h(a: 2.0):
        pass

    yield


def defined_again_with_other_annotations_read_whole():
    global h, f

    def h(a: 1.0):
        pass

    f = lambda x: x * sum(h.__annotations__.values())
    yield

    def h(a: 2.0):
        pass

    yield
    h.__annotations__["a"] = 3.0
    yield

    def h(a: 1.0):
        pass

    yield


def made_again_under_another_name():
    global make, h, f

    def make(name):
        def h():
            pass

        h.__name__ = name
        return h

    h = make("a")
    f = lambda x: x * len(h.__name__)
    yield
    h = make("longer")
    yield


def defaults():
    global h, f

    def h(w=1.0):
        return w

    f = lambda x: x * h()
    yield
    h.__defaults__ = (2.0,)
    yield


def kwdefaults():
    global h, f

    def h(*, w=1.0):
        return w

    f = lambda x: x * h()
    yield
    h.__kwdefaults__ = {"w": 2.0}
    yield
    h.__kwdefaults__["w"] = 3.0
    yield


def code():
    global h, f

    def h():
        return 1.0

    f = lambda x: x * h()
    yield
    h.__code__ = (lambda: 2.0).__code__
    yield


def code_of_a_nested_function():
    global make, h, f

    def make():
        def h():
            return 1.0

        return h, lambda x: x * h()

    h, f = make()
    yield
    h.__code__ = (lambda: 2.0).__code__
    yield


def name():
    global h, f

    def h():
        pass

    f = lambda x: x * len(h.__name__)
    yield
    h.__name__ = "ab"
    yield


def qualname():
    global h, f

    def h():
        pass

    f = lambda x: x * len(h.__qualname__)
    yield
    h.__qualname__ = "ab"
    yield


def doc():
    global h, f

    def h():
        "a"

    f = lambda x: x * len(h.__doc__)
    yield
    h.__doc__ = "ab"
    yield


def annotations():
    global h, f

    def h(a: "a"):
        pass

    f = lambda x: x * len(h.__annotations__["a"])
    yield
    h.__annotations__["a"] = "ab"
    yield
    h.__annotations__ = {"a": "abc"}
    yield


def module():
    global h, f

    def h():
        pass

    f = lambda x: x * len(h.__module__)
    yield
    h.__module__ = "ab"
    yield


def defaults_that_the_code_reads():
    global h, f

    def h(w=1.0):
        pass

    f = lambda x: x * h.__defaults__[0]
    yield
    h.__defaults__ = (2.0,)
    yield


def kwdefaults_that_the_code_reads():
    global h, f

    def h(*, w=1.0):
        pass

    f = lambda x: x * h.__kwdefaults__["w"]
    yield
    h.__kwdefaults__["w"] = 2.0
    yield


def code_that_the_code_reads():
    global h, f

    def h():
        pass

    f = lambda x: x * h.__code__.co_argcount + x
    yield
    h.__code__ = (lambda a: a).__code__
    yield


def wrapped():
    global h, g, f

    def h():
        return 1.0

    @functools.wraps(h)
    def g():
        return 0.0

    f = lambda x: x * g.__wrapped__()
    yield
    g.__wrapped__ = lambda: 2.0
    yield


def attribute():
    global h, f

    def h():
        pass

    h.w = 1.0
    f = lambda x: x * h.w
    yield
    h.w = 2.0
    yield


def attribute_of_itself():
    global f

    def f(x):
        return x * f.w

    f.w = 1.0
    yield
    f.w = 2.0
    yield


def attribute_nested():
    global h, f

    def h():
        pass

    h.o = O
    f = lambda x: x * h.o.rate
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield
    h.o = L()
    yield


def attribute_that_comes_to_be():
    global h, f

    def h():
        pass

    f = lambda x: x * getattr(h, "w", 1.0)
    yield
    h.w = 2.0
    yield


def attribute_through_a_parameter():
    global h, g, f

    def h():
        pass

    h.w = 1.0

    def g(fun):
        return fun.w

    f = lambda x: x * g(h)
    yield
    h.w = 2.0
    yield


def attribute_of_a_method():
    global M, f

    class M:
        def h(self):
            pass

        h.w = 1.0

    f = lambda x: x * M.h.w
    yield
    M.h.w = 2.0
    yield


def attribute_of_a_bound_method():
    global M, m, f

    class M:
        def h(self):
            pass

        h.w = 1.0

    m = M()
    f = lambda x: x * m.h.w
    yield
    M.h.w = 2.0
    yield


def self():
    global M, b, f

    class M(K):
        def h(self):
            pass

    b = M().h
    f = lambda x: x * b.__self__.rate
    yield
    b.__self__.rate = 2.0
    yield


def func():
    global M, b, f

    class M:
        def h(self):
            return 1.0

    b = M().h
    f = lambda x: x * b.__func__(None)
    yield
    M.h.__code__ = (lambda self: 2.0).__code__
    yield


def func_of_a_partial():
    global h, p, f

    def h():
        return 1.0

    p = functools.partial(h)
    f = lambda x: x * p.func()
    yield
    h.__code__ = (lambda: 2.0).__code__
    yield


def attribute_of_a_partial():
    global p, f
    p = functools.partial(int)
    p.w = 1.0
    f = lambda x: x * p.w
    yield
    p.w = 2.0
    yield


def function_in_a_list():
    global A, f
    A = [lambda: 1.0]
    f = lambda x: x * A[0]()
    yield
    A[0] = lambda: 2.0
    yield
    A[0].__code__ = (lambda: 3.0).__code__
    yield


def default_that_is_a_function():
    global h, f

    def h(g=lambda: 1.0):
        return g()

    f = lambda x: x * h()
    yield
    h.__defaults__ = (lambda: 2.0,)
    yield


def default_that_is_a_list():
    global h, f

    def h(l=[1.0]):
        return l[0]

    f = lambda x: x * h()
    yield
    h.__defaults__[0][0] = 2.0
    yield


def methods_default():
    global M, m, f

    class M:
        def h(self, w=1.0):
            return w

    m = M()
    f = lambda x: x * m.h()
    yield
    M.h.__defaults__ = (2.0,)
    yield


def default_of_init():
    global M, f

    class M:
        def __init__(self, w=1.0):
            self.w = w

    f = lambda x: x * M().w
    yield
    M.__init__.__defaults__ = (2.0,)
    yield


def global_of_a_function_of_another_module():
    global g, f
    exec("W = 1.0\nh = lambda: W", vars(cfg))
    g = cfg.h
    f = lambda x: x * g()
    yield
    cfg.W = 2.0
    yield


def global_of_a_function_without_a_module():
    global names, g, f
    names = {"W": 1.0}
    exec("h = lambda: W", names)
    g = names["h"]
    f = lambda x: x * g()
    yield
    names["W"] = 2.0
    yield


def generator_that_began():
    global W, numbers, g, f
    W = 1.0

    def numbers():
        while True:
            yield W

    g = numbers()
    next(g)
    f = lambda x: x * next(g)
    yield
    W = 2.0
    yield


def generator_that_began_attribute():
    global numbers, g, f

    def numbers(o):
        while True:
            yield o.rate

    g = numbers(O)
    next(g)
    f = lambda x: x * next(g)
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def generator_that_did_not_begin():
    global numbers, g, f

    def numbers(o):
        while True:
            yield o.rate

    g = numbers(O)
    f = lambda x: x * next(g)
    yield
    K.rate = 2.0
    yield


def generator_in_an_object():
    global numbers, f

    def numbers(o):
        while True:
            yield o.rate

    O.g = numbers(O)
    next(O.g)
    f = lambda x: x * next(O.g)
    yield
    K.rate = 2.0
    yield


def generator_that_is_sent_to():
    global echo, g, f

    def echo(o):
        k = 1.0
        while True:
            k = yield o.rate

    g = echo(O)
    next(g)
    f = lambda x: x * g.send(1.0)
    yield
    K.rate = 2.0
    yield


def slot_of_an_object_that_a_primed_generator_gives():
    global P, give, p, g, get, f

    class P:
        __slots__ = "w"

    def give(p):
        while True:
            yield p

    p = P()
    p.w = 1.0
    g = give(p)
    next(g)

    def get(p):
        return max([p, p], key=lambda each: each.w).w

    def f(x):
        return x * get(next(g))

    yield
    p.w = 2.0
    yield


def attributes_of_functions_that_imprint_made():
    global h, p, f
    h = jit(lambda x: x)
    p = imprint.custom_jvp(lambda x: x)
    p.defjvp(lambda x, t: (x[0], t[0]))
    h.rate, p.rate = 1.0, K()
    f = lambda x: h(x) * p(x) * h.rate * p.rate.rate
    yield
    h.rate = 3.0
    yield
    p.rate.rate = 4.0
    yield
    p.rate = L
    yield
    L.rate = 5.0
    yield


def rule_of_a_function_that_a_nested_jit_calls_then_one_as_at_first():
    global custom_vmap, rule, other_rule, make, f
    from imprint.custom_batching import custom_vmap

    def rule(size, batched, y):
        return y * 2.0, batched[0]

    def other_rule(size, batched, y):
        return y * 3.0, batched[0]

    def make():
        global double, inner
        double = custom_vmap(lambda y: y)
        double.def_vmap(rule)
        inner = jit(lambda y: double(y) * 1.0)

    make()

    def f(x):
        return vmap(inner)(inp.ones(2)).sum() + x

    yield
    rule.__code__ = other_rule.__code__
    yield

    def rule(size, batched, y):
        return y * 2.0, batched[0]

    make()
    yield


def rule_of_a_function_that_a_factorys_jit_captures_then_one_as_at_first():
    global custom_vmap, make, rule, other_rule, inner, f
    from imprint.custom_batching import custom_vmap

    def make(rule):
        double = custom_vmap(lambda y: y)
        double.def_vmap(rule)
        return jit(lambda y: double(y) * 1.0)

    def rule(size, batched, y):
        return y * 2.0, batched[0]

    def other_rule(size, batched, y):
        return y * 3.0, batched[0]

    inner = make(rule)

    def f(x):
        return vmap(inner)(inp.ones(2)).sum() + x

    yield
    rule.__code__ = other_rule.__code__
    yield

    def rule(size, batched, y):
        return y * 2.0, batched[0]

    inner = make(rule)
    yield


def policy_of_the_values_that_a_nested_jit_recomputes_then_an_equal_one():
    global policy, other_policy, make, f

    def policy(*a, **k):
        return True

    def other_policy(*a, **k):
        return False

    def make():
        global inner
        inner = jit(imprint.checkpoint(lambda y: inp.sin(inp.sin(y)), policy=policy))

    make()

    def f(x):
        return x * str(imprint.make_jaxpr(grad(inner))(1.0)).count("sin")

    yield
    policy.__code__ = other_policy.__code__
    yield

    def policy(*a, **k):
        return True

    make()
    yield
