"""imprint.numpy compared with jax.numpy: dtypes, weak types, eager and staged values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.conformance.cases import CASES, arrays
from tests.tolerances import assert_close

pytestmark = pytest.mark.slow  # two programs of 300 parts are compiled

# 300 programs in one module: compiling it well would take longer than all other tests.
FAST_COMPILE = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
}
if jax.__version_info__ < (0, 11):
    FAST_COMPILE["xla_cpu_use_fusion_emitters"] = False  # gone, and not needed, later

    CASES.pop("sinc(e)")  # NaN at infinity, and not 0 at integers, in these


@pytest.fixture(scope="module")
def expected():
    given = {key: jnp.asarray(value) for key, value in arrays().items()}
    run = jax.jit(
        lambda d: {name: case(jnp, d) for name, case in CASES.items()},
        compiler_options=FAST_COMPILE,
    )
    return run(given)


@pytest.fixture(scope="module")
def ours():
    return {key: inp.asarray(value) for key, value in arrays().items()}


@pytest.fixture(scope="module")
def staged(ours):
    run = imprint.jit(
        lambda d: {name: case(inp, d) for name, case in CASES.items()},
        compiler_options=FAST_COMPILE,
    )
    return run(ours)


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
