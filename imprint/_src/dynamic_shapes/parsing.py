"""Parsing of `symbolic_shape` and of the constraints of a scope.

The grammar is JAX's: names, whole numbers, `+ - * ^`, and binary `floordiv`, `mod`,
`max`, `min`; the operators `// % **` mean the same. Python's parser reads the text, and
nothing is run.
"""

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, final

from imprint._src.core import dims
from imprint._src.core.dims import Dim
from imprint._src.dynamic_shapes.expression import (
    Size,
    SizeScope,
    SymbolicSize,
    atom_of,
)
from imprint._src.errors import ArgumentError

_GRAMMAR: Final = (
    "Write names, whole numbers, + - * ^, floordiv(a, b), mod(a, b), max(a, b), "
    "min(a, b): 'b, 2*n + 1'."
)


@final
class SymbolicScope(SizeScope):
    """Names and their constraints; the sizes in a shape must be of one scope.

    Each name is at least 1. A scope holds the expressions made of its names.

    Args:
        constraints: further relations, such as `"n >= 2"`, `"m <= n"`, `"mod(n, 8) ==
            0"`,
            `"m == 2*n"`. Where it is an equation, a name or one operation is its left
            side. `"n >= 0"` lets a name be 0.

    Raises:
        ArgumentError: for a text that is no such relation, or one that never holds.

    Example:
        >>> import imprint
        >>> scope = imprint.SymbolicScope(["mod(n, 8) == 0"])
        >>> (n,) = imprint.symbolic_shape("n", scope=scope)
        >>> n % 4, n // 8 * 8 == n
        (0, True)
    """

    __slots__ = ("constraints",)

    def __init__(self, constraints: Sequence[str] = ()) -> None:
        super().__init__()
        self.constraints: tuple[str, ...] = tuple(constraints)
        for text in self.constraints:
            _constrain(self, text)

    def __repr__(self) -> str:
        return f"SymbolicScope({list(self.constraints)})"


def symbolic_shape(
    shape_spec: str | None,
    *,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
    like: Sequence[int | None] | None = None,
) -> tuple[Dim, ...]:
    """Return the shape that a text describes, with names for sizes.

    The same name is the same size. A trace at such a shape is right for all sizes, so a
    comparison that depends on them is an error, which names the constraint to add.

    Args:
        shape_spec: the sizes, with commas between: names, numbers and expressions of
            them. `_` is the size in `like`, `...` all remaining sizes; None for
            `like` itself.
        constraints: relations of the names; each is at least 1 anyway. See
            `SymbolicScope`.
        scope: that of other shapes, with which names are shared; a new one for each
            call if None. It has its constraints already.
        like: a shape with numbers.

    Returns:
        The sizes, ints or expressions of names.

    Raises:
        ArgumentError: for a text that is no shape.
        ShapeError: for a size that may be negative.

    References:
        JAX, `jax.export.symbolic_shape`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> b, n = imprint.symbolic_shape("b, 2*n")
        >>> x = imprint.ShapeDtypeStruct((b, n), "float32")
        >>> imprint.eval_shape(lambda x: np.concatenate([x, x]).reshape(-1), x)
        ShapeDtypeStruct(shape=(4*b*n,), dtype=float32)
    """
    if scope is None:
        scope = SymbolicScope(constraints)
    elif constraints:
        raise ArgumentError(
            "symbolic_shape: expected constraints or a scope, got both. Pass the "
            "constraints to imprint.SymbolicScope."
        )
    text = "..." if shape_spec is None else shape_spec
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users write anything
        raise ArgumentError(
            f"symbolic_shape: expected a text such as 'b, 2*n', got {text!r}. Sizes that "
            "are numbers need no names: use the tuple."
        )
    reader = _ShapeParser("symbolic_shape", text, scope)
    return tuple(_sizes(reader, None if like is None else tuple(like)))


def _sizes(reader: "_ShapeParser", like: tuple[int | None, ...] | None) -> list[Dim]:
    entries = reader.entries()
    found: list[Dim] = []
    for i, entry in enumerate(entries):
        if isinstance(entry, ast.Constant) and entry.value is Ellipsis:
            if i + 1 < len(entries):
                reader.fail("`...` is the last entry")
            if like is None:
                reader.fail("`...` needs `like=`, a shape")
            return [*found, *[_known(reader, n) for n in like[i:]]]
        if isinstance(entry, ast.Name) and entry.id == "_":
            if like is None or i >= len(like):
                reader.fail(f"`_` needs an entry {i} of `like=`")
            found.append(_known(reader, like[i]))
            continue
        found.append(_size(reader, entry))
    if like is not None and len(like) != len(found):
        reader.fail(f"it has {len(found)} entries, and like={like} {len(like)}")
    return found


def _known(reader: "_ShapeParser", n: int | None) -> Dim:
    if n is None:
        reader.fail("`like=` has None in a place that takes its size")
    return dims.as_dim(n, "symbolic_shape")


def _size(reader: "_ShapeParser", entry: ast.expr) -> Dim:
    size: Any = reader.size_of(entry)
    if not dims.at_least(size, 0):
        reader.fail(f"{size} is negative")
    return size


