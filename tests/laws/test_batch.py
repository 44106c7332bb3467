"""Law 4: `vmap(f)` equals a stacked loop, for every axis and every mix of operands.

The batched program is derived as a jaxpr, so that the rule meets tracers and the checker
sees its equations; then it runs eagerly. The hidden axis has a length that no other axis
has, so that a result says whether it is where the rule says.
"""

import itertools

import numpy as np
import pytest

from imprint.core.jaxpr import eval_jaxpr
from imprint.transforms.batch import batch_jaxpr
from tests.laws.law import assert_agree, every_primitive, for_draws, staged
from tests.strategies import Call, calls_of_each_shape, operands

pytestmark = pytest.mark.slow


def law(primitive):
    for call in calls_of_each_shape(primitive):
        if call.avals:
            law_of_call(call)


def law_of_call(call):
    size = next(
        n for n in (3, 2, 5, 7, 11) if not any(n in a.shape for a in call.avals)
    )
    stacked = [a.with_shape((size, *a.shape)) for a in call.avals]
    drawn = operands([Call(call.primitive, tuple(stacked), call.params)])
    closed = staged([call])
    axes = [(None, *range(a.ndim + 1)) for a in call.avals]
    mixes = [dims for dims in itertools.product(*axes) if set(dims) != {None}]
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


@every_primitive
def test_vmap_equals_a_stacked_loop(primitive):
    law(primitive)
