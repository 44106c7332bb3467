"""The guard of each kind of place: it holds, and does not after the change."""

import builtins
import types

import pytest

from imprint.watch.guard import Watch
from imprint.watch.places import ClassPlace, NamePlace, ObjectPlace
from imprint.watch.seen import Read, Seen


class Base:
    @staticmethod
    def rule():
        return 1


def classes():
    """Return a class, one between, and one whose attributes are inherited."""
    top = type("Top", (), {"rule": staticmethod(lambda: 1), "__call__": lambda self: 2})
    between = type("Between", (top,), {})
    return top, between, type("Low", (between,), {})


def watch(*places):
    reads = [Read(place, Seen(place.get())) for place in places]
    made = Watch(reads)
    assert made.guard()
    return made


def test_what_a_class_inherits():
    for name in ("rule", "__call__", "absent"):
        for at in range(3):
            order = classes()
            made = watch(ClassPlace(order[2], name))
            setattr(order[at], name, staticmethod(lambda: 3))
            assert not made.guard(), (name, at)


def test_the_order_of_bases():
    for name in ("rule", "absent"):
        top, between, low = classes()
        other = type("Other", (top,), {name: 5})
        made = watch(ClassPlace(low, name))
        low.__bases__ = (between,)
        assert made.guard()
        low.__bases__ = (other,)
        assert not made.guard()


def test_a_class_without_a_plain_order():
    class Hiding(type):
        @property
        def __mro__(cls):
            raise AssertionError("code of the user's")

    hiding = Hiding("Low", (Base,), {})
    made = watch(ClassPlace(hiding, "rule"), ClassPlace(hiding, "absent"))
    hiding.absent = 1
    assert not made.guard()


def test_a_builtin_of_another_module():
    homes = [types.ModuleType(name) for name in ("home", "other")]
    vars(homes[0]).update(a=1, b=2)
    places = [NamePlace(vars(homes[0]), name) for name in "ab"]
    made = watch(*places, NamePlace(vars(homes[1]), "divmod", is_builtin=True))
    homes[1].divmod = divmod
    assert made.guard()
    homes[1].divmod = max
    assert not made.guard()
    del homes[1].divmod
    assert made.guard()


def test_a_builtin_that_is_replaced(monkeypatch):
    homes = [types.ModuleType(name) for name in ("home", "other")]
    vars(homes[0]).update(a=1, b=2)
    places = [NamePlace(vars(homes[0]), name) for name in "ab"]
    made = watch(*places, NamePlace(vars(homes[1]), "divmod", is_builtin=True))
    monkeypatch.setattr(builtins, "divmod", lambda *_: 0)
    assert not made.guard()


class Holder:
    rate = 0.5

    @property
    def hidden(self):
        raise AssertionError("code of the user's")

    def method(self):
        return 1


RATE = 1.5


class Hooked:
    def __getattribute__(self, name):
        raise AssertionError("code of the user's")


def test_what_an_object_has_not():
    for names in (("rate",), ("method",), ("rate", "method", "other")):
        for name in names:
            x = Holder()
            places = [ObjectPlace(x, each, "x") for each in names]
            made = watch(ClassPlace(Holder, "rate"), *places)
            vars(x)[name] = 0.75
            assert not made.guard(), (names, name)


def test_what_a_property_hides(monkeypatch):
    x = Holder()
    made = watch(ObjectPlace(x, "hidden", "x"))
    vars(x)["hidden"] = 1  # which it may give
    assert not made.guard()
    del vars(x)["hidden"]
    assert made.guard()
    monkeypatch.setattr(Holder, "hidden", property(lambda self: 2))
    assert not made.guard()


def test_an_object_past_its_own_lookup():
    x = Hooked()
    held = object.__getattribute__(x, "__dict__")
    held.update(a=1.5, b=object())
    made = watch(ObjectPlace(x, "a", "x"), ObjectPlace(x, "b", "x"))
    held["b"] = object()
    assert not made.guard()


@pytest.mark.parametrize("change", [{"c": 1}, {}])
def test_the_names_of_an_object(change):
    x = Holder()
    x.a, x.b = 1, 2
    made = watch(ObjectPlace(x, "__dict__", "x"))
    x.a = 3
    assert made.guard()
    vars(x).update(change)
    if not change:
        del x.a
        x.a = 1  # behind the other
    assert not made.guard()


def test_a_child_that_is_gone():
    same = Holder()
    same.rate = RATE
    for last in (None, 5, Holder(), same):
        top, child = Holder(), Holder()
        top.child, child.rate = child, RATE
        made = watch(ObjectPlace(top, "child", "top"), ObjectPlace(child, "rate", "c"))
        top.child = last
        assert not made.guard()
        del child
        assert not made.guard()


def test_a_child_in_a_global_that_is_gone():
    home = types.ModuleType("home")
    home.child = Holder()
    home.child.own = 1.5
    places = NamePlace(vars(home), "child"), ObjectPlace(home.child, "own", "child")
    made = watch(*places)
    home.child = None
    assert not made.guard()


def test_a_list_in_an_attribute():
    top = Holder()
    top.layers = [Holder(), Holder()]
    for i, layer in enumerate(top.layers):
        layer.own = i + 0.5
    made = watch(
        ObjectPlace(top, "layers", "top"),
        *(ObjectPlace(layer, "own", "layer") for layer in top.layers),
    )
    top.layers.reverse()
    assert not made.guard()
    top.layers.reverse()
    assert made.guard()
    top.layers[1] = None
    assert not made.guard()


def test_a_passing_object_that_is_gone():
    x = Holder()
    x.a = 1.5
    names = ("a", "other", "more", "__class__", "__dict__")
    made = watch(*(ObjectPlace(x, name, "x", is_passing=True) for name in names))
    x.a = 2.5
    assert not made.guard()
    x.a = 1.5
    del x
    assert made.guard()
