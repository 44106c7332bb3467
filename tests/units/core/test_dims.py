"""Sizes: normal forms, questions that are decided or raise, arithmetic, avals of names."""

import itertools

import numpy as np
import pytest

from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint.errors import ArgumentError, ConcretizationError, ShapeError
from tests.symbolic import evaluate, name

F32 = np.dtype(np.float32)
N, M = name("n", 1), name("m", 0)


def message(error, fun, *args):
    with pytest.raises(error) as caught:
        fun(*args)
    return str(caught.value)


# ---- sizes ----


@pytest.mark.parametrize("given", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_whole_numbers_become_ints(given):
    size = dims.as_dim(given)
    assert type(size) is int
    assert size == 3


def test_booleans_become_ints():
    assert type(dims.as_dim(True)) is int
    assert dims.as_dim(np.int64(1)) is dims.as_dim(True)


def test_a_symbolic_size_stays_as_it_is():
    assert dims.as_dim(2 * N) is 2 * N
    assert dims.as_shape([np.int32(2), N]) == (2, N)


def test_objects_that_are_no_sizes_are_refused():
    assert message(ArgumentError, dims.as_dim, 2.0) == (
        "expected a whole number, got float 2.0. Convert it with int()."
    )
    with pytest.raises(ArgumentError):
        ShapedArray(("3",), F32)


def test_an_operation_that_needs_a_number_is_named():
    assert dims.concrete(4, "unroll") == 4
    assert message(ConcretizationError, dims.concrete, 2 * N, "unroll") == (
        "unroll: expected a length that is known while tracing, got 2*n. "
        "Give the axis a fixed length, or compute without its number."
    )


# ---- questions ----


def test_questions_of_ints_are_python_s():
    for n, m in itertools.product(range(-2, 4), repeat=2):
        assert dims.equal(n, m) is dims.is_same(n, m) is (n == m)
        assert dims.at_least(n, m) is dims.is_surely_at_least(n, m) is (n >= m)
        assert dims.maximum(n, m) == max(n, m)
        assert dims.minimum(n, m) == min(n, m)
        assert dims.clamp(n, 0, m) == max(0, min(n, m))
        assert dims.divides(m, n) is (m != 0 and n % m == 0)


def test_questions_that_hold_for_all_values_are_answered():
    assert dims.equal(N + N, 2 * N)
    assert not dims.equal(N, 0)
    assert dims.at_least(N + M, N)
    assert not dims.at_least(M, M + 1)
    assert dims.divides(2, 4 * N)
    assert dims.divides(N, 3 * N * M)
    assert dims.equal_shapes((N, 2), (N, 2))
    assert not dims.equal_shapes((N, 2), (N + 1, 2))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: dims.equal(N, M),
        lambda: dims.equal(N, 1),
        lambda: dims.at_least(N, M),
        lambda: dims.at_least(3, N),
        lambda: dims.divides(2, N),
        lambda: dims.equal_shapes((2, N), (2, M)),
        lambda: dims.broadcast(N, M),
        lambda: dims.repeats_to((N,), (2, M)),
    ],
)
def test_data_dependent_sizes_are_refused(ask):
    with pytest.raises(
        ShapeError, match="expected lengths of which it is known whether"
    ):
        ask()


def test_is_same_and_related_functions_never_raise():
    assert not dims.is_same(N, M)
    assert not dims.is_same(N, 1)
    assert not dims.is_surely_at_least(N, M)
    assert not dims.is_same_shape((N,), (M,))
    assert not dims.has_zero((N, M))
    assert dims.has_zero((N, 0))


# ---- arithmetic ----

VALUES = [(1, 0), (1, 3), (2, 1), (5, 2), (7, 9)]


def agree(of):
    """Assert that a function of two sizes gives the same before and after evaluation."""
    symbolic = of(N, M)
    for n, m in VALUES:
        assert evaluate(symbolic, {"n": n, "m": m}) == of(n, m)


