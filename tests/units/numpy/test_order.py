"""Sorting, sets and quantiles of imprint.numpy: sizes that depend on values, errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, ConcretizationError, DTypeError, ShapeError
from tests.lanes import exhaustive_but

X = np.array([3.0, np.nan, -0.0, 1.0, 0.0, 3.0, np.nan, 2.0], np.float32)
Y = np.array([2.0, 5.0, 0.0, np.nan, 2.0], np.float32)
I = np.array([[3, 1, 1], [0, 3, 1]], np.int32)  # noqa: E741 - integers
C = np.array([1 + 1j, complex(1, np.nan), complex(np.nan, 2), 1, 1 + 1j], np.complex64)

OF_VALUES = {
    "unique": lambda n: [
        n.unique(x, True, True, True, equal_nan=equal)
        for x, equal in ((X, True), (C, False), (X[:0], True))
    ],
    "unique of further": lambda n: [
        n.unique(x, True, True, True, equal_nan=equal)
        for x in (X, I, C, I > 1, X[:0], 3)
        for equal in (True, False)
    ],
    "unique rows": lambda n: [
        n.unique(I, True, True, True, axis=axis) for axis in (0, 1, -1)
    ],
    "unique of the Array API": lambda n: [
        *n.unique_all(I),
        *n.unique_counts(X),
        *n.unique_inverse(I),
        n.unique_values(X),
    ],
    "union1d": lambda n: [n.union1d(X, Y), n.union1d(I, Y)],
    "intersect1d": lambda n: [
        n.intersect1d(I, Y),
        n.intersect1d(X, Y, return_indices=True),
    ],
    "intersect1d of further": lambda n: [
        n.intersect1d(X, Y),
        n.intersect1d(I[1], I[0, :1], assume_unique=True, return_indices=True),
    ],
    "setxor1d": lambda n: [n.setxor1d(X, Y)],
    "setxor1d of further": lambda n: [n.setxor1d(I, Y), n.setxor1d(X[:0], I[0])],
    "setdiff1d": lambda n: [
        n.setdiff1d(X, Y),
        n.setdiff1d(I, Y),
        n.setdiff1d(X, Y, assume_unique=True),
        n.setdiff1d(X[:0], Y),
    ],
    "trim_zeros": lambda n: (
        [
            n.trim_zeros(np.array([0, 0, 1, 0, 2, 0]), trim)
            for trim in ("fb", "f", "B", "")
        ]
        + [n.trim_zeros(np.zeros(3)), n.trim_zeros(np.pad(I, 1), axis=0)]
    ),
    "bincount": lambda n: [
        n.bincount(I[0]),
        n.bincount(I[0], I[1] * 0.5),
        n.bincount(I[0], minlength=6),
        n.bincount(I[0, :0]),
        n.bincount(np.array([-1, 1])),
    ],
}


RARELY = {name for name in OF_VALUES if name.endswith("of further")} | {"unique rows"}


@pytest.mark.parametrize("name", exhaustive_but(set(OF_VALUES) - RARELY, OF_VALUES))
def test_lengths_come_of_values_outside_of_traces(name):
    want = jax.tree.leaves(OF_VALUES[name](jnp))
    got = jax.tree.leaves(imprint.tree.leaves(OF_VALUES[name](inp)))
    constant = imprint.jit(lambda: OF_VALUES[name](inp))()  # known while tracing
    for one, again, other in zip(
        got, jax.tree.leaves(imprint.tree.leaves(constant)), want, strict=True
    ):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(again, other)


UNIQUE = "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"
NEEDS_SIZE = {name: lambda x, name=name: getattr(inp, name)(x) for name in UNIQUE} | {
    name: lambda x, name=name: getattr(inp, name)(x, Y)
    for name in ("union1d", "intersect1d", "setxor1d", "setdiff1d")
}


@pytest.mark.parametrize("name", NEEDS_SIZE)
def test_inside_a_trace_the_length_is_given(name):
    for transform in (imprint.jit, imprint.vmap):
        x = X if transform is imprint.jit else X[None]
        with pytest.raises(ConcretizationError) as e:
            transform(NEEDS_SIZE[name])(x)
        assert str(e.value) == (
            f"{name}: expected an array whose values are known, got float32[8] while "
            "tracing. The length of the result depends on them: pass it as size=."
        )


def test_without_elements_each_size_is_filled():
    for options in ({"size": 0}, {"size": 2, "fill_value": 7}):
        got = inp.unique(X[:0], return_counts=True, **options)
        assert [x.tolist() for x in got][1] == [0] * options["size"]
        assert got[0].tolist() == [7.0] * options["size"]
        assert inp.union1d(X[:0], X[:0], **options).shape == (options["size"],)
    assert inp.setxor1d(X[:0], X[:0], size=3).tolist() == [0, 0, 0]
    assert inp.intersect1d(I, X[:0], size=2).tolist() == [0, 0]
    assert inp.setdiff1d(X[:0], X, size=2, fill_value=4).tolist() == [4, 4]


def test_a_median_of_a_constant_part_reads_no_index():
    text = imprint.jit(inp.median).lower(X).as_text()
    assert "gather" not in text


def test_many_are_searched_and_few_compared():
    found = imprint.make_jaxpr(inp.isin)
    assert "searchsorted" in str(found(X, np.arange(64.0)))
    assert "searchsorted" not in str(found(X, np.arange(63.0)))


WRONG = {
    "sort: expected kind to be None, got 'stable'. There is one algorithm: say "
    "stable=True or stable=False.": lambda n: n.sort(X, kind="stable"),
    "argsort: expected order to be None, got 'x'. There are no arrays of records: sort by "
    "several arrays with imprint.numpy.lexsort.": lambda n: n.argsort(X, order="x"),
    "sort: expected an axis in [-1, 1), got 1. The array has 1 axis.": (
        lambda n: n.sort(X, 1)
    ),
    "lexsort: expected at least one key, got none. Pass a sequence of arrays.": (
        lambda n: n.lexsort(())
    ),
    "lexsort: expected keys of one shape, got float32[8], float32[5]. Broadcast them "
    "first.": lambda n: n.lexsort((X, Y)),
    "partition: expected real numbers, got complex64[5]. Sort complex ones with "
    "imprint.numpy.sort.": lambda n: n.partition(C, 1),
    "searchsorted: expected an array with one axis to search, got int32[2,3]. Flatten it, "
    "or map over the other axes with imprint.vmap.": lambda n: n.searchsorted(I, X),
    "searchsorted: expected side 'left' or 'right', got 'up'. It is the side of equal "
    "elements.": lambda n: n.searchsorted(X, X, "up"),
    "digitize: expected bins with one axis, got int32[2,3]. Flatten them.": (
        lambda n: n.digitize(X, I)
    ),
    "quantile: expected a method of linear, lower, higher, midpoint, nearest, "
    "inverted_cdf, got 'hazen'. Leave it out for 'linear'.": (
        lambda n: n.quantile(X, 0.5, method="hazen")
    ),
    "median: expected real numbers, got complex64[5] and ~float32[]. Complex numbers have "
    "no middle: take a part first.": lambda n: n.median(C),
    "percentile: expected q with at most one axis, got float32[1,1]. Flatten it, and "
    "reshape the result.": lambda n: n.percentile(X, np.ones((1, 1), np.float32)),
    "quantile: expected no weights with method 'linear', got float32[8]. Weights are for "
    "method='inverted_cdf'.": lambda n: n.quantile(X, 0.5, weights=X),
    "quantile: expected weights of the shape of the array or of its lengths along "
    "axis=None, got float32[5] for float32[8]. Reshape the weights.": (
        lambda n: n.quantile(X, 0.5, weights=Y, method="inverted_cdf")
    ),
    "median: expected overwrite_input to be False, got True. Arrays are immutable: use "
    "what median returns.": lambda n: n.median(X, overwrite_input=True),
    "bincount: expected integers, got float32[8]. Convert them with .astype('int32').": (
        lambda n: n.bincount(X)
    ),
    "bincount: expected an array with one axis, got int32[2,3]. Flatten it.": (
        lambda n: n.bincount(I)
    ),
    "bincount: expected a weight for each number, got float32[5] for int32[3]. Give as "
    "many.": lambda n: n.bincount(I[0], Y),
    "histogram: expected a weight for each element, got float32[5] for float32[8]. "
    "Broadcast them first.": lambda n: n.histogram(X, weights=Y),
    "histogram: expected a range of two numbers, got 3 of them. Pass the first and the "
    "last edge.": lambda n: n.histogram(X, range=(1, 2, 3)),
    "histogramdd: expected bins for each of 3 variables, got 2. Give one for each.": (
        lambda n: n.histogramdd(I, [2, 2])
    ),
    "interp: expected xp and fp with one axis of one length, got float32[8] and "
    "float32[5]. Map over further axes with imprint.vmap.": lambda n: n.interp(X, X, Y),
    "interp: expected left to be a number or 'extrapolate', got 'on'.": (
        lambda n: n.interp(X, X, X, left="on")
    ),
    "isin: expected method 'auto', 'compare_all', 'binary_search' or 'sort', got 'fast'. "
    "Leave it out.": lambda n: n.isin(X, Y, method="fast"),
    "unique: expected a fill_value where there are no elements and size is 3, got none. "
    "There is no first element to fill up with.": lambda n: n.unique(X[:0], size=3),
    "unique: expected size to be at least 0, got -1. It is how many elements to return.": (
        lambda n: n.unique(X, size=-1)
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_error_messages(message):
    with pytest.raises(
        (ArgumentError, ShapeError, DTypeError, NotImplementedError)
    ) as e:
        WRONG[message](inp)
    assert str(e.value) == message


def test_counts_inside_a_trace_need_a_length():
    with pytest.raises(ConcretizationError) as e:
        imprint.jit(inp.bincount)(I[0])
    assert str(e.value) == (
        "bincount: expected numbers that are known, got int32[3] while tracing. How many "
        "counts there are depends on the largest: pass it as length=."
    )
    with pytest.raises(ConcretizationError) as e:
        imprint.jit(inp.trim_zeros)(X)
    assert str(e.value) == (
        "trim_zeros: expected an array whose values are known, got float32[8] while "
        "tracing. The shape of the result depends on them: mask with "
        "imprint.numpy.where, or trim outside."
    )
