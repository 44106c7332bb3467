"""The file format of Equinox: the arrays and numbers of a tree as `.npy` files in a row.

A stream has no paths and no checksums, so `like` alone says which leaf comes next. NumPy
writes the dtypes that it does not have, such as bfloat16, as bytes of their width. No code in
a stream runs: pickles are refused.
"""

from typing import Any, Final, final

import numpy as np

from imprint._src.array import from_host
from imprint._src.core.array import NumberArray
from imprint._src.core.aval import NDArray, ShapedArray, shape_str
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.errors import ArgumentError, TreeError
from imprint._src.module.records import SupportsRead, SupportsWrite

MAGIC: Final = b"\x93NUMPY"
_NUMBERS: Final = (bool, int, float, complex)


@final
class NpyWriter:
    """Writes leaves to a stream; the file that a filter_spec gets."""

    def __init__(self, file: SupportsWrite) -> None:
        self._file = file
        self.where: str = ""

    def write(self, data: Any, /) -> object:
        """Write bytes."""
        return self._file.write(data)

    def leaf(self, x: Any) -> None:
        """Write an array or a number; nothing for other leaves."""
        if isinstance(x, (NumberArray, np.ndarray, np.generic, *_NUMBERS)):
            np.lib.format.write_array(self, np.asarray(x), allow_pickle=False)


@final
class NpyReader:
    """Reads leaves from a stream; the file that a filter_spec gets.

    Args:
        head: bytes that were read from the file already.
        file: the rest of it.
        where: the function and the file, for messages.
    """

    def __init__(self, head: bytes, file: SupportsRead, where: str) -> None:
        self._head = head
        self._file = file
        self._name = where
        self.where: str = where

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes, at most `size`."""
        found = self._head if size < 0 else self._head[:size]
        self._head = self._head[len(found) :]
        return (
            found if len(found) == size else found + self._file.read(size - len(found))
        )

    def leaf(self, like: Any) -> Any:
        """Read an array or a number; return other leaves of `like` as they are."""
        is_array = isinstance(
            like, (NumberArray, np.ndarray, np.generic, ShapeDtypeStruct)
        )
        if not is_array and not isinstance(like, _NUMBERS):
            return like
        try:
            found = np.lib.format.read_array(self, allow_pickle=False)
        except (ValueError, EOFError) as err:
            raise ArgumentError(
                f"{self.where}: expected an array in the format of NumPy, got none: "
                f"{err}. Pass a `like` with the leaves of what was saved."
            ) from err
        return self._like(found, like) if is_array else type(like)(found.item())

    def end(self) -> None:
        """Check that no leaf is left.

        Raises:
            TreeError: there is one.
        """
        if self.read(1):
            raise TreeError(
                f"{self._name}: expected the end of the file, got more leaves. Pass a "
                "`like` of the structure of what was saved."
            )

    def _like(self, found: NDArray, like: Any) -> Any:
        if found.dtype.kind == "V" and found.dtype.itemsize == like.dtype.itemsize:
            found = found.view(like.dtype)
        if (found.shape, found.dtype) != (like.shape, like.dtype):
            expected = f"{like.dtype.name}{shape_str(like.shape)}"
            came = f"{found.dtype.name}{shape_str(found.shape)}"
            raise ArgumentError(
                f"{self.where}: expected {expected}, as in `like`, got {came}. Pass a "
                "`like` with the leaves of what was saved."
            )
        if isinstance(like, np.generic):
            return found[()]
        if isinstance(like, np.ndarray):
            return found
        return from_host(ShapedArray(found.shape, found.dtype), found)
