"""Native kernels equal the plain operations, bit for bit, and NumPy."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import export, lax, ops
from imprint._src import runtime
from imprint._src.primitives.arg_reductions import argmax, argmin
from imprint._src.primitives.native_calls import DTYPES
from tests.units.primitives.formulations import (
    PLAIN,
    assert_same_bits,
    assert_sums_as_exact,
    by_kernels,
    calls_kernel,
    without_kernels,
)

pytestmark = pytest.mark.skipif(
    not runtime.has_kernels(), reason=runtime.kernels_status()
)
NAN, INF = np.nan, np.inf


def many(dtype, shape):
    """Return arrays with ties, zeros of both signs, infinities, NaN, and without."""
    random = np.random.default_rng(0)
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        yield random.integers(0, 50, shape).astype(dtype)
        yield random.integers(info.min, info.max, shape, dtype, endpoint=True)
        yield random.choice(np.array([info.min, info.max, 0, 1], dtype), shape)
        return
    info = np.finfo(dtype)
    yield random.normal(size=shape).astype(dtype)
    for values in (
        [0.0, -0.0],
        [-INF],
        [INF, 1, -INF, info.tiny, info.smallest_subnormal, info.max, -0.0],
        [*[1.0] * 99, NAN],
        [NAN, -NAN],
        [NAN, -NAN, 0.0, -0.0, INF, -INF, 2.0],
    ):
        yield random.choice(np.array(values, dtype), shape)
    x = np.zeros(shape, dtype)
    x.flat[-1] = 1.0
    yield x
    yield -x


# ---- argmax and argmin ----


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("find", [argmax, argmin])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((32,), 0),
        ((5000,), 0),
        ((3, 33), 1),
        ((33, 3), 0),
        ((2, 50, 85), 1),
        ((1, 3000), 1),
    ],
)
def test_the_first_extreme(find, shape, axis, dtype):
    for x in many(dtype, shape):
        ours, plain = by_kernels(lambda x: find(x, axis, "int32"), x)
        np.testing.assert_array_equal(ours[0], getattr(np, find.__name__)(x, axis))
        np.testing.assert_array_equal(ours[0], plain[0])


def test_an_index_has_the_dtype_that_it_was_given():
    x = np.arange(100, dtype=np.float32)
    (ours,), (plain,) = by_kernels(lambda x: argmax(x, 0, "int64"), x)
    assert ours.dtype == plain.dtype == np.int64
    assert ours == plain == 99


# ---- sort ----


def assert_bits(ours, plain):
    for one, other in zip(ours, plain, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes()


def is_subnormal(x):
    if x.dtype.kind != "f":
        return np.zeros(x.shape, bool)
    return (x != 0) & (np.abs(x) < np.finfo(x.dtype).tiny)


SORTED = {
    "a vector side by side": ((40,), 0),
    "a vector by digits": ((9000,), 0),
    "rows": ((5, 70), 1),
    "rows of one": ((33, 1, 2), 1),
    "columns": ((70, 20), 0),
    "an axis between others": ((3, 65, 7), 1),
    "long columns": ((1500, 3), 0),
    "many long rows": ((20, 600), 1),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", SORTED)
def test_sorted_arrays_keep_their_bits(case, dtype):
    shape, axis = SORTED[case]

    def arranged(x):
        place = lax.broadcasted_iota("uint32", shape, axis)
        return (lax.sort(x, axis), *lax.sort((x, place, x), axis))

    for x in many(dtype, shape):
        ours, plain = by_kernels(arranged, x)
        assert_bits(ours, plain)
        if is_subnormal(x).any():  # zeros to XLA, in programs of both kinds
            continue
        np.testing.assert_array_equal(ours[0], np.sort(x, axis))
        np.testing.assert_array_equal(ours[2], np.argsort(x, axis, kind="stable"))


@pytest.mark.parametrize("length", [*range(1, 18), 31, 32, 33, 100, 127, 128, 129])
def test_a_network_sorts_each_length(length):
    x = np.random.default_rng(length).normal(size=(length, 64)).astype(np.float32)
    ours, _ = by_kernels(lambda x: lax.sort(x, 0), x)
    np.testing.assert_array_equal(ours[0], np.sort(x, 0))


def test_the_derivative_of_a_sort_moves_tangents():
    x = np.random.default_rng(0).normal(size=(3, 50)).astype(np.float32)
    weights = np.arange(150, dtype=np.float32).reshape(3, 50)
    gradient = imprint.grad(lambda x: (lax.sort(x, 1) * weights).sum())
    (ours,), (plain,) = by_kernels(gradient, x)
    np.testing.assert_array_equal(ours, plain)
    np.testing.assert_array_equal(
        ours, np.take_along_axis(weights, x.argsort(1).argsort(1), 1)
    )


def test_functions_that_sort():
    x = np.random.default_rng(0).normal(size=(5, 200)).astype(np.float32)
    x[0, 3] = NAN
    ours, plain = by_kernels(
        lambda x: (
            inp.median(x, 1),
            inp.quantile(x, 0.3, 1),
            inp.percentile(x, 70),
            inp.unique(x, size=20),
            inp.searchsorted(x[1], x[2], method="sort"),
        ),
        x,
    )
    for one, other in zip(ours, plain, strict=True):
        np.testing.assert_array_equal(one, other)


# ---- top_k ----


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "k", "axis"),
    [
        ((40,), 7, 0),
        ((300,), 300, 0),
        ((9000,), 10, 0),
        ((5, 70), 1, 1),
        ((70, 5), 3, 0),
        ((3, 65, 40), 8, 1),
        ((2, 6000), 500, 1),
        ((3, 200), 66, 1),
    ],
)
def test_the_largest(shape, k, axis, dtype):
    for x in (*many(dtype, shape), np.arange(np.prod(shape), dtype=dtype)):
        x = x.reshape(shape)
        ours, plain = by_kernels(lambda x: lax.top_k(x, k, axis=axis), x)
        assert_bits(ours, plain)


def test_the_derivative_of_the_largest():
    x = np.random.default_rng(0).normal(size=(3, 50)).astype(np.float32)
    gradient = imprint.grad(lambda x: (lax.top_k(x, 4)[0] * x[:, :4]).sum())
    (ours,), (plain,) = by_kernels(gradient, x)
    np.testing.assert_array_equal(ours, plain)


# ---- cumsum ----

SUMMED = {
    "a vector": ((10_007,), 0),
    "short": ((7, 6), 1),
    "rows": ((5, 700), 1),
    "columns": ((700, 45), 0),
    "an axis between others": ((3, 65, 9), 1),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", SUMMED)
def test_cumulative_sums(case, dtype, reverse):
    shape, axis = SUMMED[case]

    def run(x):
        return lax.cumsum(x, axis, reverse=reverse)

    def exact(x):
        x = np.flip(x, axis) if reverse else x
        out = np.cumsum(x, axis, x.dtype)
        return np.flip(out, axis) if reverse else out

    first, *others = many(dtype, shape)
    if np.dtype(dtype).kind in "iu":
        for x in (first, *others):
            ours, plain = by_kernels(run, x)
            assert_bits(ours, [exact(x)])
            assert_bits(ours, plain)
        return
    assert_sums_as_exact(run, exact, exact, shape[axis], [first], of=by_kernels)
    random = np.random.default_rng(0)
    for numbers in (
        [0.0, -0.0],
        [-0.0],
        [1.0, INF],
        [-INF, 0.0, INF],
        [*[1.0] * 99, NAN],
    ):
        x = random.choice(np.array(numbers, dtype), shape)
        (ours,), (plain,) = by_kernels(run, x)
        assert_same_bits(ours, plain)


def test_the_derivative_of_a_cumulative_sum():
    x = np.random.default_rng(0).normal(size=(3, 50)).astype(np.float32)
    weights = np.arange(50, dtype=np.float32)
    gradient = imprint.grad(lambda x: (lax.cumsum(x, 1) * weights).sum())
    (ours,), (plain,) = by_kernels(gradient, x)
    np.testing.assert_array_equal(ours, plain)  # sums of small integers


# ---- scatter_add ----


LENGTHS = [2, 1, 63, 64, 65, 5, 5000, 0, *range(100, 1000, 7), 3]
SEGMENTS = len(LENGTHS) - 2
SORTED_ROWS = np.repeat(np.arange(-1, SEGMENTS + 1), LENGTHS).astype(np.int32)


def segments(x):
    """Return sums; the first and the last numbers belong to no segment."""
    return ops.segment_sum(x, SORTED_ROWS, SEGMENTS, indices_are_sorted=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_of_sorted_segments(dtype):
    def exact(x):
        inside = (SORTED_ROWS >= 0) & (SORTED_ROWS < SEGMENTS)
        out = np.zeros(SEGMENTS, x.dtype)
        np.add.at(out, SORTED_ROWS[inside], x[inside])
        return out

    random = np.random.default_rng(0)
    x = random.normal(size=SORTED_ROWS.size).astype(dtype)
    assert_sums_as_exact(segments, exact, exact, max(LENGTHS), [x], of=by_kernels)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exact_sums_of_sorted_segments(dtype):
    random = np.random.default_rng(0)
    for numbers in ([0, 1, 2, 7], [-0.0], [0.0, -0.0], [INF, 1], [INF, -INF, NAN]):
        if np.isfinite(numbers).all() or np.dtype(dtype).kind == "f":
            x = random.choice(np.array(numbers).astype(dtype), SORTED_ROWS.size)
            (ours,), (plain,) = by_kernels(segments, x)
            assert_same_bits(ours, plain)


def test_the_derivative_of_sums_of_segments():
    x = np.arange(SORTED_ROWS.size, dtype=np.float32) % 5
    gradient = imprint.grad(lambda x: (segments(x) ** 2).sum())
    (ours,), (plain,) = by_kernels(gradient, x)
    np.testing.assert_array_equal(ours, plain)


def test_other_updates_stay_with_xla():
    def add(x, **promises):
        return x.at[np.arange(300, dtype=np.int32) // 2].add(1, **promises)

    def add_sorted(x):
        return add(x, indices_are_sorted=True)

    assert calls_kernel(add_sorted, np.zeros(300, np.float32))
    assert not calls_kernel(add, np.zeros(300, np.float32))
    assert not calls_kernel(add_sorted, np.zeros(301, np.float32))  # a longer copy
    assert not calls_kernel(add_sorted, np.zeros((300, 2), np.float32))


# ---- where a kernel is called ----


def test_other_operands_stay_with_xla():
    def find(x):
        return argmax(x, 0, "int32")

    assert calls_kernel(find, np.zeros(32, np.float32))
    assert not calls_kernel(find, np.zeros(31, np.float32))
    for dtype in (np.float16, np.int8, bool):
        assert not calls_kernel(find, np.zeros(1000, dtype))


def test_plain_formulations_call_none():
    x = np.zeros(1000, np.float32)
    lowered = imprint.jit(inp.argmax, compiler_options=PLAIN).lower(x)
    assert "imprint_kernel" not in lowered.as_text()


def test_a_batch_of_an_operand():
    x = np.random.default_rng(1).normal(size=(40, 4, 50)).astype(np.float32)
    for axis in (0, 1, 2):
        find = imprint.vmap(lambda x: argmax(x, 0, "int32"), axis)
        (ours,), (plain,) = by_kernels(find, x)
        np.testing.assert_array_equal(ours, plain)


def test_a_program_for_another_place_calls_none():
    x = np.arange(100, dtype=np.float32)
    made = export.export(imprint.jit(inp.argmax))(x)
    assert "imprint_kernel" not in made.mlir_module()
    assert made.call(x) == 99


def test_without_kernels_nothing_changes_but_speed():
    x = np.arange(100, dtype=np.float32)
    with without_kernels():
        assert not calls_kernel(inp.argmax, x)
        assert imprint.jit(inp.argmax)(x) == 99
