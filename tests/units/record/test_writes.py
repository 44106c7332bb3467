"""Writes: what the code that ran may have bound, and what it cannot have."""

import functools
import types

import numpy as np
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
    writes = Writes()
    if given is None:
        writes.add(mentions_of(scope["f"].__code__))
    else:
        mentions = mentions_of(scope["f"].__code__)
        writes.add_library(mentions)
        if mentions.changes_given:
            writes.add_given(given)
    return writes


NET = Net()
NAMESPACE = {"rate": [1.0], "__name__": "m", "__file__": "/a_project/m.py"}
CELL = types.CellType([1.0])
PLACES = {
    "global": NamePlace(NAMESPACE, "rate"),
    "class": ClassPlace(Net, "rate"),
    "object": ObjectPlace(NET, "rate", "net"),
    "closure": CellPlace(CELL, "rate", lambda: 0),
}

# The body of a function, and the places that it may bind.
BINDS = [
    ("return x.rate", ""),
    ("x.other = 1", ""),
    ("x.rate = 1", "global class object closure"),  # by name: of whom is not asked
    ("del x.rate", "global class object closure"),
    ("global rate; rate = 1", "global class object closure"),
    ("setattr(x, i, 1)", "class object"),
    ("setattr(x, 'rate', 1)", "global class object closure"),
    ("vars(x)[i] = 1", "global class object"),
    ("exec(i)", "global class object"),
    ("import a", ""),
    ("x[i] = 1", ""),
    ("x.append(1)", ""),
]


@pytest.mark.parametrize(("text", "kinds"), BINDS)
def test_which_places_code_may_bind(text, kinds):
    writes = writes_of(text)
    found = [k for k, p in PLACES.items() if writes.may_bind(p, was_missing=False)]
    assert found == kinds.split()


def test_an_import_binds_what_is_not_there_yet():
    place = PLACES["global"]
    assert writes_of("import a").may_bind(place, was_missing=True)
    assert not writes_of("import a").may_bind(place, was_missing=False)
    assert not writes_of("return x").may_bind(place, was_missing=True)


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
    writes = writes_of(text)
    assert writes.may_bind(place, was_missing=False) is expected
    found = frozenset({(identity(NET), ("key", "rate"))})
    assert writes.may_change(found, {}) is expected


def test_a_library_may_write_what_it_is_given():
    for text in ("setattr(x, i, 1)", "x[i] = 1"):
        for given in (NET, [NET], {"a": NET}):
            writes = writes_of(text, given=[given])
            assert writes.may_bind(PLACES["object"], was_missing=False)
            assert not writes.may_bind(PLACES["global"], was_missing=False)
    nothing = writes_of("return x", given=[NET])
    assert not nothing.may_bind(PLACES["object"], was_missing=False)


def test_a_library_binds_by_name_what_is_not_the_users():
    writes = writes_of("x.rate = 1", given=[])
    assert not any(writes.may_bind(p, was_missing=False) for p in PLACES.values())
    of_library = NamePlace(vars(functools), "rate")
    assert writes.may_bind(of_library, was_missing=False)


# ---- state in what is captured ----


def effects(*owners):
    return frozenset((identity(owner), name) for owner, name in owners)


def test_closure_variables_are_told_by_their_names():
    found = effects((CELL, None))
    names = {id(CELL): {"n"}}
    assert not writes_of("x.rate = 1").may_change(found, names)
    assert writes_of("x.n = 1").may_change(found, names)
    assert writes_of("return x").may_change(found, {})  # it was not captured before


def test_attributes_are_told_by_their_names():
    found = effects((NET, "rate"))
    assert writes_of("x.rate = 1").may_change(found, {})
    assert not writes_of("x.other = 1").may_change(found, {})
    assert not writes_of("x.append(1)").may_change(found, {})
    assert writes_of("setattr(x, i, 1)").may_change(found, {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x[0] = 1", True),
        ("x.append(1)", True),
        ("x['a'] = 1", True),
        ("x.rate += i", True),  # a list is written by that, too
        ("setattr(x, i, 1)", True),
        ("return x.rate", False),
    ],
)
def test_items_of_other_containers(text, expected):
    found = effects((NET, None))
    assert writes_of(text).may_change(found, {}) is expected
    assert writes_of("x[0] = 1", given=[NET]).may_change(found, {})
    assert not writes_of("x[0] = 1", given=[]).may_change(found, {})


def test_arrays_are_written_by_c():
    assert Writes().may_change(effects((np.ones(1), None)), {})


def test_all_must_be_written_by_it():
    found = effects((NET, "rate"), (NET, "other"))
    assert not writes_of("x.rate = 1").may_change(found, {})
    assert writes_of("x.rate = x.other = 1").may_change(found, {})


def test_without_code_nothing_is_written():
    assert Writes().may_change(frozenset(), {})
    assert not any(Writes().may_bind(p, was_missing=False) for p in PLACES.values())
