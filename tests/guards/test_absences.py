"""Names that code looked for and did not find: one location an owner, and each is seen."""

import types

import numpy as np
import pytest

import imprint
from imprint._src.jit.guards.locations import MissingNames
from imprint._src.jit.guards.recording import Recording

X = np.ones(2, np.float32)
NAMES = tuple(f"rate_{i}" for i in range(20))
READS = "\n    ".join(f"scale += getattr(owner, {name!r}, 0.0)" for name in NAMES)
READER = f"""
def read(owner):
    scale = 1.0
    {READS}
    return scale
"""


class Plain:
    """Its instances hold attributes in `__dict__`."""


class Slotted:
    __slots__ = ("__weakref__", *NAMES)


class Answering:
    def __getattr__(self, name):
        if name == "rate_1":
            return 0.0
        raise AttributeError(name)


class Holder:
    pass


def function():
    pass


def reader():
    """Return a new function that reads 20 names that its argument may lack."""
    space = {"__name__": "guards_reader", "__file__": "/a_project/reader.py"}
    exec(compile(READER, "/a_project/reader.py", "exec"), space)
    return space["read"]


OWNERS = {
    "object": Plain,
    "object with slots": Slotted,
    "object whose class has __getattr__": Answering,
    "class": lambda: type("Local", (Plain,), {"__module__": __name__}),
    "function": lambda: types.FunctionType(function.__code__, globals()),
    "module": lambda: _module(),
}


def _module():
    made = types.ModuleType("guards_module")
    made.__file__ = "/a_project/guards_module.py"
    return made


@pytest.mark.unaudited
@pytest.mark.parametrize("name", OWNERS)
def test_each_name_that_an_owner_gets_is_seen(name):
    owner, read = OWNERS[name](), reader()

    def fun(x):
        return x * read(owner)

    compiled = imprint.jit(fun)
    before = compiled(X)
    for each in (NAMES[3], NAMES[17]):
        assert np.array_equal(compiled(X), before)  # so that the guard is generated
        assert compiled.explain(X).hit
        setattr(owner, each, 2.0)
        assert each in str(compiled.explain(X))
        assert np.array_equal(compiled(X), before + 2)
        delattr(owner, each)
        assert np.array_equal(compiled(X), before)


@pytest.mark.unaudited
def test_an_attribute_equal_to_that_of_the_class_is_no_change():
    class Model:
        rate = 2.0

    model = Model()
    traces = []

    def fun(x):
        traces.append(x)
        return x * model.rate

    compiled = imprint.jit(fun)
    for _ in range(4):
        compiled(X)
    model.rate = float("2")
    for _ in range(4):
        assert np.array_equal(compiled(X), X * 2)
    assert len(traces) == 1
    model.rate = 3.0
    assert np.array_equal(compiled(X), X * 3)


def locations(owners):
    """Return the locations of a trace that reads 20 names of some objects."""
    read = reader()

    def fun(x):
        return x * sum(map(read, owners))

    with Recording(fun, strict=False) as recording:
        fun(X)
    return [at for at, _ in recording.dependencies.reads]


def test_names_that_an_object_lacks_cost_one_location():
    few, many = ([Plain() for _ in range(n)] for n in (4, 8))
    more = len(locations(many)) - len(locations(few))
    assert more <= 4 * 3  # the object, its class and what it lacks
    found = [
        at for at in locations(few) if type(at) is MissingNames and at.owner in few
    ]
    assert [at.name.issuperset(NAMES) for at in found] == [True] * 4
