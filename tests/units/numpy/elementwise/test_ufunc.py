"""ufuncs and their methods, as in JAX."""

import copy
import inspect
import operator
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.lanes import exhaustive, exhaustive_but

NAMES = (
    *("add", "multiply", "subtract", "maximum", "minimum", "negative"),
    *("bitwise_and", "bitwise_or", "bitwise_xor"),
    *("logical_and", "logical_or", "logical_xor", "logaddexp", "logaddexp2"),
)
BINARY = [name for name in NAMES if name != "negative"]
X = np.array([[3, 0, 5, 6], [1, 2, 0, 7], [4, 4, 1, 2]])
OTHER = np.array([[True, False, True, True]])
DTYPES = ("int32", "float32", "bool", "uint8")


def operand(name, dtype):
    if name.startswith("bitwise" if dtype == "float32" else "logaddexp"):
        return None
    return (X > 2) if dtype == "bool" else X.astype(dtype)


def outcome(call):
    """Return a result, or the error classes that it may be caught as."""
    try:
        return call()
    except Exception as err:
        return type(err)


def check(call):
    """Compare the results of a call with imprint and JAX."""
    want = outcome(lambda: call(jnp))
    got = outcome(lambda: call(inp))
    if isinstance(want, type):
        assert isinstance(got, type), (got, want)
        assert issubclass(got, want), (got, want)
        return
    assert not isinstance(got, type), got
    assert_same(got, want)


def assert_same(got, want):
    assert imprint.tree.structure(got) == imprint.tree.structure(want)
    for one, other in zip(
        imprint.tree.leaves(got), imprint.tree.leaves(want), strict=True
    ):
        assert (one.shape, str(one.dtype)) == (other.shape, str(other.dtype))
        assert one.aval.weak_type == other.aval.weak_type
        np.testing.assert_allclose(
            np.asarray(one), np.asarray(other), rtol=2e-6, atol=1e-6
        )


def test_the_functions_that_jax_has_as_ufuncs():
    theirs = [name for name in dir(jnp) if isinstance(getattr(jnp, name), jnp.ufunc)]
    ours = [name for name in dir(inp) if isinstance(getattr(inp, name), inp.ufunc)]
    assert ours == theirs == sorted(NAMES)
    for name in NAMES:
        one, other = getattr(inp, name), getattr(jnp, name)
        for fact in ("nin", "nout", "nargs", "identity", "__name__"):
            assert getattr(one, fact) == getattr(other, fact), (name, fact)


def calls(name, x):
    indices = np.array([0, 2, 2, 1])
    number = x.dtype.type
    return (
        lambda np: getattr(np, name).reduce(x),
        lambda np: getattr(np, name).reduce(x, axis=-1, keepdims=True),
        lambda np: getattr(np, name).reduce(x, axis=None, initial=number(1)),
        lambda np: getattr(np, name).reduce(x, where=OTHER, initial=number(0)),
        lambda np: getattr(np, name).accumulate(x, axis=1),
        lambda np: getattr(np, name).reduceat(x, indices),
        lambda np: getattr(np, name).reduceat(x, np.array([1, 3]), axis=-1),
        lambda np: getattr(np, name).at(x, indices, x[0][:, None], inplace=False),
        lambda np: getattr(np, name).outer(x[0], x[:, :2]),
    )


@pytest.mark.parametrize("name", exhaustive_but(("maximum", "bitwise_or"), BINARY))
def test_methods_are_those_of_jax(name):
    for dtype in DTYPES if name in ("add", "minimum") else DTYPES[:2]:
        x = operand(name, dtype)
        for call in () if x is None else calls(name, x):
            check(call)


