"""Pytrees as readable text, with line breaks.

Arrays are shown as dtype and shape, modules and dataclasses as a constructor call,
functions by their name. The layout of a value is a word, or a group: brackets around items.
A group is written on one line if it fits, else its items on a line of their own, else each
item on its own line, as in Equinox. A container inside itself is `...`.
"""

import functools
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Final, TypeAlias, cast, final

import numpy as np

from imprint._src.core.array import Array
from imprint._src.module.methods import BoundMethod, qualname_of


def tree_pformat(
    tree: Any,
    *,
    width: int = 80,
    indent: int = 2,
    short_arrays: bool = True,
    truncate_leaf: Callable[[Any], bool] | None = None,
) -> str:
    """Return a pytree as text.

    Args:
        tree: any object.
        width: the columns that a line may take.
        indent: the columns by which the items of a broken group are moved in.
        short_arrays: show dtype and shape of an array in place of its values.
        truncate_leaf: a predicate of values that show only their class.

    Returns:
        The text, of several lines if one would be too long.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.module import tree_pformat
        >>> tree_pformat({"w": np.ones((2, 3)), "f": abs, "n": [1, None]})
        "{'w': f32[2,3], 'f': <function abs>, 'n': [1, None]}"
    """
    layout = _Layout(truncate_leaf, short_arrays=short_arrays)
    return "\n".join(_LineWriter(width, indent).lines("", layout.of(tree), 0, ""))


def tree_pprint(tree: Any, **options: Any) -> None:
    """Print a pytree as text.

    Args:
        tree: any object.
        options: those of `tree_pformat`.

    Returns:
        None; the text is printed.

    References:
        Equinox, `equinox.tree_pprint`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.module import tree_pprint
        >>> tree_pprint((np.arange(3), "text"))
        (i32[3], 'text')
    """
    print(tree_pformat(tree, **options))


def repr_of(self: Any) -> str:
    """Return the `repr` of a module; classes with this `repr` show their fields."""
    return tree_pformat(self)


# ---- writing ----


@final
class _Group:
    """Brackets around items, each with the name before it (`weight=`) or "".

    Args:
        brackets: the opening and the closing bracket.
        items: the parts.
        tail: the text after the last item: the comma of a tuple of one.
    """

    __slots__ = ("brackets", "flat", "inside", "items", "tail")

    def __init__(
        self, brackets: tuple[str, str], items: "Iterable[_Item]", tail: str = ""
    ) -> None:
        self.brackets = brackets
        self.items = tuple(items)
        self.tail = tail
        self.inside = ", ".join([name + _flat(doc) for name, doc in self.items]) + tail
        self.flat = f"{brackets[0]}{self.inside}{brackets[1]}"


_Doc: TypeAlias = str | _Group
_Item: TypeAlias = tuple[str, _Doc]


def _flat(doc: _Doc) -> str:
    return doc if isinstance(doc, str) else doc.flat


@final
class _LineWriter:
    def __init__(self, width: int, indent: int) -> None:
        self._width = width
        self._indent = indent

    def lines(self, name: str, doc: _Doc, margin: int, after: str) -> list[str]:
        """Return the lines of an item with its name before it and a text behind."""
        start = " " * margin + name
        flat = start + _flat(doc) + after
        fits = len(flat) <= self._width and "\n" not in flat
        if isinstance(doc, str):
            return flat.replace("\n", "\n" + " " * len(start)).split("\n")
        if fits or not doc.items:
            return [flat]
        opening, closing = doc.brackets
        inner = margin + self._indent
        found = [" " * inner + doc.inside]
        if len(found[0]) > self._width or "\n" in found[0]:
            ends = [","] * (len(doc.items) - 1) + [doc.tail]
            pairs = zip(doc.items, ends, strict=True)
            found = [line for i, end in pairs for line in self.lines(*i, inner, end)]
        return [start + opening, *found, " " * margin + closing + after]


# ---- layout ----


