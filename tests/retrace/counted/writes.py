"""Functions `f` that write when they are traced; `count()` is the number of traces."""


def a_global():
    global n, f, count
    n = 0

    def f(x):
        global n
        n += 1
        return x

    count = lambda: n


def list_of_a_name():
    global l, f, count
    l = []

    def f(x):
        l.append(x.shape)
        return x

    count = lambda: len(l)


def new_key():
    global d, f, count
    d = {}

    def f(x):
        d[len(d)] = 1
        return x

    count = lambda: len(d)


def key():
    global d, f, count
    d = {"n": 0}

    def f(x):
        d["n"] += 1
        return x

    count = lambda: d["n"]


def key_by_get():
    global d, f, count
    d = {}

    def f(x):
        d["n"] = d.get("n", 0) + 1
        return x

    count = lambda: d["n"]


def setdefault():
    global d, f, count
    d = {}

    def f(x):
        d.setdefault("l", []).append(1)
        return x

    count = lambda: len(d["l"])


def default_dict():
    global collections, d, f, count
    import collections

    d = collections.defaultdict(int)

    def f(x):
        d["n"] += 1
        return x

    count = lambda: d["n"]


def set_of_a_name():
    global s, f, count
    s = set()

    def f(x):
        s.add(len(s))
        return x

    count = lambda: len(s)


def a_nonlocal():
    global make, f, count

    def make():
        n = 0

        def f(x):
            nonlocal n
            n += 1
            return x

        return f, lambda: n

    f, count = make()


def attribute_of_self():
    global K, k, f, count

    class K:
        traces = 0

        def f(self, x):
            self.traces += 1
            return x

    k = K()
    f = k.f
    count = lambda: k.traces


def attribute_by_a_helper():
    global K, k, f, count

    class K:
        traces = 0

        def count(self):
            self.traces += 1

    k = K()

    def f(x):
        k.count()
        return x

    count = lambda: k.traces


def attribute_by_setattr():
    global K, k, f, count

    class K:
        n = 0

    k = K()

    def f(x):
        setattr(k, "n", k.n + 1)
        return x

    count = lambda: k.n


def attribute_of_a_parameter():
    global K, k, h, f, count

    class K:
        n = 0

    k = K()

    def h(o):
        o.n += 1

    def f(x):
        h(k)
        return x

    count = lambda: k.n


def attribute_in_a_loop():
    global K, l, f, count

    class K:
        n = 0

    l = [K(), K()]

    def f(x):
        for k in l:
            k.n += 1
        return x

    count = lambda: l[1].n


def class_attribute():
    global K, f, count

    class K:
        n = 0

    def f(x):
        K.n += 1
        return x

    count = lambda: K.n


def class_attribute_by_type_self():
    global K, f, count

    class K:
        n = 0

        def f(self, x):
            type(self).n += 1
            return x

    f = K().f
    count = lambda: K.n


def attribute_of_a_module():
    global f, count
    cfg.n = 0

    def f(x):
        cfg.n += 1
        return x

    count = lambda: cfg.n


def attribute_of_a_function():
    global f, count

    def f(x):
        f.n += 1
        return x

    f.n = 0
    count = lambda: f.n


def attribute_through_a_captured_local():
    global K, k, f, count

    class K:
        n = 0

        def f(self, x):
            def loss(p):
                self.n += 1
                return p

            return loss(x)

    k = K()
    f = k.f
    count = lambda: k.n


def attribute_in_grad():
    global K, k, loss, f, count

    class K:
        n = 0

    k = K()

    def loss(p):
        k.n += 1
        return p * p

    def f(x):
        return imprint.grad(loss)(x) / 2

    count = lambda: k.n


def list_of_an_object():
    global K, k, f, count

    class K:
        def __init__(self):
            self.log = []

        def f(self, x):
            self.log.append("traced")
            return x

    k = K()
    f = k.f
    count = lambda: len(k.log)


def dict_of_an_object():
    global K, k, f, count

    class K:
        def __init__(self):
            self.seen = {}

        def f(self, x):
            self.seen[x.shape] = self.seen.get(x.shape, 0) + 1
            return x

    k = K()
    f = k.f
    count = lambda: sum(k.seen.values())


def three_deep():
    global o, f, count
    o = types.SimpleNamespace(a=types.SimpleNamespace(b=types.SimpleNamespace(n=0)))

    def f(x):
        o.a.b.n += 1
        return x

    count = lambda: o.a.b.n


def what_the_trace_keeps():
    global K, k, f, count

    class K:
        last, n = None, 0

    k = K()

    def f(x):
        k.last, k.n = x.shape, k.n + 1
        return x

    count = lambda: k.n


def cached_property():
    global K, k, f, count

    class K:
        n = 0

        @functools.cached_property
        def w(self):
            K.n += 1
            return 1.0

    k = K()

    def f(x):
        return x * k.w

    count = lambda: K.n


def property_of_a_backward_rule():
    global K, k, ruled, f, count

    class K:
        n = 0

        @property
        def w(self):
            self.n += 1
            return 1.0

    k = K()

    @imprint.custom_vjp
    def ruled(x):
        return x * 1.0

    ruled.defvjp(lambda x: (ruled(x), None), lambda _, ct: (ct * k.w,))

    def f(x):
        return imprint.grad(ruled)(x) * x

    count = lambda: k.n


def generator():
    global itertools, it, l, f, count
    import itertools

    it, l = itertools.count(), []

    def f(x):
        l.append(next(it))
        return x

    count = lambda: len(l)


def attribute_of_a_function_with_a_computed_name():
    global h, R, f, count

    def h():
        h.n += 1

    h.n = 0

    class R:
        rate = 1.0

    def f(x):
        h()
        return x * getattr(R, "RATE".lower())

    count = lambda: h.n
