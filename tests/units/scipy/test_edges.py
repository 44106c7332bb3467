"""Distributions and special functions where formulas end: as SciPy has them.

At the ends of supports and outside, between integers, at infinity, NaN, invalid
parameters, poles, and far in the tails; and derivatives outside of supports. Differences
from SciPy are tables with their reasons.
"""

import inspect

import mpmath
import numpy as np
import pytest
import scipy.special
import scipy.stats

import imprint
import imprint.numpy as inp
from imprint.scipy import special, stats
from tests.lanes import exhaustive, exhaustive_but

NAN, INF = float("nan"), float("inf")
SHAPES = {
    "norm": [()], "cauchy": [()], "expon": [()], "laplace": [()], "logistic": [()],
    "uniform": [()], "gumbel_l": [()], "gumbel_r": [()],
    "gamma": [(2.5,), (1.0,), (0.5,), (0.0,), (-1.0,)],
    "beta": [(2.5, 1.5), (1.0, 1.0), (0.5, 0.5), (1.0, 3.0), (0.0, 1.0), (1.0, -1.0)],
    "chi2": [(3.0,), (2.0,), (1.0,), (0.0,), (-1.0,)],
    "pareto": [(1.5,), (0.0,), (-1.0,)],
    "t": [(3.5,), (1.0,), (1e10,), (INF,), (0.0,), (-1.0,)],
    "vonmises": [(2.0,), (0.0,), (1e4,), (-1.0,)],
    "wrapcauchy": [(0.4,), (0.0,), (1.0,), (-0.2,)],
    "gennorm": [(1.7,), (1.0,), (0.5,), (0.0,), (-1.0,)],
    "truncnorm": [(-1.0, 2.0), (0.0, INF), (-INF, 0.0), (-INF, INF), (30.0, 31.0),
                  (-31.0, -30.0), (1.0, 1.0), (2.0, 1.0)],
    "bernoulli": [(0.3,), (0.0,), (1.0,), (-0.1,), (1.5,)],
    "binom": [(4.0, 0.3), (4.0, 0.0), (4.0, 1.0), (0.0, 0.3), (2.5, 0.3), (-1.0, 0.3),
              (4.0, -0.1), (4.0, 1.5)],
    "betabinom": [(4.0, 2.0, 1.5), (0.0, 2.0, 1.5), (2.5, 2.0, 1.5), (-1.0, 2.0, 1.5),
                  (4.0, 0.0, 1.0), (4.0, 1.0, -1.0)],
    "geom": [(0.3,), (1.0,), (0.0,), (1.5,), (-0.1,)],
    "nbinom": [(3.5, 0.4), (3.0, 1.0), (3.0, 0.0), (0.0, 0.4), (-1.0, 0.4), (3.0, 1.5)],
    "poisson": [(2.5,), (0.0,), (200.0,), (-1.0,)],
}  # fmt: skip
"""Parameters of each distribution; the first ones are valid."""

X = [
    -INF, -1e30, -1e10, -40, -31, -30.5, -30, -7, -2.5, -1, -0.5, -1e-6, -1e-30, -0.0, 0,
    1e-30, 1e-6, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 3.1, 6.28, 6.3, 7, 30, 30.5, 31, 40, 200,
    1e10, 1e30, INF, NAN,
]  # fmt: skip
K = [
    -INF, -1e10, -1, -0.5, -0.0, 0, 1e-30, 0.5, 1, 1.2, 2, 2.5, 3, 4, 4.5, 5, 100, 1e6,
    1e10, INF, NAN,
]  # fmt: skip
Q = [-INF, -0.1, -0.0, 0, 1e-30, 1e-6, 0.3, 0.5, 0.7, 0.999, 1, 1.0001, 2, INF, NAN]
OF_VECTORS = {"dirichlet", "multinomial", "multivariate_normal"}

UNDERFLOWS = {
    ("gamma", "logcdf"), ("gamma", "logsf"), ("chi2", "logcdf"), ("chi2", "logsf"),
    ("beta", "logcdf"), ("beta", "logsf"),
}  # fmt: skip
"""Known: logarithms of incomplete functions, which are -inf where those underflow."""


def _methods():
    for name in dir(stats):
        module = getattr(stats, name)
        if not inspect.ismodule(module) or name in OF_VECTORS:
            continue
        if module.__name__.startswith("imprint.scipy.stats."):
            theirs = getattr(scipy.stats, name)
            methods = [m for m in dir(module) if m[0] != "_" and hasattr(theirs, m)]
            yield from ((name, method) for method in methods)


