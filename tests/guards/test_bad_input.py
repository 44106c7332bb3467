"""Hostile objects behind names: traces work and see edits of their neighbours."""

import sys
import types
import warnings

import pytest

import imprint
from tests.guards.programs import X, user_module

pytestmark = pytest.mark.unaudited  # it compares objects that refuse it


def refuse(*_):
    raise RuntimeError("the test's own")


class RaisingProperty:
    rate = property(refuse)
    ok = 1.0


class RaisingEq:
    ok = 1.0
    __eq__ = __ne__ = __bool__ = __len__ = refuse
    __hash__ = refuse


class LyingEq:
    ok = 1.0
    __hash__ = None

    def __eq__(self, other):
        return True


class EqOfNoTruth:
    ok = 1.0
    __hash__ = object.__hash__

    def __eq__(self, other):
        return types.SimpleNamespace(__bool__=refuse)


class Endless:
    """Each attribute is another such object."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return 1.0 if name == "ok" else Endless()


class Recursive:
    """Each missing attribute is looked for under a longer name."""

    ok = 1.0

    def __getattr__(self, name):
        return getattr(self, name + "_")


class RaisingGetattribute:
    def __getattribute__(self, name):
        if name == "ok":
            return 1.0
        raise RuntimeError(name)


class ClassIsAProperty:
    ok = 1.0
    __class__ = property(refuse)


class OtherClass:
    ok = 1.0
    __class__ = property(lambda self: int)


class DictIsAProperty:
    ok = 1.0
    __dict__ = property(refuse)


class Proxy:
    """Forwards everything to another object, its class and items too, like wrapt's."""

    def __init__(self, wrapped):
        object.__setattr__(self, "__wrapped__", wrapped)

    def __getattribute__(self, name):
        if name == "__wrapped__":
            return object.__getattribute__(self, name)
        return getattr(object.__getattribute__(self, "__wrapped__"), name)

    def __setattr__(self, name, value):
        setattr(object.__getattribute__(self, "__wrapped__"), name, value)


class RaisingMeta(type):
    __eq__ = __instancecheck__ = __subclasscheck__ = __len__ = refuse
    __hash__ = type.__hash__

    def __getattr__(cls, name):
        raise AttributeError(name)


class OfRaisingMeta(metaclass=RaisingMeta):
    ok = 1.0


class RaisingDict(dict):
    ok = 1.0
    __iter__ = __len__ = __eq__ = __contains__ = keys = items = values = get = refuse
    __hash__ = None


class RaisingList(list):
    ok = 1.0
    __iter__ = __len__ = __eq__ = __contains__ = __getitem__ = refuse
    __hash__ = None


class RaisingRepr:
    ok = 1.0
    __repr__ = __str__ = __format__ = __reduce_ex__ = __sizeof__ = refuse


class Slots:
    __slots__ = ("empty", "ok")

    def __init__(self):
        self.ok = 1.0


def cycle():
    made = types.SimpleNamespace(ok=1.0)
    made.me, made.items, made.table = made, [made], {"me": made}
    made.items.append(made.items)
    made.table["table"] = made.table
    return made


def many_objects():
    parts = [types.SimpleNamespace(rate=i, ok=1.0) for i in range(100_000)]
    return types.SimpleNamespace(ok=1.0, parts=parts)


def many_nested_objects():
    """A chain of 100,000 objects."""
    first = made = types.SimpleNamespace(ok=1.0)
    for _ in range(100_000):
        made.part = types.SimpleNamespace(ok=1.0)
        made = made.part
    return first


def deep_containers():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    return types.SimpleNamespace(ok=1.0, nested=nested)


def shared_tuples():
    """2 to the 40 leaves, in 40 tuples."""
    pair = (1, 2)
    for _ in range(40):
        pair = (pair, pair)
    return types.SimpleNamespace(ok=1.0, pair=pair)


def module_that_imports():
    module = user_module("guards_lazy", ok=1.0)
    requested = []

    def importing(name):
        requested.append(name)
        if name.startswith("_"):
            raise AttributeError(name)
        module = sys.modules[f"guards_lazy.{name}"] = types.ModuleType(name)
        return module

    module.__getattr__ = importing
    return module


def module_that_raises():
    return user_module("guards_raising", ok=1.0, __getattr__=refuse)


def module_of_another_class():
    class Lazy(types.ModuleType):
        ok = 1.0

        def __getattribute__(self, name):
            if name == "ok":
                return 1.0
            raise ImportError(name)

    return Lazy("guards_lazy")


