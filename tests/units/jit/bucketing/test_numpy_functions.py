"""Functions that place elements by the length of an axis: NumPy's results in buckets."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ShapeError
from imprint.scipy import stats
from tests.lanes import exhaustive


def rows(n):
    x = np.random.default_rng(n).standard_normal((n, 2), np.float32)
    x[n // 2] = x[0]  # two that are equal
    return x


def deleted_largest(x):
    return inp.delete(x[:, 0], x[:, 0].argmax(), assume_unique_indices=True)


def stirred(x):
    """Write zeros at the places of the least two, and count the largest ones."""
    order = inp.argsort(x[:, 0])[:2]
    return inp.put_along_axis(x[:, 0], order, 0.0, 0, inplace=False)


def stirred_by_numpy(x):
    out = x[:, 0].copy()
    np.put_along_axis(out, np.argsort(out, kind="stable")[:2], 0.0, 0)
    return out


def padded(mode, widths=((2, 3), (0, 0)), **options):
    return lambda x, np=inp: np.pad(x, widths, mode=mode, **options)


def parted(kth):
    """Compare elements before and after a position as sets: NumPy's order differs."""

    def part(x, np=inp):
        y = np.partition(x, kth, axis=0)
        at = kth % x.shape[0] if kth < 0 else kth
        return np.sort(y[:at], 0), y[at], np.sort(y[at:], 0)

    return part


def parted_places(kth):
    def part(x, np=inp):
        places = np.argpartition(x[:, 0], kth)
        at = kth % x.shape[0] if kth < 0 else kth
        return np.sort(x[places, 0][:at]), x[places, 0][at], np.sort(places)

    return part


def halved(x, np=inp):
    half = x.shape[0] // 2
    return np.partition(x[:, 0], half)[half]


def ranked(method):
    def rank(x, np=inp):
        if np is inp:
            return stats.rankdata(x, method, axis=0)
        scipy_stats = pytest.importorskip("scipy.stats")
        return scipy_stats.rankdata(x, method, axis=0)

    return rank


FUNCTIONS = {
    "insert": lambda x, np=inp: np.insert(x, 2, 9.0, 0),
    "insert from the end": lambda x, np=inp: np.insert(x, -1, 9.0, 0),
    "insert behind": lambda x, np=inp: np.insert(x, x.shape[0], 9.0, 0),
    "insert several": lambda x, np=inp: np.insert(
        x, np.array([1, 0, -1]), np.ones((3, 2)), 0
    ),
    "insert at a traced place": lambda x, np=inp: np.insert(
        x[:, 0], x[:, 0].argmax(), 9.0
    ),
    "delete": lambda x, np=inp: np.delete(x, 1, 0),
    "delete from the end": lambda x, np=inp: np.delete(x, -1, 0),
    "delete several": lambda x, np=inp: np.delete(x, np.array([0, -1, 0]), 0),
    "delete a slice": lambda x, np=inp: np.delete(x, slice(1, -2), 0),
    "delete in steps": lambda x, np=inp: np.delete(x, slice(1, None, 2), 0),
    "insert in steps": lambda x, np=inp: np.insert(x, slice(None, -1, 2), 9.0, 0),
    "delete in steps back": lambda x, np=inp: np.delete(x, slice(-2, 1, -2), 0),
    "insert in steps back": lambda x, np=inp: np.insert(x, slice(None, 1, -2), 9.0, 0),
    "delete the largest": (
        deleted_largest,
        lambda x: np.delete(x[:, 0], x[:, 0].argmax()),
    ),
    "put_along_axis": (stirred, stirred_by_numpy),
    "partition": parted(1),
    "partition from the end": parted(-2),
    "partition in the middle": halved,
    "argpartition": parted_places(1),
    "argpartition from the end": parted_places(-2),
    **{
        f"rankdata, {method}": ranked(method)
        for method in ("average", "min", "max", "dense", "ordinal")
    },
    "pad, wrap": padded("wrap"),
    "pad, wrap at one end": padded("wrap", ((0, 3), (1, 0))),
    "pad, reflect": padded("reflect"),
    "pad, reflect, odd": padded("reflect", reflect_type="odd"),
    "pad, symmetric": padded("symmetric"),
}


