"""Scenarios: library code reads user state, executed visibly or not.

Where executed code is not known, the names in it are not known either. The values of the
objects, closures and `__getattr__` must be enough.
"""


def singledispatch_of_a_value_that_a_choice_reads():
    global h, f

    @functools.singledispatch
    def h(o):
        return 1.0

    @h.register
    def _(o: K):
        return o.rate * L.rate

    f = lambda x: x * h(O)
    yield
    L.rate = 5.0
    yield
    O.rate = 7.0
    yield


def getattr_of_a_module_of_what_it_reads():
    global answer, f
    cfg.V = 1.0

    def answer(name):
        if name == "lazy":
            return cfg.V
        raise AttributeError(name)

    cfg.__getattr__ = answer
    f = lambda x: x * cfg.lazy
    yield
    cfg.V = 2.0
    yield
    cfg.lazy = 3.0
    yield
    del cfg.lazy
    cfg.__getattr__ = lambda n: 9.0
    yield


def missing_item_by_getattr():
    global D, c, f

    class D(dict):
        def __getattr__(self, n):
            try:
                return self[n]
            except KeyError:
                raise AttributeError(n)

    c = D(s=D(v=2.0))
    f = lambda x: x + getattr(c.s, "u", c.s.v)
    yield
    c.s["v"] = 3.0
    yield
    c.s["u"] = 9.0
    yield


def missing_item_by_getattr_in_c():
    global D, c, f

    class D(dict):
        __getattr__ = dict.__getitem__

    c = D(w=1.0)

    def f(x):
        try:
            return x * c.u
        except KeyError:
            return x

    yield
    c["u"] = 9.0
    yield
    c["u"] = 8.0
    yield
    del c["u"]
    yield


def missing_item_by_a_method():
    global D, c, f

    class D(dict):
        def opt(self, n):
            return self.get(n, 1.0)

    c = D(w=1.0)
    f = lambda x: x * c.opt("u")
    yield
    c["u"] = 9.0
    yield
    c["u"] = 8.0
    yield
    del c["u"]
    yield


def flags():
    global flags, F, f
    from absl import flags

    F = flags.FlagValues()
    flags.DEFINE_float("rate", 2.0, "", flag_values=F)
    F(["program"])
    f = lambda x: x * F.rate
    yield
    F.rate = 3.0
    yield
    F["rate"].value = 4.0
    yield
    F(["program", "--rate=5"])
    yield
