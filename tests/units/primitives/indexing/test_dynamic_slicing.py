"""Slices at traced starts: clamping, negative starts, and a start for each example."""

import itertools

import jax
import numpy as np
import pytest
from jax import lax

import imprint
from imprint._src.core.jaxpr import eval_jaxpr
from imprint._src.primitives.indexing.dynamic_slicing import (
    dynamic_slice,
    dynamic_slice_p,
    dynamic_update_slice,
    dynamic_update_slice_p,
)
from imprint.errors import DTypeError, ShapeError
from tests.lanes import exhaustive
from tests.units.primitives.agreement import agreed, assert_agreed, assert_same
from tests.units.primitives.twin import assert_as_jax

X = np.arange(10.0, dtype=np.float32)


def message(error, fun, *args):
    with pytest.raises(error) as caught:
        fun(*args)
    return str(caught.value)


# ---- starts ----

STARTS = [
    *(np.int32(n) for n in (-100, -11, -10, -1, 0, 3, 7, 8, 2**31 - 1, -(2**31))),
    *(np.int8(-1), np.int8(127), np.uint8(255), np.uint32(2**32 - 1)),
    *(np.int64(2**62), np.int64(-(2**62)), np.uint64(2**64 - 1)),
]


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS, ids=repr)
def test_starts_are_wrapped_once_and_clamped(start):
    update = np.array([-1, -2, -3], np.float32)
    assert_as_jax(
        lambda s: (dynamic_slice(X, (s,), (3,)), dynamic_update_slice(X, update, (s,))),
        lambda s: (
            lax.dynamic_slice(X, (s,), (3,)),
            lax.dynamic_update_slice(X, update, (s,)),
        ),
        start,
    )


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS, ids=repr)
def test_the_primitives_clamp_negative_starts_to_0(start):
    first = min(max(int(start), 0), 7)
    want = X[first : first + 3]
    assert_agreed(
        lambda s: dynamic_slice_p.bind1(X, s, slice_sizes=(3,)), [start], want
    )
    after = agreed(lambda s: dynamic_update_slice_p.bind1(X, want * 0 - 1, s), start)
    assert_same(np.flatnonzero(after == -1), np.arange(first, first + 3))


def test_a_small_index_dtype_on_a_long_axis():
    x = np.arange(300, dtype=np.int32)
    for start in (np.int8(-128), np.int8(127), np.uint8(255)):
        assert_agreed(
            lambda s: dynamic_slice_p.bind1(x, s, slice_sizes=(2,)),
            [start],
            x[max(int(start), 0) :][:2],
        )
        assert_agreed(
            lambda s: imprint.vmap(
                lambda s: dynamic_slice_p.bind1(x, s, slice_sizes=(2,))
            )(s),
            [np.array([start, start])],
            np.stack([x[max(int(start), 0) :][:2]] * 2),
        )


def test_python_ints_take_the_dtype_of_the_other_starts():
    x = X.reshape(2, 5)
    assert_agreed(lambda i: dynamic_slice(x, (i, -1), (1, 1)), [np.uint8(1)], x[1:, 4:])


def test_starts_may_come_in_one_array():
    x = X.reshape(2, 5)
    assert_as_jax(
        lambda starts: dynamic_slice(x, starts, (1, 2)),
        lambda starts: lax.dynamic_slice(x, starts, (1, 2)),
        np.array([-1, 2]),
    )


def test_concrete_starts_beyond_the_array_are_clamped():
    assert_same(dynamic_slice(X, (2**40,), (2,)), X[8:])
    assert_same(dynamic_slice(X, (-(2**40),), (2,)), X[:2])


# ---- a start for each example ----

EXAMPLES = [
    ((9,), (1,)),
    ((9,), (9,)),
    ((9,), (4,)),
    ((8,), (0,)),
    ((5, 7), (2, 3)),
    ((5, 0), (2, 0)),
    *exhaustive(((3, 4, 5), (3, 1, 2))),
]
SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0]


def starts_and_operands(shape, sizes):
    random = np.random.default_rng(0)
    x = random.normal(size=(6, *shape)).astype(np.float32)
    x.flat[: len(SPECIAL)] = SPECIAL[: x.size]
    update = -random.normal(size=(6, *sizes)).astype(np.float32)
    starts = [random.integers(-3, n + 3, 6).astype(np.int32) for n in shape]
    return x, update, starts


def every_mix(vmap, fun, operands):
    """Return the results of `fun` for each choice of batched operands."""
    found = []
    for at in itertools.product((0, None), repeat=len(operands)):
        if any(b == 0 for b in at):
            given = [v if b == 0 else v[1] for v, b in zip(operands, at, strict=True)]
            found.append(vmap(fun, at)(*given))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "sizes"), EXAMPLES)
def test_every_mix_of_examples_takes_its_part(shape, sizes):
    x, _, starts = starts_and_operands(shape, sizes)
    assert_as_jax(
        lambda *v: every_mix(imprint.vmap, lambda x, *s: dynamic_slice(x, s, sizes), v),
        lambda *v: every_mix(jax.vmap, lambda x, *s: lax.dynamic_slice(x, s, sizes), v),
        *(x, *starts),
    )


