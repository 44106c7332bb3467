"""Shapes are computed with `_src/core/dims.py`: no rule compares lengths by operators.

A length may be an expression, and `==` of expressions may have no answer. The law of
symbolic avals finds such operators when they run; this test finds them in the source.
"""

import ast

import pytest

from tests.meta.sources import PACKAGE

FOLDERS = (
    "imprint/_src/primitives/",
    "imprint/numpy/",
    "imprint/lax/",
    "imprint/random/",
)
RULES = [source for source in PACKAGE if str(source).startswith(FOLDERS)]
LENGTHS = {"shape", "size"}


def bypasses(tree):
    """Return the nodes that compare lengths by an operator, or multiply them by hand."""
    return [node for node in _outside(tree) if _compares(node) or _multiplies(node)]


def _outside(node):
    """Walk the tree, except functions that take values."""
    for child in ast.iter_child_nodes(node):
        if not _handles_values(child):
            yield child
            yield from _outside(child)


def _handles_values(node):
    """Return whether a node is a reference or, as a `Builder` shows, a lowering."""
    if not isinstance(node, ast.FunctionDef):
        return False
    types = [ast.unparse(a.annotation) for a in node.args.args if a.annotation]
    return "reference" in node.name or "Builder" in types


def _compares(node):
    return isinstance(node, ast.Compare) and any(
        map(_is_length, [node.left, *node.comparators])
    )


def _multiplies(node):
    """Return whether a node imports `prod`, or is `math.prod` or `np.prod` of lengths."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "math" and any(a.name == "prod" for a in node.names)
    called = node.func if isinstance(node, ast.Call) else None
    return (
        isinstance(called, ast.Attribute)
        and called.attr == "prod"
        and isinstance(called.value, ast.Name)
        and called.value.id in ("math", "np")
        and any(map(_is_length, node.args))
    )


def _is_length(node):
    """Return whether an operand is a shape or a part of one; `len(shape)` is a number."""
    if isinstance(node, ast.Call):
        return False
    return any(
        isinstance(part, ast.Attribute) and part.attr in LENGTHS
        for part in ast.walk(node)
    )


@pytest.mark.parametrize("source", RULES, ids=str)
def test_lengths_are_compared_and_multiplied_by_dims(source):
    found = [source.at(node) for node in bypasses(source.tree)]
    assert not found, "ask imprint._src.core.dims: equal, is_same, at_least, product"


@pytest.mark.parametrize(
    "text",
    [
        "def _f_aval(x, y):\n    return x.shape == y.shape",
        "def _f_aval(x):\n    return x.shape[0] < 3",
        "def _f_aval(x):\n    return 0 in x.shape",
        "def _f_aval(x):\n    return not x.aval.size != 2",
        "from math import prod",
        "def f(x):\n    return np.prod(x.shape)",
    ],
)
def test_the_check_bites(text):
    assert bypasses(ast.parse(text))


def test_ranks_and_values_are_compared_as_one_likes():
    text = "def f(x):\n    return len(x.shape) == 2 and x.ndim == y.ndim"
    assert not bypasses(ast.parse(text))
    assert not bypasses(ast.parse("def _f_reference(x):\n    return x.shape == (1,)"))
