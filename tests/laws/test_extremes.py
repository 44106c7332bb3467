"""Laws of extreme arguments: derivatives are true, and compiled programs agree with eager.

Values, first and second derivatives of every elementwise function (`sweep`) are compared
with mpmath's (`truth`) to the ends of each dtype, so a derivative may not cancel, overflow
or underflow where the true one does not. Eager calls, `jit`, `vmap` and `scan` give the
same values and the same specials. `KNOWN` lists what is not so, with the reason.
"""

import itertools
import time

import ml_dtypes
import numpy as np
import pytest
import scipy.special

import imprint
from imprint import lax
from tests.laws.sweep import SPECIAL, functions, grid, named, pairs
from tests.laws.truth import Truth, UnknownError, known

PARTS = 8

ULPS = {"bfloat16": 8, "float16": 16, "float32": 64, "float64": 256}
"""How many units in the last place of the value and its condition are allowed."""

LOGARITHMS = (
    "computed from logarithms of gamma, whose difference cancels or is infinite"
)
FROM_THE_RESULT = (
    "the derivative is computed from the result, as in JAX, which saves an array and an "
    "exponential: its error is small beside the largest slope, not beside itself"
)
KNOWN = {
    **dict.fromkeys(
        [f"lax.{name}" for name in ("logistic", "tanh")]
        + [f"{name}_p" for name in ("logistic", "tanh")]
        + [f"nn.{n}" for n in ("sigmoid", "silu", "swish", "mish", "gelu")]
        + [f"nn.{n}" for n in ("log_sigmoid", "softplus", "tanh")]
        + ["numpy.tanh", "scipy.special.expit"],
        FROM_THE_RESULT,
    ),
    "direction_p": "its second derivative is the third of hypot",
    "lax.igamma": "has no second derivative by a",
    "lax.igammac": "has no second derivative by a",
    "lax.zeta": "has no rule; scipy.special.zeta has one",
    "numpy.float_power": "a factor of the second derivative overflows for powers near 0",
    "scipy.special.beta": LOGARITHMS,
    "scipy.special.betaln": LOGARITHMS,
    "scipy.special.comb": LOGARITHMS,
    "scipy.special.gamma": LOGARITHMS,
    "scipy.special.poch": LOGARITHMS,
    "scipy.special.boxcox": "the derivative by a power near 0 cancels",
    "scipy.special.boxcox1p": "the derivative by a power near 0 cancels",
    "scipy.special.dawsn": "the second derivative cancels left of its series",
    "scipy.special.erfcx": "the second derivative cancels left of its series",
    "scipy.special.kl_div": "second derivatives are quotients of logarithms' parts",
    "scipy.special.rel_entr": "second derivatives are quotients of logarithms' parts",
    "scipy.special.xlogy": "a quotient overflows where the product does not",
    "scipy.special.xlog1py": "a quotient overflows where the product does not",
    "scipy.special.expn": "no true values of large orders",
    "nn.sparse_plus": "at a kink of the slope the true one is a difference across it",
    "nn.sparse_sigmoid": "bfloat16 rounds a place beside a kink to it",
}
"""Functions whose values or derivatives are not true everywhere, and why."""

ENGINE = "the engine's own function has few digits, or NaN, at such arguments"
OF_HOST = "SciPy computes in float64 outside of programs, which are in their own dtype"
ENDS = "an intermediate value of the compiled formula overflows, or is on a branch cut"
DIFFERING = {
    **dict.fromkeys(
        [(f"lax.{name}", "f") for name in ("igamma", "igammac", "igamma_grad_a")]
        + [("lax.random_gamma_grad", "f"), ("scipy.special.expn", "f")]
        + [(f"scipy.special.{n}", "f") for n in ("beta", "betaln", "comb", "poch")],
        OF_HOST,
    ),
    **dict.fromkeys(
        [(f"lax.{name}", "f") for name in ("polygamma", "zeta")]
        + [("scipy.special.zeta", "f"), ("numpy.arctan", "c"), ("numpy.log1p", "c")],
        ENGINE,
    ),
    **dict.fromkeys(
        [(f"numpy.{n}", "c") for n in ("arctan2", "arctanh", "float_power")]
        + [("nn.log1mexp", "c"), ("scipy.special.logit", "c")],
        ENDS,
    ),
}
"""Functions that differ between eager and compiled, by kind of dtype, and why."""

SAMPLE = "hypot sinc arcsinh arcsin arctanh arctan2 divide"
SAMPLE = [f"numpy.{name}" for name in SAMPLE.split()]
SAMPLE += [f"nn.{name}" for name in ("soft_sign", "squareplus")]
SPECIALS = "erfcx log_ndtr i0 i1e"
SAMPLE += [f"scipy.special.{name}" for name in SPECIALS.split()]
PLACES = (-1e30, -40.0, -1e-6, 0.0, 1e-20, 1e-3, 12.0, 1e38)


