"""Placing values: on a device, back on the host, and waiting for them.

Each takes a whole tree and returns one of the same structure. Leaves that are not
arrays or numbers are refused on the way to a device, and left alone on the way back.
"""

from typing import Any

from imprint import runtime, tree
from imprint.array import ArrayImpl, to_array
from imprint.core.trace import Tracer
from imprint.errors import ArgumentError


def device_put(x: Any, device: Any = None) -> Any:
    """Return a tree with its arrays and numbers as arrays on a device.

    Args:
        x: a tree of arrays and numbers; NumPy's are copied.
        device: one of `imprint.devices()`; None is the default one.

    >>> import imprint
    >>> imprint.device_put({"a": 1.0})
    {'a': Array(1., dtype=float32, weak_type=True)}
    """
    if device is not None and device not in runtime.devices():
        raise ArgumentError(
            f"device_put: expected one of {list(runtime.devices())}, got {device!r}."
        )
    return tree.map(_put, x)


def device_get(x: Any) -> Any:
    """Return a tree with its arrays as NumPy arrays, which are read-only views.

    >>> import imprint
    >>> imprint.device_get(imprint.numpy.ones(2))
    array([1., 1.], dtype=float32)
    """
    return tree.map(_get, x)


def block_until_ready(x: Any) -> Any:
    """Wait until all arrays of a tree are computed; return the tree.

    >>> import imprint
    >>> imprint.block_until_ready(imprint.jit(lambda x: x + 1)(1.0))
    Array(2., dtype=float32, weak_type=True)
    """
    for leaf in tree.leaves(x):
        if _is_array(leaf):
            leaf.block_until_ready()
    return x


def _is_array(x: Any) -> bool:
    return isinstance(x, ArrayImpl)


def _put(x: Any) -> Any:
    if isinstance(x, Tracer):
        return x
    array = to_array(x)
    _ = array.buffer
    return array


def _get(x: Any) -> Any:
    return x.__array__() if _is_array(x) else x
