"""Buffers: values on a device.

A buffer is immutable and opaque outside of `runtime`. It is freed with the last reference
to it, and has the aval it was made with. An execution may delete a donated buffer, so a
caller must not use it again. A buffer is ready when its computation has ended.
"""

from collections.abc import Callable
from typing import Any, Final, NewType, Protocol, cast

from imprint._src.dtypes import DType
from imprint._src.errors import DeletedArrayError
from imprint._src.runtime.compat import engine

Buffer = NewType("Buffer", object)
"""A value on a device."""

collect_garbage: Final[Callable[[], None]] = engine.collect_garbage
"""Free objects that the engine has released; it takes 25 ns, so call it per execution.

Each execution and each method of a buffer leaves 80 bytes (a traceback), and each dropped
zero-copy buffer its NumPy array. A put frees them too, but the memory of a loop of
executions alone would grow.
"""


class Aval(Protocol):
    """The attributes of an abstract value; intern it, because buffers point to it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        ...

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        ...

    @property
    def weak_type(self) -> bool:
        """Whether the dtype came from Python scalars only."""
        ...


def show(shaped: Any) -> str:
    """Return the text of a shape and a dtype, such as `float32[3,4]`."""
    return f"{shaped.dtype.name}[{','.join(map(str, shaped.shape))}]"


def is_deleted(buffer: Buffer) -> bool:
    """Return whether the buffer was deleted, by `delete` or by an execution."""
    return cast(Any, buffer).is_deleted()


def is_ready(buffer: Buffer) -> bool:
    """Return whether the value has been computed.

    Raises:
        DeletedArrayError: The buffer was deleted.
    """
    _check_alive(buffer, "is_ready")  # without it jaxlib 0.10 ends the process
    return cast(Any, buffer).is_ready()


def block_until_ready(buffer: Buffer) -> None:
    """Wait until the value has been computed; raise the error of its computation.

    Raises:
        DeletedArrayError: The buffer was deleted.
    """
    _check_alive(buffer, "block_until_ready")
    cast(Any, buffer).block_until_ready()


def unsafe_pointer(buffer: Buffer) -> int:
    """Return the address of a buffer of one device.

    Raises:
        DeletedArrayError: the buffer was donated or deleted.
    """
    _check_alive(buffer, "unsafe_buffer_pointer")
    return cast(Any, buffer).unsafe_buffer_pointer()


def cuda_interface(buffer: Buffer) -> dict[str, Any]:
    """Return what libraries of CUDA read the values by, without a copy.

    Raises:
        AttributeError: the values are not in the memory of a GPU.
        DeletedArrayError: the buffer was donated or deleted.
    """
    _check_alive(buffer, "__cuda_array_interface__")
    return cast(Any, buffer).__cuda_array_interface__


def on_device_size(buffer: Buffer) -> int:
    """Return the number of bytes that the value takes on its device.

    Raises:
        DeletedArrayError: The buffer was deleted.
    """
    _check_alive(buffer, "on_device_size")
    return cast(Any, buffer).on_device_size_in_bytes()


def delete(buffer: Buffer) -> None:
    """Free the memory now. A second time does nothing.

    Never do this to a buffer that `read` returned a view of: jaxlib may end the process.
    Drop the reference instead.
    """
    cast(Any, buffer).delete()


def deleted_error(doing: str, shown: str) -> DeletedArrayError:
    """Return the error for using a deleted value."""
    return DeletedArrayError(
        f"{doing}: expected a live array, got {shown}, which was deleted or donated. "
        "Use the result of the call that took it, or do not donate it."
    )


def _check_alive(buffer: Buffer, doing: str) -> None:
    if is_deleted(buffer):
        raise deleted_error(doing, show(cast(Any, buffer).aval))
