"""Exchange of host values between processes.

All processes must call the same functions in the same order. Values go through the store of
the coordination service and need no device; for large arrays, use a program over a mesh of
all devices. A single process gets its own values.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from imprint._src import runtime
from imprint._src.array import ArrayImpl
from imprint._src.errors import ArgumentError
from imprint._src.jit.api import jit
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.spec import PartitionSpec
from imprint._src.tree import internal as tree

_WAIT = 300.0


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:  # noqa: FBT001, FBT002 - JAX's signature
    """Return the values of all processes, as NumPy arrays, in each process.

    Args:
        in_tree: a tree of arrays and numbers, of the same shapes in all processes.
        tiled: whether to concatenate along the first axis instead of a new one. An array
            that is sharded over all processes is whole already.

    Returns:
        A tree of NumPy arrays with one axis more, as long as there are processes; or that
        much longer, if `tiled`.

    Raises:
        ArgumentError: numbers of leaves, shapes or dtypes differ between processes.

    Example:
        >>> import imprint
        >>> from imprint.experimental import multihost_utils
        >>> multihost_utils.process_allgather(imprint.numpy.ones(2)).shape
        (1, 2)
    """
    leaves, treedef = tree.flatten(in_tree)
    if any(map(_is_spread, leaves)):
        whole = [_whole(x) if _is_spread(x) else x for x in leaves]
        rest = [None if _is_spread(x) else x for x in leaves]
        gathered = iter(tree.leaves(process_allgather(rest, tiled)))
        pairs = zip(leaves, whole, strict=True)
        return treedef.unflatten(
            [w if _is_spread(x) else next(gathered) for x, w in pairs]
        )
    mine = [np.asarray(x) for x in leaves]
    came = [mine]
    processes = runtime.joined()
    if processes is not None:
        sent = processes.exchange("process_allgather", _packed(mine), _WAIT)
        came = [_unpacked(x) for x in sent]
        kinds = [[f"{x.dtype}{list(x.shape)}" for x in values] for values in came]
        _check_same("process_allgather", "shapes and dtypes", kinds)
    join = _tiled if tiled else np.stack
    return treedef.unflatten([join(x) for x in zip(*came, strict=True)])


def _is_spread(x: Any) -> bool:
    """Return whether other processes have some parts of an array."""
    return isinstance(x, ArrayImpl) and not x.is_fully_addressable


def _whole(x: Any) -> Any:
    """Return the whole of an array that is sharded over processes."""
    everywhere = NamedSharding(x.sharding.mesh, PartitionSpec())
    return np.asarray(jit(_itself, out_shardings=everywhere)(x))


def _itself(x: Any) -> Any:
    return x


def _tiled(values: Sequence[Any]) -> Any:
    return np.concatenate([np.atleast_1d(x) for x in values])


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:  # noqa: FBT001 - JAX's signature
    """Return the values of one process in each process.

    Args:
        in_tree: a tree of arrays and numbers, of the same structure in all processes.
        is_source: whether the values are this process's; by default those of process 0.

    Returns:
        A tree of NumPy arrays.

    Raises:
        ArgumentError: no process is the source, or several are.

    Example:
        >>> from imprint.experimental import multihost_utils
        >>> multihost_utils.broadcast_one_to_all({"seed": 3})
        {'seed': array(3)}
    """
    leaves, treedef = tree.flatten(in_tree)
    mine = [np.asarray(x) for x in leaves]
    processes = runtime.joined()
    if processes is not None:
        own = processes.config.index == 0 if is_source is None else bool(is_source)
        raw = _packed(mine) if own else b""
        sent = processes.exchange("broadcast_one_to_all", raw, _WAIT)
        sources = [i for i, x in enumerate(sent) if x]
        if len(sources) != 1:
            raise ArgumentError(
                "broadcast_one_to_all: expected one process with is_source=True, got "
                f"{sources}. Let one process say so."
            )
        mine = _unpacked(sent[sources[0]])
        if len(mine) != len(leaves):
            raise ArgumentError(
                "broadcast_one_to_all: expected trees of the same structure, got "
                f"{len(mine)} leaves in process {sources[0]} and {len(leaves)} here. Give "
                "the others zeros of the same structure."
            )
    return treedef.unflatten(mine)


def sync_global_devices(name: str) -> None:
    """Wait until all processes call this with the same name.

    Args:
        name: the name of this place in the program.

    Returns:
        None, when all processes are here.

    Raises:
        ArgumentError: processes wait for different things; all are named.

    Example:
        >>> from imprint.experimental import multihost_utils
        >>> multihost_utils.sync_global_devices("saved")
    """
    processes = runtime.joined()
    if processes is not None:
        sent = processes.exchange(
            f"sync_global_devices({name!r})", name.encode(), _WAIT
        )
        _check_same("sync_global_devices", "name", [x.decode() for x in sent])


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Raise unless all processes have the same values.

    Args:
        in_tree: a tree of arrays and numbers.
        fail_message: the start of the message.

    Returns:
        None, if the values are equal.

    Raises:
        AssertionError: a leaf differs; it is named, with the processes.

    Example:
        >>> from imprint.experimental import multihost_utils
        >>> multihost_utils.assert_equal({"step": 3})
    """
    processes = runtime.joined()
    if processes is None:
        return
    leaves, treedef = tree.flatten(in_tree)
    names = [tree.keystr(path) or "the value" for path in treedef.paths()]
    found = {"the structure": str(treedef)}
    for name, leaf in zip(names, leaves, strict=True):
        array = np.asarray(leaf)
        digest = hashlib.blake2b(array.tobytes(), digest_size=16).hexdigest()
        shown = str(array) if array.size <= 4 else f"{array.dtype}{list(array.shape)}"
        found[name] = f"{shown} {array.dtype} {digest}"
    sent = processes.exchange("assert_equal", json.dumps(found).encode(), _WAIT)
    came: list[dict[str, str]] = [json.loads(x) for x in sent]
    for name in came[0]:
        for other, them in enumerate(came):
            if them.get(name) != came[0][name]:
                begins = f"{fail_message}: " if fail_message else ""
                ours = came[0][name].rsplit(" ", 2)[0]
                theirs = them.get(name, "nothing  ").rsplit(" ", 2)[0]
                raise AssertionError(
                    f"{begins}assert_equal: expected the same in all processes, got "
                    f"{name} = {ours} in process 0 and {theirs} in process {other}. "
                    "Compute it from the same seed, or send it with broadcast_one_to_all."
                )


def _packed(arrays: Sequence[Any]) -> bytes:
    """Return arrays as bytes: dtypes, shapes and values."""
    kinds = json.dumps([(x.dtype.name, x.shape) for x in arrays]).encode()
    return b"".join([b"%d\n" % len(kinds), kinds, *[x.tobytes() for x in arrays]])


def _unpacked(raw: bytes) -> list[Any]:
    length, _, rest = raw.partition(b"\n")
    at = int(length)
    arrays: list[Any] = []
    for name, shape in json.loads(rest[:at]):
        dtype = np.dtype(name)
        size = dtype.itemsize * math.prod(shape)
        values = np.frombuffer(rest[at : at + size], dtype)
        arrays.append(values.reshape(shape).copy())
        at += size
    return arrays


def _check_same(who: str, what: str, came: Sequence[object]) -> None:
    """Raise ArgumentError where processes differ."""
    for other, theirs in enumerate(came):
        if theirs != came[0]:
            raise ArgumentError(
                f"{who}: expected the same {what} in all {len(came)} processes, got "
                f"{came[0]!r} in process 0 and {theirs!r} in process {other}. Let all "
                "processes call the same functions in the same order."
            )
