"""Host values as arguments: how a call takes NumPy arrays without putting each.

A put costs 2.4 to 3 µs, of which the copy of a small array is a tenth. So a caller
keeps a few places: aligned NumPy arrays that the engine shares as buffers. A call then
1. takes the place that was used longest ago and waits for the execution that read it,
2. writes the host values into its arrays (0.1 µs each), or puts those that have none,
3. executes on its buffers, and gives the place back with the execution's token.
The caller's array has been read when the call returns. Two places, so that a call need
not wait for the one before it. Programs that call back into Python have none: what they
call may call them again.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from imprint._src.dtypes import DType
from imprint._src.runtime.buffer import Aval, Buffer, collect_garbage
from imprint._src.runtime.compat import EngineError
from imprint._src.runtime.executable import Executable, Runnable
from imprint._src.runtime.transfer import put, read, unchecked_put

HostCall: TypeAlias = Callable[[list[Any], Sequence[int]], list[Buffer]]
_HostArray: TypeAlias = np.ndarray[Any, Any]
_Slot: TypeAlias = tuple[_HostArray | None, DType, Any]
"""The shared array, its dtype and its buffer; or no array, and how to put the value."""

_LARGEST: Final = 8192  # bytes; past it the copy dominates and places only hold memory
_ALIGNMENT: Final = 64  # what the engine shares instead of copying


class _ArgumentArrays:
    """Shared arrays of one call at a time, by position; made when first written."""

    __slots__ = ("slots", "token")

    def __init__(self) -> None:
        self.slots: dict[int, _Slot] = {}
        self.token: Any = None


def host_call(executable: Runnable, in_avals: Sequence[Aval]) -> HostCall:
    """Return the function that executes on buffers and host values mixed.

    Its arguments are the list of values, in the order of `in_avals`, and the positions
    of those that are NumPy arrays, NumPy scalars or Python scalars. It replaces these in
    the list by buffers. The caller has checked that each value is what its aval says, or
    wider and to be narrowed, and that no host value is donated (put those instead).
    """
    if not isinstance(executable, Executable) or executable.callbacks:
        return _putting(executable, in_avals)
    slot_of = _slot_maker(executable, in_avals)
    places = deque((_ArgumentArrays(), _ArgumentArrays()), maxlen=2)
    ndarray, handlers = np.ndarray, executable.handlers

    def call(arguments: list[Any], hosts: Sequence[int]) -> list[Buffer]:
        place = _take(places)
        slots = place.slots
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
            if value.__class__ is ndarray and value.dtype is dtype:
                array[...] = value
            else:
                converted.append((array, value))
        if converted:
            _write(converted)
        # 3. Looked up now, not above: in a forked process it is the one that refuses.
        results = executable.execute(arguments, True)  # noqa: FBT003 - with tokens
        place.token = results.consume_token()
        places.append(place)
        outs: list[Buffer] = results.consume_with_handlers(handlers)
        collect_garbage()  # else host values live until the next call
        return outs

    return call


def _putting(executable: Runnable, in_avals: Sequence[Aval]) -> HostCall:
    """Return the function for what has no places: it puts each host value."""
    device: Any = executable.device  # one: programs over several take no host values
    copied = unchecked_put(device)

    def call(arguments: list[Any], hosts: Sequence[int]) -> list[Buffer]:
        for at in hosts:
            arguments[at] = copied(arguments[at], in_avals[at])
        return executable.call(arguments)

    return call


def _take(places: deque[_ArgumentArrays]) -> _ArgumentArrays:
    """Return a place that no execution reads any more."""
    try:
        place = places.popleft()
    except IndexError:  # other threads have both, or calls that failed had them
        return _ArgumentArrays()
    if place.token is not None:
        try:  # noqa: SIM105 - hot: suppress() would cost 300 ns
            place.token.block_until_ready()
        except EngineError:  # that execution failed: its results tell who reads them
            pass
    return place


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
            # Never trust that it is shared: a copy would keep the first values for ever.
            if np.shares_memory(read(buffer, aval), array):
                return array, aval.dtype, buffer
        return None, aval.dtype, without_array

    return slot_of


def _aligned(aval: Aval) -> _HostArray:
    nbytes = aval.dtype.itemsize * int(np.prod(aval.shape, dtype=np.int64))
    memory = np.empty(nbytes + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + nbytes].view(aval.dtype).reshape(aval.shape)
