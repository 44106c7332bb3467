import gc
import re
import weakref

import numpy as np
import pytest

from imprint import dtypes
from imprint._src import runtime
from imprint._src.runtime.compat import jaxlib_version
from imprint.errors import DTypeError, ShapeError
from tests.units.runtime.programs import F4, PlainAval, aval, put

WITHOUT_FLOAT6 = [d for d in dtypes.ALL if not d.name.startswith("float6")]


def aligned(count, dtype=np.float32):
    """Return ones at an address that zero copy accepts."""
    nbytes = count * np.dtype(dtype).itemsize
    memory = np.zeros(nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    value = memory[start : start + nbytes].view(dtype)
    value[:] = 1
    return value


def values(dtype, shape):
    bits = np.random.default_rng(0).integers(0, 2, shape)
    return np.asarray(bits + 1j * bits if dtype.kind == "c" else bits).astype(dtype)


# ---- round trips ----


@pytest.mark.parametrize("copy", [True, False], ids=["copy", "share"])
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (0,), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("dtype", WITHOUT_FLOAT6, ids=str)
def test_every_dtype_comes_back(dtype, shape, copy):
    value = values(dtype, shape)
    back = runtime.read(put(value, copy=copy), PlainAval(shape, dtype))
    assert (back.dtype, back.shape) == (dtype, shape)
    assert back.tobytes() == value.tobytes()
    assert not back.flags.writeable


@pytest.mark.parametrize("dtype", WITHOUT_FLOAT6, ids=str)
def test_strides_do_not_matter(dtype):
    whole = values(dtype, (6, 8))
    for value in (whole.T, whole[::2, ::-3], whole[:, 1:2]):
        back = runtime.read(put(value), PlainAval(value.shape, dtype))
        assert back.tobytes() == np.ascontiguousarray(value).tobytes()
    ones = np.broadcast_to(whole[0, 0], (3, 3))
    back = runtime.read(put(ones), PlainAval((3, 3), dtype))
    assert back.tobytes() == np.ascontiguousarray(ones).tobytes()


@pytest.mark.parametrize("name", ["float6_e2m3fn", "float6_e3m2fn"])
def test_a_dtype_that_old_engines_lack_comes_back_or_is_refused(name):
    value = np.ones(2, name)
    if tuple(map(int, jaxlib_version.split(".")[:2])) >= (0, 11):
        back = runtime.read(put(value), aval(name, 2))
        assert back.tobytes() == value.tobytes()
        return
    message = (
        f"put: expected a dtype that this version of XLA holds, got {name}[2]. "
        "Convert it to another dtype, or upgrade jaxlib."
    )
    with pytest.raises(DTypeError, match=f"^{re.escape(message)}$"):
        put(value)


def test_special_values_keep_their_bits():
    for dtype in (np.float32, np.float64, dtypes.bfloat16):
        value = np.array([np.nan, -np.nan, -0.0, np.inf, -np.inf, 1e-40], dtype)
        back = runtime.read(put(value), aval(dtype, 6))
        assert back.tobytes() == value.tobytes()


# ---- copies ----


@pytest.mark.parametrize("size", [1, 10, 1000, 1_000_000])
def test_a_copy_does_not_see_later_writes_of_the_caller(size):
    value = aligned(size)
    for _ in range(20 if size == 1_000_000 else 300):
        buffer = put(value)
        value[:] = 7
        assert (runtime.read(buffer, aval("float32", size)) == 1).all()
        value[:] = 1


def test_an_unchecked_put_does_not_see_later_writes_of_the_caller():
    put_now = runtime.unchecked_put()
    for dtype in (np.float32, np.float64):
        value = aligned(100_000, dtype)
        for _ in range(50):
            buffer = put_now(value, aval("float32", 100_000))
            value[:] = 7
            assert (runtime.read(buffer, aval("float32", 100_000)) == 1).all()
            value[:] = 1


def test_without_copy_aligned_memory_is_shared_and_kept():
    value = aligned(1000)
    memory = value.base
    while memory.base is not None:
        memory = memory.base
    gone = weakref.ref(memory)
    buffer = put(value, copy=False)
    back = runtime.read(buffer, aval("float32", 1000))
    assert np.shares_memory(back, value)
    del value, memory
    gc.collect()
    assert gone() is not None
    assert back[0] == 1
    del back, buffer
    runtime.collect_garbage()
    assert gone() is None


def test_reading_twice_gives_the_same_memory():
    buffer = put(np.ones(1000, np.float32))
    first, second = (runtime.read(buffer, aval("float32", 1000)) for _ in range(2))
    assert np.shares_memory(first, second)


# ---- the unchecked put ----


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (np.array([1.5, 2.5]), "float32"),
        (np.array([1.5, 2.5]), "float64"),
        (np.array([1, 2**40]), "int32"),
        (np.array([1, 2**40]), "int64"),
        (np.array([1, 2], np.uint64), "uint32"),
        (np.array([1 + 2j, 3]), "complex64"),
        (np.array([1e300, -1e300]), "float32"),
        (np.arange(8, dtype=np.float32)[::4], "float32"),
        (np.arange(2, dtype=">f4"), "float32"),
        (True, "bool"),
        (3, "int32"),
        (2.5, "float32"),
        (1e300, "float32"),
        (1j, "complex64"),
        (np.float32(2.5), "float32"),
        (np.int64(3), "int32"),
        (2, "bfloat16"),
    ],
    ids=repr,
)
def test_an_unchecked_put_converts_as_numpy_does(value, name):
    kind = aval(name, *np.shape(value))
    with np.errstate(all="ignore"):
        expected = np.array(value, kind.dtype)
    with np.errstate(all="raise"):  # jaxlib's own narrowing ends the process here
        buffer = runtime.unchecked_put()(value, kind)
    back = runtime.read(buffer, kind)
    assert back.dtype == kind.dtype
    assert back.tobytes() == expected.tobytes()


