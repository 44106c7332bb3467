"""The language of einsum: "ij,jk->ik", `...`, implicit results, lists of numbers.

The dots stand for the axes without a letter, counted from the end, and get letters that
the text does not use. Without "->" the result has the dots and, in alphabetical order,
the letters that stand once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from imprint._src.core.array import Array
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.promotion import as_array


@dataclass(frozen=True)
class Subscripts:
    """A parsed einsum: a letter for each axis.

    Args:
        names: the letters of each operand.
        out: the letters of the result.
        arrays: the operands.
    """

    names: tuple[str, ...]
    out: str
    arrays: tuple[Array, ...]


def parse(subscripts: Any, operands: Sequence[Any]) -> Subscripts:
    """Parse the arguments of einsum; raise if they do not fit each other."""
    if not isinstance(subscripts, str):
        subscripts, operands = _from_lists((subscripts, *operands))
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    arrays = tuple(as_array("einsum", x) for x in operands)
    if len(terms) != len(arrays) or not arrays:
        raise ArgumentError(
            f"einsum: expected an operand for each of {len(terms)} terms of {text!r}, "
            f"got {len(arrays)}. Separate terms with commas."
        )
    fill = [c for c in reversed(_LETTERS) if c not in text]
    names = tuple(_spread(term, x, fill) for term, x in zip(terms, arrays, strict=True))
    hidden = max((_hidden(t, x) for t, x in zip(terms, arrays, strict=True)), default=0)
    out = _out(right if arrow else None, "".join(names), "".join(terms), fill[:hidden])
    return Subscripts(names, out, arrays)


def _hidden(term: str, x: Array) -> int:
    """Return for how many axes the dots stand."""
    return x.ndim - len(term.replace("...", "")) if "..." in term else 0


def _spread(term: str, x: Array, fill: list[str]) -> str:
    """Return the letters of one operand, with letters for the dots."""
    letters = term.replace("...", "", 1)
    if not set(letters) <= set(_LETTERS):
        raise ArgumentError(
            f"einsum: expected letters and perhaps one '...' in each term, got {term!r}."
            " Name every axis by a letter."
        )
    hidden = _hidden(term, x)
    if hidden < 0 or len(letters) + hidden != x.ndim:
        raise ShapeError(
            f"einsum: expected a letter for each of {x.ndim} axes of {x.aval}, got "
            f"{term!r}. Add letters, or '...' for the axes that are not named."
        )
    return term.replace("...", "".join(fill[:hidden][::-1]))


def _out(right: str | None, names: str, text: str, fill: list[str]) -> str:
    """Return the letters of the result, given or implied."""
    dots = "".join(fill[::-1])
    if right is None:
        once = Counter(text.replace(".", ""))
        return dots + "".join(sorted(n for n, times in once.items() if times == 1))
    out = right.replace("...", dots)
    if len(set(out)) != len(out) or not set(out) <= set(names):
        raise ArgumentError(
            f"einsum: expected distinct letters of the operands in the result, got "
            f"{right!r}. The operands have {''.join(dict.fromkeys(names))!r}."
        )
    return out


def _from_lists(arguments: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Return subscripts for operands that are each followed by a list of numbers."""
    paired = arguments[: len(arguments) // 2 * 2]
    arrays, axes = list(paired[::2]), paired[1::2]
    if not axes or not all(isinstance(a, Sequence) for a in axes):
        raise ArgumentError(
            "einsum: expected a string first, or operands each followed by the list of "
            f"its axes, got {type(arguments[0]).__name__}. Write 'ij,jk->ik'."
        )
    text = ",".join(map(_letters, axes))
    if len(arguments) % 2:
        text += "->" + _letters(arguments[-1])
    return text, arrays


def _letters(axes: Sequence[Any]) -> str:
    return "".join("..." if n is Ellipsis else _LETTERS[n] for n in axes)


_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
