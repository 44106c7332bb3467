"""Einstein summation: einsum and einsum_path.

1. Parse the subscripts; reduce repeated letters of one operand to the diagonal, and
   drop its axes of length 1 that others repeat.
2. NumPy's planner gives the order of contractions.
3. For each pair, sum letters that no other operand needs; the rest is one
   `dot_general`. Transpose the last result to the requested order.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import DType
from imprint._src.core.dims import Dim
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.fusion import fuse_eager
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.promotion import as_array, convert, promote_dtypes, refuse_out
from imprint._src.numpy.reductions.reductions import ANY, SUM, Over, reduce
from imprint._src.primitives.copying import owned
from imprint._src.primitives.core_ops import scalar_like, transpose
from imprint._src.primitives.dot import dot_general
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.primitives.shape import broadcasted_iota, squeeze


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
    """Parse the arguments of einsum; raise if they do not match."""
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
    """Return the number of axes that `...` stands for."""
    return x.ndim - len(term.replace("...", "")) if "..." in term else 0


def _spread(term: str, x: Array, fill: list[str]) -> str:
    """Return the letters of one operand, with letters for `...`."""
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
    """Return subscripts for operands that each precede a list of numbers."""
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


Path = list[tuple[int, ...]]
Optimize = bool | str | Sequence[tuple[int, ...]]


@fuse_eager
@owned
def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: None = None,
    optimize: Optimize = "auto",
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    _dot_general: Callable[..., Any] = dot_general,
    out_sharding: Any = None,
) -> Array:
    """Multiply arrays along named axes and sum over the names the result lacks.

    Args:
        subscripts: a letter for each axis of each operand, and of the result:
            "ij,jk->ik"; or the first operand, followed by the list of its axes.
        operands: the arrays.
        out: must be None; arrays are immutable.
        optimize: the planner: "auto", "optimal", "greedy", True, False, or the order
            itself as tuples of positions.
        precision: the precision of float products; None for the default.
        preferred_element_type: the dtype of the sums and the result.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array with an axis for each letter of the result, in their order. It has the
        promoted dtype unless `preferred_element_type` is given.

    References:
        NumPy, `numpy.einsum`.

    Example:
        >>> import imprint.numpy as np
        >>> np.einsum("ij,j->i", np.ones((2, 3)), np.arange(3.0))
        Array([3., 3.], dtype=float32)
    """
    if out_sharding is not None:
        return spread(
            einsum(
                subscripts,
                *operands,
                out=out,
                optimize=optimize,
                precision=precision,
                preferred_element_type=preferred_element_type,
                _dot_general=_dot_general,
            ),
            out_sharding,
        )
    refuse_out("einsum", out)
    parsed = parse(subscripts, operands)
    arrays = promote_dtypes("einsum", parsed.arrays)
    dtype, weak = arrays[0].dtype, arrays[0].weak_type
    if preferred_element_type is not None:
        dtype, weak = dtypes.requested(preferred_element_type, "einsum"), False
    work = _terms(parsed, arrays)
    for step in _path(work, parsed.out, optimize):
        taken = [work[i] for i in step]
        work = [t for i, t in enumerate(work) if i not in step]
        how = _How(precision, dtype, _dot_general)
        work.append(_contract(taken, work, parsed.out, how))
    result = _summed(work[0], parsed.out, dtype)
    order = tuple(result.names.index(n) for n in parsed.out)
    x = (
        result.array
        if order == tuple(range(len(order)))
        else transpose(result.array, order)
    )
    return convert("einsum", x, dtype, weak_type=weak)


def einsum_path(
    subscripts: Any, /, *operands: Any, optimize: Optimize = "auto"
) -> tuple[Path, str]:
    """Return the order of contractions of `einsum`, and a line about it.

    Args:
        subscripts: as in `einsum`.
        operands: the arrays.
        optimize: the planner, as in `einsum`.

    Returns:
        The positions that each step contracts, and a line with names, result and steps.

    References:
        NumPy, `numpy.einsum_path`.

    Example:
        >>> import imprint.numpy as np
        >>> np.einsum_path("ij,jk->ik", np.ones((2, 3)), np.ones((3, 4)))[0]
        [(0, 1)]
    """
    parsed = parse(subscripts, operands)
    steps = _path(_terms(parsed, parsed.arrays), parsed.out, optimize)
    return steps, f"{','.join(parsed.names)}->{parsed.out}: {steps}"


class _How(NamedTuple):
    """How pairs are contracted."""

    precision: Any
    dtype: DType
    dot_general: Callable[..., Any]


@dataclass(frozen=True)
class _Term:
    """An array and the letters of its axes, each once."""

    array: Any
    names: str

    def without(self, axes: Sequence[int]) -> str:
        """Return the names of the other axes."""
        return "".join(n for i, n in enumerate(self.names) if i not in axes)


# ---- 1. one operand ----


def _terms(parsed: Subscripts, arrays: Sequence[Any]) -> list[_Term]:
    lengths = _lengths(parsed)
    terms: list[_Term] = []
    for x, names in zip(arrays, parsed.names, strict=True):
        term = _diagonal(x, names)
        pairs = zip(term.names, term.array.shape, strict=True)
        repeated = [
            i for i, (n, own) in enumerate(pairs) if not dims.is_same(own, lengths[n])
        ]
        terms.append(_Term(squeeze(term.array, repeated), term.without(repeated)))
    return terms


def _lengths(parsed: Subscripts) -> dict[str, Dim]:
    """Return the length of each letter; raise if operands disagree."""
    lengths: dict[str, Dim] = {}
    for x, names in zip(parsed.arrays, parsed.names, strict=True):
        for n, name in zip(x.shape, names, strict=True):
            common = dims.broadcast(lengths.get(name, 1), n)
            if common is not None:
                lengths[name] = common
            else:
                avals = " and ".join(str(a.aval) for a in parsed.arrays)
                raise ShapeError(
                    f"einsum: expected one length for the axes named {name!r}, got "
                    f"{lengths[name]} and {n} for {','.join(parsed.names)} with {avals}. "
                    "Give different axes different letters."
                )
    return lengths


def _diagonal(x: Any, names: str) -> _Term:
    """Return an array with each of its letters once."""
    for name in dict.fromkeys(names):
        axes = [i for i, n in enumerate(names) if n == name]
        for extra in reversed(axes[1:]):
            x = _diagonal_of_two(x, axes[0], extra)
            names = names[:extra] + names[extra + 1 :]
    return _Term(x, names)


def _diagonal_of_two(x: Any, axis: int, extra: int) -> Any:
    rows = broadcasted_iota(dtypes.int32, x.shape, axis)
    on = eq(rows, broadcasted_iota(dtypes.int32, x.shape, extra))
    return _sum(where(on, x, scalar_like(x, 0)), (extra,))


def _summed(term: _Term, kept: str, dtype: DType) -> _Term:
    """Sum over the axes whose letters are not in `kept`, in the dtype of the result."""
    axes = tuple(i for i, n in enumerate(term.names) if n not in kept)
    if not axes:
        return term
    x = term.array
    x = x if x.dtype == dtype else convert("einsum", x, dtype)
    return _Term(_sum(x, axes), term.without(axes))


def _sum(x: Any, axes: tuple[int, ...]) -> Any:
    return reduce(ANY if dtypes.is_bool(x.dtype) else SUM, x, Over(axes))


# ---- 2. the order ----


def _path(terms: Sequence[_Term], out: str, optimize: Optimize) -> Path:
    count = len(terms)
    if count < 2:
        return []
    if not isinstance(optimize, bool | str):
        return [tuple(step) for step in optimize if not isinstance(step, str)]
    if optimize is False or count == 2:
        return [(0, 1)] * (count - 1)
    small = count <= _OPTIMAL_UP_TO
    how = optimize if optimize in ("optimal", "greedy") else None
    how = how or ("optimal" if optimize is True or small else "greedy")
    shaped = [
        np.broadcast_to(
            np.zeros(()),
            [_TYPICAL if dims.is_symbolic(n) else n for n in t.array.shape],
        )
        for t in terms
    ]
    subscripts = f"{','.join(t.names for t in terms)}->{out}"
    path, _ = np.einsum_path(subscripts, *shaped, optimize=(how, _NO_LIMIT))
    return [tuple(step) for step in path[1:]]


_OPTIMAL_UP_TO: Final = 4
_TYPICAL: Final = 64
"""The length that the planner uses for symbolic axes."""
_NO_LIMIT: Final = 2**62

# ---- 3. pairs ----


def _contract(taken: list[_Term], others: list[_Term], out: str, how: _How) -> _Term:
    """Contract terms pairwise; keep the letters of `others` and of the result."""
    term, *rest = taken
    for i, other in enumerate(rest):
        needed = out + "".join(t.names for t in (*rest[i + 1 :], *others))
        term = _pair(term, other, needed, how)
    return _summed(term, out + "".join(t.names for t in others), how.dtype)


def _pair(x: _Term, y: _Term, needed: str, how: _How) -> _Term:
    x = _summed(x, y.names + needed, how.dtype)
    y = _summed(y, x.names + needed, how.dtype)
    shared = [n for n in x.names if n in y.names]
    batch = [n for n in shared if n in needed]
    summed = [n for n in shared if n not in needed]
    first = [n for n in x.names if n not in shared]
    second = [n for n in y.names if n not in shared]
    swapped = "".join(batch + second + first)
    if needed.startswith(swapped) and first and second:
        x, y, first, second = y, x, second, first
    product = how.dot_general(
        x.array,
        y.array,
        ((_axes(x, summed), _axes(y, summed)), (_axes(x, batch), _axes(y, batch))),
        how.precision,
        preferred_element_type=how.dtype,
    )
    return _Term(product, "".join(batch + first + second))


def _axes(term: _Term, names: list[str]) -> list[int]:
    return [term.names.index(n) for n in names]
