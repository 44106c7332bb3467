"""Programs `f`, each with an edit of a value that `f` does not read, made repeatedly."""


def class_attribute():
    global K, f

    class K:
        n, w = 0, 1.0

    f = lambda x: x * K.w
    while True:
        yield
        K.n += 1


def attribute():
    global K, o, f

    class K:
        w = 1.0

    o = K()
    o.n = 0
    f = lambda x: x * o.w
    while True:
        yield
        o.n += 1


def attribute_of_a_namespace():
    global o, f
    o = types.SimpleNamespace(n=0, w=1.0)
    f = lambda x: x * o.w
    while True:
        yield
        o.n += 1


def slot():
    global K, o, f

    class K:
        __slots__ = "n", "w"

    o = K()
    o.n, o.w = 0, 1.0
    f = lambda x: x * o.w
    while True:
        yield
        o.n += 1


def attribute_of_a_function():
    global h, f

    def h():
        return 1.0

    h.n = 0
    f = lambda x: x * h()
    while True:
        yield
        h.n += 1


def a_global():
    global n, w, f
    n, w = 0, 1.0
    f = lambda x: x * w
    while True:
        yield
        n += 1


def attribute_of_a_module():
    global f
    cfg.n, cfg.w = 0, 1.0
    f = lambda x: x * cfg.w
    while True:
        yield
        cfg.n += 1


def new_attributes():
    global K, o, n, f

    class K:
        w = 1.0

    o = K()
    n = 0
    f = lambda x: x * o.w
    while True:
        yield
        n += 1
        setattr(o, f"a{n}", 1)


def new_attributes_of_a_class():
    global K, n, f

    class K:
        w = 1.0

    n = 0
    f = lambda x: x * K.w
    while True:
        yield
        n += 1
        setattr(K, f"a{n}", 1)


def list_in_an_object():
    global K, o, f

    class K:
        w = 1.0

    o = K()
    o.l = []
    f = lambda x: x * o.w
    while True:
        yield
        o.l.append(1)


def same_name_another_class():
    global K, L, f

    class K:
        w = 1.0

    class L:
        w = 0.0

    f = lambda x: x * K.w
    while True:
        yield
        L.w += 1


def same_name_another_object():
    global K, o, p, f

    class K:
        w = 1.0

    o, p = K(), K()
    p.w = 0.0
    f = lambda x: x * o.w
    while True:
        yield
        p.w += 1


def same_name_a_loop_over_others():
    global K, Log, l, log, f

    class K:
        w = 1.0

    class Log:
        w = 0

    l, log = [K(), K()], Log()

    def f(x):
        for o in l:
            x = x * o.w
        return x

    while True:
        yield
        log.w += 1
        Log.w += 1


def counter_that_an_unread_method_counts():
    global K, o, f

    class K:
        w, n = 1.0, 0

        def count(self):
            self.n += 1

    o = K()
    f = lambda x: x * o.w
    while True:
        yield
        o.count()


def unread_property():
    global K, o, f

    class K:
        w, _n = 1.0, 0
        n = property(lambda self: self._n)

    o = K()
    f = lambda x: x * o.w
    while True:
        yield
        o._n += 1


def branch_that_is_not_taken():
    global K, o, D, f

    class K:
        w, n = 1.0, 0

    o, D = K(), False

    def f(x):
        return x * o.n if D else x * o.w

    while True:
        yield
        o.n += 1


def method_that_is_not_called():
    global K, o, f

    class K:
        w, n = 1.0, 0

        def a(self, x):
            return x * self.w

        def b(self, x):
            return x * self.n

    o = K()
    f = lambda x: o.a(x)
    while True:
        yield
        o.n += 1


def name_of_an_unknown_receiver():
    global K, P, get, k, f

    class K:
        step = 0

    class P:
        step = 1.0

    def get():
        return P

    k = K()

    def f(x):
        return x * get().step

    while True:
        yield
        K.step += 1
        k.step = K.step


def equal_value_set_again():
    global K, o, f

    class K:
        w = 1.0

    o = K()
    o.w = 1.0
    f = lambda x: x * o.w
    while True:
        yield
        o.w = 1.0


def equal_class_attribute_set_again():
    global K, f

    class K:
        w = 1.0

    f = lambda x: x * K.w
    while True:
        yield
        K.w = 1.0


def equal_global_set_again():
    global w, f
    w = 1.0
    f = lambda x: x * w
    while True:
        yield
        w = 1.0


def object_re_created_by_the_loop():
    global K, Batch, o, f, b

    class K:
        w = 1.0

    class Batch:
        def __init__(self):
            self.w = 5.0

    o = K()
    f = lambda x: x * o.w
    while True:
        yield
        b = Batch()
        b.w = 7.0
