"""Writes: what the code that ran may have bound, and what it cannot have."""

import types

import pytest

from imprint.core.identity import identity
from imprint.record.mentions import mentions_of
from imprint.record.writes import Writes
from imprint.watch.places import (
    CellPlace,
    ClassPlace,
    ItemPlace,
    NamePlace,
    ObjectPlace,
)


class Net:
    depth = 2

    def __init__(self):
        self.rate = [1.0]


def writes_of(text, given=None):
    """Return the writes of a function whose body is given, in one line."""
    scope = {}
    body = "".join(f"  {line}\n" for line in text.split("; "))
    exec(compile(f"def f(x=0, i=0):\n{body}", "/a_project/m.py", "exec"), scope)
    writes = Writes(strict=False)
    if given is None:
        writes.add(mentions_of(scope["f"].__code__))
    else:
        writes.add_library(mentions_of(scope["f"].__code__), given)
    return writes


NET = Net()
NAMESPACE = {"rate": [1.0], "__name__": "m"}
CELL = types.CellType([1.0])
PLACES = {
    "global": NamePlace(NAMESPACE, "rate"),
    "class": ClassPlace(Net, "rate"),
    "object": ObjectPlace(NET, "rate", "net"),
    "closure": CellPlace(CELL, "rate", lambda: 0),
}

# The body of a function, and the places that it may bind.
REBINDS = [
    ("return x.rate", ""),
    ("x.other = 1", ""),
    ("x.rate = 1", "global class object closure"),  # by name: of whom is not asked
    ("del x.rate", "global class object closure"),
    ("global rate; rate = 1", "global class object closure"),
    ("setattr(x, i, 1)", "global class object"),
    ("setattr(x, 'rate', 1)", "global class object closure"),
    ("vars(x)[i] = 1", "global class object"),
    ("exec(i)", "global class object"),
    ("import a", "global"),
    ("x[i] = 1", ""),
    ("x.append(1)", ""),
]


@pytest.mark.parametrize(("text", "kinds"), REBINDS)
def test_which_places_code_may_bind(text, kinds):
    writes = writes_of(text)
    found = [k for k, p in PLACES.items() if writes.may_write(p, rebinds=True)]
    assert found == kinds.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("return x.rate", False),
        ("x[i] = 1", True),
        ("x.append(1)", True),
        ("x.other = 1", False),
        ("setattr(x, i, 1)", True),
        ("import a", False),
    ],
)
def test_whether_code_may_write_into_what_stands_there(text, expected):
    writes = writes_of(text)
    for place in PLACES.values():
        assert writes.may_write(place, rebinds=False) is expected


def test_in_strict_mode_attributes_are_content():
    writes = Writes(strict=True)
    writes.add(mentions_of((lambda x: setattr(x, "a", 1)).__code__))
    assert writes.may_write(PLACES["object"], rebinds=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x['rate'] = 1", True),
        ("del x['rate']", True),
        ("x['rate'] += 1", True),
        ("x['other'] = 1", False),
        ("x[i] = 1", True),
        ("x.update(i)", True),
        ("x.rate = 1", False),
    ],
)
def test_items_of_a_dict_are_written_by_their_keys(text, expected):
    place = ItemPlace({"rate": 1.0}, "rate", "cfg")
    assert writes_of(text).may_write(place, rebinds=True) is expected


def test_a_library_may_write_what_it_is_given():
    for text in ("setattr(x, i, 1)", "x[i] = 1"):
        given = writes_of(text, given=[NET])
        assert given.may_write(PLACES["object"], rebinds=True)
        assert not given.may_write(PLACES["global"], rebinds=True)
        inside = writes_of(text, given=[(NET.rate,)])
        assert inside.may_write(PLACES["object"], rebinds=False)
        assert not inside.may_write(PLACES["global"], rebinds=False)
    assert not writes_of("return x", given=[NET]).may_write(
        PLACES["object"], rebinds=True
    )


def test_a_library_binds_the_names_that_it_binds():
    assert writes_of("x.rate = 1", given=[]).may_write(PLACES["class"], rebinds=True)


def effects(*owners):
    return frozenset((identity(owner), name) for owner, name in owners)


def test_effects_of_captured_variables_are_told_by_their_names():
    found = effects((CELL, None))
    names = {id(CELL): {"n"}}
    assert not writes_of("x.rate = 1").are_own(found, names)
    assert writes_of("x.n = 1").are_own(found, names)
    assert writes_of("return x").are_own(found, {})  # it was not captured before


def test_effects_in_captured_containers():
    items = Net()  # takes a weak reference
    found, names = effects((items, 0)), {id(items): {"items"}}
    assert not writes_of("x.rate = 1").are_own(found, names)
    assert writes_of("x[0] = 1").are_own(found, names)
    assert writes_of("x.append(1)").are_own(found, names)
    assert writes_of("setattr(x, i, 1)").are_own(found, names)
    assert writes_of("x[0] = 1", given=[items]).are_own(found, names)
    assert not writes_of("x[0] = 1", given=[]).are_own(found, names)


def test_without_code_nothing_is_written():
    assert Writes(strict=False).are_own(frozenset(), {})
    assert not any(
        Writes(strict=False).may_write(p, rebinds=True) for p in PLACES.values()
    )
