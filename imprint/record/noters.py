"""Noters: what an owner that is met has under a name that code mentions.

`Notes` leaves one with each owner and name, to be called when code mentions the name:
before that code runs, so what stood there before is known.
"""

from collections.abc import Iterable
from types import FunctionType
from typing import Any

from imprint.core.libraries import is_user_class, is_user_code, is_user_function
from imprint.definition.layout import layout_of
from imprint.record.noted import Noted, note_itself, note_overridden
from imprint.record.parts import is_for_writing, lacked_by, shown_by
from imprint.watch.classes import (
    bases_of,
    class_attribute,
    class_namespace,
    class_of,
    specials_of,
)
from imprint.watch.places import (
    ORDER,
    ClassPlace,
    FunctionPlace,
    ItemPlace,
    ObjectPlace,
    SpecialsPlace,
    ValuePlace,
)
from imprint.watch.seen import Read, Seen


def note_class(notes: Noted, cls: Any, name: str, _: str) -> None:
    """Note what a class answers under a name."""
    notes.owners.of_classes[id(cls)].append(name)
    notes.class_attribute(cls, name)
    if notes.owners.asks_super:
        note_overridden(notes, cls, name)


def note_inherited(notes: Noted, cls: Any, name: str, _: str) -> None:
    """Note a name that a class of the user's has from a library's, and may come to hide."""
    notes.owners.of_classes[id(cls)].append(name)
    note_itself(notes, ClassPlace(cls, name))


def meet_shown(notes: Noted, value: Any, kind: Any, path: str) -> None:
    """Take in the containers that a view or a method of them shows, or changes."""
    for shown, leads in shown_by(value, kind, path):
        if is_for_writing(value, kind):
            notes.owners.written_into[id(shown)] = shown
        else:
            notes.place(ValuePlace(shown, leads))


def note_specials(notes: Noted, cls: type) -> None:
    """Note the methods that Python calls by itself, which no code mentions.

    A function of the user's is noted when it starts. And of which classes it is, which
    `isinstance` and `super()` ask.
    """
    bases = [base for base in bases_of(cls) if is_user_class(base)]
    if len(bases) > 1:
        notes.class_attribute(cls, ORDER)
    for base in bases:
        place = SpecialsPlace(base)
        if place.key not in notes.reads:  # it mentions no names
            notes.reads[place.key] = Read(place, Seen(place.get()))
        for name, value in specials_of(place.namespace).items():
            if not is_user_function(value) and name != "__new__":
                notes.class_attribute(cls, name)


def note_whole_class(notes: Noted, cls: type) -> None:
    """Note all that the user's classes hold that a class is, or comes from."""
    for base in bases_of(cls):
        if not notes.owners.is_users(base) or id(base) in notes.owners.new:
            continue
        place = SpecialsPlace(base, is_whole=True)
        if place.key not in notes.reads:
            # It mentions no names.
            notes.reads[place.key] = Read(place, Seen(place.get()))
            for name in class_namespace(base).copy():
                if name[:2] != "__":
                    notes.class_attribute(base, name)


def note_item(notes: Noted, value: Any, name: str, path: str) -> None:
    """Note what stands under a key of a dict."""
    notes.place(ItemPlace(value, name, path))


def note_shown(notes: Noted, value: Any, name: str, _: str) -> None:
    """Note that only the key of a dict answers for an attribute."""
    note_lacking(notes, value, (name,))


def note_defaults(notes: Noted, cls: type) -> None:
    """Note what makes an object by a library's function, with the user's defaults.

    So it is with a named tuple, and with a dataclass of a text that names no module.
    """
    new, init = (class_attribute(cls, name) for name in ("__new__", "__init__"))
    if class_of(new) is staticmethod and any(base is tuple for base in bases_of(cls)):
        notes.class_attribute(cls, "__new__")
        notes.place(FunctionPlace(new.__func__, "__defaults__"))
    if class_of(init) is FunctionType and _is_of_text(init):
        notes.place(FunctionPlace(init, "__defaults__"))
        notes.place(FunctionPlace(init, "__kwdefaults__"))


def _is_of_text(function: FunctionType) -> bool:
    """Tell whether a library made a function from text, so that nobody is told of it."""
    code, names = function.__code__, function.__globals__
    return code.co_filename[:1] == "<" and not is_user_code(code, names)


def note_lacking(notes: Noted, value: Any, names: Iterable[str]) -> None:
    """Note names that a value does not have, and may come to have."""
    if not names or id(value) in notes.captured:
        return
    for place in lacked_by(value, names, notes.owners.path_to(value)):
        if isinstance(place, ObjectPlace):
            place.is_passing = notes.is_of_passing(value)
        notes.place(place)


def look_into(notes: Noted, value: Any, name: str, path: str) -> None:
    """Take in what an object has under a name, which is not watched itself."""
    if notes.owners.is_users(class_of(value)):  # it may come to hide what is there
        notes.class_attribute(class_of(value), name)
    notes.meet(layout_of(value).get(value, name), f"{path}.{name}")
