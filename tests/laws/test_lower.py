"""Law 2: `lower`, compiled and run, equals `reference`; every dtype, edges included."""

import pytest

from tests.laws.law import (
    EVERY,
    assert_agree,
    compiled,
    every_primitive,
    for_draws,
    over,
)
from tests.strategies import Share, calls, operands, pinned_operands

pytestmark = pytest.mark.slow


def law(primitive, share=Share.ALL):
    every = calls(primitive, share)
    run = compiled(every)

    def check(values):
        for call, arrays, got in zip(every, values, run(values), strict=True):
            assert_agree(call, arrays, got, call.reference(*arrays))

    for values in pinned_operands(every):
        check(values)
    for_draws(operands(every), check, examples=4)


@every_primitive
def test_compiled_equals_reference(primitive):
    law(primitive, Share.QUICK)


@pytest.mark.exhaustive
@over([p for p in EVERY if calls(p, Share.FURTHER)])
def test_compiled_equals_reference_in_further_dtypes(primitive):
    law(primitive, Share.FURTHER)
