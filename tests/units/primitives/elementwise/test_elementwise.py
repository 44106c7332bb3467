"""A choice among many elements by bits equals one by one."""

import ml_dtypes
import numpy as np
import pytest

import imprint.numpy as inp
from imprint._src.primitives.elementwise.elementwise import where_reference
from tests.tolerances import assert_close

MANY = 3 * 4096
RNG = np.random.default_rng(0)
DTYPES = [
    *("bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64"),
    *("complex64", "complex128", ml_dtypes.bfloat16, ml_dtypes.int4),
]


def numbers(dtype, shape):
    values = np.array(RNG.integers(-8, 8, shape), np.float64)
    flat = values.reshape(-1)
    if np.dtype(dtype).kind in "fc" and flat.size > 1:
        flat[:4] = 0.0, -0.0, np.inf, np.nan
    with np.errstate(all="ignore"):
        return values.astype(dtype)


@pytest.mark.parametrize("shape", [(), (MANY,)])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_chosen_is_where(dtype, shape):
    which = RNG.random(MANY) > 0.5
    x, y = numbers(dtype, (MANY,)), numbers(dtype, shape)
    for first, second in ((x, y), (y, x), (y, y)):
        got, want = (
            where_reference(which, first, second),
            np.where(which, first, second),
        )
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        assert got.tobytes() == want.tobytes()  # -0.0 and the bits of NaN too


def test_strides_and_booleans_of_foreign_bytes():
    which = RNG.integers(0, 256, (100, 200), np.uint8).view(bool).T
    x, y = numbers("float32", (200, 100)), numbers("float32", (400, 100))[::2]
    assert where_reference(which, x, y).tobytes() == np.where(which, x, y).tobytes()


OF_ZEROS = {
    "maximum": inp.maximum,
    "minimum": inp.minimum,
    "relu": lambda x, _: inp.maximum(x, 0.0),
    "sign": lambda x, _: inp.sign(x),
}


@pytest.mark.parametrize("name", OF_ZEROS)
def test_zeros_among_many_are_those_among_few(name):
    x = numbers("float32", (MANY,))
    x[4:1000] *= 0
    call = OF_ZEROS[name]
    few = [call(x[i : i + 64], x[::-1][i : i + 64]) for i in range(0, MANY, 64)]
    got, want = np.asarray(call(x, x[::-1])), np.concatenate(few)
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("edge", [2.0**31, -(2.0**31) - 256, np.nan, np.inf])
def test_one_number_out_of_range_is_saturated(edge):
    x = np.arange(-3, 3, dtype=np.float32)
    x[2] = edge
    want = np.array([-3, -2, 0, 0, 1, 2], np.int32)
    want[2] = 0 if np.isnan(edge) else np.clip(edge, -(2**31), 2**31 - 1)
    assert_close(inp.asarray(x).astype("int32"), want)
    assert_close(inp.asarray(x[[0, 1, 3]]).astype("int8"), want[[0, 1, 3]].astype("i1"))
