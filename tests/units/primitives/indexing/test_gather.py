"""Gather and scatter: drawn dimension numbers against JAX, bounds, derivatives, errors."""

import jax
import numpy as np
import pytest
from jax import lax as jax_lax

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint._src.core.aval import ShapedArray
from imprint._src.primitives.indexing.gather import gather_p, scatter_add_p
from imprint._src.primitives.indexing.scatter import scatter_max_p, scatter_p
from imprint.errors import ArgumentError, DTypeError, ShapeError
from tests import oracle
from tests.laws.law import assert_agree, compiled
from tests.strategies import Call

MODES = lax.GatherScatterMode
ROWS = lax.GatherDimensionNumbers((1,), (0,), (0,))
POINTS = lax.ScatterDimensionNumbers((), (0,), (0,))

# ---- any dimension numbers ----


def drawn_calls(seed, count):
    """Return gathers and scatters of random dimension numbers, with operands."""
    rng = np.random.default_rng(seed)
    found = [drawn_call(rng) for _ in range(count)]
    return [call for call, _ in found], [operands for _, operands in found]


def drawn_call(rng):
    ndim = int(rng.integers(1, 5))
    shape = tuple(int(n) for n in rng.integers(1, 5, ndim))
    axes = [int(i) for i in rng.permutation(ndim)]
    batch = tuple(sorted(axes[: rng.integers(0, min(2, ndim))]))
    others = [i for i in axes if i not in batch]
    index_map = tuple(others[: rng.integers(0, len(others) + 1)])
    sizes = [
        1 if i in batch else int(rng.integers(1, n + 1)) for i, n in enumerate(shape)
    ]
    absent = tuple(sorted(i for i in others if sizes[i] == 1 and rng.random() < 0.8))
    spans = [sizes[i] for i in range(ndim) if i not in absent and i not in batch]
    along = [int(n) for n in rng.integers(1, 4, len(batch) + int(rng.integers(0, 3)))]
    walked = tuple(int(i) for i in rng.permutation(len(along))[: len(batch)])
    for i, j in zip(batch, walked, strict=True):
        along[j] = shape[i]
    rank = len(along) + len(spans)
    window = tuple(sorted(int(i) for i in rng.permutation(rank)[: len(spans)]))
    rows, parts = iter(along), iter(spans)
    out = tuple(next(parts) if i in window else next(rows) for i in range(rank))
    x = rng.integers(-9, 9, shape).astype(np.float32)
    indices = rng.integers(-2, 5, (*along, len(index_map))).astype(np.int32)
    params = {"indices_are_sorted": False, "unique_indices": False}
    numbers = window, absent, index_map, batch, walked
    primitive = [gather_p, scatter_p, scatter_add_p, scatter_max_p][rng.integers(4)]
    params["mode"] = list(MODES)[rng.integers(3)]
    if primitive is gather_p:
        fill = 0.5 if params["mode"] is MODES.FILL_OR_DROP else None
        params |= {
            "dimension_numbers": lax.GatherDimensionNumbers(*numbers),
            "slice_sizes": tuple(sizes),
            "fill_value": fill,
        }
        operands = x, indices
    else:
        params["dimension_numbers"] = lax.ScatterDimensionNumbers(*numbers)
        operands = x, indices, rng.integers(-9, 9, out).astype(np.float32)
    avals = tuple(ShapedArray(v.shape, v.dtype) for v in operands)
    return Call(primitive, avals, params), operands


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1))
def test_drawn_dimension_numbers_are_as_in_jax(seed):
    calls, values = drawn_calls(seed, 60)
    theirs = oracle.compiled(calls)(values)
    ours = compiled(calls)(values)
    for call, operands, got, want in zip(calls, values, ours, theirs, strict=True):
        assert_agree(call, operands, call.reference(*operands), want)
        assert_agree(call, operands, got, want)
        assert [x.shape for x in want] == [a.shape for a in call.out_avals]


# ---- bounds ----


