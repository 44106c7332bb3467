"""Attributes of objects: what is watched of them, and how."""

import gc
import weakref

import pytest

from imprint.watch.classes import MISSING
from imprint.watch.guard import Watch
from imprint.watch.places import GONE, ObjectPlace
from imprint.watch.seen import Read, Seen
from tests.units.modules import find, names, run


class Plain:
    shared = 0

    def __init__(self):
        self.rate = 1.0


class Slotted:
    __slots__ = ("__weakref__", "rate")

    def __init__(self):
        self.rate = 1.0


class Hooked:
    """Counts what it is asked: nothing."""

    def __init__(self):
        object.__setattr__(self, "rate", 1.0)

    def __getattribute__(self, name):
        raise AssertionError(name)

    def __getattr__(self, name):
        raise AssertionError(name)

    def __eq__(self, other):
        raise AssertionError("compared")

    def __hash__(self):
        raise AssertionError("hashed")


KINDS = [Plain, Slotted, Hooked]
put = object.__setattr__
drop = object.__delattr__


def watch_of(place):
    """Return a watch over one place."""
    return Watch((Read(place, Seen(place.get())),))


# ---- a place ----


@pytest.mark.parametrize("kind", KINDS)
def test_a_place_reads_past_every_hook(kind):
    owner = kind()
    place = ObjectPlace(owner, "rate", "owner")
    assert place.get() == 1.0
    put(owner, "rate", 2.0)
    assert place.get() == 2.0
    drop(owner, "rate")
    assert place.get() is MISSING


def test_a_place_says_what_leads_to_it():
    place = ObjectPlace(Plain(), "rate", "self.net")
    assert str(place) == "self.net.rate"
    assert place.kind == "object"


def test_the_class_and_the_names_of_an_object():
    owner = Plain()
    assert ObjectPlace(owner, "__class__", "o").get() is Plain
    names_of = ObjectPlace(owner, "__dict__", "o")
    assert names_of.get() == ("rate",)
    owner.other = 1
    assert names_of.get() == ("rate", "other")


def test_what_a_class_has_with_a_setter_goes_before():
    class Model:
        @property
        def rate(self):
            raise AssertionError("asked")

    owner = Model()
    vars(owner)["rate"] = 1
    place = ObjectPlace(owner, "rate", "o")
    found = place.get()  # the descriptor may read what it hides
    assert found == (vars(Model)["rate"], 1)
    assert place.get() is found
    del vars(owner)["rate"]
    assert place.get() is vars(Model)["rate"]
    assert ObjectPlace(Plain(), "shared", "o").get() is MISSING  # the class has it


def test_a_place_does_not_keep_its_object():
    owner = Plain()
    place = ObjectPlace(owner, "rate", "o")
    gone = weakref.ref(owner)
    del owner
    assert gone() is None
    assert place.get() is GONE


def test_places_are_told_apart_by_object_and_name():
    one, other = Plain(), Plain()
    key = ObjectPlace(one, "rate", "a").key
    assert key == ObjectPlace(one, "rate", "b").key
    assert key != ObjectPlace(one, "shared", "a").key
    assert key != ObjectPlace(other, "rate", "a").key


# ---- the guard ----


@pytest.mark.parametrize("kind", KINDS)
def test_an_attribute_is_watched(kind):
    owner = kind()
    watch = watch_of(ObjectPlace(owner, "rate", "o"))
    assert watch.guard()
    put(owner, "rate", 2.0)
    assert not watch.guard()
    (change,) = watch.changed()
    assert (str(change), change.old, change.new) == (
        f"o.rate rebound in {__name__}",
        1.0,
        2.0,
    )
    put(owner, "rate", float("1.0"))  # an equal value is as good
    assert watch.guard()
    drop(owner, "rate")
    assert not watch.guard()


@pytest.mark.parametrize("kind", KINDS)
def test_an_attribute_that_is_not_there(kind):
    owner = kind()
    drop(owner, "rate")
    watch = watch_of(ObjectPlace(owner, "rate", "o"))
    assert watch.guard()
    put(owner, "rate", 1.0)
    assert not watch.guard()


def test_a_name_that_is_no_identifier():
    owner = Plain()
    vars(owner)["a rate"] = 1
    watch = watch_of(ObjectPlace(owner, "a rate", "o"))
    assert watch.guard()
    vars(owner)["a rate"] = 2
    assert not watch.guard()


def test_the_class_of_an_object():
    class Other(Plain):
        pass

    owner = Plain()
    watch = watch_of(ObjectPlace(owner, "__class__", "o"))
    assert watch.guard()
    owner.__class__ = Other
    assert not watch.guard()
    owner.__class__ = Plain
    assert watch.guard()