METHODS = list(_methods())


def _calls(name, method, dtype):
    """Return arguments of a method: each parameter is valid, invalid and NaN once."""
    names = [*inspect.signature(getattr(getattr(stats, name), method)).parameters]
    valid = SHAPES[name][0]
    shapes = SHAPES[name] + [
        tuple(NAN if i == j else v for j, v in enumerate(valid))
        for i in range(len(valid))
    ]
    for shape in shapes:
        first = () if method == "entropy" else (_places(name, method),)
        further = [{}, {"loc": 1.0}, {"loc": NAN}] if "loc" in names else [{}]
        if "scale" in names:
            further += [{"loc": 0.5, "scale": 2.0}]
            further += [{"scale": s} for s in (0.0, -1.0, NAN)]
        for extra in further:
            yield (
                tuple(np.asarray(v, dtype) for v in (*first, *shape)),
                {k: np.asarray(v, dtype) for k, v in extra.items()},
            )


def _places(name, method):
    if method in ("ppf", "isf"):
        return Q
    if hasattr(getattr(stats, name), "pmf"):
        return K
    if name == "truncnorm":  # SciPy's is imprecise near the ends
        return [x for x in X if not 0 < abs(x) < 1e-3]
    return X


def _wanted(name, method, args, extra, dtype):
    wide = [np.asarray(v, float) for v in args]
    with np.errstate(all="ignore"):
        want = getattr(getattr(scipy.stats, name), method)(
            *wide, **{k: float(v) for k, v in extra.items()}
        )
        want = np.array(want, float)
        if method in ("pdf", "logpdf", "pmf", "logpmf") and name != "vonmises":
            # SciPy has NaN for some densities at infinity.
            is_valid = not np.all(np.isnan(want))
            at_end = np.isinf(wide[0]) & np.isnan(want) & is_valid
            want = np.where(at_end, -INF if "log" in method else 0.0, want)
        return want.astype(dtype).astype(float)


def _check(name, method, dtype, run):
    eps, tiny = float(np.finfo(dtype).eps), float(np.finfo(dtype).tiny)
    slack = 2**17 if dtype is np.float64 else 2**11
    function = run(getattr(getattr(stats, name), method))
    with imprint.enable_x64(dtype is np.float64):
        for args, extra in _calls(name, method, dtype):
            got = np.asarray(function(*args, **extra))
            assert got.dtype == dtype
            got, want = got.astype(float), _wanted(name, method, args, extra, dtype)
            # A logarithm of what underflows in SciPy is right here.
            got = np.where((want == -INF) & (got < np.log(tiny)), -INF, got)
            if (name, method) in UNDERFLOWS and dtype is np.float32:
                got = np.where(want < np.log(tiny), want, got)
            np.testing.assert_allclose(
                got, want, rtol=slack * eps, atol=32 * eps * (method[:3] == "log") + tiny,
                err_msg=f"{name}.{method} of {args} {extra}",
            )  # fmt: skip


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("name", "method"), METHODS)
def test_distributions_at_edges_are_those_of_scipy(name, method):
    _check(name, method, np.float64, lambda f: f)


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "method"), METHODS)
def test_distributions_at_edges_in_programs(name, method, dtype):
    _check(name, method, dtype, imprint.jit)
    _check(name, method, dtype, lambda f: f)


@pytest.mark.parametrize(
    "name", exhaustive_but(["norm"], ["norm", "gumbel_l", "expon", "poisson"])
)
def test_invalid_parameters_give_nan_in_programs(name):
    x = np.linspace(0, 4, 9, dtype="f4")
    method = "pmf" if name == "poisson" else "pdf"
    invalid = {"mu": np.float32(-1)} if name == "poisson" else {"scale": np.float32(-1)}
    got = imprint.jit(getattr(getattr(stats, name), method))(x, **invalid)
    assert np.isnan(got).all()


