"""Permutations, and choices with and without replacement.

A permutation sorts by random bits, repeatedly, until ties in all rounds are very
unlikely. Weighted choices without replacement are the largest log weights plus Gumbel
noise.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import Shape, get_aval
from imprint._src.core.dims import Dim
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.primitives.axes import canonical_axis, whole
from imprint._src.primitives.core_ops import add, full, mul, scalar_like, sub
from imprint._src.primitives.cumulative import cumsum
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.exponential import log
from imprint._src.primitives.indexing.searching import searchsorted
from imprint._src.primitives.indexing.slicing import slice_in_dim
from imprint._src.primitives.indexing.sorting import sort_key_val, top_k
from imprint._src.primitives.indexing.take_rows import rows_at
from imprint._src.primitives.shape import as_operand, iota, reshape, squeeze
from imprint._src.random.arguments import check_number, sizes
from imprint._src.random.continuous import gumbel
from imprint._src.random.intervals import bits, randint, uniform
from imprint._src.random.key_array import KeyLike, checked_key
from imprint._src.random.keys import split

_ROUNDS: Final = 3 / math.log(np.iinfo(np.uint32).max)
"""The exponent of the number of elements per round, as in JAX."""


def permutation(
    key: KeyLike,
    x: Any,
    axis: int = 0,
    independent: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    *,
    out_sharding: Any = None,
) -> Array:
    """Return elements in random order along an axis.

    Args:
        key: a key.
        x: an array; or an integer n, for `arange(n)`.
        axis: the axis.
        independent: whether to permute each row along the axis separately.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of the shape of `x`, or of n integers.

    Raises:
        ArgumentError: `x` is a number that is not whole.

    Example:
        >>> import imprint
        >>> imprint.random.permutation(imprint.random.key(0), 5)
        Array([0, 1, 4, 3, 2], dtype=int32)
    """
    if out_sharding is not None:
        return spread(permutation(key, x, axis, independent), out_sharding)
    checked_key("permutation", key)
    if dims.is_symbolic(x):
        return _shuffled(key, _count_to(x), 0)
    aval = check_number("permutation", "x", x)
    if not aval.ndim:
        if not dtypes.is_integer(aval.dtype):
            raise ArgumentError(
                "permutation: expected a whole number or an array with an axis, got "
                f"{aval}. Convert it with int()."
            )
        canonical_axis("permutation", axis, 1)
        return _shuffled(key, _count_to(whole("permutation", "x", x)), 0)
    at = canonical_axis("permutation", axis, aval.ndim)
    if independent or aval.ndim == 1:
        return _shuffled(key, x, at)
    return rows_at(x, _shuffled(key, _count_to(aval.shape[at]), 0), at)


def _count_to(n: int) -> Any:
    return iota(dtypes.default_int(), n)


def _shuffled(key: Any, x: Any, axis: int) -> Any:
    """Sort by random bits, with new ones in each round."""
    shape = get_aval(x).shape
    for _ in range(_rounds(dims.product(shape))):
        key, subkey = split(key)
        _, x = sort_key_val(bits(subkey, shape, np.uint32), x, axis)
    return x


def _rounds(size: Dim) -> int:
    """Return the number of rounds for a size."""
    if type(size) is int:
        return math.ceil(_ROUNDS * math.log(max(1, size)))
    rounds = 0
    while dims.at_least(size, math.floor(math.exp(rounds / _ROUNDS)) + 1):
        rounds += 1  # concrete comparison: one trace for all sizes with as many rounds
    return rounds


def choice(  # noqa: PLR0913, PLR0917 - JAX's signature
    key: KeyLike,
    a: Any,
    shape: Any = (),
    replace: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
    p: Any = None,
    axis: int = 0,
    mode: str | None = None,
) -> Array:
    """Draw elements of an array.

    Args:
        key: a key.
        a: an array; or an integer n, for `arange(n)`.
        shape: the shape of the draws, which replaces `axis`.
        replace: whether elements may repeat.
        p: the probability of each element; uniform if None.
        axis: the axis of the elements.
        mode: as in `gumbel`, for weights without replacement.

    Returns:
        The elements, in the dtype of `a`; or integers, if that is a number.

    Raises:
        ShapeError: `shape` is not a sequence, or `p` does not fit the elements.
        ArgumentError: there are no elements, or fewer than draws without replacement.

    Example:
        >>> import imprint
        >>> imprint.random.choice(imprint.random.key(0), 5, (3,), replace=False)
        Array([0, 1, 4], dtype=int32)
    """
    checked_key("choice", key)
    if not isinstance(shape, Sequence) or isinstance(shape, str):
        raise ShapeError(
            f"choice: expected a shape, a tuple of integers, got {shape!r}. Write (n,) for "
            "n draws."
        )
    lengths = sizes("choice", shape)
    aval = check_number("choice", "a", as_operand(a))
    is_number = not aval.ndim
    at = 0 if is_number else canonical_axis("choice", axis, aval.ndim)
    count = aval.shape[at] if aval.ndim else a
    count = count if dims.is_symbolic(count) else whole("choice", "a", count)
    drawn = dims.product(lengths)
    if dims.is_same(drawn, 0):
        return full(lengths, 0, aval.dtype)
    _check(count, drawn, replace=replace)
    result = (
        lengths if is_number else (*aval.shape[:at], *lengths, *aval.shape[at + 1 :])
    )
    if p is None and not replace:
        order = permutation(key, count if is_number else a, at)
        return reshape(slice_in_dim(order, 0, drawn, axis=at), result)
    if p is None:
        index = randint(key, lengths, 0, as_operand(count))
    else:
        index = _weighted(key, p, count, lengths, replace=replace, mode=mode)
    return reshape(index if is_number else rows_at(a, index, at), result)


def _check(count: int, drawn: int, *, replace: bool) -> None:
    if not dims.at_least(count, 1):
        raise ArgumentError(
            f"choice: expected at least one element to draw from, got {count}. Only an "
            "empty shape can be drawn from nothing."
        )
    if not replace and not dims.at_least(count, drawn):
        raise ArgumentError(
            f"choice: expected at most {count} draws, as many as there are elements, got "
            f"{drawn}. Draw fewer, or with replace=True."
        )


def _weighted(
    key: KeyLike,
    p: Any,
    count: int,
    shape: Shape,
    *,
    replace: bool,
    mode: str | None,
) -> Array:
    """Return the indices of the draws."""
    given = check_number("choice", "p", p)
    if given.ndim != 1 or not dims.equal(given.shape[0], count):
        raise ShapeError(
            f"choice: expected p of shape ({count},), a weight for each element, got "
            f"{given}. Give one for each."
        )
    weights = convert_element_type(p, dtypes.to_inexact(given.dtype))
    if replace:
        sums = cumsum(weights)
        total = squeeze(slice_in_dim(sums, -1, None), (0,))
        draws = uniform(key, shape, get_aval(sums).dtype)
        heights = mul(total, sub(scalar_like(draws, 1), draws))
        index = searchsorted(sums, heights, "left", "scan")
    else:
        noise = gumbel(key, (count,), get_aval(weights).dtype, mode)
        many = dims.concrete(dims.product(shape), "choice")
        _, index = top_k(add(noise, log(weights)), many)
    return convert_element_type(index, dtypes.default_int())
