"""Values of 64 bits where `enable_x64` is off: narrowed first, then computed with.

NumPy would compute `sqrt` of an `int64` from all of its bits. JAX, and a compiled program
of either, get 32 of them; so must a call outside of `jit`, in every function.
"""

import operator

import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests import oracle

UNARY = (
    *[
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "cos",
        "cosh",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log10",
        "log1p",
    ],
    *[
        "log2",
        "mean",
        "reciprocal",
        "sin",
        "sinh",
        "sqrt",
        "square",
        "tan",
        "tanh",
        "var",
    ],
)
BINARY = [
    "add",
    "arctan2",
    "divide",
    "hypot",
    "logaddexp",
    "maximum",
    "multiply",
    "float_power",
    "less",
]
WIDE = {
    "int64": (2**40 + 5, -(2**33) - 7, 2**31, 2**32 + 3, 2**63 - 1, 7),
    "uint64": (2**40 + 5, 2**31, 2**32 + 3, 2**64 - 1, 7, 1),
    "uint32": (2**31, 2**32 - 1, 2**24 + 1, 7, 0, 1),
    "float64": (2.0**31, -3e10, 1e-3, 0.1, 7.0, 1 + 1e-12),
}
BESIDE = (
    np.float32([0.5, 2, 3, 4, 5, 6]),
    np.int32([1, 2, 3, 4, 5, 6]),
    np.int64(2**40 + 3),
    np.float64(0.1),
    1.5,
)


def agree(ours, theirs, *args):
    """Compare each of some functions eagerly, jitted, and with its constants captured."""
    program = oracle.jit(lambda *a: [f(*a) for f in theirs])
    wanted = [np.asarray(x) for x in program(*args)]
    every = imprint.jit(lambda *a: [f(*a) for f in ours])
    captured = imprint.jit(lambda: [f(*args) for f in ours])
    for results in ([f(*args) for f in ours], every(*args), captured()):
        for f, got, want in zip(ours, results, wanted, strict=True):
            assert got.dtype == want.dtype, f.__name__
            np.testing.assert_allclose(got, want, rtol=1e-4, err_msg=f.__name__)


def of_both(names):
    return [getattr(inp, name) for name in names], [getattr(jnp, n) for n in names]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", WIDE)
def test_functions_of_wide_values(dtype):
    values = np.array(WIDE[dtype], dtype)
    agree(*of_both(UNARY), values)
    agree(*of_both(UNARY), values[0])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("beside", BESIDE, ids=repr)
@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64"])
def test_functions_of_wide_values_and_others(dtype, beside):
    values = np.array(WIDE[dtype], dtype)
    agree(*of_both(BINARY), values, beside)
    agree(*of_both(BINARY), beside, values[0])


def test_an_array_made_with_a_dtype_keeps_what_fits_it():
    wide = np.array([2**40 + 5, 3])
    for make, want in (
        (lambda q: q.asarray(wide, dtype=q.float32), jnp.asarray(wide, jnp.float32)),
        (lambda q: q.float32(wide), jnp.float32(wide)),
        (lambda q: q.array(wide[0], dtype="float32"), jnp.float32(wide[0])),
    ):
        assert np.array_equal(make(inp), want)
        assert np.array_equal(imprint.jit(lambda make=make: make(inp))(), want)


@pytest.mark.parametrize("name", ["sqrt", "sin", "exp", "log", "tanh"])
def test_an_integer_that_fits_no_integer_dtype_is_refused_everywhere(name):
    ours, theirs = getattr(inp, name), getattr(jnp, name)
    for refused in (
        lambda: theirs(2**40),
        lambda: ours(2**40),
        lambda: imprint.jit(ours)(2**40),
        lambda: imprint.jit(lambda: ours(2**40))(),
        lambda: inp.arctan2(np.int32(1), 2**40),
        lambda: inp.ones(2, "int32") / 2**40,
    ):
        with pytest.raises(OverflowError):
            refused()
    with imprint.enable_x64(True):
        assert ours(2**40).dtype == np.float64


def test_an_integer_beside_floats_need_only_fit_these():
    x = inp.ones(2)
    assert (x * 2**40).tolist() == imprint.jit(lambda: x * 2**40)().tolist()
    assert (x * 2**40).tolist() == [2.0**40] * 2
    with pytest.raises(OverflowError):
        jnp.ones(2) * 2**40


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint32", "int32"])
@pytest.mark.parametrize("number", [-(2**40), -129, -1, 300, 2**70])
def test_an_integer_beyond_a_dtype_compares_as_in_numpy(dtype, number):
    ours, theirs = inp.arange(3, dtype=dtype), np.arange(3, dtype=dtype)
    for compare in (
        operator.eq,
        operator.ne,
        operator.lt,
        operator.le,
        operator.gt,
        operator.ge,
    ):
        want = compare(theirs, number)
        assert np.array_equal(compare(ours, number), want)
        assert np.array_equal(compare(number, ours), compare(number, theirs))
        assert np.array_equal(
            imprint.jit(compare, static_argnums=1)(ours, number), want
        )
