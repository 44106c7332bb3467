"""Operations on sliding windows: convolution, reduction, and scatter of selections.

`Convolution` and `WindowAttributes` are the attributes. Dimension numbers are triples
(batch, feature, spatial…) as in JAX, and become MLIR's `[b, f, 0, 1]`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from imprint._src.stablehlo.builder import Builder, Region
from imprint._src.stablehlo.types import (
    TensorType,
    Value,
    is_named,
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


class WindowAttributes(NamedTuple):
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


def convolution(
    b: Builder,
    x: Value,
    y: Value,
    config: Convolution,
    shape: Sequence[int],
    dtype: Any,
) -> Value:
    """Convolve `x` with the kernel `y`; the result has this shape and dtype."""
    out = tensor(tuple(shape), np.dtype(dtype))
    return b.op(
        f"stablehlo.convolution({x.name}, {y.name}) {config.text()}",
        out,
        signature((x, y), (out,)),
    )


def reduce_window(
    b: Builder,
    xs: Sequence[Value],
    inits: Sequence[Value],
    config: WindowAttributes,
    shape: Sequence[int],
    body: str,
) -> tuple[Value, ...]:
    """Join the elements of each window, of several operands together.

    Args:
        b: the builder of the function.
        xs: the operands, of one shape.
        inits: the initial value of the windows of each operand.
        config: the window attributes.
        shape: how many there are.
        body: the region that joins two sets of scalars.
    """
    outs = [tensor(tuple(shape), x.dtype) for x in xs]
    operands = (*xs, *inits)
    if config.is_named:
        rows = [_row(b, pair) for pair in config.padding]
        two = tensor((len(rows), 2), np.dtype(np.int32))
        operands += tuple(
            b.vector(numbers)
            for numbers in (
                *config[:2],
                config.base_dilation,
                config.window_dilation,
            )
        )
        pads = b.dynamic_op("stablehlo.concatenate {}, dim = 0", rows, two)
        scalars = [tensor((), x.dtype) for x in xs]
        symbol = _joiner(b, body, scalars)
        return b.ops(
            "stablehlo.custom_call @stablehlo.dynamic_reduce_window("
            f"{names_of((*operands, pads))}) {{called_computations = [@{symbol}]}}",
            outs,
            signature((*operands, pads), outs),
        )
    head = f'"stablehlo.reduce_window"({names_of(operands)}) ({body}) '
    return b.ops(head + config.text(), outs, signature(operands, outs))


def cumulate(
    b: Builder, x: Value, init: Value, axis: int, *, reverse: bool, body: Region
) -> Value:
    """Join each element with all before it (or behind it) on a non-empty axis.

    It is a `reduce_window` as long as the axis, which the engine turns into a scan.
    """
    ones = (1,) * x.ndim
    window = [n if i == axis else 1 for i, n in enumerate(x.shape)]
    room = window[axis] - 1
    one = (0, room) if reverse else (room, 0)
    pads = [one if i == axis else (0, 0) for i in range(x.ndim)]
    config = WindowAttributes(window, ones, pads, ones, ones)
    scalar = tensor((), x.dtype)
    text, _ = b.region([scalar, scalar], body)
    return reduce_window(b, [x], [init], config, x.shape, text)[0]


def select_and_scatter(
    b: Builder,
    x: Value,
    source: Value,
    init: Value,
    config: WindowAttributes,
    regions: str,
) -> Value:
    """Join each element of `source` with that which its window of `x` selects.

    Args:
        b: the builder of the function.
        x: the array from which windows select.
        source: an element for each window.
        init: the initial value of the result.
        config: the window attributes.
        regions: the region that selects one of two scalars, and the region that
            combines two.
    """
    operands = (x, source, init)
    return b.op(
        f'"stablehlo.select_and_scatter"({names_of(operands)}) ({regions}) '
        f"{config.text(is_scatter=True)}",
        x.type,
        signature(operands, (x.type,)),
    )


def _row(b: Builder, pair: Sequence[Any]) -> Value:
    one = tensor((1, 2), np.dtype(np.int32))
    return b.dynamic_op("stablehlo.reshape {}", [b.vector(pair)], one)


def _joiner(b: Builder, body: str, scalars: Sequence[TensorType]) -> str:
    """Write a region that joins two sets of scalars as a function; return its name."""
    symbol = b.module.unique_name("join")
    listed = ", ".join([t.text for t in scalars])
    b.module.add(
        f'  "func.func"() <{{function_type = ({listed}, {listed}) -> ({listed}), '
        f'sym_name = "{symbol}", sym_visibility = "private"}}> ({body}) '
        ": () -> ()\n"
    )
    return symbol


def _layout(spec: Ints, letters: str) -> str:
    names = {axis: str(i - 2) for i, axis in enumerate(spec)}
    names |= dict(zip(spec[:2], letters, strict=True))
    return list_text([names[axis] for axis in range(len(spec))])


def _array(numbers: Ints) -> str:
    return f"array<i64{': ' if len(numbers) else ''}{', '.join(map(str, numbers))}>"
