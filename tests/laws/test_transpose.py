"""Law 6: `⟨ct, jvp(t)⟩ = ⟨vjp(ct), t⟩`, with `⟨a, b⟩ = Re Σ a b`, for every mix.

The vjp is what `grad` does: linearize eagerly, then run the tangent program backwards;
and once more by the derived jaxprs, where the rules meet tracers. In every dtype a
cotangent has the aval of its operand's tangent.
"""

import numpy as np
from hypothesis import strategies as st

from imprint.core.aval import get_aval
from imprint.core.jaxpr import eval_jaxpr
from imprint.core.tangents import Linear, Zero, is_zero, tangent_aval
from imprint.transforms.linearize import linearize_flat, linearize_jaxpr
from imprint.transforms.staging import hoist_consts
from imprint.transforms.transpose import backward_pass, transpose_jaxpr
from tests.laws.law import every_primitive, for_draws, staged
from tests.laws.test_jvp import mixes
from tests.strategies import calls, directions, smooth_calls, smooth_operands
from tests.tolerances import assert_within, tolerance


def law(primitive):
    for call in smooth_calls(primitive):
        drawn = st.tuples(
            smooth_operands(call), directions(call.avals), directions(call.out_avals)
        )
        for_draws(drawn, lambda draw, call=call: check(call, *draw), examples=3)


def check(call, primals, tangents, cts):
    for active in mixes(call.avals):
        lin = linearize_flat(call.bind, primals, active)
        given = [t for t, on in zip(tangents, active, strict=True) if on]
        pushed = eval_jaxpr(lin.tangent.jaxpr, lin.tangent.consts, *given)
        linear = [Linear(get_aval(t)) for t in given]
        own = [ct for ct, on in zip(cts, lin.nonzero, strict=True) if on]
        for kept in ct_mixes(len(own)):
            some = [
                ct if on else Zero(get_aval(ct))
                for ct, on in zip(own, kept, strict=True)
            ]
            pulled = backward_pass(lin.tangent.jaxpr, lin.tangent.consts, linear, some)
            assert [aval_of(ct) for ct in pulled] == [x.aval for x in linear], call
            pairing(call, (some, pushed), (pulled, given))
            same(call, pulled, by_jaxprs(lin.tangent, len(given), some))


def ct_mixes(count):
    alone = [[i == k for i in range(count)] for k in range(count)] if count > 1 else []
    return [[True] * count, *alone]


def pairing(call, left, right):
    products = [
        [
            np.real(np.asarray(a) * np.asarray(b))
            for a, b in zip(*side, strict=True)
            if not is_zero(a)
        ]
        for side in (left, right)
    ]
    a, b = (sum(map(np.sum, side)) for side in products)
    size = sum(np.sum(np.abs(x)) for x in products[0])
    rtol, _ = tolerance(np.float64, "gradient")
    assert abs(a - b) <= rtol * (1 + size), (
        f"{call}: <ct, jvp(t)> = {a}, <vjp(ct), t> = {b}"
    )


def by_jaxprs(tangent, count, cts):
    """Return the cotangents by the derived jaxpr of the transposed tangent program."""
    known = len(tangent.consts)
    nonzero = tuple(not is_zero(ct) for ct in cts)
    linear = (False,) * known + (True,) * count
    program, given_back = transpose_jaxpr(hoist_consts(tangent), linear, nonzero)
    some = [ct for ct in cts if not is_zero(ct)]
    outs = iter(eval_jaxpr(program.jaxpr, program.consts, *tangent.consts, *some))
    return [next(outs) if given else None for given in given_back]


def same(call, eager, derived):
    for a, b in zip(eager, derived, strict=True):
        if is_zero(a):
            assert b is None, call
        else:
            assert_within(a, np.asarray(b), tolerance(a.dtype, "gradient"))


def aval_of(ct):
    return ct.aval if is_zero(ct) else get_aval(ct)


def law_of_avals(primitive):
    for call in calls(primitive):
        closed = staged([call])
        for active in mixes(call.avals):
            split = linearize_jaxpr(closed, active)
            given = [
                tangent_aval(a) for a, on in zip(call.avals, active, strict=True) if on
            ]
            residuals = len(split.tangent.in_avals) - len(given)
            linear = (False,) * residuals + (True,) * len(given)
            nonzero = (True,) * len(split.tangent.out_avals)
            program, back = transpose_jaxpr(split.tangent, linear, nonzero)
            want = [a for a, on in zip(given, back, strict=True) if on]
            assert list(program.out_avals) == want, call


@every_primitive
def test_vjp_is_the_transpose_of_jvp(primitive):
    if primitive.samples.differentiable:
        law(primitive)


@every_primitive
def test_cotangents_have_the_avals_of_tangents(primitive):
    if primitive.samples.differentiable:
        law_of_avals(primitive)
