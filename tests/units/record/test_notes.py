"""Notes: owners and names in either order, and what each kind of owner gives."""

import dataclasses
import functools
import types
import weakref

import numpy as np
import pytest

from imprint.record.absence import note_absent, note_missed
from imprint.record.notes import Notes
from imprint.record.settle import hiding
from imprint.watch.classes import MISSING
from imprint.watch.places import ORDER, NamePlace, SpecialsPlace
from imprint.watch.written import written_by


class Net:
    depth = 2

    def __init__(self, rate=1.0):
        self.rate = rate
        self.other = 0

    def call(self):
        return self.rate


class ByValue(Net):
    def __eq__(self, other):
        return self.rate == other.rate

    def __hash__(self):
        return hash(self.rate)


@dataclasses.dataclass(frozen=True)
class Frozen:
    net: object
    rate: float = 1.0


def helper(x):
    return x


def notes_of(*, strict=False, captured=None, on_value=None, on_place=None):
    def ignore(_):
        pass

    return Notes(
        *(on_value or ignore, on_place or ignore, captured or {}),
        *(None, written_by(ignore)),
        strict=strict,
    )


def reads(notes):
    """Return what was noted, but for special methods and bases that classes have."""
    found = [x for x in notes.reads.values() if x.place.name != ORDER]
    return [read for read in found if not isinstance(read.place, SpecialsPlace)]


def places(notes):
    return {str(read.place) for read in reads(notes)}


def both_orders(value, names):
    """Return what is noted of a value, whichever comes first: it must be the same."""
    first, second = notes_of(), notes_of()
    first.meet(value, "v")
    first.mention(names)
    second.mention(names)
    second.meet(value, "v")
    assert places(first) == places(second)
    return places(first)


# ---- owners and names ----


def test_an_object():
    assert both_orders(Net(), ["rate"]) == {"v.rate"}
    assert both_orders(Net(), ["depth"]) == {"class attribute Net.depth"}
    assert both_orders(Net(), ["call"]) == {"class attribute Net.call"}
    assert both_orders(Net(), ["nothing"]) == set()


def test_special_methods_which_no_code_mentions():
    class Base:
        def __len__(self):
            return 1

    class Sized(Base):
        __add__ = functools.partialmethod(helper)
        __hash__ = None

    notes = notes_of()
    notes.meet(Sized(), "v")
    own = "test_special_methods_which_no_code_mentions.<locals>."
    assert {
        str(read.place).replace(own, ""): read.now() for read in notes.reads.values()
    } == {
        "special methods of Sized": ("__add__", "__hash__"),
        "special methods of Base": ("__len__",),
        "class attribute Sized.__add__": vars(Sized)["__add__"],
        "class attribute Sized.__hash__": None,
        "class attribute Sized.__mro__": (Sized, Base, object),
    }


def test_a_class():
    expected = {"class attribute Net.depth", "class attribute Net.call"}
    assert both_orders(Net, ["depth", "call", "rate"]) == expected
    assert both_orders(Net, ["__name__"]) == {"class attribute Net.__name__"}


def test_a_function(user):
    module = user("module", "def f(): pass\nf.rate = 1\n")
    assert both_orders(module.f, ["rate"]) == {"attribute rate of f"}
    assert both_orders(module.f, ["__name__"]) == {"attribute __name__ of f"}
    assert both_orders(module.f, ["__defaults__"]) == {"defaults of f"}


def test_a_module(user):
    module = user("module", "RATE = 1\nother = 2\n")
    assert both_orders(module, ["RATE"]) == {"global RATE"}
    assert both_orders(np, ["pi", "float32"]) == set()
    assert both_orders(types.SimpleNamespace(rate=1), ["rate"]) == {"v.rate"}


def test_a_container_leads_to_what_is_in_it():
    for made in ([Net()], (Net(),), {"a": Net()}, {"a": [(Net(),)]}):
        found = both_orders(made, ["rate"])
        assert len(found) == 1
        assert found.pop().endswith("].rate")


def test_an_attribute_leads_to_the_next_object():
    outer = Net(Net())
    assert both_orders(outer, ["rate"]) == {"v.rate", "v.rate.rate"}
    assert both_orders(outer, ["other"]) == {
        "v.other"
    }  # nothing leads to the inner one


