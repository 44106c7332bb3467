"""Operands: ranks and dtypes that flags refuse, foreign classes, shapes that are iterables."""

import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import PromotionError, ShapeError

STACK = np.arange(24, dtype=np.float32).reshape(2, 3, 4) % 7
MATRIX, VECTOR = STACK[0], STACK[0, 0]
NUMBERS = np.arange(12, dtype=np.int32).reshape(3, 4)
SQUARES = STACK[..., :3] + 9 * np.eye(3, dtype=np.float32)

# ---- ranks ----

OF_ONE_RANK = {
    "tril": lambda np: np.tril(STACK),
    "isin": lambda np: np.isin(NUMBERS, np.asarray([3, 5])),
    "prod where": lambda np: np.prod(np.asarray(MATRIX), where=VECTOR > 2),
    "cov weights": lambda np: np.cov(MATRIX, aweights=VECTOR + 1),
    "polyfit": lambda np: np.polyfit(VECTOR, VECTOR, 1, cov=True)[1].shape,
    "packbits": lambda np: np.packbits(NUMBERS, axis=1),
    "unpackbits": lambda np: np.unpackbits(NUMBERS.astype(np.uint8), axis=1),
    "nanquantile": lambda np: np.nanquantile(MATRIX, np.asarray([0.1, 0.5]), axis=0),
    "percentile weights": lambda np: np.percentile(
        MATRIX, np.asarray([50, 60]), 1, weights=VECTOR + 1, method="inverted_cdf"
    ),
    "where": lambda np: np.where(MATRIX > 2, VECTOR, 0),
    "outer": lambda np: np.add.outer(np.asarray(MATRIX), np.asarray(VECTOR)),
    "matrix_rank": lambda np: np.linalg.matrix_rank(SQUARES),
    "det": lambda np: np.linalg.det(SQUARES),
}


@pytest.mark.parametrize("name", OF_ONE_RANK)
def test_a_function_promotes_no_ranks_of_its_own(name):
    with imprint.numpy_rank_promotion("raise"):
        got = OF_ONE_RANK[name](inp)
    with jax.numpy_rank_promotion("raise"):
        want = OF_ONE_RANK[name](jnp)
    np.testing.assert_allclose(got, want, rtol=1e-4)


def test_a_key_is_compared_with_keys():
    keys = imprint.random.split(imprint.random.key(0), 3)
    with imprint.numpy_rank_promotion("raise"):
        assert [*map(bool, keys[1] == keys)] == [False, True, False]
        assert [*map(bool, keys != keys[1])] == [True, False, True]


@pytest.mark.parametrize(
    "call",
    [
        lambda np: np.vectorize(np.add)(np.asarray(MATRIX), np.asarray(VECTOR)),
        lambda np: np.vectorize(np.dot, signature="(n),(n)->()")(MATRIX, VECTOR),
        lambda np: np.matvec(STACK, VECTOR),
        lambda np: np.vecmat(VECTOR[:3], STACK),
        lambda np: np.linspace(VECTOR, MATRIX, 3),
    ],
)
def test_ranks_of_the_caller_are_refused(call):
    with jax.numpy_rank_promotion("raise"), pytest.raises(ValueError, match="rank"):
        call(jnp)
    refused = pytest.raises(ShapeError, match="expected operands of one rank")
    with imprint.numpy_rank_promotion("raise"), refused:
        call(inp)


# ---- dtypes ----


@pytest.mark.parametrize(
    "call",
    [
        lambda np: np.asarray(VECTOR) ** np.arange(4),
        lambda np: np.power(np.asarray(VECTOR), np.arange(4)),
        lambda np: np.trapezoid(NUMBERS, np.asarray(VECTOR)),
    ],
)
def test_strict_promotion_refuses(call):
    with jax.numpy_dtype_promotion("strict"), pytest.raises(ValueError, match="promot"):
        call(jnp)
    with imprint.numpy_dtype_promotion("strict"), pytest.raises(PromotionError):
        call(inp)


