"""Arguments and results of `vmap`, as in JAX."""

import numpy
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, ShapeError
from tests.oracle import jax
from tests.tolerances import assert_close

ONES = numpy.ones(2, "float32")
THREE = numpy.ones(3, "float32")
ROWS = numpy.arange(6, dtype="float32").reshape(2, 3)
SOMETHING = object()


def _plus(x, y):
    return x + y


CALLS = {
    "text": lambda api: api.vmap(lambda x, s: x + len(s), (0, None))(ONES, "abc"),
    "an object": lambda api: api.vmap(lambda x, s: x + (s is SOMETHING), (0, None))(
        ONES, SOMETHING
    ),
    "a function": lambda api: api.vmap(lambda x, f: f(x), (0, None))(
        ONES, api.numpy.sin
    ),
    "None": lambda api: api.vmap(lambda x, s: x if s is None else 0)(ONES, None),
    "an index": lambda api: api.vmap(lambda x, i: x * [2.0, 3.0][i], (0, None))(
        ONES, 1
    ),
    "an array of NumPy": lambda api: api.vmap(
        lambda x, s: x * (type(s) is numpy.ndarray), (0, None)
    )(ONES, ONES),
    "text in a tree": lambda api: api.vmap(
        lambda t: t["a"] * len(t["b"]), ({"a": 0, "b": None},)
    )({"a": ONES, "b": "xyz"}),
    "text in a tree that is not mapped": lambda api: api.vmap(
        lambda x, t: x * t["a"] * len(t["b"]), (0, None)
    )(ONES, {"a": 2.0, "b": "xyz"}),
    "text, under grad": lambda api: api.grad(
        lambda x: api.vmap(lambda y, s: y * len(s), (0, None))(x, "abc").sum()
    )(ONES),
    "text, under jit": lambda api: api.jit(
        lambda x: api.vmap(lambda y, s: y * len(s), (0, None))(x, "abc")
    )(ONES),
    "a list of axes": lambda api: api.vmap(_plus, in_axes=[0, None])(ONES, 1.0),
    "a list in the axes": lambda api: api.vmap(lambda x, y: x + y[0], (0, [None]))(
        ONES, [1.0]
    ),
    "a list of axes of results": lambda api: api.vmap(lambda x: [x, x], 0, [0, 0])(
        ONES
    ),
    "a keyword": lambda api: api.vmap(_plus)(ONES, y=ONES),
    "keywords alone": lambda api: api.vmap(lambda y: y * 2)(y=ONES),
    "a size": lambda api: api.vmap(lambda: 2.0, axis_size=3)(),
    "a size and no axis": lambda api: api.vmap(lambda x: x, None, axis_size=3)(1.0),
    "a size and no axis at all": lambda api: api.vmap(
        lambda x: x * 1.0, None, None, axis_size=3
    )(1.0),
    "axes from the end": lambda api: api.vmap(lambda x: x * 2, -1, -1)(ROWS),
    "another axis of the result": lambda api: api.vmap(lambda x: x, 0, 1)(ROWS),
    "a constant result": lambda api: api.vmap(lambda x: (x, 2.0))(ONES),
    "a result that is not mapped": lambda api: api.vmap(
        lambda x: {"a": x, "b": 1.0}, 0, {"a": 0, "b": None}
    )(ONES),
    "None as a result": lambda api: api.vmap(lambda x: (x, None))(ONES),
    "a sum of what is mapped": lambda api: api.vmap(
        lambda x, y: (x, x * y, y, x), (0, None), (0, None, None, None), sum_match=True
    )(ROWS, ROWS[0]),
    "a truth as the size": lambda api: api.vmap(
        lambda: api.numpy.ones(2),
        axis_size=True,
    )(),
    "a size of nothing": lambda api: api.vmap(lambda: api.numpy.ones(2), axis_size=0)(),
    "a sum along a later axis": lambda api: api.vmap(
        lambda x: x, 1, None, sum_match=True
    )(ROWS),
    "an axis of a mesh": lambda api: api.vmap(lambda x: x, spmd_axis_name=("a", "b"))(
        ONES
    ),
    "a name that nothing uses": lambda api: api.vmap(_plus, axis_name="i")(ONES, ONES),
    "nothing": lambda api: api.vmap(lambda x: x * 2)(numpy.ones(0, "float32")),
}


@pytest.mark.parametrize("name", CALLS)
def test_mapped_and_unmapped_values(name):
    got, want = imprint.tree.leaves(CALLS[name](imprint)), CALLS[name](jax)
    for x, y in zip(got, jax.tree.leaves(want), strict=True):
        assert_close(x, jax.numpy.asarray(y), "gradient")


