"""Sizes that have names, as plain data, and for which sizes of a call a trace is right.

A size is a number, a name, or an operation on two sizes. A question stands with its answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from imprint._src.core.aval import ShapedArray
from imprint._src.dynamic_shapes.decisions import SizeComparison
from imprint._src.dynamic_shapes.expression import SymbolicSize
from imprint._src.dynamic_shapes.values import HOLDS, size_arithmetic

Plain = Any


def plain_size(size: Any) -> Plain:
    """Return a size as plain data."""
    if type(size) is not SymbolicSize:
        return int(size)
    return size.computed(_itself, _operation)


def _itself(x: str | int) -> Plain:
    return x


def _operation(name: str, x: Plain, y: Plain) -> Plain:
    return [name, x, y]


def size_of(plain: Plain, names: Mapping[str, Any]) -> Any:
    """Return the size that plain data stand for, of what its names stand for."""
    if isinstance(plain, list):
        name, x, y = cast("list[Any]", plain)
        return size_arithmetic(str(name), size_of(x, names), size_of(y, names))
    return names[plain] if type(plain) is str else plain


def plain_shapes(avals: Iterable[ShapedArray]) -> Plain:
    """Return shapes with names in them as plain data."""
    return [[plain_size(n) for n in aval.shape] for aval in avals]


def shaped(
    avals: Sequence[ShapedArray], plain: Plain, names: Mapping[str, Any]
) -> tuple[ShapedArray, ...]:
    """Return avals with the shapes that plain data stand for."""
    pairs = zip(avals, plain, strict=True)
    return tuple(
        [
            aval.with_shape(tuple([size_of(n, names) for n in shape]))
            for aval, shape in pairs
        ]
    )


def plain_questions(asked: Iterable[SizeComparison]) -> Plain:
    """Return questions with their answers as plain data."""
    return [[plain_size(q.x), q.relation, plain_size(q.y), q.answer] for q in asked]


def hold_at(plain: Plain, sizes: Mapping[str, int]) -> bool:
    """Tell whether questions have their answers at some sizes."""
    return all(
        HOLDS[relation](size_of(x, sizes), size_of(y, sizes)) is answer
        for x, relation, y, answer in plain
    )


def questions_of(plain: Plain, names: Mapping[str, Any]) -> tuple[SizeComparison, ...]:
    """Return the questions that plain data stand for."""
    return tuple(
        [
            SizeComparison(size_of(x, names), relation, size_of(y, names), answer)
            for x, relation, y, answer in plain
        ]
    )
