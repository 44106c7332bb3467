"""Scenarios: code continues to read where an earlier or a nested trace has read."""


def method():
    global H, h, j, f
    O.other = 1.0

    class H:
        def first(self):
            return O.rate

        def second(self):
            return O.other

    h = H()
    j = jit(lambda y: y * h.first())
    j(1.0)
    f = lambda x: j(x) + h.second()
    yield
    O.other = 2.0
    yield
    O.rate = 3.0
    yield


def function_in_a_dict():
    global first, by_name, j, f
    O.other = 1.0

    def first():
        return O.rate

    by_name = {"second": lambda: O.other}
    j = jit(lambda y: y * first())
    j(1.0)
    f = lambda x: j(x) + by_name["second"]()
    yield
    O.other = 2.0
    yield
    O.rate = 3.0
    yield


def function_in_a_list():
    global first, each, j, f
    O.other = 1.0

    def first():
        return O.rate

    each = [lambda: O.other]
    j = jit(lambda y: y * first())
    j(1.0)
    f = lambda x: j(x) + [g() for g in each][0]
    yield
    O.other = 2.0
    yield
    O.rate = 3.0
    yield


def other_key_of_a_dict():
    global D, H, h, j, f
    D = {"a": 1.0, "b": 1.0}

    class H:
        def first(self):
            return D["a"]

        def second(self):
            return D["b"]

    h = H()
    j = jit(lambda y: y * h.first())
    j(1.0)
    f = lambda x: j(x) + h.second()
    yield
    D["b"] = 2.0
    yield
    D["a"] = 3.0
    yield


def all_of_a_dict():
    global D, H, h, j, f
    D = {"a": 1.0, "b": 1.0}

    class H:
        def first(self):
            return D["a"]

        def second(self):
            return sum(D.values())

    h = H()
    j = jit(lambda y: y * h.first())
    j(1.0)
    f = lambda x: j(x) + h.second()
    yield
    D["b"] = 2.0
    yield
    D["c"] = 3.0
    yield


def a_base_when_a_class_came_to_hide_it_from_all_but_super():
    global Base, C, f

    class Base:
        rate = 1.0

    class C(Base):
        def m(self):
            return super().rate

    f = lambda x: x * C().m()
    yield
    C.rate = 5.0
    Base.rate = 2.0
    yield
    Base.rate = 3.0
    yield


def a_base_that_a_class_hides_from_all_but_super():
    global Base, Middle, C, o, f

    class Base:
        rate = 1.0

    class Middle(Base):
        pass

    class C(Middle):
        rate = 5.0

        def m(self):
            return super().rate

    o = C()
    f = lambda x: x * o.m() + o.rate
    yield
    Base.rate = 2.0
    yield
    Middle.rate = 3.0
    yield
    C.rate = 4.0
    yield
