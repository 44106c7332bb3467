"""`imprint.scipy.special` as in JAX: values, dtypes, weak types, derivatives, edges."""

import itertools
from functools import partial

import numpy as np
import pytest
import scipy.special

import imprint
import imprint.numpy as inp
from imprint.errors import AbsentRuleError, ArgumentError, DTypeError
from imprint.scipy import special
from tests import oracle
from tests.lanes import exhaustive_but
from tests.oracle import jax
from tests.tolerances import FINITE_DIFFERENCE, assert_within, tolerance

REAL = np.array([0.3, 0.5, 1.0, 1.7, 2.0, 3.5, 8.0])
SIGNED = np.array([-8.0, -2.5, -1.2, -0.5, 0.25, 0.5, 1.5, 3.0, 9.0])
UNIT = np.array([0.001, 0.1, 0.25, 0.5, 0.75, 0.99])
EDGES = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])
ONE = {
    "gammaln": REAL, "gamma": SIGNED, "gammasgn": SIGNED, "loggamma": REAL,
    "digamma": REAL, "factorial": REAL, "erf": SIGNED, "erfc": SIGNED, "erfinv": UNIT,
    "erfcx": SIGNED, "dawsn": SIGNED, "ndtr": SIGNED, "ndtri": UNIT, "log_ndtr": SIGNED,
    "entr": REAL, "logit": UNIT, "expit": SIGNED, "exp1": REAL, "expi": SIGNED,
    "spence": REAL, "i0": SIGNED, "i0e": SIGNED, "i1": SIGNED, "i1e": SIGNED,
}  # fmt: skip
TWO = "xlogy xlog1py rel_entr kl_div gammainc gammaincc poch boxcox boxcox1p"
AT_EDGES = "gammasgn erf erfc erfinv ndtr ndtri log_ndtr entr logit expit exp1 expi"
CONVENTION = {"erfcx": 10.0}  # exp(64) in float32

FURTHER = (pytest.mark.slow, pytest.mark.exhaustive)
WIDTHS = [pytest.param(False, marks=FURTHER), True]


def both(name):
    return getattr(special, name), getattr(jax.scipy.special, name)


def close(got, want, factor=1.0):
    allowed = tolerance(np.asarray(want).dtype, "gradient")
    allowed = allowed._replace(rtol=factor * allowed.rtol, atol=factor * allowed.atol)
    assert_within(got, want, allowed)


@pytest.mark.parametrize("x64", WIDTHS)
def test_functions_of_one_operand_are_those_of_jax(x64):
    names = [n for n in ONE if hasattr(jax.scipy.special, n)]
    dtype = np.float64 if x64 else np.float32
    xs = [ONE[n].astype(dtype) for n in names]
    with imprint.enable_x64(x64), jax.enable_x64(x64):
        theirs = oracle.jit(
            lambda xs: [both(n)[1](x) for n, x in zip(names, xs, strict=True)]
        )(xs)
        ours = imprint.jit(
            lambda xs: [both(n)[0](x) for n, x in zip(names, xs, strict=True)]
        )(xs)
        for name, x, want, got in zip(names, xs, theirs, ours, strict=True):
            close(got, want, CONVENTION.get(name, 1.0))
            close(both(name)[0](x), want, CONVENTION.get(name, 1.0))


@pytest.mark.parametrize("x64", WIDTHS)
def test_functions_of_two_operands_are_those_of_jax(x64):
    dtype = np.float64 if x64 else np.float32
    x, y = (v.ravel().astype(dtype) for v in np.meshgrid(REAL, REAL))
    with imprint.enable_x64(x64), jax.enable_x64(x64):
        theirs = oracle.jit(lambda x, y: [both(n)[1](x, y) for n in TWO.split()])(x, y)
        ours = imprint.jit(lambda x, y: [both(n)[0](x, y) for n in TWO.split()])(x, y)
        for name, want, got in zip(TWO.split(), theirs, ours, strict=True):
            close(got, want, 4.0)
            close(both(name)[0](x, y), want, 4.0)