@final
class _Layout:
    """One traversal of a tree, with its open containers."""

    def __init__(
        self, truncate: Callable[[Any], bool] | None, *, short_arrays: bool
    ) -> None:
        self._truncate = truncate
        self._short = short_arrays
        self._open: set[int] = set()

    def of(self, x: Any) -> _Doc:
        """Return the layout of a value."""
        if self._truncate is not None and self._truncate(x):
            return f"{type(x).__name__}(...)"
        word = repr(x) if type(x) in _PLAIN else self._word(x)
        if word is not None:
            return word
        if id(x) in self._open:
            return "..."
        self._open.add(id(x))
        try:
            group = self._group(x)
            return group or _LOCAL.sub("", _ADDRESS.sub("", repr(x)))
        finally:
            self._open.discard(id(x))

    def _word(self, x: Any) -> str | None:
        """Return the text of a value without parts; None if it may have some."""
        if isinstance(x, _ARRAYS):
            return show_array(x) if self._short else repr(x)
        if isinstance(x, type):
            return _LOCAL.sub("", x.__qualname__)
        if isinstance(x, _FUNCTIONS):
            return f"<function {_LOCAL.sub('', x.__qualname__)}>"
        return None

    def _group(self, x: Any) -> _Group | None:
        """Return a container with its parts; None if its own `repr` is best."""
        kind: Any = x.__class__
        if kind in _BRACKETS and x:
            parts = [("", self.of(part)) for part in x]
            return _Group(
                _BRACKETS[kind],
                parts,
                "," if x and kind is tuple and len(x) == 1 else "",
            )
        if isinstance(x, dict):
            held = cast("dict[Any, Any]", x)
            pairs = [(f"{key!r}: ", self.of(part)) for key, part in held.items()]
            return _Group(("{", "}"), pairs)
        if isinstance(x, functools.partial):
            return self._call(kind, (x.func, *x.args), x.keywords)
        if isinstance(x, BoundMethod):
            name = _LOCAL.sub("", qualname_of(x.__func__))
            return _Group(
                (f"<bound method {name} of ", ">"), [("", self.of(x.__self__))]
            )
        names = _fields_shown(kind)
        if names is None:
            return None
        return self._call(kind, (), {n: getattr(x, n) for n in names if hasattr(x, n)})

    def _call(
        self, kind: type, args: Iterable[Any], keywords: Mapping[str, Any]
    ) -> _Group:
        items: list[_Item] = [("", self.of(x)) for x in args]
        items += [(f"{key}=", self.of(x)) for key, x in keywords.items()]
        return _Group((f"{kind.__name__}(", ")"), items)


_ARRAYS: Final[Any] = (Array, np.ndarray)
_PLAIN: Final = frozenset({int, float, complex, bool, str, bytes, type(None)})
_BRACKETS: Final[dict[type, tuple[str, str]]] = {
    tuple: ("(", ")"),
    list: ("[", "]"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    deque: ("deque([", "])"),
}
_FUNCTIONS: Final = (FunctionType, BuiltinFunctionType, MethodType, np.ufunc)
_LOCAL: Final = re.compile(r"(\w+\.)*<locals>\.")
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")


def _fields_shown(kind: Any) -> tuple[str, ...] | None:
    """Return the names of the parts of a class that is shown as a call."""
    names: tuple[str, ...] | None = getattr(kind, "_fields", None)
    if names is not None and issubclass(kind, tuple):
        return names
    params = getattr(kind, "__dataclass_params__", None)
    if params is None or not (params.repr or kind.__repr__ is repr_of):
        return None
    return tuple([f.name for f in fields(kind) if f.repr])


def show_array(x: Any) -> str:
    """Return dtype and shape of an array."""
    name = str(x.dtype)
    for long, short in _DTYPES:
        name = name.replace(long, short)
    weak = "weak_" if getattr(x, "weak_type", False) else ""
    shape = ",".join(map(str, x.shape))
    return f"{weak}{name}[{shape}]{'(numpy)' if isinstance(x, np.ndarray) else ''}"


_DTYPES: Final = (("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c"))
