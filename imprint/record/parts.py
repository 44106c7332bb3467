"""Parts: what a value holds, and at which places an owner has names.

Nothing here runs a user's code: containers are copied by their own class, objects read
past their hooks.
"""

import functools
import gc
import itertools
import operator
import sys
import typing
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from threading import local
from types import (
    AsyncGeneratorType,
    BuiltinMethodType,
    CellType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    GenericAlias,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any, ClassVar, Final, TypeVar, final
from weakref import ref

import numpy as np

from imprint.core.array import NumberArray
from imprint.core.identity import ids_of
from imprint.core.libraries import (
    is_module,
    is_user,
    is_user_class,
    is_user_code,
    is_user_namespace,
    module_namespace,
)
from imprint.core.trace import Trace
from imprint.definition.layout import layout_of, layout_of_class
from imprint.definition.rules import COPIES
from imprint.record.mentions import CHANGES_ITEMS
from imprint.watch.captures import CONTAINERS, contained
from imprint.watch.classes import MISSING, bases_of, class_attribute
from imprint.watch.places import (
    ClassPlace,
    FunctionPlace,
    ItemPlace,
    NamePlace,
    ObjectPlace,
    Place,
)
from imprint.watch.seen import class_of

ROOT: Final = "self"
"""What leads to the function that is traced: its methods are of the object so named."""
_IN_ORDER: Final = (tuple, list, deque)
ITEMS: Final = 1024
"""Items of one container that are met."""
RESULTS: Final = 64
"""Containers that one memo function gave which are watched."""
_DEEP: Final = 3
"""How deep containers are looked into that are new."""
OPAQUE: Final[Any] = (np.ndarray, np.generic, np.dtype, NumberArray)
"""Classes of what leads to nothing."""


def is_opaque(value: Any, kind: Any) -> bool:
    """Tell whether a value leads to nothing: a library's array does, but of objects."""
    if not issubclass(kind, OPAQUE) or is_user_class(kind):
        return False
    return kind is not np.ndarray or not value.dtype.hasobject or value.size > ITEMS


def places_at(owner: Any, names: Iterable[str], path: str = "") -> Iterator[Place]:
    """Yield the places at which an owner of the user's has, or may have, names.

    Args:
        owner: it.
        names: the names.
        path: what leads to it, if it is an object.
    """
    kind = class_of(owner)
    if issubclass(kind, ModuleType):
        namespace = module_namespace(owner)
        if is_user_namespace(namespace):
            yield from (NamePlace(namespace, name) for name in names)
    elif issubclass(kind, type):
        for cls in (owner, kind):  # a class answers, then its metaclass
            if is_user_class(cls):
                yield from (ClassPlace(cls, name) for name in names)
    elif kind is FunctionType:
        if is_user_code(owner.__code__, owner.__globals__):
            yield from (FunctionPlace(owner, name) for name in names)
    elif not is_opaque(owner, kind):
        yield from _of_object(owner, kind, names, path)


def lacked_by(owner: Any, names: Iterable[str], path: str) -> list[Place]:
    """Return the places at which an owner of the user's has not what it is asked for.

    Of a module so is a `__getattr__`, which would answer.
    """
    lacked = [place for place in places_at(owner, names, path) if _is_empty(place)]
    if lacked and is_module(owner):
        lacked += filter(_is_empty, places_at(owner, ("__getattr__",)))
    return lacked


def _is_empty(place: Place) -> bool:
    return place.get() is MISSING


def _of_object(
    owner: Any, kind: Any, names: Iterable[str], path: str
) -> Iterator[Place]:
    layout = layout_of(owner)
    if layout.is_holder or is_user_class(kind) or kind is functools.partial:
        for name in names:
            if class_attribute(kind, name) is MISSING:
                yield ClassPlace(kind, name)
            # It may be one that the trace made: then it is gone with it.
            yield ObjectPlace(owner, name, path, is_passing=True)
            if layout.storage is dict:  # it may show its items so
                yield ItemPlace(owner, name, path)


def code_in(value: Any) -> CodeType | None:
    """Return the code of what a class holds, if it is a method of some kind."""
    kind = class_of(value)
    if kind is staticmethod or kind is classmethod:
        value = value.__func__
    elif kind is property:
        value = value.fget
    return value.__code__ if class_of(value) is FunctionType else None


def path_of(place: Place) -> str:
    """Return what stands at a place, as a user would write it."""
    if isinstance(place, ClassPlace):
        return f"{layout_of_class(place.cls).name}.{place.name}"
    return str(place) if isinstance(place, ObjectPlace | ItemPlace) else place.name


def parts_of(value: Any, kind: Any, path: str) -> Iterator[tuple[Any, str]]:
    """Yield what a value holds that is no attribute, and what leads there."""
    if kind is MethodType:
        yield value.__func__, path
        yield value.__self__, path if path == ROOT else f"{path}.__self__"
    elif kind is functools.partial:
        yield value.func, path
        yield value.args, f"{path}.args"
        yield value.keywords, f"{path}.keywords"
    elif kind is np.ndarray:
        yield from ((part, f"{path}[…]") for part in value.ravel().tolist())
    elif is_giver(kind):
        yield from _given_by(value, kind, path)
        if kind is MEMO:
            yield from ((part, path) for part in (value.__wrapped__, *kept_by(value)))
    elif id(kind) in _HELD:
        yield from ((held, path) for held in _HELD[id(kind)](value))
    elif value is sys.modules:  # a library that walks over all asks nothing of most
        modules = [each for each in value.copy().values() if is_module(each)]
        yield from ((each, path) for each in modules if is_user(each))
    else:
        layout = layout_of(value)
        wrapped = layout.get(value, "__wrapped__")
        if wrapped is not None:
            yield wrapped, path
        copy = COPIES.get(layout.storage)
        held = contained(value if copy is None else copy(value))[:ITEMS]
        yield from _items_of(held, layout.storage, path)


def _items_of(held: Iterable[Any], kind: Any, path: str) -> Iterator[tuple[Any, str]]:
    """Yield what is in a container of some kind, copied by `COPIES`, and what leads there."""
    if issubclass(kind, dict):
        for each in held:  # what a defaultdict makes them by is first
            key, part = each if class_of(each) is tuple else (None, each)
            is_short = class_of(key) is str or class_of(key) is int
            yield key, path
            yield part, f"{path}[{key!r}]" if is_short else f"{path}[…]"
    elif issubclass(kind, _IN_ORDER):
        start = -1 if issubclass(kind, deque) else 0  # its length is first
        yield from ((part, f"{path}[{i}]") for i, part in enumerate(held, start))
    else:
        yield from ((part, f"{path}[…]") for part in held)


def shown_by(value: Any, kind: Any, path: str) -> list[tuple[Any, str]]:
    """Return the plain containers that C gives code from a value, and what leads to each.

    A view of one shows it, or a method in C; variables of a context or a thread hold some,
    and a memo function gave them. Only those count in which something can change, and the
    latest: of many, each warm call would look at all.
    """
    if id(kind) in _METHODS:
        held = [(value.__self__, path)]
    elif id(kind) in _VIEWS:
        held = [(each, path) for each in gc.get_referents(value)]
    elif is_giver(kind):
        held = [*_given_by(value, kind, path)]
    else:
        return []
    return [pair for pair in held if _can_change(pair[0])][-RESULTS:]


def is_giver(kind: Any) -> bool:
    """Tell whether instances of a class may come to give other containers in a trace."""
    return kind is ContextVar or kind is MEMO or issubclass(kind, local)


def _given_by(value: Any, kind: Any, path: str) -> Iterator[tuple[Any, str]]:
    """Yield what a giver holds, and what leads there; see `is_giver`."""
    if kind is ContextVar:
        yield from ((held, f"{path}.get()") for held in _held_in(value))
    elif kind is MEMO:
        yield from ((result, f"{path}()") for result in _results_of(value))
    else:
        names = local.__getattribute__(value, "__dict__").copy()
        yield from ((held, f"{path}.{name}") for name, held in names.items())


def held_by_c(value: Any, kind: Any) -> list[Any]:
    """Return what C holds and gives code: a variable, a memo, a partial, an iterator."""
    if is_giver(kind) or kind is functools.partial or id(kind) in _HELD:
        return [part for part, _ in parts_of(value, kind, "")]
    return []


def _can_change(held: Any) -> bool:
    """Tell whether something can change in a value that is a plain container."""
    kind = class_of(held)
    if kind is tuple or kind is frozenset:
        return any(map(_can_change, contained(held)[:ITEMS]))
    return id(kind) in _SHOWN


def _results_of(memo: Any) -> list[Any]:
    """Return what a memo function remembers: what it gave, and perhaps for what."""
    held = kept_by(memo)
    tables = [x for x in held if class_of(x) is dict]
    linked = [x for x in tables if any(class_of(y) is _LINK for y in list(x.values()))]
    if linked:  # it forgets what is old, so each result is a part of a list, too
        return [x for x in held if x is not linked[0]]
    return [x for table in tables for x in list(table.values())]


def is_for_writing(value: Any, kind: Any) -> bool:
    """Tell whether what shows a container changes it, such as `log.append`."""
    return id(kind) in _METHODS and value.__name__ in CHANGES_ITEMS


def _bound_to(method: Any) -> Iterable[Any]:
    """Return what a method in C is bound to: of a function it is its module."""
    held = method.__self__
    return () if issubclass(class_of(held), ModuleType) else (held,)


_SHOWN: Final = CONTAINERS | ids_of(bytearray)
_METHODS: Final = ids_of(BuiltinMethodType, MethodWrapperType)
_ONE: Final[dict[Any, Any]] = {}
_ORDERED: Final = OrderedDict(_ONE)
_VIEWS: Final = ids_of(
    MappingProxyType,
    *(
        class_of(view)
        for names in (_ONE, _ORDERED)
        for view in (names.keys(), names.values(), names.items())
    ),
)


def _locals_of(frame: FrameType | None) -> Iterable[Any]:
    """Return what the variables of a generator hold, if it has begun."""
    return () if frame is None else tuple(frame.f_locals.values())


def _held_in(variable: ContextVar[Any]) -> Iterable[Any]:
    """Return what a variable holds in this context, or gives where it holds nothing.

    The trace under way is in one, too, and another at each call.
    """
    try:
        held = variable.get()
    except LookupError:
        return ()
    return () if isinstance(held, Trace) else (held,)


def kept_by(memo: Any) -> list[Any]:
    """Return what a memo function holds besides its attributes and what C needs for it."""
    needed = {*_NEEDED, id(memo.__dict__)}
    return [x for x in gc.get_referents(memo) if id(x) not in needed]


def _users_in(hint: Any) -> Iterable[Any]:
    """Return the user's classes that a type is made of; a library's lead too far."""
    queue, found = gc.get_referents(hint), list[Any]()
    for each in queue:  # it grows
        if issubclass(class_of(each), type):
            found += [each] if is_user_class(each) else []
        elif class_of(each) is tuple:
            queue += each
    return found


def _new_memo() -> Any:
    """Return a memo function that remembers one result, and forgets what is old."""
    memo = functools.lru_cache(1)(lambda: None)
    memo()
    return memo


_MEMO: Final = _new_memo()
MEMO: Final = class_of(_MEMO)
_NEEDED: Final = {id(x) for x in gc.get_referents(_MEMO) if isinstance(x, type)}
_LINK: Final = next(
    class_of(link)
    for table in gc.get_referents(_MEMO)
    if class_of(table) is dict and table is not _MEMO.__dict__
    for link in table.values()
)
_ALIASES: Final = (
    (typing.TypeAliasType,) if sys.version_info >= (3, 12) else ()
)  # of `type A = ...`
COMPOSITES: Final = ids_of(
    *(functools.partial, MethodType, staticmethod, classmethod, property)
)
_HELD: Final[dict[int, Callable[[Any], Iterable[Any]]]] = {
    id(staticmethod): lambda x: (x.__func__,),
    id(classmethod): lambda x: (x.__func__,),
    id(property): lambda x: (x.fget, x.fset),
    **dict.fromkeys(
        ids_of(GenericAlias, class_of(ClassVar[int])),
        lambda x: (x.__origin__, x.__args__),
    ),
    id(ref): lambda x: (x(),),
    id(CellType): gc.get_referents,
    id(operator.attrgetter): lambda x: x.__reduce__(),
    id(operator.methodcaller): lambda x: x.__reduce__(),
    id(GeneratorType): lambda x: _locals_of(x.gi_frame),
    id(CoroutineType): lambda x: _locals_of(x.cr_frame),
    id(AsyncGeneratorType): lambda x: _locals_of(x.ag_frame),
    **dict.fromkeys(_METHODS, _bound_to),
    **dict.fromkeys(ids_of(class_of(int | str), TypeVar, *_ALIASES), _users_in),
    **dict.fromkeys(
        ids_of(
            *(itertools.repeat, itertools.cycle, itertools.chain, itertools.starmap),
            *(map, filter, zip, enumerate, type(iter([])), type(iter(()))),
            *(slice, super),
        ),
        gc.get_referents,
    ),
}
"""By the `id` of a class of Python's, what its instances hold that is no attribute."""


@final
class Whole:
    """The values of which all that they have is noted.

    Attributes:
        noted: them, by `id`: kept alive.
    """

    def __init__(self) -> None:
        self.noted: dict[int, Any] = {}
        self._leads: dict[int, tuple[type, bool]] = {}  # by id: kept alive
        self._plain: set[int] = set()
        """The `id` of the classes among these whose instances have nothing."""

    def unknown(self, values: Iterable[Any]) -> list[Any]:
        """Return those values that are none of them, and have what is noted. Hot."""
        plain, has = self._plain, self.has
        return [x for x in values if id(class_of(x)) not in plain and not has(x)]

    def has(self, value: Any, depth: int = _DEEP) -> bool:
        """Tell whether a value is one of them, or has nothing that is noted. Hot."""
        kind = class_of(value)
        leads = self._leads.get(id(kind))
        if leads is None:
            leads = self._leads[id(kind)] = kind, _leads(kind)
            if not leads[1]:
                self._plain.add(id(kind))
        if not leads[1] or id(value) in self.noted:
            return True
        if not depth or id(kind) not in CONTAINERS:
            return False
        parts = contained(value)[:ITEMS]
        if self._plain.issuperset(map(id, map(class_of, parts))):
            return True
        return all([self.has(part, depth - 1) for part in parts])  # noqa: C419 - a generator takes 100 ns more


def _leads(kind: Any) -> bool:
    """Tell whether instances of a class may have what is noted with the whole of them."""
    if kind is FunctionType:
        return False
    if id(kind) in CONTAINERS or issubclass(kind, type):
        return True
    return layout_of_class(kind).is_holder or any(map(is_user_class, bases_of(kind)))
