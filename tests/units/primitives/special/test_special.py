"""Error and gamma functions: poles, tails, the order of polygamma, when SciPy loads."""

import sys

import jax
import numpy as np
import pytest
import scipy.special
from jax import lax

import imprint
import imprint.scipy
from imprint._src.config import enable_x64
from imprint._src.jit.api import jit
from imprint._src.primitives.special.special import (
    digamma,
    erf_inv,
    erfc,
    lgamma,
    polygamma,
)
from imprint.errors import NotDifferentiableError
from tests.tolerances import assert_close
from tests.units.primitives.agreement import assert_agreed, tangent
from tests.units.primitives.twin import assert_as_jax
from tests.units.runtime.programs import in_fresh_process

NAN, INF = np.nan, np.inf
FLOATS = ["float32", "float64", "float16", "bfloat16"]


@pytest.mark.parametrize("dtype", FLOATS)
def test_erf_inv_at_the_ends_and_beyond(dtype):
    x = np.array([1, -1, 1.5, -2, NAN, 0.0, -0.0]).astype(dtype)
    want = np.array([INF, -INF, NAN, NAN, NAN, 0.0, -0.0]).astype(dtype)
    assert_agreed(erf_inv, [x], want)


def test_erf_inv_undoes_erf_from_the_smallest_to_the_largest():
    size = np.concatenate(
        [10.0 ** -np.arange(0.5, 300, 7), 1 - 2.0 ** -np.arange(2, 50)]
    )
    y = np.concatenate([size, -size])
    with enable_x64(True):
        x = np.asarray(erf_inv(y))
    assert_close(x / scipy.special.erfinv(y), np.ones_like(y))


def test_the_tail_of_erfc_has_digits_of_its_own():
    x = np.array([3.0, 6.0, 9.0], "float32")
    want = scipy.special.erfc(x.astype("float64"))
    for run in (erfc, jit(erfc)):
        ratio = np.asarray(run(x)).astype("float64") / want
        assert_close(ratio.astype("float32"), np.ones(3, "float32"), "erfc")


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_poles_of_the_gamma_family(dtype):
    x = np.array([0.0, -0.0, -1, -2, INF, -INF, NAN]).astype(dtype)
    want = np.array([INF, INF, INF, INF, INF, INF, NAN]).astype(dtype)
    assert_agreed(lgamma, [x], want)
    want = np.array([-INF, -INF, NAN, NAN, INF, NAN, NAN]).astype(dtype)
    assert_agreed(digamma, [x], want)


def test_digamma_on_the_left_of_zero():
    x = np.array([-0.25, -0.5, -1.5, -7.9, -20.5])
    with enable_x64(True):
        for run in (digamma, jit(digamma)):
            assert_close(run(x), scipy.special.digamma(x), "digamma")


@pytest.mark.slow
@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_polygamma_is_that_of_scipy(order):
    x = np.array([0.5, 1.0, 3.25, 20.0])
    with enable_x64(True):
        m = np.full(4, float(order))
        for run in (polygamma, jit(polygamma)):
            assert_close(run(m, x), scipy.special.polygamma(order, x), "digamma")
            assert_close(run(m[0], x), scipy.special.polygamma(order, x), "digamma")


def test_polygamma_has_no_value_for_other_orders_and_between_two_sides():
    m = np.array([-1, 0.5, INF, NAN, 2, 2, 1, 1, 1], "float32")
    x = np.array([1, 1, 1, 1, 0, INF, 0, -1, INF], "float32")
    want = np.array([NAN, NAN, NAN, NAN, NAN, NAN, INF, INF, NAN], "float32")
    assert_agreed(polygamma, [m, x], want)


def test_the_order_of_polygamma_is_not_differentiated():
    m, x = np.float32(1), np.float32(2)
    with pytest.raises(NotDifferentiableError) as caught:
        tangent(lambda m: polygamma(m, x), [m], [m])
    assert str(caught.value) == (
        "polygamma: expected to differentiate by x, got a tangent of the order m, which "
        "is a natural number. Hold m constant: close over it, or use stop_gradient."
    )


@pytest.mark.parametrize(
    ("ours", "theirs"), [(lgamma, lax.lgamma), (digamma, lax.digamma)]
)
def test_second_derivatives_are_those_of_jax(ours, theirs):
    x = np.linspace(0.5, 6, 12)
    assert_as_jax(curvature(imprint, ours), curvature(jax, theirs), x)


def curvature(lib, fun):
    return lambda x: lib.vmap(lib.grad(lib.grad(fun)))(x)


LATE = """
import sys
import numpy as np
import imprint
from imprint._src.primitives.special.special import erf
print("scipy" in sys.modules)
imprint.make_jaxpr(erf)(np.float32(1))
print("scipy" in sys.modules)
erf(np.float32(1))
print("scipy.special" in sys.modules)
erf(np.ones(5000, np.float32))
print("scipy.special" in sys.modules)
"""


@pytest.mark.slow
def test_scipy_is_loaded_by_the_first_eager_use_on_many_numbers():
    assert in_fresh_process(LATE) == ["False", "False", "False", "True"]


@pytest.mark.parametrize("name", ["erf", "erfc", "gammaln"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_few_numbers_have_the_same_bits_before_scipy_is_loaded(
    name, dtype, monkeypatch
):
    rng = np.random.default_rng(0)
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, -1, -2, 1e38, -1e38, 1e-38]
    with np.errstate(all="ignore"):
        drawn = np.concatenate([rng.normal(size=900) * 10, edges])
        x = imprint.numpy.asarray(drawn.astype("float32")).astype(dtype)
    function = getattr(imprint.scipy.special, name)
    want = np.asarray(function(x))
    monkeypatch.delitem(sys.modules, "scipy.special")
    assert np.asarray(function(x)).tobytes() == want.tobytes()
    assert "scipy.special" not in sys.modules