WRONG = {
    "text that is mapped": lambda api: api.vmap(lambda x, s: x)(ONES, "abc"),
    "text by a keyword": lambda api: api.vmap(lambda x, s: x)(ONES, s="abc"),
    "a number by a keyword": lambda api: api.vmap(_plus)(ONES, y=1.0),
    "text as a result": lambda api: api.vmap(lambda x: (x, "a"))(ONES),
    "text as a result that is not mapped": lambda api: api.vmap(
        lambda x: (x, "a"), 0, (0, None)
    )(ONES),
    "a negative size": lambda api: api.vmap(lambda: api.numpy.ones(2), axis_size=-1)(),
    "another size": lambda api: api.vmap(lambda x: x, axis_size=3)(ONES),
    "too few axes": lambda api: api.vmap(_plus, in_axes=(0,))(ONES, ONES),
    "a tree of axes that does not fit": lambda api: api.vmap(
        lambda t: t["a"], ({"a": 0},)
    )({"a": ONES, "b": 1.0}),
    "axes by name": lambda api: api.vmap(lambda x: x, in_axes={"x": 0})(ONES),
    "an axis in words": lambda api: api.vmap(lambda x: x, in_axes="a")(ONES),
    "an axis in floats": lambda api: api.vmap(lambda x: x, in_axes=0.0)(ONES),
    "no such axis": lambda api: api.vmap(lambda x: x, in_axes=1)(ONES),
    "no such axis of the result": lambda api: api.vmap(lambda x: x, 0, 2)(ROWS),
    "an axis of the result in words": lambda api: api.vmap(lambda x: x, 0, "a")(ROWS),
    "too many axes of results": lambda api: api.vmap(lambda x: (x, x), 0, (0, 0, 0))(
        ROWS
    ),
    "a mapped result without an axis": lambda api: api.vmap(lambda x: x, 0, None)(ONES),
    "a scalar": lambda api: api.vmap(lambda x: x)(1.0),
    "nothing mapped": lambda api: api.vmap(lambda x: x, in_axes=None)(1.0),
    "no argument": lambda api: api.vmap(lambda: 1.0)(),
    "unequal lengths": lambda api: api.vmap(_plus)(ONES, numpy.ones(3, "float32")),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_raises_the_error_of_jax(name):
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - its class is compared
        WRONG[name](jax)
    bases = [c for c in theirs.type.__mro__ if c.__module__ == "builtins"]
    with pytest.raises(bases[0]):
        WRONG[name](imprint)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: imprint.vmap(lambda x: {"a": 1.0, "b": (x,)}, out_axes=None)(ONES),
            "vmap(<lambda>): expected an unmapped result where out_axes is None, got one "
            "that depends on a mapped argument. Give out_axes an integer.",
        ),
        (
            lambda: imprint.vmap(lambda x: (x, x), out_axes=(0, "a"))(ONES),
            "vmap(<lambda>): expected integers or None in out_axes, got str 'a' for the "
            "result[1].",
        ),
        (
            lambda: imprint.vmap(lambda x: x, out_axes=3)(ROWS),
            "vmap(<lambda>): expected out_axes in [-2, 2) for the result, which has rank 2 "
            "with the mapped axis, got 3.",
        ),
        (
            lambda: imprint.vmap(lambda: 1.0, axis_size=-1)(),
            "vmap(<lambda>): expected axis_size to be 0 or more, got -1. Leave it out to "
            "take the size of what is mapped.",
        ),
        (
            lambda: imprint.vmap(lambda: 1.0, axis_size=2.0)(),
            "vmap(<lambda>) axis_size: expected a whole number, got float 2.0. Convert it "
            "with int().",
        ),
        (
            lambda: imprint.vmap(lambda d, z, k: z)(
                {"a": ONES, "b": THREE}, ONES, k=THREE
            ),
            "vmap(<lambda>): expected mapped axes of one length, got argument 0['a']: 2, "
            "axis 0 of float32[2]; argument 0['b']: 3, axis 0 of float32[3]; argument 1: 2, "
            "axis 0 of float32[2]; argument k: 3, axis 0 of float32[3]. Map axes of equal "
            "length, or None for arguments that are not mapped.",
        ),
        (
            lambda: imprint.vmap(lambda x: (x, "a"))(ONES),
            "<lambda>: expected to return arrays and numbers, got str 'a' as result[1]. "
            "Return only what the computation gives; keep Python values outside. For a "
            "model, there is imprint.filter_vmap.",
        ),
    ],
)
def test_the_whole_message_names_the_leaf(call, text):
    with pytest.raises((ArgumentError, ShapeError)) as caught:
        call()
    assert str(caught.value) == text


def test_a_mapped_argument_that_is_no_array_is_named():
    with pytest.raises(ArgumentError, match="got str 'abc' as argument 1"):
        imprint.vmap(lambda x, s: x)(inp.ones(2), "abc")


def test_a_user_field_hides_no_axes():
    class Net(imprint.Module):
        w: object
        b: object
        hidden_axes: int = imprint.module.field(static=True)

    net = Net(inp.ones((3, 2)), inp.ones((3, 2)), 1)
    summed = imprint.vmap(lambda net: net.w.sum() + net.b.sum(), in_axes=-1)(net)
    assert summed.tolist() == [6, 6]
    made = imprint.vmap(lambda x: Net(x, x, 1), out_axes=-1)(inp.ones((3, 2)))
    assert made.w.shape == (2, 3)


def test_a_number_that_passes_through_is_an_array():
    def second(_, n):
        return n

    n = imprint.vmap(second, in_axes=(0, None), out_axes=None)(inp.ones(2), 3)
    _, t = imprint.jvp(lambda x: x, (1.0,), (2.0,))
    assert isinstance(n, imprint.Array)
    assert isinstance(t, imprint.Array)
