"""Law 3: `reference` equals JAX, an oracle we did not write.

So do the weak types of results, and which dtypes an elementwise primitive takes.
"""

import itertools

import numpy as np
import pytest
from hypothesis import strategies as st

from imprint import dtypes
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.tangents import zero_of
from imprint._src.primitives.core_ops import instantiate
from imprint.dtypes import is_inexact
from tests import oracle
from tests.laws.law import EVERY, about, assert_agree, for_draws, over
from tests.strategies import (
    Share,
    calls,
    calls_at_edges,
    calls_of_each_shape,
    directions,
    operands,
    pinned_operands,
)
from tests.tolerances import assert_within, tolerance

pytestmark = pytest.mark.slow

OF_JAX = [p for p in EVERY if p.name not in oracle.OF_SCIPY]
every_primitive_of_jax = over(OF_JAX)


def law(primitive, share=Share.ALL):
    every = calls(primitive, share)
    run = oracle.compiled(every)

    def check(values):
        for call, arrays, want in zip(every, values, run(values), strict=True):
            assert_agree(call, arrays, call.reference(*arrays), want)

    for values in pinned_operands(every):
        check(values)
    for_draws(operands(every), check, examples=4)


def law_of_derivatives(primitive):
    """The derivative at kinks, ties and zeros of reals is a convention: JAX's.

    On complex numbers law 5 decides: JAX's own rules are wrong in some half planes.
    """
    every = calls_at_edges(primitive)
    run = oracle.compiled_jvp(every)
    rounds = [
        [tuple(map(finite, xs)) for xs in values] for values in pinned_operands(every)
    ]

    def check(drawn):
        given = [[t for t in ts if is_inexact(t.dtype)] for ts in drawn]
        for values in rounds:
            theirs = run(values, given)
            for call, xs, ts, want in zip(every, values, drawn, theirs, strict=True):
                assert_tangents_agree(call, xs, ts, want)

    drawn = [directions(call.avals) for call in every]
    for_draws(st.tuples(*drawn), check, examples=1)


def finite(x):
    return np.where(np.isfinite(x), x, np.ones_like(x))


def assert_tangents_agree(call, xs, tangents, want):
    masked = [
        t if is_inexact(t.dtype) else zero_of(get_aval(x))
        for x, t in zip(xs, tangents, strict=True)
    ]
    outs, ours = call.primitive.jvp(xs, masked, **call.params)
    compared = [
        (np.isfinite(np.asarray(out)), np.asarray(instantiate(t)))
        for out, t in zip(outs, ours, strict=True)
        if is_inexact(out.dtype)
    ]
    with about(call, xs):
        for (defined, got), theirs in zip(compared, want, strict=True):
            assert got.shape == theirs.shape
            allowed = tolerance(theirs.dtype, "gradient")
            assert_within(got[defined], theirs[defined], allowed)


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
    # JAX's shape rules take some dtypes that its lowering then refuses.
    assert ours == {d for d in theirs if d in ours or oracle.runs(primitive, d)}
    assert ours == set(primitive.samples.dtypes)


@every_primitive_of_jax
def test_reference_equals_jax(primitive):
    law(primitive, Share.QUICK)


@pytest.mark.exhaustive
@over([p for p in OF_JAX if calls(p, Share.FURTHER)])
def test_reference_equals_jax_in_further_dtypes(primitive):
    law(primitive, Share.FURTHER)


@every_primitive_of_jax
def test_derivatives_equal_those_of_jax(primitive):
    known = primitive.name not in oracle.WITHOUT_DERIVATIVE
    if primitive.samples.differentiable and known:
        law_of_derivatives(primitive)


@every_primitive_of_jax
def test_weak_types_are_those_of_jax(primitive):
    if primitive.name not in oracle.WITHOUT_WEAK_TYPE:
        law_of_weak_types(primitive)


@every_primitive_of_jax
def test_dtypes_are_those_of_jax(primitive):
    if not primitive.samples.cases:
        law_of_dtypes(primitive)


def test_bind_returns_one_result_or_a_list_as_in_jax():
    same = [(p, oracle.PRIMITIVES.get(p.name)) for p in OF_JAX]
    both = [(p, q) for p, q in same if getattr(q, "name", "") == p.name]
    assert len(both) > 100
    assert not [p.name for p, q in both if p.multiple_results != q.multiple_results]
