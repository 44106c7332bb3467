"""Scenarios: attributes of objects that reach a helper by parameter, loop or container."""


def parameter():
    global h, f

    def h(o, x):
        return x * o.rate

    f = lambda x: h(O, x)
    yield
    K.rate = 2.0
    yield


def parameter_class():
    global h, f

    def h(c, x):
        return x * c.rate

    f = lambda x: h(K, x)
    yield
    K.rate = 2.0
    yield


def parameter_module():
    global h, f

    def h(m, x):
        return x * m.W

    f = lambda x: h(cfg, x)
    yield
    cfg.W = 2.0
    yield


def keyword():
    global h, f

    def h(x, *, o):
        return x * o.rate

    f = lambda x: h(x, o=O)
    yield
    K.rate = 2.0
    yield


def star():
    global h, f

    def h(x, *a):
        return x * a[0].rate

    f = lambda x: h(x, O)
    yield
    K.rate = 2.0
    yield


def star_in_a_loop():
    global h, f

    def h(x, *a):
        for o in a:
            x = x * o.rate
        return x

    f = lambda x: h(x, O, K())
    yield
    K.rate = 2.0
    yield


def double_star():
    global h, f

    def h(x, **k):
        return x * k["o"].rate

    f = lambda x: h(x, o=O)
    yield
    K.rate = 2.0
    yield


def double_star_values():
    global h, f

    def h(x, **k):
        return x * sum(o.rate for o in k.values())

    f = lambda x: h(x, o=O)
    yield
    K.rate = 2.0
    yield


def star_at_the_call():
    global A, h, f
    A = (O,)

    def h(o, x):
        return x * o.rate

    f = lambda x: h(*A, x)
    yield
    K.rate = 2.0
    yield


def double_star_at_the_call():
    global A, h, f
    A = {"o": O}

    def h(x, o):
        return x * o.rate

    f = lambda x: h(x, **A)
    yield
    K.rate = 3.0
    yield
    A["o"] = L()
    yield


def default():
    global h, f

    def h(x, o=O):
        return x * o.rate

    f = lambda x: h(x)
    yield
    K.rate = 2.0
    yield


def default_of_f():
    global f

    def f(x, o=O):
        return x * o.rate

    yield
    K.rate = 2.0
    yield


def keyword_only_default():
    global h, f

    def h(x, *, o=O):
        return x * o.rate

    f = lambda x: h(x)
    yield
    K.rate = 2.0
    yield


def default_of_a_lambda():
    global h, f
    h = lambda x, c=K: x * c.rate
    f = lambda x: h(x)
    yield
    K.rate = 2.0
    yield


def passed_on():
    global a, b, c, f

    def a(o, x):
        return x * o.rate

    def b(*args):
        return a(*args)

    def c(*args, **k):
        return b(*args, **k)

    f = lambda x: c(O, x)
    yield
    K.rate = 2.0
    yield


def layers():
    global Layer, LAYERS, f

    class Layer:
        def __init__(self):
            self.w = 1.0

    LAYERS = [Layer(), Layer()]

    def f(x):
        for l in LAYERS:
            x = x * l.w
        return x

    yield
    LAYERS[1].w = 2.0
    yield
    LAYERS[0].w = 3.0
    yield


def layers_that_are_called():
    global Layer, LAYERS, f

    class Layer:
        w = 1.0

        def __call__(self, x):
            return x * self.w

    LAYERS = [Layer(), Layer()]

    def f(x):
        for l in LAYERS:
            x = l(x)
        return x

    yield
    Layer.w = 2.0
    yield
    LAYERS[1].w = 3.0
    yield


def layers_as_a_parameter():
    global h, A, f

    def h(layers, x):
        for l in layers:
            x = x * l.rate
        return x

    A = [O, K()]
    f = lambda x: h(A, x)
    yield
    K.rate = 2.0
    yield
    A[1].rate = 3.0
    yield


