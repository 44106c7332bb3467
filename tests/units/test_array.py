"""Concrete arrays: who may write to their memory, and what Python asks of them."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp

DTYPES = [
    "float32",
    "bfloat16",
    "bool",
    "complex64",
    "int4",
    "float8_e4m3fn",
    "float16",
]
MADE = {
    "filled": lambda dtype: inp.zeros((2, 3), dtype),
    "rank 0": lambda dtype: inp.zeros((), dtype),
    "empty": lambda dtype: inp.zeros((0, 2), dtype),
    "compiled": lambda dtype: imprint.jit(lambda x: x)(inp.zeros((2, 3), dtype)),
    "large": lambda dtype: imprint.jit(lambda x: x)(inp.zeros(5000, dtype)),
    "repeated": lambda dtype: inp.broadcast_to(inp.zeros((), dtype), (3,)),
    "a view": lambda dtype: inp.zeros((2, 3), dtype).T,
    "reversed": lambda dtype: inp.zeros(5, dtype)[::-1],
    "NumPy's": lambda dtype: inp.asarray(np.zeros(3, dtype)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_no_view_of_the_values_can_be_made_writeable(make, dtype):
    x = make(dtype)
    for view in (np.asarray(x), x.__array__(), imprint.device_get(x)):
        assert (view.dtype, view.shape) == (x.dtype, x.shape)
        while isinstance(view, np.ndarray):  # its bases too
            with pytest.raises(ValueError, match="WRITEABLE"):
                view.flags.writeable = True
            with pytest.raises(ValueError, match="WRITEABLE"):
                view.setflags(write=True)
            view = view.base


def test_a_conversion_is_a_copy_that_may_be_written_to():
    x = inp.asarray([1.0, 2.0])
    for copied in (np.array(x), np.asarray(x, "float64"), np.asarray(x, copy=True)):
        copied += 1
        assert copied.tolist() == [2, 3]
    assert x.tolist() == [1, 2]
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, "float64", copy=False)


def test_rounding_gives_an_integer_unless_a_number_of_digits_is_asked_for():
    assert round(inp.asarray(2.5)).dtype == np.int32
    assert round(inp.asarray(2.55), 1).dtype == np.float32