@pytest.mark.parametrize("name", exhaustive_but(("add", "subtract"), BINARY))
def test_edges_are_those_of_jax(name):
    x, empty = X, np.zeros((0, 2), "int32")
    f = operator.attrgetter(name)
    for call in (
        lambda np: f(np).reduce(empty),
        lambda np: f(np).reduce(empty, axis=1, keepdims=True),
        lambda np: f(np).reduce(x, where=OTHER),
        lambda np: f(np).reduce(x, axis=2),
        lambda np: f(np).reduce(x, where=x, initial=0),
        lambda np: f(np).reduce(3),
        lambda np: f(np).accumulate(empty),
        lambda np: f(np).accumulate(x, axis=3),
        lambda np: f(np).at(x, (1, np.array([0, 0, 7])), 3, inplace=False),
        lambda np: f(np).at(x, 0, 1),
        lambda np: f(np).reduce(x, out=(1,)),
        lambda np: f(np).accumulate(x, out=(1,)),
        lambda np: f(np).reduceat(x, np.array([0]), out=(1,)),
        lambda np: f(np).reduceat(x, np.array([[0]])),
        lambda np: f(np).reduceat(x, np.array([0]), axis=None),
        lambda np: f(np)(x, x, out=(1,)),
        lambda np: f(np)(x, x, where=OTHER),
        lambda np: f(np)([1], 2),
    ):
        check(call)


PYTHON = {
    "hypotenuse": (lambda x, y: (x * x + y * y) ** 0.5, 2, 1, None),
    "weighted": (lambda x, y: x + 2 * y, 2, 1, 0),
}


@pytest.mark.parametrize("name", ["weighted", *exhaustive("hypotenuse")])
def test_functions_of_python(name):
    func, nin, nout, identity = PYTHON[name]
    x, mask = X.astype("float32") / 4, OTHER[0]
    where = {} if identity is None else {"where": OTHER}

    def of(np):
        return np.frompyfunc(func, nin, nout, identity=identity)

    for call in (
        lambda np: of(np)(x, 2),
        lambda np: of(np)(x, [1]),
        lambda np: of(np)(x[0], x),
        lambda np: of(np).reduce(x),
        lambda np: of(np).reduce(x, axis=None, keepdims=True, **where),
        lambda np: of(np).reduce(x, axis=-1, keepdims=True, initial=3, where=OTHER),
        lambda np: of(np).reduce(X, dtype="float32", where=mask),
        lambda np: of(np).reduce(x[:0]),
        lambda np: of(np).reduce(x, axis=(0, 1)),
        lambda np: of(np).accumulate(x, axis=-1),
        lambda np: of(np).accumulate(X, dtype="float32"),
        lambda np: of(np).accumulate(x, axis=None),
        lambda np: of(np).reduceat(x, np.array([2, 0, 1])),
        lambda np: of(np).at(x, np.array([0, 2, 0]), x[:, :1], inplace=False),
        lambda np: of(np).at(x, (np.array([0, 2, 0]), 1), 2, inplace=False),
        lambda np: of(np).at(x, [0, 1], 2, inplace=False),
        lambda np: of(np).outer(x[0], x[:, :2]),
    ):
        check(call)


def test_functions_of_one_number_and_of_two_results():
    def both(x, y):
        return x + y, x - y

    for call in (
        lambda np: np.frompyfunc(both, 2, 2)(X, 1.5),
        lambda np: np.frompyfunc(both, 2, 2).reduce(X),
        lambda np: np.frompyfunc(both, 2, 2).outer(X, X),
        lambda np: np.frompyfunc(abs, 1, 1).accumulate(X),
        lambda np: np.frompyfunc(abs, 1, 1)(X - 3),
        lambda np: np.frompyfunc(abs, 1, 1).at(X - 9, np.array([1, 1]), inplace=False),
        lambda np: np.negative.at(X, np.array([1, 1, 2]), inplace=False),
        lambda np: np.negative.reduce(X),
    ):
        check(call)


