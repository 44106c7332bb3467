"""`emit` turns the values that a program reads into an array, `indexed` those of an index.

Any difference in value, type or sign of zero gives another array, while the compiled
program is the same, since a captured array is an argument of it. So XLA compiles a few
hundred programs in ten thousand cases.
"""

import numpy as np

import imprint
import imprint.numpy as inp


def emit(x, *terms):
    """Return `x` changed by each of the terms: arrays that depend on it, or values."""
    arrays = []
    word = _word(_without_arrays([*terms], arrays))
    out = x + np.asarray([word & 0xFFFF, word >> 16], np.int32)
    for each in arrays:
        out = out * 31 + each
    return out


def parity(*terms):
    """Return 0 or 1 for the terms that are no arrays, which a policy sees as tracers."""
    return _word(_without_arrays([*terms], [])) % 2


def _word(values):
    word = 0
    for letter in repr(values):  # a function of C would keep the program from the disk
        word = (31 * word + ord(letter)) % 4294967291
    return word


def indexed(x, index, use):
    """Return the shape and weighted sum of `use(table, index)`, or its error's name.

    Elements are weighted by position, so another order is another value.
    """
    table = inp.arange(27, dtype="int32").reshape(3, 3, 3) + x.sum()
    try:
        out = use(table, index)
    except (IndexError, TypeError, ValueError) as err:
        return type(err).__name__
    places = inp.arange(1, out.size + 1, dtype="int32").reshape(out.shape)
    return out.shape, (out * places).sum()


def _without_arrays(value, arrays):
    """Return a value with `...` for each array in it, which may depend on `x`."""
    if isinstance(value, imprint.Array):
        arrays.append(value)
        return ...
    if type(value) in (tuple, list):
        return type(value)(_without_arrays(each, arrays) for each in value)
    return value
