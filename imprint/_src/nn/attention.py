"""Attention: weighted means of values, the weights a softmax of products with keys.

Axes are named as in JAX: batch B, positions T of the query and S of keys and values,
heads N of the query and K of the others, features H. Several heads of the query may
share one of the others, so the computation uses the query axes B, T, K, N / K, H.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final, cast

import imprint.numpy as np
from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.nn.functions import logsumexp, softmax
from imprint._src.numpy.promotion import ArrayLike, as_array, with_rank
from imprint._src.primitives.barrier import stop_gradient

NAME: Final = "dot_product_attention"


def dot_product_attention(  # noqa: PLR0913 - JAX's signature
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """Return for each query the mean of values, weighted by its match with keys.

    Args:
        query: of the axes BTNH or TNH.
        key: of the axes BSKH or SKH; N is a multiple of K, whose heads are shared.
        value: with the shape of the keys.
        bias: added to the products; its axes are BNTS, each of its length or 1.
        mask: the keys that a query may match; its axes are BNTS, each of its length or
            1.
        scale: a factor of the products; None for 1 divided by the square root of H.
        is_causal: whether a query matches only keys up to its own position.
        query_seq_lengths: the number of valid positions of each query, int32 of axis B.
        key_value_seq_lengths: the number of valid positions of keys and values.
        local_window_size: the numbers of positions before and after its own to match.
        implementation: must be None or "xla".
        return_residual: whether to return the logarithms of the sums of exponentials too.

    Returns:
        An array of the axes of `query`, BTNH or TNH, and of the dtype of the keys; with
        `return_residual`, a pair of it and the logarithms, of the axes BTN or TN.

    Raises:
        ShapeError: shapes do not match.
        DTypeError: dtypes of query, key and value differ, or the mask is not boolean.

    References:
        Vaswani et al., "Attention Is All You Need", 2017.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> q, k = np.zeros((2, 1, 4)), np.ones((3, 1, 4))
        >>> v = np.arange(3.0)[:, None, None] * np.ones(4)
        >>> nn.dot_product_attention(q, k, v, is_causal=True)[:, 0, 0]
        Array([0. , 0.5], dtype=float32)
    """
    if implementation not in (None, "xla"):
        raise ArgumentError(
            f"{NAME}: expected implementation None or 'xla', got {implementation!r}."
        )
    shape = as_array(NAME, query).shape
    given = _Operands(*map(_of_rank_4, (query, key, value)))
    given.check()
    lengths = [
        None if x is None else given.lengths(x)
        for x in (query_seq_lengths, key_value_seq_lengths)
    ]
    products = given.products(1 / math.sqrt(shape[-1]) if scale is None else scale)
    if bias is not None:
        products = np.astype(products + given.grouped("bias", bias), products.dtype)
    masks = list(_masks(products.shape, lengths, local_window_size, causal=is_causal))
    if mask is not None:
        masks.append(given.grouped("mask", mask))
    if masks:
        matches = reduce(np.logical_and, [with_rank(m, products.ndim) for m in masks])
        products = np.where(matches, products, _lowest(products.dtype))
    products = np.astype(products, np.float32)
    weights = np.astype(softmax(products), given.key.dtype)
    out = np.einsum("bkgts,bskh->btkgh", weights, given.value)
    if lengths[0] is not None:
        counts = np.arange(out.shape[1])[None] < lengths[0][:, None]
        out = out * np.astype(counts[:, :, None, None, None], out.dtype)
    out = np.reshape(out, shape)
    if not return_residual:
        return out
    sums = np.astype(logsumexp(products, axis=-1), given.key.dtype)
    residual = np.reshape(np.moveaxis(sums, -1, 1), shape[:-1])
    return out, stop_gradient(residual)


@dataclass(frozen=True)
class _Operands:
    """Query, key and value, each with four axes."""

    query: Array
    key: Array
    value: Array

    def check(self) -> None:
        """Raise if shapes or dtypes do not match."""
        batch, _, heads, width = self.query.shape
        fits = self.key.shape == self.value.shape and heads % self.key.shape[2] == 0
        if not fits or (batch, width) != (self.key.shape[0], self.key.shape[3]):
            raise ShapeError(
                f"{NAME}: expected a query BTNH, a key BSKH and a value of its shape, N "
                f"a multiple of K, got {self._shown()}. Positions come before heads."
            )
        if not self.query.dtype == self.key.dtype == self.value.dtype:
            raise DTypeError(
                f"{NAME}: expected a query, a key and a value of one dtype, got "
                f"{self._shown()}. Convert with .astype."
            )

    def _shown(self) -> str:
        return f"{self.query.aval}, {self.key.aval} and {self.value.aval}"

    def products(self, scale: Any) -> Array:
        """Return the scaled products of queries and keys, in float32 at least."""
        batch, length, heads, width = self.query.shape
        shared = self.key.shape[2]
        query = np.reshape(self.query, (batch, length, shared, heads // shared, width))
        wide = np.promote_types(query.dtype, np.float32)
        products = np.einsum(
            "btkgh,bskh->bkgts", query, self.key, preferred_element_type=wide
        )
        return products * np.asarray(scale, wide)

    def grouped(self, what: str, x: ArrayLike) -> Array:
        """Return a bias or a mask with the axes of the products."""
        array = _of_rank_4(x)
        if what == "mask" and not dtypes.is_bool(array.dtype):
            raise DTypeError(
                f"{NAME}: expected a boolean mask, got {array.aval}. Numbers that are "
                "added are the bias."
            )
        heads, shared = self.query.shape[2], self.key.shape[2]
        if array.shape[1] not in (1, heads):
            raise ShapeError(
                f"{NAME}: expected a {what} of 1 or {heads} heads, got {array.aval}. Its "
                "axes are batch, heads, positions of the query, positions of the keys."
            )
        of_heads = (1, 1) if array.shape[1] == 1 else (shared, heads // shared)
        return np.reshape(array, (array.shape[0], *of_heads, *array.shape[2:]))

    def lengths(self, x: ArrayLike) -> Array:
        """Return the number of valid positions for each example of the batch."""
        array = as_array(NAME, x)
        if array.shape != self.query.shape[:1] or array.dtype != np.int32:
            raise ShapeError(
                f"{NAME}: expected lengths int32{[*self.query.shape[:1]]}, one for each "
                f"example, got {array.aval}. Convert with .astype('int32')."
            )
        return array


def _of_rank_4(x: ArrayLike) -> Array:
    array = as_array(NAME, x)
    if array.ndim > 4:
        raise ShapeError(
            f"{NAME}: expected at most 4 axes, got {array.aval}. Map over the others "
            "with imprint.vmap."
        )
    return np.reshape(array, (*(1,) * (4 - array.ndim), *array.shape))


def _masks(
    shape: tuple[int, ...],
    lengths: list[Array | None],
    window: int | tuple[int, int] | None,
    *,
    causal: bool,
) -> Iterator[Array]:
    """Yield the mask of each option, in shapes that broadcast to the products."""
    query, key = np.arange(shape[-2])[:, None], np.arange(shape[-1])[None]
    if causal:
        yield query >= key
    if window is not None:
        before, after = (window, window) if isinstance(window, int) else window
        yield np.logical_and(query <= key + before, query >= key - after)
    for positions, length in zip((query, key), lengths, strict=True):
        if length is not None:
            ends = np.reshape(length, (-1, 1, 1, 1, 1))
            yield with_rank(positions, ends.ndim) < ends


def _lowest(dtype: Any) -> Array:
    """Return a product with weight 0, finite in float32."""
    limits = [cast("Any", dtypes.finfo(d)).max for d in (dtype, dtypes.float32)]
    return np.asarray(-0.7 * min(map(float, limits)), dtype)
