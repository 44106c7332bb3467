"""Python's `if` and `while` on values: derivatives outside jit follow them.

Under grad and jvp a value is known while the function runs, so ordinary Python decides;
nested derivatives too. Only jit and vmap make values abstract.
"""

import numpy
import pytest

import imprint
from tests.oracle import jax
from tests.tolerances import assert_close

POINTS = [
    numpy.array([1.0, 2.0, 0.5], "float32"),
    numpy.array([-3.0, 1.0, 0.5], "float32"),
]


def branching(np):
    def function(x):
        if np.sum(x) > 0:
            return np.sum(x**3)
        steps = 0
        while np.max(x) < 10.0:
            x = x * x + 1.5
            steps += bool(x[0] > 1)
        return np.sum(x) * steps

    return function


def compositions(api):
    f = branching(api.numpy)
    ones = numpy.ones(3, "float32")

    return {
        "grad": api.grad(f),
        "grad of grad": api.grad(lambda x: api.numpy.sum(api.grad(f)(x))),
        "jvp of grad": lambda x: api.jvp(api.grad(f), (x,), (ones,))[1],
    }


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS, ids=["one way", "other way"])
@pytest.mark.parametrize("name", compositions(imprint))
def test_python_branches_can_be_differentiated(name, point):
    got = compositions(imprint)[name](point)
    assert_close(got, compositions(jax)[name](point), "gradient")
