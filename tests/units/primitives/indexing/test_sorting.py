"""sort and top_k: wide arrays of each dtype, which laws do not draw, and errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax as jlax

import imprint
from imprint import errors, lax
from tests.lanes import exhaustive
from tests.units.primitives.formulations import both, texts

RNG = np.random.default_rng(0)
WORDS = ("float32", "bfloat16", "int8", "uint16", "bool")
NARROW = ("int4", "uint2", "float8_e4m3fn", "float4_e2m1fn", "float8_e8m0fnu")


def drawn(dtype, shape):
    values = RNG.integers(-7, 8, shape)
    if dtype in ("float4_e2m1fn", "float8_e8m0fnu"):
        return (2.0 ** (values % 2)).astype(jnp.dtype(dtype))
    if dtype.startswith("float") or dtype == "bfloat16":
        values = np.where(values > 5, np.nan, values * -0.5)
        values = np.where(values == 1, np.inf, values)
    if dtype.startswith("uint"):
        values = np.abs(values) % 4
    return values.astype(jnp.dtype(dtype))


def same(got, want):
    for one, other in zip(got, want, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [*WORDS[:2], *exhaustive(*WORDS[2:])])
def test_arrays_that_are_sorted_as_words_keep_their_bits(dtype):
    x = drawn(dtype, (3, 500))
    i = np.arange(1500, dtype="int32").reshape(3, 500)

    def every(of, x):
        return (
            of.sort(x),
            *of.sort((x, i), 0),
            *of.sort_key_val(x, x, is_stable=True),
            *of.top_k(x, 100),
            *of.top_k(x.reshape(-1), 3),
            *of.top_k(x.reshape(3, 5, 100), 2),
        )

    same(imprint.jit(lambda x: every(lax, x))(x), jax.jit(lambda x: every(jlax, x))(x))


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_dtypes(dtype):
    x = drawn(dtype, (40,))
    got = imprint.jit(lambda x: (lax.sort(x), *lax.sort_key_val(x, np.arange(40))))(x)
    order = np.argsort(x.astype("float32"), kind="stable")
    want = x[order], x[order], order.astype("int32")
    same(got, want)
    same((lax.sort(x), *lax.sort_key_val(x, np.arange(40))), want)
    values, index = imprint.jit(lambda x: lax.top_k(x, 3))(x)
    same((values, index), lax.top_k(x, 3))


def test_approximate_searches_miss_nothing():
    x = RNG.normal(size=(2, 300)).astype("float32")
    for name in ("approx_max_k", "approx_min_k"):
        for options in (
            {"k": 3},
            {"k": 2, "reduction_dimension": 0},
            {"k": 3, "aggregate_to_topk": False, "recall_target": 0.8},
        ):
            got = getattr(lax, name)(x, **options)
            same(got, getattr(jlax, name)(x, **options))


V = np.ones(3, np.float32)
M = np.ones((3, 2), np.float32)
WRONG = {
    "sort: expected at least one array, got an empty sequence. Pass the arrays that move "
    "together.": lambda n: n.sort(()),
    "sort: expected operands of one shape, got float32[3], float32[3,2]. Broadcast them "
    "first.": lambda n: n.sort((V, M), 0),
    "sort: expected an axis in [-1, 1), got 1. The array has 1 axis.": (
        lambda n: n.sort(V, 1)
    ),
    "sort: expected num_keys between 1 and 2, the number of operands, got 3. The first "
    "num_keys operands are compared.": lambda n: n.sort((V, V), num_keys=3),
    "top_k: expected k between 0 and 3, the length of axis 0 of float32[3], got 4. There "
    "are no more elements.": lambda n: n.top_k(V, 4),
    "top_k: expected k between 0 and 3, the length of axis 0 of float32[3], got -1. There "
    "are no more elements.": lambda n: n.top_k(V, -1),
    "top_k: expected a real or bool dtype, got complex64[3]. Convert it with "
    "`.astype(...)`, or call imprint.numpy, which promotes.": (
        lambda n: n.top_k(V.astype("complex64"), 1)
    ),
    "approx_max_k: expected floats, got int32[3]. Of integers write imprint.lax.top_k.": (
        lambda n: n.approx_max_k(V.astype("int32"), 1)
    ),
    "approx_min_k: expected k between 1 and 3, the length of axis 0 of float32[3], got 0. "
    "There are no more elements.": lambda n: n.approx_min_k(V, 0),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_calls_name_the_remedy(message):
    with pytest.raises(
        (errors.ArgumentError, errors.ShapeError, errors.DTypeError)
    ) as e:
        WRONG[message](lax)
    assert str(e.value) == message
    with pytest.raises((TypeError, ValueError)):
        WRONG[message](jlax)


def test_a_recall_that_the_engine_refuses():
    with pytest.raises(
        errors.ArgumentError, match=r"expected recall_target in \(0, 1\]"
    ):
        lax.approx_max_k(
            np.ones(3000, np.float32), 3, recall_target=2.0, aggregate_to_topk=False
        )


# ---- the largest of many, by blocks ----


@pytest.mark.parametrize(
    ("shape", "k"), [((8192,), 3), ((100_003,), 10), ((3, 20_000), 8)]
)
@pytest.mark.parametrize(
    "values",
    [
        None,
        [0.0, -0.0],
        [np.inf, -np.inf, 1.0],
        [np.nan, -np.nan, 1.0, np.inf],
        [-np.nan],
    ],
)
def test_the_largest_of_many_by_blocks(shape, k, values):
    random = np.random.default_rng(0)
    x = random.normal(size=shape).astype(np.float32)
    if values is not None:
        x = random.choice(np.array(values, np.float32), shape)
    for place in (0, 1):
        fast, plain = both(lambda x, place=place: lax.top_k(x, k)[place], x)
        np.testing.assert_array_equal(fast.view(np.int32), plain.view(np.int32))
    fast, plain = texts(lambda x: lax.top_k(x, k), x)
    assert fast != plain


@pytest.mark.parametrize(("length", "k"), [(8191, 1), (20_000, 20), (20_000, 0)])
def test_the_largest_of_few_or_many_of_them_are_searched_at_once(length, k):
    fast, plain = texts(lambda x: lax.top_k(x, k), np.ones(length, np.float32))
    assert fast == plain
