"""Models of the first hour, with JAX and Equinox and with imprint: the same results."""

import equinox
import jax
import numpy as np
import pytest

import imprint
from tests.first_hour import models, models_in_loops
from tests.first_hour.collect import programs_of
from tests.lanes import exhaustive
from tests.tolerances import assert_close

pytestmark = pytest.mark.slow

MODELS = programs_of(models)
LOOPS = programs_of(models_in_loops)


@pytest.mark.parametrize(
    "model",
    [*MODELS[:4], *LOOPS[:1], *exhaustive(*MODELS[4:], *LOOPS[1:])],
    ids=lambda model: model.__name__,
)
def test_a_model_gives_the_same_as_with_equinox(model):
    want = jax.tree.leaves(model(jax, equinox))
    got = imprint.tree.leaves(model(imprint, imprint))
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        if isinstance(other, str):
            assert one == other
        else:
            assert isinstance(one, imprint.Array) == isinstance(other, jax.Array)
            assert_close(np.asarray(one), np.asarray(other), "gradient")