def test_beta_is_that_of_scipy():
    x, y = np.meshgrid([0.3, 2.0, 8.0, 30.0], [0.5, 5.0, 20.0, 99.0])
    with imprint.enable_x64(True):
        for run in (special.betaln, imprint.jit(special.betaln)):
            np.testing.assert_allclose(
                run(x, y), scipy.special.betaln(x, y), rtol=1e-12
            )
        signed = special.beta(-1.5, REAL + 0.1)
    np.testing.assert_allclose(signed, scipy.special.beta(-1.5, REAL + 0.1), rtol=1e-9)


def test_derivatives_are_those_of_jax():
    names = [n for n in ONE if n not in ("gammasgn", "loggamma", "factorial", "spence")]
    with imprint.enable_x64(True), jax.enable_x64(True):

        def slopes(module, transform, x):
            return [transform(getattr(module, n))(x(n)) for n in names]

        theirs = oracle.jit(
            lambda: slopes(
                jax.scipy.special,
                lambda f: jax.vmap(jax.grad(f)),
                lambda n: jax.numpy.asarray(ONE[n]),
            )
        )()
        ours = imprint.jit(
            lambda: slopes(
                special,
                lambda f: imprint.vmap(imprint.grad(f)),
                lambda n: inp.asarray(ONE[n]),
            )
        )()
    for got, want in zip(ours, theirs, strict=True):
        close(got, want)


@pytest.mark.parametrize("argument", [0, 1])
def test_derivatives_of_two_operands_are_those_of_jax(argument):
    names = [
        "betaln",
        "xlogy",
        "xlog1py",
        "rel_entr",
        "kl_div",
        "gammainc",
        "boxcox",
        "boxcox1p",
    ]
    x, y = np.array([0.5, 2.0, 3.5]), np.array([1.5, 0.5, 2.0])
    with imprint.enable_x64(True), jax.enable_x64(True):
        a, b = jax.numpy.asarray(x), jax.numpy.asarray(y)
        theirs = oracle.jit(
            lambda: [jax.vmap(jax.grad(both(n)[1], argument))(a, b) for n in names]
        )()
        for name, want in zip(names, theirs, strict=True):
            close(imprint.vmap(imprint.grad(both(name)[0], argument))(x, y), want)


@pytest.mark.parametrize("name", AT_EDGES.split())
def test_edges_are_those_of_scipy(name):
    function = both(name)[0]
    want = getattr(scipy.special, name)(EDGES)
    with imprint.enable_x64(True):
        for run in (function, imprint.jit(function)):
            np.testing.assert_allclose(run(EDGES), want, rtol=1e-12)


def test_products_with_0_are_0():
    for name in ("xlogy", "xlog1py"):
        function = both(name)[0]
        for run in (function, imprint.jit(function)):
            assert float(run(0.0, -1.0 if name == "xlog1py" else 0.0)) == 0
        assert float(imprint.grad(function)(0.0, 2.0)) == pytest.approx(
            float(jax.grad(both(name)[1])(0.0, 2.0))
        )


def test_fresnel_integrals_are_those_of_scipy():
    x = np.concatenate([np.geomspace(1e-4, 30, 200), -REAL, EDGES])
    want = scipy.special.fresnel(x)
    with imprint.enable_x64(True):
        for run in (special.fresnel, imprint.jit(special.fresnel)):
            np.testing.assert_allclose(run(x), want, rtol=1e-12, atol=1e-13)


def test_exponential_integrals_of_an_order():
    orders, places = [0, 1, 2, 3, 20, 51, 5000, -1], [0, 1e-5, 0.3, 1, 1.1, 40, 800, -1]
    n, x = (v.ravel() for v in np.meshgrid(orders, [*places, np.inf, np.nan]))
    want = scipy.special.expn(n, np.where(x >= 0, x, 1))
    want = np.where((n >= 0) & (x >= 0), want, np.nan)
    with imprint.enable_x64(True), jax.enable_x64(True):
        for run in (special.expn, imprint.jit(special.expn)):
            np.testing.assert_allclose(run(n, x), want, rtol=1e-12)
        slope = imprint.vmap(imprint.grad(special.expn, 1))
        n, x = np.float64([1, 2, 7]), np.float64([2.0, 0.7, 3.0])
        theirs = jax.vmap(jax.grad(jax.scipy.special.expn, 1))(n, x)
        close(slope(n, x), theirs)
    assert np.isnan(special.expn(np.nan, 1.0))
    assert np.isnan(special.expn(np.inf, 1.0))


