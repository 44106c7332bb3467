"""Lowering: shared constants of literals, and source locations."""

import numpy as np

import imprint
import imprint.numpy as inp


def test_equal_literals_of_different_types_stay_separate():
    """0.0, -0.0 and 0 are equal, and so are the bits of 0.0 and of 0."""

    @imprint.jit
    def compared(x, n):
        return x / 0.0, x / -0.0, inp.maximum(x, 0.0), inp.maximum(n, 0)

    by_zero, by_minus_zero, x, n = compared(inp.ones(()), inp.asarray(-1))
    assert (by_zero, by_minus_zero, x, n) == (np.inf, -np.inf, 1, 0)


def test_literals_of_one_dtype_and_one_value_are_one_constant():
    text = imprint.jit(lambda x: (x + 2.0) * 2.0 - 2.0).lower(inp.ones(3)).as_text()
    assert text.count("dense<") == 1
