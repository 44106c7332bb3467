"""Law 6: `⟨ct, jvp(t)⟩ = ⟨vjp(ct), t⟩`, with `⟨a, b⟩ = Re Σ a b`, for every mix.

The vjp is that of `grad`: linearize eagerly, then run the tangent program backwards;
and once more by the derived jaxprs, where the rules get tracers. In every dtype a
cotangent has the aval of its operand's tangent.
"""

import itertools
from functools import partial

import numpy as np
from hypothesis import strategies as st

from imprint._src.core.aval import get_aval
from imprint._src.core.jaxpr import eval_jaxpr
from imprint._src.core.tangents import UndefinedPrimal, Zero, is_zero, tangent_aval
from imprint._src.interpreters.linearize import linearize_flat, linearize_jaxpr
from imprint._src.interpreters.trace_to_jaxpr import hoist_consts
from imprint._src.interpreters.transpose import backward_pass, transpose_jaxpr
from tests.laws.law import about, every_primitive, for_draws, staged
from tests.laws.test_jvp import mixes
from tests.strategies import calls, directions, smooth_calls, smooth_operands
from tests.tolerances import assert_within, tolerance


def law(primitive):
    for call in smooth_calls(primitive):
        every = [
            smooth_operands(call),
            directions(call.avals),
            directions(call.out_avals),
        ]
        for_draws(st.tuples(*every), partial(check, call), examples=3)


def check(call, drawn):
    primals, tangents, cts = drawn
    for active in mixes(call.avals):
        lin = linearize_flat(call.bind, primals, active)
        given = list(itertools.compress(tangents, active))
        pushed = eval_jaxpr(lin.tangent.jaxpr, lin.tangent.consts, *given)
        own = list(itertools.compress(cts, lin.nonzero))
        for some in mixes_of_cotangents(own):
            with about(call, [*primals, *some]):
                pulled = pull(lin.tangent, given, some)
                assert_same(pulled, pull_by_jaxprs(lin.tangent, given, some))
                assert_paired((some, pushed), (pulled, given))


def mixes_of_cotangents(cts):
    """Return all of them, and each alone with symbolic zeros."""
    zeros = [Zero(get_aval(ct)) for ct in cts]
    alone = [[*zeros[:k], ct, *zeros[k + 1 :]] for k, ct in enumerate(cts)]
    return [cts, *alone] if len(cts) > 1 else [cts]


def pull(tangent, tangents, cts):
    """Return the cotangents of a tangent program's arguments, evaluated eagerly."""
    linear = [UndefinedPrimal(get_aval(t)) for t in tangents]
    pulled = backward_pass(tangent.jaxpr, tangent.consts, linear, cts)
    avals = [aval_of(ct).unplaced() for ct in pulled]
    assert avals == [x.aval.unplaced() for x in linear]
    return pulled


def pull_by_jaxprs(tangent, tangents, cts):
    """Return the same cotangents by the derived jaxpr of the transposed program."""
    known = len(tangent.consts)
    nonzero = tuple(not is_zero(ct) for ct in cts)
    linear = (False,) * known + (True,) * len(tangents)
    program, given_back = transpose_jaxpr(hoist_consts(tangent), linear, nonzero)
    some = itertools.compress(cts, nonzero)
    outs = iter(eval_jaxpr(program.jaxpr, program.consts, *tangent.consts, *some))
    return [next(outs) if given else None for given in given_back]


def assert_same(eager, derived):
    for a, b in zip(eager, derived, strict=True):
        assert is_zero(a) == (b is None)
        if b is not None:
            assert_within(a, np.asarray(b), tolerance(a.dtype, "gradient"))


def assert_paired(pushed, pulled):
    """Assert that two pairs of lists have the same inner product."""
    left, right = (
        [
            np.real(np.asarray(a) * np.asarray(b))
            for a, b in zip(*pair, strict=True)
            if not is_zero(a)
        ]
        for pair in (pushed, pulled)
    )
    a, b = (sum(map(np.sum, side)) for side in (left, right))
    size = sum(np.sum(np.abs(x)) for x in left)
    rtol, _ = tolerance(np.float64, "gradient")
    assert abs(a - b) <= rtol * (1 + size), f"<ct, jvp(t)> = {a}, <vjp(ct), t> = {b}"


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
    samples = primitive.samples
    if samples.differentiable and not samples.conventional:
        law(primitive)


@every_primitive
def test_cotangents_have_the_avals_of_tangents(primitive):
    if primitive.samples.differentiable:
        law_of_avals(primitive)
