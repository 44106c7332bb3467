"""Scenarios: a nested function reads an attribute through a captured object."""


def loss_of_a_step():
    global M, f

    class M(K):
        def step(self, x):
            def loss(p):
                return p * self.rate

            return grad(loss)(x)

    f = M().step
    yield
    K.rate = 2.0
    yield


def loss_of_a_step_attribute_of_the_object():
    global M, m, f

    class M:
        def __init__(self):
            self.rate = 1.0

        def step(self, x):
            def loss(p):
                return p * self.rate

            return grad(loss)(x)

    m = M()
    f = m.step
    yield
    m.rate = 2.0
    yield


def lambda_in_grad():
    global f
    f = lambda x: grad(lambda p: p * O.rate)(x)
    yield
    K.rate = 2.0
    yield


def local_class_in_a_lambda():
    global f

    def f(x):
        c = K
        return (lambda: x * c.rate)()

    yield
    K.rate = 2.0
    yield


def local_object_in_a_lambda():
    global f

    def f(x):
        o = O
        return (lambda: x * o.rate)()

    yield
    K.rate = 2.0
    yield


def local_module_in_a_lambda():
    global f

    def f(x):
        m = cfg
        return (lambda: x * m.W)()

    yield
    cfg.W = 2.0
    yield


def genexpr():
    global f

    def f(x):
        o = O
        return sum(x * o.rate for _ in range(2))

    yield
    K.rate = 2.0
    yield


def list_comprehension():
    global f

    def f(x):
        o = O
        return [x * o.rate for _ in range(2)][1]

    yield
    K.rate = 2.0
    yield


def dict_comprehension():
    global f

    def f(x):
        m = cfg
        return x * {i: m.W for i in range(2)}[1]

    yield
    cfg.W = 2.0
    yield


def set_comprehension():
    global f

    def f(x):
        o = O
        return x * max({o.rate for _ in range(2)})

    yield
    K.rate = 2.0
    yield


def condition_of_a_comprehension():
    global f

    def f(x):
        o = O
        return x * len([i for i in (1, 2, 3) if i > o.rate])

    yield
    K.rate = 2.0
    yield


def iterable_of_a_comprehension():
    global f

    def f(x):
        o = O
        return x * len([i for i in range(int(o.rate))])

    yield
    K.rate = 2.0
    yield


def genexpr_in_a_genexpr():
    global f

    def f(x):
        o = O
        return sum(sum(x * o.rate for _ in range(2)) for _ in range(2))

    yield
    K.rate = 2.0
    yield


def function_in_a_function_in_a_function():
    global f

    def f(x):
        o = O

        def a():
            def b():
                def c():
                    return x * o.rate

                return c()

            return b()

        return a()

    yield
    K.rate = 2.0
    yield


def parameter_that_is_captured():
    global step, f

    def step(o, x):
        return vmap(lambda y: y * o.rate)(inp.ones(2)).sum() * x

    f = lambda x: step(O, x)
    yield
    K.rate = 2.0
    yield


def loop_variable_that_is_captured():
    global f

    def f(x):
        fs = []
        for o in (O, O):
            fs.append(lambda: x * o.rate)
        return fs[0]()

    yield
    K.rate = 2.0
    yield


def loop_variable_as_a_default():
    global f

    def f(x):
        fs = [lambda o=o: x * o.rate for o in (O, O)]
        return fs[1]()

    yield
    K.rate = 2.0
    yield


def nonlocal_that_is_bound_later():
    global f

    def f(x):
        o = L()

        def g():
            return x * o.rate

        o = O
        return g()

    yield
    K.rate = 3.0
    yield


def nonlocal_that_another_function_binds():
    global f

    def f(x):
        o = L()

        def put():
            nonlocal o
            o = O

        def g():
            return x * o.rate

        put()
        return g()

    yield
    K.rate = 3.0
    yield


def with_in_a_nested_function():
    global C, f

    class C:
        w = 1.0

        def __enter__(self):
            return self

        def __exit__(self, *a):
            pass

    def f(x):
        c = C()

        def g():
            with c as d:
                return x * d.w

        return g()

    yield
    C.w = 2.0
    yield


