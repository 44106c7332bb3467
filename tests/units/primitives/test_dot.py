"""dot_general: dtypes, precision, derivatives and examples in every mix, as JAX's."""

import itertools
from functools import partial

import jax
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import imprint
from imprint._src.primitives.dot import dot_general
from imprint._src.primitives.elementwise.precision import Precision
from imprint.errors import DTypeError, ShapeError
from imprint.lax import fori_loop
from tests.lanes import exhaustive
from tests.units.primitives.agreement import agreed, assert_same
from tests.units.primitives.formulations import (
    assert_same_bits,
    assert_sums_as_exact,
    both,
    texts,
)
from tests.units.primitives.twin import assert_as_jax, printed

MATMUL = (((1,), (0,)), ((), ()))
RANDOM = np.random.default_rng(0)
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def draw(shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return RANDOM.random(shape) < 0.5
    if dtype.kind in "iu":
        return RANDOM.integers(0, 100, shape).astype(dtype)
    values = RANDOM.normal(size=shape)
    return (values + 1j * values[::-1] if dtype.kind == "c" else values).astype(dtype)


def message(error, fun, *args):
    with pytest.raises(error) as caught:
        fun(*args)
    return str(caught.value)


# ---- dtypes ----


def products(dot, pairs, operands):
    return [
        dot(x, y, MATMUL, preferred_element_type=preferred)
        for (_, _, preferred), (x, y) in zip(pairs, operands, strict=True)
    ]


def test_a_sum_in_float64_is_rounded_to_float16_by_way_of_float32_on_every_cpu():
    just_above_a_tie = np.array([[1 + 2.0**-11 + 2.0**-40, 0.0]])
    ones = np.ones((2, 1))
    out = agreed(
        lambda x, y: dot_general(x, y, MATMUL, preferred_element_type="float16"),
        just_above_a_tie,
        ones,
    )
    assert_same(out, np.array([[1.0]], "float16"))


@pytest.mark.slow
def test_operands_and_results_of_many_dtypes():
    pairs = [
        *(("bool", "bool", None), ("bool", "bool", np.int32)),
        *(("int8", "int8", None), ("int8", "int8", np.int32)),
        *(("int8", "int8", np.float32), ("uint8", "int8", None)),
        *(("uint64", "uint64", None), ("int32", "int32", np.int64)),
        *(("float32", "int8", None), ("float32", "bfloat16", None)),
        *(("float16", "bfloat16", None), ("float64", "float32", None)),
        *(("bfloat16", "bfloat16", None), ("bfloat16", "bfloat16", np.float32)),
        *(("float16", "float16", None), ("float16", "float16", np.float64)),
        *(("float32", "float32", BFLOAT16), ("float32", "float32", np.float64)),
        *(("complex64", "complex64", None), ("float64", "complex64", None)),
        *(("complex64", "complex64", np.complex128), ("float32", "complex128", None)),
    ]
    operands = [(draw((3, 5), a), draw((5, 2), b)) for a, b, _ in pairs]
    assert_as_jax(
        lambda v: products(dot_general, pairs, v),
        lambda v: products(lax.dot_general, pairs, v),
        operands,
        operation="contraction",
    )


def test_narrow_floats_are_added_in_float32():
    x = np.full((1, 1000), 1.0078125, BFLOAT16)
    y = np.ones((1000, 1), BFLOAT16)
    assert_same(
        agreed(lambda x, y: dot_general(x, y, MATMUL), x, y), [[BFLOAT16.type(1008)]]
    )
    big = np.array([[300, 300, -300]], np.float16)
    product = dot_general(big, np.full((3, 1), 300, np.float16), MATMUL)
    assert_same(product, np.full((1, 1), np.inf, np.float16))


def test_the_result_is_weak_only_if_both_operands_are():
    jaxpr = imprint.make_jaxpr(lambda x, y: dot_general(x, y, (((), ()), ((), ()))))
    assert jaxpr(1.0, 2.0).out_avals[0].weak_type
    assert not jaxpr(1.0, np.float32(2)).out_avals[0].weak_type


# ---- precision ----


def test_params_that_are_none_are_left_out():
    x = np.ones((2, 2), np.float32)
    assert printed(lambda x: dot_general(x, x, MATMUL), x) == [
        "b:f32[2,2] = dot_general[dimension_numbers=(((1,), (0,)), ((), ()))] a a"
    ]


@pytest.mark.parametrize(
    ("precision", "text"),
    [
        ("high", "precision = [HIGH, HIGH]"),
        ((Precision.HIGHEST, "default"), "precision = [HIGHEST, DEFAULT]"),
        ("BF16_BF16_F32_X3", "num_primitive_operations = 3"),
    ],
)
def test_the_precision_is_passed_to_the_engine(precision, text):
    def f(x):
        return dot_general(x, x, MATMUL, precision)

    x = np.ones((9, 9), np.float32)
    assert text in imprint.jit(f).lower(x).as_text()


def test_the_flag_enters_the_equation():
    x = np.ones((2, 2), np.float32)
    with imprint.default_matmul_precision("highest"):
        (eqn,) = imprint.make_jaxpr(lambda x: dot_general(x, x, MATMUL))(x).eqns
    assert eqn.params["precision"] == (Precision.HIGHEST, Precision.HIGHEST)


ALGORITHMS = [
    ("F32_F32_F32", "float32 float64 bfloat16"),
    ("BF16_BF16_F32", "float32 float16 bfloat16"),
    ("BF16_BF16_F32_X3", "float32"),
    ("BF16_BF16_F32_X6", "float32"),
    ("F16_F16_F16", "float16"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dtypes"), ALGORITHMS)
def test_algorithms_convert_floats(name, dtypes):
    operands = [
        (draw((3, 5), a), draw((5, 2), b))
        for a, b in itertools.product(dtypes.split(), repeat=2)
    ]
    ours = lambda v: [dot_general(x, y, MATMUL, name) for x, y in v]
    theirs = lambda v: [lax.dot_general(x, y, MATMUL, name) for x, y in v]
    with imprint.enable_x64(True), jax.enable_x64(True):
        want = [x.dtype for x in jax.eval_shape(theirs, operands)]
        assert [x.dtype for x in imprint.eval_shape(ours, operands)] == want
    # These sum in float32, so a float64 result has float32 precision.
    narrowed = lambda xs: [x.astype("f4") if x.dtype == "f8" else x for x in xs]
    assert_as_jax(
        lambda v: narrowed(ours(v)),
        lambda v: narrowed(theirs(v)),
        operands,
        operation="contraction",
    )


def test_algorithms_leave_integers_alone():
    x = draw((2, 3), "int32")
    found = agreed(lambda x: dot_general(x, x.T, MATMUL, "BF16_BF16_F32"), x)
    assert_same(found, x @ x.T)


# ---- derivatives and examples ----

NUMBERS = [
    *exhaustive(((5, 3), (3, 2), MATMUL)),
    ((3,), (3,), (((0,), (0,)), ((), ()))),
    *exhaustive(((2,), (3,), (((), ()), ((), ())))),
    ((), (), (((), ()), ((), ()))),
    ((2, 3, 4, 5), (5, 3, 6, 2), (((3, 1), (0, 1)), ((0,), (3,)))),
    *exhaustive(((3, 2, 4), (4, 3, 2), (((), ()), ((1, 0), (2, 1))))),
    ((2, 0), (0, 3), MATMUL),
    ((0, 2), (2, 3), MATMUL),
]


@pytest.mark.slow
@pytest.mark.parametrize(("left", "right", "numbers"), NUMBERS)
def test_gradients_and_examples_in_every_mix(left, right, numbers):
    x, y = draw(left, "float64"), draw(right, "float64")

    def both(dot, transforms, sin):
        def loss(x, y):
            return sin(dot(x, y, numbers)).sum()

        def run(x, y):
            found = [transforms.grad(loss, (0, 1))(x, y)]
            stacked = transforms.numpy.stack
            for i, j in itertools.product((None, *range(len(left) + 1)), (None, 0, -1)):
                if i is None and j is None:
                    continue
                args = [
                    v if at is None else stacked([v, v + 1, v - 1], at)
                    for v, at in ((x, i), (y, j))
                ]
                at = (i, None if j is None else j % (len(right) + 1))
                mapped = transforms.vmap(lambda x, y: dot(x, y, numbers), at)
                found.append(mapped(*args))
                total = transforms.grad(lambda *v, f=mapped: sin(f(*v)).sum(), (0, 1))
                found.append(total(*args))
            return found

        return run

    assert_as_jax(
        both(dot_general, imprint, imprint.numpy.sin),
        both(lax.dot_general, jax, jax.numpy.sin),
        x,
        y,
    )


@pytest.mark.parametrize(
    ("x", "y", "preferred"),
    [
        ("bfloat16", "bfloat16", np.float32),
        ("float32", "bfloat16", None),
        ("float16", "float16", np.float64),
        ("float64", "int8", None),
        ("complex128", "float64", None),
    ],
)
def test_cotangents_have_the_dtype_of_their_operand(x, y, preferred):
    x, y = draw((2, 3), x), draw((3, 4), y)
    weights = draw((2, 4), "float64")

    def pulled(vjp, dot):
        def fun(x):
            return dot(x, y, MATMUL, preferred_element_type=preferred)

        def run(x):
            out, pull = vjp(fun, x)
            return pull(weights.astype(out.dtype))

        return run

    assert_as_jax(pulled(imprint.vjp, dot_general), pulled(jax.vjp, lax.dot_general), x)


# ---- errors ----

X = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    "numbers",
    [
        (((0,), (0,)), ((1,), (0,))),
        (((1,), (1, 0)), ((), ())),
        (((2,), (0,)), ((), ())),
        (((1,), (0,)), ((), ())),
    ],
)
def test_axes_that_do_not_fit(numbers):
    assert message(ShapeError, dot_general, X, X, numbers) == (
        "dot_general: expected contracting axes of equal lengths and batch axes of equal "
        "lengths, each axis named once, got float32[2,3] and float32[2,3] with "
        f"dimension_numbers={numbers}. For matrices call imprint.numpy.matmul, for other "
        "products imprint.numpy.einsum."
    )


def test_a_result_too_narrow():
    x = X.astype(np.int32)
    assert message(DTypeError, dot_general, x, x.T, MATMUL, None, np.int8) == (
        "dot_general: expected a preferred_element_type no narrower than int32, got int8. "
        "Convert the result with `.astype(...)`."
    )


# ---- small products as sums ----

SMALL = {
    "a stack": ((140, 4, 4), (140, 4, 4), (((2,), (1,)), ((0,), (0,)))),
    "a stack, transposed": ((4, 3, 140), (5, 140, 4), (((0,), (2,)), ((2,), (1,)))),
    "vectors": ((1700, 5), (1700, 5), (((1,), (1,)), ((0,), (0,)))),
    "points": ((1000, 3), (3, 3), MATMUL),
    "a matrix and a vector": ((1100, 8), (8,), MATMUL),
    "two axes": ((180, 2, 4), (4, 6, 2), (((1, 2), (2, 0)), ((), ()))),
}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("dtype", ["float32", *exhaustive("float64")])
def test_a_small_product_is_a_sum(name, dtype):
    left, right, numbers = SMALL[name]
    x, y = draw(left, dtype), draw(right, dtype)
    fast, plain = texts(lambda x, y: dot_general(x, y, numbers), x, y)
    assert "dot_general" in plain
    assert "dot_general" not in fast

    def exact(x, y):
        (ours, theirs), (first, second) = numbers
        letters = iter("abcdefgh")
        one, two = [""] * x.ndim, [""] * y.ndim
        pairs = zip((*ours, *first), (*theirs, *second), strict=True)
        for i, j in pairs:
            one[i] = two[j] = next(letters)
        one, two = ([c or next(letters) for c in part] for part in (one, two))
        free = [c for c in (*one, *two) if not (c in one and c in two)]
        out = [*(one[i] for i in first), *free]
        return np.einsum(f"{''.join(one)},{''.join(two)}->{''.join(out)}", x, y)

    assert_sums_as_exact(
        lambda x, y: dot_general(x, y, numbers), exact, exact, 8, [x, y]
    )


def test_a_small_sum_has_the_signs_infinities_and_wraps_of_a_product():
    stack = (((2,), (1,)), ((0,), (0,)))
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e9], np.float32)
    x = RANDOM.choice(special, (310, 3, 3))
    y = RANDOM.choice(special, (310, 3, 3))
    assert_same_bits(*both(lambda x, y: dot_general(x, y, stack), x, y))
    whole = RANDOM.integers(-(2**31), 2**31 - 1, (310, 3, 3)).astype(np.int32)
    assert_same_bits(*both(lambda x: dot_general(x, x, stack), whole))


