"""Backward passes over programs that are not all linear: known parts run forwards."""

import numpy as np

import imprint.numpy as inp
from imprint._src.core.aval import ShapedArray
from imprint._src.core.tangents import UndefinedPrimal, Zero, is_zero
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.interpreters.transpose import backward_pass, transpose_jaxpr
from tests.tolerances import assert_close

VECTOR = ShapedArray((3,), np.dtype("float32"))
KNOWN = np.array([0.5, 1.0, 2.0], "float32")
CT = np.array([1.0, -1.0, 3.0], "float32")


def half_linear():
    def function(known, t, unused):
        factor = inp.sin(known) + 1
        return [t * factor + t, unused * 0]

    return stage(function, [VECTOR] * 3, DebugInfo("transpose", "half_linear"))


def test_known_equations_are_evaluated_and_linear_ones_transposed():
    closed = half_linear()
    args = [KNOWN, UndefinedPrimal(VECTOR), UndefinedPrimal(VECTOR)]
    cts = backward_pass(closed.jaxpr, closed.consts, args, [CT, Zero(VECTOR)])
    assert cts[0] is None
    assert_close(cts[1], CT * (np.sin(KNOWN) + 2), "program")
    assert is_zero(cts[2])
    assert cts[2].aval is VECTOR


def test_the_derived_jaxpr_leaves_out_cotangents_that_are_zero():
    derived, given = transpose_jaxpr(
        half_linear(), linear=(False, True, True), nonzero=(True, False)
    )
    assert given == (True, False)
    assert derived.in_avals == (VECTOR, VECTOR)
    assert derived.out_avals == (VECTOR,)