def test_the_truncated_normal_distribution_near_its_ends():
    a, b = -1.0, 2.0
    z = [np.nextafter(a, 0), a + 1e-9, a + 1e-3, 0.5, b - 1e-3, b - 1e-9]

    def mass(low, high):
        return mpmath.ncdf(high) - mpmath.ncdf(low)

    with mpmath.workdps(50), imprint.enable_x64(True):
        below = [mass(a, v) / mass(a, b) for v in z]
        for method, want in (
            ("cdf", below), ("logcdf", [mpmath.log(p) for p in below]),
            ("sf", [1 - p for p in below]), ("logsf", [mpmath.log1p(-p) for p in below]),
        ):  # fmt: skip
            got = getattr(stats.truncnorm, method)(np.array(z), a, b)
            np.testing.assert_allclose(got, np.array(want, float), rtol=1e-11)


def test_the_distribution_of_dirichlet_at_edges():
    one = np.float32([1, 1])
    assert stats.dirichlet.pdf(np.float32([0, 1]), one) == 1
    assert np.isnan(stats.dirichlet.pdf(np.float32([NAN, 0.5]), one))
    assert np.isnan(stats.dirichlet.pdf(np.float32([0.5, 0.5]), np.float32([1, -1])))
    assert stats.dirichlet.pdf(np.float32([-0.5, 1.5]), one) == 0


def test_counts_of_a_multinomial_at_edges():
    p = np.float32([0.25, 0.75])
    for counts, want in (([0.5, 1.5], 0), ([-1, 3], 0), ([0, 2], 0.5625)):
        assert stats.multinomial.pmf(np.float32(counts), 2, p) == pytest.approx(want)
    assert np.isnan(stats.multinomial.pmf(np.float32([NAN, 1]), 2, p))
    assert np.isnan(stats.multinomial.pmf(np.float32([1, 1]), 2, np.float32([-1, 2])))


# ---- derivatives ----

FLAT = [m for m in METHODS if m[1] in ("cdf", "logcdf", "sf", "logsf")]


def _slopes(name, method, run):
    places = np.array([-1e30, -1e10, -50.0, 50.0, 1e10, 1e30], "f4")
    function, shape = getattr(getattr(stats, name), method), SHAPES[name][0]
    low, high = getattr(scipy.stats, name)(*shape).support()
    places = places[(places < low) | (places > high)]
    operands = (0,)
    if "scale" in inspect.signature(function).parameters and name != "bernoulli":
        operands = (0, 1, 2)

    def value(x, loc, scale):
        if len(operands) == 1:
            return function(x, *shape)
        return function(x, *shape, loc, scale)

    slope = run(imprint.vmap(imprint.grad(value, operands), in_axes=(0, None, None)))
    return slope(places, np.float32(0.0), np.float32(1.0))


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("name", "method"), FLAT)
def test_derivatives_outside_of_the_support_are_0(name, method):
    for slope in _slopes(name, method, lambda f: f):
        np.testing.assert_array_equal(slope, 0.0)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "method"), FLAT)
def test_derivatives_outside_of_the_support_are_0_in_programs(name, method):
    for slope in _slopes(name, method, imprint.jit):
        np.testing.assert_array_equal(slope, 0.0)


@pytest.mark.parametrize("run", [lambda f: f, *exhaustive(imprint.jit)])
def test_the_derivative_of_the_truncated_normal_distribution_is_0_outside(run):
    slope = run(imprint.grad(lambda x: stats.truncnorm.cdf(x, -1.0, 2.0)))
    assert [float(slope(x)) for x in (-3.0, -1e10, 5.0)] == [0, 0, 0]


# ---- special functions ----

ONE = [
    -INF, -1e10, -30.5, -3, -2.5, -2, -1.5, -1, -0.5, -1e-6, 0, 1e-6, 0.3, 0.5, 1, 1.5, 2,
    3, 10, 30.5, 100, 1e4, 1e10, INF, NAN,
]  # fmt: skip
TWO = [-INF, -1e4, -3, -2.5, -1, -0.5, 0, 1e-10, 0.5, 1, 2, 3.5, 30, 1e4, INF, NAN]
THREE = [-1, -0.5, 0, 1e-10, 0.5, 1, 1.5, 30, INF, NAN]

