"""`associative_scan`: all prefixes of an associative operation, in few steps.

Combine neighbours first; the prefixes of these pairs are those at odd indices. Each,
combined with the next element, gives those at even indices. So a scan of n elements is
one of n / 2, and needs 2 log n applications of the function to whole arrays.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from imprint._src.control_flow.trace_body import own_leaves
from imprint._src.core import dims
from imprint._src.core.aval import get_aval
from imprint._src.core.functions import as_result, check_function
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ShapeError
from imprint._src.lax.composed import stack
from imprint._src.primitives.axes import canonical_axis
from imprint._src.primitives.core_ops import scalar_like
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.indexing.slicing import concatenate, pad, slice_in_dim
from imprint._src.primitives.shape import reshape, rev
from imprint._src.tree import internal as tree


@filter_traceback
def associative_scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    reverse: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    axis: int = 0,
) -> Any:
    """Return all prefixes of an associative operation along an axis.

    Args:
        fn: `(a, b) -> c`, elementwise along `axis`, called on parts of `elems`;
            `fn(fn(a, b), c)` must be `fn(a, fn(b, c))`.
        elems: a pytree of arrays with equal lengths along `axis`.
        reverse: whether to start at the end.
        axis: the axis.

    Returns:
        A pytree like `elems`: element i is the combination of elements 0 to i, or with
        `reverse` of the last down to i.

    Raises:
        ShapeError: the lengths along `axis` differ.
        TreeError: `fn` returns another structure than that of `elems`.

    References:
        Blelloch, "Prefix Sums and Their Applications", 1990.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.lax.associative_scan(np.add, np.arange(5))
        Array([ 0,  1,  3,  6, 10], dtype=int32)
    """
    check_function(fn, "associative_scan")
    leaves, treedef, names = own_leaves(elems, "associative_scan", "elems")
    along = [canonical_axis("associative_scan", axis, get_aval(x).ndim) for x in leaves]
    lengths = {
        name: get_aval(x).shape[at]
        for name, x, at in zip(names, leaves, along, strict=True)
    }
    first = next(iter(lengths.values()), 0)
    if not all(dims.equal(n, first) for n in lengths.values()):
        listed = ", ".join(f"{name}: {n}" for name, n in lengths.items())
        raise ShapeError(
            "associative_scan: expected arrays of one length along axis "
            f"{axis}, got {listed}. Give arrays that are as long as each other."
        )

    def join(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
        result = fn(treedef.unflatten(a), treedef.unflatten(b))
        outs, out_tree = tree.flatten(result)
        tree.check_structure(treedef, out_tree, "associative_scan")
        return outs

    pairs = list(zip(map(as_result, leaves), along, strict=True))
    whole = [rev(x, (at,)) if reverse else x for x, at in pairs]
    outs = _of_any_length(join, whole, along, first) if leaves else []
    pairs = list(zip(outs, along, strict=True))
    return treedef.unflatten([rev(x, (at,)) if reverse else x for x, at in pairs])


def _of_any_length(join: Any, xs: list[Any], along: list[int], n: Any) -> list[Any]:
    """Scan arrays of symbolic length, padded with zeros to the next power of two.

    A result depends only on the elements before it, in the same order.
    """
    if not dims.is_symbolic(n):
        return _partial(join, xs, along)
    power = dims.power_above(n, _LEAST)
    long = [_as_long(x, at, power - n) for x, at in zip(xs, along, strict=True)]
    outs = _partial(join, long, along)
    return [_as_long(x, at, n - power) for x, at in zip(outs, along, strict=True)]


_LEAST: Final = 16
"""Lengths up to this one share a trace, as they share a bucket."""


def _as_long(x: Any, axis: int, more: Any) -> Any:
    """Return an array padded with zeros at the end of an axis, or cut."""
    ndim = get_aval(x).ndim
    return pad(
        x, scalar_like(x, 0), [(0, more if i == axis else 0, 0) for i in range(ndim)]
    )


def _partial(join: Any, xs: list[Any], along: list[int]) -> list[Any]:
    length = get_aval(xs[0]).shape[along[0]]
    count = dims.concrete(length, "associative_scan")
    if count < 2:
        return xs

    def part(xs: list[Any], start: int, limit: int, stride: int = 1) -> list[Any]:
        return [
            slice_in_dim(x, start, limit, stride, at)
            for x, at in zip(xs, along, strict=True)
        ]

    half = count // 2
    joined = join(part(xs, 0, 2 * half, 2), part(xs, 1, 2 * half, 2))
    odd = _partial(join, joined, along)
    before = part(odd, 0, (count - 1) // 2)
    even = part(xs, 0, 1)
    if count > 2:
        later = join(before, part(xs, 2, count, 2))
        even = [
            concatenate((first, rest), at)
            for first, rest, at in zip(even, later, along, strict=True)
        ]
    return [_alternated(*each) for each in zip(even, odd, along, strict=True)]


def _alternated(even: Any, odd: Any, at: int) -> Any:
    """Interleave two strong arrays; the first may have one more element."""
    shape = get_aval(odd).shape
    half = shape[at]
    paired = stack([slice_in_dim(even, 0, half, 1, at), odd], at + 1)
    both = reshape(paired, (*shape[:at], 2 * half, *shape[at + 1 :]))
    last = slice_in_dim(even, half, get_aval(even).shape[at], 1, at)
    return convert_element_type(concatenate((both, last), at), get_aval(odd).dtype)
