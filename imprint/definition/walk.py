"""The walk: from a value to the content of its token.

Functions count by code and captures, plain data by content, all else by identity. The
way is bounded: below `DEPTH` levels, after `leaves` parts, and in a container of more
than `container_leaves`, identity counts. What leads back to something still open is the
number of levels between. No code of the user runs, but for `__imprint_token__`, by which
an object says what it stands for; and nothing raises. State that a trace changed
(`effects`) counts by its place; see `definition`. What each class is, is in `rules`.
"""

import marshal
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import CellType, FunctionType, NoneType
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

from imprint.core.identity import Standin, identity, namespace, namespaces
from imprint.definition.code import Code, code_of, codes
from imprint.definition.layout import Layout, layout_of
from imprint.definition.rules import RULES, copier_of, rule_of
from imprint.definition.token import (
    ABSENT,
    BACK,
    EFFECT,
    EMPTY,
    FUNCTION,
    HELD,
    MANY,
    STATE,
    Content,
    Token,
    find_token,
    token_of,
)

DEPTH: Final = 60
_MANY: Final = 256
FORMAT: Final = 2
"""Of `marshal`: equal values give equal bytes, whoever else refers to them."""
_SCALARS: Final = frozenset(map(id, (int, float, bool, str, bytes, complex, NoneType)))

Name: TypeAlias = str | tuple[str, Content] | None
"""Of a part: an attribute, `("key", content)` of what is in a dict or set, `ORDER`, or
nothing; of an effect also `("length", n)`: a list or deque that had n items, and more
were appended."""
ORDER: Final[Name] = ("order", None)
"""Of the keys of a dict."""
Effects: TypeAlias = frozenset[tuple[Standin, Name]]
NO_EFFECTS: Final[Effects] = frozenset()


class Part(NamedTuple):
    """State that can change in place, as it was read.

    Args:
        owner: the container or cell; or the function or object with an attribute.
        name: the attribute, or the key, where items count apart.
        content: of what is there.
    """

    owner: Any
    name: Name
    content: Content


class _State:
    """What a walk knows of state that can change, and notes of it."""

    volatile: bool = False
    has_code: bool = False
    """Whether a function was met, whose code nobody looks at again while it is the same."""
    _effects: Effects = NO_EFFECTS
    _lengths: dict[Standin, int | None] | None = None
    _parts: list[Part] | None = None
    is_apart: bool = False

    def is_effect(self, owner: Any, name: Name) -> bool:
        """Tell whether a trace is known to write what is there."""
        return bool(self._effects) and (identity(owner), name) in self._effects

    def is_written(self, owner: Any, key: Any) -> bool:
        """Tell whether a trace is known to write what stands under a key."""
        return bool(self._effects) and self.is_effect(owner, name_of_key(key))

    def length(self, owner: Any) -> int | None:
        """Return how many items of a list count, if a trace is known to append to it."""
        return self._written_into().get(identity(owner))

    def _is_written_into(self, owner: Any) -> bool:
        """Tell whether a trace is known to write items of a container."""
        return bool(self._effects) and identity(owner) in self._written_into()

    def _written_into(self) -> dict[Standin, int | None]:
        if self._lengths is None:
            self._lengths = _lengths_of(self._effects)
        return self._lengths

    def changes(self, owner: Any, name: Name, content: Content) -> None:
        """Note that what was read can change in place."""
        self.volatile = True
        if self._parts is not None:
            self._parts.append(Part(owner, name, content))

    def inside(self, x: Any, content: Content) -> Content:
        """Return what counts of something that can change, in what holds it."""
        return identity(x) if self.is_apart else content


