"""The distributions of `imprint.scipy.stats` as in JAX: values, dtypes, derivatives."""

import inspect
from importlib import import_module
from operator import attrgetter

import numpy as np
import pytest
import scipy.stats

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, ShapeError
from imprint.scipy import stats
from tests import oracle
from tests.oracle import jax
from tests.tolerances import assert_within, tolerance

jax_stats = import_module("jax.scipy.stats")

X = np.array([-2.5, -0.5, 0.0, 0.25, 0.5, 0.75, 1.5, 3.0, 7.0])
K = np.array([-1.0, 0.0, 1.0, 2.0, 3.0, 5.0])
Q = np.array([0.01, 0.25, 0.5, 0.9])
SHAPES = {
    "norm": (), "cauchy": (), "expon": (), "laplace": (), "logistic": (), "uniform": (),
    "gumbel_l": (), "gumbel_r": (), "gamma": (2.5,), "beta": (2.5, 1.5), "chi2": (3.0,),
    "pareto": (1.5,), "t": (3.5,), "vonmises": (2.0,), "wrapcauchy": (0.4,),
    "gennorm": (1.7,), "truncnorm": (-1.0, 2.0), "bernoulli": (0.3,), "binom": (4.0, 0.3),
    "betabinom": (4.0, 2.0, 1.5), "geom": (0.3,), "nbinom": (3.5, 0.4), "poisson": (2.5,),
}  # fmt: skip
DISCRETE = {"bernoulli", "binom", "betabinom", "geom", "nbinom", "poisson"}


def functions(name):
    """Return the functions that JAX has of a distribution."""
    module = getattr(jax_stats, name)
    return [f for f in vars(module) if f[0] != "_" and f in NAMES]


NAMES = {
    "logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "logpmf", "pmf",
    "entropy",
}  # fmt: skip


def calls(name, dtype):
    """Return the arguments of each function of a distribution, scaled and shifted."""
    for f in functions(name):
        first = {"ppf": Q, "isf": Q, "entropy": np.array([0.5, 2.0, 150.0])}.get(
            f, K if name in DISCRETE else X
        )
        shapes = () if f == "entropy" else SHAPES[name]
        args = [np.asarray(v, dtype) for v in (first, *shapes)]
        yield f, args
        taken = inspect.signature(getattr(getattr(jax_stats, name), f)).parameters
        if "scale" in taken:
            yield f, [*args, np.asarray(0.5, dtype), np.asarray(2.0, dtype)]
        elif "loc" in taken and f != "entropy":
            yield f, [*args, np.asarray(1.0, dtype)]


def each(library, made):
    return [getattr(getattr(library, name), f)(*args) for name, f, args in made]


def test_distributions_are_those_of_scipy():
    with imprint.enable_x64(True):
        for name in SHAPES:
            for f, args in calls(name, np.float64):
                got = getattr(getattr(stats, name), f)(*args)
                with np.errstate(all="ignore"):
                    want = getattr(getattr(scipy.stats, name), f)(*args)
                np.testing.assert_allclose(
                    got, want, rtol=1e-9, atol=1e-12, err_msg=f"{name}.{f} of {args}"
                )


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("third", range(3))
def test_distributions_are_those_of_jax(third, x64):
    dtype = np.float64 if x64 else np.float32
    names = list(SHAPES)[third::3]
    made = [(name, f, args) for name in names for f, args in calls(name, dtype)]
    made = [call for call in made if call[1] != "entropy"]  # JAX's is less precise
    with imprint.enable_x64(x64), jax.enable_x64(x64):
        theirs = oracle.jit(
            lambda xs: each(
                jax_stats, [(n, f, a) for (n, f, _), a in zip(made, xs, strict=True)]
            )
        )([a for *_, a in made])
        ours = imprint.jit(
            lambda xs: each(
                stats, [(n, f, a) for (n, f, _), a in zip(made, xs, strict=True)]
            )
        )([a for *_, a in made])
        eager = each(stats, made)
    allowed = tolerance(dtype, "gradient")
    for (name, f, args), want, *got in zip(made, theirs, ours, eager, strict=True):
        for value in got:
            try:
                assert_within(value, want, allowed)
            except AssertionError as err:
                err.add_note(f"{name}.{f} of {args}")
                raise


def test_a_distribution_has_the_functions_of_jax():
    for name in SHAPES:
        module = getattr(stats, name)
        for f in functions(name):
            ours, theirs = (
                inspect.signature(getattr(m, f))
                for m in (module, getattr(jax_stats, name))
            )
            assert [*ours.parameters] == [*theirs.parameters], (name, f)