BAD = {
    "property that raises": RaisingProperty,
    "== that raises": RaisingEq,
    "== that lies": LyingEq,
    "== of no truth": EqOfNoTruth,
    "endless attributes": Endless,
    "recursive attributes": Recursive,
    "attributes that raise": RaisingGetattribute,
    "class that is a property": ClassIsAProperty,
    "class that lies": OtherClass,
    "dict that is a property": DictIsAProperty,
    "proxy": lambda: Proxy(types.SimpleNamespace(ok=1.0)),
    "proxy of a proxy": lambda: Proxy(Proxy(types.SimpleNamespace(ok=1.0))),
    "class of a metaclass that raises": lambda: OfRaisingMeta,
    "instance of such a class": OfRaisingMeta,
    "dict that raises": RaisingDict,
    "list that raises": RaisingList,
    "text that raises": RaisingRepr,
    "empty slot": Slots,
    "cycle": cycle,
    "many objects": many_objects,
    "chain of objects": many_nested_objects,
    "deep containers": deep_containers,
    "shared tuples": shared_tuples,
    "module that imports": module_that_imports,
    "module that raises": module_that_raises,
    "module of another class": module_of_another_class,
}
# How the traced code reaches the object: `bad`, or `holder` which has it.
WAYS = {
    "name": "bad.ok",
    "attribute": "holder.bad.ok",
    "item": "holder.table['bad'].ok",
    "helper": "helper(bad)",
    "getattr": "getattr(bad, 'ok', 2.0)",
    "identity": "(1.0 if holder.bad is bad else 2.0)",
}


def helper(owner):
    return owner.ok


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", BAD)
def test_a_trace_works_and_sees_an_edit_of_a_neighbour(name, way):
    bad = BAD[name]()
    holder = types.SimpleNamespace(bad=bad, table={"bad": bad}, rate=2.0)
    names = {"bad": bad, "holder": holder, "helper": helper}
    fun = imprint.jit(eval(f"lambda x: x * {WAYS[way]} * holder.rate", names))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [float(fun(X)) for _ in range(3)] == [4.0, 4.0, 4.0]
        holder.rate = 3.0
        assert [float(fun(X)) for _ in range(2)] == [6.0, 6.0]
        holder.rate = 2.0
        assert float(fun(X)) == 4.0
    assert len(caught) <= 1, [str(warning.message) for warning in caught]


@pytest.mark.exhaustive
def test_a_helper_that_reads_along_a_chain_of_objects():
    first = many_nested_objects()

    def third(owner):
        return owner.part.part.ok

    fun = imprint.jit(lambda x: x * third(first))
    with pytest.warns(imprint.errors.CaptureWarning, match="at most 20,000 values"):
        assert [float(fun(X)) for _ in range(3)] == [2.0, 2.0, 2.0]
    first.part.part.ok = 3.0
    with pytest.warns(imprint.errors.CaptureWarning, match="at most 20,000 values"):
        assert float(fun(X)) == 6.0


def test_a_method_of_one_among_many_objects():
    class Part:
        def __init__(self, rate):
            self.rate = rate

        def scaled(self, x):
            return x * self.rate

    parts = [Part(float(i)) for i in range(10_000)]
    fun = imprint.jit(lambda x: parts[3].scaled(x))
    assert [float(fun(X)) for _ in range(3)] == [6.0, 6.0, 6.0]
    parts[3].rate = 5.0
    assert float(fun(X)) == 10.0


def test_reads_of_a_property_that_raises_are_tracked():
    class Model:
        ready = False

        @property
        def rate(self):
            if not self.ready:
                raise AttributeError("rate")
            return 3.0

    model = Model()
    fun = imprint.jit(lambda x: x * getattr(model, "rate", 2.0))
    assert fun(X) == 4.0
    model.ready = True
    assert fun(X) == 6.0
    del model.ready
    assert fun(X) == 4.0


def test_attributes_of_an_object_with_a_lying_equality_are_tracked():
    class Settings(LyingEq):
        def __init__(self, rate):
            self.rate = rate

    settings = Settings(2.0)
    fun = imprint.jit(lambda x: x * settings.rate)
    assert fun(X) == 4.0
    settings = Settings(3.0)
    assert fun(X) == 6.0
    settings.rate = 5.0
    assert fun(X) == 10.0


def test_a_user_error_leaves_the_trace_unchanged():
    broken = RaisingProperty()
    fun = imprint.jit(lambda x: x * broken.rate)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the test's own"):
            fun(X)
    RaisingProperty.rate = property(lambda self: 2.0)
    try:
        assert fun(X) == 4.0
    finally:
        RaisingProperty.rate = property(refuse)