@pytest.mark.parametrize(
    "of",
    [
        lambda n, m: dims.product((n, m, 2, n)),
        lambda n, m: dims.ceil_divide(n + m, 3),
        lambda n, m: dims.maximum(n, m),
        lambda n, m: dims.maximum(3, m),
        lambda n, m: dims.minimum(n, m),
        lambda n, m: dims.minimum(3, m),
        lambda n, m: dims.clamp(m, 0, n),
        lambda n, m: dims.dilated(m, 3),
        lambda n, m: dims.dilated(n, 3),
        lambda n, m: dims.slice_bounds(None, None, n),
        lambda n, m: dims.slice_bounds(1, None, n),
        lambda n, m: dims.slice_bounds(1, -1, n),
        lambda n, m: dims.slice_bounds(2, 5, m),
        lambda n, m: dims.slice_bounds(-3, None, m),
        lambda n, m: dims.slice_bounds(m, n, n),
        lambda n, m: dims.broadcast_shapes([(n, 1, m), (2 * m, 1), ()]),
    ],
)
def test_arithmetic_of_names_is_that_of_their_values(of):
    agree(of)


def test_bounds_of_a_slice_are_python_s_but_never_crossed():
    for start, stop, n in itertools.product(
        (None, *range(-4, 5)), (None, *range(-4, 5)), range(4)
    ):
        first, last = dims.slice_bounds(start, stop, n)
        assert range(n)[first:last] == range(n)[start:stop]
        assert first <= last


def test_an_element_is_that_of_python_s_index():
    for at, n in itertools.product(range(-4, 5), range(4)):
        found = dims.element(at, n)
        assert found == (range(n)[at] if -n <= at < n else None)
    assert dims.element(-1, N) is N - 1
    assert dims.element(N - 1, N) is N - 1
    assert dims.element(N, N) is None


def test_a_length_below_zero_is_found():
    assert dims.has_negative((2, -1))
    assert dims.has_negative((N, -N))
    assert not dims.has_negative((0, N, M))


def test_broadcasting_repeats_only_sizes_that_are_always_one():
    assert dims.broadcast(1, N) is N
    assert dims.broadcast(N, 1) is N
    assert dims.broadcast(N, N) is N
    assert dims.broadcast(N + 2, 2) is None
    assert dims.broadcast_shapes([(2, 1), (3,), ()]) == (2, 3)
    assert dims.broadcast_shapes([(2, 2), (3,)]) is None
    assert dims.broadcast_shapes([(0,), (1,)]) == (0,)
    assert dims.broadcast_shapes([(0,), (3,)]) is None
    assert dims.broadcast_shapes([]) == ()
    assert dims.repeats_to((1, N), (4, M, N))
    assert not dims.repeats_to((1, N), (N,))
    assert not dims.repeats_to((2,), (1,))


# ---- avals ----


def test_avals_of_names_are_interned_and_print_them():
    aval = ShapedArray((N, 2 * N), F32)
    assert aval is ShapedArray((N, N + N), F32)
    assert aval is not ShapedArray((N, 2 * M), F32)
    assert (str(aval), aval.short()) == ("float32[n,2*n]", "f32[n,2*n]")
    assert aval.size is 2 * N * N
    assert aval.ndim == 2


def test_an_aval_with_numpy_s_integers_is_that_with_ints():
    aval = ShapedArray((np.int64(2), True), F32)
    assert aval is ShapedArray((2, 1), F32)
    assert [type(n) for n in aval.shape] == [int, int]


def test_a_struct_takes_names():
    struct = ShapeDtypeStruct((N, 3), "float32")
    assert repr(struct) == "ShapeDtypeStruct(shape=(n, 3), dtype=float32)"


def test_python_loops_over_an_axis_need_its_number():
    def traced(fun):
        stage(lambda x: [fun(x)], [ShapedArray((N,), F32)], DebugInfo("test", "f"))

    for loop in (len, list):
        assert message(ConcretizationError, traced, loop) == (
            "len(): expected a length that is known while tracing, got n. "
            "Give the axis a fixed length, or compute without its number."
        )
