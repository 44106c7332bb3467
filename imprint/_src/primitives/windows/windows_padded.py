"""Windows of a padded array: where they truly are, and which do not exist.

The engine moves a window inside of the bucket, or drops a window outside of it. So indices
are clamped to the true size here, or moved out of every bucket (`_NOWHERE`) if the true array
has no such window. A window as long as its axis begins at 0. Index vectors that are padding
point nowhere for a write, and anywhere for a read.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape, get_aval
from imprint._src.core.padding import PadContext, PaddedValue, PerSize
from imprint._src.core.primitive import Params, Values
from imprint._src.primitives.core_ops import broadcast_in_dim
from imprint._src.primitives.elementwise.arithmetic import max_, min_
from imprint._src.primitives.elementwise.comparison import gt
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.dynamic_slicing import as_int32, roomy
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.windows.gather_dims import GatherScatterMode, sizes_of

_INT32: Final = np.dtype(np.int32)
_NOWHERE: Final = np.int32(np.iinfo(np.int32).max)
_CUT_OFF: Final = PerSize("windows that its sizes cut off are written")


def gather_pad(  # noqa: PLR0913 - the params of a gather
    bucket: PadContext,
    x: PaddedValue,
    indices: PaddedValue,
    *,
    dimension_numbers: Any,
    slice_sizes: Shape,
    mode: GatherScatterMode,
    indices_are_sorted: bool,
    **params: Any,
) -> Values:
    """Pad `gather`."""
    axes = dimension_numbers.start_index_map
    places = _within(bucket, x.aval.shape, indices, slice_sizes, (axes, mode))
    is_sorted = indices_are_sorted and not indices.padded_axes()
    return bucket.bind_all(
        roomy(bucket, x, slice_sizes),
        places,
        dimension_numbers=dimension_numbers,
        slice_sizes=slice_sizes,
        mode=mode,
        indices_are_sorted=is_sorted,
        **params,
    )


def padding_updates(
    nothing: Callable[[DType], Any] | None,
) -> Callable[..., Values]:
    """Return the padding rule of a write of windows.

    Args:
        nothing: an update, of a dtype, that changes no element; None if there is none.
    """

    def rule(
        bucket: PadContext,
        x: PaddedValue,
        indices: PaddedValue,
        updates: PaddedValue,
        *,
        dimension_numbers: Any,
        **params: Any,
    ) -> Values:
        shape = x.aval.shape
        sizes = sizes_of(shape, updates.aval.shape, dimension_numbers)
        pairs = enumerate(zip(sizes, shape, strict=True))
        cut = [
            i for i, (k, n) in pairs if dims.is_symbolic(k) and not dims.is_same(k, n)
        ]
        room: Any = x
        if cut:  # elements behind the end of a window are in others
            if nothing is None:
                _CUT_OFF()
            along = _axes_of_updates(len(shape), dimension_numbers)
            number, axes = nothing(x.aval.dtype), [along[i] for i in cut]
            unknown = PaddedValue(
                updates.value, updates.aval
            )  # 0.0 is not -0.0 to -0.0
            updates = bucket.filled(unknown, number, axes)
            room = roomy(bucket, x, sizes)
        places, how = _written(bucket, shape, indices, sizes, dimension_numbers, params)
        (out,) = bucket.bind_all(
            room, places, updates, dimension_numbers=dimension_numbers, **how
        )
        for axis in cut:
            out = slice_in_dim(out, 0, bucket.bound(shape[axis]), axis=axis)
        return (out,)

    return rule


def _axes_of_updates(ndim: int, numbers: Any) -> dict[int, int]:
    """Return for each axis of the operand that windows have that of the updates."""
    window, absent, _, batch, _ = numbers
    kept = [i for i in range(ndim) if i not in absent and i not in batch]
    return dict(zip(kept, window, strict=True))


def _written(
    bucket: PadContext,
    shape: Shape,
    indices: PaddedValue,
    sizes: Shape,
    numbers: Any,
    params: Params,
) -> tuple[Any, Params]:
    """Return the indices of windows that are truly written, and the params for these."""
    axes, padded = numbers.scatter_dims_to_operand_dims, indices.padded_axes()
    mode: GatherScatterMode = params["mode"]
    if mode is GatherScatterMode.PROMISE_IN_BOUNDS:
        mode = GatherScatterMode.FILL_OR_DROP  # as it is written
    how = axes, mode
    places = _within(bucket, shape, indices, sizes, how, is_moved=bool(padded))
    if not padded:
        return places, {**params, "mode": mode}
    if not axes:
        _CUT_OFF()
    real = bucket.inside(indices.aval.shape, padded)
    return select_n(real, _NOWHERE, as_int32(places)), {
        **params,
        "mode": GatherScatterMode.FILL_OR_DROP,
        "indices_are_sorted": False,
        "unique_indices": False,
    }


def _within(
    bucket: PadContext,
    shape: Shape,
    indices: PaddedValue,
    sizes: Shape,
    how: tuple[Sequence[int], GatherScatterMode],
    *,
    is_moved: bool = False,
) -> Any:
    """Return indices as they are in the true array: clamped, or nowhere if outside.

    If neither arrays nor windows have symbolic sizes, the engine does that, unless its mode
    is another (`is_moved`).
    """
    axes, mode = how
    lasts = [shape[i] - sizes[i] for i in axes]
    named = any(dims.is_symbolic(n) for i in axes for n in (shape[i], sizes[i]))
    if not axes or not (named or is_moved):
        return indices.value
    places = as_int32(indices.value)
    each = [broadcast_in_dim(bucket.number(n), (1,), ()) for n in lasts]
    wanted = get_aval(places).shape
    limits = broadcast_in_dim(concatenate(each, 0), wanted, (len(wanted) - 1,))
    if mode is GatherScatterMode.FILL_OR_DROP:
        return select_n(gt(places, limits), places, _NOWHERE)
    return max_(min_(places, limits), np.int32(0))
