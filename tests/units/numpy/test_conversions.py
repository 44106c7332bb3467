"""Conversions as in JAX: index tricks, arrays from bytes and files, bits."""

import io

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, DTypeError, ShapeError
from tests.tolerances import assert_close

X = np.array([[1.5, -2.25, 0.0], [3e-30, -7e30, 0.1]], np.float32)
ODD = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 3.4e38, 1.2e-38], np.float32)
N = np.array([[3, 0, -1, 200], [7, 8, 0, 0], [1, 2, 3, 4]], np.int32)
BYTES = np.array([[3, 128, 255], [0, 1, 77]], np.uint8)
MANY = (np.arange(44) % 3 > 0).reshape(4, 11)
AT = (np.array([0, 1, 1]), np.array([3, 0, 2], np.int8), np.array([1, 1, 0]))


CALLS = {
    "mgrid": lambda q: q.mgrid[0:4],
    "mgrid by a number": lambda q: q.mgrid[0:1:4j],
    "mgrid of two": lambda q: q.mgrid[:2, 1:7:3],
    "mgrid of mixed": lambda q: q.mgrid[-1:1:5j, 0:3, 5:2:-1],
    "ogrid": lambda q: q.ogrid[2:9:2],
    "ogrid of two": lambda q: q.ogrid[:2, 0:1:3j],
    "r_": lambda q: q.r_[-1:5:1, 0, 0, q.array([1, 2, 3])],
    "r_ of floats": lambda q: q.r_[-1:1:6j, 0, np.array([1, 2], np.float32)],
    "r_ of matrices": lambda q: q.r_[N, N[:1]],
    "r_ axis": lambda q: q.r_["-1", N, N],
    "r_ rank": lambda q: q.r_["0,2", [1, 2, 3], [4, 5, 6]],
    "r_ front": lambda q: q.r_["0,2,0", [1, 2, 3], [4, 5, 6]],
    "r_ from behind": lambda q: q.r_["1,3,-2", [1, 2, 3], [4, 5, 6]],
    "r_ row": lambda q: q.r_["r", [1, 2], [3]],
    "r_ column": lambda q: q.r_["c", [1, 2], 3],
    "c_": lambda q: q.c_[[1, 2, 3], [4, 5, 6]],
    "c_ of matrices": lambda q: q.c_[N, N, [[1], [2], [3]]],
    "c_ row": lambda q: q.c_["r", [1, 2], [3, 4]],
    "c_ rank": lambda q: q.c_["0,2,-1", [1, 2], [3, 4]],
    "packbits": lambda q: q.packbits(N),
    "packbits axis": lambda q: q.packbits(N, 0),
    "packbits booleans": lambda q: q.packbits(MANY, axis=-1, bitorder="little"),
    "packbits of nothing": lambda q: q.packbits(N[:0]),
    "unpackbits": lambda q: q.unpackbits(BYTES),
    "unpackbits axis": lambda q: q.unpackbits(BYTES, 0, bitorder="little"),
    "unpackbits few": lambda q: q.unpackbits(BYTES, -1, 5),
    "unpackbits more": lambda q: q.unpackbits(BYTES, axis=1, count=30),
    "unpackbits but some": lambda q: q.unpackbits(BYTES, count=-3),
    "frexp": lambda q: q.frexp(X),
    "frexp of integers": lambda q: q.frexp(N),
    "frexp of halves": lambda q: q.frexp(X[:1].astype(np.float16)),
    "frexp at the limits": lambda q: q.frexp(ODD),
    "ldexp": lambda q: q.ldexp(X, np.array([3, -2, 100])),
    "ldexp by int8": lambda q: q.ldexp(X, np.array([3, -2, 100], np.int8)),
    "ldexp by uint32": lambda q: q.ldexp(X, np.array([3, 2, 100], np.uint32)),
    "ldexp far": lambda q: q.ldexp(X[1, :2], np.array([127, -120])),
    "ldexp of an integer": lambda q: q.ldexp(3, 4),
    "ldexp of halves": lambda q: q.ldexp(X[0].astype(np.float16), 2),
    "ldexp at the limits": lambda q: q.ldexp(ODD[:7], -3),
    "spacing": lambda q: q.spacing(X),
    "spacing of halves": lambda q: q.spacing(X[0].astype(np.float16)),
    "spacing of integers": lambda q: q.spacing(N[2]),
    "ravel_multi_index": lambda q: q.ravel_multi_index(AT, (2, 4, 3)),
    "ravel_multi_index F": lambda q: q.ravel_multi_index(AT, (2, 4, 3), order="F"),
    "ravel_multi_index clip": lambda q: q.ravel_multi_index(AT, (1, 2, 2), "clip"),
    "ravel_multi_index wrap": lambda q: q.ravel_multi_index(AT, (1, 2, 2), "wrap"),
    "ravel_multi_index ignore": lambda q: q.ravel_multi_index(AT, (1, 2, 2), "ignore"),
    "ravel_multi_index narrow": lambda q: q.ravel_multi_index(AT, (2, 4, 3), dtype="int8"),
    "fill_diagonal": lambda q: q.fill_diagonal(X, 7, inplace=False),
    "fill_diagonal high": lambda q: q.fill_diagonal(N.T, np.array([1, 2]), inplace=False),
    "fill_diagonal low": lambda q: q.fill_diagonal(N, np.ones((3, 1), "int32"), inplace=False),
    "fill_diagonal cube": lambda q: q.fill_diagonal(
        np.zeros((3, 3, 3)), np.arange(4.0), inplace=False
    ),
    "frombuffer": lambda q: q.frombuffer(b"\x01\x02\x03\x04\x05", "uint16", 1, 1),
    "frombuffer of floats": lambda q: q.frombuffer(np.arange(3.0).tobytes()),
    "fromstring": lambda q: q.fromstring("1.5, 2, -3", sep=","),
    "fromstring of integers": lambda q: q.fromstring("1 2 3", int, 2, sep=" "),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_as_jax(name):
    call = CALLS[name]
    expected = jax.tree.leaves(call(jnp))
    for got in (call(inp), imprint.jit(lambda: call(inp))()):
        parts = imprint.tree.leaves(got)
        for x, y in zip(parts, expected, strict=True):
            assert (x.dtype, x.shape) == (y.dtype, y.shape)
            assert_close(x, y)


TRACED = {
    "packbits": (lambda q, x: q.packbits(x > 0)),
    "frexp": (lambda q, x: q.frexp(x)),
    "ldexp": (lambda q, x: q.ldexp(x, 5)),
    "r_": (lambda q, x: q.r_[x[0], 0:2, x[1]]),
    "c_": (lambda q, x: q.c_[x, x]),
    "fill_diagonal": (lambda q, x: q.fill_diagonal(x, x[0, :2], inplace=False)),
}


@pytest.mark.parametrize("name", TRACED)
def test_traced_as_jax(name):
    call = TRACED[name]
    got = imprint.jit(lambda x: call(inp, x))(X)
    expected = jax.jit(lambda x: call(jnp, x))(X)
    for x, y in zip(imprint.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert_close(x, y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["frexp", "spacing"])
def test_parts_of_subnormal_numbers(name, dtype):
    info = np.finfo(dtype)
    sizes = [0, info.smallest_subnormal, info.tiny / 3, info.tiny, 1, info.max, np.inf]
    x = np.array([*sizes, np.nan, *(-np.array(sizes))], dtype)
    with imprint.enable_x64(True), np.errstate(all="ignore"):
        want = getattr(np, name)(x)
        for call in (getattr(inp, name), imprint.jit(getattr(inp, name))):
            got = call(inp.asarray(x))
            for a, b in zip(*map(imprint.tree.leaves, (got, want)), strict=True):
                np.testing.assert_array_equal(a, b)
                if name == "frexp":
                    a, b = a[~np.isnan(b)], b[~np.isnan(b)]
                    np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


@pytest.mark.parametrize("name", ["frexp", "ldexp", "r_", "c_", "fill_diagonal"])
def test_derivatives_are_those_of_jax(name):
    call = TRACED[name]
    x = np.array([[1.5, -2.25, 3.0], [5.0, -7.0, 0.1]], np.float32)
    loss = {
        q: lambda x, q=q, tree=tree: (tree.leaves(call(q, x))[0] ** 2).sum()
        for q, tree in ((inp, imprint.tree), (jnp, jax.tree))
    }
    assert_close(imprint.grad(loss[inp])(x), jax.grad(loss[jnp])(x))


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "bfloat16"])
def test_a_saved_file_loads_as_the_same_array(dtype):
    x = inp.array([[0, 1], [2, 3]], dtype)
    file = io.BytesIO()
    inp.save(file, x)
    got = inp.load(io.BytesIO(file.getvalue()))
    expected = jnp.load(io.BytesIO(file.getvalue()))
    assert got.dtype == expected.dtype == x.dtype
    assert got.tolist() == x.tolist()