def test_owens_function_is_that_of_scipy():
    values = [0, 0.1, 0.5, 1, 1.2, 3, -5, np.inf, -np.inf, np.nan]
    h, a = (v.ravel() for v in np.meshgrid(values, values))
    want = scipy.special.owens_t(h, a)
    with imprint.enable_x64(True):
        for run in (special.owens_t, imprint.jit(special.owens_t)):
            np.testing.assert_allclose(run(h, a), want, rtol=1e-12, atol=1e-17)
        for argument in (0, 1):
            ours = imprint.vmap(imprint.grad(special.owens_t, argument))(h[:40], a[:40])
            with jax.enable_x64(True):
                theirs = jax.grad(jax.scipy.special.owens_t, argument)
                close(ours, jax.vmap(theirs)(h[:40], a[:40]))


def test_faddeevas_function_is_that_of_scipy():
    parts = np.array([0.0, 1e-8, 0.3, -0.3, 2.0, -2.0, 9.0, 1e3])
    z = np.append(
        (parts[:, None] + 1j * parts[:-1]).ravel(), [np.inf - 2j, complex(0, np.inf)]
    )
    want = scipy.special.wofz(z)
    with imprint.enable_x64(True):
        for run in (special.wofz, imprint.jit(special.wofz)):
            np.testing.assert_allclose(run(z), want, rtol=1e-12)


def test_bessel_functions_of_the_first_kind_are_those_of_scipy():
    z = np.array([0.0, 1e-30, 1e-3, 0.5, 3.0, -8.0, 20.0])
    for x64, rtol in ((False, 3e-5), (True, 1e-11)):
        with imprint.enable_x64(x64):
            given = inp.asarray(z)
            for v in (0, 4):
                want = scipy.special.jv(np.arange(v + 1)[:, None], z)
                function = partial(special.bessel_jn, v=v)
                for run in (function, imprint.jit(function)):
                    np.testing.assert_allclose(run(given), want, rtol=rtol, atol=1e-6)
    assert special.bessel_jn(1.0, v=3, n_iter=2).shape == (4,)


