"""The array API standard 2024.12: array-api-strict is the oracle, libraries on it the use.

Calls that strict refuses are not compared: JAX's promotion takes more.
"""

import inspect
import itertools
import json
import subprocess
import sys
import warnings

import array_api_strict as strict
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.diagnostics import unsupported

STARS = {"arrays", "arrays_and_dtypes"}  # `*args` has no name that a call could use
MODULES = {"": strict, "linalg": strict.linalg, "fft": strict.fft}


def functions():
    lacking = {name for name, _ in unsupported.rows("imprint.numpy")}
    for home, module in MODULES.items():
        if home in lacking:
            continue
        for name in module.__all__:
            function = getattr(module, name)
            is_ours = (
                name not in lacking if not home else hasattr(module_of(home), name)
            )
            theirs = inspect.isfunction(function) and "strict_flags" not in name
            if theirs and is_ours:
                yield f"{home}.{name}".strip("."), function


def module_of(home):
    return getattr(inp, home) if home else inp


def ours(name):
    home, _, last = name.rpartition(".")
    return getattr(module_of(home), last)


@pytest.mark.parametrize(("name", "theirs"), [*functions()])
def test_a_function_of_the_standard_has_its_parameters(name, theirs):
    mine = inspect.signature(ours(name)).parameters.values()
    names = {p.name for p in mine}
    by_position = [p for p in mine if p.kind.name.startswith("POSITIONAL")]
    for at, parameter in enumerate(inspect.signature(theirs).parameters.values()):
        if parameter.kind is parameter.POSITIONAL_ONLY:
            assert at < len(by_position)
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            assert parameter.name in names


def test_an_array_has_the_attributes_of_the_standard():
    x, theirs = inp.ones((2, 2)), strict.ones((2, 2))
    public = [name for name in dir(theirs) if not name.startswith("_")]
    special = [name for name in vars(type(theirs)) if name.startswith("__")]
    in_place = {
        f"__i{name[2:]}" for name in special
    }  # Python falls back on `x = x + y`
    for name in {*public, *special} - in_place - {"__init_subclass__"}:
        assert hasattr(x, name), name


