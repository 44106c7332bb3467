"""What a trace saw: a value, remembered so that a later one can be compared with it.

The same object is as good, while it holds the same; so is one with equal content, by the
rules of `walk`. Objects are held weakly where that is possible, as they can be large and
a dead one equals nothing; functions and classes are parts of the program and are kept.
Of a container that can change each item is remembered too: it is unchanged if its items
are the same objects. A list of 4 numbers is told so in 30 ns by generated code, and in
200 ns here, where to read its content takes 3 µs; one of 250 in 2.4 µs, and one of 200
objects in 6.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice, repeat
from marshal import dumps
from operator import call, is_
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any, Final, NamedTuple, TypeAlias, final
from weakref import ref

import numpy as np

from imprint.core.identity import Identity, identity, ids_of
from imprint.definition.share import (
    Snapshot,
    added_items,
    counts_of,
    effects_of,
    owners_in,
)
from imprint.definition.state import HeldWalk, StrictWalk
from imprint.definition.token import Content
from imprint.definition.walk import (
    FORMAT,
    NO_EFFECTS,
    Effects,
    Part,
    Walk,
)
from imprint.definition.wording import show
from imprint.watch.classes import MISSING, class_of
from imprint.watch.places import ObjectPlace, Place
from imprint.watch.written import Written

SHARED: Final = (
    *(FunctionType, BuiltinFunctionType, CodeType, ModuleType),
    *(type, np.dtype),
)
_STRONG: Final = ids_of(
    *(int, bool, float, complex, str, bytes, type(None), FunctionType, type),
    *(tuple, list, dict, ModuleType, CodeType),
)
"""Classes that `hold` need not ask: a weak reference that is refused costs 700 ns."""
_NUMBERS: Final = ids_of(int, float, bool, complex, type(None))
ATOMS: Final = _NUMBERS | ids_of(str, bytes)
"""Classes of what can be read later: it is kept, and nothing is inside."""
_LISTS: Final = ids_of(list, deque, set)
_DICTS: Final = ids_of(dict, OrderedDict)
_UNREAD: Final = object()


# ---- one object ----


@final
class Strong:
    """An object that is kept alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value

    def get(self) -> Any:
        """Return the object."""
        return self.value

    def is_(self, value: Any) -> bool:
        """Tell whether `value` is the object."""
        return value is self.value


@final
class Weak:
    """An object that may die, and then is nothing any more."""

    __slots__ = ("reference",)

    def __init__(self, reference: ref[Any]) -> None:
        self.reference: ref[Any] = reference

    def get(self) -> Any:
        """Return the object; None if it is gone."""
        return self.reference()

    def is_(self, value: Any) -> bool:
        """Tell whether `value` is the object."""
        return value is not None and self.reference() is value


Held: TypeAlias = Strong | Weak


def hold(value: Any) -> Held:
    """Hold an object, weakly if it is one that can be large."""
    kind = class_of(value)
    if id(kind) in _STRONG or issubclass(kind, SHARED):
        return Strong(value)
    try:
        return Weak(ref(value))
    except TypeError:
        return Strong(value)


# ---- one container ----