def test_under_jit_and_vmap_and_grad():
    x = X.astype("float32") / 4 + 1

    def of(np, lib):
        joined = np.frompyfunc(lambda a, b: a * b + b, 2, 1)

        def f(x):
            places = np.array([0, 2, 0])
            return (
                joined.reduce(x),
                joined.accumulate(x, axis=1),
                joined.reduceat(x, places),
                joined.at(x, places, x[:, :1], inplace=False),
                joined.outer(x[0], x[1]),
                np.maximum.at(x, places, 2 * x[:, :1], inplace=False),
                np.logaddexp.reduce(x, axis=0, where=OTHER, keepdims=True),
                np.logical_and.accumulate(x > 1.1),
            )

        def total(x):
            return sum(np.sum(y * y) for y in f(x) if y.dtype == "float32")

        def all_of(x):
            mapped = lib.vmap(f, in_axes=1, out_axes=0)(np.stack([x, x + 1], 1))
            return f(x), mapped, lib.grad(total)(x)

        return lib.jit(all_of)(x)

    assert_same(of(inp, imprint), of(jnp, jax))


def test_values_are_repeated_to_the_part_as_numpy_does():
    start = np.arange(24).reshape(2, 3, 4)
    for index, values in (
        (np.array([0, 1, 1]), 32 << np.arange(4)),  # JAX takes one for each row
        ((slice(None), np.array([1, 1])), 32 << np.arange(8).reshape(2, 1, 4)),
        ((slice(1), 1), 32),
        ((np.array([[0], [1]]), slice(2), np.array([0, 2])), np.array([32, 64])),
        ((..., np.array([1, 1, 3])), np.array([32, 64, 128])),
        (start > 7, 32),
    ):
        want = start.copy()
        np.bitwise_or.at(want, index, values)
        got = inp.bitwise_or.at(start, index, values, inplace=False)
        assert np.array_equal(got, want)


def test_a_reduction_of_logarithms_has_the_requested_dtype():
    assert inp.logaddexp.reduce(X, dtype="bfloat16").dtype == "bfloat16"
    assert jnp.logaddexp.reduce(X, dtype="bfloat16").dtype == "float32"


def test_methods_of_your_own():
    f = inp.ufunc(
        operator.add,
        2,
        1,
        name="plus",
        nargs=3,
        identity=0,
        reduce=lambda a, **given: ("reduce", sorted(given)),
        accumulate=lambda a, **given: ("accumulate", given),
        reduceat=lambda a, indices, **given: ("reduceat", indices, given),
        at=lambda a, *given: ("at", given),
        call=lambda x, y: x - y,
    )
    assert f.__name__ == "plus"
    assert repr(f) == "<imprint.numpy.ufunc 'plus'>"
    assert (f.nargs, f(5, 3)) == (3, 2)
    assert f.reduce(X)[1] == ["axis", "dtype", "initial", "keepdims", "where"]
    assert f.accumulate(X) == ("accumulate", {"axis": 0, "dtype": None})
    assert f.reduceat(X, 1) == ("reduceat", 1, {"axis": 0, "dtype": None})
    assert f.at(X, 1, inplace=False) == ("at", (1,))
    assert f.at(X, 1, 2, inplace=False) == ("at", (1, 2))


def test_a_ufunc_is_a_value():
    assert inspect.signature(inp.add) == inspect.signature(inspect.unwrap(inp.add))
    assert inp.add.__doc__.startswith("Add, elementwise")
    assert inp.add != inp.multiply
    assert inp.frompyfunc(max, 2, 1) == inp.frompyfunc(max, 2, 1)
    assert hash(inp.frompyfunc(max, 2, 1)) == hash(inp.frompyfunc(max, 2, 1))
    assert inp.frompyfunc(max, 2, 1) != inp.frompyfunc(max, 2, 1, identity=0)
    assert inp.add != "add"
    for f in (inp.add, inp.frompyfunc(operator.add, 2, 1, identity=0)):
        assert repr(f).startswith("<imprint.numpy.ufunc 'add'")
        assert pickle.loads(pickle.dumps(f)) == copy.deepcopy(f) == f
        assert copy.copy(f).reduce(X).tolist() == X.sum(0).tolist()
    with pytest.raises(AttributeError):
        inp.add.nin = 3


