"""Item uses: which values code reads by constant keys alone.

`self.cfg["lr"]` reads one item of a dict; `self.cfg` handed on, looped over or stored may
read any. A name is used whole if its value is used otherwise than by a constant key. What
stands under a key goes by that key: in `cfg["opt"]["lr"]`, `cfg` and `opt` are read by
constant keys, and `lr` is used whole.
"""

from types import CodeType
from typing import Any, Final, NamedTuple

from imprint.record.bytecode import (
    LOAD_CONST,
    Instructions,
    name_loaded,
    numbers,
    variables_of,
)


class ItemUses(NamedTuple):
    """How a code object uses items of containers.

    Args:
        keys: the texts by which it reads items.
        whole: the names that it uses otherwise than by a constant key, texts but keys.
        texts: these texts, which it may hand to what reads items by them.
        stored: the texts under which it binds or deletes items.
        stores_any: whether it does so by other keys too.
    """

    keys: frozenset[str]
    whole: frozenset[str]
    texts: frozenset[str]
    stored: frozenset[str]
    stores_any: bool


def item_uses(code: CodeType, found: Instructions) -> ItemUses:
    """Return how a code object, whose instructions are given, uses items."""
    return _Reader(code, found).run()


_METHODS: Final = numbers("LOAD_METHOD", "LOAD_ATTR")
_LOAD_CONST: Final = frozenset((LOAD_CONST,))
_CONSTS: Final = _LOAD_CONST | numbers("RETURN_CONST")
_READ: Final = numbers("BINARY_SUBSCR")
_WRITE: Final = numbers("STORE_SUBSCR", "DELETE_SUBSCR")
_COPY: Final = numbers("COPY")
_SWAP: Final = numbers("SWAP")
_CONTAINS: Final = numbers("CONTAINS_OP")
_VARIABLES: Final = numbers(
    *("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_FAST", "LOAD_FAST_CHECK")
)
_CALL: Final = numbers("CALL")
_GROWS: Final = frozenset(("add", "append", "appendleft", "extend", "update"))
_SLICES: Final = numbers("STORE_SLICE")


class _Reader:
    """One pass over a code object."""

    def __init__(self, code: CodeType, found: Instructions) -> None:
        self._code = code
        self._found = found
        self._variables = variables_of(code)
        self._whole: set[str] = set()
        self._texts: set[str] = set()
        self._keys: set[str] = set()
        self._stored: set[str] = set()
        self._changed: list[str] = []  # keys of items that `+=` is about to bind
        self._stores_any = False

    def run(self) -> ItemUses:
        taken: set[int] = set()  # where a key is loaded
        for i, (op, arg) in enumerate(self._found):
            name = name_loaded(self._code, self._variables, op, arg)
            if name is not None:
                if not self._is_read_by_key(i, taken):
                    self._whole.add(name)
            elif op in _CONSTS and i not in taken:
                self._note_text(i)
            elif op in _WRITE:
                self._note_write(i)
            self._stores_any |= op in _SLICES
        return ItemUses(
            frozenset(self._keys),
            frozenset(self._whole | self._texts),
            frozenset(self._texts),
            frozenset(self._stored),
            self._stores_any,
        )

    def _is_read_by_key(self, i: int, taken: set[int]) -> bool:
        """Tell whether what instruction `i` gives is used by a constant key at once."""
        if self._ends_use(i + 1, taken):
            return True
        if not self._is(i + 1, _CONTAINS):
            return False
        while self._is(i, _METHODS):  # back to where `a.b.c` begins
            i -= 1
        key = self._key(i - 1) if self._is(i, _VARIABLES) else None
        if key is None:
            return False
        self._keys.add(key)
        return True

    def _ends_use(self, i: int, taken: set[int]) -> bool:
        """Tell whether the use of what is on the stack begins, at `i`, with a key."""
        key = self._key(i)
        if key is None:
            return self._is_get(i, taken)
        if self._is(i + 1, _READ):
            self._note_value(i + 1, key, taken)
        elif self._is(i + 1, _COPY) and self._is(i + 3, _READ):  # `+=`
            self._changed.append(key)
            self._whole.add(key)
        elif not self._is(i + 1, _WRITE):
            return False
        taken.add(i)
        self._keys.add(key)
        return True

    def _is_get(self, i: int, taken: set[int]) -> bool:
        """Tell whether `.get` or `.setdefault` is called, from `i` on, with a key."""
        key = self._key(i + 1)
        if key is None or not self._is(i, _METHODS):
            return False
        method = name_loaded(self._code, self._variables, *self._found[i])
        end = next((k for k in range(i + 2, i + 5) if self._is(k, _CALL)), None)
        if method == "setdefault" and not self._is_grown(end):
            self._stored.add(key)
        elif method != "get" or end is None:
            return False
        taken.add(i + 1)
        self._keys.add(key)
        if end is None:  # the default is worked out
            self._whole.add(key)
        else:
            self._note_value(end, key, taken)
        return True

    def _is_grown(self, i: int | None) -> bool:
        """Tell whether what instruction `i` gives only becomes longer: no read of it."""
        if i is None or not self._is(i + 1, _METHODS):
            return False
        return name_loaded(self._code, self._variables, *self._found[i + 1]) in _GROWS

    def _note_value(self, i: int, key: str, taken: set[int]) -> None:
        """Note how the item under a key, which instruction `i` gives, is used."""
        if not self._is_read_by_key(i, taken):
            self._whole.add(key)

    def _note_text(self, i: int) -> None:
        key = self._key(i, _CONSTS)
        if key is not None and not self._is(i + 1, _WRITE):
            self._texts.add(key)

    def _note_write(self, i: int) -> None:
        key = self._key(i - 1)
        if key is None and self._is(i - 1, _SWAP) and self._changed:
            key = self._changed.pop()
        if key is None:
            self._stores_any = True
        else:
            self._stored.add(key)
            self._keys.add(key)

    def _is(self, i: int, ops: frozenset[int]) -> bool:
        return 0 <= i < len(self._found) and self._found[i][0] in ops

    def _key(self, i: int, ops: frozenset[int] = _LOAD_CONST) -> str | None:
        """Return the text that instruction `i` loads, if it does."""
        if not self._is(i, ops):
            return None
        value: Any = self._code.co_consts[self._found[i][1]]
        return value if type(value) is str else None