@final
class Items:
    """A container, or a closure variable, with the very objects that were in it.

    A list of numbers may have equal numbers too, which is told faster.

    Args:
        container: what can change.
        keys: the keys of a dict.
        items: what was in it, in its order.
        free: at which of its keys a dict may hold anything.
        is_grown: whether a list may have more items, behind these.
    """

    __slots__ = (
        *("_dead", "_getters", "_same", "container", "free", "is_grown", "items"),
        *("keys", "packed"),
    )

    def __init__(
        self,
        container: Any,
        keys: Sequence[Any] | None,
        items: Iterable[Any],
        *,
        free: frozenset[int] = frozenset(),
        is_grown: bool = False,
    ) -> None:
        self.container: Any = container
        self.free: frozenset[int] = free
        self.is_grown: bool = is_grown
        self.keys: tuple[Any, ...] | None = None if keys is None else tuple(keys)
        self.items: tuple[Held, ...] = tuple(map(hold, items))
        self.packed: bytes | None = None if is_grown else _packed(container)
        """The bytes of a list of numbers; None for any other container."""
        strong = [x.value for x in self.items if isinstance(x, Strong)]
        self._same = tuple(strong) if len(strong) == len(self.items) else None
        self._dead: list[object] = []
        """Items that are gone. While there is none, no weak reference gives None."""
        getters = () if self._same is not None else map(self._getter, self.items)
        self._getters = tuple(getters)

    def _getter(self, held: Held) -> Callable[[], Any]:
        """Return what gives an item, in C: in a loop of Python it takes 250 ns."""
        if isinstance(held, Strong):
            return repeat(held.value).__next__
        value = held.get()
        return (
            repeat(_UNREAD).__next__ if value is None else ref(value, self._dead.append)
        )

    def are_unchanged(self) -> bool:
        """Tell whether the same objects are in it, in the same order."""
        values: Any = self.container
        if type(values) is CellType:
            return self.items[0].is_(_content_of_cell(values))
        if self.is_grown:
            values = islice(values, len(self.items))
        elif len(values) != len(self.items):
            return False
        if self.packed is not None:
            return is_packed(values, self.packed)
        if self.keys is not None:
            if not all(map(is_, values, self.keys)):
                return False
            values = values.values()
        if self.is_grown or self.free:
            values = tuple(values)
            return len(values) == len(self.items) and all(
                i in self.free or held.is_(values[i])
                for i, held in enumerate(self.items)
            )
        if self._same is not None:
            return all(map(is_, values, self._same))
        return not self._dead and all(map(is_, values, map(call, self._getters)))


def _packed(container: Any) -> bytes | None:
    """Return the bytes of a list of numbers: their types, values and bits.

    A number takes 10 ns, and to look whether it is the same object 14. Equal bytes are
    equal numbers: no other value is written as one of these classes.
    """
    if class_of(container) is not list:
        return None
    if not _NUMBERS.issuperset(map(id, map(class_of, container))):
        return None
    return dumps(container, FORMAT)


def is_packed(values: list[Any], packed: bytes) -> bool:
    """Tell whether a list is of the numbers whose bytes are given."""
    try:
        return dumps(values, FORMAT) == packed
    except ValueError:  # what is in it now cannot be written
        return False


