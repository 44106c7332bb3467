"""Scenarios: state of a class inside a descriptor that returns the class the same value."""


def method_that_becomes_static():
    global M, m, f

    class M:
        def step(*given):
            return len(given)

    m = M()
    f = lambda x: x * m.step(1)
    yield
    M.step = staticmethod(M.step)
    yield
    M.step = M.step
    yield


def static_method_that_becomes_a_plain_one():
    global M, m, f

    class M:
        @staticmethod
        def step(*given):
            return len(given)

    m = M()
    f = lambda x: x * m.step(1)
    yield
    M.step = M.step
    yield
    M.step = staticmethod(M.step)
    yield


def special_method_that_becomes_static():
    global M, m, f

    class M:
        def __call__(*given):
            return len(given)

    m = M()
    f = lambda x: x * m(1)
    yield
    M.__call__ = staticmethod(M.__call__)
    yield
    M.__call__ = M.__call__
    yield


def inherited_method_that_becomes_static():
    global Base, M, m, f

    class Base:
        def step(*given):
            return len(given)

    class M(Base):
        rate = 1.0

    m = M()
    f = lambda x: x * m.step(1)
    yield
    M.step = staticmethod(Base.step)
    yield
    del M.step
    yield
    Base.step = staticmethod(Base.step)
    yield
    del M.rate
    Base.step = Base.step
    yield
    M.step = staticmethod(Base.step)
    yield


def value_that_a_descriptor_shows_the_class_alone():
    global Shown, M, m, f

    class Shown:
        def __init__(self, value):
            self.value = value

        def __get__(self, owner, cls):
            return self.value if owner is None else 2.0

    class M:
        rate = 1.0

    m = M()
    f = lambda x: x * m.rate
    yield
    M.rate = Shown(M.rate)
    yield
    M.rate = M.rate
    yield


def static_arguments_method_that_becomes_static():
    global M, S, f

    class M:
        def step(*given):
            return len(given)

    S = M()
    f = lambda x, s: x * s.step(1)
    yield
    M.step = staticmethod(M.step)
    yield
    M.step = M.step
    yield
