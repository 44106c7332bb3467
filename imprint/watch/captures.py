"""Captures: the functions that a callable carries along, which its token covers.

A definition token reads a function with its closure, defaults and attributes, and what
functions and plain containers these hold, by content; so two callables that capture
other cells with equal values share versions. What those functions capture is therefore
no matter of a version, whose trace saw the cells of one of the callables only: it is
left out of the record of a trace. `captured_reads` is what one callable captures now,
in an order that is the same for all that share a token.
"""

import functools
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

from imprint.core.identity import identity, ids_of
from imprint.definition.code import code_of
from imprint.definition.layout import layout_of
from imprint.definition.walk import NO_EFFECTS, Effects, Part, Walk
from imprint.watch.classes import class_of
from imprint.watch.places import (
    CellPlace,
    FunctionPlace,
    Place,
    ValuePlace,
)
from imprint.watch.seen import ATOMS, Read, Seen

_LIMIT: Final = 4096
_KEYS: Final = 1024
"""Keys of a dict of which each may be watched by itself."""
_DICTS: Final = ids_of(dict, OrderedDict, defaultdict)
CONTAINERS: Final = _DICTS | ids_of(tuple, list, deque, set, frozenset)
_EMPTY: Final = ATOMS | ids_of(CodeType)
"""Classes of what carries nothing along."""
_items: Final[Callable[[Any], Iterator[Any]]] = vars(tuple)["__iter__"]


def captured_functions(fun: Any) -> dict[int, FunctionType]:
    """Return, by `id`, the functions that a callable is or carries along."""
    found: dict[int, FunctionType] = {}
    queue: list[Any] = [fun]
    seen = {id(fun)}
    for value in queue:  # it grows
        if class_of(value) is FunctionType:
            found[id(value)] = value
        for part in parts_of(value):
            if id(class_of(part)) in _EMPTY:
                continue
            if id(part) not in seen and len(queue) < _LIMIT:
                seen.add(id(part))
                queue.append(part)
    return found


def is_by_texts(value: Any) -> bool:
    """Tell whether a value is a plain dict from texts, of which items are watched alone."""
    if class_of(value) is not dict or len(value) > _KEYS:
        return False
    return all(type(key) is str for key in tuple(value))


def captured_reads(
    fun: Any, effects: Effects = NO_EFFECTS, *, strict: bool = False
) -> tuple[Read, ...]:
    """Return what a callable captures now, to be watched: a hit spares its token."""
    places: list[Place] = [
        place
        for place in _places_in(fun)
        if not (effects and _is_effect(place, effects))
    ]
    if class_of(fun) is not FunctionType:
        places.append(ValuePlace(fun))
    reads = [Read(place, Seen(place.get(), effects, strict=strict)) for place in places]
    return *reads, *(Read(p, Seen.as_itself(p.get())) for p in places if is_held(p))


def functions_in(value: Any) -> list[Read]:
    """Return what the functions have that a value carries along."""
    return [Read(place, Seen(place.get())) for place in _places_in(value)]


def _places_in(value: Any) -> Iterator[FunctionPlace | CellPlace]:
    """Yield the places of the functions that a value is or carries along."""
    for function in captured_functions(value).values():
        yield from places_of(function)


def is_held(place: Place) -> bool:
    """Tell whether a place is a closure variable that a callback holds, and others read.

    Then another value is not as good, if it is equal.
    """
    if not isinstance(place, CellPlace):
        return False
    held = code_of(place.function.__code__).held
    return bool(held) and place.name in held


def _is_effect(place: Place, effects: Effects) -> bool:
    """Tell whether a place is a closure variable that a trace writes."""
    return isinstance(place, CellPlace) and (identity(place.cell), None) in effects


def captured_names(fun: Any) -> dict[int, set[str]]:
    """Return the names of the closure variables in what a callable carries.

    Returns:
        Them, by the `id` of the cell, and by that of what is in it.
    """
    found: dict[int, set[str]] = {}
    for function in captured_functions(fun).values():
        for place in places_of(function):
            if isinstance(place, CellPlace):
                for known in (place.cell, place.get()):
                    found.setdefault(id(known), set()).add(place.name)
    return found


def captured_code(fun: Any) -> tuple[object, ...]:
    """Return the code and the defaults of the functions in what a callable carries."""
    found: list[object] = []
    for function in captured_functions(fun).values():
        found += (function.__code__, function.__defaults__, function.__kwdefaults__)
    return tuple(found)


def are_containers(fun: Any, effects: Effects) -> bool:
    """Tell whether what can change in what a callable captures is in containers.

    Then watching what it captures tells all; attributes of functions it does not.
    """
    parts: list[Part] = []
    Walk(effects, parts).value(fun)
    return all(part.name is None for part in parts)


def places_of(function: FunctionType) -> Iterator[FunctionPlace | CellPlace]:
    """Yield the places of a function: code, defaults, cells.

    What only callbacks read of its cells is no part of what a trace saw.
    """
    yield FunctionPlace(function, "__code__")
    for name in ("__defaults__", "__kwdefaults__"):
        if getattr(function, name):
            yield FunctionPlace(function, name)
    cells = function.__closure__ or ()
    held = code_of(function.__code__).held if cells else {}
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        if held.get(name) is not False:
            yield CellPlace(cell, name, function)


def contained(value: Any) -> tuple[Any, ...]:
    """Return what is in a plain container; of a dict, the values."""
    kind = class_of(value)
    if id(kind) not in CONTAINERS:
        return ()
    return tuple(value.values() if id(kind) in _DICTS else value)


def parts_of(value: Any) -> Iterator[Any]:
    """Yield what a token reads of a value."""
    kind = class_of(value)
    if kind is FunctionType:
        for place in places_of(value):
            yield place.get()
        yield from value.__dict__.values()
    elif kind is MethodType:
        yield value.__func__
    elif issubclass(kind, functools.partial):
        yield from (get(value) for get in _OF_PARTIAL)
    elif id(kind) in CONTAINERS:
        yield from contained(value)
    else:
        layout = layout_of(value)
        if layout.speaks:
            yield _said_by(value)
        elif issubclass(kind, tuple):
            yield from _items(value)
        elif layout.is_frozen and layout.is_open:
            yield from layout.state(value).values()


_OF_PARTIAL: Final[tuple[Callable[[Any], Any], ...]] = tuple(
    vars(functools.partial)[name].__get__ for name in ("func", "args", "keywords")
)


def _said_by(value: Any) -> Any:
    try:
        return value.__imprint_token__()
    except Exception:  # the class is the user's; then the token is its identity
        return None
