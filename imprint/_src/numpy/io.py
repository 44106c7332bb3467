"""Arrays from bytes, texts and files, and to files: by NumPy, outside of programs.

What NumPy gives becomes an array as by `asarray`. NumPy's files hold no names of dtypes
that it does not know, so two bytes of no dtype are read as bfloat16.
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
    """Return the array of a file that `save` or NumPy wrote; see `numpy.load`.

    What is no array of numbers, such as the file of `savez`, is NumPy's own.

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
    """Return the bytes of a buffer as numbers, one after the other.

    Args:
        buffer: bytes, or what has a buffer.
        dtype: of the numbers, as they stand there: float is 64 bits wide.
        count: how many numbers; -1, all.
        offset: how many bytes come before.

    Example:
        >>> import imprint.numpy as np
        >>> np.frombuffer(b"abc", "uint8")
        Array([97, 98, 99], dtype=uint8)
    """
    return asarray(np.frombuffer(buffer, _stored(dtype), count, offset))


def fromstring(
    string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str
) -> Array:
    """Return the numbers of a text.

    Args:
        string: the text.
        dtype: of the numbers.
        count: how many numbers; -1, all.
        sep: what stands between them.

    Example:
        >>> import imprint.numpy as np
        >>> np.fromstring("1 2 3", int, sep=" ")
        Array([1, 2, 3], dtype=int32)
    """
    return asarray(np.fromstring(string, _stored(dtype), count, sep=sep))


def fromfile(
    file: Any, dtype: DTypeLike = float, count: int = -1, sep: str = "", offset: int = 0
) -> Array:
    """Return the numbers of a file of bytes or of text.

    Args:
        file: its name, or a file that is open.
        dtype: of the numbers, as they stand there: float is 64 bits wide.
        count: how many numbers; -1, all.
        sep: what stands between the numbers of a text; nothing for bytes.
        offset: how many bytes come before.

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
    """Return the numbers that an iterable gives.

    Args:
        iter: numbers.
        dtype: of the result.
        count: how many numbers; -1, all.

    Example:
        >>> import imprint.numpy as np
        >>> np.fromiter((k * k for k in range(4)), int)
        Array([0, 1, 4, 9], dtype=int32)
    """
    return asarray(np.fromiter(iter, _stored(dtype), count))


def _stored(dtype: Any) -> np.dtype[Any]:
    """Return a dtype as bytes have it, not as wide as arrays may be."""
    return np.dtype(dtype) if dtype in (bool, int, float) else dtypes.as_dtype(dtype)


array_repr: Final = np.array_repr
array_str: Final = np.array_str
get_printoptions: Final = np.get_printoptions
set_printoptions: Final = np.set_printoptions
printoptions: Final = np.printoptions
iterable: Final = np.iterable
