"""The laws of collectives, which are defined along a named axis only.

A guest of each gives its meaning in NumPy, on the operands of all positions at once: axis 0
is the named one. In float64: along every axis, of a batched and of an unbatched operand,
eager and jitted; with a further axis, in every position; `jvp` equals central
differences; and over all positions `⟨ct, jvp(t)⟩ = ⟨vjp(ct), t⟩`.
"""

from typing import NamedTuple

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.core.primitive import CollectivePrimitive
from imprint._src.primitives import ALL
from tests.tolerances import assert_close

SIZE = 3


class Guest(NamedTuple):
    """A collective with params, the shape of an operand, and its meaning in NumPy."""

    name: str
    shape: tuple[int, ...]
    params: dict
    meaning: object

    def bind(self, x):
        """Bind it along the axis "i"."""
        return PRIMITIVES[self.name].bind1(x, axis_name="i", **self.params)

    def draw(self, seed):
        """Return operands of all places."""
        return np.random.default_rng(seed).uniform(-2, 2, (SIZE, *self.shape))


def gathered(x, axis):
    return np.stack([np.moveaxis(x, 0, axis)] * SIZE)


def exchanged(x, split, concat):
    taken = [np.take(x, i, 1 + split) for i in range(SIZE)]
    return np.stack([np.moveaxis(part, 0, concat) for part in taken])


def permuted(x, perm):
    out = np.zeros_like(x)
    for source, target in perm:
        out[target] = x[source]
    return out


def each(x):
    return np.broadcast_to(x, (SIZE, *x.shape))


def scattered(x, axis):
    return np.moveaxis(x.sum(0), axis, 0)


GUESTS = [
    Guest("psum", (), {}, lambda x: each(x.sum(0))),
    Guest("psum", (2, 3), {}, lambda x: each(x.sum(0))),
    Guest("pvary", (2,), {}, lambda x: x),
    Guest("pmax", (2,), {}, lambda x: each(x.max(0))),
    Guest("pmin", (2,), {}, lambda x: each(x.min(0))),
    *(
        Guest("ppermute", (2,), {"perm": perm}, lambda x, perm=perm: permuted(x, perm))
        for perm in (
            ((0, 1), (1, 2), (2, 0)),
            ((0, 2), (1, 1), (2, 0)),
            ((0, 0), (2, 1), (1, 2)),
            ((0, 0), (1, 1), (2, 2)),
            ((0, 1), (1, 2)),
            ((2, 0),),
            (),
        )
    ),
    *(
        Guest(
            "all_gather",
            (2, 4),
            {"all_gather_dimension": axis, "axis_size": SIZE},
            lambda x, axis=axis: gathered(x, axis),
        )
        for axis in (0, 1, 2)
    ),
    *(
        Guest(
            "reduce_scatter",
            shape,
            {"scatter_dimension": axis},
            lambda x, axis=axis: scattered(x, axis),
        )
        for shape, axis in (((SIZE,), 0), ((SIZE, 2), 0), ((2, SIZE), 1))
    ),
    *(
        Guest(
            "all_to_all",
            shape,
            {"split_axis": split, "concat_axis": concat},
            lambda x, split=split, concat=concat: exchanged(x, split, concat),
        )
        for shape, split, concat in (
            ((SIZE,), 0, 0),
            ((SIZE, 2), 0, 0),
            ((SIZE, 2, 4), 0, 2),
            ((2, SIZE), 1, 0),
            ((2, SIZE, 4), 1, 2),
        )
    ),
]
PRIMITIVES = {p.name: p for p in ALL if isinstance(p, CollectivePrimitive)}
WITHOUT_OPERAND = {"axis_index"}
WRAPS = {"as it is": lambda f: f, "jitted": imprint.jit}

every_guest = pytest.mark.parametrize(
    "guest", GUESTS, ids=lambda g: f"{g.name}{g.params}"
)
every_wrap = pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS.keys())


def along(f, *args, **axes):
    """Map `f` along the axis "i"."""
    return imprint.vmap(f, axis_name="i", **axes)(*args)


