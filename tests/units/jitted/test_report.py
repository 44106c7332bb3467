"""What is said of watched places that changed, from changes made by hand."""

from types import SimpleNamespace

import pytest

from imprint.jitted import report
from imprint.watch.classes import MISSING
from imprint.watch.guard import Change


def told(*change, times=1):
    """Return what is said of a change of a version that watched one place."""
    watch = SimpleNamespace(reads=(), changed=lambda: [Change(*change)] * times)
    return report._changes(SimpleNamespace(traced=SimpleNamespace(watch=watch)))


@pytest.mark.parametrize("name", ["self.lr", "settings.rate"])
def test_an_attribute_of_an_object_is_told_by_its_path(name):
    (difference,) = told("object", name, 0.1, 0.2, "train", "rebound")
    assert difference.kind == "object"
    assert str(difference) == f"{name}: 0.1 → 0.2"
    assert difference.remedy == (
        f"A version is kept for each value; pass {name} as an argument if it changes "
        "often."
    )


def test_an_attribute_that_comes_or_goes():
    (gone,) = told("object", "self.lr", 0.1, MISSING, "train", "deleted")
    assert str(gone) == "self.lr: 0.1 → <not defined>"
    (come,) = told("object", "self.lr", MISSING, "a", "train", "defined")
    assert str(come) == "self.lr: <not defined> → 'a'"


def test_what_holds_a_function_is_told_as_such():
    (difference,) = told("object", "self.act", len, told, "train", "rebound")
    assert difference.old == "builtin function len"
    assert difference.remedy.startswith("A version is kept for each function")


def test_what_two_places_tell_alike_is_told_once():
    (difference,) = told("object", "table()['a']", 2.0, 3.0, "m", "rebound", times=2)
    assert str(difference) == "table()['a']: 2.0 → 3.0"
