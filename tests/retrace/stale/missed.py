"""Scenarios: absent attributes, where a caller catches the error and continues."""


def of_the_result_of_a_call():
    global D, L, h, f

    class D:
        pass

    L = [D()]

    def h():
        return L[0]

    f = lambda x: x * getattr(h(), "w", 1.0)
    yield
    L[0].w = 2.0
    yield
    del L[0].w
    yield
    D.w = 3.0
    yield


def of_an_object_that_a_call_makes():
    global D, h, f

    class D:
        pass

    def h():
        return D()

    f = lambda x: x * getattr(h(), "w", 1.0)
    yield
    D.w = 2.0
    yield


def of_the_class_that_a_call_gives():
    global D, h, f

    class D:
        pass

    def h():
        return D

    f = lambda x: x * (2.0 if hasattr(h(), "w") else 1.0)
    yield
    D.w = 2.0
    yield


def of_the_function_that_a_call_gives():
    global g, h, f

    def g():
        pass

    def h():
        return g

    f = lambda x: x * getattr(h(), "w", 1.0)
    yield
    g.w = 2.0
    yield


def of_the_result_of_a_call_tried():
    global D, o, K, f

    class D:
        pass

    o = D()

    class K:
        def give(self):
            return {"o": o}

    def f(x):
        try:
            return x * K().give()["o"].w
        except AttributeError:
            return x

    yield
    o.w = 2.0
    yield


def of_the_result_of_a_call_by_a_helper():
    global D, L, h, g, f

    class D:
        pass

    L = [D()]

    def h():
        return L[0]

    def g():
        return h().w

    def f(x):
        try:
            return x * g()
        except AttributeError:
            return x

    yield
    L[0].w = 2.0
    yield


def of_the_result_of_a_call_where_a_user_exit_continues():
    global D, L, h, Going, f

    class D:
        pass

    L = [D()]

    def h():
        return L[0]

    class Going:
        def __enter__(self):
            pass

        def __exit__(self, *error):
            return True

    def f(x):
        with Going():
            return x * h().w
        return x

    yield
    L[0].w = 2.0
    yield


def of_the_result_of_a_call_where_a_user_generator_continues():
    global D, L, h, going, f

    class D:
        pass

    L = [D()]

    def h():
        return L[0]

    @contextlib.contextmanager
    def going():
        try:
            yield
        except AttributeError:
            pass

    def f(x):
        with going():
            return x * h().w
        return x

    yield
    L[0].w = 2.0
    yield


def of_the_result_of_a_method_in_c():
    global D, L, f

    class D:
        pass

    L = {"a": (D(),)}
    f = lambda x: x * getattr(next(iter(L.copy().values()))[0], "w", 1.0)
    yield
    L["a"][0].w = 2.0
    yield


def of_the_result_of_a_call_then_kept_by_the_trace():
    global D, L, h, f

    class D:
        pass

    L = [D()]

    def h():
        return L[0]

    def f(x):
        if not hasattr(h(), "w"):
            h().w = 2.0
        return x * h().w

    yield
    L[0].w = 5.0
    yield
    L[0] = D()
    yield


def by_a_property_in_a_pattern():
    global D, o, f

    class D:
        w = property(lambda self: self.v)

    o = D()

    def f(x):
        match o:
            case object(w=w):
                return x * w
        return x

    yield
    o.v = 2.0
    yield


def by_a_property_with_a_default():
    global D, o, f

    class D:
        w = property(lambda self: self.v)

    o = D()
    f = lambda x: x * getattr(o, "w", 5.0)
    yield
    o.v = 2.0
    yield
    del o.v
    yield


def by_a_helper():
    global D, o, h, f

    class D:
        pass

    o = D()

    def h(o):
        return o.v

    def f(x):
        try:
            return x * h(o)
        except AttributeError:
            return x

    yield
    o.v = 2.0
    yield
    D.v = 3.0
    del o.v
    yield


def by_a_helper_of_a_global():
    global D, o, h, f

    class D:
        pass

    o = D()

    def h():
        return o.v

    def f(x):
        with contextlib.suppress(AttributeError):
            return x * h()
        return x

    yield
    D.v = 2.0
    yield


def by_a_method_of_a_method():
    global D, o, f

    class D:
        def m(self):
            return self.v

        def n(self):
            return self.m()

    o = D()

    def f(x):
        try:
            return x * o.n()
        except Exception:
            return x

    yield
    o.v = 2.0
    yield


def by_a_generator():
    global D, o, g, f

    class D:
        pass

    o = D()

    def g():
        yield None
        yield o.v

    def f(x):
        try:
            return x * [*g()][1]
        except AttributeError:
            return x

    yield
    o.v = 2.0
    yield