def test_what_is_in_a_container_that_an_object_has():
    owner = Plain()
    owner.rate = [1.0, [2.0]]
    watch = watch_of(ObjectPlace(owner, "rate", "o"))
    assert watch.guard()
    owner.rate[1].append(3.0)
    assert not watch.guard()
    assert watch.changed()[0].action == "written into"
    owner.rate[1].pop()
    assert watch.guard()


@pytest.mark.parametrize("is_passing", [False, True])
def test_an_object_that_is_gone_holds_if_it_only_passed(is_passing):
    owner = Plain()
    watch = watch_of(ObjectPlace(owner, "rate", "o", is_passing=is_passing))
    assert watch.guard()
    owner.rate = 2.0
    assert not watch.guard()
    owner.rate = 1.0
    del owner
    gc.collect()
    assert watch.guard() is is_passing
    assert (watch.changed() == []) is is_passing


def test_two_attributes_of_one_object_look_it_up_once():
    owner = Plain()
    owner.other = 1
    places = [ObjectPlace(owner, name, "o") for name in ("rate", "other")]
    watch = Watch(tuple(Read(place, Seen(place.get())) for place in places))
    assert watch.guard()
    assert watch.guard()
    defaults = watch.guard.__defaults__
    assert sum(x is places[0].owner for x in defaults) == 1
    owner.other = 2
    assert not watch.guard()


# ---- what a trace that read them watches ----

TEXT = """
class Net:
    def __init__(self, rate): self.rate = rate; self.calls = 0
class Model:
    def __init__(self): self.net = Net(1.0); self.nets = [Net(2.0)]; self.t = 0
model = Model()
def chained(x): return x * model.net.rate
def by_helper(x): return x * rate_of(model.net)
def rate_of(net): return net.rate
def in_a_loop(x):
    for net in model.nets: x = x * net.rate
    return x
def nested(x):
    def loss(p): return p * model.net.rate
    return loss(x)
def by_branch(x):
    net = model.net if x else model.nets[0]
    return x * net.rate
def counts(x):
    model.t += 1
    return x * model.net.rate
def stores(x):
    model.last = x
    return x
"""

READERS = ["chained", "by_helper", "in_a_loop", "nested", "by_branch", "counts"]


@pytest.mark.parametrize("reader", READERS)
def test_attributes_that_a_trace_read(user, reader):
    module = user("module", TEXT)
    watch = run(getattr(module, reader), 2.0)
    model = module.model
    net = model.nets[0] if reader == "in_a_loop" else model.net
    assert watch.guard()
    net.calls += 1
    model.t += 1
    assert watch.guard()
    old, net.rate = net.rate, 5.0
    assert not watch.guard()
    net.rate = old
    assert watch.guard()
    model.net, model.nets = module.Net(1.0), [module.Net(2.0)]
    assert not watch.guard()


def test_what_an_object_shows_of_its_class_is_as_good_as_its_own(user):
    """As the guard has it; a trace around one that holds has not been disturbed."""
    module = user("module", TEXT)
    watch, reader = run(module.chained, 2.0), module.model.net
    module.Net.rate = reader.rate
    del reader.rate
    assert watch.guard()
    assert watch.failing() == []
    module.Net.rate = 7.0
    assert [str(read.place) for read in watch.failing()] == ["model.net.rate"]


def test_what_the_trace_wrote_is_an_effect(user):
    module = user("module", TEXT)
    found = find(module.counts, 2.0)
    assert found.disturbed == ()
    assert "model.t" not in names(Watch(found.reads))
    first, second = run(module.stores, 2.0), run(module.stores, 3.0)
    assert first.guard()
    assert second.guard()


def test_an_object_that_the_trace_made_is_gone_with_it(user):
    module = user(
        "module",
        "import copy\n"
        + TEXT
        + "def copied(x): return values(copy.copy(model.net)) * x\n"
        "def values(net): return list(vars(net).values())[0]\n",
    )
    watch = run(module.copied, 2.0)
    gc.collect()
    assert watch.guard()
    module.model.net.rate = 3.0
    assert not watch.guard()


def test_an_object_that_the_trace_replaced_is_gone_for_good(user):
    module = user(
        "module",
        TEXT
        + """
def replaces(x):
    model.net = Net(model.net.rate)
    return x * model.net.rate
""",
    )
    first, second = run(module.replaces, 2.0), run(module.replaces, 3.0)
    gc.collect()
    assert first.guard()
    assert second.guard()


def test_an_argument_that_lives_on_is_watched_while_it_lives(user):
    module = user("module", TEXT)
    net = module.Net(1.0)
    watch = run(lambda: module.rate_of(net))
    assert watch.guard()
    net.rate = 2.0
    assert not watch.guard()
