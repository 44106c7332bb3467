"""Eager fusion: a call with a hot signature gives the same bits."""

import functools
import inspect
import sys
from importlib import import_module

import numpy as onp
import pytest

import imprint
import imprint.image
import imprint.lax as lax
import imprint.nn as nn
import imprint.numpy as np
import imprint.scipy as scipy
from imprint._src.eager.fusion import fuse_eager
from imprint.errors import DeletedArrayError, NonFiniteError

RNG = onp.random.default_rng(0)
X = np.asarray(RNG.normal(size=12).astype("float32"))
Y = np.asarray(RNG.normal(size=12).astype("float32"))
P = np.abs(X) + 0.1
HOLES = np.where(X > 1, np.nan, X)
M = np.asarray(RNG.normal(size=(4, 4)).astype("float32"))
S = M @ M.T + 4 * np.eye(4)
PLACES = np.asarray([3, 0, -2, 7])
UNIT = np.clip(P, 0.1, 0.9)
OFTEN = 6


def body_of(function):
    """Return the function passed to `fuse_eager`; a ufunc holds the fused one."""
    made = function.__call__ if isinstance(function, np.ufunc) else function
    return made.__wrapped__


def plans_of(function):
    """Return the call records of a function that `fuse_eager` made."""
    return fuse_eager.__globals__["_known"][body_of(function)].plans


def assert_same(came, expected):
    """Compare results: their trees, avals and bits."""
    ours, theirs = (imprint.tree.flatten(x) for x in (came, expected))
    assert ours[1] == theirs[1]
    for a, b in zip(ours[0], theirs[0], strict=True):
        assert imprint.typeof(a) is imprint.typeof(b)
        assert onp.asarray(a).tobytes() == onp.asarray(b).tobytes()


# ---- the fused functions ----

HOMES = {
    np: {
        "round modf signbit isposinf isneginf sinc angle deg2rad rad2deg": (X,),
        "floor_divide remainder fmod divmod logaddexp logaddexp2": (
            P,
            Y,
        ),
        "fmax fmin copysign heaviside isclose allclose array_equal": (X, Y),
        "log2 log10": (P,),
        "maximum minimum": (X, Y),
        "trunc frexp spacing": (X,),
        "ldexp": (X, PLACES[:1]),
        "lcm": (PLACES, PLACES + 5),
        "bitwise_count packbits": (PLACES,),
        "unpackbits": (PLACES.astype("uint8"),),
        "histogram": (X, 4),
        "clip": (X, -1, 1),
        "nan_to_num nanmean nanvar nanstd nansum nanprod nanmax nanmin": (HOLES,),
        "nanargmax nanargmin nancumsum nancumprod nanmedian": (HOLES,),
        "sum prod max min any all ptp count_nonzero mean average var std": (M, 0),
        "argmax argmin cumsum cumprod sort argsort median minmax": (M, 1),
        "cumulative_sum cumulative_prod diff ediff1d gradient trapezoid unwrap": (X,),
        "cov corrcoef": (M,),
        "dot vdot vecdot inner outer kron correlate convolve append": (X, Y),
        "cross": (X[:3], Y[:3]),
        "tensordot": (M, M, 1),
        "einsum": ("ij,jk->ik", M, S),
        "tril triu diagonal diag diagflat trace rot90": (M,),
        "vander tile roll": (X, 3),
        "concatenate stack vstack hstack dstack column_stack": ([X, Y],),
        "block": ([[M, M], [M, M]],),
        "pad": (M, 2),
        "take take_along_axis": (X, PLACES, 0),
        "sort_complex i0": (X,),
        "lexsort": ((X, Y),),
        "partition argpartition top_k": (X, 5),
        "quantile nanquantile": (HOLES, 0.3),
        "percentile nanpercentile": (X, 30),
        "searchsorted": (np.sort(X), Y),
        "interp": (X, np.sort(Y), P),
        "linspace logspace geomspace": (1, 2, 5),
        "meshgrid": (X, Y),
        "bartlett hanning hamming blackman": (5,),
        "kaiser": (5, 14.0),
        "polyval polyadd polysub": (X, Y),
        "polyder polyint": (X,),
        "isin": (PLACES, PLACES[1:]),
        "select": ([X > 0, X < -1], [X, Y]),
    },
    np.linalg: {
        "qr svd svdvals eigh eigvalsh eig eigvals cholesky inv det slogdet": (S,),
        "norm vector_norm matrix_norm pinv matrix_rank cond": (S,),
        "solve": (S, M),
        "lstsq": (M, S),
        "matrix_power": (S, 3),
        "multi_dot": ([S, M, X[:4]],),
        "cross": (X[:3], Y[:3]),
        "trace diagonal": (M,),
        "vecdot": (X, Y),
    },
    np.fft: {
        "fft ifft rfft irfft hfft ihfft fftshift ifftshift": (X,),
        "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn": (M,),
        "fftfreq rfftfreq": (6,),
    },
    nn: {
        "relu relu6 leaky_relu hard_tanh hard_sigmoid hard_silu elu celu selu": (X,),
        "softplus squareplus sigmoid log_sigmoid silu mish soft_sign gelu": (X,),
        "sparse_plus softmax log_softmax logsumexp logmeanexp glu standardize": (X,),
        "log1mexp": (P,),
        "one_hot": (PLACES, 5),
    },
    scipy.special: {
        "xlogy xlog1py rel_entr kl_div betaln beta gammainc gammaincc": (P, UNIT),
        "entr logit expit gammaln gamma digamma i0 i0e i1 i1e factorial": (UNIT,),
        "erf erfc erfinv ndtr ndtri log_ndtr": (UNIT,),
        "betainc": (2.0, 3.0, UNIT),
        "zeta": (P + 1, P),
    },
    scipy.linalg: {
        "cho_factor lu_factor lu cholesky inv det": (S,),
        "solve": (S, M),
        "cho_solve": ((M, False), X[:4]),
        "lu_solve": ((M, PLACES % 4), X[:4]),
        "solve_triangular": (M, X[:4]),
        "block_diag": (M, S),
        "toeplitz": (X,),
    },
    scipy.ndimage: {"map_coordinates": (M, [P[:3], P[:3]], 1)},
    imprint.image: {"resize": (M, (3, 3), "linear")},
}
CASES = {
    f"{home.__name__}.{name}": (getattr(home, name), args)
    for home, rows in HOMES.items()
    for names, args in rows.items()
    for name in names.split()
}


