"""Law 7: `jit(f)` equals `f`, and a second call with equal avals does not trace."""

from functools import partial

import pytest

import imprint
from tests.laws.law import assert_agree, every_primitive, for_draws
from tests.quick import options_of
from tests.strategies import calls_of_each_shape, operands, pinned_operands

pytestmark = pytest.mark.slow


def law(primitive):
    every = calls_of_each_shape(primitive)
    traces = []

    @partial(imprint.jit, compiler_options=options_of(primitive))
    def program(values):
        traces.append(values)
        return [call.bind(*xs) for call, xs in zip(every, values, strict=True)]

    def check(values):
        for call, xs, got in zip(every, values, program(values), strict=True):
            assert_agree(call, xs, got, call.bind(*xs))

    for values in pinned_operands(every):
        check(values)
    for_draws(operands(every), check, examples=2)
    assert len(traces) == 1, f"{primitive} was traced {len(traces)} times"


@pytest.mark.sampled(3)  # test_lower compiles all of them
@every_primitive
def test_jit_equals_eager_and_traces_once(primitive):
    law(primitive)
