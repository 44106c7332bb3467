"""Products of parts of an axis are JAX's, in all its modes."""

import jax
import numpy as np
import pytest

import imprint
from imprint import lax
from imprint.errors import ArgumentError, DTypeError, ShapeError
from tests import oracle
from tests.tolerances import assert_close

RNG = np.random.default_rng(0)
SIZES = np.int32([2, 0, 3, 1])
EACH = np.int32([[2, 0, 3, 1], [1, 2, 1, 1]])


def drawn(*shape, dtype="float32"):
    return RNG.standard_normal(shape).astype(dtype)


NUMBERS = [
    (((2,), (2,)), ((0,), (0,)), [1], [1], (2, 6, 3), (2, 4, 3, 5), SIZES),
    (((2,), (2,)), ((0,), (0,)), [1], [1], (2, 6, 3), (2, 4, 3, 5), EACH),
    (((2,), (2,)), ((1,), (0,)), [0], [1], (6, 2, 3), (2, 4, 3, 5), EACH),
    (((2,), (1,)), ((), ()), [1], [0], (2, 6, 3), (4, 3, 5), EACH),
    (((1,), (0,)), ((), ()), [1], [], (3, 6), (6, 5), SIZES),
    (((2,), (1,)), ((0,), (0,)), [2], [], (2, 3, 6), (2, 6, 5), EACH),
    (((2,), (1,)), ((0,), (0,)), [0], [], (2, 3, 6), (2, 6, 5), np.int32([1, 1])),
]
X, FACTORS = drawn(7, 3), drawn(4, 3, 5)
OPERANDS = [(drawn(*case[4]), drawn(*case[5])) for case in NUMBERS]


def test_products_of_parts_are_those_of_jax():
    halves = [z.astype("float16") for z in (X, FACTORS)]

    def run(lax):
        def general(case, operands):
            sums, batch, ragged, groups, _, _, sizes = case
            numbers = lax.RaggedDotDimensionNumbers((sums, batch), ragged, groups)
            return lax.ragged_dot_general(*operands, sizes, numbers)

        return [
            lax.ragged_dot(X, FACTORS, SIZES),
            lax.ragged_dot(X, FACTORS, SIZES + 1),
            lax.ragged_dot(*halves, SIZES, preferred_element_type=np.float32),
            *map(general, NUMBERS, OPERANDS),
        ]

    want = oracle.jit(lambda: run(jax.lax))()
    for got in (run(lax), imprint.jit(lambda: run(lax))()):
        for ours, theirs in zip(got, want, strict=True):
            assert_close(ours, theirs, "contraction")


def test_derivatives_and_batches():
    def total(lax):
        return lambda x, y: (lax.ragged_dot(x, y, SIZES) ** 2).sum()

    want = oracle.jit(jax.grad(total(jax.lax), (0, 1)))(X, FACTORS)
    for ours, theirs in zip(
        imprint.grad(total(lax), (0, 1))(X, FACTORS), want, strict=True
    ):
        assert_close(ours, theirs, "gradient")
    each = imprint.vmap(lambda s: lax.ragged_dot(X, FACTORS, s))(EACH)
    for ours, sizes in zip(each, EACH, strict=True):
        assert_close(ours, lax.ragged_dot(X, FACTORS, sizes), "contraction")


def test_rows_of_no_part_are_not_looked_at():
    x = X.copy()
    x[6] = np.nan
    assert np.isfinite(lax.ragged_dot(x, FACTORS, SIZES)).all()


def test_numbers_are_equal_by_their_axes():
    numbers = lax.RaggedDotDimensionNumbers(([[1], [1]], [[], []]), [0], [0])
    assert numbers == lax.RaggedDotDimensionNumbers(
        (((1,), (1,)), ((), ())), (0,), (0,)
    )
    assert hash(numbers) == hash(
        lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    )


def product(ragged, groups, sizes=SIZES, x=X, y=FACTORS):
    numbers = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), ragged, groups)
    return lambda: lax.ragged_dot_general(x, y, sizes, numbers)


WRONG = [
    (
        product([0], []),
        ArgumentError,
        "ragged_dot_general: expected one axis in rhs_group_dimensions where the axis in parts is "
        "not contracted or a batch, got RaggedDotDimensionNumbers(dot_dimension_numbers="
        "(((1,), (1,)), ((), ())), lhs_ragged_dimensions=(0,), rhs_group_dimensions=()).",
    ),
    (
        product([0, 1], [0]),
        ArgumentError,
        "ragged_dot_general: expected one axis in lhs_ragged_dimensions, got (0, 1).",
    ),
    (
        product([0], [0], SIZES[:3]),
        ShapeError,
        "ragged_dot_general: expected as many factors as groups, got float32[4,3,5] along axis 0 "
        "and group_sizes of int32[3].",
    ),
    (
        product([0], [0], SIZES.astype("float32")),
        DTypeError,
        "ragged_dot_general: expected integers as group_sizes, got float32[4].",
    ),
    (
        product([0], [0], EACH),
        ShapeError,
        "ragged_dot_general: expected group_sizes of shape (g,) or ('g',), got int32[2,4] for "
        "float32[7,3].",
    ),
    (
        lambda: lax.ragged_dot(X, FACTORS, SIZES, group_offset=1),
        ArgumentError,
        "ragged_dot: expected no group_offset, got one. Roll group_sizes and rhs.",
    ),
]


@pytest.mark.parametrize(("call", "kind", "text"), WRONG)
def test_an_error_message(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == text
