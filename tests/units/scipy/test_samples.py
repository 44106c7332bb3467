"""Statistics and densities of samples, as in JAX, or SciPy where JAX has none."""

from importlib import import_module

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import imprint
from imprint.errors import ArgumentError, DTypeError, ShapeError
from imprint.scipy import stats
from tests import oracle
from tests.lanes import exhaustive, exhaustive_but
from tests.tolerances import assert_close

jax_stats = import_module("jax.scipy.stats")
RNG = np.random.default_rng(0)
NAN = float("nan")
FLOATS = RNG.integers(0, 4, (5, 6)).astype("float32")
SOME_NAN = FLOATS.copy()
SOME_NAN[[0, 2, 3], [1, 2, 2]] = NAN
SAMPLES = [
    RNG.integers(0, 3, (4, 7)),
    FLOATS,
    SOME_NAN,
    np.array([3, 1, 1, 3]),
    np.array([0.0, -0.0, 2, NAN, NAN, NAN], "float32"),
    np.array([-np.inf, np.inf, np.inf], "float32"),
    np.array([True, False, True]),
    np.array([], "float32"),
    np.zeros((0, 3), "float32"),
    np.float32(2),
]
METHODS = ["average", "min", "max", "dense", "ordinal"]


def compare(names, x64=False):
    """Compare calls `(name, sample, kwargs)` with JAX, eagerly and in one program."""

    def run(stats):
        return [getattr(stats, name)(x, **kw) for name, x, kw in names]

    with jax.enable_x64(x64), imprint.enable_x64(x64):
        want = oracle.jit(lambda: run(jax_stats))()
        for got in (run(stats), imprint.jit(lambda: run(stats))()):
            for a, b in zip(
                imprint.tree.leaves(got), jax.tree.leaves(want), strict=True
            ):
                assert a.weak_type == b.weak_type
                assert_close(a, b, "reduction")


def cases(name, x):
    axes = [None, *range(x.ndim)]
    if name == "rankdata":
        return [(name, x, {"method": m, "axis": a}) for m in METHODS for a in axes]
    given = [{"axis": axis, "keepdims": len(axes) % 2 == 0} for axis in axes]
    if name == "sem":
        given += [{"axis": axis, "nan_policy": "omit", "ddof": 0} for axis in axes]
    return [(name, x, kw) for kw in given]


@pytest.mark.parametrize("x64", exhaustive_but([False], [False, True]))
@pytest.mark.parametrize("taken", exhaustive_but(["one"], ["one", "all"]))
@pytest.mark.parametrize("name", ["mode", "rankdata", "sem"])
@pytest.mark.filterwarnings("ignore:.*(empty slice|Degrees of freedom|divide)")
def test_samples_are_described_as_by_jax(name, taken, x64):
    samples = [
        x
        for x in (SAMPLES if taken == "all" else SAMPLES[2:3])
        if name != "rankdata" or x.size
    ]
    if name == "sem":
        samples = [x for x in samples if x.ndim and x.size]
    compare([case for x in samples for case in cases(name, x)], x64)


def test_nothing_has_no_rank():
    assert stats.rankdata(np.zeros(0)).shape == (0,)
    assert stats.rankdata(np.zeros((2, 0)), axis=1).shape == (2, 0)
    assert stats.mode(np.zeros((3, 0))).mode.shape == (0,)


def test_nan_is_left_out():
    for axis in (0, 1, None):
        want = scipy.stats.mode(SOME_NAN, axis, nan_policy="omit")
        got = stats.mode(SOME_NAN, axis, nan_policy="omit")
        assert_close(got.mode, want.mode.astype(got.mode.dtype))
        assert got.count.tolist() == want.count.tolist()
        want = scipy.stats.rankdata(SOME_NAN, axis=axis, nan_policy="omit")
        got = stats.rankdata(SOME_NAN, axis=axis, nan_policy="omit")
        assert_close(got, want.astype("float32"))
    none = stats.mode(np.array([NAN, NAN]), nan_policy="omit")
    assert np.isnan(none.mode)
    assert none.count == 0


def test_they_are_batched():
    got = imprint.vmap(stats.rankdata)(FLOATS)
    assert_close(got, stats.rankdata(FLOATS, axis=1))
    got = imprint.jit(imprint.vmap(stats.mode))(FLOATS)
    assert_close(got.mode, stats.mode(FLOATS, axis=1).mode)


# ---- densities ----


POINTS = RNG.normal(size=(2, 12)).astype("float32")
AT = RNG.normal(size=(2, 5)).astype("float32")
WEIGHTS = RNG.uniform(size=12).astype("float32")
KDES = [
    (POINTS, None, None),
    (POINTS[0], "silverman", WEIGHTS),
    (POINTS, 0.7, WEIGHTS),
    (POINTS[1], lambda kde: kde.n ** (-1 / (kde.d + 4)), None),
]


