import jax
import numpy as np
import pytest

import imprint
from imprint import errors, random
from tests.lanes import exhaustive, exhaustive_but
from tests.tolerances import assert_close
from tests.units.random.streams import dtypes_of, flags, newer_stream, same_draw

KEY = random.key(0)
ARRAY = np.array([0.3, 0.9, 1.7], np.float32)
PARAMETERS = {
    "lognormal": (0.7,),
    "pareto": (2.5,),
    "rayleigh": (1.5,),
    "triangular": (-1.0, 0.5, 2.0),
    "wald": (1.3,),
    "weibull_min": (1.5, 2.5),
}
GEOMETRIC = {
    "often": (0.3, (20,)),
    "seldom": (np.float32(0.01), (20,)),
    "float16": (np.float16(0.5), (20,)),
    "int16": (ARRAY / 2, (4, 3), "int16"),
    "array": (ARRAY / 2,),
}


@pytest.mark.slow
@newer_stream
@pytest.mark.parametrize("name", PARAMETERS)
def test_as_jax(name, partitionable):
    with flags(partitionable=partitionable):
        same_draw(name, *PARAMETERS[name], (3, 5))
        same_draw(name, *PARAMETERS[name], (), seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("name", exhaustive_but(["rayleigh"], PARAMETERS))
def test_every_dtype_as_jax(name):
    with flags(x64=True):
        for dtype in dtypes_of(True):
            same_draw(name, *PARAMETERS[name], (7,), dtype, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", exhaustive_but(["triangular"], sorted(set(PARAMETERS) - {"weibull_min"}))
)
def test_parameters_are_broadcast(name):
    for shape in (None, (4, 3)):
        parameters = [ARRAY, *(ARRAY + 1 + i for i in range(len(PARAMETERS[name]) - 1))]
        same_draw(name, *parameters, shape)
    with pytest.raises(errors.ShapeError, match="expected operands that broadcast"):
        getattr(random, name)(KEY, *PARAMETERS[name][1:], ARRAY, shape=(4, 2))


@pytest.mark.slow
@newer_stream
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((3, 5), "float32"), *exhaustive(((), "float32"), ((4,), "float16"))],
)
def test_maxwell_as_jax(shape, dtype, partitionable):
    """Up to the last bit: how three squares are added up depends on the CPU's vectors."""
    with flags(partitionable=partitionable):
        got = random.maxwell(KEY, shape, dtype)
        want = jax.random.maxwell(jax.random.key(0), shape, dtype)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert_close(got, want)


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [
        (ARRAY, 2.0),
        *exhaustive(((1.0, 2.0, (3,)),), ((ARRAY, 2.0, (2,), "float16"),)),
    ],
)
def test_double_sided_maxwell_as_jax(args):
    """Whose shape is that of the parameters twice where none is given."""
    got = random.double_sided_maxwell(KEY, *args)
    want = jax.random.double_sided_maxwell(jax.random.key(0), *args)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert_close(got, want)


@pytest.mark.slow
@newer_stream
@pytest.mark.parametrize("case", exhaustive_but(["array", "int16"], GEOMETRIC))
def test_geometric_as_jax(case, partitionable):
    with flags(partitionable=partitionable):
        same_draw("geometric", *GEOMETRIC[case])


@pytest.mark.slow
@pytest.mark.exhaustive
def test_geometric_in_64_bits_as_jax():
    with flags(x64=True):
        same_draw("geometric", 0.1, (5,))


def test_lognormal_has_a_default():
    same_draw("lognormal", shape=(3,))


@pytest.mark.slow
@pytest.mark.parametrize("name", exhaustive_but(["triangular"], PARAMETERS))
def test_in_a_program_and_a_batch(name):
    parameters = PARAMETERS[name]
    draw = getattr(random, name)
    keys = random.split(KEY, 3)
    rows = imprint.jit(imprint.vmap(lambda k: draw(k, *parameters, (4,))))(keys)
    wanted = [draw(k, *parameters, (4,)) for k in keys]
    np.testing.assert_allclose(rows, wanted, rtol=1e-6)


def test_error_messages():
    with pytest.raises(
        errors.ArgumentError, match="geometric: expected an integer dtype"
    ):
        random.geometric(KEY, 0.5, (2,), "float32")
    with pytest.raises(errors.ArgumentError, match="as scale, got str"):
        random.rayleigh(KEY, "a", (2,))
