"""searchsorted: every method has NumPy's results, in all batched axes."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
from imprint import errors
from imprint._src.primitives.indexing.searching import (
    METHODS,
    searchsorted,
    searchsorted_p,
)
from tests.lanes import exhaustive_but
from tests.symbolic import name

DTYPES = ("float32", "bfloat16", "int8", "uint32", "bool", "complex64", "float64")
RNG = np.random.default_rng(0)


def drawn(dtype, shape):
    values = RNG.integers(-4, 5, shape)
    if dtype.startswith("u"):
        return np.abs(values).astype(dtype)
    if dtype == "complex64":
        return (values + 1j * RNG.integers(-1, 2, shape)).astype(dtype)
    if dtype in ("float32", "bfloat16", "float64"):
        values = np.where(values > 3, np.nan, values * -0.5)
    return values.astype(jnp.dtype(dtype))


def in_order(dtype, length):
    with jax.enable_x64(True):
        return np.asarray(jnp.sort(drawn(dtype, (length,))))


CALLS = {
    dtype: [
        (in_order(dtype, length), drawn(dtype, (2, 5)), side, method)
        for length in ((0, 1, 6, 16) if dtype == "float32" else (6,))
        for side in ("left", "right")
        for method in METHODS
    ]
    for dtype in DTYPES
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", exhaustive_but(["float32", "complex64"], DTYPES))
def test_each_method_finds_the_indices_of_jax(dtype):
    calls = CALLS[dtype]
    with jax.enable_x64(True), imprint.enable_x64(True):
        given = [call[:2] for call in calls]
        how = [call[2:] for call in calls]

        def every(pairs):
            both = zip(pairs, how, strict=True)
            return [searchsorted(a, v, *rest) for (a, v), rest in both]

        staged = imprint.jit(every)(given)
        for got, one, (a, v, side, method) in zip(
            every(given), staged, calls, strict=True
        ):
            want = jnp.searchsorted(a, v, side)
            about = f"{a!r} {v!r} {side} {method}"
            np.testing.assert_array_equal(got, want, about)
            np.testing.assert_array_equal(one, want, about)


def test_large_arrays_sorted_together():
    a = np.sort(RNG.normal(size=600)).astype("float32")
    v = np.concatenate([a[:300], RNG.normal(size=300)]).astype("float32")
    run = imprint.jit(lambda a, v: [searchsorted(a, v, s, "sort") for s in SIDES])
    for got, side in zip(run(a, v), SIDES, strict=True):
        np.testing.assert_array_equal(got, np.searchsorted(a, v, side))


SIDES = ("left", "right")
AXES = [(0, 0), (0, 1), (0, 2), (0, None), (None, 0), (None, 2), (1, 1)]


def inner_search(method, a, v):
    return imprint.vmap(lambda y: searchsorted(a, y, "left", method))(v)


@pytest.mark.slow
@pytest.mark.parametrize(("i", "j"), exhaustive_but([(0, 2), (None, 0), (1, 1)], AXES))
def test_vmap_over_each_axis_of_each_operand(i, j):
    a = np.sort(RNG.normal(size=(3, 7)))
    v = RNG.normal(size=(3, 4, 2))
    for method in METHODS:
        inner = partial(inner_search, method)
        x = a[0] if i is None else np.moveaxis(a, 0, i)
        y = v[0] if j is None else np.moveaxis(v, 0, j)
        got = imprint.jit(imprint.vmap(inner, (i, j)))(x, y)
        want = [
            np.searchsorted(a[k * (i is not None)], v[k * (j is not None)])
            for k in range(3)
        ]
        np.testing.assert_array_equal(got, want)


def test_shapes_may_be_symbolic_and_indices_have_no_derivative():
    n, m = name("n", 2), name("m", 2)
    avals = (
        imprint.ShapeDtypeStruct((4,), "float32"),
        imprint.ShapeDtypeStruct((3,), "float32"),
    )
    a, v = (
        imprint._src.core.aval.ShapedArray((k,), np.dtype("float32")) for k in (n, m)
    )
    (out,) = searchsorted_p.aval(a, v, side="left", method="scan", batch=0)
    assert (out.shape, out.dtype) == ((m,), np.int32)
    assert imprint.eval_shape(lambda a, v: searchsorted(a, v, "left", "scan"), *avals)
    g = imprint.grad(
        lambda v: (v * searchsorted(np.arange(3.0), v, "left", "sort")).sum()
    )
    np.testing.assert_array_equal(g(np.array([0.5, 5.0])), [1.0, 3.0])


WRONG = {
    "searchsorted: expected operands of one dtype, got float32[3] and int32[3]. Convert "
    "one with `.astype(...)`, or call imprint.numpy, which promotes.": (
        (np.ones(3, "f4"), np.ones(3, "i4")),
        {},
    ),
    "searchsorted: expected an array of 1 axes and one that shares the first 0, got "
    "float32[3,1] and float32[3]. Map over further axes with imprint.vmap.": (
        (np.ones((3, 1), "f4"), np.ones(3, "f4")),
        {},
    ),
    "searchsorted: expected side 'left' or 'right', got 'up'. It is the side of equal "
    "elements.": ((np.ones(3, "f4"),) * 2, {"side": "up"}),
    "searchsorted: expected a method of scan, scan_unrolled, sort, compare_all, got "
    "'guess'. Leave it out.": ((np.ones(3, "f4"),) * 2, {"method": "guess"}),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_calls(message):
    operands, params = WRONG[message]
    with pytest.raises(
        (errors.DTypeError, errors.ArgumentError, errors.ShapeError)
    ) as e:
        searchsorted_p.bind_all(
            *operands, **({"side": "left", "method": "scan", "batch": 0} | params)
        )
    assert str(e.value) == message