class Walk(_State):
    """One way through a value; a fresh one for each.

    Args:
        effects: places whose content does not count.
        parts: where to list state that can change in place, if somebody asks.
        apart: whether what can change counts by identity in what holds it, so that a
            part differs only if it was written itself.
    """

    leaves: ClassVar[int] = 4096
    container_leaves: ClassVar[int] = 256
    scalars: ClassVar[int] = 256
    reads_all: ClassVar[bool] = False
    volatile: bool = False
    has_cells: bool = False
    _leaves = 0
    _lowest = DEPTH
    is_holding: bool = False

    def __init__(
        self,
        effects: Effects = NO_EFFECTS,
        parts: list[Part] | None = None,
        *,
        apart: bool = False,
    ) -> None:
        self._effects = effects
        self._parts = parts
        self.is_apart = apart
        self._open: dict[int, int] = {}
        self._done: dict[int, Token] = {}
        self._owners: dict[int, Any] = {}
        self._kept: list[Any] = []  # so that no `id` in these is met again

    def value(self, x: object) -> Content:
        """Return the content of a value."""
        kind = type(x)
        if kind is int or kind is str:
            return x
        rule = RULES.get(id(kind)) or rule_of(kind)
        return rule(self, x)

    def values(self, xs: Any) -> list[Content]:
        """Return the contents of several values."""
        self._leaves += len(xs)
        value = self.value
        return [x if type(x) is int or type(x) is str else value(x) for x in xs]

    def items(self, x: Any, read: Callable[[Any], Content]) -> Content:
        """Return the content of what is immutable but may be huge."""
        is_too_long = len(x) > self.leaves and not _is_scalar(x, self.scalars)
        return self.beyond(x) if is_too_long else self.node(x, read)

    def sequence(self, kind: type, xs: Any) -> Content:
        """Return the content of the items of a list or tuple.

        Of many scalars it is a digest, which takes 30 ns each instead of 900.
        """
        if len(xs) <= _MANY or not _is_scalar(xs, self.scalars):
            return kind, *self.values(xs)
        self._leaves += len(xs) // 16
        digest = blake2b(marshal.dumps(tuple(xs), FORMAT), digest_size=16).digest()
        return MANY, kind, len(xs), digest

    def node(self, x: Any, read: Callable[[Any], Content]) -> Content:
        """Return the content of a composite: what `read` makes of it."""
        key = id(x)
        at = self._open.get(key)
        if at is not None:
            self._lowest = min(self._lowest, at)
            return BACK, len(self._open) - at
        if len(self._open) >= DEPTH or self._leaves > self.leaves:
            return self.beyond(x)
        self._open[key] = len(self._open)
        try:
            return read(x)
        finally:
            del self._open[key]

    # ---- containers that can change ----

    def container(self, x: Any, read: Callable[[Any], Content]) -> Content:
        """Return the content of what can change in place; if it is big, its identity."""
        owner = self._owners.get(id(x), x)
        if len(x) > self.container_leaves and not _is_scalar(x, self.scalars):
            return self.beyond(owner)
        if self.is_effect(owner, None):
            return _written(owner)
        before, length = self._leaves, self.length(owner) if self._effects else None
        if length is not None:
            read = _only_first(length, read, [_written(owner)] * (not self.is_apart))
        content = self.node(x, read)
        if self._leaves - before > self.container_leaves:
            return self.beyond(owner)
        self.changes(owner, None, content)
        content = self.inside(owner, content)
        return (HELD, identity(owner), content) if self.is_holding else content

    def pairs(self, x: Any) -> list[Content]:
        """Return the contents of the keys and values of a dict, in turn."""
        items = list(x.items())
        if not (self.is_apart or self._effects):
            return self.values([part for pair in items for part in pair])
        self._leaves += 2 * len(items)
        owner = self._owners.get(id(x), x)
        found: list[tuple[Content, Content]] = []
        for key, value in items:
            name = name_of_key(key)
            if self.is_effect(owner, name):
                continue
            pair = self.value(key), self.value(value)
            found.append(pair)
            if self.is_apart:
                self.changes(owner, name, pair[1])
        if self.is_apart:
            self.changes(owner, ORDER, tuple([name_of_key(key) for key, _ in items]))
            return []
        if self.is_effect(owner, ORDER):
            found.sort(key=lambda pair: hash(pair[0]))
        if self._is_written_into(owner):
            found.append((EFFECT, _written(owner)))
        return [part for pair in found for part in pair]

    def members(self, x: Any) -> list[Content]:
        """Return the contents of what is in a set."""
        items = x.copy()
        if not (self.is_apart or self._effects):
            return self.values(items)
        self._leaves += len(items)
        owner = self._owners.get(id(x), x)
        found: list[Content] = []
        for item in items:
            name = name_of_key(item)
            if self.is_effect(owner, name):
                continue
            found.append(self.value(item))
            if self.is_apart:
                self.changes(owner, name, None)
        if self.is_apart:
            return []
        return [*found, _written(owner)] if self._is_written_into(owner) else found

    # ---- functions ----

    def function(self, fun: FunctionType) -> Content:
        """Return the token of a function."""
        self.has_code = True
        token = self._done.get(id(fun))
        if token is None and self._parts is None and not self._effects:
            token = scalar_function_token(fun)
            self.has_cells |= token is not None and token.has_cells
        content = self.node(fun, self._read_function) if token is None else token
        return self.inside(fun, content)

    def _read_function(self, fun: FunctionType) -> Token:
        outer = self.volatile, self.has_cells, self._lowest
        self.volatile, self.has_cells, self._lowest = False, False, DEPTH
        self._leaves += 1
        code = code_of(fun.__code__)
        defaults, attributes = fun.__defaults__, fun.__dict__
        token = token_of(
            (
                FUNCTION,
                code,
                namespace(fun.__globals__),
                None if defaults is None else tuple(self.values(defaults)),
                _keyword_defaults(self, fun.__kwdefaults__, code.keyword_only),
                tuple(self.attributes(fun, attributes.copy())) if attributes else None,
                *_cells(self, fun.__closure__ or (), code),
            ),
            volatile=self.volatile,
            has_cells=self.has_cells,
        )
        if self._lowest >= len(self._open) - 1:  # nothing in it leads further up
            self._done[id(fun)] = token
            self._kept.append(fun)
            self._lowest = DEPTH
        self.volatile = outer[0] or token.volatile
        self.has_cells = outer[1] or token.has_cells
        self._lowest = min(outer[2], self._lowest)
        return token

    def cell(self, cell: CellType) -> Content:
        """Return the content of a closure variable."""
        self.has_cells = True
        if self.is_effect(cell, None):
            return EFFECT
        try:
            held = cell.cell_contents
        except ValueError:
            self.volatile = True
            content = EMPTY
        else:
            content = self.value(held)
        if self._parts is not None:
            self._parts.append(Part(cell, None, content))
        return content

    # ---- objects ----

    def unread(self, x: Any) -> Content:
        """Return what stands for something that this walk does not look into."""
        return identity(x)

    def beyond(self, x: Any) -> Content:
        """Return what stands for something that is too large for this walk, or too deep."""
        return self.unread(x)

    def object(self, x: Any) -> Content:
        """Return the content of an object that is no plain data."""
        return self.unread(x)

    def array(self, x: Any) -> Content:
        """Return the content of a NumPy array."""
        return self.unread(x)

    def state(self, x: Any, standin: Standin | None) -> Content:
        """Return the content of an object that is what its attributes and items are."""
        layout = layout_of(x)

        def read(y: Any) -> Content:
            items = self._items(y, copier_of(layout))
            return layout, STATE, standin, items, *self.attributes_of(y, layout)

        return self.inside(x, self.node(x, read))

    def _items(self, x: Any, copy: Callable[[Any], Any] | None) -> Content:
        """Return the content of an object as the plain value underneath."""
        if copy is None:
            return None
        try:
            plain = copy(x)
        except Exception:  # it is half made, or was released
            return None
        self._owners[id(plain)] = x
        self._kept.append(plain)
        return self.value(plain)

    def attributes_of(self, x: Any, layout: Layout) -> list[Content]:
        """Return the names of all attributes of an object, and their contents."""
        attributes = self.attributes(x, layout.state(x))
        names = attributes[0]
        if layout.derived:
            names = tuple([name for name in names if name not in layout.derived])
        self.changes(x, "__dict__", names)  # without any, it may get some
        return attributes

    def attributes(self, owner: Any, held: Mapping[str, Any]) -> list[Content]:
        """Return the names of an object's attributes, and their contents."""
        self._leaves += len(held)
        derived = layout_of(owner).derived
        found: list[Content] = [tuple(held)]
        for name, value in held.items():
            if self.is_effect(owner, name):
                found.append(EFFECT)
                continue
            if name in derived:
                found.append(self._derived(value))
                continue
            content = self.value(value)
            found.append(content)
            if name != "__wrapped__":  # set once, by functools.wraps
                self.changes(owner, name, content)
        return found

    def said(self, x: Any, said: Any) -> Content:
        """Return the content of what an object said that it stands for.

        A user's may say it in a list that is new each time: then no part of it tells
        what the object will say.
        """
        outer, self.volatile = self.volatile, False
        content = self.value(said)
        if self.volatile and not layout_of(x).module.startswith("imprint."):
            self.changes(x, "__imprint_token__", None)
        self.volatile |= outer
        return content

    def _derived(self, value: Any) -> Content:
        """Return the content of what reading an object may have filled in: no effect."""
        parts, self._parts = self._parts, None
        try:
            return self.value(value)
        finally:
            self._parts = parts


