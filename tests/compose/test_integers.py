"""Integer arguments next to differentiated ones: their tangents have the dtype float0."""

import numpy
import pytest

import imprint
from imprint import dtypes
from tests.oracle import jax
from tests.tolerances import assert_close

X = numpy.array([0.5, -1.5, 2.0], "float32")
COUNTS = numpy.array([3, 1, 2], "int32")
NOTHING = numpy.zeros(3, dtypes.float0)


def function(x, counts):
    return (x * counts).sum() + (counts * 2).sum()


def compositions(api):
    def pulled(x, counts):
        return api.vjp(function, x, counts)[1](numpy.float32(2))

    return {
        "grad": api.grad(function, argnums=(0, 1), allow_int=True),
        "vjp": pulled,
        "grad of jit": api.grad(api.jit(function), argnums=(0, 1), allow_int=True),
        "jvp": lambda *xs: api.jvp(function, xs, (X, NOTHING)),
        "jvp of jit": lambda *xs: api.jvp(api.jit(function), xs, (X, NOTHING)),
        "vmap of grad": api.vmap(api.grad(lambda x, n: x * n * n)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", compositions(imprint))
def test_an_integer_has_a_float0_tangent(name):
    ours = compositions(imprint)[name](X, COUNTS)
    theirs = compositions(jax)[name](X, COUNTS)
    for got, want in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        if want.dtype == dtypes.float0:
            assert (got.shape, got.dtype) == (want.shape, dtypes.float0)
        else:
            assert_close(got, want, "gradient")