@pytest.mark.parametrize("i", exhaustive(*range(len(KDES))))
def test_densities_are_those_of_jax(i):
    points, method, weights = KDES[i]

    def run(stats, key):
        kde = stats.gaussian_kde(points, method, weights)
        other = stats.gaussian_kde(points[..., :7] + 1)
        at = AT[: kde.d]
        spread = np.eye(kde.d, dtype="float32") * 2 - 0.5
        one = [kde.integrate_box_1d(-0.5, 1.0)] if kde.d == 1 else []
        return [
            *(kde.neff, kde.weights, kde.covariance, kde.inv_cov),
            *(kde(at), kde.pdf(at[:, :1]), kde.logpdf(at), *one),
            kde.integrate_gaussian(np.ones(kde.d, "float32"), spread),
            *(kde.integrate_kde(other), other.integrate_kde(kde)),
            *(kde.resample(key), kde.resample(key, (4,))),
        ]

    want = oracle.jit(lambda: run(jax_stats, jax.random.key(3)))()
    for got in (
        run(stats, imprint.random.key(3)),
        imprint.jit(lambda: run(stats, imprint.random.key(3)))(),
    ):
        for a, b in zip(got, want, strict=True):
            assert_close(a, b, "program")


def test_an_estimate_is_a_node():
    kde = stats.gaussian_kde(POINTS)
    assert len(imprint.tree.leaves(kde)) == 5
    same = imprint.jit(lambda kde: kde)(kde)
    assert (same.d, same.n) == (2, 12)
    assert_close(imprint.jit(lambda kde, x: kde(x))(kde, AT), kde(AT), "program")
    many = kde.resample(imprint.random.key(0), (3, 4))
    assert many.shape == (2, 3, 4)
    each = imprint.vmap(lambda x: stats.gaussian_kde(x)(AT[0]))(POINTS)
    assert_close(each[1], stats.gaussian_kde(POINTS[1])(AT[0]), "program")


@pytest.mark.exhaustive
def test_derivatives_of_densities_are_those_of_jax():
    got = imprint.grad(lambda x: stats.gaussian_kde(x).logpdf(AT).sum())(POINTS)
    want = jax.grad(lambda x: jax_stats.gaussian_kde(x).logpdf(AT).sum())(
        jnp.asarray(POINTS)
    )
    assert_close(got, want, "gradient")


WRONG = [
    (
        lambda: stats.mode(FLOATS, nan_policy="raise"),
        ArgumentError,
        "mode: expected a nan_policy of propagate or omit, got 'raise'. To raise where "
        "there is a NaN, call imprint.debug.check.",
    ),
    (
        lambda: stats.rankdata(FLOATS, "mean"),
        ArgumentError,
        "rankdata: expected a method of average, min, max, dense or ordinal, got 'mean'.",
    ),
    (
        lambda: stats.gaussian_kde(np.ones(1)),
        ShapeError,
        "gaussian_kde: expected points of shape (d, n), and more than one number, got "
        "float32[1,1].",
    ),
    (
        lambda: stats.gaussian_kde(np.ones(3, complex)),
        DTypeError,
        "gaussian_kde: expected real points, got complex64[3]. Stack real and imaginary "
        "parts as two coordinates.",
    ),
    (
        lambda: stats.gaussian_kde(POINTS, weights=np.ones(3)),
        ShapeError,
        "gaussian_kde: expected a weight for each of 12 points, got float32[3].",
    ),
    (
        lambda: stats.gaussian_kde(POINTS, "scot"),
        ArgumentError,
        "gaussian_kde: expected a bw_method of scott, silverman, a number or a function, "
        "got 'scot'.",
    ),
    (
        lambda: stats.gaussian_kde(POINTS)(np.ones((3, 2))),
        ShapeError,
        "evaluate: expected points of 2 coordinates, as the estimate has, of shape "
        "(2, m), got float32[3,2].",
    ),
    (
        lambda: stats.gaussian_kde(POINTS).integrate_box_1d(0, 1),
        ShapeError,
        "integrate_box_1d: expected an estimate of one coordinate, and two numbers, got "
        "2, () and (). Map with imprint.vmap.",
    ),
    (
        lambda: stats.gaussian_kde(POINTS).integrate_gaussian(np.ones(3), np.eye(2)),
        ShapeError,
        "integrate_gaussian: expected a mean of shape (2,) and a covariance of shape "
        "(2, 2), got float32[3] and float32[2,2].",
    ),
    (
        lambda: stats.gaussian_kde(POINTS).integrate_kde(stats.gaussian_kde(POINTS[0])),
        ShapeError,
        "integrate_kde: expected an estimate of 2 coordinates, got one of 1.",
    ),
    (
        lambda: stats.gaussian_kde(POINTS).integrate_box(0, 1),
        NotImplementedError,
        "integrate_box: expected no box of several coordinates. Call integrate_box_1d, or "
        "average over resample.",
    ),
    (
        lambda: stats.gaussian_kde(POINTS).set_bandwidth("scott"),
        NotImplementedError,
        "set_bandwidth: expected no other width for an estimate, which is immutable, got "
        "'scott'. Make another, with bw_method.",
    ),
]


@pytest.mark.parametrize(("call", "kind", "text"), WRONG)
def test_an_error_message(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == text
