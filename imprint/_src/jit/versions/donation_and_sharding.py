"""Execution of versions that donate, or that run over several devices.

Arguments may be on the host, on another device or sharded differently. Those with the
wrong placement are copied first; the copy is donated and the original kept. Without
donation, arguments in the right place take the warm path instead.
"""

from collections import Counter
from typing import Any

import numpy as np

from imprint._src.array import (
    ArrayImpl,
    buffer_of,
    buffer_on,
    buffer_over,
    consume,
    copy_array,
    on_device,
    to_array,
)
from imprint._src.diagnostics.source import current_source
from imprint._src.errors import ArgumentError
from imprint._src.jit.calls.device_assignment import ShardedAssignment, shown


def run_spread(version: Any, leaves: list[Any]) -> list[Any]:
    """Execute a `Version` over several devices; return the buffers of its results.

    Args:
        version: the version.
        leaves: those of the call.
    """
    assignment: ShardedAssignment = version.assignment
    kept, start = version.program.kept, len(version.consts)
    for at, i in enumerate(kept, start):
        if isinstance(leaves[i], np.ndarray) and assignment.device.spans_processes:
            _check_whole(version, i, at)
    arrays = [to_array(leaves[i]) for i in kept]
    pairs = zip(arrays, assignment.inputs[start:], strict=True)
    buffers = [buffer_over(x, sharding) for x, sharding in pairs]
    uses = Counter(map(id, [*version.consts, *buffers]))
    given: list[int] = []
    for at, i in enumerate(kept):
        if i not in version.donated:
            continue
        if uses[id(buffers[at])] > 1:
            buffers[at] = buffer_over(
                copy_array(arrays[at]), assignment.inputs[start + at]
            )
        elif buffers[at] is getattr(arrays[at], "_buffer", None):
            given.append(at)
    outs: list[Any] = version.call([*version.consts, *buffers])
    site = current_source()
    for at in given:
        consume(arrays[at], version.donated[kept[at]], site)
    return outs


def _check_whole(version: Any, leaf: int, at: int) -> None:
    """Raise for a NumPy array that `in_shardings` splits between processes.

    Nothing says whether each process has all of it or its part, and one is wrong.
    """
    asked = version.program.module.spread.inputs[at]
    if asked is not None and not asked.is_fully_replicated:
        raise ArgumentError(
            f"{version.name}: expected argument {version.traced.leaf_names()[leaf]} as an "
            f"imprint array, as in_shardings splits it between processes, {shown(asked)}, "
            "got one of NumPy. Write imprint.device_put(x, sharding) if all processes have "
            "the same, or imprint.make_array_from_process_local_data(sharding, x) if each "
            "has its part."
        )


def run_donating(version: Any, leaves: list[Any]) -> list[Any]:
    """Execute a `Version` that donates; return the buffers of its results.

    Args:
        version: the version.
        leaves: those of the call.
    """
    device = version.assignment.device
    arrays: list[Any] = leaves
    if version.assignment.moves:  # then a copy is donated, and the original stays
        arrays = [on_device(to_array(x), device) for x in leaves]
    try:  # the function `buffer_of` costs 70 ns more, for each leaf
        buffers = [x._buffer for x in arrays]
    except AttributeError:
        arrays = [on_device(to_array(x), device) for x in arrays]
        buffers = [buffer_of(x) for x in arrays]
    count = version.arguments  # one array alone, 200 ns faster, has no other use
    consts = version.consts
    if count > 1 and len({*map(id, consts), *map(id, buffers)}) < count:
        buffers = _separate(version, arrays, buffers)
    outs: list[Any] = version.call(
        [*consts, *[buffers[i] for i in version.program.kept]]
    )
    site = current_source()
    for i, how in version.donated.items():
        consume(arrays[i], how, site)
    return outs


def _separate(version: Any, arrays: list[ArrayImpl], buffers: list[Any]) -> list[Any]:
    """Return the buffers, with copies for donated ones that have another use."""
    uses = Counter(map(id, [*version.consts, *buffers]))
    return [
        buffer_on(copy_array(x), version.assignment.device)
        if i in version.donated and uses[id(buffer)] > 1
        else buffer
        for i, (x, buffer) in enumerate(zip(arrays, buffers, strict=True))
    ]