def test_a_ufunc_in_a_program_is_its_equations():
    scale = 2.0
    traced = []

    def step(x, f):
        traced.append(f)
        return f.reduce(x) * inp.add.outer(x, x)

    def made():
        return inp.frompyfunc(lambda a, b: a + scale * b, 2, 1)

    compiled = imprint.jit(step, static_argnums=1)
    x = inp.arange(3.0)
    first = compiled(x, made())
    compiled(x, made())
    assert len(traced) == 1
    scale = 3.0
    assert not np.array_equal(compiled(x, made()), first)

    class Layer:
        activation = inp.maximum

    assert Layer().activation(1, 2) == 2


MESSAGES = {
    lambda: inp.add(1, 2, out=X): (
        "add: expected no out, got ndarray array([[3, 0, 5, 6], [1, 2, 0, 7], [4, 4, 1, 2]]). Arrays are immutable: use what add "
        "returns."
    ),
    lambda: inp.add(1, 2, where=True): (
        "add: expected no where, got bool True: what it leaves out has no value. Write "
        "imprint.numpy.where(mask, add(...), other)."
    ),
    lambda: inp.maximum.reduce(X, where=X > 1): (
        "maximum.reduce: expected initial beside where, got only where. No element may "
        "be left, and maximum has no identity: pass initial=."
    ),
    lambda: inp.add.reduce(X, where=X): (
        "add.reduce: expected booleans for where, got int32[3,4]. Compare it first: "
        "where=x != 0."
    ),
    lambda: inp.maximum.reduce(X[:0]): (
        "maximum.reduce: expected at least one element along axes (0,), got int32[0,4]. "
        "Nothing has no maximum.reduce: pass initial=."
    ),
    lambda: inp.subtract.reduce(X[:0]): (
        "subtract.reduce: expected at least one element along axis 0, got int32[0,4]. "
        "subtract has no identity: pass initial=."
    ),
    lambda: inp.subtract.reduce(X, axis=(0, 1)): (
        "subtract.reduce: expected one axis, got (0, 1): what subtract gives depends on "
        "the order of elements. Reduce along one axis after the other."
    ),
    lambda: inp.subtract.accumulate(X, axis=None): (
        "subtract.accumulate: expected one axis, got None. Flatten the array with "
        "imprint.numpy.ravel, or reduce along one axis after the other."
    ),
    lambda: inp.negative.reduce(X): (
        "negative.reduce: expected a function of two operands and one result, got nin=1, "
        "nout=1. Call negative itself."
    ),
    lambda: inp.add.at(X, 0, 1): (
        "add.at: expected inplace=False, got True. Arrays are immutable: write a = "
        "add.at(a, indices, b, inplace=False)."
    ),
    lambda: inp.bitwise_or.reduce(1.5 * X): (
        "bitwise_or.reduce: expected integers or booleans, got float32[3,4]. Convert it "
        "with .astype(int)."
    ),
    lambda: inp.add.reduceat(X, 1): (
        "add.reduceat: expected a vector of integers for indices, got ~int32[]. Give the "
        "index where each part begins."
    ),
    lambda: inp.subtract.at(X, [0], 1, inplace=False): (
        "subtract.at: expected an index, got list [0]. Make it an array with "
        "imprint.numpy.asarray, or a tuple, one entry for each axis."
    ),
    lambda: inp.frompyfunc(lambda x, y: (x, y), 2, 1).reduce(X): (
        "<lambda>.reduce: expected <lambda> to return one number, got tuple. Return an "
        "array or a number."
    ),
    lambda: inp.frompyfunc(
        3, 2, 1
    ): "frompyfunc: expected a function, got 3 of type int.",
}


@pytest.mark.parametrize("call", MESSAGES)
def test_error_messages(call):
    with pytest.raises((TypeError, ValueError, NotImplementedError)) as caught:
        call()
    assert str(caught.value) == MESSAGES[call]