def test_an_unchecked_put_of_an_int_that_does_not_fit_raises():
    with pytest.raises(OverflowError):
        runtime.unchecked_put()(2**40, aval("int32"))


# ---- refusals ----

REFUSED = {
    "dtype": (
        (np.ones(4), F4),
        DTypeError,
        "put: expected float32[4], got float64[4]. Convert it with .astype('float32').",
    ),
    "same size": (
        (np.ones(4, np.int32), F4),
        DTypeError,
        "put: expected float32[4], got int32[4]. Convert it with .astype('float32').",
    ),
    "shape": (
        (np.ones((2, 2), np.float32), F4),
        ShapeError,
        "put: expected float32[4], got float32[2,2]. Reshape or broadcast it to (4,).",
    ),
    "byte order": (
        (np.ones(4, ">f4"), F4),
        DTypeError,
        "put: expected native byte order, got float32[4] in the byte order '>f4'. "
        "Convert it with x.astype(x.dtype.newbyteorder('=')).",
    ),
    "object": (
        (np.array([None] * 4), F4),
        DTypeError,
        "put: expected an array of numbers, got object[4] of dtype '|O'. "
        "Convert it to one of imprint's dtypes.",
    ),
    "string": (
        (np.array(["a"]), F4),
        DTypeError,
        "put: expected an array of numbers, got str32[1] of dtype '<U1'. "
        "Convert it to one of imprint's dtypes.",
    ),
    "time": (
        (np.array(["2020"], "M8[s]"), F4),
        DTypeError,
        "put: expected an array of numbers, got datetime64[s][1] of dtype '<M8[s]'. "
        "Convert it to one of imprint's dtypes.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_arrays_that_the_engine_would_misread_are_refused(case):
    (value, wanted), kind, message = REFUSED[case]
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        runtime.put(value, wanted, copy=True)


@pytest.mark.parametrize("dtype", [">f4", "O", "U1", np.longdouble])
def test_agreeing_with_the_aval_is_not_enough(dtype):
    value = np.zeros(3, dtype)
    with pytest.raises(DTypeError):
        runtime.put(value, PlainAval((3,), value.dtype), copy=True)