SPECIAL = {
    1: "gamma gammasgn loggamma factorial erf erfc erfinv erfcinv erfcx dawsn ndtr ndtri "
    "log_ndtr entr logit expit exp1 expi spence i0 i0e i1 i1e fresnel sici",
    2: "beta betaln comb gammainc gammaincc xlogy xlog1py rel_entr kl_div boxcox boxcox1p "
    "owens_t polygamma zeta",
    3: "betainc",
}
KNOWN = {
    "gammaln": "of -inf it is inf, as in JAX",
    "digamma": "of -0.0 it is -inf, as in JAX",
    "poch": "of negative integers, and of a large one beside a small one",
    "expn": "of negative fractions and very large orders, as documented",
    "hyp1f1": "has a law of its own", "hyp2f1": "has a law of its own",
    "wofz": "has a law of its own", "sph_harm_y": "has a law of its own",
    "bessel_jn": "SciPy has another", "bernoulli": "of integers", "multigammaln": "too",
    "softmax": "of vectors", "log_softmax": "of vectors", "logsumexp": "of vectors",
}  # fmt: skip
"""Functions without this law, with the reason."""


IN_PROGRAMS = {
    "betaln": (64, "lgamma is precise to a few eps of 1 near its zeros"),
    "loggamma": (64, "lgamma is precise to a few eps of 1 near its zeros"),
    "gammaincc": (64, "the difference from 1, for small a and x"),
}
"""Known: errors of compiled functions in eps of 1, with the reason."""


def _differs(name, args):
    """Return where a function differs from SciPy, which the comment explains."""
    a = np.asarray(args[0], float)
    b = np.asarray(args[1], float) if len(args) > 1 else a
    # Sums of infinities are NaN.
    a, b = np.clip(a, -1e300, 1e300), np.clip(b, -1e300, 1e300)
    if name in (
        "beta",
        "betaln",
    ):  # NaN next to a pole is inf there, and poles have signs
        return np.isnan(a) | np.isnan(b) | ((a <= 0) & (b <= 0) & (a + b <= -1))
    if name == "owens_t":  # SciPy has few digits there
        return np.abs(b) < 1e-8
    if name == "comb":  # SciPy has no limit there
        return (a == 1e300) & (b != 0)
    if name == "polygamma":  # the sides of a pole differ
        return (b <= 0) & (b == np.floor(b)) & (a % 2 == 0)
    if name == "zeta":  # no continuation below 1, and poles of q as in JAX
        return (a < 1) | (b <= 0) | (a == 1e300)
    return np.zeros(a.shape, bool)


SPECIAL_CASES = [(n, count) for count, names in SPECIAL.items() for n in names.split()]


def _check_special(name, count, dtype, run):
    grids = np.meshgrid(*[{1: ONE, 2: TWO, 3: THREE}[count]] * count)
    args = [g.ravel().astype(dtype) for g in grids]
    if name == "polygamma":
        kept = (args[0] >= 0) & (args[0] < 50) & (args[0] == np.floor(args[0]))
        args = [args[0][kept].astype(np.int32), args[1][kept]]
    eps, tiny = float(np.finfo(dtype).eps), float(np.finfo(dtype).tiny)
    with imprint.enable_x64(dtype is np.float64), np.errstate(all="ignore"):
        wide = [x if x.dtype.kind == "i" else x.astype(float) for x in args]
        want = np.asarray(getattr(scipy.special, name)(*wide)).astype(dtype)
        got = np.asarray(run(getattr(special, name))(*args))
        same = ~np.broadcast_to(_differs(name, args), got.shape)
        apart = 64 * eps if name in ("fresnel", "sici", "spence") else tiny
        if run is imprint.jit and name in IN_PROGRAMS:
            apart = IN_PROGRAMS[name][0] * eps
        np.testing.assert_allclose(
            got[same].astype(float), want[same].astype(float), rtol=2**17 * eps,
            atol=apart,
            err_msg=str([x[: same.size] for x in args]) if count < 2 else name,
        )  # fmt: skip


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("name", "count"), SPECIAL_CASES)
def test_special_functions_at_edges_are_those_of_scipy(name, count):
    _check_special(name, count, np.float64, lambda f: f)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "count"), SPECIAL_CASES)
def test_special_functions_at_edges_in_programs(name, count):
    _check_special(name, count, np.float64, imprint.jit)


def test_every_special_function_has_the_law_or_a_reason():
    ours = {n for n in dir(special) if callable(getattr(special, n)) and n[0] != "_"}
    named = {name for name, _ in SPECIAL_CASES}
    assert ours == named | set(KNOWN)


