"""`abstracted_axes`: which axes of which arrays of a call have names."""

import numpy as np
import pytest

import imprint
from imprint._src.jit.calls.axes import read_axes
from imprint._src.jit.calls.signature import Signature
from imprint.errors import ArgumentError

X, Y = np.ones((2, 3)), np.ones((4, 5))
N = {0: "n"}


def function(a, b=0.0, *rest, c=1.0):
    del a, b, rest, c


def entries(spec, *args, **kwargs):
    signature = Signature(function)
    read = read_axes(spec)
    read.check(signature)
    found = read.entries(signature.call(args, kwargs), signature)
    return [(leaf, axis, name) for leaf, axis, name in found]


@pytest.mark.parametrize(
    ("spec", "args", "expected"),
    [
        (N, (X, Y), [(0, 0, "n"), (1, 0, "n")]),
        (("n",), (X, Y), [(0, 0, "n"), (1, 0, "n")]),
        ((None, "n"), (X,), [(0, 1, "n")]),
        ({-1: "n", 0: None}, (X,), [(0, -1, "n")]),
        ((N, None), (X, Y), [(0, 0, "n")]),
        ((None, ("n", "m")), (X, Y), [(1, 0, "n"), (1, 1, "m")]),
        ((N,), (X, Y), [(0, 0, "n")]),
        ({"b": N}, (X, Y), [(1, 0, "n")]),
        ({1: {0: "n"}}, (X, Y), [(1, 0, "n")]),
        ((None, None, None, N), (X, Y, X, Y), [(3, 0, "n")]),
        ((N,), ({"p": X, "q": [Y, X]},), [(0, 0, "n"), (1, 0, "n"), (2, 0, "n")]),
        (({"q": (None, N)},), ({"p": X, "q": [Y, X]},), [(2, 0, "n")]),
        ({"a": {"q": N}}, ({"p": X, "q": [Y, X]},), [(1, 0, "n"), (2, 0, "n")]),
        (({0: N},), ({0: X, 1: Y},), [(0, 0, "n")]),
    ],
)
def test_a_spec_is_a_prefix_of_the_arguments(spec, args, expected):
    assert entries(spec, *args) == expected


def test_a_keyword_has_the_axes_of_its_parameter():
    assert entries({"c": N}, X, c=Y) == [(1, 0, "n")]
    assert entries((None, N), X, b=Y) == [(1, 0, "n")]


def test_equal_specs_are_equal():
    assert read_axes({"a": N}) == read_axes({"a": {0: "n"}})
    assert read_axes(None) is None


@pytest.mark.parametrize("spec", ["n", 3, {0: 1}, {"a": "n"}, ("n", {0: "m"}, 2)])
def test_invalid_specs_are_refused(spec):
    with pytest.raises(ArgumentError, match="expected abstracted_axes to say"):
        imprint.jit(function, abstracted_axes=spec)


def test_a_model_that_is_bound_is_no_argument():
    class Model(imprint.Module):
        w: imprint.Array

        def __call__(self, x):
            return x @ self.w

    model = imprint.filter_jit(
        Model(np.eye(3, dtype="f")), abstracted_axes=(N,), buckets=None
    )
    for n in (2, 4):
        assert model(np.ones((n, 3), "f")).shape == (n, 3)
    assert [str(v).partition(" where ")[2] for v in model.versions] == [
        "n = 2",
        "n = 4",
    ]