OTHERS = "rankdata, min", "rankdata, max", "rankdata, dense", "pad, symmetric"
"""Those that take another branch of what is tried by itself."""


@pytest.mark.parametrize(
    "name", [*(n for n in FUNCTIONS if n not in OTHERS), *exhaustive(*OTHERS)]
)
@pytest.mark.parametrize(
    ("lengths", "programs"), [((7, 16), 1), *exhaustive(((2, 3, 4, 5, 30), None))]
)
def test_a_length_has_the_program_of_its_bucket_and_numpys_answer(
    name, lengths, programs
):
    given = FUNCTIONS[name]
    f, by_numpy = given if isinstance(given, tuple) else (given, None)
    jitted = imprint.jit(f, abstracted_axes=({0: "n"},))
    jitted.clear_cache()
    for n in lengths:
        x = rows(n)
        expected = f(x, np=np) if by_numpy is None else by_numpy(x)
        for a, b in zip(
            imprint.tree.leaves(jitted(x)), imprint.tree.leaves(expected), strict=True
        ):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert programs in (None, len(jitted.versions))


def test_an_array_shorter_than_the_widths_is_compiled_for_each_size():
    f = imprint.jit(
        lambda x: (inp.pad(x, 4, mode="wrap"), inp.pad(x, 4, mode="reflect")),
        abstracted_axes={0: "n"},
    )
    for n in (3, 5, 6, 2):
        x = np.arange(n, dtype=np.float32)
        wrapped, mirrored = f(x)
        np.testing.assert_array_equal(wrapped, np.pad(x, 4, mode="wrap"))
        np.testing.assert_array_equal(mirrored, np.pad(x, 4, mode="reflect"))
    conditions = [str(v).partition(" where ")[2] for v in f.versions]
    assert conditions == ["n = 3", "n >= 5, n <= 16", "n = 2"]


def test_a_place_that_is_named_twice_is_left_out_once():
    f = imprint.jit(lambda x: inp.delete(x, [1, -1]), abstracted_axes={0: "n"})
    for n in (2, 3):
        x = np.arange(n, dtype=np.float32)
        np.testing.assert_array_equal(f(x), np.delete(x, [1, -1]))


def test_nan_is_last_in_a_partition():
    def f(x):
        return inp.partition(x, -3), inp.argpartition(x, -3), inp.partition(x, 2)

    x = np.array([3, np.nan, 0, 1, np.inf, -2, 5], np.float32)
    named = imprint.jit(f, abstracted_axes={0: "n"})(x)
    for a, b in zip(named, f(inp.asarray(x)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_place_outside_is_an_error_at_the_length_where_it_is():
    f = imprint.jit(lambda x: inp.delete(x, 5), abstracted_axes={0: "n"})
    assert f(np.ones(6, np.float32)).shape == (5,)
    with pytest.raises(IndexError, match=r"expected indices in \[-5, 5\) for axis 0"):
        f(np.ones(5, np.float32))


def test_user_names_get_advice_for_a_constraint():
    (n,) = imprint.symbolic_shape("n")
    with pytest.raises(ShapeError, match="State it: constraints="):
        imprint.eval_shape(
            lambda x: inp.pad(x, 2, mode="wrap"), imprint.ShapeDtypeStruct((n,), "f4")
        )
    (n,) = imprint.symbolic_shape("n", constraints=["n >= 2"])
    struct = imprint.ShapeDtypeStruct((n,), "f4")
    out = imprint.eval_shape(lambda x: inp.pad(x, 2, mode="wrap"), struct)
    assert str(out.shape) == "(n + 4,)"
