"""A guard is written in place, when it was asked twice; until then it compares."""

import sys
import types

import numpy as np
import pytest

from imprint.watch import guard, writer
from imprint.watch.guard import Watch
from imprint.watch.places import (
    CellPlace,
    ClassPlace,
    NamePlace,
    ObjectPlace,
    SpecialsPlace,
)
from imprint.watch.seen import Read, Seen


@pytest.fixture(autouse=True)
def _form(monkeypatch):
    """As for users."""
    monkeypatch.setattr(guard, "_WRITTEN_AT", 2)


def watch(*places):
    return Watch(Read(place, Seen(place.get())) for place in places)


def module(**names):
    home = types.ModuleType("home")
    vars(home).update(names)
    return home


def test_it_is_written_the_second_time():
    made = watch(NamePlace(vars(module(rate=1.5)), "rate"))
    begun, code = made.guard, made.guard.__code__
    assert made.guard()
    assert made.guard.__code__ is code
    assert made.guard()
    assert made.guard is begun
    assert begun.__code__ is not code


def test_it_is_written_anew_for_an_equal_object():
    home = module(sizes=(1, 2))
    made = watch(NamePlace(vars(home), "sizes"))
    for _ in range(3):
        assert made.guard()
    home.sizes = equal = (*home.sizes, 3)[:2]
    old = made.guard.__defaults__
    assert made.guard()
    assert made.guard.__defaults__ is old
    assert made.guard()
    assert any(value is equal for value in made.guard.__defaults__)
    home.sizes = (1, 3)
    assert not made.guard()
    home.sizes = (1, 2)
    assert made.guard()


@pytest.mark.parametrize("inside", [[1.5, (2, 3)], {"a": (2, 3)}, {1.5}])
def test_what_is_in_a_container_is_compared_twice(inside):
    home = module(inside=inside)
    made = watch(NamePlace(vars(home), "inside"))
    code = made.guard.__code__
    for _ in range(2):
        assert made.guard()
    assert made.guard.__code__ is not code
    for key in (1, "a"):
        if key in (inside if type(inside) is dict else range(len(inside))):
            inside[key] = (2, 3, 4)[:2]
    assert made.guard()
    home.inside = 5
    assert not made.guard()


def test_what_is_new_each_time_does_not_keep_it_from_being_written():
    kind = type("Kind", (), {"__call__": lambda self: 1})
    x = kind()
    x.a = 1
    home = module(rate=1.5)
    made = watch(
        *(SpecialsPlace(kind), ObjectPlace(x, "__dict__", "x")),
        NamePlace(vars(home), "rate"),
    )
    codes = [made.guard.__code__]
    for _ in range(40):
        home.rate = float("1.5")
        assert made.guard()
        codes.append(made.guard.__code__)
    assert codes[2] is codes[-1] is not codes[0]
    before = made._compared
    for _ in range(40):  # by now it has the last one
        assert made.guard()
    assert made._compared - before < 40


def test_a_guard_that_fails_is_not_written():
    home = module(rate=1.5)
    made = watch(NamePlace(vars(home), "rate"))
    code = made.guard.__code__
    home.rate = 2.5
    for _ in range(3):
        assert not made.guard()
    assert made.guard.__code__ is code


def test_each_cell_is_found_among_many():
    cells = [types.CellType(float(i)) for i in range(12)]
    made = watch(*(CellPlace(cell, f"v{i}", "f") for i, cell in enumerate(cells)))
    for _ in range(3):
        assert made.guard()
    for i, cell in enumerate(cells):
        cell.cell_contents = -1.0
        assert not made.guard(), i
        cell.cell_contents = float(i)
        assert made.guard(), i


def test_names_like_its_own():
    home = module(_v0=1.5, _c0000=2.5, _guard=3.5, __v1=4.5)
    cell = types.CellType(1.5)
    places = [NamePlace(vars(home), name) for name in vars(home) if name[1] in "vcg_"]
    made = watch(*places, CellPlace(cell, "x", "f"))
    for _ in range(3):
        assert made.guard()
    home._c0000 = 3.5
    assert not made.guard()


def test_it_waits_for_another_that_is_written():
    made = watch(NamePlace(vars(module(rate=1.5)), "rate"))
    code = made.guard.__code__
    with writer._writing:  # by another thread, or by what a signal broke into
        for _ in range(3):
            assert made.guard()
        assert made.guard.__code__ is code
    for _ in range(2):
        assert made.guard()
    assert made.guard.__code__ is not code


def test_it_can_be_asked_between_any_two_lines_of_writing():
    """As by another thread, beside a debugger or an audit hook."""
    home, asked = module(**{f"n{i}": i for i in range(9)}), []
    made = watch(*(NamePlace(vars(home), f"n{i}") for i in range(9)))

    def trace(frame, event, _):
        if frame.f_code is writer.write.__code__:
            asked.append(made.guard())
            return trace
        return None

    outer = sys.gettrace()
    sys.settrace(trace)
    try:
        for count in (9, 2, 5):  # places may come not to count
            writer.write(made.guard, made.reads[:count], made._holds_by_content)
    finally:
        sys.settrace(outer)
    assert len(asked) > 30
    assert all(asked)


@pytest.fixture
def compared(monkeypatch):
    """Return a list with an item for each comparison of all places."""
    found, compare = [], Watch._holds_by_content
    monkeypatch.setattr(
        Watch, "_holds_by_content", lambda self: found.append(self) or compare(self)
    )
    return found


class Base:
    pass


class Derived(Base):
    pass


class OfMeta(metaclass=type("Meta", (type,), {})):
    pass


class DerivedOfMeta(OfMeta):
    pass


@pytest.mark.parametrize("name", ["__name__", "__qualname__"])
@pytest.mark.parametrize("cls", [int, np.ndarray, np.float32, Base, OfMeta])
def test_the_name_of_a_class_is_compared_in_generated_code(compared, cls, name):
    made = watch(ClassPlace(cls, name))
    assert [made.guard() for _ in range(10)] == [True] * 10
    assert len(compared) == 2  # as for any place, before the guard is written


@pytest.mark.parametrize("cls", [Base, OfMeta])
def test_the_subclasses_of_a_class_are_compared_in_generated_code(compared, cls):
    made = watch(ClassPlace(cls, "__subclasses__"))
    assert [made.guard() for _ in range(10)] == [True] * 10
    assert len(compared) == 2
    another = type(cls)("Another", (cls,), {})
    assert not made.guard()
    assert made.changed()[0].new[-1] is another


@pytest.mark.parametrize("name", ["__name__", "__qualname__"])
@pytest.mark.parametrize("meta", [type, type(OfMeta)])
def test_a_name_of_a_class_that_changed_is_seen(meta, name):
    cls = meta("Kind", (), {})
    made = watch(ClassPlace(cls, name))
    for _ in range(3):
        assert made.guard()
    setattr(cls, name, "Other")
    assert not made.guard()


def test_a_class_that_comes_to_hold_a_name_of_its_own_is_seen():
    cls = type("Kind", (Base,), {})
    made = watch(ClassPlace(cls, "__subclasses__"))
    for _ in range(3):
        assert made.guard()
    cls.__subclasses__ = classmethod(lambda cls: [])
    assert not made.guard()
