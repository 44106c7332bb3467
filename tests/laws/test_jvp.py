"""Law 5: `jvp` equals central differences in float64, also along complex directions.

The rule gets concrete operands, and tracers in the derived jaxpr; each mix of operands
has tangents, the others are symbolically zero. In every dtype a tangent has the aval that
its value demands. A primitive that is not differentiable raises or gives zero.
"""

import itertools

import numpy as np
from hypothesis import strategies as st

from imprint import dtypes as dt
from imprint._src.core.aval import get_aval
from imprint._src.core.jaxpr import eval_jaxpr
from imprint._src.core.tangents import is_zero, tangent_aval, zero_of
from imprint._src.interpreters.jvp import jvp_jaxpr
from imprint.errors import AbsentRuleError
from tests.laws.law import about, every_primitive, for_draws, staged
from tests.strategies import Call, calls, directions, smooth_calls, smooth_operands
from tests.tolerances import FINITE_DIFFERENCE, assert_within, tolerance

STEP = 1e-6


def law(primitive):
    found = smooth_calls(primitive)
    assert found, (
        "expected a call in float64: list the dtype, or say differentiable=False"
    )
    for call in found:
        law_of_call(call)


def law_of_call(call):
    closed = staged([call])
    derived = {active: jvp_jaxpr(closed, active) for active in mixes(call.avals)}

    def check(drawn):
        primals, tangents = drawn
        for active, (program, nonzero) in derived.items():
            given = [t for t, on in zip(tangents, active, strict=True) if on]
            outs = iter(eval_jaxpr(program.jaxpr, program.consts, *primals, *given))
            traced = [next(outs) for _ in nonzero], [next(outs) for on in nonzero if on]
            masked = [
                t if on else zero_of(get_aval(x))
                for x, t, on in zip(primals, tangents, active, strict=True)
            ]
            with about(call, [*primals, *masked]):
                check_rule(call, primals, masked, traced)

    for_draws(
        st.tuples(smooth_operands(call), directions(call.avals)), check, examples=3
    )


def check_rule(call, primals, tangents, traced):
    outs, out_tangents = call.primitive.jvp(primals, tangents, **call.params)
    for got, want in zip(outs, call.reference(*primals), strict=True):
        assert_within(got, want, tolerance(want.dtype, "gradient"))
    given = [t for t in out_tangents if not is_zero(t)]
    for got, want in zip([*traced[0], *traced[1]], [*outs, *given], strict=True):
        assert_within(got, want, tolerance(got.dtype, "gradient"))
    differences = central_differences(call, primals, tangents)
    for t, want, aval in zip(out_tangents, differences, call.out_avals, strict=True):
        assert (t.aval if is_zero(t) else get_aval(t).unplaced()) is tangent_aval(
            aval
        ), call
        if dt.is_inexact(aval.dtype):
            got = np.zeros(aval.shape) if is_zero(t) else np.asarray(t)
            assert_within(got.astype(want.dtype), want, FINITE_DIFFERENCE)


def central_differences(call, primals, tangents):
    def at(step):
        moved = [
            x if is_zero(t) else x + step * t
            for x, t in zip(primals, tangents, strict=True)
        ]
        return call.reference(*map(np.asarray, moved))

    ends = zip(at(STEP), at(-STEP), strict=True)
    return [
        np.subtract(ahead, behind) / (2 * STEP) if dt.is_inexact(ahead.dtype) else None
        for ahead, behind in ends
    ]


def mixes(avals):
    """Return which operands have a tangent: every mix of the inexact ones, few if many."""
    inexact = [dt.is_inexact(a.dtype) for a in avals]
    every = itertools.product(*[(False, True) if on else (False,) for on in inexact])
    if sum(inexact) > 3:
        every = [[i == k for i in range(len(avals))] for k in range(len(avals))]
        every = [tuple(mix) for mix in every if inexact[mix.index(True)]]
        every.append(tuple(inexact))
    return [tuple(mix) for mix in every if any(mix)]


def law_of_avals(primitive):
    for call in calls(primitive):
        for avals in (call.avals, tuple(map(weak, call.avals))):
            closed = staged([Call(primitive, avals, call.params)])
            for active in mixes(avals):
                program, nonzero = jvp_jaxpr(closed, active)
                want = itertools.compress(map(tangent_aval, closed.out_avals), nonzero)
                came = program.out_avals[len(nonzero) :]
                assert [a.strong() for a in came] == [a.strong() for a in want], call


def weak(aval):
    return aval.with_dtype(aval.dtype, weak_type=not dt.is_bool(aval.dtype))


def law_of_no_derivative(primitive):
    for call in calls(primitive):
        for active in mixes(call.avals):
            try:
                _, nonzero = jvp_jaxpr(staged([call]), active)
            except AbsentRuleError:
                continue
            assert not any(nonzero), call


@every_primitive
def test_jvp_equals_central_differences(primitive):
    samples = primitive.samples
    if not samples.differentiable:
        law_of_no_derivative(primitive)
    elif not samples.conventional:
        law(primitive)


@every_primitive
def test_tangents_have_the_avals_of_their_values(primitive):
    if primitive.samples.differentiable:
        law_of_avals(primitive)