def law_of_derivatives(function, dtype, places, seconds=60):
    """Compare value and derivatives with the true ones; return what differs."""
    truth = Truth(function)
    start, faults = time.process_time(), []
    arrays = [np.asarray(x).astype(dtype) for x in zip(*places, strict=True)]
    for orders, got in derivatives(function, arrays).items():
        for x, value in zip(places, got.astype(np.float64), strict=True):
            if time.process_time() - start > seconds:
                return faults
            try:
                true, condition = truth.derivative(x, orders)
            except UnknownError:
                continue
            if not is_near(value, true, condition, dtype, sum(orders)):
                faults.append((orders, x, float(value), float(true)))
    return faults


def is_near(value, true, condition, dtype, order):
    info, ulps = ml_dtypes.finfo(dtype), ULPS[dtype.name]
    most, least = float(info.max), float(info.smallest_normal)
    allowed = ulps * float(info.eps) * (abs(true) + condition)
    if abs(true) > most / 4 and order > 1:  # it may be a difference of infinities
        return True
    if abs(true) > most / 4:  # it may overflow, but not to something else
        return abs(value) > most / 8 and (value > 0) == (true > 0)
    if abs(true) < 4 * ulps * least:  # it may underflow
        return abs(value) <= 8 * ulps * least + allowed
    return abs(value - true) <= allowed


def derivatives(function, arrays):
    """Return value, first and second derivatives by the orders of differentiation."""
    found = {(0,) * function.arity: np.asarray(function.call(*arrays))}
    for i, j in itertools.combinations_with_replacement(range(function.arity), 2):
        first = along(function.call, i)
        orders = tuple(int(k == i) for k in range(function.arity))
        if orders not in found:
            found[orders] = np.asarray(first(*arrays))
        both = tuple(n + (k == j) for k, n in enumerate(orders))
        found[both] = np.asarray(along(first, j)(*arrays))
    return found


def along(f, i):
    """Return the derivative by argument `i`, the others held constant."""

    def tangent(*xs):
        def of_one(x):
            return f(*xs[:i], x, *xs[i + 1 :])

        return imprint.jvp(of_one, (xs[i],), (np.ones_like(xs[i]),))[1]

    return tangent


@pytest.mark.parametrize("name", SAMPLE)
def test_derivatives_are_true(name):
    function = named(name)
    dtype = np.dtype(np.float32)
    places = [(float(np.float32(x)),) for x in PLACES]
    if function.arity == 2:
        few = [places[i][0] for i in (0, 4, 6)]
        places = list(itertools.product(few, few))
    faults = law_of_derivatives(function, dtype, places)
    assert not faults


@pytest.mark.parametrize("name", ["lax.bessel_i1e", "scipy.special.erfcinv"])
def test_derivatives_of_few_digits_do_not_cancel(name):
    dtype = np.dtype(ml_dtypes.bfloat16)
    places = np.float32([-10.5, -8, 2.5, 8.125, 1e-36, 1e-30, 0.01]).astype(dtype)
    assert not law_of_derivatives(named(name), dtype, [(float(x),) for x in places])


