"""imprint.numpy compared with jax.numpy: dtypes, weak types, eager and staged values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.conformance.cases import CASES, arrays
from tests.tolerances import assert_close

pytestmark = pytest.mark.slow  # programs of 400 cases are compiled
PARTS = 16

CASES.pop("modf(e)")  # infinities and -0: test_edges compares with NumPy

# To compile these well would take longer than all other tests.
FAST_COMPILE = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
}
if jax.__version_info__ < (0, 11):
    FAST_COMPILE["xla_cpu_use_fusion_emitters"] = False  # gone, and not needed, later

    CASES.pop("sinc(e)")  # NaN at infinity, and not 0 at integers, in these


def in_parts(lib, np_, given):
    """Run all cases in a few programs: one of all compiles in twice the time."""
    results = {}
    for i in range(PARTS):
        names = list(CASES)[i::PARTS]
        run = lib.jit(
            lambda d, names=names: {name: CASES[name](np_, d) for name in names},
            compiler_options=FAST_COMPILE,
        )
        results |= run(given)
    return results


@pytest.fixture(scope="module")
def expected():
    given = {key: jnp.asarray(value) for key, value in arrays().items()}
    return in_parts(jax, jnp, given)


@pytest.fixture(scope="module")
def ours():
    return {key: inp.asarray(value) for key, value in arrays().items()}


@pytest.fixture(scope="module")
def staged(ours):
    return in_parts(imprint, inp, ours)


@pytest.mark.parametrize("name", CASES)
def test_eager_values(name, ours, expected):
    with np.errstate(all="ignore"):
        compare(CASES[name](inp, ours), expected[name])


@pytest.mark.parametrize("name", CASES)
def test_staged_values(name, staged, expected):
    compare(staged[name], expected[name])


def compare(got, want):
    got, want = jax.tree.leaves(imprint.tree.leaves(got)), jax.tree.leaves(want)
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        assert one.weak_type == other.weak_type
        assert_close(one, other, "program")
