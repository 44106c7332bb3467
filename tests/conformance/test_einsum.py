"""`einsum` with a dtype to add in: no term and no sum is narrower, as in JAX."""

import jax.numpy as jnp
import numpy as np
import pytest

import imprint.numpy as inp

FULL = np.full((3, 3), 100, "int8")  # two of them overflow
CASES = {
    "sum": ("i->", (FULL[0],), "int32"),
    "sum of some axes": ("ij->i", (FULL,), "float32"),
    "sum of a diagonal": ("ii->", (FULL,), "int32"),
    "booleans are counted": ("i->", (np.array([False, True, True]),), "float16"),
    "product": ("ij,j->i", (FULL, FULL[0]), "int32"),
    "a sum on one side": ("ij,k->", (FULL, FULL[0]), "int32"),
    "three": ("i,j,k->", (FULL[0], FULL[0], FULL[0]), "int32"),
    "a dtype as wide": ("ij->", (FULL,), None),
}


@pytest.mark.parametrize("name", CASES)
def test_sums_are_made_in_the_preferred_dtype(name):
    subscripts, operands, dtype = CASES[name]
    got, want = (
        np_.einsum(
            subscripts, *map(np_.asarray, operands), preferred_element_type=dtype
        )
        for np_ in (inp, jnp)
    )
    assert (got.dtype, got.tolist()) == (want.dtype, want.tolist())
