"""Law 3: `reference` equals JAX, an oracle we did not write.

So do the weak types of results, and which dtypes an elementwise primitive takes.
"""

import itertools

import numpy as np
import pytest
from hypothesis import strategies as st

from imprint import dtypes
from imprint.core.aval import ShapedArray, get_aval
from imprint.core.tangents import is_zero, zero_of
from imprint.dtypes import is_inexact
from tests import oracle
from tests.laws.law import assert_agree, every_primitive, for_draws
from tests.strategies import (
    calls,
    calls_of_each_shape,
    directions,
    operands,
    pinned_operands,
    smooth_calls,
)
from tests.tolerances import assert_within, tolerance

pytestmark = pytest.mark.slow


def law(primitive):
    every = calls(primitive)
    run = oracle.compiled(every)

    def check(values):
        for call, arrays, want in zip(every, values, run(values), strict=True):
            assert_agree(call, arrays, call.reference(*arrays), want)

    check(pinned_operands(every))
    for_draws(operands(every), check, examples=10)


def law_of_derivatives(primitive):
    """The derivative at edges (ties, 0, 1) is a convention: JAX's."""
    every = smooth_calls(primitive)
    run = oracle.compiled_jvp(every)

    def check(drawn):
        values, directions = drawn
        given = [
            [t for t in tangents if is_inexact(t.dtype)] for tangents in directions
        ]
        for call, xs, ts, want in zip(
            every, values, directions, run(values, given), strict=True
        ):
            zeros = [
                t if is_inexact(t.dtype) else zero_of(get_aval(x))
                for x, t in zip(xs, ts, strict=True)
            ]
            _, got = primitive.jvp(xs, zeros, **call.params)
            got = [
                np.zeros(t.aval.shape, t.aval.dtype) if is_zero(t) else t
                for t in got
                if t.aval.dtype.kind in "fc"
            ]
            with_note(call, xs, got, want)

    tangents = st.tuples(*[directions(call.avals) for call in every])
    pinned = pinned_operands(every)
    for_draws(tangents.map(lambda ts: (pinned, ts)), check, examples=1)


def law_of_weak_types(primitive):
    for call in calls_of_each_shape(primitive):
        for weak in itertools.product((False, True), repeat=len(call.avals)):
            avals = [
                ShapedArray(a.shape, a.dtype, w and a.dtype.kind != "b")
                for a, w in zip(call.avals, weak, strict=True)
            ]
            ours = primitive.aval(*avals, **call.params)
            theirs = oracle.out_avals(primitive.name, call.params, avals)
            assert list(map(_typed, ours)) == list(map(_typed, theirs)), (call, weak)


def with_note(call, xs, got, want):
    for a, b in zip(got, want, strict=True):
        try:
            assert_within(a, b, tolerance(b.dtype, "gradient"))
        except AssertionError as err:
            err.add_note(f"tangent of {call} at {xs}")
            raise


def _typed(aval):
    return aval.shape, aval.dtype, aval.weak_type


DTYPES = [
    d for d in dtypes.ALL if d.itemsize > 1 or d.name in ("bool", "int8", "uint8")
]


def law_of_dtypes(primitive):
    arity = primitive.samples.arity

    def taken(avals_rule):
        for dtype in DTYPES:
            try:
                avals_rule([ShapedArray((2,), dtype)] * arity)
            except TypeError:
                continue
            yield dtype.name

    ours = set(taken(lambda avals: primitive.aval(*avals)))
    theirs = set(taken(lambda avals: oracle.out_avals(primitive.name, {}, avals)))
    assert ours == theirs
    assert ours == set(primitive.samples.dtypes)


@every_primitive
def test_reference_equals_jax(primitive):
    law(primitive)


@every_primitive
def test_derivatives_equal_those_of_jax(primitive):
    if primitive.samples.differentiable:
        law_of_derivatives(primitive)


@every_primitive
def test_weak_types_are_those_of_jax(primitive):
    law_of_weak_types(primitive)


@every_primitive
def test_dtypes_are_those_of_jax(primitive):
    if not primitive.samples.cases:
        law_of_dtypes(primitive)