def name_of_key(key: object) -> Name:
    """Return the name of what stands under a key: the same by whatever walk."""
    kind = type(key)
    return "key", key if kind is int or kind is str else Walk().value(key)


def _written(owner: object) -> Content:
    """Return what stands for what a trace wrote: of another with the same rest it is another."""
    return EFFECT, identity(owner)


def _lengths_of(effects: Effects) -> dict[Standin, int | None]:
    """Return the containers whose items a trace writes, with how many do count."""
    lengths: dict[Standin, int | None] = {}
    for standin, name in effects:
        if type(name) is tuple:
            known = lengths.setdefault(standin, None)
            if name[0] == "length" and (known is None or name[1] < known):
                lengths[standin] = name[1]
    return lengths


def _cells(walk: Walk, cells: tuple[CellType, ...], code: Code) -> list[Content]:
    """Return the contents of closure variables.

    What a callback holds is no other that is equal: see `record.holding`.
    """
    held = code.held
    if not held or walk.is_apart:
        return [walk.cell(cell) for cell in cells]
    walk.has_cells = True
    found: list[Content] = []
    for cell, name in zip(cells, code.free, strict=True):
        if name not in held:
            found.append(walk.cell(cell))
        elif not held[name]:
            found.append(identity(cell))
        else:
            outer, walk.is_holding = walk.is_holding, True
            found.append((HELD, identity(cell), walk.cell(cell)))
            walk.is_holding = outer
    return found