@pytest.mark.parametrize("way", [imprint.jit, lambda f: f], ids=["jit", "eager"])
def test_narrow_indices_reach_as_far_as_they_go(way):
    x = np.arange(300.0, dtype=np.float32)
    for index in (np.int8(127), np.uint8(255), np.int8(-1), np.uint32(2**32 - 1)):
        place = np.array([[index]])

        def run(place, mode):
            read = lax.gather(x, place, ROWS._replace(offset_dims=()), (1,), mode=mode)
            return read, lax.scatter(
                x, place, -np.ones(1, np.float32), POINTS, mode=mode
            )

        inside = 0 <= int(index) < 300
        near = min(max(int(index), 0), 299)
        for mode in ("clip", "fill"):
            read, written = way(lambda place, mode=mode: run(place, mode))(place)
            want = near if inside or mode == "clip" else np.nan
            np.testing.assert_array_equal(read, [want])
            changed = [near] if inside or mode == "clip" else []
            assert np.flatnonzero(np.asarray(written) == -1).tolist() == changed


def test_the_fill_value_depends_on_the_dtype():
    place = np.array([[9]], np.int32)
    for dtype in ("float32", "int8", "uint16", "bool", "complex64", "bfloat16"):
        x = inp.zeros(3, dtype)
        numbers = ROWS._replace(offset_dims=())
        got = lax.gather(x, place, numbers, (1,), mode="fill")
        want = jax_lax.gather(
            jax.numpy.zeros(3, dtype),
            place,
            jax_lax.GatherDimensionNumbers(*numbers),
            (1,),
            mode="fill",
        )
        assert got.tolist() == want.tolist() or np.isnan(want.tolist()).all()
        assert str(got.dtype) == str(want.dtype)


# ---- derivatives ----


def test_a_product_of_several_updates_is_differentiated_at_zeros_too():
    places = np.array([[0], [0], [1], [1], [1], [2], [7]], np.int32)
    updates = np.array([2.0, 3.0, 0.0, 4.0, 5.0, 0.0, 6.0])
    x = np.array([1.5, 2.5, 3.5, 4.5])

    def product(x, updates):
        return lax.scatter_mul(x, places, updates, POINTS).sum()

    with imprint.enable_x64(True):
        by_x, by_updates = imprint.grad(product, (0, 1))(x, updates)
    np.testing.assert_allclose(by_x, [6, 0, 0, 1])
    want = [4.5, 3.0, 50.0, 0.0, 0.0, 3.5, 0.0]
    np.testing.assert_allclose(by_updates, want)


def test_the_update_that_stays_has_the_derivative():
    places = np.array([[1], [1], [-3], [8]], np.int32)
    for mode, kept in (("clip", [0, 1, 1, 1]), ("drop", [0, 1, 0, 0])):

        def put(x, updates, mode=mode):
            return (lax.scatter(x, places, updates, POINTS, mode=mode) ** 2).sum()

        updates = np.array([2.0, 3.0, 4.0, 5.0], np.float32)
        by_x, by_updates = imprint.grad(put, (0, 1))(np.ones(3, np.float32), updates)
        np.testing.assert_array_equal(by_updates, 2 * updates * kept)
        np.testing.assert_array_equal(by_x, [0, 0, 0] if mode == "clip" else [2, 0, 2])


def test_an_extreme_next_to_nan_has_no_derivative():
    def most(x, u):
        return lax.scatter_max(x, np.array([[0], [1]], np.int32), u, POINTS)

    x, u = np.array([np.nan, 1.0, 2.0]), np.array([1.0, np.nan])
    _, (by_x, by_u) = most(x, u), imprint.vjp(most, x, u)[1](inp.ones(3))
    assert np.isfinite(by_x).all()
    assert by_u.tolist() == [0.0, 0.0]


def test_transposes_of_scatters_alone():
    places = np.array([[1], [1], [0]], np.int32)
    shapes = [inp.zeros(3), inp.zeros(3)]

    def put(x, updates):
        return lax.scatter(x, places, updates, POINTS)

    by_x, by_updates = imprint.linear_transpose(put, *shapes)(inp.arange(1.0, 4.0))
    assert by_x.tolist() == [0, 0, 3]
    assert by_updates.tolist() == [0, 2, 1]


# ---- errors ----


def message(error, fun, *args, **kwargs):
    with pytest.raises(error) as caught:
        fun(*args, **kwargs)
    return str(caught.value)


X = np.zeros((4, 3), np.float32)
PLACES = np.zeros((2, 1), np.int32)


