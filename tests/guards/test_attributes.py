"""Attributes that change are seen: of objects, classes and bases, set, missing or hidden."""

import contextlib
import types

import ml_collections
import pytest

from tests.guards.programs import BACK, Programs, check_edits, library_module

stale = Programs()
pytestmark = pytest.mark.unaudited  # they count traces


@stale.each
def test_an_edit_is_seen(program):
    check_edits(program())


# ---- of objects ----


@stale
def contents_of_a_cell_that_is_a_value():
    cell = types.CellType(2.0)

    def rate(held):
        return held.cell_contents

    def f(x):
        return x * rate(cell)

    yield f
    cell.cell_contents = 3.0
    yield
    cell.cell_contents = 2.0
    yield BACK


@stale
def attribute_that_hides_the_one_of_the_class():
    class Settings:
        rate = 2.0

    settings = Settings()

    def f(x):
        return x * settings.rate

    yield f
    Settings.rate = 3.0
    yield
    settings.rate = 5.0
    yield
    del settings.rate
    Settings.rate = 2.0
    yield BACK


@stale
def inherited_attribute():
    class Base:
        rate = 2.0

    class Middle(Base):
        pass

    class Settings(Middle):
        pass

    settings = Settings()

    def f(x):
        return x * settings.rate

    yield f
    Base.rate = 3.0
    yield
    Middle.rate = 5.0
    yield
    Settings.rate = 7.0
    yield
    del Settings.rate, Middle.rate
    Base.rate = 2.0
    yield BACK


@stale
def missing_attribute():
    class Settings:
        pass

    settings = Settings()

    def f(x):
        try:
            return x * settings.rate
        except AttributeError:
            return x

    yield f
    settings.rate = 3.0
    yield
    del settings.rate
    yield BACK
    Settings.rate = 5.0
    yield


@stale
def each_attribute_of_a_chain():
    def nested(rate):
        return types.SimpleNamespace(b=types.SimpleNamespace(c=rate))

    a = nested(2.0)

    def f(x):
        return x * a.b.c

    yield f
    a.b.c = 3.0
    yield
    a.b = types.SimpleNamespace(c=5.0)
    yield
    a = nested(7.0)
    yield
    a = nested(2.0)
    yield BACK


@stale
def attribute_of_the_second_instance():
    class Layer:
        def __init__(self, rate):
            self.rate = rate

        def run(self, x):
            return x * self.rate

    first, second = Layer(2.0), Layer(3.0)

    def f(x):
        for layer in (first, second):
            x = layer.run(x)
        return x

    yield f
    second.rate = 5.0
    yield
    second.rate = 3.0
    yield BACK
    first.rate = 7.0
    yield


@stale
def weight_that_is_loaded_later():
    class Model:
        weight = None

        def run(self, x):
            return x if self.weight is None else x * self.weight

    model = Model()

    def f(x):
        return model.run(x)

    yield f
    model.weight = 3.0
    yield
    model.weight = 5.0
    yield
    model.weight = None
    yield BACK


@stale
def weight_that_the_trace_loads():
    class Model:
        weight = None

        def run(self, x):
            if self.weight is None:
                self.weight = 2.0
            return x * self.weight

    model = Model()

    def f(x):
        return model.run(x)

    yield f
    model.weight = 5.0
    yield
    model.weight = 2.0
    yield BACK


@stale
def attribute_swapped_in_try_finally():
    class Settings:
        rate = 2.0

    settings = Settings()

    def scaled(x):
        return x * settings.rate

    def f(x):
        old, settings.rate = settings.rate, 5.0
        try:
            y = scaled(x)
        finally:
            settings.rate = old
        return y + scaled(x)

    yield f
    settings.rate = 3.0
    yield
    settings.rate = 2.0
    yield BACK


@stale
def attribute_swapped_in_a_with_block():
    class Settings:
        def __init__(self):
            self.rate = 2.0

        @contextlib.contextmanager
        def using(self, rate):
            old, self.rate = self.rate, rate
            try:
                yield
            finally:
                self.rate = old

    settings = Settings()

    def f(x):
        with settings.using(5.0):
            y = x * settings.rate
        return y + settings.rate

    yield f
    settings.rate = 3.0
    yield
    settings.rate = 2.0
    yield BACK