def test_methods_partials_and_references_lead_on():
    net = Net()
    assert "v.__self__.rate" in both_orders(net.call, ["rate"])
    assert "v.args[0].rate" in both_orders(functools.partial(helper, net), ["rate"])
    assert both_orders(weakref.ref(net), ["rate"]) == {"v.rate"}


def test_what_is_frozen_is_no_place_but_leads_on():
    noted = both_orders(Frozen(Net()), ["net", "other"])
    hiding = "class attribute Frozen.net"  # a property that the class may come to have
    unheard = {f"class attribute Frozen.{name}" for name in ("__repr__", "__replace__")}
    assert noted - unheard == {"v.net.other", hiding}
    assert "class attribute Frozen.__repr__" in noted  # the library's that wrote it


def test_a_text_that_is_met_mentions_its_names():
    notes = notes_of()
    notes.meet(Net(), "v")
    notes.meet("net.rate", "text")
    assert places(notes) == {"v.rate"}


def test_a_place_is_noted_once_with_what_stood_there_first():
    notes, net = notes_of(), Net()
    notes.meet(net, "v")
    notes.mention(["rate"])
    net.rate = 5.0
    notes.mention(["rate"])
    notes.meet(net, "again")
    (read,) = reads(notes)
    assert read.seen.held.is_(1.0)
    assert str(read.place) == "v.rate"


def test_names_of_a_library_count_for_the_users_objects():
    notes = notes_of()
    notes.meet(Net(), "v")
    notes.mention(["rate"], by_library=True)
    assert places(notes) == {"v.rate"}


# ---- globals ----


def test_globals_and_builtins(user):
    module = user("module", "RATE = 1\n")
    notes = notes_of()
    assert notes.name(vars(module), "RATE") == 1
    assert notes.name(vars(module), "len") is MISSING
    assert notes.name(vars(module), "NOTHING") is MISSING
    assert places(notes) == {"global RATE", "builtin len", "global NOTHING"}


def test_a_module_that_code_reads_itself(user):
    module = user("module", "RATE = 1\nother = 2\n")
    notes = notes_of()
    notes.mention(["RATE"])
    notes.meet_namespace(vars(module))
    assert places(notes) == {"global RATE"}
    notes.mention(["other"])
    assert places(notes) == {"global RATE", "global other"}


# ---- what a token covers ----


def test_a_static_value_is_left_to_its_token():
    notes, value = notes_of(), ByValue(Net())
    notes.mention(["rate"])
    notes.meet_argument(value, "v")
    # The object in it is itself, and its class may come to hide what it holds.
    assert places(notes) == {"v.rate.rate", "class attribute ByValue.rate"}


def test_a_static_object_is_not():
    notes = notes_of()
    notes.mention(["rate"])
    notes.meet_argument(Net(), "v")
    assert places(notes) == {"v.rate"}


def test_a_static_value_that_a_name_leads_to_is_watched(user):
    module, value = user("module", ""), ByValue()
    module.VALUE = value
    notes = notes_of()
    notes.mention(["rate"])
    notes.meet_argument(value, "v")
    hides = "class attribute ByValue.rate"
    assert places(notes) == {hides}
    notes.name(vars(module), "VALUE")
    assert places(notes) == {hides, "global VALUE", "v.rate"}


def test_functions_that_a_token_reads_are_left_to_it(user):
    module = user("module", "def f(): pass\nf.rate = 1\n")
    notes = notes_of(captured={id(module.f): module.f})
    notes.meet(module.f, "f")
    notes.mention(["rate", "__code__", "__defaults__", "__closure__"])
    assert places(notes) == set()
    notes.mention(["__name__"])  # no token tells of it
    assert places(notes) == {"attribute __name__ of f"}


# ---- all that an object has ----