def test_dimension_numbers_that_do_not_fit():
    said = message(
        ShapeError, lax.gather, X, PLACES, ROWS._replace(offset_dims=()), (1, 3)
    )
    assert said == (
        "gather: expected each axis of the operand in offset_dims, collapsed_slice_dims or "
        "operand_batching_dims, got the operand float32[4,3], the indices int32[2,1] and "
        "GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), "
        "start_index_map=(0,), operand_batching_dims=(), start_indices_batching_dims=()). "
        "To index as NumPy does, write x[i], or x.at[i]."
    )
    wrong = [
        (ROWS._replace(offset_dims=(2,)), "offset_dims to be axes that increase"),
        (
            ROWS._replace(collapsed_slice_dims=(2,)),
            "collapsed_slice_dims to be axes that",
        ),
        (ROWS._replace(start_index_map=(2,)), "start_index_map to be distinct axes"),
        (
            ROWS._replace(start_index_map=(0, 1)),
            "index vectors of 2, as many as start_",
        ),
        (
            ROWS._replace(operand_batching_dims=(0,)),
            "operand_batching_dims to be apart",
        ),
        (
            ROWS._replace(operand_batching_dims=(-1,)),
            "operand_batching_dims to be axes",
        ),
        (
            ROWS._replace(start_indices_batching_dims=(1,)),
            "start_indices_batching_dims to be distinct axes but the last",
        ),
        (
            ROWS._replace(start_indices_batching_dims=(0,)),
            "operand_batching_dims and start_indices_batching_dims to be axes of equal",
        ),
    ]
    for numbers, what in wrong:
        assert f"gather: expected {what}" in message(
            ShapeError, lax.gather, X, PLACES, numbers, (1, 3)
        )
    assert "indices whose last axis holds index vectors" in message(
        ShapeError, lax.gather, X, np.int32(0), ROWS, (1, 3)
    )


def test_windows_that_do_not_fit():
    for sizes in ((1, 4), (2, 3), (1,), (1, -1)):
        assert message(ShapeError, lax.gather, X, PLACES, ROWS, sizes) == (
            "gather: expected slice_sizes of at most (4, 3), the shape of float32[4,3], 1 "
            "at the axes (0,), which collapse, and at most 1 at (), which are walked, got "
            f"{sizes}. A window cannot be larger than the array."
        )
    numbers = lax.ScatterDimensionNumbers(*ROWS)
    for shape in ((2, 4), (3, 3), (2,)):
        said = message(
            ShapeError, lax.scatter_add, X, PLACES, np.zeros(shape, np.float32), numbers
        )
        assert said == (
            "scatter_add: expected updates with the axes of the indices but the last, and "
            "at (1,), update_window_dims, windows that fit into the operand, got the "
            "operand float32[4,3], indices int32[2,1] and updates float32"
            f"[{','.join(map(str, shape))}]. Reshape the updates."
        )


def test_dtypes_and_modes_that_do_not_fit():
    assert message(DTypeError, lax.gather, X, PLACES * 1.0, ROWS, (1, 3)) == (
        "gather: expected indices of an integer dtype, got float32[2,1]. Convert them with "
        "`.astype('int32')`."
    )
    updates = np.zeros((2, 3), np.int32)
    numbers = lax.ScatterDimensionNumbers(*ROWS)
    assert message(DTypeError, lax.scatter, X, PLACES, updates, numbers) == (
        "scatter: expected updates of dtype float32, got float32[4,3] and int32[2,3]. "
        "Convert the updates with `.astype(...)`."
    )
    mask, some = np.zeros((4, 3), bool), np.zeros((2, 3), bool)
    assert message(DTypeError, lax.scatter_add, mask, PLACES, some, numbers) == (
        "scatter_add: expected numbers, got bool[4,3]. Convert it, or call scatter_max or "
        "scatter_min, which are `or` and `and` of booleans."
    )
    assert message(ArgumentError, lax.gather, X, PLACES, ROWS, (1, 3), mode="near") == (
        "gather: mode: expected 'clip', 'fill', 'drop', 'promise_in_bounds', 'one_hot' or a "
        "GatherScatterMode, got 'near'. Write one of these."
    )
    assert message(
        ArgumentError, lax.gather, X, PLACES, ROWS, (1, 3), mode="one_hot"
    ) == (
        "gather: expected a mode other than 'one_hot', which is for "
        "imprint.numpy.take_along_axis. Write 'clip', 'fill' or 'promise_in_bounds'."
    )
    assert message(
        ArgumentError,
        lax.gather,
        X,
        PLACES,
        ROWS,
        (1, 3),
        mode="fill",
        fill_value=[1, 2],
    ) == (
        "gather: expected fill_value to be one number, got list [1, 2]. Choose between arrays "
        "with imprint.numpy.where."
    )
