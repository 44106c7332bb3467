"""Values between NumPy and a device.

`put` checks the dtype, shape and byte order, because the engine would read wrong ones as
other numbers, without an error. `unchecked_put` returns a function for callers that have
checked, which also narrows. A copying put has read the array when it returns. A zero-copy
put shares aligned memory (64 bytes), so later writes by the caller would change the
buffer. `copy_to` copies between devices. `read` returns a read-only view if the dtype
allows one, and waits for the computation.
"""

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.dtypes import DType
from imprint._src.errors import DTypeError, ShapeError
from imprint._src.runtime.buffer import Aval, Buffer, deleted_error, is_deleted, show
from imprint._src.runtime.client import Device, default_device
from imprint._src.runtime.compat import EngineError, engine, read_extended

Array: TypeAlias = np.ndarray[Any, Any]
UncheckedPut: TypeAlias = Callable[[Any, Aval], Buffer]

_COPY = engine.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
_SHARE = engine.HostBufferSemantics.ZERO_COPY
_HELD = frozenset(dtypes.ALL)
_NUMPYS = frozenset(dtype for dtype in dtypes.ALL if dtype.isbuiltin == 1)


def put(
    value: Array, aval: Aval, *, copy: bool, device: Device | None = None
) -> Buffer:
    """Return a buffer with the value of an array.

    Args:
        value: An array of exactly the shape and dtype of `aval`, with any strides.
        aval: The aval of the buffer.
        copy: True: the array may change as soon as this returns. False: the caller
            promises that it never changes again, and aligned memory is shared.
        device: Its device; the default device if None.

    Raises:
        DTypeError: The dtype differs, is in foreign byte order, or is no number.
        ShapeError: The shape differs.
    """
    _check(value, aval)
    to = device or default_device()
    semantics = _COPY if copy else _SHARE
    try:
        return engine.batched_device_put(
            aval,
            to.sharding,
            [value],
            to.handles,
            committed=True,
            host_buffer_semantics=semantics,
            enable_x64=True,
        )
    except EngineError as err:
        raise _refused(value, err) from err


def unchecked_put(device: Device | None = None) -> UncheckedPut:
    """Return a function that copies one value to `device` and checks nothing.

    The value is a NumPy array or scalar, or a Python scalar. A value of another dtype than
    the aval is converted as by `astype`, and an int that does not fit raises
    OverflowError. The caller has checked the conversion and the shape.
    """
    to = device or default_device()
    put, sharding, handles = engine.batched_device_put, to.sharding, to.handles
    copy, share, ndarray = _COPY, _SHARE, np.ndarray

    def copied(value: Any, aval: Aval) -> Buffer:
        # Positional: keywords would cost 60 ns of 2400.
        if value.__class__ is ndarray and value.dtype is aval.dtype:
            return put(aval, sharding, [value], handles, True, False, copy, True)  # noqa: FBT003
        own = _converted(value, aval.dtype)
        return put(aval, sharding, [own], handles, True, False, share, True)  # noqa: FBT003

    return copied


# The engine also narrows by NumPy, but if NumPy raises (warnings as errors, `seterr`) it
# continues with a null pointer and ends the process.
@np.errstate(over="ignore", invalid="ignore")
def _converted(value: Any, dtype: DType) -> Array:
    return np.array(value, dtype)


def copy_to(buffer: Buffer, device: Device) -> Buffer:
    """Return a buffer with the same value on another device.

    Raises:
        DeletedArrayError: The buffer was deleted or donated.
    """
    if is_deleted(buffer):  # else jaxlib 0.10 ends the process
        raise deleted_error("device_put", show(cast(Any, buffer).aval))
    (copied,) = engine.batched_copy_array_to_devices_with_sharding(
        [buffer],
        [engine.DeviceList((device.handle,))],
        [device.sharding],
        [engine.ArrayCopySemantics.ALWAYS_COPY],
    )
    return copied


def read(buffer: Buffer, aval: Aval) -> Array:
    """Return the value of a buffer, read-only; a view of its memory where possible.

    Raises:
        DeletedArrayError: The buffer was deleted or donated.
    """
    if is_deleted(buffer):
        raise deleted_error("numpy.asarray", show(aval))
    if aval.dtype not in _NUMPYS:
        return read_extended(buffer, aval.dtype)
    value: Array = np.asarray(cast(Any, buffer))
    if value.dtype != aval.dtype:  # NumPy ignores the error of a failed computation
        cast(Any, buffer).block_until_ready()
    return value


# ---- errors ----


def _check(value: Array, aval: Aval) -> None:
    dtype = cast(DType, value.dtype)
    if dtype == aval.dtype and value.shape == aval.shape and dtype in _HELD:
        return
    if dtype not in _HELD and dtype.newbyteorder("=") in _HELD:
        raise DTypeError(
            f"put: expected native byte order, got {show(value)} in the byte order "
            f"{dtype.str!r}. Convert it with x.astype(x.dtype.newbyteorder('='))."
        )
    if dtype not in _HELD:
        raise DTypeError(
            f"put: expected an array of numbers, got {show(value)} of dtype "
            f"{dtype.str!r}. Convert it to one of imprint's dtypes."
        )
    if dtype != aval.dtype:
        raise DTypeError(
            f"put: expected {show(aval)}, got {show(value)}. "
            f"Convert it with .astype({aval.dtype.name!r})."
        )
    raise ShapeError(
        f"put: expected {show(aval)}, got {show(value)}. "
        f"Reshape or broadcast it to {aval.shape}."
    )


def _refused(value: Array, err: RuntimeError) -> Exception:
    if "Unknown NumPy dtype" not in str(err):
        return err
    return DTypeError(
        f"put: expected a dtype that this version of XLA holds, got {show(value)}. "
        "Convert it to another dtype, or upgrade jaxlib."
    )