def test_derivatives_are_those_of_jax():
    x = np.array([0.25, 0.6])
    with imprint.enable_x64(True), jax.enable_x64(True):
        places = jax.numpy.asarray(x)

        def slopes(library, transform, name, place):
            f = "logpmf" if name in DISCRETE else "logpdf"
            shapes = [v * (place[:1] * 0 + 1)[0] for v in SHAPES[name]]
            if name in DISCRETE:

                def value(p):
                    return getattr(library, name).logpmf(
                        2.0 * (name != "bernoulli"), *shapes[:-1], p
                    )

                return transform(value)(place)
            return transform(lambda p: getattr(getattr(library, name), f)(p, *shapes))(
                place
            )

        names = [n for n in SHAPES if n != "pareto"]
        theirs = oracle.jit(
            lambda: [
                slopes(jax_stats, lambda f: jax.vmap(jax.grad(f)), n, places)
                for n in names
            ]
        )()
        ours = [
            slopes(stats, lambda f: imprint.vmap(imprint.grad(f)), n, inp.asarray(x))
            for n in names
        ]
    for name, got, want in zip(names, ours, theirs, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-8, err_msg=name)


def test_tails_are_those_of_scipy():
    with imprint.enable_x64(True):
        for name, f, x, shapes in (
            ("norm", "logcdf", -40.0, ()), ("norm", "isf", 1e-30, ()),
            ("cauchy", "cdf", -1e9, ()), ("truncnorm", "logpdf", 30.5, (30.0, 31.0)),
            ("truncnorm", "logsf", -30.01, (-31.0, -30.0)), ("logistic", "isf", 1e-30, ()),
        ):  # fmt: skip
            want = getattr(getattr(scipy.stats, name), f)(x, *shapes)
            got = getattr(getattr(stats, name), f)(x, *shapes)
            np.testing.assert_allclose(got, want, rtol=1e-9, err_msg=f"{name}.{f}")


def test_distributions_of_vectors():
    rng = np.random.default_rng(0)
    x = rng.dirichlet([1.0, 2.0, 3.0], 4).T.astype("f4")
    alpha = np.float32([1.0, 2.0, 3.0])
    factor = rng.normal(size=(3, 3))
    cov = (factor @ factor.T + np.eye(3)).astype("f4")
    counts, p = np.int32([1, 2, 1]), np.float32([0.2, 0.5, 0.3])
    points = rng.normal(size=(4, 3)).astype("f4")
    calls = (
        ("dirichlet.logpdf", (x, alpha)), ("dirichlet.pdf", (x[:-1], alpha)),
        ("multinomial.logpmf", (counts, 4, p)), ("multinomial.pmf", (counts, 4, p)),
        ("multivariate_normal.logpdf", (points, np.zeros(3, "f4"), cov)),
        ("multivariate_normal.pdf", (points, np.float32([1, 0, 2]), np.float32(2.0))),
        ("multivariate_normal.logpdf", (points, np.float32(1), np.float32(2.0))),
    )  # fmt: skip

    def every(library):
        return [attrgetter(f)(library)(*args) for f, args in calls]

    wanted = oracle.jit(lambda: every(jax_stats))()
    for got, want in zip(every(stats), wanted, strict=True):
        assert_within(got, want, tolerance("float32", "gradient"))


def test_counts_of_another_sum_have_no_probability():
    counts = np.int32([[1, 2, 1], [0, 2, 1]])
    got = stats.multinomial.pmf(counts, 4, np.float32([0.2, 0.5, 0.3]))
    want = scipy.stats.multinomial.pmf(counts, 4, [0.2, 0.5, 0.3])
    np.testing.assert_allclose(got, want, rtol=1e-5)


WRONG = {
    "multivariate_normal.logpdf: expected cov to be a number or matrices of shape (2, 2), "
    "as mean is float32[2], got float32[3,3].": (
        ShapeError,
        lambda: stats.multivariate_normal.logpdf(inp.ones(2), inp.ones(2), inp.eye(3)),
    ),
    "multivariate_normal.logpdf: expected allow_singular=None, got True. Add a small "
    "multiple of the identity to cov.": (
        ArgumentError,
        lambda: stats.multivariate_normal.logpdf(0.0, 0.0, 1.0, allow_singular=True),
    ),
    "dirichlet.logpdf: expected a vector alpha, and x with as many along its first axis, "
    "or one less, got float32[4] and float32[2].": (
        ShapeError,
        lambda: stats.dirichlet.logpdf(inp.ones(4), inp.ones(2)),
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_calls(message):
    kind, call = WRONG[message]
    with pytest.raises(kind) as info:
        call()
    assert str(info.value) == message