@pytest.mark.parametrize("kind", ["float32", "complex64", "float16"])
def test_a_product_with_booleans_is_zero_where_they_are_false(kind):
    x, mask = np.array([np.inf, np.nan, -2], kind), np.array([False, False, True])
    want = jnp.asarray(x) * jnp.asarray(mask)
    for call in (operator.mul, imprint.jit(operator.mul)):
        for pair in ((x, mask), (mask, x)):
            got = call(*map(inp.asarray, pair))
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
    assert (inp.asarray(mask) * 1.5).weak_type


def test_a_remainder_of_zero_has_a_derivative():
    slope = imprint.grad(inp.remainder)
    for x, y in ((-4.0, 2.0), (4.0, -2.0), (4.0, 2.0)):
        assert float(slope(x, y)) == float(jax.grad(jnp.remainder)(x, y)) == 1
    assert imprint.grad(lambda x: inp.modf(x)[0])(-2.0) == 1


# ---- classes ----

METHODS = {
    "radd": operator.add,
    "rsub": operator.sub,
    "rmul": operator.mul,
    "rtruediv": operator.truediv,
    "rfloordiv": operator.floordiv,
    "rmod": operator.mod,
    "rpow": operator.pow,
    "rmatmul": operator.matmul,
    "rand": operator.and_,
    "ror": operator.or_,
    "rxor": operator.xor,
    "rlshift": operator.lshift,
    "rrshift": operator.rshift,
    "rdivmod": divmod,
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.lt,
    "ge": operator.le,
    "lt": operator.gt,
    "le": operator.ge,
}


@pytest.mark.parametrize("base", [tuple, list, dict, set])
def test_an_operator_leaves_the_result_to_a_container_that_has_it(base):
    for name, call in METHODS.items():
        kind = type("Mine", (base,), {f"__{name}__": lambda self, other: "mine"})
        assert call(inp.ones(4, int), kind()) == "mine"
        assert call(jnp.ones(4, int), kind()) == "mine"
        if name not in ("eq", "ne"):
            with pytest.raises(TypeError):
                call(inp.ones(4, int), type("Plain", (base,), {})())


def test_an_object_with_an_array_interface_is_an_array():
    class Foreign:
        def __init__(self, values):
            self.values = values
            self.__array_interface__ = values.__array_interface__

    for lib in (inp, jnp):
        for call in (lib.asarray, lib.array):
            np.testing.assert_array_equal(call(Foreign(VECTOR)), VECTOR)


# ---- shapes ----


class Lengths:
    def __iter__(self):
        return iter((2, 3))


@pytest.mark.parametrize(
    "make", [Lengths, lambda: iter((2, 3)), lambda: inp.array([2, 3])]
)
def test_a_shape_is_any_iterable_of_integers(make):
    key = imprint.random.key(0)
    for draw in (imprint.random.normal, imprint.random.bits, imprint.random.gumbel):
        assert draw(key, make()).shape == (2, 3)
    for call in (inp.zeros, inp.ones, inp.empty, inp.indices):
        assert call(make()).shape[-2:] == (2, 3)
    assert inp.full(make(), 1).shape == inp.broadcast_to(1.0, make()).shape == (2, 3)
    x = inp.arange(6)
    for got in (x.reshape(make()), inp.reshape(x, make()), inp.resize(x, make())):
        assert got.shape == (2, 3)


def test_what_has_no_order_is_no_shape():
    for shape in ({2, 3}, {2: 1}, "23"):
        with pytest.raises((ShapeError, TypeError)):
            imprint.random.normal(imprint.random.key(0), shape)
        with pytest.raises(TypeError):
            inp.reshape(inp.arange(6), shape)


# ---- copies ----


@pytest.mark.parametrize(
    "copied",
    [
        lambda x: x.astype(x.dtype, copy=True),
        lambda x: inp.array(x, copy=True),
        inp.copy,
        lambda x: x.copy(),
    ],
)
def test_a_copy_has_memory_of_its_own(copied):
    for x in (inp.ones(100), imprint.jit(lambda: inp.ones(100) + 1)()):
        places = [
            np.from_dlpack(a).__array_interface__["data"][0] for a in (x, copied(x))
        ]
        assert places[0] != places[1]