def nested_jit():
    global f

    def f(x):
        o = O

        @jit
        def g(y):
            return y * o.rate

        return g(x)

    yield
    K.rate = 2.0
    yield


def nested_jit_of_a_lambda_in_a_lambda():
    global f
    f = lambda x: jit(lambda y: (lambda: y * O.rate)())(x)
    yield
    K.rate = 2.0
    yield


def nested_filter_jit():
    global f

    def f(x):
        o = O
        return filter_jit(lambda y: y * o.rate)(x)

    yield
    K.rate = 2.0
    yield


def compiled_by_filter_jit():
    global f, compiled

    def f(x):
        o = O

        def g(y):
            return y * o.rate

        return g(x)

    compiled = filter_jit(f)
    yield
    K.rate = 2.0
    yield


def grad_of_grad():
    global f

    def f(x):
        o = O
        return grad(grad(lambda p: p * p * o.rate))(x)

    yield
    K.rate = 2.0
    yield


def vmap_of_grad():
    global f

    def f(x):
        m = cfg
        return vmap(grad(lambda p: p * m.W))(inp.ones(2))[0] * x

    yield
    cfg.W = 2.0
    yield


def value_and_grad():
    global f

    def f(x):
        o = O
        return imprint.value_and_grad(lambda p: p * o.rate)(x)[1]

    yield
    K.rate = 2.0
    yield


def jvp():
    global f

    def f(x):
        o = O
        return imprint.jvp(lambda p: p * o.rate, (x,), (x,))[1]

    yield
    K.rate = 2.0
    yield


def method_in_a_nested_function():
    global M, m, f

    class M:
        def h(self):
            return 1.0

    m = M()

    def f(x):
        o = m
        return grad(lambda p: p * o.h())(x)

    yield
    M.h = lambda self: 2.0
    yield


def class_made_in_the_function():
    global f

    def f(x):
        o = O

        class C:
            def m(self):
                return x * o.rate

        return C().m()

    yield
    K.rate = 2.0
    yield


def class_body():
    global f

    def f(x):
        o = O

        class C:
            w = o.rate

        return x * C.w

    yield
    K.rate = 2.0
    yield


def default_of_a_nested_function():
    global f

    def f(x):
        o = O

        def g(w=o.rate):
            return x * w

        return g()

    yield
    K.rate = 2.0
    yield


def decorator_inside():
    global f

    def f(x):
        o = O

        def scaled(g):
            return lambda y: g(y) * o.rate

        @scaled
        def h(y):
            return y

        return h(x)

    yield
    K.rate = 2.0
    yield


def closure_made_at_module_level():
    global make, f

    def make(o):
        def f(x):
            def loss(p):
                return p * o.rate

            return grad(loss)(x)

        return f

    f = make(O)
    yield
    K.rate = 2.0
    yield


def closure_over_a_module():
    global make, f

    def make(m):
        return lambda x: (lambda: x * m.W)()

    f = make(cfg)
    yield
    cfg.W = 2.0
    yield


def recursion_inside():
    global f

    def f(x):
        o = O

        def go(n):
            return x * o.rate if n == 0 else go(n - 1)

        return go(3)

    yield
    K.rate = 2.0
    yield


def chain_through_a_captured_module():
    global f
    cfg.o = O

    def f(x):
        m = cfg
        return (lambda: x * m.o.rate)()

    yield
    K.rate = 2.0
    yield


def lambda_that_map_calls():
    global f

    def f(x):
        o = O
        return sum(map(lambda y: y * o.rate, [x, x]))

    yield
    K.rate = 2.0
    yield


def generator_inside():
    global f

    def f(x):
        o = O

        def g():
            yield x * o.rate

        return next(g())

    yield
    K.rate = 2.0
    yield


def f_string_inside():
    global f

    def f(x):
        o = O
        return (lambda: x * float(f"{o.rate}"))()

    yield
    K.rate = 2.0
    yield


def type_parameter_of_a_comprehension_over_a_class():
    global f

    def f(x):
        return [x * c.rate for c in (K,)][0]

    yield
    K.rate = 2.0
    yield