class _ShapeParser:
    """Reads one text."""

    def __init__(self, who: str, text: str, scope: SymbolicScope) -> None:
        self.who = who
        self.text = text
        self.scope = scope

    def entries(self) -> list[ast.expr]:
        """Return the texts between the commas, with or without brackets around them."""
        if not self.text.strip(" ()"):
            return []
        body = self.parsed(self.text)
        return body.elts if isinstance(body, ast.Tuple) else [body]

    def parsed(self, text: str) -> ast.expr:
        """Return the tree of a text."""
        try:
            return ast.parse(text.strip().replace("^", "**"), mode="eval").body
        except SyntaxError:
            self.fail("it cannot be read; an operator or a comma may be missing")

    def size_of(self, tree: ast.expr) -> Size:
        """Return the size that a tree means."""
        match tree:
            case ast.Constant(value=int(n)) if not isinstance(n, bool):
                return n
            case ast.Name(id=text):
                return self._name(text)
            case ast.UnaryOp(op=ast.USub(), operand=x):
                return -self.size_of(x)
            case ast.BinOp(left=x, op=op, right=y) if type(op) in _OPERATORS:
                return self._joined(_OPERATORS[type(op)], x, y)
            case ast.Call(func=ast.Name(id=name), args=[x, y], keywords=[]) if (
                name in _FUNCTIONS
            ):
                return self._joined(_FUNCTIONS[name], x, y)
            case _:
                return self.fail(f"{ast.unparse(tree)!r} is no size")

    def _name(self, text: str) -> Size:
        if text in _FUNCTIONS:
            self.fail(f"{text} takes two operands in brackets")
        return self.scope.name(text)

    def _joined(self, join: Callable[[Any, Any], Size], x: Any, y: Any) -> Size:
        a, b = self.size_of(x), self.size_of(y)
        try:
            return join(a, b)
        except (TypeError, ZeroDivisionError):
            self.fail(f"there is no number for {a} and {b} there")

    def fail(self, why: str) -> NoReturn:
        """Raise the error of this text."""
        raise ArgumentError(
            f"{self.who}: expected sizes, got {self.text!r}: {why}. {_GRAMMAR}"
        )


def _power(x: Size, n: Any) -> Size:
    if not isinstance(n, int) or n < 0:
        raise TypeError
    return x**n


_OPERATORS: Final[dict[type[ast.operator], Callable[[Any, Any], Size]]] = {
    ast.Add: lambda x, y: x + y,
    ast.Sub: lambda x, y: x - y,
    ast.Mult: lambda x, y: x * y,
    ast.FloorDiv: lambda x, y: x // y,
    ast.Mod: lambda x, y: x % y,
    ast.Pow: _power,
}

_FUNCTIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "floordiv": lambda x, y: x // y,
    "mod": lambda x, y: x % y,
    "max": dims.maximum,
    "min": dims.minimum,
}

# ---- constraints ----

_RELATION: Final = re.compile(r"(.*?)(==|>=|<=|>|<)(.*)", re.DOTALL)


def _constrain(scope: SymbolicScope, text: Any) -> None:
    """Add a constraint to a scope."""
    found = _RELATION.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ArgumentError(
            f"SymbolicScope: expected a relation such as 'n >= 2', got {text!r}. Write "
            "two sizes with ==, >=, <=, > or < between."
        )
    reader = _ShapeParser("SymbolicScope", text, scope)
    left, relation, right = found.groups()
    x, y = [reader.size_of(reader.parsed(side)) for side in (left, right)]
    if relation == "==":
        _equate(reader, x, y)
    else:
        _order(reader, relation, x, y)


def _equate(reader: _ShapeParser, x: Size, y: Size) -> None:
    scope, atom = reader.scope, _atom_of(x)
    name, size, by = scope.operations.get(atom or "", ("", 0, 0))
    if name == "mod" and isinstance(size, SymbolicSize) and isinstance(by, int):
        if not (isinstance(y, int) and 0 <= y < by):
            reader.fail(f"the right side is a number from 0 to {by - 1}")
        scope.remainders.append((size, by, y))
        return
    if atom is not None and atom not in str(y):
        scope.equals[atom] = y
        return
    gap = x - y
    if not isinstance(gap, int):
        reader.fail("the left side of == is a name or an operation, not on the right")
    if gap:
        reader.fail("it never holds")


def _atom_of(size: Size) -> str | None:
    return None if isinstance(size, int) else atom_of(size.terms)


def _order(reader: _ShapeParser, relation: str, x: Any, y: Any) -> None:
    scope = reader.scope
    large, small = (x, y) if relation in (">=", ">") else (y, x)
    gap = large - small - (relation in (">", "<"))
    atom = _atom_of(large)
    if atom is not None and isinstance(small, int) and atom not in scope.operations:
        if small < 0:
            reader.fail("a size is not negative")
        scope.least[atom] = small + (relation in (">", "<"))
    elif isinstance(gap, SymbolicSize) and gap.is_non_negative() is not False:
        scope.facts.append(gap)
    elif isinstance(gap, SymbolicSize) or gap < 0:
        reader.fail("it never holds")
    for made in scope.made.values():
        made.forget()