@stale
def attribute_of_a_context_manager():
    class Scope:
        rate = 2.0

        def __enter__(self):
            return self.rate

        def __exit__(self, *_):
            pass

    scope = Scope()

    def f(x):
        with scope as rate:
            return x * rate

    yield f
    scope.rate = 3.0
    yield
    del scope.rate
    yield BACK
    Scope.__enter__ = lambda self: self.rate + 5.0
    yield


@stale
def attribute_whose_neighbour_the_trace_counts():
    class Settings:
        def __init__(self):
            self.rate, self.calls = 2.0, 0

    settings = Settings()

    def f(x):
        settings.calls += 1
        return x * settings.rate

    yield f
    settings.rate = 3.0
    yield
    settings.rate = 2.0
    yield BACK


# ---- by constant texts ----


@stale
def getattr_of_a_constant():
    class Settings:
        rate = 2.0

    settings = Settings()

    def f(x):
        return x * getattr(settings, "rate")  # noqa: B009 - the program is about it

    yield f
    settings.rate = 3.0
    yield
    del settings.rate
    yield BACK


@stale
def getattr_with_a_default():
    class Settings:
        pass

    settings = Settings()

    def f(x):
        return x * getattr(settings, "rate", 2.0)

    yield f
    settings.rate = 3.0
    yield
    del settings.rate
    yield BACK
    Settings.rate = 5.0
    yield


@stale
def hasattr_of_a_constant():
    class Settings:
        pass

    settings = Settings()

    def f(x):
        return x * 3.0 if hasattr(settings, "rate") else x

    yield f
    settings.rate = None
    yield
    del settings.rate
    yield BACK
    Settings.rate = None
    yield


@stale
def getattr_in_a_helper_with_a_constant():
    class Settings:
        pass

    settings = Settings()

    def rate_of(owner):
        return getattr(owner, "rate", 2.0)

    def f(x):
        return x * rate_of(settings)

    yield f
    settings.rate = 3.0
    yield
    del settings.rate
    yield BACK


# ---- attributes of library objects ----


@stale
def attribute_of_a_namespace():
    settings = types.SimpleNamespace(rate=2.0, other=1)

    def f(x):
        return x * settings.rate

    yield f
    settings.rate = 3.0
    yield
    settings.rate = 2.0
    yield BACK


@stale
def flags_of_a_library():
    library = library_module(
        "guards_flags",
        """
        class Flags:
            def __init__(self, **values):
                self.__dict__["_values"] = values
            def __getattr__(self, name):
                try:
                    return self._values[name]
                except KeyError:
                    raise AttributeError(name) from None
            def __setattr__(self, name, value):
                self._values[name] = value
        """,
    )
    flags = library.Flags(rate=2.0, steps=1)

    def f(x):
        return x * flags.rate

    yield f
    flags.rate = 3.0
    yield
    flags.rate = 2.0
    yield BACK


@stale
def config_of_ml_collections():
    config = ml_collections.ConfigDict({"rate": 2.0, "more": {"shift": 0.0}})

    def f(x):
        return x * config.rate + config.more.shift

    yield f
    config.rate = 3.0
    yield
    config.rate = 2.0
    yield BACK
    config.more.shift = 1.0
    yield


@stale
def attribute_inherited_from_a_library_class():
    library = library_module("guards_layer", "class Layer:\n    rate = 2.0\n")

    class Mine(library.Layer):
        def run(self, x):
            return x * self.rate

    mine = Mine()

    def f(x):
        return mine.run(x)

    yield f
    mine.rate = 3.0
    yield
    del mine.rate
    yield BACK
    Mine.rate = 5.0
    yield


@stale
def name_in_a_library_module():
    library = library_module("guards_names", "rate = 2.0\nshift = lambda x: x + 1.0\n")

    def f(x):
        return library.shift(x) * library.rate

    yield f
    library.rate = 3.0
    yield
    library.rate = 2.0
    yield BACK
    library.shift = lambda x: x - 1.0
    yield