def _content_of_cell(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _items_of(part: Part, walk: Walk) -> Items | None:
    """Return what was in a part of a value; None if only reading it again can tell.

    Items that are effects of the trace are not held: they may be what it left behind.
    """
    owner, kind = part.owner, class_of(part.owner)
    if part.name is not None:
        return None
    if kind is CellType:
        return Items(owner, None, (owner.cell_contents,))
    if id(kind) in _LISTS:
        length = walk.length(owner)
        items = tuple(owner)[:length]
        return Items(owner, None, items, is_grown=length is not None)
    if id(kind) not in _DICTS:
        return None
    pairs = list(owner.items())
    free = {i for i, (key, _) in enumerate(pairs) if walk.is_written(owner, key)}
    values = [None if i in free else value for i, (_, value) in enumerate(pairs)]
    return Items(owner, [key for key, _ in pairs], values, free=frozenset(free))


# ---- one value with what is inside ----


class Unknown:
    """Prints as a value that is not there any more.

    Args:
        content: what it was.
        effects: what did not count of it.
    """

    def __init__(self, content: Content, effects: Effects) -> None:
        self.content: Content = content
        self.effects: Effects = effects

    def __repr__(self) -> str:
        return show(self.content)


@final
class Seen:
    """A value that a trace saw.

    Args:
        value: the value.
        effects: what is inside and does not count; or what is known to be written,
            which may become more.
        strict: whether arrays and the state of objects count.
        is_static: whether arrays and long lists do, as a static argument leads here.
    """

    __slots__ = (
        *("_content", "_reading", "_written", "held", "inside", "is_left"),
        *("has_code", "is_bare", "is_static", "items", "strict"),
    )

    def __init__(
        self,
        value: Any,
        effects: Effects | Written = NO_EFFECTS,
        *,
        strict: bool = False,
        is_static: bool = False,
    ) -> None:
        self.held: Held = hold(value)
        self.strict: bool = strict
        self.is_static: bool = is_static
        is_shared = isinstance(effects, Written)
        self._written: Written = effects if is_shared else Written(effects)
        self._reading: Snapshot | None = None
        """What is inside, until the trace is over."""
        self.items: tuple[Items, ...] = ()
        """The containers in it, if they tell whether what is inside is the same."""
        self.is_left = False
        """Whether the trace left it there, where nothing was before."""
        self.inside = False
        """Whether what is inside can change, and counts."""
        self.is_bare = False
        """Whether it counts as itself, whatever is inside."""
        self.has_code: bool = False
        """Whether there are functions in it; whoever runs one watches its code."""
        self._content: Content = _UNREAD
        kind = class_of(value)
        if not (id(kind) in ATOMS or value is MISSING or issubclass(kind, SHARED)):
            self._read(value)

    @classmethod
    def as_itself(cls, value: Any) -> "Seen":
        """Return what was seen of a value that counts as itself, whatever is inside."""
        seen = cls(None)
        seen.held, seen._content = hold(value), identity(value)
        seen.is_bare = True
        return seen

    def matches(self, value: Any) -> bool:
        """Tell whether another value is as good, whatever happened since."""
        if self.held.is_(value):
            if not self.inside:
                return True
            if self.items and all([items.are_unchanged() for items in self.items]):  # noqa: C419 - a generator takes 100 ns more
                return True
        elif value is MISSING or self.held.get() is MISSING:
            return False
        return self._content_of(value) == self.content

    def stands(self, value: Any) -> bool:
        """Tell whether a value is the very object, in which nothing can change."""
        return not self.inside and self.held.is_(value)

    @property
    def is_gone(self) -> bool:
        """Whether it counts as an object that is not alive any more."""
        content = self._content
        return type(content) is Identity and content() is None

    @property
    def known(self) -> Written:
        """What the traces of the function are known to write."""
        return self._written

    @property
    def effects(self) -> Effects:
        """What is inside and does not count."""
        return self._written.effects

    def anew(self, value: Any) -> "Seen":
        """Return an equal value in the place of this one."""
        seen = Seen(value, self._written, strict=self.strict, is_static=self.is_static)
        seen.is_left = self.is_left
        return seen

    def resumed(self, written: Written, now: Any) -> "Seen":
        """Return the same for a trace that takes it over from another one.

        What that trace wrote does not count for this one; but what this one finds out
        is its own, to be forgotten with it if another thread disturbed it. A function
        inside may have other code by now, which that trace did not run.

        Args:
            written: what the traces of this function are known to write.
            now: what is there.
        """
        seen = self._settled()
        if self.has_code and self.held.is_(now):
            seen._content = self._content_of(now)
        written.take(self._written)
        seen._written = written
        if self._reading is not None and written.effects == self.effects:
            seen._reading = self._reading
        else:
            seen.note_parts()
        return seen

    def _settled(self) -> "Seen":
        """Return the same without what is needed until the trace is over."""
        seen = object.__new__(Seen)
        for name in Seen.__slots__:
            setattr(seen, name, getattr(self, name))
        seen._reading = None
        return seen

    @property
    def content(self) -> Content:
        """What the value is; of a function, what it is now."""
        if self._content is _UNREAD:  # few are ever compared
            return self._content_of(self.held.get())
        return self._content

    def _content_of(self, value: Any) -> Content:
        return self._walk(self._written.effects).value(value)

    def note_parts(self) -> None:
        """Note what is inside, part by part, to find out what the trace writes."""
        if self.inside:
            self._reading = self._read_parts(self._written.effects)

    def settle(self, now: Any) -> "Seen | None":
        """Return what of this counts after the trace.

        Args:
            now: what is there after the trace. What differs from before is an effect of
                the trace: another value does not count at all, nor a part that changed,
                was added or taken away; what else is inside counts as it is now. An
                equal value is told by its content when the guard first asks: what was
                noted of a function is of the one before.
        """
        if self.matches(now):
            return self._settled()
        if self._reading is None or not (self.inside and self.held.is_(now)):
            return None
        self._written.effects |= self.written()
        return self.anew(now)

    def written(self) -> Effects:
        """Return what differs inside from what was noted before the trace."""
        if self._reading is None:
            return NO_EFFECTS
        return effects_of(self._reading, self._read_parts(self._reading.effects))

    def owners(self) -> set[int]:
        """Return the `id` of what was read inside and can be written into."""
        return set() if self._reading is None else owners_in(self._reading)

    def added(self) -> list[tuple[Any, Any]]:
        """Return where there is something inside that was not; see `added_items`."""
        if self._reading is None:
            return []
        return added_items(self._reading, self._read_parts(self._reading.effects))

    def counts(self) -> Effects:
        """Return which of that is a count that went on by one."""
        if self._reading is None:
            return NO_EFFECTS
        return counts_of(self._reading, self._read_parts(self._reading.effects))

    def shown(self) -> Any:
        """Return the value, or what prints as it did."""
        value = self.held.get()
        gone = value is None and self.content is not None
        unknown = self.inside or gone
        return Unknown(self.content, self.effects) if unknown else value

    def _read(self, value: Any) -> None:
        parts: list[Part] = []
        walk = self._walk(self._written.effects, parts)
        self._content = walk.value(value)
        self.has_code: bool = walk.has_code
        self.inside: bool = walk.volatile
        if walk.volatile:
            try:
                items = [_items_of(part, walk) for part in parts]
            except (RuntimeError, ValueError):  # it changes while it is read
                return
            self.items = tuple(x for x in items if x is not None)
            if len(self.items) < len(parts):
                self.items = ()

    def _read_parts(self, effects: Effects) -> Snapshot:
        parts: list[Part] = []
        self._walk(effects, parts, apart=True).value(self.held.get())
        return Snapshot(tuple(parts), effects)

    @property
    def _walk(self) -> type[Walk]:
        if self.strict:
            return StrictWalk
        return HeldWalk if self.is_static else Walk


def left_behind(value: Any, written: Written, *, strict: bool) -> Seen:
    """Return what a trace left where nothing was before: a later one may write it."""
    seen = Seen(value, written, strict=strict)
    seen.is_left = True
    return seen


class Read(NamedTuple):
    """A place that was read, with what stood there."""

    place: Place
    seen: Seen

    @property
    def is_past(self) -> bool:
        """Whether it counts no more, as traces are known by now to write there."""
        return self.seen.is_left and self.place.key in self.seen.known.places

    def now(self) -> Any:
        """Return what is there now, as a program finds it.

        What an object has is as good as the same where its class shows it, as the
        guard has it, which asks as a program does.
        """
        place, now = self.place, self.place.get()
        is_absent = self.seen.held.get() is MISSING
        if not isinstance(place, ObjectPlace) or (now is MISSING) is is_absent:
            return now
        if now is MISSING:
            return place.shown()
        return MISSING if now is place.shown() else now


class Ran(NamedTuple):
    """What ran in a trace.

    Args:
        codes: the user's code that ran, or may have run, each with its globals.
        files: where the code of libraries is that ran.
        variables: the variables of the environment that were read, and what they were.
        is_heard: whether all that ran was told.
        values: what libraries read of plain values: module, names, content.
    """

    codes: tuple[tuple[CodeType, dict[str, Any]], ...] = ()
    files: frozenset[str] = frozenset()
    variables: frozenset[tuple[str, str | None]] = frozenset()
    is_heard: bool = True
    values: frozenset[tuple[str, str, bytes]] = frozenset()


class Findings(NamedTuple):
    """What a trace found out.

    Args:
        reads: the places that it read and did not change.
        captured: of each place in what its function captures, what the trace wrote
            inside; None if it wrote the place itself. See `captures`.
        disturbed: the places that something else than the trace changed meanwhile.
        changed: what else changed: the keys of places, and what is inside values.
        writes: what the code that ran may have written.
        ran: what ran.
        carried: what functions have that the program carries, to run them later.
    """

    reads: tuple[Read, ...]
    captured: tuple[Effects | None, ...]
    disturbed: tuple[str, ...] = ()
    changed: frozenset[Any] = frozenset()
    writes: Any = None
    ran: Ran = Ran(is_heard=False)
    carried: tuple[Read, ...] = ()

    @property
    def watched(self) -> tuple[Read, ...]:
        """All that has to be as it was."""
        return *self.reads, *self.carried