def _keyword_defaults(walk: Walk, given: Any, names: tuple[str, ...]) -> Content:
    if given is None:
        return None
    return tuple(
        [walk.value(given[name]) if name in given else ABSENT for name in names]
    )


def _is_scalar(xs: Any, most: int) -> bool:
    """Tell whether all items are scalars, and not too many of them."""
    if len(xs) > most or type(xs) not in (list, tuple):
        return False
    return _SCALARS.issuperset(map(id, map(type, xs)))  # no class is asked


def _only_first(
    length: int, read: Callable[[Any], Content], end: Iterable[Content]
) -> Callable[[Any], Content]:
    """Return how the first items of a list or deque are read."""
    return lambda x: (*read(_first_of(x, length)), *end)


def _first_of(x: Any, length: int) -> Any:
    plain: list[Any] = list(x.copy())[:length]
    return deque(plain, x.maxlen) if type(x) is deque else plain


_codes: Final = codes.get
_namespaces: Final = namespaces.get


def scalar_function_token(fun: FunctionType) -> Token | None:
    """Return the token of a function that captures nothing but scalars.

    Hot: for a function that was made anew; the general way costs 1.5 µs more, and
    `plain_contents` 150 ns. None if it captures more, or nobody holds the token.
    """
    known = _codes(id(fun.__code__))
    names = _namespaces(id(fun.__globals__))
    if known is None or names is None or fun.__defaults__ is not None:
        return None
    if known[1]() is not fun.__code__ or names() is None or known[0].held:
        return None
    if fun.__kwdefaults__ is not None or fun.__dict__:
        return None
    content: list[Content] = [FUNCTION, known[0], names, None, None, None]
    try:
        for cell in fun.__closure__ or ():
            x: object = cell.cell_contents
            kind = type(x)
            if kind is int or kind is str or kind is NoneType:
                content.append(x)
            elif kind is float and x and x == x:
                content.append((float, x))
            elif kind is bool:
                content.append((bool, x))
            else:
                return None
    except ValueError:  # a variable without a value yet
        return None
    return find_token(tuple(content))