# ---- values and dtypes ----

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
UNARY = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_invert"),
    *("ceil", "conj", "cos", "cosh", "exp", "expm1", "floor", "imag", "isfinite"),
    *("isinf", "isnan", "log", "log1p", "log2", "log10", "logical_not", "negative"),
    *("positive", "real", "reciprocal", "round", "sign", "signbit", "sin", "sinh"),
    *("sqrt", "square", "tan", "tanh", "trunc", "all", "any", "argmax", "argmin"),
    *("count_nonzero", "max", "mean", "min", "prod", "std", "sum", "var", "flip"),
    *("matrix_transpose", "zeros_like", "ones_like", "diff"),
)
REDUCTIONS = (
    *("all", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min", "prod"),
    *("std", "sum", "var"),
)
BINARY = (
    *("add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_xor"),
    *("bitwise_right_shift", "copysign", "divide", "equal", "floor_divide", "greater"),
    *("greater_equal", "hypot", "less", "less_equal", "logaddexp", "logical_and"),
    *("logical_or", "logical_xor", "maximum", "minimum", "multiply", "nextafter"),
    *("not_equal", "pow", "remainder", "subtract"),
)
SCALARS = (True, 2, 1.5, 1j)
KINDS = (
    *("bool", "signed integer", "unsigned integer", "integral", "real floating"),
    *("complex floating", "numeric", ("bool", "integral")),
)


def values(dtype, seed=0):
    rng, kind = np.random.default_rng(seed), np.dtype(dtype).kind
    if kind in "biu":
        return rng.integers(0 if kind == "b" else 1, 5, (2, 3)).astype(dtype)
    drawn = rng.random((2, 3)) + (1j * rng.random((2, 3)) if kind == "c" else 0.1)
    return drawn.astype(dtype)


def check(label, call, *operands):
    """Compare the result of a call, unless the standard refuses it."""
    try:
        want = call(strict, *map(in_strict, operands))
    except (TypeError, ValueError):
        return
    got = call(inp, *map(in_ours, operands))
    assert str(got.dtype) == str(want.dtype).rpartition(".")[2], label
    np.testing.assert_allclose(got, np.asarray(want), rtol=1e-5, err_msg=str(label))


def in_strict(x):
    return strict.asarray(x) if isinstance(x, np.ndarray) else x


def in_ours(x):
    return inp.asarray(x) if isinstance(x, np.ndarray) else x


@pytest.fixture
def wide():
    with imprint.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy below strict: overflow, no number
        yield


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_one_array(name):
    for dtype in DTYPES:
        check((name, dtype), lambda xp, x: getattr(xp, name)(x), values(dtype))
        if name in REDUCTIONS:
            for named in ({"axis": 1}, {"axis": 0, "keepdims": True}):
                check(
                    (name, dtype, named),
                    lambda xp, x, named=named: getattr(xp, name)(x, **named),
                    values(dtype),
                )


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_number_with_an_imaginary_part_alone_is_not_0(dtype):
    for values in ([0, 1j], [-2j, 1], [0j, 0], [complex(0, np.nan)]):
        for name in ("any", "all"):
            for function in (getattr(inp, name), imprint.jit(getattr(inp, name))):
                got = function(inp.asarray(values, dtype))
                want = getattr(strict, name)(strict.asarray(np.array(values, dtype)))
                assert bool(got) == bool(want), (name, values)


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", BINARY)
def test_a_function_of_two_arrays(name):
    def call(xp, x, y):
        return getattr(xp, name)(x, y)

    for one, other in itertools.product(DTYPES, DTYPES):
        check((name, one, other), call, values(one), values(other, 1))
    for dtype, scalar in itertools.product(DTYPES, SCALARS):
        check((name, dtype, scalar), call, values(dtype), scalar)
        check((name, scalar, dtype), call, scalar, values(dtype))


@pytest.mark.usefixtures("wide")
def test_questions_about_dtypes():
    def named(xp, name):
        return getattr(xp, name)

    for one, other in itertools.product(DTYPES, DTYPES):
        try:
            want = strict.result_type(named(strict, one), named(strict, other))
        except TypeError:
            continue
        got = inp.result_type(named(inp, one), named(inp, other))
        assert str(got) == str(want).rpartition(".")[2]
    for dtype, kind in itertools.product(DTYPES, KINDS):
        want = strict.isdtype(named(strict, dtype), kind)
        assert inp.isdtype(named(inp, dtype), kind) == want
    for dtype in DTYPES[1:]:
        which = "iinfo" if "int" in dtype else "finfo"
        got, want = (named(xp, which)(named(xp, dtype)) for xp in (inp, strict))
        names = ("bits", "max", "min") + ("eps", "smallest_normal") * (which == "finfo")
        assert [getattr(got, n) for n in names] == [getattr(want, n) for n in names]
        assert str(got.dtype) == str(want.dtype).rpartition(".")[2]


# ---- libraries that take arrays of any library ----

PROGRAM = """
import json, os, warnings
os.environ["SCIPY_ARRAY_API"] = "1"
import numpy as np
import imprint, imprint.numpy as inp
from imprint._src.core.array import Array
imprint.config.update("enable_x64", True)
import sklearn, sklearn.metrics, sklearn.preprocessing
import scipy.cluster.vq, scipy.constants, scipy.fft, scipy.integrate, scipy.ndimage
import scipy.optimize, scipy.signal, scipy.special, scipy.stats
from sklearn import metrics
from sklearn.metrics import pairwise
sklearn.set_config(array_api_dispatch=True)
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
x, y = rng.random((20, 4)) + 0.1, rng.random((20, 4)) + 0.1
labels, guessed = rng.integers(0, 2, (2, 20))
SCIKIT = {
    **{name: (getattr(metrics, name), x[:, 0], y[:, 0]) for name in (
        "mean_squared_error", "mean_absolute_error", "root_mean_squared_error",
        "max_error", "mean_absolute_percentage_error", "mean_squared_log_error",
        "median_absolute_error", "mean_pinball_loss", "mean_tweedie_deviance")},
    **{name: (getattr(pairwise, name), x, y) for name in (
        "euclidean_distances", "linear_kernel", "polynomial_kernel", "rbf_kernel",
        "sigmoid_kernel", "chi2_kernel", "paired_euclidean_distances")},
    **{name: (getattr(metrics, name), labels, guessed) for name in (
        "accuracy_score", "zero_one_loss", "hamming_loss", "balanced_accuracy_score")},
    "confusion_matrix": (metrics.confusion_matrix, labels, guessed),
    "KernelCenterer": (
        lambda k: sklearn.preprocessing.KernelCenterer().fit_transform(k), x @ x.T),
}
SCIPY = {
    **{name: (getattr(scipy.special, name), x / 3) for name in (
        "softmax", "gammaln", "erf", "expit", "logit", "entr", "ndtr", "i0", "digamma")},
    "xlogy": (scipy.special.xlogy, x, y),
    **{name: (getattr(scipy.stats, name), x) for name in (
        "skew", "kurtosis", "moment", "variation", "gmean", "hmean", "sem", "entropy",
        "kstat", "circmean", "tmean")},
    "trapezoid": (scipy.integrate.trapezoid, x),
    "cumulative_trapezoid": (scipy.integrate.cumulative_trapezoid, x),
    "rfft2": (scipy.fft.rfft2, x),
    "dct": (scipy.fft.dct, x),
    "vq": (lambda a, b: scipy.cluster.vq.vq(a, b)[1], x, y[:3]),
    "fftconvolve": (scipy.signal.fftconvolve, x, y[:2, :2]),
    "detrend": (scipy.signal.detrend, x),
    "gaussian_filter": (lambda a: scipy.ndimage.gaussian_filter(a, 1.0), x),
    "rosen": (scipy.optimize.rosen, x),
    "lambda2nu": (scipy.constants.lambda2nu, x),
}
def same(call, *given):
    got, want = call(*map(inp.asarray, given)), call(*given)
    kind = isinstance(got, Array) or isinstance(want, float)
    return kind and np.shape(got) == np.shape(want) and np.allclose(got, want)
COMPILED = {n: SCIPY[n] for n in ("softmax", "skew", "gmean", "trapezoid")}
found = {home: {name: bool(same(*given)) for name, given in table.items()}
         for home, table in (("scikit-learn", SCIKIT), ("SciPy", SCIPY))}
found["compiled"] = {
    name: bool(np.allclose(imprint.jit(call)(given), call(given)))
    for name, (call, given) in COMPILED.items()}
print(json.dumps(found))
"""


@pytest.mark.slow
def test_scikit_learn_and_scipy_take_arrays():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for home, found in json.loads(done.stdout).items():
        assert [name for name, same in found.items() if not same] == [], home
        assert len(found) >= (4 if home == "compiled" else 10)