ONE_F_ONE = [0.5, 1.0, 2.5, 10.0], [1.0, 2.5, 0.5], [-150, -5, -0.5, 0, 3, 40, 150]
TWO_F_ONE = (
    [0.5, 1.0, -2.0], [1.2, 1.0, 3.0], [2.5, 1.0, 2.3, 6.0],
    [-20, -1, -0.5, 0, 0.3, 0.95, 0.999, 1.0, 2.0],
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hyp1f1", "hyp2f1"])
def test_hypergeometric_functions_are_those_of_scipy(name):
    values = ONE_F_ONE if name == "hyp1f1" else TWO_F_ONE
    operands = [v.ravel() for v in np.meshgrid(*map(np.float64, values))]
    want = getattr(scipy.special, name)(*operands)
    if name == "hyp2f1":  # which has a sign, where there is no limit
        want = np.where(np.isinf(want) & (operands[-1] > 1), np.inf, want)
    with imprint.enable_x64(True):
        for run in (getattr(special, name), imprint.jit(getattr(special, name))):
            np.testing.assert_allclose(run(*operands), want, rtol=1e-10)


DERIVED = {
    "hyp1f1": [[0.5, 1, 2, 3], [1.5, 3, 1, 2], [-2, 0.5, 1, 4]],
    "hyp2f1": [[0.5, 1, 2, 3], [1.5, 3, 1, 2], [2.5, 1, 2, 4], [-0.5, 0.5, 0.1, 0.7]],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DERIVED)
def test_derivatives_of_hypergeometric_functions_are_those_of_jax(name):
    operands = np.array(DERIVED[name])
    every = tuple(range(len(operands)))
    ours, theirs = both(name)
    with imprint.enable_x64(True), jax.enable_x64(True):
        want = oracle.jit(jax.vmap(jax.grad(theirs, every)))(*operands)
        close(imprint.vmap(imprint.grad(ours, every))(*operands), want)


def test_conventions_of_hypergeometric_functions():
    with imprint.enable_x64(True):
        for run in (special.hyp1f1, imprint.jit(special.hyp1f1)):
            a, b = np.float64([0, 0, 2, 1, -2, 1]), np.float64([0, 3, 0, 1, -2, -1])
            e = np.exp(2)
            np.testing.assert_allclose(run(a, b, 2.0), [1, 1, np.inf, e, e, np.inf])
    assert special.hyp2f1(1.0, 2.0, -3.0, 0.5) == np.inf
    assert special.hyp2f1(1.0, 0.0, -3.0, 0.5) == 1
    with imprint.enable_x64(True):  # SciPy 1.18 takes c - a - b for 0, and has a minus
        assert float(special.hyp2f1(3.3, 1.2, 4.5, 0.999)) == pytest.approx(
            23.750436033
        )


def test_spherical_harmonics_are_those_of_scipy():
    n = np.array([0, 1, 1, 2, 3, 5, 5, 7, 2, 40])
    m = np.array([0, 1, -1, 0, -2, 5, -4, 3, 3, -11])
    theta, phi = np.linspace(0, np.pi, 10), np.linspace(0, 6, 10)
    want = scipy.special.sph_harm_y(n, m, theta, phi)
    with imprint.enable_x64(True), jax.enable_x64(True):
        got = special.sph_harm_y(n, m, theta, phi)
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-13)

        def energy(module, theta, **known):
            order = module.numpy.asarray(m[:8])
            degree = module.numpy.asarray(n[:8])
            y = module.scipy.special.sph_harm_y(degree, order, theta, phi[:8], **known)
            return y.real.sum() + (y.imag**2).sum()

        inside = theta[:8] + 0.1
        want = jax.grad(lambda t: energy(jax, t, n_max=7))(inside)
        close(imprint.grad(lambda t: energy(imprint, t))(inside), want)
        close(imprint.jit(imprint.grad(lambda t: energy(imprint, t)))(inside), want)
        assert np.isfinite(imprint.grad(lambda t: energy(imprint, t))(theta[:8])).all()
    lower = special.sph_harm_y(np.array([7]), np.array([2]), 0.5, 0.3, n_max=4)
    assert lower == special.sph_harm_y(np.array([4]), np.array([2]), 0.5, 0.3)
    assert special.sph_harm_y(2, 1, 0.5, np.float16(0.3)).dtype == np.complex64


TYPES = [2, 0.5, np.int8(1), np.float16(0.5)]


@pytest.mark.parametrize(
    "name",
    exhaustive_but(
        ["gammaln", "factorial", "i0"],
        [
            *("gammaln", "gamma", "gammasgn", "digamma", "factorial", "erf", "erfinv"),
            *("logit", "expit", "entr", "i0", "i1e", "wofz"),
        ],
    ),
)
def test_types_are_those_of_jax(name):
    ours, theirs = both(name)
    for x in TYPES:
        got, want = ours(x), theirs(x)
        assert (got.dtype, got.weak_type) == (want.dtype, want.weak_type), x


@pytest.mark.parametrize(
    "name",
    [
        "xlogy",
        *[pytest.param(n, marks=FURTHER) for n in ["beta", "betaln", *TWO.split()[1:]]],
    ],
)
def test_types_of_two_operands_are_those_of_jax(name):
    ours, theirs = both(name)
    for x, y in itertools.product(TYPES, TYPES):
        got, want = ours(x, y), theirs(x, y)
        assert (got.dtype, got.weak_type) == (want.dtype, want.weak_type), (x, y)


def test_whole_numbers():
    n, k = np.arange(-1, 6), np.arange(-2, 7)[:, None]
    got = special.comb(n, k)
    np.testing.assert_allclose(got, scipy.special.comb(n, k), rtol=1e-5)
    np.testing.assert_allclose(
        special.comb(n[2:], k[3:], repetition=True),
        scipy.special.comb(n[2:], k[3:], repetition=True),
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        special.multigammaln(np.float32(4.5), 3),
        scipy.special.multigammaln(4.5, 3),
        1e-5,
    )
    np.testing.assert_allclose(
        special.polygamma(np.array([1, 2, 0]), 2.5),
        scipy.special.polygamma([1, 2, 0], 2.5),
        1e-5,
    )
    np.testing.assert_allclose(
        special.zeta(np.float32([2, 3.5])), scipy.special.zeta([2, 3.5]), 1e-5
    )


