"""The walk: from a value to the content of its token.

Functions are known by code and captures, plain data by content, all else by identity. The
walk is bounded: below `DEPTH` levels, after `leaves` parts, and in a container of more than
`container_leaves`, values are known by identity. A cycle is encoded as the distance to its
ancestor. No code of the user runs, but for `__imprint_token__`, by which an object states
its own token; and nothing raises. How instances of each class are read is in `rules`.
"""

import marshal
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from collections.abc import Callable, Mapping
from types import CellType, FunctionType, NoneType
from typing import Any, ClassVar, Final

from imprint._src.core.identity import Standin, identity, namespace, namespaces
from imprint._src.jit.fingerprint.code import Code, code_of, codes
from imprint._src.jit.fingerprint.layout import ClassLayout, layout_of
from imprint._src.jit.fingerprint.rules import RULES, copier_of, rule_of
from imprint._src.jit.fingerprint.token import (
    ABSENT,
    BACK,
    EMPTY,
    FUNCTION,
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


class ContentReader:
    """One walk over a value; a fresh one for each.

    Attributes:
        volatile: whether a container, attribute or empty cell was read, which can change.
        has_cells: whether a closure variable was read.
    """

    leaves: ClassVar[int] = 4096
    container_leaves: ClassVar[int] = 256
    scalars: ClassVar[int] = 256
    reads_all: ClassVar[bool] = False
    volatile: bool = False
    has_cells: bool = False
    _leaves = 0
    _lowest = DEPTH

    def __init__(self) -> None:
        self._open: dict[int, int] = {}
        self._done: dict[int, Token] = {}
        self._owners: dict[int, Any] = {}
        self._kept: list[Any] = []  # so that no `id` in these is used again

    @property
    def leaves_read(self) -> int:
        """How many parts were read."""
        return self._leaves

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
        before = self._leaves
        content = self.node(x, read)
        if self._leaves - before > self.container_leaves:
            return self.beyond(owner)
        self.volatile = True
        return content

    def pairs(self, x: Any) -> list[Content]:
        """Return the contents of the keys and values of a dict, in turn."""
        return self.values([part for pair in list(x.items()) for part in pair])

    def members(self, x: Any) -> list[Content]:
        """Return the contents of what is in a set."""
        return self.values(x.copy())

    # ---- functions ----

    def function(self, fun: FunctionType) -> Content:
        """Return the token of a function."""
        token = self._done.get(id(fun))
        if token is None:
            token = scalar_function_token(fun)
            self.has_cells |= token is not None and token.has_cells
        return self.node(fun, self._read_function) if token is None else token

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
                *self.cells(fun, code),
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

    def cells(self, fun: FunctionType, code: Code) -> list[Content]:
        """Return what closure variables hold; of those that the code binds, nothing."""
        held = zip(code.free, fun.__closure__ or (), strict=True)
        written = code.written
        return [ABSENT if name in written else self.cell(cell) for name, cell in held]

    def cell(self, cell: CellType) -> Content:
        """Return the content of a closure variable."""
        self.has_cells = True
        try:
            held = cell.cell_contents
        except ValueError:
            self.volatile = True
            return EMPTY
        return self.value(held)

    # ---- objects ----

    def unread(self, x: Any) -> Content:
        """Return the token of a value that this walk does not look into."""
        return identity(x)

    def beyond(self, x: Any) -> Content:
        """Return the token of a value that is too large for this walk, or too deep."""
        return self.unread(x)

    def object(self, x: Any) -> Content:
        """Return the content of an object that is no plain data."""
        return self.unread(x)

    def array(self, x: Any) -> Content:
        """Return the content of a NumPy array."""
        return self.unread(x)

    def state(self, x: Any, standin: Standin | None) -> Content:
        """Return the content of an object that is its attributes and items."""
        layout = layout_of(x)

        def read(y: Any) -> Content:
            items = self._items(y, copier_of(layout))
            return layout, STATE, standin, items, *self.attributes_of(y, layout)

        return self.node(x, read)

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

    def attributes_of(self, x: Any, layout: ClassLayout) -> list[Content]:
        """Return the names of all attributes of an object, and their contents."""
        self.volatile = True  # without any, it may get some
        return self.attributes(x, layout.state(x))

    def attributes(self, owner: Any, held: Mapping[str, Any]) -> list[Content]:
        """Return the names of an object's attributes, and their contents."""
        self._leaves += len(held)
        self.volatile |= bool(held.keys() - {"__wrapped__"})  # set once, by wraps
        return [tuple(held), *[self.value(value) for value in held.values()]]

    def said(self, x: Any, said: Any) -> Content:
        """Return the content of the token that an object states."""
        outer, self.volatile = self.volatile, False
        content = self.value(said)
        self.volatile |= outer
        return content


def _keyword_defaults(
    walk: ContentReader, given: Any, names: tuple[str, ...]
) -> Content:
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
    if known[1]() is not fun.__code__ or names() is None:
        return None
    if fun.__kwdefaults__ is not None or fun.__dict__:
        return None
    written = known[0].written
    content: list[Content] = [FUNCTION, known[0], names, None, None, None]
    try:
        for cell in fun.__closure__ or ():
            if written and known[0].free[len(content) - 6] in written:
                content.append(ABSENT)
                continue
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