def test_beta_of_a_negative_number():
    cases = ((-0.5, 1e4), (-0.5, 1e6), (-0.5, 1e10), (-2.5, 1e8), (-3.0, 2.0))
    a, b = np.array(cases, "f4").T
    both = lambda a, b: (special.beta(a, b), special.betaln(a, b))
    wanted = [mpmath.beta(x, y) for x, y in cases]
    for run in (lambda f: f, imprint.jit):
        values, sizes = run(both)(a, b)
        np.testing.assert_allclose(values, np.array(wanted, float), rtol=1e-4)
        logs = [float(mpmath.log(abs(w))) for w in wanted]
        np.testing.assert_allclose(sizes, logs, rtol=1e-4)


def test_fresnel_integrals_keep_the_phase_of_large_arguments():
    x = np.float32([1.8, 10.1, -5.5, 12345.678, 1e6 + 0.5, 1e9, 1e30])
    values = imprint.jit(special.fresnel)
    with mpmath.workdps(100):
        exact = [mpmath.mpf(float(v)) for v in x]
        true = [
            [[float(f(v)) for v in exact] for f in functions]
            for functions in (
                (mpmath.fresnels, mpmath.fresnelc),
                (
                    lambda v: mpmath.sin(mpmath.pi / 2 * v * v),
                    lambda v: mpmath.cos(mpmath.pi / 2 * v * v),
                ),
            )
        ]
    slopes = imprint.jvp(values, (x,), (np.ones_like(x),))[1]
    np.testing.assert_allclose(values(x), true[0], rtol=2e-7)
    np.testing.assert_allclose(slopes, true[1], atol=1e-6)


def test_owens_function_of_a_small_number_is_linear_in_it():
    h, a = np.meshgrid([-17.0, 0.0, 1.0, 30.0], [1e-9, -1e-30, 1e-162, 0.0])
    true = a / (2 * np.pi) * np.exp(-h * h / 2)
    with imprint.enable_x64(True):
        for run in (lambda f: f, imprint.jit):
            np.testing.assert_allclose(run(special.owens_t)(h, a), true, rtol=1e-12)


def test_owens_function_keeps_its_digits_far_from_the_middle():
    cases = [(h, a) for h in (5, 8.5, 17, 30) for a in (1e-3, 0.5, 0.9, 1.5, 4)]

    def true(h, a):
        ends = mpmath.linspace(0, min(a, 15 / h), 9)
        part = mpmath.quad(lambda t: mpmath.exp(-h * h * t * t / 2) / (1 + t * t), ends)
        return float(part * mpmath.exp(-h * h / 2) / (2 * mpmath.pi))

    with mpmath.workdps(30), imprint.enable_x64(True):
        wanted = [true(mpmath.mpf(h), mpmath.mpf(a)) for h, a in cases]
        got = imprint.jit(special.owens_t)(*np.array(cases).T)
    np.testing.assert_allclose(got, wanted, rtol=1e-11)


def test_an_exponential_integral_overflows_no_earlier_than_its_value():
    x = np.float32([88, 91, 93])  # e^x is infinite from 88.8 on
    for run in (lambda f: f, imprint.jit):
        values, slopes = imprint.jvp(run(special.expi), (x,), (np.ones_like(x),))
        wide = x.astype(float)
        np.testing.assert_allclose(values, scipy.special.expi(wide), rtol=2e-6)
        np.testing.assert_allclose(slopes, np.exp(wide) / wide, rtol=2e-6)


def test_values_that_jax_has_not():
    def values(inf, nan, zero):
        return (
            special.betaln(-inf, 2.0), special.polygamma(1, inf), special.zeta(inf, zero),
            special.zeta(inf), special.xlogy(zero, nan), special.xlog1py(zero, nan),
            special.comb(zero + np.float32(1e10), 1) / 1e10,
            stats.poisson.pmf(zero + 1.2, 1.0), stats.cauchy.ppf(zero),
        )  # fmt: skip

    for run in (lambda f: f, imprint.jit):
        got = run(values)(inp.inf, inp.nan, 0.0)
        want = [INF, 0, INF, 1, NAN, NAN, 1, 0, -INF]
        np.testing.assert_allclose(np.array(got, float), want, rtol=1e-5)


def test_a_product_with_0_is_flat_at_0():
    assert imprint.grad(special.xlogy, 1)(0.0, 0.0) == 0
    assert imprint.grad(special.xlog1py, 1)(0.0, -1.0) == 0
    assert imprint.grad(stats.binom.logpmf, 2)(0.0, 4.0, 0.0) == -4
