"""Communication among the devices of a mesh, as StableHLO.

A program for many devices is written for one of them, inside `manual_computation`. An
operation here names the participating devices: those that differ in their index along
one axis of the mesh, and in no other. Devices are counted in the order of the mesh.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from imprint._src.stablehlo.builder import Builder, Region
from imprint._src.stablehlo.module import MeshAxis
from imprint._src.stablehlo.types import TensorType, Value, names_of, signature, tensor

_UINT32 = np.dtype(np.uint32)
_INT32 = np.dtype(np.int32)


_CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"


def _rows(rows: Any) -> str:
    found = np.asarray(rows, np.int64)
    body = ", ".join(f"[{', '.join(map(str, row))}]" for row in found)
    return f"dense<[{body}]> : tensor<{found.shape[0]}x{found.shape[1]}xi64>"


def _together(axis: MeshAxis) -> str:
    return f"{_CHANNEL}, replica_groups = {_rows(axis.groups())}"


def _reducer(b: Builder, x: Value, op: str) -> str:
    def body(inner: Builder, args: tuple[Value, ...]) -> Sequence[Value]:
        left, right = args
        return [inner.op(f"stablehlo.{op} {left.name}, {right.name}", left.type)]

    scalar = tensor((), x.dtype)
    return b.region((scalar, scalar), body)[0]


def all_reduce(b: Builder, x: Value, op: str, axis: MeshAxis) -> Value:
    """Reduce the values of all devices along an axis, elementwise."""
    if axis.size == 1:
        return x
    return b.op(
        f'"stablehlo.all_reduce"({x.name}) <{{{_together(axis)}, '
        f"use_global_device_ids}}> ({_reducer(b, x, op)})",
        x.type,
        signature((x,), (x.type,)),
    )


def all_gather(b: Builder, x: Value, dimension: int, axis: MeshAxis) -> Value:
    """Join the values of all devices along an axis of the array."""
    if axis.size == 1:
        return x
    out = _resized(x, dimension, x.shape[dimension] * axis.size)
    return b.op(
        f'"stablehlo.all_gather"({x.name}) <{{all_gather_dim = {dimension} : i64, '
        f"{_together(axis)}, use_global_device_ids}}>",
        out,
        signature((x,), (out,)),
    )


def reduce_scatter(b: Builder, x: Value, dimension: int, axis: MeshAxis) -> Value:
    """Sum the values of all devices, and give each its part of an axis of the array."""
    if axis.size == 1:
        return x
    out = _resized(x, dimension, x.shape[dimension] // axis.size)
    return b.op(
        f'"stablehlo.reduce_scatter"({x.name}) <{{{_together(axis)}, scatter_dimension '
        f"= {dimension} : i64, use_global_device_ids}}> ({_reducer(b, x, 'add')})",
        out,
        signature((x,), (out,)),
    )


def all_to_all(b: Builder, x: Value, dimension: int, axis: MeshAxis) -> Value:
    """Exchange element `i` of device `j` with element `j` of device `i`."""
    if axis.size == 1:
        return x
    return b.op(
        f'"stablehlo.all_to_all"({x.name}) <{{{_together(axis)}, concat_dimension = '
        f"{dimension} : i64, split_count = {axis.size} : i64, split_dimension = "
        f"{dimension} : i64}}>",
        x.type,
        signature((x,), (x.type,)),
    )


def collective_permute(
    b: Builder, x: Value, pairs: Sequence[tuple[int, int]], axis: MeshAxis
) -> Value:
    """Send values from device to device; who is sent nothing gets zeros."""
    if not pairs:
        return b.full(x.shape, 0, x.dtype)
    if axis.size == 1:
        return x
    devices = [
        [row[source], row[target]] for row in axis.groups() for source, target in pairs
    ]
    return b.op(
        f'"stablehlo.collective_permute"({x.name}) <{{{_CHANNEL}, '
        f"source_target_pairs = {_rows(devices)}}}>",
        x.type,
        signature((x,), (x.type,)),
    )


def axis_index(b: Builder, axis: MeshAxis) -> Value:
    """Count the devices along an axis."""
    if axis.size == 1:
        return b.constant(0, _INT32)
    scalar, out = tensor((), _UINT32), tensor((), _INT32)

    def body(inner: Builder, _: tuple[Value, ...]) -> Sequence[Value]:
        device = inner.op("stablehlo.partition_id", scalar)
        stride, size = (inner.constant(n, _UINT32) for n in (axis.stride, axis.size))
        place = inner.op(f"stablehlo.divide {device.name}, {stride.name}", scalar)
        place = inner.op(f"stablehlo.remainder {place.name}, {size.name}", scalar)
        text = f"stablehlo.convert {place.name}"
        return [inner.op(text, out, signature((place,), (out,)))]

    if not axis.others:
        return body(b, ())[0]
    # Only where no axis is left to the compiler does a device have a number.
    return manual_computation(
        b, ((), ()), ((), (out,)), axis.others, body, nested=True
    )[0]


def manual_computation(  # noqa: PLR0913 - operands and results, each twofold
    b: Builder,
    operands: tuple[Sequence[str], Sequence[Value]],
    results: tuple[Sequence[str], Sequence[TensorType]],
    manual: Sequence[str],
    body: Region,
    *,
    types: Sequence[TensorType] = (),
    nested: bool = False,
) -> tuple[Value, ...]:
    """Write the program of one device.

    Args:
        b: the builder of the function.
        operands: how each is split, as text of `sdy`, and the whole value.
        results: likewise, with the types of the whole.
        manual: the axes that are split so.
        body: writes the program of a device.
        types: the types of its arguments.
        nested: whether it has no operands and is the same on every device.
    """
    splits = results[0] if not nested else ["[]" for _ in results[1]]
    axes = ", ".join(f'"{name}"={size}' for name, size in b.module.mesh)
    mesh = f"mesh<[{axes}]>"
    shown = [
        ", ".join([f"<{mesh}, {text}>" for text in texts])
        for texts in (operands[0], splits)
    ]
    ins, outs = (f"#sdy.sharding_per_value<[{text}]>" for text in shown)
    names = ", ".join(f'"{name}"' for name in manual)
    region, _ = b.region(types, body, ends="sdy.return")
    return b.ops(
        f'"sdy.manual_computation"({names_of(operands[1])}) <{{in_shardings = {ins}, '
        f"manual_axes = #sdy<manual_axes{{{names}}}>, out_shardings = {outs}}}> "
        f"({region})",
        results[1],
        signature(operands[1], results[1]),
    )


def _resized(x: Value, dimension: int, length: int) -> TensorType:
    shape = (*x.shape[:dimension], length, *x.shape[dimension + 1 :])
    return tensor(shape, x.dtype)
