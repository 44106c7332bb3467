"""Draws of booleans, signs and categories.

A boolean compares a uniform draw with its probability. A category is the index of the
largest logit plus Gumbel noise.
"""

from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.bootstrap import hooks
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import DType, Shape, get_aval
from imprint._src.core.dims import Dim
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.primitives.arg_reductions import argmax
from imprint._src.primitives.axes import canonical_axis, insert
from imprint._src.primitives.core_ops import add, moveaxis, mul, scalar_like, sub
from imprint._src.primitives.elementwise.comparison import lt
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.shape import reshape
from imprint._src.random.arguments import (
    check_fits,
    check_floats,
    common_shape,
    float_info,
    programs,
    repeat,
    sizes,
)
from imprint._src.random.continuous import gumbel_floats, precision
from imprint._src.random.intervals import unit_floats
from imprint._src.random.key_array import KeyLike, single_key
from imprint._src.random.streams import row

# ---- booleans ----


def bernoulli(
    key: KeyLike,
    p: Any = 0.5,
    shape: Any = None,
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw booleans that are True with probability `p`.

    Args:
        key: a key.
        p: the probability, a float or an array of floats.
        shape: the shape of the result; by default that of `p`.
        mode: "low", the default; or "high", with twice the bits, for `p` below 1e-7.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        Booleans, of shape `shape`.

    Raises:
        ArgumentError: `p` is not a float, or `mode` is unknown.
        ShapeError: `p` does not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.bernoulli(imprint.random.key(0), 0.5, (3,))
        Array([False, False,  True], dtype=bool)
    """
    if out_sharding is not None:
        return spread(bernoulli(key, p, shape, mode), out_sharding)
    data = single_key("bernoulli", key)
    check_floats("bernoulli", "p", p)
    lengths = common_shape("bernoulli", shape, p)
    return _bernoulli_of(lengths, precision("bernoulli", mode))(data, p)


def _bernoulli(shape: Shape, precise: bool, data: Any, p: Any) -> Any:  # noqa: FBT001 - a param of a program
    dtype = get_aval(p).dtype
    p = repeat(convert_element_type(p, dtype), shape)
    if not precise:
        return lt(unit_floats(shape, dtype, data), p)
    pair = unit_floats((2, *shape), dtype, data)
    coarse, fine = row(pair, 0), row(pair, 1)
    fine = mul(fine, scalar_like(fine, 2.0 ** -float_info(dtype).nmant))
    return lt(fine, sub(p, coarse))


_bernoulli_of = programs(_bernoulli, is_exact=True)


def rademacher(
    key: KeyLike,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw -1 or 1, both equally likely.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: `int32` by default, `int64` under `enable_x64`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The signs, of shape `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.rademacher(imprint.random.key(0), (3,))
        Array([-1, -1,  1], dtype=int32)
    """
    if out_sharding is not None:
        return spread(rademacher(key, shape, dtype), out_sharding)
    data = single_key("rademacher", key)
    out = dtypes.requested(int if dtype is None else dtype, "rademacher")
    return _rademacher_of(sizes("rademacher", shape), out)(data)


def rademacher_signs(shape: Shape, dtype: DType, data: Any) -> Any:
    """Draw -1 or 1, both equally likely."""
    half = np.asarray(0.5, dtypes.default_float())[()]
    drawn = convert_element_type(_bernoulli(shape, False, data, half), dtype)  # noqa: FBT003 - a param of a program
    return sub(mul(scalar_like(drawn, 2), drawn), scalar_like(drawn, 1))


_rademacher_of = programs(rademacher_signs, is_exact=True)

# ---- categories ----


def categorical(  # noqa: PLR0913 - JAX's signature
    key: KeyLike,
    logits: Any,
    axis: int = -1,
    shape: Any = None,
    replace: bool = True,  # noqa: FBT001, FBT002 - positional in JAX
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw indices along an axis of `logits`, with its softmax as probabilities.

    Args:
        key: a key.
        logits: logarithms of probabilities, up to a constant; an array of floats.
        axis: the axis of the categories.
        shape: the shape of the result. It ends with the shape of `logits` without
            `axis`, which is the default, or with a shape that this broadcasts to.
        replace: whether draws of one row of `logits` may repeat; if not, they are along
            the first axes of `shape`.
        mode: as in `gumbel`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The indices, integers of shape `shape`, `int32` or under `enable_x64` `int64`.

    Raises:
        ArgumentError: `logits` are not floats, `mode` is unknown, or there are more draws
            without replacement than categories.
        ShapeError: `shape` does not end as it must.

    References:
        Gumbel 1954; Kool et al. 2019 (without replacement).

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.random.categorical(imprint.random.key(0), np.zeros((4, 3)))
        Array([1, 1, 2, 1], dtype=int32)
    """
    if out_sharding is not None:
        return spread(
            categorical(key, logits, axis, shape, replace, mode), out_sharding
        )
    data = single_key("categorical", key)
    aval = check_floats("categorical", "logits", logits)
    at = canonical_axis("categorical", axis, aval.ndim)
    batch = aval.shape[:at] + aval.shape[at + 1 :]
    lengths = batch if shape is None else sizes("categorical", shape)
    check_fits("categorical", lengths, batch)
    if not replace:
        _check_distinct(lengths, batch, aval.shape[at])
        return _distinct_of(lengths, at, precision("categorical", mode))(data, logits)
    return _categorical_of(lengths, at, precision("categorical", mode))(data, logits)


def _categorical(shape: Shape, at: int, precise: bool, data: Any, logits: Any) -> Any:  # noqa: FBT001 - a param of a program
    aval = get_aval(logits)
    axis = len(shape) + 1 - aval.ndim + at
    full_shape = insert(shape, axis, aval.shape[at])
    noise = gumbel_floats(full_shape, aval.dtype, precise, data)
    return argmax(add(noise, repeat(logits, full_shape)), axis, dtypes.default_int())


_categorical_of = programs(_categorical)


def _check_distinct(shape: Shape, batch: Shape, count: Dim) -> None:
    drawn = dims.product(shape[: len(shape) - len(batch)])
    if not dims.equal_shapes(shape[len(shape) - len(batch) :], batch):
        raise ShapeError(
            f"categorical: expected a shape that ends with {batch}, that of logits without "
            f"the axis, where replace=False, got {shape}. Repeat the logits."
        )
    if not dims.at_least(count, drawn):
        raise ArgumentError(
            f"categorical: expected at most {count} draws without replacement, as many as "
            f"there are categories, got {drawn}. Draw fewer, or with replace=True."
        )


def _distinct(shape: Shape, at: int, precise: bool, data: Any, logits: Any) -> Any:  # noqa: FBT001 - a param of a program
    aval = get_aval(logits)
    noise = gumbel_floats(aval.shape, aval.dtype, precise, data)
    drawn = dims.product(shape[: len(shape) - aval.ndim + 1])
    _, index = hooks.numpy.top_k(add(noise, logits), drawn, axis=at)
    return reshape(moveaxis(index, at, 0), shape)


_distinct_of = programs(_distinct)
