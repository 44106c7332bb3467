"""Scenarios: an object is replaced by an equal one, which is edited later.

The calls in between hit the version of the first object.
"""


def dict_that_a_nested_jit_reads_by_a_key():
    global D, O, o, inner, f, compiled
    D = {"k": 2.0}

    class O:
        pass

    o = O()
    o.w = 1.0
    inner = jit(lambda y: y * D["k"])
    f = lambda x: inner(x) * o.w
    compiled = jit(f)
    yield
    D = {"k": 2.0}
    for _ in range(3):
        compiled(1.0)
    o.w = 3.0
    yield
    D["k"] = 5.0
    yield
    D = {"k": 5.0, "more": 0}
    for _ in range(3):
        compiled(1.0)
    o.w = 4.0
    yield
    D["k"] = 6.0
    yield


def one_of_two_ways_to_a_dict_the_other_of_which_counts_as_a_whole():
    global D, E, Counted, O, f
    D = {"n": {"b": 2.0}}
    E = D["n"]

    class Counted:
        n = 0

        @property
        def w(self):
            self.n += 1
            return 1.0

    O = Counted()
    f = lambda x: x * D["n"]["b"] * E["b"] * O.w
    yield
    E = {"b": 3.0}
    yield
    D = {"n": E}
    yield
    E["b"] = 4.0
    yield


def function_in_a_frozen_static_argument():
    global Task, h, S, f, compiled

    @dataclasses.dataclass(frozen=True)
    class Task:
        fn: object

    def h(v, k=2.0):
        return v * k

    S = Task(h)
    f = lambda x, task: task.fn(x)
    compiled = jit(f, static_argnums=1)
    yield

    def h(v, k=2.0):
        return v * k

    S = Task(h)
    for _ in range(3):
        compiled(1.0, S)
    h.__defaults__ = (3.0,)
    yield

    def h(v, k=2.0):
        return v * k

    S = Task(h)
    yield
    h.__code__ = (lambda v, k: v + 7 * k).__code__
    yield


def function_given_to_a_jitted_function():
    global apply, h, f, compiled
    apply = jit(lambda x, fn: fn(x), static_argnums=1)

    def h(v, k=2.0):
        return v * k

    f = lambda x: apply(x, h)
    compiled = jit(f)
    yield

    def h(v, k=2.0):
        return v * k

    for _ in range(3):
        compiled(1.0)
    h.__defaults__ = (3.0,)
    yield

    def h(v, k=2.0):
        return v * k

    yield
    h.__defaults__ = (4.0,)
    yield


def function_given_to_a_function_jitted_by_its_leaves():
    global apply, h, f, compiled
    apply = filter_jit(lambda x, fn: fn(x))

    def h(v, k=2.0):
        return v * k

    f = lambda x: apply(x, h)
    compiled = jit(f)
    yield

    def h(v, k=2.0):
        return v * k

    for _ in range(3):
        compiled(1.0)
    h.__defaults__ = (3.0,)
    yield

    def h(v, k=2.0):
        return v * k

    yield
    h.__defaults__ = (4.0,)
    yield


def function_of_a_partial():
    global apply, h, P, f, compiled
    apply = jit(lambda x, p: p(x))

    def h(v, k=2.0):
        return v * k

    P = imprint.tree_util.Partial(h)
    f = lambda x: apply(x, P)
    compiled = jit(f)
    yield

    def h(v, k=2.0):
        return v * k

    P = imprint.tree_util.Partial(h)
    for _ in range(3):
        compiled(1.0)
    h.__defaults__ = (3.0,)
    yield
    h.__code__ = (lambda v, k: v + 7 * k).__code__
    yield


def function_that_axes_with_names_are_given_to():
    global apply, h, f, compiled
    apply = jit(lambda x, fn: fn(x), static_argnums=1, abstracted_axes=({0: "n"},))

    def h(v, k=2.0):
        return v.sum() * k

    f = lambda x: apply(inp.ones(3), h) * x
    compiled = jit(f)
    yield

    def h(v, k=2.0):
        return v.sum() * k

    for _ in range(3):
        compiled(1.0)
    h.__defaults__ = (3.0,)
    yield

    def h(v, k=2.0):
        return v.sum() * k

    yield
    h.__defaults__ = (4.0,)
    yield


def callback():
    global host, f, compiled

    def host(v, k=2.0):
        return np.float32(v * k)

    f = lambda x: imprint.pure_callback(
        host, imprint.ShapeDtypeStruct((), "float32"), x
    )
    compiled = jit(f)
    yield

    def host(v, k=2.0):
        return np.float32(v * k)

    for _ in range(3):
        compiled(1.0)
    host.__defaults__ = (3.0,)
    yield
    host.__code__ = (lambda v, k: np.float32(v + 7 * k)).__code__
    yield

    def host(v, k=2.0):
        return np.float32(v * k)

    yield


def callback_of_a_partial():
    global host, p, f, compiled

    def host(k, v):
        return np.float32(v * k)

    p = functools.partial(host, 2.0)
    f = lambda x: imprint.pure_callback(p, imprint.ShapeDtypeStruct((), "float32"), x)
    compiled = jit(f)
    yield
    host.__code__ = (lambda k, v: np.float32(v + 7 * k)).__code__
    yield

    def host(k, v):
        return np.float32(v * k)

    p = functools.partial(host, 2.0)
    yield


def method_that_is_a_callback():
    global Table, T, f, compiled

    class Table:
        def look(self, v):
            return np.float32(v * 2)

    T = Table()
    f = lambda x: imprint.pure_callback(
        T.look, imprint.ShapeDtypeStruct((), "float32"), x
    )
    compiled = jit(f)
    yield
    Table.look.__code__ = (lambda self, v: np.float32(v + 7)).__code__
    yield
    Table.look.__code__ = (lambda self, v: np.float32(v * 2)).__code__
    yield


def default_of_a_frozen_field_then_a_property():
    global Rates, rates, f, compiled

    @dataclasses.dataclass(frozen=True)
    class Rates:
        w: float = 1.0

    rates = Rates(2.0)
    f = lambda x: x * rates.w
    compiled = jit(f)
    yield
    Rates.w = 3.0
    for _ in range(3):
        compiled(1.0)
    Rates.w = property(lambda self: 10.0)
    yield


def static_field_of_a_module_then_a_property():
    global Rates, rates, f, compiled

    class Rates(Module):
        w: float = field(static=True, default=1.0)

    rates = Rates(2.0)
    f = lambda x: x * rates.w
    compiled = jit(f)
    yield
    Rates.w = 3.0
    for _ in range(3):
        compiled(1.0)
    Rates.w = property(lambda self: 10.0)
    yield
