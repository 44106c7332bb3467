"""What an exact recorder sees is watched: scenarios and drawn programs, with hooks.

Classes and modules are given a `__getattribute__` that writes down, while a trace runs,
which attribute of which object is read. What was there before the trace and was read must
be at a place that the version watches, unless the trace wrote it itself. The recorder of
imprint goes by names and asks no receiver: nothing is shared between the two.
"""

import contextlib
import gc
import sys
from types import FunctionType, ModuleType

import pytest
from hypothesis import given, note, seed, settings

from imprint.core.libraries import is_user_class
from imprint.definition.layout import layout_of
from imprint.record.recorder import Recording
from imprint.watch.classes import class_attribute, defining_class
from imprint.watch.places import (
    ClassPlace,
    ItemPlace,
    NamePlace,
    ObjectPlace,
    SpecialsPlace,
)
from tests.lanes import exhaustive
from tests.retrace.oracle.programs import programs
from tests.retrace.oracle.world import MODULES, World
from tests.retrace.stale.meanwhile import Meanwhile
from tests.retrace.stale.scenario import Scene, user_modules
from tests.retrace.test_stale import KINDS, scenarios

pytestmark = [
    pytest.mark.slow,
    pytest.mark.unaudited,
    pytest.mark.usefixtures("kept_executables"),
    pytest.mark.filterwarnings("ignore:.* was compiled 8 times"),
    pytest.mark.filterwarnings("ignore:.* that strict=True can look into"),
]

HOOK = """
def __getattribute__(self, name):
    note((self, name))
    return read(self, name)
"""

LOOK = """
depth = 0
def entered(recording):
    global depth
    if not depth:
        exact.enter()
    depth += 1
    enter(recording)
    recording.frame = caller(1)  # not this one, which ends now
    return recording
def left(recording, *error):
    global depth
    leave(recording, *error)
    depth -= 1
    if not depth:
        exact.exit(recording)
"""


class Exact:
    """Writes down what is read of the objects of some classes while a trace runs."""

    def __init__(self, classes, modules=()):
        self.classes = [c for c in classes if not is_hooked(c)]
        self.read = []
        self.unseen = []
        for cls in self.classes:
            # Not the user's code, so that imprint learns nothing from the hook.
            names = {"note": self.read.append, "read": object.__getattribute__}
            exec(compile(HOOK, "<imprint hook>", "exec"), names)
            type.__setattr__(cls, "__getattribute__", names["__getattribute__"])
        if modules:
            names = {"note": self.read.append, "read": ModuleType.__getattribute__}
            exec(compile(HOOK, "<imprint hook>", "exec"), names)
            own = {"__getattribute__": names["__getattribute__"], "__module__": "types"}
            hooked = type("hooked", (ModuleType,), own)
            self.classes.append(hooked)
            for module in modules:
                module.__class__ = hooked

    def enter(self):
        self.read.clear()
        kinds = tuple(self.classes)
        found = [x for x in gc.get_objects() if type(x) in kinds]
        self.before = {id(x) for x in found}

    def exit(self, recording):
        watched = [read.place for read in recording.findings.reads]
        written = recording.findings.writes
        for owner, name in self.read:
            if id(owner) not in self.before or name.startswith("__"):
                continue
            if not is_watched(owner, name, watched):
                place = ObjectPlace(owner, name, "")
                if not written.may_bind(place, was_missing=False):
                    self.unseen.append(f"{type(owner).__name__}.{name}")


def is_hooked(cls):
    hook = class_attribute(cls, "__getattribute__")
    return type(hook) is FunctionType


def is_watched(owner, name, places):
    """Tell whether one of the places is the one that a read of an attribute found."""
    if isinstance(owner, ModuleType):
        space = vars(owner)
        return any(
            isinstance(p, NamePlace) and p.namespace is space and p.name == name
            for p in places
        )
    layout = layout_of(owner)
    if layout.is_frozen or layout.speaks or layout.defines_eq:
        return True  # counts by what it says, or as a whole
    holder = defining_class(type(owner), name)
    if holder is not None and not is_user_class(holder):
        return True  # a library's: what its code reads of the object is written down
    own = name in layout.names(owner)
    if not own and holder is None and are_whole(owner, places):
        return True
    return any(
        (isinstance(p, ObjectPlace) and p.name == name and p.owner() is owner)
        or (isinstance(p, ItemPlace) and p.container is owner)
        or (isinstance(p, ClassPlace) and p.name == name and p.cls is owner)
        or (
            not own
            and isinstance(p, ClassPlace)
            and p.name == name
            and issubclass(type(owner), p.cls)
        )
        for p in places
    )


def are_whole(owner, places):
    """Tell whether all that an object has counts, and all that its class has."""
    cls = type(owner)
    return any(
        isinstance(p, ObjectPlace) and p.name == "__dict__" and p.owner() is owner
        for p in places
    ) and any(
        (isinstance(p, SpecialsPlace) and p.is_whole and p.cls is cls)
        or (isinstance(p, ClassPlace) and p.name == "__dict__" and p.cls is cls)
        for p in places
    )


@contextlib.contextmanager
def recorded(exact):
    """Have an exact recorder look at each trace."""
    names = {"enter": Recording.__enter__, "leave": Recording.__exit__}
    names |= {"exact": exact, "caller": sys._getframe}
    exec(compile(LOOK, "<imprint hook>", "exec"), names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Recording, "__enter__", names["entered"])
        patch.setattr(Recording, "__exit__", names["left"])
        yield


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", scenarios(*KINDS))
def test_what_is_read_is_watched(text):
    with user_modules(), Meanwhile() as meanwhile:
        scene = Scene(text, meanwhile.call)
        exact = Exact(own_classes(scene.names, scene.module.__name__))
        with recorded(exact):
            if "meanwhile()" in text:
                meanwhile.edit = lambda: None
            scene.outcome(scene.compiled)
    assert not exact.unseen


def own_classes(names, module):
    """Return the classes among some names that their module defines."""
    found = [x for x in names.values() if isinstance(x, type)]
    return [x for x in found if getattr(x, "__module__", "") == module]


@pytest.mark.parametrize("number", [0, *exhaustive(*range(1, 20))])
def test_what_a_drawn_program_reads_is_watched(number):
    @seed(number)
    @settings(max_examples=25)
    @given(programs(strict=False, is_wide=True))
    def drawn(program):
        note(str(program))
        try:
            with Meanwhile() as meanwhile:
                world = World(program, meanwhile, strict=False)
                modules = [sys.modules[name] for name in MODULES[1:]]
                exact = Exact(own_classes(world.names, MODULES[0]), modules)
                with recorded(exact):
                    for _, compiled in world.pairs:
                        world.outcome(compiled)
        finally:
            for name in MODULES:
                sys.modules.pop(name, None)
        assert not exact.unseen

    gc.freeze()  # what is there by now is not looked through for each trace
    try:
        drawn()
    finally:
        gc.unfreeze()