@pytest.mark.parametrize("name", CASES)
def test_fused_evaluation_equals_the_function(name):
    function, args = CASES[name]
    expected = body_of(function)(*args)
    for _ in range(OFTEN):
        came = function(*args)
        assert_same(came, expected)
    plans = [p for p in plans_of(function).values() if not isinstance(p, int)]
    assert any(p is not None for p in plans)


def test_each_function_has_a_case():
    code = fuse_eager(len).__code__
    for home in (*HOMES, np.linalg, scipy.special, scipy.linalg):
        import_module(home.__name__)
        for name in home.__all__:
            getattr(home, name)  # loads its file
    found = {
        x
        for module in [m for n, m in sys.modules.items() if n.startswith("imprint.")]
        for x in vars(module).values()
        if getattr(x, "__code__", None) is code
    }
    covered = {function for function, _ in CASES.values()}
    assert not {f"{f.__module__}.{f.__name__}" for f in found - covered}


# ---- calls of one signature ----


@pytest.fixture
def counted():
    """Return a fused function, and a list with an entry for each run of its body."""
    runs = []

    @fuse_eager
    def scaled(x, by=2, *, shift=0.0):
        runs.append(by)
        return x * by + shift

    return scaled, runs


def test_a_plan_takes_the_place_of_the_body(counted):
    scaled, runs = counted
    for i in range(10):
        assert_same(scaled(X + i), (X + i) * 2 + 0.0)
    assert len(runs) == 6  # 5 calls, and the one that was staged


def test_argument_types_are_distinguished(counted):
    scaled, _ = counted
    for by in (1, 1.0, True, 0.0, -0.0, 1j, float("nan"), float("inf"), -float("nan")):
        for x in (PLACES, X, X.astype("float16"), np.asarray(2.0), np.full((), 2.0)):
            for _ in range(OFTEN):
                assert_same(scaled(x, by), x * by + 0.0)
                assert_same(scaled(x, shift=by), x * 2 + by)


def test_settings_are_part_of_a_signature():
    @fuse_eager
    def whole(x):
        return np.sum(x) + np.arange(3)

    for wide in (False, True, False):
        with imprint.enable_x64(wide):
            x = np.asarray(onp.arange(3))
            for _ in range(OFTEN):
                assert whole(x).dtype == ("int64" if wide else "int32")


def test_calls_with_unhashable_values_are_not_planned(counted):
    scaled, runs = counted
    for x in (onp.ones(3), onp.float32(2), 2 + 1j):
        for _ in range(OFTEN):
            assert_same(scaled(X[:3], x), X[:3] * x + 0.0)
    assert len(runs) == 3 * OFTEN


def test_a_call_with_a_long_list_is_not_planned():
    before = len(plans_of(np.stack))
    for _ in range(OFTEN):
        assert np.stack([X] * 100).shape == (100, 12)
    assert len(plans_of(np.stack)) == before


