"""Operations of StableHLO that slide a window: convolution, reduction, and its scatter.

A `Convolution` is what the attributes of one say. Dimension numbers are triples
(batch, feature, spatial…) as JAX has them, and become MLIR's `[b, f, 0, 1]`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from imprint._src.stablehlo.rearranging import Rearranging
from imprint._src.stablehlo.sized import is_named
from imprint._src.stablehlo.types import (
    TensorType,
    Value,
    list_text,
    names_of,
    signature,
    tensor,
)

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


class Windowed(NamedTuple):
    """The attributes of a reduction of windows."""

    lengths: Ints
    strides: Ints
    padding: Sequence[tuple[int, int]]
    base_dilation: Ints
    window_dilation: Ints

    @property
    def is_named(self) -> bool:
        """Whether some number is a size with a name."""
        padding = [n for pair in self.padding for n in pair]
        return any(map(is_named, (*self.lengths, *padding)))

    def text(self, *, is_scatter: bool = False) -> str:
        """Return them in StableHLO's words; a scatter has no dilations."""
        rank = len(self.lengths)
        rows = list_text([list_text(p) for p in self.padding]) if rank else ""
        found = {"window_dimensions": self.lengths, "window_strides": self.strides}
        if not is_scatter:
            found |= {
                "base_dilations": self.base_dilation,
                "window_dilations": self.window_dilation,
            }
        arrays = [f"{name} = {_array(numbers)}" for name, numbers in found.items()]
        return (
            f"{{{', '.join(arrays)}, padding = dense<{rows}> : tensor<{rank}x2xi64>}}"
        )


class Windows(Rearranging):
    """The part of `Builder` that slides windows."""

    def ops(
        self, text: str, results: Sequence[TensorType], signature: str
    ) -> tuple[Value, ...]:
        """Append a line with any number of results; the builder does."""
        raise NotImplementedError

    def joiner(self, body: str, scalars: Sequence[TensorType]) -> str:
        """Write a region that joins two sets of scalars as a function; the builder does."""
        raise NotImplementedError

    def _row(self, pair: Sequence[Any]) -> Value:
        one = tensor((1, 2), np.dtype(np.int32))
        return self.taking("stablehlo.reshape {}", [self.vector(pair)], one)

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

    def reduce_window(
        self,
        xs: Sequence[Value],
        inits: Sequence[Value],
        config: Windowed,
        shape: Sequence[int],
        body: str,
    ) -> tuple[Value, ...]:
        """Join the elements of each window, of several operands together.

        Args:
            xs: the operands, of one shape.
            inits: what each window begins with, of each.
            config: where windows are.
            shape: how many there are.
            body: the region that joins two sets of scalars.
        """
        outs = [tensor(tuple(shape), x.dtype) for x in xs]
        operands = (*xs, *inits)
        if config.is_named:
            rows = [self._row(pair) for pair in config.padding]
            two = tensor((len(rows), 2), np.dtype(np.int32))
            operands += tuple(
                self.vector(numbers)
                for numbers in (
                    *config[:2],
                    config.base_dilation,
                    config.window_dilation,
                )
            )
            pads = self.taking("stablehlo.concatenate {}, dim = 0", rows, two)
            scalars = [tensor((), x.dtype) for x in xs]
            symbol = self.joiner(body, scalars)
            return self.ops(
                "stablehlo.custom_call @stablehlo.dynamic_reduce_window("
                f"{names_of((*operands, pads))}) {{called_computations = [@{symbol}]}}",
                outs,
                signature((*operands, pads), outs),
            )
        head = f'"stablehlo.reduce_window"({names_of(operands)}) ({body}) '
        return self.ops(head + config.text(), outs, signature(operands, outs))

    def select_and_scatter(
        self,
        x: Value,
        source: Value,
        init: Value,
        config: Windowed,
        regions: str,
    ) -> Value:
        """Join each element of `source` with that which its window of `x` selects.

        Args:
            x: what is selected from.
            source: an element for each window.
            init: what the result begins with.
            config: where windows are.
            regions: whether the first of two scalars is selected, and what joins two.
        """
        operands = (x, source, init)
        return self.op(
            f'"stablehlo.select_and_scatter"({names_of(operands)}) ({regions}) '
            f"{config.text(is_scatter=True)}",
            x.type,
            signature(operands, (x.type,)),
        )


def _layout(spec: Ints, letters: str) -> str:
    names = {axis: str(i - 2) for i, axis in enumerate(spec)}
    names |= dict(zip(spec[:2], letters, strict=True))
    return list_text([names[axis] for axis in range(len(spec))])


def _array(numbers: Ints) -> str:
    return f"array<i64{': ' if len(numbers) else ''}{', '.join(map(str, numbers))}>"
