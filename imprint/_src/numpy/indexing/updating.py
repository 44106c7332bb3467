"""x.at[index]: functional updates, because arrays are immutable.

An index without arrays, whose slices leave no gaps, is a part that is cut out, changed
and put back. Any other is a scatter, by the same plan as the gather that reads
(`advanced`). Values broadcast to the shape of the part; the result has the dtype of the
array.
"""

import warnings
from collections.abc import Callable
from typing import Any, Final, NoReturn, cast, final

import numpy as np

from imprint._src.bootstrap import hooks
from imprint._src.control_flow.scatter_apply import scatter_apply
from imprint._src.core import dims
from imprint._src.core.array import Array, NumberArray
from imprint._src.core.aval import get_aval
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.interpreters.vmap import vmap
from imprint._src.numpy.indexing.advanced import (
    all_inside,
    is_array,
    plan_of,
    read_index,
    take_at,
)
from imprint._src.numpy.indexing.indexing import cut, span
from imprint._src.numpy.promotion import as_array, broadcast, promote_dtypes
from imprint._src.primitives.core_ops import full
from imprint._src.primitives.elementwise.convert import convert_element_type_p
from imprint._src.primitives.indexing.dynamic_slicing import dynamic_update_slice_p
from imprint._src.primitives.indexing.scatter import (
    scatter,
    scatter_add,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_sub,
)
from imprint._src.primitives.shape import number_of, rev, squeeze
from imprint._src.primitives.windows.gather_dims import (
    GatherScatterMode,
    ScatterDimensionNumbers,
)

Mode = str | GatherScatterMode | None
Scatter = Callable[..., Any]

_JOINED: Final[dict[Scatter, str]] = {
    scatter_add: "add",
    scatter_sub: "subtract",
    scatter_mul: "multiply",
    scatter_min: "minimum",
    scatter_max: "maximum",
}
"""The function of `imprint.numpy` that a scatter applies."""


