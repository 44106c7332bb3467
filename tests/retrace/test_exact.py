"""What an exact recorder sees is watched: the scenarios again, with hooked classes.

A class of a scenario is given a `__getattribute__` that writes down, while a trace runs,
which attribute of which object is read. What was there before the trace and was read must
be at a place that the version watches, unless the trace wrote it itself. The recorder of
imprint goes by names and asks no receiver: nothing is shared between the two.
"""

import gc
from types import FunctionType

import pytest

from imprint.core.libraries import is_user_class
from imprint.definition.layout import layout_of
from imprint.record.recorder import Recording
from imprint.watch.places import (
    ClassPlace,
    ItemPlace,
    ObjectPlace,
    class_attribute,
    defining_class,
)
from tests.retrace.stale.meanwhile import Meanwhile
from tests.retrace.stale.scenario import Scene, user_modules
from tests.retrace.test_stale import KINDS, scenarios

pytestmark = [
    pytest.mark.slow,
    pytest.mark.sampled(4),
    pytest.mark.unaudited,
    pytest.mark.usefixtures("kept_executables"),
]

HOOK = """
def __getattribute__(self, name):
    note(self, name)
    return read(self, name)
"""


class Exact:
    """Writes down what is read of the objects of some classes while a trace runs."""

    def __init__(self, classes):
        self.classes = [c for c in classes if not is_hooked(c)]
        self.depth = 0
        self.read = []
        self.unseen = []
        for cls in self.classes:
            # Not the user's code, so that imprint learns nothing from the hook.
            names = {"note": self.note, "read": object.__getattribute__}
            exec(compile(HOOK, "<imprint hook>", "exec"), names)
            type.__setattr__(cls, "__getattribute__", names["__getattribute__"])

    def note(self, owner, name):
        if self.depth and not name.startswith("__"):
            self.read.append((owner, name))

    def enter(self):
        if not self.depth:
            self.read.clear()
            kinds = tuple(self.classes)
            found = [x for x in gc.get_objects() if type(x) in kinds]
            self.before = {id(x) for x in found}
        self.depth += 1

    def exit(self, recording):
        self.depth -= 1
        if self.depth:
            return
        watched = [read.place for read in recording.findings.reads]
        written = recording.findings.writes
        for owner, name in self.read:
            if id(owner) in self.before and not is_watched(owner, name, watched):
                place = ObjectPlace(owner, name, "")
                if not written.may_write(place, rebinds=True):
                    self.unseen.append(f"{type(owner).__name__}.{name}")


def is_hooked(cls):
    hook = class_attribute(cls, "__getattribute__")
    return type(hook) is FunctionType


def is_watched(owner, name, places):
    """Tell whether one of the places is the one that a read of an attribute found."""
    layout = layout_of(owner)
    if layout.is_frozen or layout.speaks or layout.defines_eq:
        return True  # counts by what it says, or as a whole
    holder = defining_class(type(owner), name)
    if holder is not None and not is_user_class(holder):
        return True  # a library's: what its code reads of the object is written down
    own = name in layout.names(owner)
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


@pytest.mark.parametrize("text", scenarios(*KINDS))
def test_what_is_read_is_watched(text, monkeypatch):
    enter, leave = Recording.__enter__, Recording.__exit__
    with user_modules(), Meanwhile() as meanwhile:
        scene = Scene(text, meanwhile.call)
        own = [x for x in scene.names.values() if isinstance(x, type)]
        exact = Exact(
            [x for x in own if getattr(x, "__module__", "") == scene.module.__name__]
        )

        def entered(recording):
            exact.enter()
            return enter(recording)

        def left(recording, *error):
            leave(recording, *error)
            exact.exit(recording)

        monkeypatch.setattr(Recording, "__enter__", entered)
        monkeypatch.setattr(Recording, "__exit__", left)
        if "meanwhile()" in text:
            meanwhile.edit = lambda: None
        scene.outcome(scene.compiled)
    assert not exact.unseen
