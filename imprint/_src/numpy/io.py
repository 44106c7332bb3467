"""Input and output of arrays, by NumPy: bytes, text, files, and printing.

NumPy's results become arrays as by `asarray`. NumPy's files cannot name dtypes that
NumPy lacks, so two bytes without a dtype are read as bfloat16. The printing functions
are NumPy's own, and so are their options, which `repr` of arrays uses too.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError, DTypeError
from imprint._src.numpy.creation import asarray

save: Final = np.save
savez: Final = np.savez


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """Load the array of a file that `save` or NumPy wrote; see `numpy.load`.

    Other contents, such as those of a `savez` file, are returned as by NumPy.

    Args:
        file: its name, or an open file.
        args: further arguments of `numpy.load`.
        kwargs: further keyword arguments of `numpy.load`.

    Returns:
        An array, or an object of NumPy if it holds no single array of numbers.

    References:
        NumPy, `numpy.load`.

    Example:
        >>> import io
        >>> import imprint.numpy as np
        >>> file = io.BytesIO()
        >>> np.save(file, np.arange(3))
        >>> np.load(io.BytesIO(file.getvalue()))
        Array([0, 1, 2], dtype=int32)
    """
    values: Any = np.load(file, *args, **kwargs)
    if type(values) is not np.ndarray:
        return values
    if values.dtype == "V2":
        values = values.view(dtypes.bfloat16)
    try:
        return asarray(values)
    except (ArgumentError, DTypeError):
        return values


def frombuffer(
    buffer: Any, dtype: DTypeLike = float, count: int = -1, offset: int = 0
) -> Array:
    """Interpret a buffer as a vector of numbers.

    Args:
        buffer: bytes, or an object with a buffer.
        dtype: the dtype in the buffer: float is 64 bits wide.
        count: how many numbers to read; -1 for all.
        offset: the number of bytes to skip.

    Returns:
        A vector; 64 bits become 32 unless `enable_x64` is set.

    References:
        NumPy, `numpy.frombuffer`.

    Example:
        >>> import imprint.numpy as np
        >>> np.frombuffer(b"abc", "uint8")
        Array([97, 98, 99], dtype=uint8)
    """
    return asarray(np.frombuffer(buffer, _stored(dtype), count, offset))


def fromstring(
    string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str
) -> Array:
    """Parse the numbers of a text.

    Args:
        string: the text.
        dtype: the dtype of the numbers.
        count: how many numbers to read; -1 for all.
        sep: the separator.

    Returns:
        A vector; 64 bits become 32 unless `enable_x64` is set.

    References:
        NumPy, `numpy.fromstring`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fromstring("1 2 3", int, sep=" ")
        Array([1, 2, 3], dtype=int32)
    """
    return asarray(np.fromstring(string, _stored(dtype), count, sep=sep))


def fromfile(
    file: Any, dtype: DTypeLike = float, count: int = -1, sep: str = "", offset: int = 0
) -> Array:
    """Read the numbers of a binary or text file.

    Args:
        file: its name, or an open file.
        dtype: the dtype in the file: float is 64 bits wide.
        count: how many numbers to read; -1 for all.
        sep: the separator of a text file; empty for a binary file.
        offset: the number of bytes to skip.

    Returns:
        A vector; 64 bits become 32 unless `enable_x64` is set.

    References:
        NumPy, `numpy.fromfile`.

    Example:
        >>> import tempfile
        >>> import imprint.numpy as np
        >>> with tempfile.TemporaryFile() as file:
        ...     _ = file.write(b"abc"), file.seek(0)
        ...     np.fromfile(file, "uint8")
        Array([97, 98, 99], dtype=uint8)
    """
    return asarray(np.fromfile(file, _stored(dtype), count, sep, offset))


def fromiter(iter: Any, dtype: DTypeLike, count: int = -1) -> Array:
    """Create a vector from the numbers of an iterable.

    Args:
        iter: numbers.
        dtype: the dtype of the result.
        count: how many numbers to read; -1 for all.

    Returns:
        A vector; 64 bits become 32 unless `enable_x64` is set.

    References:
        NumPy, `numpy.fromiter`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fromiter((k * k for k in range(4)), int)
        Array([0, 1, 4, 9], dtype=int32)
    """
    return asarray(np.fromiter(iter, _stored(dtype), count))


def _stored(dtype: Any) -> np.dtype[Any]:
    """Return the dtype of stored numbers, which may be wider than arrays allow."""
    return np.dtype(dtype) if dtype in (bool, int, float) else dtypes.as_dtype(dtype)


array_repr: Final = np.array_repr
array_str: Final = np.array_str
get_printoptions: Final = np.get_printoptions
set_printoptions: Final = np.set_printoptions
printoptions: Final = np.printoptions
iterable: Final = np.iterable