def put(x, update, *starts):
    return dynamic_update_slice(x, update, starts)


def put_by_jax(x, update, *starts):
    return lax.dynamic_update_slice(x, update, starts)


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "sizes"), EXAMPLES)
def test_every_mix_of_examples_puts_its_part(shape, sizes):
    x, update, starts = starts_and_operands(shape, sizes)
    assert_as_jax(
        lambda *v: every_mix(imprint.vmap, put, v),
        lambda *v: every_mix(jax.vmap, put_by_jax, v),
        *(x, update, *starts),
    )


def test_signs_of_zeros_and_nans_survive():
    x = np.array(SPECIAL * 2, np.float32)
    starts = np.arange(9, dtype=np.int32)
    taken = imprint.vmap(lambda s: dynamic_slice(x, (s,), (2,)))(starts)
    assert_same(taken, np.stack([x[s : s + 2] for s in starts]))


def moved_part(put, take):
    """Return a function of an array, an update and a start that uses both ways."""

    def fun(x, update, s):
        part = take(put(x, update, s), (s - 1,), (5,))
        return part * part * part

    return fun


@pytest.mark.slow
def test_gradients_for_each_example():
    x, update, (starts,) = starts_and_operands((9,), (4,))
    x = np.nan_to_num(x, posinf=3, neginf=-3)
    ours = moved_part(put, dynamic_slice)
    theirs = moved_part(put_by_jax, lax.dynamic_slice)
    both = {"argnums": (0, 1)}
    for at in ((0, 0, 0), (None, 0, 0)):
        given = [
            v if b == 0 else v[1] for v, b in zip((x, update, starts), at, strict=True)
        ]
        assert_as_jax(
            imprint.vmap(imprint.grad(lambda *v: ours(*v).sum(), **both), at),
            jax.vmap(jax.grad(lambda *v: theirs(*v).sum(), **both), at),
            *given,
        )
        assert_as_jax(
            imprint.grad(lambda *v: imprint.vmap(ours, at)(*v).sum(), **both),  # noqa: B023
            jax.grad(lambda *v: jax.vmap(theirs, at)(*v).sum(), **both),  # noqa: B023
            *given,
        )


def test_the_work_for_each_example_grows_with_the_array_alone():
    def take(x, s):
        return dynamic_slice(x, (s,), (4,))

    x, starts = np.zeros((2, 1024), np.float32), np.zeros(2, np.int32)
    jaxpr = imprint.make_jaxpr(imprint.vmap(take))(x, starts).jaxpr
    sizes = [v.aval.size for e in jaxpr.eqns for v in e.outvars if v.aval.ndim == 2]
    assert sum(sizes) < 12 * x.size
    assert len(jaxpr.eqns) < 10 * 12
    assert eval_jaxpr(jaxpr, (), x, starts)[0].shape == (2, 4)


# ---- errors ----


def test_a_part_larger_than_the_array():
    assert message(ShapeError, dynamic_slice, X, (0,), (11,)) == (
        "dynamic_slice: expected sizes of at most (10,), the shape of float32[10], got "
        "(11,). A part cannot be larger than the array."
    )
    assert message(ShapeError, dynamic_update_slice, X[:2], X[:3], (0,)) == (
        "dynamic_update_slice: expected sizes of at most (2,), the shape of float32[2], "
        "got (3,). A part cannot be larger than the array."
    )


def test_starts_for_other_axes():
    assert message(ShapeError, dynamic_slice, X, (0, 0), (2,)) == (
        "dynamic_slice: expected one start for each axis of float32[10], got 2. "
        "Give 1 starts."
    )
    starts = (np.zeros(2, np.int32),)
    assert message(ShapeError, dynamic_slice, X, starts, (2,)) == (
        "dynamic_slice: expected a scalar start and a size for each axis of float32[10], "
        "got starts (int32[2]) and sizes (2,). Give 1 of each."
    )


@pytest.mark.parametrize(
    ("starts", "text"),
    [
        ((np.int32(0), np.int8(0)), "int32[], int8[]"),
        ((np.float32(0), np.float32(0)), "float32[], float32[]"),
        ((True, False), "bool[], bool[]"),
    ],
)
def test_starts_of_other_dtypes(starts, text):
    assert message(DTypeError, dynamic_slice, X.reshape(2, 5), starts, (1, 1)) == (
        f"dynamic_slice: expected starts of one integer dtype, got ({text}). "
        "Convert them with `.astype(...)`."
    )


def test_an_update_of_another_dtype():
    update = np.zeros(1, np.int32)
    assert message(DTypeError, dynamic_update_slice, X, update, (0,)) == (
        "dynamic_update_slice: expected an update of dtype float32, got float32[10] and "
        "int32[1]. Convert the update with `.astype(...)`."
    )