def test_the_number_of_plans_is_bounded(counted):
    scaled, _ = counted
    for by in range(1000):
        scaled(X, by)
    assert len(plans_of(scaled)) <= 256


# ---- where the body runs ----


def test_traces_see_the_function(counted):
    scaled, _ = counted
    for _ in range(OFTEN):
        scaled(X)
    assert_same(imprint.jit(scaled)(X), scaled(X))
    assert_same(imprint.vmap(scaled)(M), scaled(M))
    assert imprint.grad(lambda x: scaled(x).sum())(X).tolist() == [2.0] * 12
    inside = imprint.make_jaxpr(lambda x: x + scaled(X))(X)
    assert [eqn.primitive.name for eqn in inside.eqns] == ["mul", "add", "add"]


def test_plans_leave_a_jitted_function_as_it_is():
    jitted = imprint.jit(np.hypot)
    for _ in range(2 * OFTEN):
        jitted(X, Y)
        np.hypot(X, Y)
    (version,) = jitted.versions
    assert version.hits >= 2 * OFTEN - 1


@pytest.mark.parametrize("flag", ["debug_nans", "debug_infs", "disable_jit"])
def test_flags_for_debugging_have_the_body_run(counted, flag):
    scaled, runs = counted
    for _ in range(OFTEN):
        scaled(X)
    before = len(runs)
    with getattr(imprint, flag)(True):
        for _ in range(OFTEN):
            scaled(X)
    assert len(runs) == before + OFTEN


def test_nans_are_found_where_they_are_made():
    for _ in range(OFTEN):
        np.std(X)
    with imprint.debug_nans(True), pytest.raises(NonFiniteError):
        np.std(X[:0])


def test_results_are_where_the_operands_are(counted):
    scaled, _ = counted
    x = imprint.device_put(X, imprint.devices()[0])
    for _ in range(OFTEN):
        assert scaled(x).committed


def test_a_function_that_needs_values_gets_them():
    @fuse_eager
    def halved(x):
        return x / 2 if x.sum() > 0 else x

    for _ in range(OFTEN):
        assert_same(halved(P), P / 2)
        assert_same(halved(-P), -P)


def test_a_function_that_returns_its_argument_still_does():
    @fuse_eager
    def same(x):
        return x

    assert all(same(X) is X for _ in range(OFTEN))


def test_effects_happen_at_each_call():
    seen = []

    @fuse_eager
    def noisy(x):
        imprint.debug.callback(lambda y: seen.append(float(y)), x.sum())
        return x + 1

    for _ in range(OFTEN):
        noisy(X)
    imprint.effects_barrier()
    assert len(seen) == OFTEN


def test_loops_are_not_planned():
    @fuse_eager
    def powered(x):
        return lax.fori_loop(0, 3, lambda _, y: y * x, x)

    for _ in range(OFTEN):
        assert_same(powered(np.asarray(2.0)), np.asarray(16.0))
    assert None in plans_of(powered).values()


def test_the_function_computes_operands_that_a_reference_refuses():
    singular = np.zeros((2, 2))
    for x in (np.eye(2), singular) * OFTEN:
        assert np.isfinite(np.linalg.inv(x)).all() == (x is not singular)


def test_errors_are_those_of_the_function():
    for _ in range(OFTEN):
        np.hypot(X, Y)
        with pytest.raises(imprint.errors.ShapeError, match="hypot"):
            np.hypot(X, Y[:5])
    gone = np.asarray(X) + 0
    gone.delete()
    with pytest.raises(DeletedArrayError):
        np.hypot(gone, Y)


def test_constants_are_results_of_their_own():
    made = [np.linspace(0, 1, 5) for _ in range(OFTEN)]
    made[-1].delete()
    assert_same(made[-2], np.linspace(0, 1, 5))
    assert len({id(x) for x in made}) == OFTEN


def test_functions_are_distinguished_by_identity():
    @functools.partial(imprint.jit, static_argnames="act")
    def applied(x, act):
        return act(x)

    for act in (nn.relu, nn.gelu, nn.relu):
        applied(X, act=act)
    assert len(applied.versions) == 2
    text = str(applied.explain(X, act=nn.silu))
    assert "function gelu" in text
    assert "function silu" in text
    assert "closure" not in text


def test_the_function_looks_like_itself():
    assert np.hypot.__name__ == "hypot"
    assert list(inspect.signature(np.hypot).parameters) == ["x", "y"]


def test_where_is_fused():
    """Its keys are unwrapped before."""
    fused = np.where.__wrapped__
    for _ in range(OFTEN):
        assert_same(np.where(X > 0, X, 0), body_of(fused)(X > 0, X, 0))
    assert any(isinstance(p, tuple) for p in plans_of(fused).values())
