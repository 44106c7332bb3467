"""Changes of classes are seen: bases, methods, properties."""

import functools

import pytest

from tests.guards.programs import BACK, Programs, check_edits

stale = Programs()
pytestmark = pytest.mark.unaudited  # they count traces


@stale.each
def test_an_edit_is_seen(program):
    check_edits(program())


# ---- class and bases ----


@stale
def class_of_an_object():
    class Slow:
        rate = 2.0

        def run(self, x):
            return x * self.rate

    class Fast(Slow):
        rate = 3.0

    model = Slow()

    def f(x):
        return model.run(x)

    yield f
    model.__class__ = Fast
    yield
    model.__class__ = Slow
    yield BACK


@stale
def class_that_only_isinstance_asks():
    class Slow:
        pass

    class Fast:
        pass

    model = Slow()

    def f(x):
        return x * 3.0 if isinstance(model, Fast) else x

    yield f
    model.__class__ = Fast
    yield
    model.__class__ = Slow
    yield BACK


@stale
def bases_of_a_class():
    class One:
        rate = 2.0

    class Two:
        rate = 3.0

    class Model(One):
        pass

    model = Model()

    def f(x):
        return x * model.rate

    yield f
    Model.__bases__ = (Two,)
    yield
    Model.__bases__ = (One, Two)
    yield BACK
    Two.rate, Model.__bases__ = 5.0, (Two, One)
    yield


@stale
def method_that_super_finds():
    class Base:
        def run(self, x):
            return x * 2.0

    class Other:
        def run(self, x):
            return x * 5.0

    class Model(Base):
        def run(self, x):
            return super().run(x) + 1.0

    model = Model()

    def f(x):
        return model.run(x)

    yield f
    kept, Base.run = Base.run, lambda self, x: x * 3.0
    yield
    Base.run = kept
    yield BACK
    Model.__bases__ = (Other,)
    yield


@stale
def attribute_of_a_metaclass():
    class Meta(type):
        rate = 2.0

        def factor(cls):
            return cls.rate

    class Model(metaclass=Meta):
        pass

    def f(x):
        return x * Model.rate * Model.factor()

    yield f
    Meta.rate = 3.0
    yield
    Model.rate = 5.0
    yield
    del Model.rate
    Meta.rate = 2.0
    yield BACK
    Meta.factor = lambda cls: 7.0
    yield


@stale
def subclass_hook():
    registry = []

    class Base:
        def __init_subclass__(cls, rate=1.0):
            registry.append(rate)

    class One(Base, rate=2.0):
        pass

    def f(x):
        for rate in registry:
            x = x * rate
        return x

    yield f

    class Two(Base, rate=3.0):
        pass

    yield
    registry.pop()
    yield BACK


@stale
def class_made_in_the_trace():
    rate = 2.0

    class Base:
        def __init_subclass__(cls, **kwargs):
            cls.factor = rate

    def f(x):
        class Made(Base):
            pass

        return x * Made.factor

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK


@stale
def object_made_in_the_trace():
    class Layer:
        default = 2.0

        def __init__(self):
            self.rate = self.default

    def f(x):
        return x * Layer().rate

    yield f
    Layer.default = 3.0
    yield
    Layer.default = 2.0
    yield BACK
    Layer.__init__ = lambda self: setattr(self, "rate", 7.0)
    yield


# ---- methods and properties ----


@stale
def method_that_is_replaced():
    class Model:
        def run(self, x):
            return x * 2.0

    model = Model()

    def f(x):
        return model.run(x)

    yield f
    kept, Model.run = Model.run, lambda self, x: x * 3.0
    yield
    model.run = lambda x: x * 5.0
    yield
    del model.run
    Model.run = kept
    yield BACK


@stale
def static_and_class_method():
    class Model:
        rate = 2.0

        @staticmethod
        def shift(x):
            return x + 1.0

        @classmethod
        def scale(cls, x):
            return x * cls.rate

    def f(x):
        return Model.scale(Model.shift(x))

    yield f
    Model.rate = 3.0
    yield
    Model.rate = 2.0
    yield BACK
    Model.shift = staticmethod(lambda x: x - 1.0)
    yield
    Model.scale = classmethod(lambda cls, x: x + cls.rate)
    yield


@stale
def what_a_property_reads():
    class Model:
        def __init__(self):
            self.base = 2.0

        @property
        def rate(self):
            return self.base * more

    model, more = Model(), 1.0

    def f(x):
        return x * model.rate

    yield f
    model.base = 3.0
    yield
    model.base = 2.0
    yield BACK
    more = 5.0
    yield
    more = 1.0
    yield BACK
    Model.rate = property(lambda self: 7.0)
    yield


@stale
def what_a_getattr_method_reads():
    class Settings:
        def __init__(self):
            self.table = {"rate": 2.0}

        def __getattr__(self, name):
            try:
                return self.__dict__["table"][name]
            except KeyError:
                raise AttributeError(name) from None

    settings = Settings()

    def f(x):
        return x * settings.rate

    yield f
    settings.table["rate"] = 3.0
    yield
    settings.table["rate"] = 2.0
    yield BACK
    settings.rate = 5.0
    yield
    del settings.rate
    Settings.__getattr__ = lambda self, name: 7.0
    yield


@stale
def what_a_descriptor_reads():
    class Scaled:
        factor = 2.0

        def __get__(self, owner, kind=None):
            return self.factor * owner.base

    class Model:
        rate = Scaled()

        def __init__(self):
            self.base = 1.0

    model = Model()

    def f(x):
        return x * model.rate

    yield f
    model.base = 3.0
    yield
    model.base = 1.0
    yield BACK
    Scaled.factor = 5.0
    yield


@stale
def cached_property_of_an_object():
    class Model:
        base = 2.0

        @functools.cached_property
        def rate(self):
            return self.base

    model = Model()

    def f(x):
        return x * model.rate

    yield f
    model.base = 3.0
    del model.rate
    yield
    model.rate = 5.0
    yield
    model.rate = 2.0
    yield BACK
