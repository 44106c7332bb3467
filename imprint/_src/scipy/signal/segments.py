"""Signals cut into segments that overlap, and put together again; their windows.

A segment is some steps long, of which the last may be cut. So segments are slices of rows of
one step beside each other, and their sum is that of shifted rows: nothing is gathered or
scattered.
"""

import warnings
from importlib import import_module
from typing import Any

import numpy

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.promotion import as_array
from imprint._src.primitives.axes import whole
from imprint._src.primitives.indexing.slicing import pad


def segments(x: Array, length: int, step: int) -> Array:
    """Return the segments that begin each `step` along the last axis, as a last axis.

    Args:
        x: an array, at least as long as a segment.
        length: that of a segment.
        step: how far one begins after another.
    """
    count = (x.shape[-1] - length) // step + 1
    parts = -(-length // step)
    long = extended(x, (0, (count + parts - 1) * step - x.shape[-1]))
    rows = long.reshape(*x.shape[:-1], -1, step)
    shifted = [rows[..., i : i + count, :] for i in range(parts)]
    return np.concatenate(shifted, axis=-1)[..., :length]


def added(x: Array, step: int) -> Array:
    """Return the sum of segments where they overlap: what `segments` cut, put together.

    Args:
        x: segments along the axis before the last.
        step: how far one begins after another.
    """
    count, length = x.shape[-2:]
    parts = -(-length // step)
    long = extended(x, (0, parts * step - length))
    total = np.zeros((), x.dtype)
    for i in range(parts):
        part = long[..., i * step : (i + 1) * step]
        total = total + extended(part, (i, parts - 1 - i), axis=-2)
    flat = total.reshape(*x.shape[:-2], -1)
    return flat[..., : (count - 1) * step + length]


def extended(x: Array, by: tuple[int, int], axis: int = -1) -> Array:
    """Return an array with zeros at both ends of an axis; a negative number cuts."""
    edges = [(0, 0, 0)] * x.ndim
    edges[axis] = (*by, 0)
    return pad(x, np.zeros((), x.dtype), edges)


def window_of(
    name: str, window: Any, length: int | None, limit: int
) -> tuple[Any, int]:
    """Return the numbers of a window, and their number.

    Args:
        name: the function that was called, for errors.
        window: a name, a tuple of a name and numbers, or an array.
        length: of a segment; None for that of the array, or the whole signal.
        limit: the length of the signal.
    """
    if isinstance(window, str | tuple):
        size = limit if length is None else length
        if size > limit:
            warnings.warn(
                f"{name}: the signal has {limit} elements, fewer than nperseg={size}: "
                f"it is one segment of {limit}.",
                stacklevel=4,
            )
            size = limit
        return named_window(name, window, size), size
    win = as_array(name, window)
    size = win.size if length is None else length
    if win.ndim != 1 or size != win.size or size > limit:
        raise ShapeError(
            f"{name}: expected a window of nperseg numbers, at most {limit}, which the "
            f"signal has, got {win.aval} and nperseg={length}."
        )
    return win, size


def named_window(name: str, window: Any, length: int) -> Any:
    """Return the numbers of a window that SciPy knows by its name."""
    if window == "hann":
        return numpy.sin(numpy.pi / length * numpy.arange(length)) ** 2 + (length == 1)
    known: Any = import_module("scipy.signal.windows")
    try:
        return known.get_window(window, length)
    except ValueError as err:
        raise ArgumentError(
            f"{name}: expected a window of scipy.signal.windows, or an array, got "
            f"{window!r}."
        ) from err


def counts(name: str, nperseg: Any, noverlap: Any, nfft: Any) -> tuple[int, int, int]:
    """Return how long segments are, how far apart they begin, and how long transforms are.

    Args:
        name: the function that was called, for errors.
        nperseg: how long segments are.
        noverlap: how much one covers of another; None for half of it.
        nfft: how long transforms are; None for as long as segments.
    """
    length = whole(name, "nperseg", nperseg)
    overlap = length // 2 if noverlap is None else whole(name, "noverlap", noverlap)
    wide = length if nfft is None else whole(name, "nfft", nfft)
    if length < 1 or not 0 <= overlap < length or wide < length:
        raise ArgumentError(
            f"{name}: expected nperseg of 1 or more, noverlap in [0, nperseg), and nfft of "
            f"nperseg or more, got nperseg={length}, noverlap={overlap}, nfft={wide}."
        )
    return length, length - overlap, wide
