"""Collectives under JAX's names: operations along mapped axes.

`vmap(f, axis_name="i")` runs `f` at each position of an axis at once; in `f`, a
collective exchanges values between positions. It names an axis, or a tuple of axes, of
which the first varies slowest; the primitives take one each. Reductions also accept
integers: axes of the array itself. Values are trees. A value that is not a tracer is
the same at each position, so its sum is known while tracing.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.aval import get_aval
from imprint._src.core.trace import Tracer, axis_of, names_in, size_of
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.lax.composed import index_in_dim
from imprint._src.primitives.axes import canonical_axes, canonical_axis, whole
from imprint._src.primitives.collectives import (
    Pairs,
    all_gather_p,
    all_to_all_p,
    axis_index_p,
    pmax_p,
    pmin_p,
    ppermute_p,
    psum_p,
    pvary,
    reduce_scatter_p,
)
from imprint._src.primitives.core_ops import moveaxis, mul, reduce_sum, scalar_like
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.reductions import reduce_max, reduce_min
from imprint._src.primitives.shape import reshape
from imprint._src.tree import internal as tree

Groups = Sequence[Sequence[int]] | None

# ---- the axis itself ----


def axis_index(axis_name: Any) -> Any:
    """Return the position along a named axis, or along several as one, as an int32.

    Args:
        axis_name: the name of a mapped axis, or a tuple of names, of which the first
            varies slowest.

    Returns:
        The position, an int32 of rank 0, counted from 0.

    Raises:
        UnboundAxisError: no axis of this name is mapped here.

    References:
        JAX, `jax.lax.axis_index`.

    Example:
        >>> import imprint
        >>> from imprint import lax, numpy as np
        >>> imprint.vmap(lambda x: x + lax.axis_index("i"), axis_name="i")(np.zeros(3))
        Array([0., 1., 2.], dtype=float32)
    """
    index: Any = 0
    for name, size in _sizes(axis_name, "axis_index"):
        place = axis_index_p.bind1(axis_name=name)
        index = index * size + _varying(place, [(name, size)], "axis_index")
    return index


def axis_size(axis_name: Any) -> int:
    """Return the size of a named axis, or the product of several, as an int.

    Args:
        axis_name: the name of a mapped axis, or a tuple of names.

    Returns:
        The number of positions.

    Raises:
        UnboundAxisError: no axis of this name is mapped here.

    References:
        JAX, `jax.lax.axis_size`.

    Example:
        >>> import imprint
        >>> from imprint import lax, numpy as np
        >>> imprint.vmap(lambda x: x / lax.axis_size("i"), axis_name="i")(np.ones(2))
        Array([0.5, 0.5], dtype=float32)
    """
    return dims.product(size for _, size in _sizes(axis_name, "axis_size"))


def _sizes(axis_name: Any, who: str) -> list[tuple[Any, int]]:
    """Return the named axes of a collective, with their sizes."""
    names = names_in(axis_name)
    found = [(name, size_of(name, who)) for name in names]
    if len(set(names)) < len(names):
        raise ArgumentError(
            f"{who}: expected distinct names of axes, got {axis_name!r}. Name each once."
        )
    return found


def _grouped(
    axis_name: Any, who: str, groups: Groups, *, is_even: bool = True
) -> tuple[list[tuple[Any, int]], dict[str, Any]]:
    """Return the named axes with their group sizes, and params of primitives."""
    sizes = _sizes(axis_name, who)
    if groups is None:
        return sizes, {}
    if len(sizes) != 1:
        raise ArgumentError(
            f"{who}: expected the name of one axis with axis_index_groups, got "
            f"{axis_name!r}. Leave the groups out, or the other axes."
        )
    ((name, size),) = sizes
    found = tuple(tuple(whole(who, "a place", i) for i in group) for group in groups)
    if sorted(i for group in found for i in group) != [*range(size)]:
        raise ArgumentError(
            f"{who}: expected axis_index_groups with each of the places 0 to {size - 1} "
            f"once, got {groups}. Put a place that is alone in a group of its own."
        )
    lengths = {len(group) for group in found}
    if 0 in lengths or (is_even and len(lengths) > 1):
        raise ArgumentError(
            f"{who}: expected groups of one length in axis_index_groups, got {groups}. "
            "Give each of them as many places."
        )
    return [(name, len(found[0]))], {"axis_index_groups": found}


def _varying(x: Any, sizes: Sequence[tuple[Any, int]], who: str) -> Any:
    """Return an operand as one that varies along the axes of a mesh."""
    names = [name for name, _ in sizes if axis_of(name, who).is_checked]
    return pvary(x, names) if names else x


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """Mark a value that is equal on every device as varying, inside `shard_map`.

    Its cotangent is then the sum over devices. Operations that need it do this
    themselves. For an axis of `vmap` it has no effect.

    Args:
        x: a tree of arrays.
        axis_name: the name of an axis, or a tuple of such.
        to: "varying".

    Returns:
        A tree like `x`, with the same values.

    Raises:
        ArgumentError: `to` is not "varying".
        UnboundAxisError: no axis of this name is mapped here.

    References:
        JAX, `jax.lax.pcast`.

    Example:
        >>> import imprint
        >>> from imprint import P, lax, numpy as np
        >>> mesh = imprint.make_mesh((1,), ("i",))
        >>> f = lambda x: lax.pcast(x, "i", to="varying")
        >>> imprint.shard_map(f, mesh=mesh, in_specs=P(), out_specs=P("i"))(np.ones(1))
        Array([1.], dtype=float32)
    """
    sizes = _sizes(axis_name, "pcast")
    if to != "varying":
        raise ArgumentError(
            f"pcast: expected to='varying', got {to!r}. What differs becomes the same by "
            "a reduction: imprint.lax.psum."
        )

    def cast(leaf: Any) -> Any:
        return _varying(leaf, sizes, "pcast")

    return tree.map(cast, x)


# ---- reductions ----


def psum(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """Return the sum over a named axis, at each position.

    Args:
        x: a tree of arrays; booleans are counted.
        axis_name: the name of a mapped axis, or a tuple of names, and of integers for
            axes of the arrays.
        axis_index_groups: groups of positions, to be reduced separately.

    Returns:
        A tree like `x`, with the same shapes and dtypes; of booleans, int32. Axes given
        as integers are removed.

    Raises:
        UnboundAxisError: no axis of this name is mapped here.

    References:
        StableHLO, `all_reduce`.

    Example:
        >>> import imprint
        >>> from imprint import lax, numpy as np
        >>> share = imprint.vmap(lambda x: x / lax.psum(x, "i"), axis_name="i")
        >>> share(np.array([1.0, 3.0]))
        Array([0.25, 0.75], dtype=float32)
    """
    names, axes = _parted(axis_name)
    is_even = not any(isinstance(leaf, Tracer) for leaf in tree.leaves(x))
    sizes, groups = _grouped(names, "psum", axis_index_groups, is_even=is_even)
    leaves, treedef = tree.flatten(x)
    leaves = [
        convert_element_type(leaf, dtypes.int32)
        if get_aval(leaf).dtype == dtypes.bool_
        else leaf
        for leaf in leaves
    ]
    is_known = is_even

    def total(leaf: Any) -> Any:
        if axes:
            at = canonical_axes("psum", axes, get_aval(leaf).ndim)
            leaf = reduce_sum(leaf, at)
        if is_known:
            return _times(leaf, dims.product(size for _, size in sizes))
        leaf = _varying(leaf, sizes, "psum")
        for name, _ in sizes:
            leaf = psum_p.bind1(leaf, axis_name=name, **groups)
        return leaf

    return treedef.unflatten([total(leaf) for leaf in leaves])


def _times(x: Any, size: int) -> Any:
    """Return `size * x`, with the type of `x`: a Python number stays one."""
    if isinstance(x, int | float | complex):
        return x * size
    if isinstance(x, np.ndarray | np.generic):
        return np.asarray(size).astype(get_aval(x).dtype) * x
    return mul(x, scalar_like(x, np.int64(size)))


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """Return the mean over a named axis, at each position.

    Args:
        x: a tree of arrays.
        axis_name: as for `psum`.
        axis_index_groups: as for `psum`.

    Returns:
        A tree like `x`, with the same shapes; of integers and booleans, floats. Axes
        given as integers are removed.

    Raises:
        UnboundAxisError: no axis of this name is mapped here.

    References:
        StableHLO, `all_reduce`.

    Example:
        >>> import imprint
        >>> from imprint import lax, numpy as np
        >>> centre = imprint.vmap(lambda x: x - lax.pmean(x, "i"), axis_name="i")
        >>> centre(np.array([1.0, 3.0]))
        Array([-1.,  1.], dtype=float32)
    """
    names, axes = _parted(axis_name)
    sizes, _ = _grouped(names, "pmean", axis_index_groups)
    size = dims.product(n for _, n in sizes)

    def mean(leaf: Any, total: Any) -> Any:
        shape = get_aval(leaf).shape
        at = canonical_axes("pmean", axes, len(shape))
        return total / (size * dims.product(shape[axis] for axis in at))

    total = psum(x, axis_name, axis_index_groups=axis_index_groups)
    return tree.map(mean, x, total)


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """Return the maximum over a named axis, at each position.

    Args:
        x: a tree of arrays.
        axis_name: as for `psum`.
        axis_index_groups: as for `psum`.

    Returns:
        A tree like `x`, with the same shapes and dtypes. Axes given as integers are
        removed.

    Raises:
        UnboundAxisError: no axis of this name is mapped here.

    References:
        StableHLO, `all_reduce`.

    Example:
        >>> import imprint
        >>> from imprint import lax, numpy as np
        >>> imprint.vmap(lambda x: lax.pmax(x, "i"), axis_name="i")(
        ...     np.array([1.0, 3.0])
        ... )
        Array([3., 3.], dtype=float32)
    """
    return _extreme("pmax", x, axis_name, axis_index_groups)


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """Return the minimum over a named axis, at each position.

    Args:
        x: a tree of arrays.
        axis_name: as for `psum`.
        axis_index_groups: as for `psum`.

    Returns:
        A tree like `x`, with the same shapes and dtypes. Axes given as integers are
        removed.

    Raises:
        UnboundAxisError: no axis of this name is mapped here.

    References:
        StableHLO, `all_reduce`.
    """
    return _extreme("pmin", x, axis_name, axis_index_groups)


def _extreme(who: str, x: Any, axis_name: Any, groups: Groups) -> Any:
    primitive, reduce = (pmax_p, reduce_max) if who == "pmax" else (pmin_p, reduce_min)
    names, axes = _parted(axis_name)
    sizes, parted = _grouped(names, who, groups, is_even=False)

    def extreme(leaf: Any) -> Any:
        if axes or not sizes:  # a new array, also for no axes
            leaf = reduce(leaf, canonical_axes(who, axes, get_aval(leaf).ndim))
        leaf = _varying(leaf, sizes, who)
        for name, _ in sizes:
            leaf = primitive.bind1(leaf, axis_name=name, **parted)
        return leaf

    return tree.map(extreme, x)


def _parted(axis_name: Any) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """Separate names from integers, which are axes of the array."""
    given = names_in(axis_name)
    names = tuple(n for n in given if not isinstance(n, int))
    return names, tuple(n for n in given if isinstance(n, int))


# ---- exchange of values ----


def all_gather(
    x: Any,
    axis_name: Any,
    *,
    axis_index_groups: Groups = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Any:
    """Return the values at all positions along a named axis, at each position.

    Args:
        x: a tree of arrays.
        axis_name: the name of a mapped axis, or a tuple of names.
        axis_index_groups: groups of positions, to be gathered separately.
        axis: the axis of the positions in the result.
        tiled: whether to concatenate along the existing `axis`, instead of a new one.
        to: "varying"; other values have a meaning only under `shard_map`.

    Returns:
        A tree like `x`. The shapes have a new axis of as many elements as positions;
        with `tiled`, the existing `axis` is as many times as long.

    Raises:
        ArgumentError: `to` is not "varying".
        UnboundAxisError: no axis of this name is mapped here.

    References:
        StableHLO, `all_gather`.

    Example:
        >>> import imprint
        >>> from imprint import lax, numpy as np
        >>> imprint.vmap(lambda x: lax.all_gather(x, "i"), axis_name="i")(np.arange(2))
        Array([[0, 1],
               [0, 1]], dtype=int32)
    """
    sizes, groups = _grouped(axis_name, "all_gather", axis_index_groups)
    if to != "varying":
        raise ArgumentError(
            f"all_gather: expected to='varying', got {to!r}. Leave it out: others are "
            "for shard_map."
        )

    def gathered(leaf: Any) -> Any:
        shape = get_aval(leaf).shape
        at = canonical_axis("all_gather", axis, len(shape) + (not tiled))
        leaf = _varying(leaf, sizes, "all_gather")
        for name, size in reversed(sizes):
            leaf = all_gather_p.bind1(
                leaf,
                axis_name=name,
                all_gather_dimension=at,
                axis_size=size,
                **groups,
            )
        return _merged(leaf, at, len(sizes) + tiled)

    return tree.map(gathered, x)


def psum_scatter(
    x: Any,
    axis_name: Any,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Groups = None,
    tiled: bool = False,
) -> Any:
    """Return the sum over a named axis, of which each position gets its own part.

    Args:
        x: a tree of arrays.
        axis_name: the name of a mapped axis, or a tuple of names.
        scatter_dimension: the axis to distribute, one element for each position.
        axis_index_groups: groups of positions, to be reduced separately.
        tiled: whether to keep the axis and cut it into parts instead.

    Returns:
        A tree like `x`, without the distributed axis; with `tiled`, the axis is divided
        by the number of positions.

    Raises:
        ShapeError: the length of the distributed axis is not the number of positions,
            or with `tiled` not a multiple of it.
        UnboundAxisError: no axis of this name is mapped here.

    References:
        StableHLO, `reduce_scatter`.

    Example:
        >>> import imprint
        >>> from imprint import lax, numpy as np
        >>> imprint.vmap(lambda x: lax.psum_scatter(x, "i"), axis_name="i")(
        ...     np.eye(2) + 1
        ... )
        Array([3., 3.], dtype=float32)
    """
    sizes, groups = _grouped(axis_name, "psum_scatter", axis_index_groups)

    def scattered(leaf: Any) -> Any:
        ndim = get_aval(leaf).ndim
        at = canonical_axis("psum_scatter", scatter_dimension, ndim)
        leaf = _varying(leaf, sizes, "psum_scatter")
        leaf = _divided(leaf, at, sizes, "psum_scatter", tiled=tiled)
        for name, _ in sizes:
            leaf = reduce_scatter_p.bind1(
                leaf, axis_name=name, scatter_dimension=at, **groups
            )
        return leaf

    return tree.map(scattered, x)


def all_to_all(
    x: Any,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Groups = None,
    tiled: bool = False,
) -> Any:
    """Send one part of an axis to each position, and join the received parts.

    Args:
        x: a tree of arrays.
        axis_name: the name of a mapped axis, or a tuple of names.
        split_axis: the axis to distribute, one element for each position; it is
            removed.
        concat_axis: the axis of the source positions in the result.
        axis_index_groups: groups of positions, to be exchanged separately.
        tiled: whether to keep both axes: one is cut into parts, which are joined along
            the other.

    Returns:
        A tree like `x`, with `split_axis` replaced by an axis of the positions at
        `concat_axis`; with `tiled`, of the same rank.

    Raises:
        ShapeError: the length of the distributed axis is not the number of positions,
            or with `tiled` not a multiple of it.
        UnboundAxisError: no axis of this name is mapped here.

    References:
        StableHLO, `all_to_all`.

    Example:
        >>> import imprint
        >>> from imprint import lax, numpy as np
        >>> turned = imprint.vmap(lambda x: lax.all_to_all(x, "i", 0, 0), axis_name="i")
        >>> turned(np.arange(4).reshape(2, 2))
        Array([[0, 2],
               [1, 3]], dtype=int32)
    """
    sizes, groups = _grouped(axis_name, "all_to_all", axis_index_groups)

    def exchanged(leaf: Any) -> Any:
        ndim = get_aval(leaf).ndim
        split = canonical_axis("all_to_all", split_axis, ndim)
        concat = canonical_axis("all_to_all", concat_axis, ndim)
        leaf = _varying(leaf, sizes, "all_to_all")
        leaf = _divided(leaf, split, sizes, "all_to_all", tiled=tiled)
        end = get_aval(leaf).ndim - 1
        for name, _ in sizes:
            leaf = all_to_all_p.bind1(
                leaf, axis_name=name, split_axis=split, concat_axis=end, **groups
            )
        for i in range(len(sizes)):
            leaf = moveaxis(leaf, end - len(sizes) + 1 + i, concat + i)
        return _merged(leaf, concat, len(sizes) + tiled)

    return tree.map(exchanged, x)


def pswapaxes(
    x: Any, axis_name: Any, axis: int, *, axis_index_groups: Groups = None
) -> Any:
    """Exchange a named axis with an axis of the array of the same length.

    Args:
        x: a tree of arrays.
        axis_name: the name of a mapped axis, or a tuple of names.
        axis: the axis of the array.
        axis_index_groups: groups of positions, to be exchanged separately.

    Returns:
        A tree like `x`, with the same shapes and dtypes.

    Raises:
        ShapeError: the length of `axis` is not the number of positions.
        UnboundAxisError: no axis of this name is mapped here.

    References:
        StableHLO, `all_to_all`.
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def _divided(
    x: Any, axis: int, sizes: Sequence[tuple[Any, int]], who: str, *, tiled: bool
) -> Any:
    """Return an array with an axis for each named axis, and the rest, if tiled."""
    shape = get_aval(x).shape
    counts = [size for _, size in sizes]
    length, places = shape[axis], dims.product(counts)
    if not (dims.divides(places, length) if tiled else dims.equal(length, places)):
        wanted = f"a multiple of {places}" if tiled else f"{places}, one for each place"
        raise ShapeError(
            f"{who}: expected axis {axis} to have length {wanted}, got {get_aval(x)}. "
            "Reshape it, or choose another axis."
        )
    rest = (length // places,) if tiled else ()
    return reshape(x, (*shape[:axis], *counts, *rest, *shape[axis + 1 :]))


def _merged(x: Any, axis: int, count: int) -> Any:
    """Merge `count` neighbouring axes into one."""
    if count == 1:
        return x
    shape = get_aval(x).shape
    end = axis + count
    return reshape(x, (*shape[:axis], dims.product(shape[axis:end]), *shape[end:]))


# ---- permutations ----


def ppermute(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """Send values between positions along a named axis.

    Args:
        x: a tree of arrays.
        axis_name: the name of a mapped axis.
        perm: pairs of source and target; each position is at most once a source and at
            most once a target. A position that receives nothing gets zeros.

    Returns:
        A tree like `x`, with the same shapes and dtypes.

    Raises:
        ArgumentError: a source or a target is named twice or out of range.
        UnboundAxisError: no axis of this name is mapped here.

    References:
        StableHLO, `collective_permute`.

    Example:
        >>> import imprint
        >>> from imprint import lax, numpy as np
        >>> ahead = lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 0)])
        >>> imprint.vmap(ahead, axis_name="i")(np.arange(3))
        Array([2, 0, 1], dtype=int32)
    """
    name, size = _only(axis_name, "ppermute")
    pairs = tuple(_pairs(perm, size))

    def sent(leaf: Any) -> Any:
        leaf = _varying(leaf, [(name, size)], "ppermute")
        return ppermute_p.bind1(leaf, axis_name=name, perm=pairs)

    return tree.map(sent, x)


def _pairs(perm: Any, size: int) -> Iterator[tuple[int, int]]:
    pairs: Pairs = tuple(
        (whole("ppermute", "a source", s), whole("ppermute", "a target", t))
        for s, t in perm
    )
    for places in zip(*pairs, strict=True):
        if len(set(places)) < len(places) or not set(places) <= set(range(size)):
            raise ArgumentError(
                f"ppermute: expected distinct sources, and distinct targets, in "
                f"[0, {size}), got perm={list(pairs)}. Give each place one source."
            )
    yield from pairs


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """Return at position `i` of a named axis the value at position `perm[i]`.

    Args:
        x: a tree of arrays.
        axis_name: the name of a mapped axis.
        perm: a permutation of the positions.

    Returns:
        A tree like `x`, with the same shapes and dtypes.

    Raises:
        ArgumentError: `perm` is not a permutation of the positions.
        UnboundAxisError: no axis of this name is mapped here.

    References:
        StableHLO, `collective_permute`.

    Example:
        >>> import imprint
        >>> from imprint import lax, numpy as np
        >>> back = imprint.vmap(
        ...     lambda x: lax.pshuffle(x, "i", [2, 1, 0]), axis_name="i"
        ... )
        >>> back(np.arange(3))
        Array([2, 1, 0], dtype=int32)
    """
    _, size = _only(axis_name, "pshuffle")
    if sorted(perm) != list(range(size)):
        raise ArgumentError(
            f"pshuffle: expected a permutation of the places 0 to {size - 1}, got "
            f"{perm}. Name each place once."
        )
    return ppermute(x, axis_name, [(s, t) for t, s in enumerate(perm)])


def pbroadcast(x: Any, axis_name: Any, source: int) -> Any:
    """Return in each place of a named axis the value of the place `source`.

    Args:
        x: a tree of arrays.
        axis_name: the name of an axis that is mapped around.
        source: the place whose value it is.

    Returns:
        A tree like `x`, with the same shapes and dtypes.

    Raises:
        ArgumentError: `source` is out of range.
        UnboundAxisError: no axis of this name is mapped here.

    References:
        StableHLO, `collective_broadcast`.
    """
    _, size = _only(axis_name, "pbroadcast")
    at = whole("pbroadcast", "source", source)
    if not 0 <= at < size:
        raise ArgumentError(
            f"pbroadcast: expected source in [0, {size}), got {at}. Name a place."
        )

    def chosen(leaf: Any) -> Any:
        return index_in_dim(leaf, at, keepdims=False)

    return tree.map(chosen, all_gather(x, axis_name))


def _only(axis_name: Any, who: str) -> tuple[Any, int]:
    """Return the one named axis that a collective is given, and its size."""
    sizes = _sizes(axis_name, who)
    if len(sizes) != 1:
        raise ArgumentError(
            f"{who}: expected the name of one axis, got {axis_name!r}. Gather over "
            "several with imprint.lax.all_gather, and choose from the result."
        )
    return sizes[0]