def test_few_small_products_are_sums_in_a_loop_alone():
    x = np.ones((4, 4), np.float32)
    product = partial(dot_general, dimension_numbers=MATMUL)
    assert "dot_general" in texts(lambda x: product(x, x), x)[0]
    power = partial(fori_loop, 0, 3, lambda _, x: product(x, x))
    fast, plain = texts(power, x)
    assert "dot_general" in plain
    assert "dot_general" not in fast
    after = texts(lambda x: product(power(x), x), x)[0]
    assert after.count("dot_general") == 1


LARGE = {
    "nine terms": ((70, 9, 9), (70, 9, 9), (((2,), (1,)), ((0,), (0,)))),
    "wide": ((900, 4), (4, 9), MATMUL),
    "one term": ((7000, 1), (1, 3), MATMUL),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_product_stays_one_where_that_is_faster(name):
    left, right, numbers = LARGE[name]
    fast, _ = texts(
        lambda x, y: dot_general(x, y, numbers),
        *(np.ones(shape, np.float32) for shape in (left, right)),
    )
    assert "dot_general" in fast


@pytest.mark.parametrize("dtype", ["bfloat16", "complex64", "int8", "bool"])
def test_other_dtypes_stay_products(dtype):
    x = draw((4, 4), dtype)
    fast, plain = texts(lambda x: dot_general(x, x, MATMUL), x)
    assert fast == plain