@final
class At:
    """The class of `x.at`, which is indexed."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array: Array = array

    def __getitem__(self, index: Any) -> "Places":
        return Places(self.array, index)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise TypeError(
            "expected no assignment: arrays are immutable, got `x.at[index] = value`. "
            "Write `x = x.at[index].set(value)`."
        )

    def __repr__(self) -> str:
        return f"At({self.array!r})"


@final
class Places:
    """The class of `x.at[index]`, whose methods return updated arrays.

    All take JAX's options: `mode` is for indices out of bounds ("drop", the default,
    ignores their values, "clip" uses the nearest element); `indices_are_sorted` and
    `unique_indices` are promises; without `wrap_negative_indices`, negative indices are
    out of bounds.
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Array, index: Any) -> None:
        self.array: Array = array
        self.index: Any = index

    def __repr__(self) -> str:
        return f"Places({self.array!r}, {self.index!r})"

    @filter_traceback
    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        fill_value: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """Return the elements; out of bounds, the nearest, or `fill_value`."""
        if not isinstance(self.array, NumberArray):
            return self.array[self.index]
        return take_at(
            self.array,
            self.index,
            mode=mode,
            fill_value=fill_value,
            wraps=wrap_negative_indices,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
        )

    @filter_traceback
    def set(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """Return the array with these values at the index."""
        options = _options(
            indices_are_sorted, unique_indices, mode, wrap_negative_indices
        )
        return _updated(self.array, self.index, values, scatter, options)

    @filter_traceback
    def add(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """Return the array with values added; repeated indices add repeatedly."""
        options = _options(
            indices_are_sorted, unique_indices, mode, wrap_negative_indices
        )
        return _updated(self.array, self.index, values, scatter_add, options)

    @filter_traceback
    def subtract(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """Return the array with values subtracted."""
        options = _options(
            indices_are_sorted, unique_indices, mode, wrap_negative_indices
        )
        return _updated(self.array, self.index, values, scatter_sub, options)

    @filter_traceback
    def multiply(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """Return the array with elements multiplied by values."""
        options = _options(
            indices_are_sorted, unique_indices, mode, wrap_negative_indices
        )
        return _updated(self.array, self.index, values, scatter_mul, options)

    @filter_traceback
    def divide(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """Return the array with elements divided by values."""
        options = _options(
            indices_are_sorted, unique_indices, mode, wrap_negative_indices
        )
        ones = full(self.array.shape, 1, self.array.dtype)
        by = _updated(ones, self.index, values, scatter_mul, options)
        return hooks.numpy.divide(self.array, by)

    @filter_traceback
    def power(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """Return the array with elements raised to powers."""
        options = _options(
            indices_are_sorted, unique_indices, mode, wrap_negative_indices
        )
        ones = full(self.array.shape, 1, self.array.dtype)
        by = _updated(ones, self.index, values, scatter_mul, options)
        return hooks.numpy.power(self.array, by)

    @filter_traceback
    def min(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """Return the array with the minimum of elements and values."""
        options = _options(
            indices_are_sorted, unique_indices, mode, wrap_negative_indices
        )
        return _updated(self.array, self.index, values, scatter_min, options)

    @filter_traceback
    def max(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """Return the array with the maximum of elements and values."""
        options = _options(
            indices_are_sorted, unique_indices, mode, wrap_negative_indices
        )
        return _updated(self.array, self.index, values, scatter_max, options)

    @filter_traceback
    def apply(
        self,
        func: Callable[[Any], Any],
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """Return the array with a function applied to each element at the index."""
        options = _options(
            indices_are_sorted, unique_indices, mode, wrap_negative_indices
        )

        def applied(
            x: Any, indices: Any, updates: Any, numbers: Any, **given: Any
        ) -> Any:
            shape = get_aval(updates).shape
            return scatter_apply(x, indices, func, numbers, update_shape=shape, **given)

        return _updated(self.array, self.index, 0, applied, options)

    mul = multiply


def _options(is_sorted: Any, is_unique: Any, mode: Any, wraps: Any) -> dict[str, Any]:
    return {
        "indices_are_sorted": bool(is_sorted),
        "unique_indices": bool(is_unique),
        "mode": mode,
        "wraps": bool(wraps),
    }


def _updated(
    x: Any, index: Any, values: Any, scatters: Scatter, options: dict[str, Any]
) -> Array:
    """Return an array with values combined with the part that an index selects."""
    if isinstance(x, Array) and not isinstance(x, NumberArray):
        return _updated_keys(x, index, values, scatters, options)
    x = as_array("at", x)
    aval = x.aval
    mode, wraps = options["mode"], options["wraps"]
    chosen = None if mode is None else GatherScatterMode.from_any(mode)
    read = read_index(aval, index)
    inside = all_inside(aval, read, chosen, wraps=wraps)
    if isinstance(values, list | tuple):
        values = hooks.numpy.asarray(values)
    wide, given = promote_dtypes("at", (x, values))
    _warn_of_loss(aval, wide, values)
    arrays = any(map(is_array, read.entries))
    put = None
    if inside and not arrays and (scatters is scatter or scatters in _JOINED):
        put = _put_back(wide, read.entries, given, scatters)
    out = _scattered(wide, read, given, scatters, options) if put is None else put
    if out.aval.dtype == aval.dtype and out.aval.weak_type == aval.weak_type:
        return out
    return convert_element_type_p.bind1(
        out, new_dtype=aval.dtype, weak_type=aval.weak_type
    )


def _warn_of_loss(aval: Any, wide: Any, values: Any) -> None:
    if get_aval(wide).dtype != aval.dtype:
        warnings.warn(
            f"at: expected values that {aval.dtype} holds, that of {aval}, got "
            f"{get_aval(values)}, which is rounded. Convert the array or the values with "
            "`.astype(...)`.",
            FutureWarning,
            stacklevel=4,
        )


def _put_back(x: Any, entries: list[Any], values: Any, scatters: Scatter) -> Any:
    """Update the part of a basic index by slices; None if it has gaps."""
    named: list[Any] = [e for e in entries if e is not None]
    spans: list[tuple[Any, Any, int]] = []
    for e, n in zip(named, get_aval(x).shape, strict=True):
        at = None if isinstance(e, slice) else dims.element(e, n)
        part = cast("Any", e)
        spans.append(span(part, n) if at is None else (at, at + 1, 1))
    if any(step not in (1, -1) for *_, step in spans):
        return None
    sizes = [stop - start for start, stop, _ in spans]
    if dims.has_zero(sizes):
        return as_array("at", x)
    left = [e if e is None else n for e, n in _shaped(entries, sizes)]
    shape = [1 if n is None else n for n in left]
    part = _repeated(values, shape)
    gone = tuple(i for i, n in enumerate(left) if n is None)
    part = squeeze(part, gone) if gone else part
    part = hooks.numpy.reshape(part, sizes)
    turned = [i for i, (*_, step) in enumerate(spans) if step < 0]
    part = rev(part, turned) if turned else part
    if scatters is not scatter:
        old = cut(x, [slice(start, stop) for start, stop, _ in spans])
        part = getattr(hooks.numpy, _JOINED[scatters])(old, part)
    starts = [number_of(start, np.dtype(np.int32)) for start, *_ in spans]
    return dynamic_update_slice_p.bind1(x, part, *starts)


def _shaped(entries: list[Any], sizes: list[Any]) -> list[tuple[Any, Any]]:
    """Return None for a new axis and slices for others, each with its length."""
    lengths = iter(sizes)
    each = [(e, None if e is None else next(lengths)) for e in entries]
    return [(e, n) for e, n in each if e is None or isinstance(e, slice)]


def _repeated(values: Any, shape: Any) -> Any:
    own = get_aval(values).shape
    lead = len(own) - len(shape)
    if lead > 0 and all(dims.is_same(n, 1) for n in own[:lead]):
        values = squeeze(values, tuple(range(lead)))
        own = own[lead:]
    if len(own) > len(shape) or not dims.repeats_to(own, tuple(shape)):
        raise ShapeError(
            f"at: expected values that are repeated to {tuple(shape)}, the shape of the "
            f"part, got {get_aval(values)}. Compare with the shape of x[index]."
        )
    return broadcast(values, tuple(shape))


def _scattered(
    x: Any, read: Any, values: Any, scatters: Scatter, options: dict[str, Any]
) -> Any:
    x = read.widened(as_array("at", x))
    plan = plan_of(x.aval, read, wraps=options["wraps"])
    shape = list(plan.shape)
    for axis in plan.new:
        shape.insert(axis, 1)
    updates = _repeated(values, shape)
    if not dims.has_zero(shape):
        updates = squeeze(updates, plan.new) if plan.new else updates
        if plan.reversed_axes:
            updates = rev(updates, plan.reversed_axes)
        x = scatters(
            x,
            plan.indices,
            updates,
            ScatterDimensionNumbers(*plan.numbers),
            indices_are_sorted=options["indices_are_sorted"] or plan.is_unique,
            unique_indices=options["unique_indices"] or plan.is_unique,
            mode=options["mode"],
        )
    return squeeze(x, read.added) if read.added else x


def _updated_keys(
    x: Any, index: Any, values: Any, scatters: Scatter, options: dict[str, Any]
) -> Any:
    """Update an array of keys: their words are not numbers."""
    if scatters is not scatter or getattr(values, "dtype", None) != x.dtype:
        raise ArgumentError(
            f"at: expected .at[...].set(keys) with keys of {x.dtype} for an array of "
            f"them, got {getattr(values, 'dtype', type(values).__name__)} . Keys are put "
            "as they are."
        )

    def of_words(words: Any, new: Any) -> Any:
        return _updated(words, index, new, scatter, options)

    words = vmap(of_words, in_axes=-1, out_axes=-1)(x.data, values.data)
    return x.dtype.of_words(words)
