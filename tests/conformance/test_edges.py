"""Functions of one and two arrays compared with NumPy at edge arguments.

The grid has both zeros, infinities, NaN, the ends of the integers, booleans, empty arrays
and arrays of one element, and diagonals far outside of a matrix. Where an integer result
is none (a division by 0, a number out of range), it stays out of the grid.
"""

import warnings

import numpy as np
import pytest

import imprint
import imprint.numpy as inp

inf, nan = np.inf, np.nan
FLOATS = np.float32([0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.5, 1e30, inf, -inf, nan])
INT = np.iinfo(np.int32)
INTEGERS = np.int32([INT.min, -7, -1, 0, 1, 2, INT.max])
SMALL = np.int32([-7, -1, 1, 2, 8])
COUNTS = np.int32([0, 1, 2, 31])
BYTES = np.uint8([1, 7, 128, 255])
BOOLS = np.bool_([False, True])
ROWS = np.float32([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8], [9, 7, 9, 3]])
MATRIX = np.stack([FLOATS, FLOATS[::-1]])

UNARY = [
    "absolute",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "cbrt",
    "ceil",
    "conjugate",
    "cos",
    "cosh",
    "deg2rad",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_not",
    "modf",
    "nan_to_num",
    "negative",
    "rad2deg",
    "real",
    "rint",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
    "sum",
    "prod",
    "mean",
    "var",
    "all",
    "any",
    "nansum",
    "nanprod",
    "cumsum",
    "cumprod",
    "nancumsum",
    "nancumprod",
    "argsort",
    "diff",
    "flip",
    "ediff1d",
    "count_nonzero",
    "round",
]
OF_SOME = [
    "max",
    "min",
    "argmax",
    "argmin",
    "ptp",
    "nanmax",
    "nanmin",
    "median",
    "nanmedian",
    "spacing",
    "frexp",
]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "fmod",
    "divmod",
    "arctan2",
    "copysign",
    "hypot",
    "heaviside",
    "logaddexp",
    "logaddexp2",
    "fmax",
    "fmin",
    "nextafter",
    "power",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "isclose",
]
OF_INTEGERS = [
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
    "equal",
    "less",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "gcd",
]
OF_DIVISORS = ["divide", "floor_divide", "remainder", "fmod", "divmod"]
OF_COUNTS = ["power", "left_shift", "right_shift"]
FAR = 2**40


def grid():
    """Return the cases: a name, and a function of the library and its `asarray`."""
    cases = {}

    def add(name, *groups):
        cases[name] = lambda lib, a: [
            getattr(lib, name)(*map(a, group)) for group in groups
        ]

    for name in OF_SOME:
        add(name, (FLOATS,), (FLOATS[:1],), (FLOATS[7:9],))
    for name in UNARY:
        of_bools = () if name in ("ediff1d", "negative") else ((BOOLS,),)
        add(name, (FLOATS,), (FLOATS[:1],), (FLOATS[:0],), (SMALL,), *of_bools)
    column = FLOATS[:, None]
    for name in BINARY:
        add(name, (column, FLOATS), (FLOATS[:0], FLOATS[:1]), (FLOATS[2:3], column))
    ways = (OF_INTEGERS, INTEGERS), (OF_DIVISORS, SMALL), (OF_COUNTS, COUNTS)
    for names, other in ways:
        for name in names:
            call = cases.get(name, lambda lib, a: [])
            cases[name] = lambda lib, a, name=name, call=call, other=other: [
                *call(lib, a),
                getattr(lib, name)(a(INTEGERS[:, None]), a(other)),
                getattr(lib, name)(a(BYTES[:, None]), a(BYTES[: len(other)])),
            ]
    return cases | {
        "tri": lambda lib, a: [lib.tri(3, 4, k) for k in (FAR, -FAR, 4, -4)],
        "eye": lambda lib, a: [lib.eye(3, 4, k) for k in (FAR, -FAR, 4, -4)],
        "tril": lambda lib, a: [lib.tril(a(MATRIX), k) for k in (FAR, -FAR)],
        "triu": lambda lib, a: [lib.triu(a(MATRIX), k) for k in (FAR, -FAR)],
        "roll": lambda lib, a: [lib.roll(a(FLOATS), k) for k in (FAR, -FAR)],
        "rot90": lambda lib, a: [lib.rot90(a(column), k) for k in (FAR + 1, -FAR)],
        "round to tens": lambda lib, a: [lib.round(a(FLOATS), k) for k in (-30, -1, 2)],
        "interp": lambda lib, a: [
            lib.interp(
                a(np.float32([-1, 0, 0.5, 1, 1.5, 2, 9])),
                a(np.float32(places)),
                a(np.float32([1, 2, 5, 6])),
            )
            for places in ([0, 1, 1, 2], [0, 0, 1, 2], [0, 1, 2, 2], [1, 1, 1, 1])
        ],
        "quantile": lambda lib, a: [
            lib.quantile(a(np.float32(np.arange(n))), a(np.float32(q)), method=method)
            for n in (1, 2, 4, 6)
            for q in (0.5, [0, 1])
            for method in ("nearest", "lower", "higher", "linear", "midpoint")
        ],
        "nanquantile": lambda lib, a: [
            lib.nanquantile(a(np.float32([*range(n), nan])), 0.5, method="nearest")
            for n in (2, 4, 6)
        ],
        "quantile of rows": lambda lib, a: [
            call(a(ROWS), a(np.float32([0.1, 0.5, 0.9])), axis=axis, method="nearest")
            for call in (lib.quantile, lib.nanquantile)
            for axis in (None, 0, 1)
        ],
    }


CASES = grid()


def results(call):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [np.asarray(x) for x in imprint.tree.leaves(call())]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CASES)
def test_eager_values(name):
    compare(results(lambda: CASES[name](inp, inp.asarray)), name)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", CASES)
def test_compiled_values(name):
    found = []

    def call(*args):
        given = iter(args)
        return CASES[name](inp, lambda _: next(given))

    CASES[name](inp, lambda x: found.append(inp.asarray(x)) or found[-1])
    compare(results(lambda: imprint.jit(call)(*found)), name)


def compare(got, name):
    """Compare with NumPy, which computes narrow integers in float16; zeros by sign too."""
    want = results(lambda: CASES[name](np, np.asarray))
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        rtol = 2e-3 if other.dtype == np.float16 else 1e-5
        np.testing.assert_allclose(
            one.astype("complex128"), other.astype("complex128"), rtol=rtol, atol=1e-7
        )
        if other.dtype.kind == "f":
            there = np.isnan(other) | (np.signbit(one) == np.signbit(other))
            np.testing.assert_array_equal(there, True)
