"""Operations of StableHLO that move elements or give them another dtype.

Conversion, reshaping, slicing, padding, joining. Those that give a shape take that of
their result; the rest infer it.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.stablehlo.sized import Sized, is_named
from imprint._src.stablehlo.types import (
    TensorType,
    Value,
    list_text,
    names_of,
    signature,
    tensor,
)

_OF_TWO_BITS: Final = (dt.int2, dt.uint2)


class Rearranging(Sized):
    """The part of `Builder` that rearranges elements."""

    # ---- conversion ----

    def convert(self, x: Value, dtype: Any) -> Value:
        """Convert the elements to another dtype."""
        return self._retyped(
            f"stablehlo.convert {x.name}", x, tensor(x.shape, np.dtype(dtype))
        )

    def bitcast_convert(self, x: Value, shape: Sequence[int], dtype: Any) -> Value:
        """Read the bits as another dtype."""
        out = tensor(tuple(shape), np.dtype(dtype))
        return self._retyped(f"stablehlo.bitcast_convert {x.name}", x, out)

    def reduce_precision(
        self, x: Value, exponent_bits: int, mantissa_bits: int
    ) -> Value:
        """Round floats to a format of fewer bits."""
        bits = f"e{exponent_bits}m{mantissa_bits}"
        return self.op(f"stablehlo.reduce_precision {x.name}, format = {bits}", x.type)

    # ---- shape ----

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """Give another shape of the same size."""
        out = tensor(tuple(shape), x.dtype)
        if not out.is_static:
            return self.shaped("stablehlo.dynamic_reshape {}", [x], out)
        return self._retyped(f"stablehlo.reshape {x.name}", x, out)

    def broadcast_in_dim(
        self, x: Value, shape: Sequence[int], dimensions: Sequence[int]
    ) -> Value:
        """Repeat `x`; its axis i becomes axis `dimensions[i]`."""
        out = tensor(tuple(shape), x.dtype)
        is_like = out is x.type or (out.is_static and out.text == x.type.text)
        if is_like and tuple(dimensions) == tuple(range(x.ndim)):
            return x
        if not out.is_static:
            return self.spread(x, out, dimensions)
        return self._retyped(
            f"stablehlo.broadcast_in_dim {x.name}, dims = {list_text(dimensions)}",
            x,
            out,
        )

    def transpose(self, x: Value, permutation: Sequence[int]) -> Value:
        """Permute the axes: axis i of the result is axis `permutation[i]` of `x`."""
        out = tensor(tuple(x.shape[p] for p in permutation), x.dtype)
        return self._retyped(
            f"stablehlo.transpose {x.name}, dims = {list_text(permutation)}", x, out
        )

    def reverse(self, x: Value, dimensions: Sequence[int]) -> Value:
        """Reverse the order of the elements along axes."""
        return self.op(
            f"stablehlo.reverse {x.name}, dims = {list_text(dimensions)}", x.type
        )

    def slice(
        self,
        x: Value,
        start: Sequence[int],
        limit: Sequence[int],
        strides: Sequence[int],
    ) -> Value:
        """Take `start:limit:stride` of each axis."""
        if not x.type.is_static:
            out = tensor(_lengths(start, limit, strides), x.dtype)
            return self.sliced(x, (start, limit, strides), out)
        shape = _lengths(start, limit, strides)
        spans = ", ".join(
            f"{lo}:{hi}" if step == 1 else f"{lo}:{hi}:{step}"
            for lo, hi, step in zip(start, limit, strides, strict=True)
        )
        return self._retyped(
            f"stablehlo.slice {x.name} [{spans}]", x, tensor(shape, x.dtype)
        )

    def pad(
        self,
        x: Value,
        fill: Value,
        low: Sequence[int],
        high: Sequence[int],
        interior: Sequence[int],
    ) -> Value:
        """Pad each axis with `fill`; negative padding cuts."""
        shape = tuple(
            lo + hi + n + (gap and _at_least_0(n - 1) * gap)
            for n, lo, hi, gap in zip(x.shape, low, high, interior, strict=True)
        )
        out = tensor(shape, x.dtype)
        if any(map(is_named, (*low, *high))):
            widths = map(self.vector, (low, high, interior))
            return self.taking("stablehlo.dynamic_pad {}", [x, fill, *widths], out)
        return self.op(
            f"stablehlo.pad {x.name}, {fill.name}, low = {list_text(low)}, "
            f"high = {list_text(high)}, interior = {list_text(interior)}",
            out,
            signature((x, fill), (out,)),
        )

    def concatenate(self, xs: Sequence[Value], dimension: int) -> Value:
        """Join along an axis; XLA:CPU 0.10 to 0.12 ends the process where elements have 2 bits."""
        first = xs[0]
        if first.dtype in _OF_TWO_BITS:
            wide = self.concatenate([self.convert(x, np.int8) for x in xs], dimension)
            return self.convert(wide, first.dtype)
        length = sum(x.shape[dimension] for x in xs)
        shape = (*first.shape[:dimension], length, *first.shape[dimension + 1 :])
        out = tensor(shape, first.dtype)
        return self.op(
            f"stablehlo.concatenate {names_of(xs)}, dim = {dimension}",
            out,
            signature(xs, (out,)),
        )

    def dynamic_slice(
        self, x: Value, starts: Sequence[Value], sizes: Sequence[int]
    ) -> Value:
        """Take `sizes` elements of each axis from traced starts, which are clamped."""
        out = tensor(tuple(sizes), x.dtype)
        if not out.is_static:
            return self.sliced_at(x, starts, out)
        return self.op(
            f"stablehlo.dynamic_slice {names_of((x, *starts))}, sizes = {list_text(sizes)}",
            out,
            signature((x, *starts), (out,)),
        )

    def dynamic_update_slice(
        self, x: Value, update: Value, starts: Sequence[Value]
    ) -> Value:
        """Put `update` into `x` at traced starts, which are clamped."""
        return self.op(
            f"stablehlo.dynamic_update_slice {names_of((x, update, *starts))}",
            x.type,
            signature((x, update, *starts), (x.type,)),
        )

    def _retyped(self, text: str, x: Value, out: TensorType) -> Value:
        return self.op(text, out, f"({x.type}) -> {out}")


def _lengths(
    start: Sequence[int], limit: Sequence[int], strides: Sequence[int]
) -> tuple[int, ...]:
    return tuple(
        _at_least_0(-(-(hi - lo) // step))
        for lo, hi, step in zip(start, limit, strides, strict=True)
    )


def _at_least_0(n: Any) -> Any:
    return n.maximum(0) if is_named(n) else max(0, n)
