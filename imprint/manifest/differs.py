"""The first difference: why what is on the disk does not answer a call, for people.

1. Under the key of the call are results: of each is told what of its reads changed.
2. Else manifests of the same function are looked for, by the note of each entry, and of
   the one whose facts differ least the first of them is told.
It reads a store and changes nothing; nobody asks in a call.
"""

from collections.abc import Iterator
from contextlib import suppress
from types import FunctionType
from typing import Any, Final

from imprint.core.identity import module_name
from imprint.core.libraries import is_user_class
from imprint.manifest.facts import Facts, home_of, place_of, shown
from imprint.manifest.manifest import (
    TRACE,
    Asked,
    Mismatch,
    Plain,
    Question,
    body_of,
    facts,
    results_of,
    verified,
)
from imprint.store.files import ReadError
from imprint.store.store import Store
from imprint.store.sweep import entries
from imprint.watch.classes import MISSING


def difference(store: Store, question: Question, asked: Asked) -> str:
    """Return the first difference between what was kept for a call and now.

    Args:
        store: where it was kept.
        question: the call.
        asked: its key.

    Returns:
        A text such as "global RATE in model was 0.1, is 0.2"; "" if nothing of the
        function was kept.
    """
    for plain in results_of(store, asked):
        return _of_result(asked, plain)
    now = facts(question)
    nearest: list[str] | None = None
    for before in _kept_of(store, home_of(question.fun)):
        told = [*_told(before, now)]
        if nearest is None or len(told) < len(nearest):
            nearest = told
    if nearest is None:
        return ""
    return nearest[0] if nearest else "what it captures changed"


# ---- 1. what was read ----


def _of_result(asked: Asked, plain: Plain) -> str:
    try:
        found = verified(asked.reader.copy(), asked.written, plain)
    except Exception:
        return "what it reads is not there any more, or is of another kind"
    if not isinstance(found, Mismatch):
        is_sized = plain.get("bucket") is not None
        return "its sizes have other answers to what it asks" if is_sized else _GONE
    place, now = found.what, found.now
    if isinstance(place, str):
        return _changed(place, found.was, "" if now is MISSING else now)
    if type(now) is FunctionType:
        return f"helper `{now.__qualname__}` at {place_of(now.__code__)} changed"
    if issubclass(type(now), type) and is_user_class(now):
        return f"class `{now.__qualname__}` of {module_name(now)} changed"
    name = f"{place} in {place.module}" if place.kind == "global" else str(place)
    if now is MISSING:
        return f"{name} is not defined any more"
    return _changed(name, found.was, shown(now))


_GONE: Final = "its program is not there any more"


# ---- 2. what is asked for ----


def _kept_of(store: Store, home: str) -> Iterator[Facts]:
    """Yield the facts of the manifests of a function, what was used last first."""
    listed = [(each, entry) for each in store.chain() for entry in entries(each.folder)]
    count = 0
    for each, entry in sorted(listed, key=lambda pair: -pair[1].used):
        with suppress(ReadError, OSError):
            head = each.look(entry.path, whole=False)
            note: Any = {} if head is None else head.note
            if note.get("kind") != TRACE or note.get("of") != home:
                continue
            whole = each.look(entry.path, whole=True)
            before = body_of(None if whole is None else whole.body).get("facts")
            if type(before) is dict:
                yield before
                count += 1
                if count == _MANY:
                    return


_MANY: Final = 64
"""Manifests that are read; a function of more kinds of calls has the latest compared."""


def _told(before: Facts, now: Facts) -> Iterator[str]:
    """Yield in what facts differ."""
    for name, (digest, text) in now.items():
        if name not in before:
            yield f"{name} is new"
            continue
        then, was = before[name]
        if then == digest:
            continue
        if name.startswith("`"):
            yield f"{name} at {text} changed"
        else:
            yield _changed(name, was, text)
    for name in before:
        if name not in now:
            yield f"{name} is not there any more"


def _changed(name: str, was: str, text: str) -> str:
    is_told = was and text and was != text
    return f"{name} was {was}, is {text}" if is_told else f"{name} changed"