def test_a_file_of_something_else_is_numpys():
    file = io.BytesIO()
    np.savez(file, a=X)
    assert inp.load(io.BytesIO(file.getvalue()))["a"].shape == X.shape
    file = io.BytesIO()
    np.save(file, np.array(["a", "b"]))
    assert inp.load(io.BytesIO(file.getvalue())).tolist() == ["a", "b"]


WRONG = {
    "a grid of a number": (lambda q: q.ogrid[0, 1], ArgumentError),
    "a text behind": (lambda q: q.r_[1, "r"], ArgumentError),
    "a text of nothing": (lambda q: q.r_["a,b", [1]], ArgumentError),
    "packbits of floats": (lambda q: q.packbits(X), DTypeError),
    "packbits order": (lambda q: q.packbits(N, bitorder="middle"), ArgumentError),
    "unpackbits of integers": (lambda q: q.unpackbits(N), DTypeError),
    "frexp of complex": (lambda q: q.frexp(1j), DTypeError),
    "ldexp by floats": (lambda q: q.ldexp(X, 1.5), DTypeError),
    "spacing of complex": (lambda q: q.spacing(1j), DTypeError),
    "outside": (lambda q: q.ravel_multi_index(AT, (2, 3, 3)), ArgumentError),
    "too few": (lambda q: q.ravel_multi_index(AT, (2, 3)), ShapeError),
    "floats": (lambda q: q.ravel_multi_index((X,), (2,)), DTypeError),
    "mode": (lambda q: q.ravel_multi_index(AT, (2, 4, 3), "never"), ArgumentError),
    "order": (lambda q: q.ravel_multi_index(AT, (2, 4, 3), order="K"), ArgumentError),
    "too large": (
        lambda q: q.ravel_multi_index(AT, (2, 400, 3), dtype="int8"),
        ArgumentError,
    ),
    "in place": (lambda q: q.fill_diagonal(N, 1), NotImplementedError),
    "a vector": (lambda q: q.fill_diagonal(N[0], 1, inplace=False), ShapeError),
    "a box": (
        lambda q: q.fill_diagonal(np.zeros((2, 3, 3)), 1, inplace=False),
        ShapeError,
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_calls_that_jax_refuses_raise(name):
    call, error = WRONG[name]
    with pytest.raises(error, match="expected"):
        call(inp)
    with pytest.raises(
        (ValueError, TypeError, AssertionError, NotImplementedError, AttributeError)
    ):
        call(jnp)


def test_options_of_printing_hold_for_arrays():
    x, expected = inp.asarray(X[0]), jnp.asarray(X[0])
    assert inp.array_repr(x, precision=1) == jnp.array_repr(expected, precision=1)
    assert inp.array_str(x) == jnp.array_str(expected)
    with inp.printoptions(precision=1):
        assert inp.get_printoptions()["precision"] == 1
        assert repr(x) == repr(expected)
    assert [inp.iterable(v) for v in (x, [1], 1)] == [True, True, False]


def test_a_slice_without_an_end_is_no_grid():
    with pytest.raises(TypeError, match="expected slices with an end"):
        inp.mgrid[1:]  # JAX takes 1 for the end


def test_positions_that_are_traced_need_a_mode():
    with pytest.raises(TypeError, match="traced"):
        imprint.jit(lambda i: inp.ravel_multi_index((i,), (3,)))(inp.arange(2))
