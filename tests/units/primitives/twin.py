"""Compare a function of primitives with the same function of JAX."""

import jax
import numpy as np

import imprint
import imprint.numpy  # vmap and grad need its functions
from tests.tolerances import assert_close


def assert_as_jax(ours, theirs, *operands, operation="gradient"):
    """Assert that `ours`, eager and compiled, gives the results of `theirs` in JAX.

    `operation` names the tolerance; integers are exact.
    """
    with imprint.enable_x64(True), jax.enable_x64(True):
        want = jax.jit(theirs)(*operands)
        for run in (ours, imprint.jit(ours)):
            got = run(*operands)
            assert_all_close(got, want, operation)


def assert_all_close(got, want, operation):
    got, want = imprint.tree.leaves(got), jax.tree.leaves(want)
    for a, b in zip(got, want, strict=True):
        assert_close(np.asarray(a), np.asarray(b), operation)


def printed(fun, *operands):
    """Return the equations of a function as imprint prints them, one a line."""
    text = str(imprint.make_jaxpr(fun)(*operands))
    return [" ".join(eqn.split()) for eqn in text.split("let", 1)[1].split("\n")][1:-1]
