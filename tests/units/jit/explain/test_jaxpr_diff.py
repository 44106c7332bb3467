"""The first difference of two jaxprs; names of variables are ignored."""

import functools

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr, check_jaxpr
from imprint._src.jit.explain.jaxpr_diff import (
    divergence_of,
    is_same_array,
    is_same_value,
)

ONES = np.ones(3, np.float32)
MANY = np.zeros((4, 100), np.float32)


def called(fun):
    return lambda x: imprint.jit(fun)(x) + 1


PROGRAMS = {
    "literal": lambda x: x * 2.0,
    "another literal": lambda x: x * 3.0,
    "zero": lambda x: x * 0.0,
    "minus zero": lambda x: x * -0.0,
    "nan": lambda x: x * np.nan,
    "another dtype": lambda x: x.astype(np.float16),
    "primitive": lambda x: inp.sin(x),
    "another primitive": lambda x: inp.cos(x),
    "two operands": lambda x: inp.concatenate([x, x])[:3],
    "three operands": lambda x: inp.concatenate([x, x, x])[:3],
    "operands": lambda x: x - inp.sin(x),
    "operands exchanged": lambda x: inp.sin(x) - x,
    "param": lambda x: x.sum(0),
    "another param": lambda x: x.sum(0, keepdims=True),
    "param of the same shape": lambda x: imprint.lax.cumsum(x),
    "another of the same shape": lambda x: imprint.lax.cumsum(x, reverse=True),
    "longer": lambda x: inp.sin(x) + 1,
    "result": lambda x: (x, inp.sin(x)),
    "results exchanged": lambda x: (inp.sin(x), x),
    "results more": lambda x: (x, inp.sin(x), x),
    "result a literal": lambda x: (x, 1.0),
    "result an integer": lambda x: (x, 1),
    "result of a strong type": lambda x: (x, np.float32(1.0)),
    "captured": lambda x: x + ONES,
    "captured of other values": lambda x: x + ONES * 2,
    "captured of another shape": lambda x: x + ONES.reshape(1, 3),
    "captured and an argument": lambda x: x + x,
    "captured at other places": lambda x: x + ONES + ONES,
    "called": called(lambda x: x * 2.0),
    "called with another literal": called(lambda x: x * 3.0),
    "called twice deep": called(called(lambda x: x * 2.0)),
    "called with a capture": called(lambda x: x * ONES),
    "called with another capture": called(lambda x: x * -ONES),
    "derived": imprint.grad(lambda x: called(inp.sin)(x).sum()),
    "derived otherwise": imprint.grad(lambda x: called(inp.cos)(x).sum()),
}


def jaxpr(fun):
    return imprint.make_jaxpr(fun)(ONES)


@pytest.mark.parametrize("name", PROGRAMS)
def test_only_a_program_traced_again_is_the_same(name):
    old = jaxpr(PROGRAMS[name])
    for other, fun in PROGRAMS.items():
        found = divergence_of(old, jaxpr(fun))
        assert (found is None) == (other == name), found
        assert (divergence_of(jaxpr(fun), old) is None) == (other == name)


def test_an_unused_constant_is_ignored():
    old = jaxpr(lambda x: x + ONES)
    extra = Jaxpr(
        *((*old.jaxpr.constvars, imprint._src.core.jaxpr.Var(old.in_avals[0])),),
        *(old.jaxpr.invars, old.jaxpr.outvars, old.eqns),
    )
    check_jaxpr(extra)
    assert divergence_of(old, ClosedJaxpr(extra, (*old.consts, ONES))) is None


def test_a_jaxpr_that_is_used_often_is_compared_once():
    def deep():
        fun = imprint.jit(lambda x: x + 1)
        for _ in range(16):  # 2^16 calls
            fun = imprint.jit(lambda x, f=fun: f(f(x)))
        return jaxpr(fun)

    assert divergence_of(deep(), deep()) is None


def text(old, new):
    found = divergence_of(jaxpr(old), jaxpr(new))
    return str(found).partition(": ")[2]


def test_the_reported_differences():
    def shifted(by):
        return lambda x: inp.sin(x) + by

    found = divergence_of(jaxpr(shifted(1.0)), jaxpr(shifted(2.0)))
    assert found.place.startswith("equation 1 of <lambda> at test_jaxpr_diff.py:")
    assert found.place.endswith(", `inp.sin(x) + by`")
    assert (found.old, found.new) == (
        "c:f32[3] = add b 1.0:f32[]",
        "c:f32[3] = add b 2.0:f32[]",
    )
    assert text(lambda x: x, lambda x: x + 1) == (
        "no equation → b:f32[3] = add a 1.0:f32[]"
    )
    assert text(lambda x: (x, x), lambda x: (x,)) == (
        "(float32[3], float32[3]) → (float32[3])"
    )
    assert text(lambda x: (x, 1.0), lambda x: (x, x[0] * 0))[:15] == "no equation → b"
    assert text(lambda x: (1.0,), lambda x: (2.0,)) == "1.0:f32[] → 2.0:f32[]"
    assert text(lambda x: x, lambda x: ONES) == "argument 0 → a captured float32[3]"


def test_values_of_captured_arrays_are_reported():
    def plus(array):
        return lambda x: x[0] + array

    other = MANY.copy()
    other[1, 2] = 5
    other[3, 4] = np.nan
    assert text(plus(ONES), plus(2 * ONES)) == "[1. 1. 1.] → [2. 2. 2.]"
    assert text(plus(MANY), plus(other)) == (
        "[1, 2] is 0.0 → 5.0 (2 of 400 elements differ)"
    )
    assert text(lambda x: MANY, lambda x: MANY.astype(np.int32)) == (
        "float32[4,100] → int32[4,100]"
    )


def test_a_deleted_array_is_compared_by_its_aval():
    x = inp.asarray(ONES) + 0
    x.delete()
    for other in (x, ONES, inp.asarray(ONES)):
        assert is_same_array(x, other)
        assert is_same_array(other, x)
    assert not is_same_array(x, ONES.astype(np.float16))
    assert not is_same_array(x, ONES[:2])


class Point:
    def __init__(self, x):
        self.x = x


def adder(by):
    return lambda x: x + by


VALUES = {
    "int": lambda: 1,
    "bool": lambda: True,
    "float": lambda: 1.0,
    "another": lambda: 2.0,
    "zero": lambda: 0.0,
    "minus zero": lambda: -0.0,
    "nan": lambda: float("nan"),
    "text": lambda: "1",
    "tuple": lambda: (1, 2),
    "list": lambda: [1, 2],
    "dict": lambda: {"a": [1]},
    "another dict": lambda: {"a": [2]},
    "dtype": lambda: np.dtype("float32"),
    "another dtype": lambda: np.dtype("float16"),
    "function": lambda: adder(1),
    "another function": lambda: adder(2),
    "partial": lambda: functools.partial(adder, 1),
    "another partial": lambda: functools.partial(adder, 2),
    "object": lambda: Point(1),
    "another object": lambda: Point(2),
    "object in an object": lambda: Point(Point(1)),
    "array": lambda: np.zeros(3),
    "another array": lambda: np.array([0.0, -0.0, 0.0]),
    "large array": lambda: np.zeros(1000),
    "another large array": lambda: np.arange(1000.0),
}


@pytest.mark.parametrize("name", VALUES)
def test_only_a_recreated_value_is_the_same(name):
    for other, make in VALUES.items():
        assert is_same_value(VALUES[name](), make()) == (name == other), other