DTYPES = [np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float64)]


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("part", range(PARTS))
def test_derivatives_of_all_are_true(part, dtype):
    wrong = {}
    for function in functions()[part::PARTS]:
        if known(function) and function.name not in KNOWN:
            step = 6 if dtype.itemsize == 8 else 1
            xs = (grid(dtype, step),) if function.arity == 1 else pairs(dtype, 8 * step)
            places = [tuple(map(float, x)) for x in zip(*xs, strict=True)]
            faults = law_of_derivatives(function, dtype, places, seconds=20)
            if faults:
                wrong[function.name] = len(faults), faults[:: len(faults) // 4 + 1]
    assert not wrong


# ---- eager and compiled ----


def law_of_agreement(function, dtype):
    """Compare a call outside of programs with compiled ones; return what differs."""
    arrays = places_of_agreement(function.arity, dtype)
    with np.errstate(all="ignore"):
        eager = np.asarray(function.call(*arrays))
    condition = condition_of(function, arrays)
    found = {}
    for name, compiled in COMPILED.items():
        got = np.asarray(compiled(function.call)(*arrays))
        wrong = np.flatnonzero(~agree(eager, got, condition))
        if wrong.size:
            k = wrong[len(wrong) // 2]
            found[name] = len(wrong), [x[k] for x in arrays], eager[k], got[k]
    return found


def scanned(f):
    return lambda *xs: lax.scan(lambda n, x: (n, f(*x)), 0, xs)[1]


COMPILED = {"jit": imprint.jit, "vmap": imprint.vmap, "scan": scanned}


def places_of_agreement(arity, dtype):
    if dtype.kind == "c":
        parts = np.array([0, 1e-20, 0.3, -1, -2.5, 1e18])
        xs = np.add.outer(parts, 1j * parts).ravel()
        return [
            a.ravel().astype(dtype)
            for a in np.meshgrid(*[xs[:: arity * 2 - 1]] * arity)
        ]
    step = 6 if dtype.itemsize == 8 else 1
    if arity == 1:
        return [np.concatenate([grid(dtype, step), SPECIAL]).astype(dtype)]
    ends = np.meshgrid([*SPECIAL, 1.0, -2.0], [*SPECIAL, 1.0, -2.0])
    many = zip(pairs(dtype, 12 * step), ends, strict=True)
    return [np.concatenate([x, end.ravel()]).astype(dtype) for x, end in many]


def condition_of(function, arrays):
    """Return how much the values move with the arguments, relatively."""
    wide = np.complex128 if arrays[0].dtype.kind == "c" else np.float64
    arrays = [x.astype(wide) for x in arrays]
    with np.errstate(all="ignore"):
        here = np.asarray(function.call(*arrays))
        total = np.zeros(here.shape)
        for i, x in enumerate(arrays):
            moved = [*arrays[:i], x * (1 + 1e-7), *arrays[i + 1 :]]
            change = np.abs(np.asarray(function.call(*moved)) - here) / 1e-7
            total += np.where(np.isfinite(change), change, 0)
    return total


def agree(x, y, condition):
    real = x.real.dtype
    info, ulps = ml_dtypes.finfo(real), ULPS[real.name]
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    x, y = x.astype(wide), y.astype(wide)
    with np.errstate(all="ignore"):
        allowed = ulps * float(info.eps) * (np.abs(x) + condition)
        is_near = np.abs(x - y) <= allowed + 4 * ulps * float(info.smallest_normal)
        is_large = np.minimum(np.abs(x), np.abs(y)) > float(info.max) / 4
    both_nan = np.isnan(x) & np.isnan(y)
    return is_near | (x == y) | both_nan | is_large


AGREEING = (
    "numpy.sinc numpy.hypot numpy.spacing numpy.abs scipy.special.gammaln nn.gelu"
)


@pytest.mark.parametrize("name", AGREEING.split())
def test_compiled_programs_agree_with_eager_calls(name):
    assert not law_of_agreement(named(name), np.dtype(np.float32))


def test_the_magnitude_is_infinite_next_to_a_nan():
    x = np.array([complex(np.inf, np.nan), complex(np.nan, -np.inf), 3 + 4j])
    for run in (lambda f: f, *COMPILED.values()):
        np.testing.assert_array_equal(run(imprint.numpy.abs)(x), [np.inf, np.inf, 5])


def test_sinc_of_a_complex_infinity_is_nan_as_in_jax():
    x = np.array([complex(np.inf, 0), complex(-np.inf, 0)])
    for run in (lambda f: f, *COMPILED.values()):
        assert np.isnan(run(imprint.numpy.sinc)(x)).all()


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("dtype", [*DTYPES, np.dtype(np.complex64)], ids=str)
@pytest.mark.parametrize("part", range(PARTS))
def test_compiled_programs_of_all_agree_with_eager_calls(part, dtype):
    wrong, kind = {}, "c" if dtype.kind == "c" else "f"
    for function in functions()[part::PARTS]:
        if (function.name, kind) in DIFFERING or not function.takes(dtype):
            continue
        found = law_of_agreement(function, dtype)
        if found:
            wrong[function.name] = found
    assert not wrong


def test_poch_has_derivatives_where_the_step_is_0():
    by_step = imprint.grad(imprint.scipy.special.poch, 1)
    got = [by_step(np.float32(z), np.float32(0)) for z in (1.0, 2.0, 0.5)]
    np.testing.assert_allclose(got, [-0.5772157, 0.4227843, -1.9635100], rtol=1e-5)


@pytest.mark.parametrize("name", ["i0", "i1"])
def test_bessel_functions_reach_the_end_of_the_dtype(name):
    x = np.float32([-91.5, 89.5, 91.5])  # their exponentials are infinite
    function = getattr(imprint.scipy.special, name)
    true = getattr(scipy.special, name)(x.astype("float64"))
    slope = scipy.special.ivp(int(name[1]), x.astype("float64"))
    np.testing.assert_allclose(function(x), true, rtol=2e-6)
    found = imprint.vmap(imprint.grad(function))(x)
    np.testing.assert_allclose(found, slope, rtol=2e-6)


def test_zeta_has_a_derivative_by_its_exponent():
    got = imprint.grad(imprint.scipy.special.zeta)(2.0)
    np.testing.assert_allclose(got, -0.9375482, rtol=1e-5)
    assert imprint.grad(imprint.scipy.special.zeta)(1e5) == 0


def test_a_constant_argument_of_infinite_slope_takes_no_part():
    got = imprint.grad(imprint.scipy.special.xlogy)(1e30, 1e-36)
    np.testing.assert_allclose(got, np.log(1e-36), rtol=1e-5)
