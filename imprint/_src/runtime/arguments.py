"""Host values as arguments, without a put for each.

A put costs 2.4 to 7 µs, and an execution that waits for it 10 µs more, on another thread. So
a caller keeps sets of aligned NumPy arrays, which the engine shares as buffers. A call
1. takes the least recently used set and waits for the execution that read it,
2. writes the host values into its arrays (0.1 µs and the copy), or puts larger ones,
3. executes on its buffers, and returns the set with the token of the execution.
The caller's array has been read when the call returns. There are two sets, so that a call
does not wait for the one before it. Programs with callbacks have none, because a callback
may call them again.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from imprint._src import native
from imprint._src.dtypes import DType
from imprint._src.runtime.buffer import Aval, Buffer, collect_garbage
from imprint._src.runtime.compat import EngineError
from imprint._src.runtime.executable import Executable, Runnable
from imprint._src.runtime.transfer import put, read, unchecked_put

HostCall: TypeAlias = Callable[[list[Any], Sequence[int]], list[Buffer]]
_HostArray: TypeAlias = np.ndarray[Any, Any]
_Slot: TypeAlias = tuple[_HostArray | None, DType, Any]
"""The shared array, its dtype and its buffer; or None, the dtype and a function to put."""

_LARGEST: Final = 1 << 19  # bytes of an array; a version keeps two of each
_ALIGNMENT: Final = 64  # arrays that the engine shares instead of copying
_FITS: Final = 3e38  # a smaller float is finite as a float32: no flags to set, 0.5 µs


class _ArgumentArrays:
    """The shared arrays of a call, by position; each is made on its first use."""

    __slots__ = ("slots", "token")

    def __init__(self) -> None:
        self.slots: dict[int, _Slot] = {}
        self.token: Any = None


def host_call(executable: Runnable, in_avals: Sequence[Aval]) -> HostCall:
    """Return a function that executes on buffers and host values.

    Its arguments are the list of values, in the order of `in_avals`, and the positions of
    host values: NumPy arrays, NumPy scalars or Python scalars. It replaces these in the
    list by buffers. The caller has checked that each value fits its aval, or is to be
    narrowed to it, and that no host value is donated (put those instead).
    """
    if not isinstance(executable, Executable) or executable.callbacks:
        return _putting(executable, in_avals)
    slot_of = _slot_maker(executable, in_avals)
    if native.core is not None:  # the same in C
        return native.core.HostCall(
            executable, slot_of, in_avals, _write, collect_garbage, EngineError
        )
    sets = deque((_ArgumentArrays(), _ArgumentArrays()), maxlen=2)
    ndarray, handlers = np.ndarray, executable.handlers

    def call(arguments: list[Any], hosts: Sequence[int]) -> list[Buffer]:
        arrays = _take(sets)
        slots = arrays.slots
        converted: list[tuple[_HostArray, Any]] = []
        for at in hosts:
            value = arguments[at]
            try:
                array, dtype, given = slots[at]
            except KeyError:
                array, dtype, given = slots[at] = slot_of(at)
            if array is None:
                arguments[at] = given(value, in_avals[at])
                continue
            arguments[at] = given
            kind = value.__class__
            if (
                (kind is ndarray and value.dtype is dtype)
                or kind is int
                or (kind is float and -_FITS < value < _FITS)
            ):
                array[...] = value
            else:
                converted.append((array, value))
        if converted:
            _write(converted)
        # 3. Looked up now, not above: a fork replaces it by a function that raises.
        results = executable.execute(arguments, True)  # noqa: FBT003 - with tokens
        arrays.token = results.consume_token()
        sets.append(arrays)
        outs: list[Buffer] = results.consume_with_handlers(handlers)
        collect_garbage()  # else host values live until the next call
        return outs

    return call


def _putting(executable: Runnable, in_avals: Sequence[Aval]) -> HostCall:
    """Return a function that puts each host value."""
    device: Any = (
        executable.device
    )  # one: programs over several devices take no host values
    copied = unchecked_put(device)

    def call(arguments: list[Any], hosts: Sequence[int]) -> list[Buffer]:
        for at in hosts:
            arguments[at] = copied(arguments[at], in_avals[at])
        return executable.call(arguments)

    return call


def _take(sets: deque[_ArgumentArrays]) -> _ArgumentArrays:
    """Return arrays that no execution reads any more."""
    try:
        arrays = sets.popleft()
    except IndexError:  # other threads or failed calls have both
        return _ArgumentArrays()
    if arrays.token is not None:
        try:  # noqa: SIM105 - hot: suppress() would cost 300 ns
            arrays.token.block_until_ready()
        except EngineError:  # it failed: reading its results raises
            pass
    return arrays


@np.errstate(over="ignore", invalid="ignore")  # a decorator costs half of a `with`
def _write(converted: list[tuple[_HostArray, Any]]) -> None:
    """Write values of other dtypes; a float too large becomes infinity, as in a put."""
    for array, value in converted:
        try:
            array[...] = value
        except OverflowError:
            if value.__class__ is int:
                raise
            array[...] = np.asarray(value)  # NumPy narrows arrays, not scalars


def _slot_maker(
    executable: Executable, in_avals: Sequence[Aval]
) -> Callable[[int], _Slot]:
    device: Any = executable.device
    without_array = unchecked_put(device)

    def slot_of(at: int) -> _Slot:
        aval = in_avals[at]
        array = _aligned(aval)
        if 0 < array.nbytes <= _LARGEST and device.platform == "cpu":
            buffer = put(array, aval, copy=False, device=device)
            # It may be a copy, which would keep the first values for ever.
            if np.shares_memory(read(buffer, aval), array):
                return array, aval.dtype, buffer
        return None, aval.dtype, without_array

    return slot_of


def _aligned(aval: Aval) -> _HostArray:
    nbytes = aval.dtype.itemsize * int(np.prod(aval.shape, dtype=np.int64))
    memory = np.empty(nbytes + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + nbytes].view(aval.dtype).reshape(aval.shape)
