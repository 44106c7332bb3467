"""Compare a tree of imprint with one of JAX: equal leaves at equal key paths."""

import jax

from imprint import tree
from tests.tolerances import assert_close


def same_leaves(got, want, operation="gradient"):
    """Assert that the arrays of both trees have the same paths, avals and values."""
    ours = {tree.keystr(path): x for path, x in tree.leaves_with_path(got)}
    theirs = {
        jax.tree_util.keystr(path): x for path, x in jax.tree.leaves_with_path(want)
    }
    assert list(ours) == list(theirs)
    for path, x in ours.items():
        assert_close(x, theirs[path], operation)