def layers_by_reduce():
    global A, f
    A = [O, K()]
    f = lambda x: functools.reduce(lambda y, l: y * l.rate, A, x)
    yield
    K.rate = 2.0
    yield
    A[1].rate = 3.0
    yield


def tuple_of_a_name():
    global A, f
    A = (O, K())

    def f(x):
        for o in A:
            x = x * o.rate
        return x

    yield
    K.rate = 2.0
    yield
    A[1].rate = 3.0
    yield


def dict_of_a_name():
    global A, f
    A = {"a": O}

    def f(x):
        for k, o in A.items():
            x = x * o.rate
        return x

    yield
    K.rate = 2.0
    yield
    A["a"].rate = 3.0
    yield


def keys_of_a_dict():
    global A, f
    A = {O: 1}

    def f(x):
        for o in A:
            x = x * o.rate
        return x

    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def set_of_a_name():
    global A, f
    A = {O}

    def f(x):
        for o in A:
            x = x * o.rate
        return x

    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def frozenset_of_a_name():
    global A, f
    A = frozenset({O})
    f = lambda x: x * sum(o.rate for o in A)
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def deque():
    global A, f
    A = collections.deque([O])
    f = lambda x: x * sum(o.rate for o in A)
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def nested_containers():
    global A, f
    A = {"a": [({"b": (O,)},)]}
    f = lambda x: x * A["a"][0][0]["b"][0].rate
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def item_with_an_object():
    global items, f
    items = [types.SimpleNamespace(l=O)]
    f = lambda x: x * items[0].l.rate
    yield
    K.rate = 2.0
    yield
    L.rate = 5.0
    items[0].l = L()
    yield


def objects_in_objects():
    global f
    O.parts = [K(), {"a": K()}]

    def f(x):
        return x * O.parts[0].rate * O.parts[1]["a"].rate

    yield
    K.rate = 2.0
    yield
    O.parts[1]["a"].rate = 3.0
    yield
    O.parts[1]["a"] = L()
    yield


def zip_of_a_name():
    global A, f
    A = [O]
    f = lambda x: x * sum(o.rate * i for o, i in zip(A, [1]))
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def enumerate_of_a_name():
    global A, f
    A = [K(), O]
    f = lambda x: x * sum(o.rate * i for i, o in enumerate(A))
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def map_of_a_lambda():
    global A, f
    A = [O]
    f = lambda x: x * sum(map(lambda o: o.rate, A))
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def map_of_a_method():
    global M, A, f

    class M:
        w = 1.0

        def h(self):
            return self.w

    A = [M()]
    f = lambda x: x * sum(map(M.h, A))
    yield
    M.w = 2.0
    yield
    A[0].w = 3.0
    yield
    M.h = lambda self: 4.0
    yield


def filter_of_a_name():
    global A, f
    A = [O, L()]
    f = lambda x: x * len(list(filter(lambda o: o.rate > 1, A)))
    yield
    K.rate = 2.0
    yield
    O.rate = 0.5
    yield


def sorted_by_key():
    global A, f
    A = [O, L()]
    f = lambda x: x * (1.0 if sorted(A, key=lambda o: o.rate)[0] is O else 2.0)
    yield
    K.rate = 3.0
    yield
    O.rate = 0.5
    yield


def sorted_by_attrgetter():
    global A, f
    A = [O, L()]
    f = lambda x: (
        x * (1.0 if sorted(A, key=operator.attrgetter("rate"))[0] is O else 2.0)
    )
    yield
    K.rate = 3.0
    yield
    O.rate = 0.5
    yield


def max_by_key():
    global A, speed, f
    A = [O, L()]

    def speed(o):
        return o.rate

    f = lambda x: x * max(A, key=speed).rate
    yield
    K.rate = 3.0
    yield
    O.rate = 5.0
    yield


def reversed_of_a_name():
    global A, f
    A = [O, K()]

    def f(x):
        for o in reversed(A):
            x = x * o.rate
        return x

    yield
    O.rate = 3.0
    yield


