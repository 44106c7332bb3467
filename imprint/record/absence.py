"""Absence: names that nobody has while a trace runs, and somebody may come to have.

A `__getattr__` answers for what is not there, and code that goes on after an
AttributeError, or asks `hasattr`, reads that there is nothing. Where nobody tells what
runs, all names of such owners count, and those of libraries that objects hold.
"""

from collections.abc import Iterable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

from imprint.core.libraries import entry
from imprint.definition.layout import layout_of
from imprint.record.asking import note_all
from imprint.record.mentions import all_words, mentions_of
from imprint.record.noters import note_lacking
from imprint.record.notes import Notes
from imprint.record.owners import ATOMS
from imprint.record.parts import ITEMS, OPAQUE, code_in, lacked_by, places_at
from imprint.record.writes import is_all_users
from imprint.watch.captures import contained
from imprint.watch.classes import MISSING, class_attribute
from imprint.watch.places import ItemPlace, NamePlace
from imprint.watch.seen import class_of

_ABSENT: Final = 256
"""Values at which names are looked for that are not there."""


def note_missed(notes: Notes, code: CodeType, owner: Any, name: str) -> None:
    """Note a name that a `__getattr__` answers, as long as nobody has it.

    Args:
        notes: of the trace.
        code: that of the function that starts.
        owner: its first argument; of a module's, whatever.
        name: its last argument.
    """
    cls = class_of(owner)
    if code_in(class_attribute(cls, "__getattr__")) is code:
        notes.class_attribute(cls, name)
        notes.place(notes.of_object(owner, name))
        if layout_of(owner).storage is dict:
            notes.place(ItemPlace(owner, name, notes.owners.path_to(owner)))
    for namespace in tuple(notes.owners.modules.values()):
        if code_in(entry(namespace, "__getattr__")) is code:
            notes.place(NamePlace(namespace, "__getattr__"))
            notes.place(NamePlace(namespace, name))


def note_absent(notes: Notes, value: Any, names: Iterable[str]) -> None:
    """Note names that a value, and what they lead to, may come to have.

    For code that goes on where an attribute is not there.
    """
    queue = [value]
    seen: set[int] = set()
    for each in queue:  # it grows
        if id(each) in seen or len(seen) > _ABSENT:
            continue
        seen.add(id(each))
        queue += [x for x in contained(each)[:ITEMS] if id(class_of(x)) not in ATOMS]
        path = notes.owners.path_to(each)
        for place in lacked_by(each, names, path):
            notes.place(place)
        found = [place.get() for place in places_at(each, names, path)]
        queue += [value for value in found if value is not MISSING]


def note_unheard(notes: Notes, codes: Iterable[CodeType]) -> None:
    """Note what code may have asked for where nobody tells what runs.

    Args:
        notes: of the trace.
        codes: the code that may run.
    """
    mentioned = [mentions_of(code) for code in codes]
    note_answered(notes, is_expected=any(each.expects_absence for each in mentioned))
    mention_held(notes)
    if any(each.reads_module for each in mentioned):
        mention_texts(notes)
    if any(each.reads_any for each in mentioned):  # of any that it may be given
        for value in tuple(notes.known.values())[:ITEMS]:
            note_all(notes, value)


def note_answered(notes: Notes, *, is_expected: bool) -> None:
    """Note all names that modules, classes and objects with a `__getattr__` do not have.

    For a walk, which does not hear what is asked for, nor what fails.

    Args:
        notes: of the trace.
        is_expected: whether code goes on where an attribute is not there: then so it is
            with all that names lead to.
    """
    names = tuple(notes.names)
    for value in tuple(notes.known.values()) if is_expected else ():
        note_lacking(notes, value, names)
    for namespace in tuple(notes.owners.modules.values()):
        if code_in(entry(namespace, "__getattr__")) is not None:
            for name in ("__getattr__", *names):
                notes.place(NamePlace(namespace, name))
    for cls in tuple(notes.owners.made.values()):
        if _answers(class_of(cls)):
            note_lacking(notes, cls, names)
    for value, kind, *_ in tuple(notes.owners.objects):
        if code_in(class_attribute(kind, "__getattribute__")) is not None:
            notes.whole(value)  # it may work names out
        if _answers(kind):
            note_lacking(notes, value, names)


def _answers(cls: type) -> bool:
    """Tell whether instances have a `__getattr__` of the user's."""
    return code_in(class_attribute(cls, "__getattr__")) is not None


def mention_texts(notes: Notes) -> None:
    """Take in the names in texts and in code that may be evaluated, which is not heard."""
    for text in tuple(notes.texts):
        notes.mention(all_words(text))
    for value in tuple(notes.known.values()):
        if class_of(value) is CodeType:
            mentions = mentions_of(value)
            notes.mention(mentions.names.union(mentions.globals))


def frames_left(given: Iterable[Any]) -> Iterator[FrameType]:
    """Yield the frames that an AttributeError ended, after which a `with` may go on.

    Args:
        given: what its `__exit__` is given.
    """
    values = list(given)
    for value in tuple(values):
        values += value if type(value) is tuple else ()  # `*error`
    for error in values:
        if issubclass(type(error), AttributeError):
            traceback = error.__traceback__
            while traceback is not None:
                yield traceback.tb_frame
                traceback = traceback.tb_next


def mention_held(notes: Notes) -> None:
    """Take in what objects hold by names of libraries, whose code is not heard."""
    notes.owners.asks_class = True  # as that code may
    for value in tuple(notes.known.values()):
        kind, layout = class_of(value), layout_of(value)
        is_object = not issubclass(kind, (*OPAQUE, FunctionType))
        if is_object and layout.has_dict and not is_all_users(kind):
            names = [name for name in layout.names(value) if name[:2] != "__"]
            notes.mention(names, by_library=True)
            notes.use_whole(names, by_library=True)