def test_every_collective_has_a_guest():
    assert {guest.name for guest in GUESTS} | WITHOUT_OPERAND == PRIMITIVES.keys()


@every_guest
@every_wrap
def test_values_along_every_axis_are_those_of_numpy(guest, wrap):
    x = guest.draw(0)
    want = guest.meaning(x)
    for axis in range(x.ndim):
        moved = np.moveaxis(x, 0, axis)
        got = along(wrap(guest.bind), moved, in_axes=axis, out_axes=-1)
        assert_close(got, np.moveaxis(want, 0, -1), "reduction")


@every_guest
@every_wrap
def test_an_operand_that_is_the_same_in_each_place(guest, wrap):
    x = guest.draw(0)[0]
    f = wrap(lambda y: guest.bind(inp.asarray(y)))
    got = along(lambda _, y: f(y), np.zeros(SIZE), x, in_axes=(0, None))
    assert_close(got, guest.meaning(each(x)), "reduction")


@every_guest
@every_wrap
def test_a_further_axis_in_every_position(guest, wrap):
    slices = [guest.draw(seed) for seed in range(2)]
    want = np.stack([guest.meaning(x) for x in slices], 1)
    for axis in range(len(guest.shape) + 1):
        x = np.stack(slices, 1 + axis)
        inner = imprint.vmap(wrap(guest.bind), in_axes=axis)
        assert_close(along(inner, x), want, "reduction")


@every_guest
@every_wrap
def test_jvp_equals_central_differences(guest, wrap):
    x, t, step = guest.draw(0), guest.draw(1), 1e-6
    got = along(lambda x, t: imprint.jvp(wrap(guest.bind), (x,), (t,))[1], x, t)
    want = (guest.meaning(x + step * t) - guest.meaning(x - step * t)) / (2 * step)
    np.testing.assert_allclose(got, want, atol=1e-8)
    around = imprint.jvp(lambda x: along(wrap(guest.bind), x), (x,), (t,))[1]
    assert_close(around, got, "gradient")


@pytest.mark.parametrize(
    "guest",
    # The operand of pvary is the same at each position: its pairing is below.
    [guest for guest in GUESTS if guest.name != "pvary"],
    ids=lambda g: f"{g.name}{g.params}",
)
@every_wrap
def test_cotangents_are_paired_with_tangents_over_all_places(guest, wrap):
    x, t = guest.draw(0), guest.draw(1)
    out = guest.meaning(x)
    ct = np.random.default_rng(2).uniform(-2, 2, out.shape)
    pushed = along(lambda x, t: imprint.jvp(guest.bind, (x,), (t,))[1], x, t)
    pulled = along(lambda x, c: imprint.vjp(wrap(guest.bind), x)[1](c)[0], x, ct)
    np.testing.assert_allclose(np.sum(ct * pushed), np.sum(pulled * t), rtol=1e-10)


@every_wrap
def test_a_value_that_is_the_same_in_each_place_gets_the_cotangents_of_all(wrap):
    vary = wrap(lambda x: PRIMITIVES["pvary"].bind1(x, axis_name="i"))
    x, ct = np.ones(2), np.random.default_rng(2).uniform(-2, 2, (SIZE, 2))
    pulled = along(
        lambda x, c: imprint.vjp(vary, x)[1](c)[0],
        x,
        ct,
        in_axes=(None, 0),
        out_axes=None,
    )
    np.testing.assert_allclose(pulled, ct.sum(0), rtol=1e-10)


@every_wrap
def test_the_index_of_each_place(wrap):
    place = wrap(lambda: PRIMITIVES["axis_index"].bind1(axis_name="i"))

    def add(x):
        return x + place()

    assert along(add, np.zeros(SIZE, "int32")).tolist() == [0, 1, 2]
    beside = along(imprint.vmap(add), np.zeros((SIZE, 2), "int32"))
    assert beside.tolist() == [[0, 0], [1, 1], [2, 2]]
