"""Law 1: `aval` predicts shape and dtype of `reference`.

A reference takes any memory layout and mutates nothing: it gets read-only operands, in
the order of C and of Fortran, and gives the same results.
"""

import numpy as np

from tests.laws.law import assert_agree, every_primitive, for_draws
from tests.strategies import calls, operands, pinned_operands


def law(primitive):
    every = calls(primitive)

    def check(values):
        for call, arrays in zip(every, values, strict=True):
            outs = call.reference(*map(_read_only, arrays))
            assert primitive.multiple_results or len(outs) == 1, call
            came = [(out.shape, out.dtype) for out in outs]
            assert came == [(a.shape, a.dtype) for a in call.out_avals], call
            other = call.reference(*(_read_only(_reordered(x)) for x in arrays))
            assert_agree(call, arrays, other, outs)

    for values in pinned_operands(every):
        check(values)
    for_draws(operands(every), check, examples=3)


def _read_only(x):
    view = x.view()
    view.flags.writeable = False
    return view


def _reordered(x):
    return np.asarray(x, order="F")


@every_primitive
def test_aval_predicts_reference(primitive):
    law(primitive)
