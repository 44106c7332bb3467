"""Basic indexing as in NumPy, with every kind of entry; traced integers; equations."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import NonConcreteSliceError

VALUES = np.arange(60).reshape(3, 4, 5)
ENTRIES = (
    0,
    -1,
    np.int8(1),
    slice(None),
    slice(1, None),
    slice(None, None, -1),
    None,
    ...,
)
SLICES = [
    slice(start, stop, step)
    for start, stop, step in itertools.product(
        (None, 0, 2, -2, 9, -9), (None, 0, 3, -1, 9, -9), (None, 1, 2, -1, -3)
    )
]


def test_every_pair_of_entries():
    x = inp.asarray(VALUES)
    for index in itertools.product(ENTRIES, repeat=2):
        if index.count(...) < 2:
            np.testing.assert_array_equal(x[index], VALUES[index], str(index))


def test_every_slice():
    x, values = inp.asarray(VALUES[0, 0]), VALUES[0, 0]
    for part in SLICES:
        np.testing.assert_array_equal(x[part], values[part], str(part))


def test_traced_integers():
    @imprint.jit
    def parts(x, i):
        return x[i], x[:, i, ::2], x[..., i], x[i, 1, i], x[None, i]

    for i in (0, 2, -1):
        want = (
            VALUES[i],
            VALUES[:, i, ::2],
            VALUES[..., i],
            VALUES[i, 1, i],
            VALUES[None, i],
        )
        for got, expected in zip(parts(VALUES, i), want, strict=True):
            np.testing.assert_array_equal(got, expected)


def test_traced_integers_outside_are_moved_inside():
    take = lambda x, i: x[i]
    x = inp.arange(4)
    for run in (take, imprint.jit(take)):
        assert [int(run(x, inp.asarray(i))) for i in (9, -9)] == [3, 0]


def test_a_part_that_is_all_costs_no_equation():
    assert imprint.make_jaxpr(lambda x: x[:, ...])(VALUES).eqns == ()


def test_the_derivative_of_a_part():
    def picked(x, i):
        return (x[i] * x[::-2].sum()).sum()

    x = inp.asarray(VALUES[0], dtype="float32")
    grads = imprint.grad(picked)(x, inp.asarray(1))
    step = 1e-2
    bumped = x + step * inp.eye(4, 5, dtype="float32")[1:2].sum(0)[None] * 0
    assert grads.shape == bumped.shape
    total = float((grads * x).sum())
    assert total == pytest.approx(2 * float(picked(x, inp.asarray(1))), rel=1e-5)


def test_arrays_iterate_and_unpack():
    a, b = inp.arange(6).reshape(2, 3)
    assert (a.tolist(), b.tolist()) == ([0, 1, 2], [3, 4, 5])


def test_vmap_over_an_index():
    x = inp.arange(12).reshape(3, 4)
    got = imprint.vmap(lambda row, i: row[i])(x, inp.asarray(np.array([3, 0, 2])))
    assert got.tolist() == [3, 4, 10]


@pytest.mark.parametrize(
    "part", [lambda x, i: x[i:3], lambda x, i: x[:i], lambda x, i: x[0:3:i]]
)
def test_a_slice_by_a_traced_value(part):
    with pytest.raises(IndexError):
        jax.jit(part)(jnp.arange(4), 1)
    with pytest.raises(
        NonConcreteSliceError, match=r"(?s)int32\[\].*lax\.dynamic_slice"
    ):
        imprint.jit(part)(inp.arange(4), 1)
