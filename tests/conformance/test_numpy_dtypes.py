"""Dtypes and weak types of the results of imprint.numpy, for every mix of operands."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp

SOME = ("int8", "bfloat16", "float32", "weak float", "python int")
MOST = (
    *("bool", "int8", "int32", "uint8", "uint32", "bfloat16", "float16", "float32"),
    *("complex64", "weak int", "weak float", "weak complex", "python bool"),
    *("python int", "python float", "python complex", "numpy int8", "numpy float32"),
)
WEAK = {"weak int": 2, "weak float": 1.5, "weak complex": 1.5j}
PYTHON = {
    "python bool": True,
    "python int": 2,
    "python float": 1.5,
    "python complex": 1.5j,
}

UNARY = [
    "absolute",
    "all",
    "angle",
    "any",
    "argmax",
    "bitwise_count",
    "bitwise_not",
    "cbrt",
    "ceil",
    "conjugate",
    "count_nonzero",
    "deg2rad",
    "diff",
    "exp",
    "fabs",
    "floor",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "isposinf",
    "log10",
    "log2",
    "logical_not",
    "max",
    "mean",
    "min",
    "modf",
    "nan_to_num",
    "nanmax",
    "nanmean",
    "nansum",
    "nanstd",
    "negative",
    "ones_like",
    "positive",
    "prod",
    "ptp",
    "real",
    "reciprocal",
    "rint",
    "sign",
    "signbit",
    "sinc",
    "sqrt",
    "square",
    "std",
    "sum",
    "trunc",
    "var",
    "zeros_like",
]
WIDE = ["add", "equal", "floor_divide", "left_shift", "maximum", "power", "true_divide"]
NARROW = [
    "arctan2",
    "copysign",
    "divmod",
    "dot",
    "float_power",
    "fmax",
    "fmin",
    "fmod",
    "greater",
    "heaviside",
    "hypot",
    "isclose",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "matmul",
    "mod",
    "multiply",
    "nextafter",
    "outer",
    "right_shift",
    "subtract",
    "bitwise_and",
    "inner",
    "vdot",
]

# JAX refuses, or promises and then cannot compile; imprint's answer is in unit tests.
NOT_COMPARED = {
    ("argmax", "complex64"),
    ("argmax", "weak complex"),
    ("argmax", "python complex"),
    ("dot", "int8", "python int"),
    ("dot", "python int", "int8"),
}

if jax.__version_info__ < (0, 11):  # weak types changed since; imprint has the new ones
    NARROW.remove("hypot")
    UNARY.remove("log2")
    UNARY.remove("sinc")


def operand(library, kind):
    if kind in WEAK:
        return library.broadcast_to(library.asarray(WEAK[kind]), (3,))
    if kind in PYTHON:
        return PYTHON[kind]
    if kind.startswith("numpy "):
        return np.dtype(kind.removeprefix("numpy ")).type(1)
    return library.asarray(np.ones(3), dtype=kind)


def described(out):
    if isinstance(out, list | tuple):
        return tuple(map(described, out))
    weak = bool(out.weak_type)
    return f"{'~' if weak else ''}{np.dtype(out.dtype).name}{list(out.shape)}"


def answers(library, name, kinds):
    """Return the function's result for each tuple of kinds; None where it refuses."""
    found = {}
    for each in kinds:
        try:
            out = getattr(library, name)(*[operand(library, kind) for kind in each])
        except (TypeError, ValueError):
            out = None
        found[each] = None if out is None else described(out)
    return found


def check(name, kinds):
    with np.errstate(all="ignore"):
        got = answers(inp, name, kinds)
    want = {}
    jax.eval_shape(lambda: want.update(answers(jnp, name, kinds)))
    differ = {
        each: (want[each], got[each])
        for each in kinds
        if want[each] != got[each] and (name, *each) not in NOT_COMPARED
    }
    assert not differ, f"(JAX's, ours) differ: {differ}"


@pytest.mark.parametrize("name", UNARY)
def test_dtype_of_one_operand(name):
    check(name, [(kind,) for kind in MOST])


@pytest.mark.slow
@pytest.mark.parametrize("name", WIDE)
def test_dtype_of_every_pair(name):
    check(name, list(itertools.product(MOST, repeat=2)))


@pytest.mark.parametrize("name", NARROW)
def test_dtype_of_some_pairs(name):
    check(name, list(itertools.product(SOME, repeat=2)))


@pytest.mark.parametrize(
    "name",
    [
        *("add", "true_divide", "mean", "sin", "sum", "exp2"),
        *("square", "power", "remainder", "prod", "cumsum", "bitwise_count"),
    ],
)
def test_dtype_with_64_bits(name):

    kinds = ["bool", "int32", "int64", "uint64", "float64", "float16", "weak int"]
    arity = 2 if name in ("add", "true_divide", "power", "remainder") else 1
    with imprint.enable_x64(True), jax.enable_x64(True):
        check(name, list(itertools.product(kinds, repeat=arity)))