def test_whole():
    notes, net = notes_of(), Net(Net())
    notes.meet(net, "v")
    notes.whole(net)
    of_objects = [r.place for r in reads(notes) if r.place.kind == "object"]
    found = [place.name for place in of_objects]
    assert sorted(found) == 2 * ["__dict__"] + 2 * ["other"] + 2 * ["rate"]
    assert not any(place.is_passing for place in of_objects)
    others = {str(r.place) for r in reads(notes) if r.place.kind == "class"}
    assert others == {"class attribute Net.depth", "class attribute Net.call"}
    assert "names of Net" in [str(read.place) for read in notes.reads.values()]


def test_what_nothing_leads_to_counts_whole_while_it_lives():
    notes = notes_of()
    net = Net()
    notes.whole([net])
    assert all(r.place.is_passing for r in reads(notes) if r.place.kind == "object")
    other = Net()
    notes.meet(other, "v")
    notes.mention(["rate"])
    (last,) = [r for r in notes.reads.values() if str(r.place) == "v.rate"]
    assert not last.place.is_passing


def test_nothing_of_a_library_counts_whole():
    notes = notes_of()
    for value in (np, np.ones(3), [1, "a"], len, int):
        notes.whole(value)
    assert not reads(notes)
    notes.whole(Frozen(1))  # its class is the user's
    assert {r.place.kind for r in reads(notes)} == {"class"}


def test_a_passing_object_counts_while_it_lives():
    notes = notes_of()
    notes.mention(["rate"])
    net = Net()
    notes.meet_passing(net, "x")
    (read,) = reads(notes)
    assert (str(read.place), read.place.is_passing) == ("x.rate", True)
    assert notes.knows(net)


# ---- what is not there ----


def test_absent():
    notes = notes_of()
    note_absent(notes, Net(Net()), ["rate", "late"])
    late = [r for r in notes.reads.values() if r.place.name == "late"]
    assert {r.place.kind for r in late} == {"class", "object"}
    assert len(late) == 3  # the class, and both objects
    assert all(r.seen.held.get() is MISSING for r in late)


def test_absent_from_a_module_a_class_a_function(user):
    module = user("module", "def f(): pass\nclass K: pass\n")
    for owner, found in (
        (module, {"global late", "global __getattr__"}),
        (module.K, {"class attribute K.late"}),
        (module.f, {"attribute late of f"}),
        (np, set()),
    ):
        notes = notes_of()
        note_absent(notes, owner, ["late"])
        assert places(notes) == found


def test_names_that_a_getattr_answers(user):
    module = user(
        "module",
        "class K:\n  def __getattr__(self, name): return 1\n"
        "def __getattr__(name): return 2\n",
    )
    notes, owner = notes_of(), module.K()
    notes.meet(module, "m")
    note_missed(notes, module.K.__getattr__.__code__, owner, "late")
    assert places(notes) == {"class attribute K.late", "K.late"}
    note_missed(notes, vars(module)["__getattr__"].__code__, "late", "late")
    assert {"global late", "global __getattr__"} <= places(notes)


def test_shadows():
    notes, net = notes_of(), Net()
    notes.meet(net, "v")
    notes.mention(["depth", "rate"])
    found = {str(read.place) for read in hiding(notes)}
    assert found == {"v.__class__", "v.depth"}  # one may come to hide the class's


def test_without_a_name_of_the_class_there_are_no_shadows():
    notes = notes_of()
    notes.meet(Net(), "v")
    notes.mention(["rate"])
    assert not list(hiding(notes))


# ---- who is told ----


def test_who_is_told_of_values_and_of_places(user):
    module = user("module", "def f(): pass\n")
    met, stands = [], []
    notes = notes_of(on_value=met.append, on_place=stands.append)
    notes.place(NamePlace(vars(module), "f"))
    assert stands == [module.f]
    assert any(value is module.f for value in met)
    notes.meet(module.f, "again")
    assert sum(value is module.f for value in met) == 1


def test_values_that_lead_in_a_ring():
    net = Net()
    net.rate = [net, {"a": net}]
    assert both_orders(net, ["rate"]) == {"v.rate"}


@pytest.mark.parametrize("depth", [50_000])
def test_values_that_lead_far(depth):
    value = None
    for _ in range(depth):
        value = [value]
    notes = notes_of()
    notes.meet(value, "v")
    notes.mention(["rate"])
    while value:  # else its end is one deep recursion
        value = value.pop()