def test_zeta_is_derived_by_its_second_operand():
    with imprint.enable_x64(True):
        got = imprint.grad(special.zeta, 1)(2.5, 1.5)
    want = -2.5 * scipy.special.zeta(3.5, 1.5)
    assert_within(np.float64(got), np.float64(want), FINITE_DIFFERENCE)


def test_tails_are_precise():
    x = np.array([-300.0, -30.0, -5.0, 5.0, 30.0])
    p = np.array([1e-300, 1e-30, 1e-5, 0.9999])
    with imprint.enable_x64(True):
        got = imprint.jit(special.log_ndtr)(x)
        np.testing.assert_allclose(got, scipy.special.log_ndtr(x), rtol=1e-12)
        quantiles = imprint.jit(special.ndtri)(p)
        np.testing.assert_allclose(quantiles, scipy.special.ndtri(p), rtol=1e-10)
        inverse = imprint.jit(special.erfcinv)(p)
        np.testing.assert_allclose(inverse, scipy.special.erfcinv(p), rtol=1e-10)


@pytest.mark.parametrize("x64", [False, True])
def test_sine_and_cosine_integrals(x64):
    dtype = np.float64 if x64 else np.float32
    x = np.concatenate([np.geomspace(1e-4, 300, 200), -REAL, EDGES]).astype(dtype)
    want = scipy.special.sici(x.astype(float))
    with imprint.enable_x64(x64):
        for run in (special.sici, imprint.jit(special.sici)):
            got = run(x)
            np.testing.assert_allclose(
                got, want, rtol=1e-5, atol=1e-12 if x64 else 1e-6
            )


@pytest.mark.parametrize("n", [0, 1, 2, 20])
def test_numbers_of_bernoulli(n):
    np.testing.assert_allclose(special.bernoulli(n), scipy.special.bernoulli(n), 1e-6)


def test_the_area_under_points():
    assert imprint.scipy.integrate.trapezoid is inp.trapezoid


WRONG = {
    "bernoulli: expected n of at least 0, got -1.": (
        ArgumentError, lambda: special.bernoulli(-1)
    ),
    "polygamma: expected integers n, got ~float32[]. Convert with .astype(int).": (
        DTypeError, lambda: special.polygamma(0.5, 1.0)
    ),
    "multigammaln: expected an integer d that is known while tracing, got 1.5.": (
        ArgumentError, lambda: special.multigammaln(3.0, 1.5)
    ),
    "log_ndtr: expected series_order of at least 0, got -1. Leave it out.": (
        ArgumentError, lambda: special.log_ndtr(0.0, -1)
    ),
    "factorial: expected exact=False, got True. Python's math.factorial is exact.": (
        NotImplementedError, lambda: special.factorial(3, exact=True)
    ),
    "bessel_jn: expected v of at least 0, got -1.": (
        ArgumentError, lambda: special.bessel_jn(1.0, v=-1)
    ),
    "bessel_jn: expected an integer n_iter that is known while tracing, got 0.5.": (
        ArgumentError, lambda: special.bessel_jn(1.0, v=1, n_iter=0.5)
    ),
    "sph_harm_y: expected integers n, got ~float32[]. Convert with .astype(int).": (
        DTypeError, lambda: special.sph_harm_y(0.5, 1, 0.5, 0.5)
    ),
    "sph_harm_y: expected n_max of at least 0, got -1.": (
        ArgumentError, lambda: special.sph_harm_y(1, 1, 0.5, 0.5, n_max=-1)
    ),
    "sph_harm_y: expected diff_n=None, got 1. For derivatives by the angles use "
    "imprint.jvp.": (
        NotImplementedError, lambda: special.sph_harm_y(1, 1, 0.5, 0.5, diff_n=1)
    ),
    "of hyp1f1 and hyp2f1 there is one derivative by a parameter, but no second one: use "
    "stop_gradient": (
        AbsentRuleError, lambda: imprint.grad(imprint.grad(special.hyp1f1))(1.0, 2.0, 0.5)
    ),
    "entr: expected real numbers, got 1j. Take a part first: imprint.numpy.real, imag or "
    "abs.": (DTypeError, lambda: special.entr(1j)),
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_wrong_calls(message):
    kind, call = WRONG[message]
    with pytest.raises(kind) as info:
        call()
    assert str(info.value) == message
