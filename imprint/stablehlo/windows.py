"""Operations of StableHLO that slide a window: convolution, reduction, and its scatter.

A `Convolution` is what the attributes of one say. Dimension numbers are triples
(batch, feature, spatial…) as JAX has them, and become MLIR's `[b, f, 0, 1]`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from imprint.stablehlo.rearranging import Rearranging
from imprint.stablehlo.types import Value, list_text, signature, tensor

Ints = Sequence[int]


class Convolution(NamedTuple):
    """The attributes of a convolution."""

    strides: Ints
    padding: Sequence[tuple[int, int]]
    lhs_dilation: Ints
    rhs_dilation: Ints
    specs: Sequence[Ints]
    feature_groups: int
    batch_groups: int
    precision: tuple[str, str]

    def text(self) -> str:
        """Return them in StableHLO's words."""
        lhs, rhs, out = (
            _layout(spec, letters)
            for spec, letters in zip(self.specs, ("bf", "oi", "bf"), strict=True)
        )
        precisions = [f"#stablehlo<precision {name}>" for name in self.precision]
        return (
            f"dim_numbers = {lhs}x{rhs}->{out}, "
            f"window = {{stride = {list_text(self.strides)}, "
            f"pad = {list_text([list_text(p) for p in self.padding])}, "
            f"lhs_dilate = {list_text(self.lhs_dilation)}, "
            f"rhs_dilate = {list_text(self.rhs_dilation)}}} "
            f"{{batch_group_count = {self.batch_groups} : i64, "
            f"feature_group_count = {self.feature_groups} : i64, "
            f"precision_config = {list_text(precisions)}}}"
        )


class Windows(Rearranging):
    """The part of `Builder` that slides windows."""

    def convolution(
        self,
        x: Value,
        y: Value,
        config: Convolution,
        shape: Sequence[int],
        dtype: Any,
    ) -> Value:
        """Convolve `x` with the kernel `y`; the result has this shape and dtype."""
        out = tensor(tuple(shape), np.dtype(dtype))
        return self.op(
            f"stablehlo.convolution({x.name}, {y.name}) {config.text()}",
            out,
            signature((x, y), (out,)),
        )


def _layout(spec: Ints, letters: str) -> str:
    names = {axis: str(i - 2) for i, axis in enumerate(spec)}
    names |= dict(zip(spec[:2], letters, strict=True))
    return list_text([names[axis] for axis in range(len(spec))])