def itertools_chain():
    global A, B, f
    A = [O]
    B = [K()]
    f = lambda x: x * sum(o.rate for o in itertools.chain(A, B))
    yield
    B[0].rate = 3.0
    yield
    K.rate = 2.0
    yield


def itertools_starmap():
    global A, f
    A = [(O, 1.0)]
    f = lambda x: x * sum(itertools.starmap(lambda o, i: o.rate * i, A))
    yield
    K.rate = 2.0
    yield


def slice_of_a_name():
    global A, f
    A = [K(), O]
    f = lambda x: x * A[1:][0].rate
    yield
    O.rate = 2.0
    yield


def pop_of_a_copy():
    global A, f
    A = [K(), O]
    f = lambda x: x * list(A).pop().rate
    yield
    O.rate = 2.0
    yield


def iterator_by_hand():
    global A, f
    A = [O]
    f = lambda x: x * next(iter(A)).rate
    yield
    O.rate = 2.0
    yield


def any_of_a_name():
    global A, f
    A = [O]
    f = lambda x: -x if any(o.rate > 1 for o in A) else x
    yield
    O.rate = 2.0
    yield


def matrix_of_objects():
    global A, f
    A = [[O, O], [O, L()]]
    f = lambda x: x * A[1][1].rate
    yield
    L.rate = 5.0
    yield
    A[1][1].rate = 6.0
    yield


def object_behind_an_index():
    global Box, A, f

    class Box:
        def __init__(self, *a):
            self.items = a

        def __getitem__(self, i):
            return self.items[i]

    A = Box(O)
    f = lambda x: x * A[0].rate
    yield
    O.rate = 2.0
    yield
    L.rate = 5.0
    A.items = (L(),)
    yield


def object_that_is_iterated():
    global Box, A, f

    class Box:
        def __init__(self, *a):
            self.items = a

        def __iter__(self):
            return iter(self.items)

    A = Box(O)
    f = lambda x: x * sum(o.rate for o in A)
    yield
    O.rate = 2.0
    yield
    A.items = (L(), L())
    yield


def linked_list():
    global N, A, total, f

    class N:
        def __init__(self, w, then=None):
            self.w, self.then = w, then

    A = N(1.0, N(1.0, N(1.0)))

    def total(n):
        return n.w + (total(n.then) if n.then else 0.0)

    f = lambda x: x * total(A)
    yield
    A.then.then.w = 2.0
    yield
    A.then.then = None
    yield


def visitor():
    global Node, Sum, A, V, f

    class Node:
        def __init__(self, *kids):
            self.kids, self.w = kids, 1.0

        def accept(self, v):
            return v.visit(self)

    class Sum:
        scale = 1.0

        def visit(self, n):
            return self.scale * n.w + sum(k.accept(self) for k in n.kids)

    A = Node(Node(), Node(Node()))
    V = Sum()
    f = lambda x: x * A.accept(V)
    yield
    A.kids[1].kids[0].w = 2.0
    yield
    V.scale = 3.0
    yield
    Sum.scale = 4.0
    del V.scale
    yield


def callback():
    global apply, f

    def apply(g, *a):
        return g(*a)

    f = lambda x: apply(lambda o, y: y * o.rate, O, x)
    yield
    O.rate = 2.0
    yield


def method_given_as_a_function():
    global M, m, apply, f

    class M:
        w = 1.0

        def h(self, x):
            return x * self.w

    m = M()

    def apply(g, x):
        return g(x)

    f = lambda x: apply(m.h, x)
    yield
    m.w = 2.0
    yield


def returned():
    global get, f

    def get():
        return O

    f = lambda x: x * get().rate
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def returned_in_a_tuple():
    global get, f

    def get():
        return O, 1

    f = lambda x: x * get()[0].rate
    yield
    O.rate = 2.0
    yield


def object_that_an_object_gives():
    global M, m, f

    class M:
        def __init__(self):
            self.part = K()

        def get(self):
            return self.part

    m = M()
    f = lambda x: x * m.get().rate
    yield
    m.part.rate = 2.0
    yield
    L.rate = 5.0
    m.part = L()
    yield
