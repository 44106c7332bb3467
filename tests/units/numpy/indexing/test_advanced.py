"""Indexing by anything as in NumPy and JAX: reads, updates, bounds, derivatives.

Indices are drawn as constants, or arguments of the traced function. NumPy is the oracle
within bounds, JAX outside.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, NonConcreteBooleanIndexError, ShapeError
from tests import oracle
from tests.lanes import exhaustive_but

SHAPE = (3, 4, 1, 5)
X = np.arange(60, dtype=np.float32).reshape(SHAPE)
SHAPES = [(), (3,), (2, 1), (2, 3), (1,)]
STEPS = [None, 1, 2, -1, -2]


def drawn_entry(rng, n, beyond):
    """Return a drawn index of one axis."""
    kind = rng.integers(7)
    if kind == 0:
        return int(rng.integers(-n, n))
    if kind in (1, 2):
        ends = [None, *range(-n - 1, n + 2)]
        start, stop = (ends[i] for i in rng.integers(0, len(ends), 2))
        return slice(start, stop, STEPS[rng.integers(5)])
    if kind == 3:
        return rng.random(n) < 0.5
    shape = SHAPES[rng.integers(5)]
    dtype = [np.int32, np.int8, np.int64][rng.integers(3)]
    return np.asarray(rng.integers(-n - beyond, n + beyond, shape), dtype)


def drawn_index(rng, beyond):
    entries, axis = [], 0
    while axis < len(SHAPE) and rng.random() < 0.9:
        if rng.random() < 0.2:
            entries.append(None)
        elif rng.random() < 0.1 and ... not in [e if e is ... else 0 for e in entries]:
            entries.append(...)
            axis += int(rng.integers(0, len(SHAPE) - axis))
        else:
            after = axis if ... not in [e if e is ... else 0 for e in entries] else 0
            n = SHAPE[axis] if after == axis else 1
            entries.append(drawn_entry(rng, n, beyond))
            axis += 1
    return tuple(entries)


def indices(seed, count, beyond=0):
    """Return drawn indices that NumPy accepts; others are redrawn."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        index = drawn_index(rng, beyond)
        if sum(isinstance(e, np.ndarray) and e.dtype == bool for e in index) > 1:
            continue
        try:
            shape = jax.eval_shape(lambda x, i=index: x[i], jnp.zeros(SHAPE)).shape
            beyond or X[index]
        except (IndexError, ValueError, TypeError):
            continue
        found.append((index, shape))
    return found


def split(index):
    """Return the integer arrays of an index, and a function that replaces them."""
    is_traced = [isinstance(e, np.ndarray) and e.dtype != bool for e in index]

    def join(others):
        rest = iter(others)
        pairs = zip(index, is_traced, strict=True)
        return tuple(next(rest) if on else e for e, on in pairs)

    return [e for e, on in zip(index, is_traced, strict=True) if on], join


def of_all(function, compiled, x, drawn):
    """Return the results of a function of array, index and shape, in one program."""
    splits = [split(index) for index, _ in drawn]

    def every(x, given):
        return [
            function(x, join(arrays), shape)
            for arrays, (_, join), (_, shape) in zip(given, splits, drawn, strict=True)
        ]

    given = [arrays for arrays, _ in splits]
    if compiled is None:
        return every(inp.asarray(x), [list(map(inp.asarray, each)) for each in given])
    return compiled(every)(x, given)


