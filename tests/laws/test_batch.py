"""Law 4: `vmap(f)` equals a stacked loop, for every axis and every mix of operands.

The batched program is derived as a jaxpr, so that the rule gets tracers and the checker
sees its equations; then it runs eagerly. The hidden axis has a length that no other axis
has, so that its position in a result can be checked.
"""

import itertools
import math

import numpy as np
import pytest

from imprint._src.core.jaxpr import eval_jaxpr
from imprint._src.interpreters.batching import batch_jaxpr
from tests.laws.law import EVERY, assert_agree, every_primitive, for_draws, over, staged
from tests.strategies import Call, calls_of_each_shape, operands

pytestmark = pytest.mark.slow

QUICK_MIXES = 24  # of a call; there are more where operands have many axes


def law(primitive, mixes=None):
    for call in calls_of_each_shape(primitive):
        if call.avals:
            law_of_call(call, mixes)


def law_of_call(call, count=None):
    """Hold a call to the law, in `count` of its mixes of axes, spread over all of them."""
    size = next(
        n for n in (3, 2, 5, 7, 11) if not any(n in a.shape for a in call.avals)
    )
    stacked = [a.with_shape((size, *a.shape)) for a in call.avals]
    drawn = operands([Call(call.primitive, tuple(stacked), call.params)])
    closed = staged([call])
    mixes = mixes_of(call)[:: 1 if count is None else stride_of(call, count)]
    derived = [(dims, *batch_jaxpr(closed, size, dims)) for dims in mixes]

    def check(values):
        (arrays,) = values
        for dims, program, out_dims in derived:
            args = [
                x[0] if d is None else np.moveaxis(x, 0, d)
                for x, d in zip(arrays, dims, strict=True)
            ]
            outs = eval_jaxpr(program.jaxpr, program.consts, *args)
            for i in range(size):
                at = [
                    x[0 if d is None else i] for x, d in zip(arrays, dims, strict=True)
                ]
                got = [
                    x if d is None else np.take(x, i, d)
                    for x, d in zip(map(np.asarray, outs), out_dims, strict=True)
                ]
                assert_agree(call, at, got, call.reference(*at))

    for_draws(drawn, check, examples=2)


def mixes_of(call):
    axes = [(None, *range(a.ndim + 1)) for a in call.avals]
    return [dims for dims in itertools.product(*axes) if set(dims) != {None}]


def stride_of(call, count):
    """Return a step through all mixes that reaches each axis of each operand."""
    least = -(-len(mixes_of(call)) // count)
    choices = math.prod(a.ndim + 2 for a in call.avals)
    return next(n for n in itertools.count(least) if math.gcd(n, choices) == 1)


@every_primitive
def test_vmap_equals_a_stacked_loop(primitive):
    law(primitive, QUICK_MIXES)


@pytest.mark.exhaustive
@over(
    [
        p
        for p in EVERY
        if any(len(mixes_of(c)) > QUICK_MIXES for c in calls_of_each_shape(p))
    ]
)
def test_vmap_of_every_mix_equals_a_stacked_loop(primitive):
    law(primitive)