def assert_all(drawn, got, want):
    for (index, _), ours, theirs in zip(drawn, got, want, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(np.asarray(a), b, rtol=1e-6, err_msg=str(index))


SEEDS = pytest.mark.parametrize("seed", exhaustive_but([0], range(8)))


@pytest.mark.slow
@SEEDS
def test_reads_within_bounds_are_those_of_numpy(seed):
    drawn = indices(seed, 50)
    want = [[X[index]] for index, _ in drawn]
    assert_all(drawn, [[inp.asarray(X)[index]] for index, _ in drawn], want)
    read = lambda x, i, _: [x[i]]
    assert_all(drawn, of_all(read, imprint.jit, X, drawn), want)
    assert_all(drawn, of_all(read, None, X, drawn), want)


def updates(x, index, shape):
    """Return each kind of update of `x` at an index, by numbers that are exact."""
    size = int(np.prod(shape))
    values = np.arange(3, 3 + size, dtype=np.float32).reshape(shape)
    at = x.at[index]
    return [
        at.set(-1.0),
        at.add(values),
        at.subtract(2.0),
        at.multiply(2.0),
        at.divide(2.0),
        at.power(2.0),
        at.min(values),
        at.max(np.float32(7)),
        at.apply(lambda v: v * 2 + 1),
    ]


@pytest.mark.slow
@SEEDS
def test_updates_are_those_of_jax(seed):
    drawn = indices(seed, 8)
    want = of_all(updates, oracle.jit, X, drawn)
    assert_all(drawn, of_all(updates, None, X, drawn), want)
    assert_all(drawn, of_all(updates, imprint.jit, X, drawn), want)


def beyond_bounds(x, index, shape):
    at = x.at[index]
    return [
        x[index],
        at.get(mode="fill"),
        at.get(mode="fill", fill_value=-3.0),
        at.get(mode="clip"),
        at.get(mode="fill", wrap_negative_indices=False),
        at.add(1.0),
        at.add(1.0, mode="clip"),
        at.set(-1.0, mode="drop"),
        at.max(99.0, mode="drop", wrap_negative_indices=False),
    ]


@pytest.mark.slow
@SEEDS
def test_out_of_bounds_indices_are_as_in_jax(seed):
    drawn = indices(seed, 12, beyond=2)
    want = of_all(beyond_bounds, oracle.jit, X, drawn)
    got = of_all(beyond_bounds, None, X, drawn)
    assert_all(drawn, got, want)
    assert_all(drawn, of_all(beyond_bounds, imprint.jit, X, drawn), want)


@pytest.mark.slow
def test_derivatives_and_batches_are_those_of_jax():
    drawn = indices(1, 6)

    def program(lib, np):
        def loss(x, index):
            return (x[index] ** 2).sum() + (x.at[index].set(2 * x[index]) ** 3).sum()

        def run(x, index, _):
            slope = lib.grad(loss)(x, index)
            rows = lib.vmap(lambda x: loss(x, index))(np.stack([x, x + 1]))
            return [slope, rows]

        return run

    x = X / 60
    want = of_all(program(jax, jnp), oracle.jit, x, drawn)
    assert_all(drawn, of_all(program(imprint, inp), imprint.jit, x, drawn), want)


# ---- the equations ----


def primitives(function, *args):
    return [eqn.primitive.name for eqn in imprint.make_jaxpr(function)(*args).eqns]


def test_constants_are_slices_and_never_a_gather():
    for index in (
        [0, 1, 2],
        np.array([2, 0]),
        [1],
        1,
        [True, False, True],
        (0, [3, 1]),
    ):
        assert "gather" not in primitives(lambda x, i=index: x[i], X)
    for index in (1, (slice(1, 3), ..., -1), slice(None, None, -1)):
        names = primitives(lambda x, i=index: x.at[i].set(1.0), X)
        assert "scatter" not in names


def test_lists_and_masks_are_arrays():
    x = inp.asarray(X)
    np.testing.assert_array_equal(x[[0, 2]], X[[0, 2]])
    np.testing.assert_array_equal(x[[True, False, True]], X[[True, False, True]])
    np.testing.assert_array_equal(x[x > 30], X[X > 30])
    np.testing.assert_array_equal(x[True], X[True])
    np.testing.assert_array_equal(x[..., False], X[..., False])
    np.testing.assert_array_equal(x[[]], X[[]])
    np.testing.assert_array_equal(x.at[X > 30].set(0), np.where(X > 30, 0, X))
    np.testing.assert_array_equal(imprint.jit(lambda x: x[X > 30])(X), X[X > 30])


@pytest.mark.parametrize("is_sorted", [False, True])
@pytest.mark.parametrize("is_unique", [False, True])
def test_promises_about_indices_reach_the_program(is_sorted, is_unique):
    promised = {"indices_are_sorted": is_sorted, "unique_indices": is_unique}
    calls = {
        "scatter": lambda x, i: x.at[i].set(1.0, **promised),
        "scatter-add": lambda x, i: x.at[i].add(1.0, **promised),
        "gather": lambda x, i: x.at[i].get(**promised),
    }
    for name, call in calls.items():
        eqns = imprint.make_jaxpr(call)(X, np.array([0, 2])).eqns
        (eqn,) = (e for e in eqns if e.primitive.name.replace("_", "-") == name)
        assert {key: eqn.params[key] for key in promised} == promised


def test_lists_are_values_too():
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    for given in ([1, 2, 3], (1.5, 2.5, 3.5), [[1], [2]]):
        for change in ("set", "add", "multiply", "min"):
            got, want = (
                getattr(lib.numpy.asarray(x).at[:, ::-1], change)(given)
                for lib in (imprint, jax)
            )
            np.testing.assert_array_equal(got, want)
    traced = imprint.jit(lambda x, a: x.at[0].set([a, 2 * a, 7]))(x, 1)
    assert traced.tolist() == [[1, 2, 7], [3, 4, 5]]


def test_dtypes_are_those_of_the_array():
    for dtype, value in (
        ("int8", 3),
        ("float32", 2),
        ("bfloat16", 1.5),
        ("uint32", True),
    ):
        x, y = inp.ones(3, dtype), jnp.ones(3, dtype)
        got, want = x.at[[0, 2]].add(value), y.at[np.array([0, 2])].add(value)
        assert (str(got.dtype), got.tolist()) == (str(want.dtype), want.tolist())
    with pytest.warns(FutureWarning, match=r"at: expected values that int32 holds"):
        assert inp.arange(3).at[1].set(1.7).tolist() == [0, 1, 2]


def test_keys():
    keys = imprint.random.split(imprint.random.key(0), 4)
    data = np.asarray(imprint.random.key_data(keys))
    picked = keys[np.array([3, 0])]
    np.testing.assert_array_equal(imprint.random.key_data(picked), data[[3, 0]])
    put = keys.at[1:3].set(keys[:2])
    np.testing.assert_array_equal(imprint.random.key_data(put), data[[0, 0, 1, 3]])
    with pytest.raises(
        ArgumentError, match=r"at: expected \.at\[\.\.\.\]\.set\(keys\)"
    ):
        keys.at[0].add(1)


# ---- errors ----


def message(error, function, *args):
    with pytest.raises(error) as caught:
        function(*args)
    return str(caught.value)


def test_errors():
    x = inp.zeros((3, 4))
    read = lambda index: message((IndexError, TypeError), lambda: x[index])
    assert read(([0, 1], ..., ...)) == (
        "indexing: expected at most one Ellipsis for float32[3,4], got 2. Write `:` for "
        "each axis that the others leave out."
    )
    assert read(([0], 0, 0)) == (
        "indexing: expected at most as many indices as float32[3,4] has axes, 2, got 3. "
        "Leave out what has no axis."
    )
    assert read([0.5]) == (
        "indexing: expected integers or booleans, got float32[1] for float32[3,4]. Convert "
        "it with .astype('int32')."
    )
    assert read(np.zeros((4, 3), bool)) == (
        "indexing: expected a mask of shape (3, 4), that of the axes it stands for in "
        "float32[3,4], got one of shape (4, 3). Compare an array of that shape."
    )
    assert read((np.zeros(2, int), np.zeros(3, int))) == (
        "indexing: expected index arrays that broadcast together for float32[3,4], got "
        "shapes (2,) and (3,). Insert axes with `[:, None]`."
    )
    assert read((np.zeros(2, int), 4)) == (
        "indexing: expected an index in [-4, 4) for axis 1 of float32[3,4], got 4. Check "
        "it against x.shape[1]."
    )
    assert message(IndexError, x.at[3].set, 0) == (
        "indexing: expected an index in [-3, 3) for axis 0 of float32[3,4], got 3. Check "
        "it against x.shape[0]."
    )
    assert x.at[3].set(1, mode="drop").sum() == 0
    assert message(ShapeError, x.at[0].set, inp.zeros(3)) == (
        "at: expected values that are repeated to (4,), the shape of the part, got "
        "float32[3]. Compare with the shape of x[index]."
    )
    assert message(TypeError, x.__setitem__, 0, 1) == (
        "expected no assignment: arrays are immutable, got `x[0] = ...` on float32[3,4]. "
        "Write `x = x.at[0].set(...)`, which returns another."
    )
    assert message(
        NonConcreteBooleanIndexError, imprint.jit(lambda x: x[x > 0]), x
    ).startswith(
        "indexing: expected a mask whose values are known while tracing, got bool[3,4] for "
        "float32[3,4]. The result would have an unknown shape: use "
        "imprint.numpy.where(mask, x, other), or the places imprint.numpy.nonzero(mask, "
        "size=n)."
    )
    empty = inp.zeros((0, 2))
    assert message(IndexError, lambda: empty[np.zeros(1, int) + inp.asarray(0)]) == (
        "indexing: expected an axis with elements for an index, got float32[0,2], axis 0. "
        "An empty axis has no element to take."
    )
