"""The engine's generators: the host and a program have JAX's bits, of every shape."""

import jax
import numpy as np
import pytest

import imprint
from imprint import lax
from imprint.errors import ArgumentError, DTypeError, ShapeError
from tests import oracle
from tests.symbolic import name

STATES = (
    np.array([7, 2**32 - 1, 2**32 - 2, 2**32 - 1], np.uint32),
    np.array([5, 6], np.uint64),
)
SHAPES = ((), (0, 3), (5,), (3, 3), (2, 4), (3, 4, 2))
CALLS = [
    (state, shape, dtype, algorithm)
    for state in STATES
    for shape in SHAPES
    for dtype in ("uint8", "uint16", "uint32", "uint64")
    for algorithm in (1, 2)
    if (state.dtype == "uint32" and dtype != "uint16") or shape == (5,)
]


@pytest.mark.slow
def test_the_host_and_a_program_have_jax_s_bits():
    def every(lax):
        return [
            lax.rng_bit_generator(state, shape, dtype, lax.RandomAlgorithm(algorithm))
            for state, shape, dtype, algorithm in CALLS
        ]

    with imprint.enable_x64(True), jax.enable_x64(True):
        wanted = oracle.jit(lambda: every(jax.lax))()
        for got in (every(lax), imprint.jit(lambda: every(lax))()):
            for call, outs, want in zip(CALLS, got, wanted, strict=True):
                for a, b in zip(outs, want, strict=True):
                    assert a.dtype == b.dtype, call
                    np.testing.assert_array_equal(
                        np.asarray(a), np.asarray(b), str(call)
                    )


def test_the_default_is_philox():
    for algorithm in (0, 2):
        _, bits = lax.rng_bit_generator(
            STATES[0], (3,), algorithm=lax.RandomAlgorithm(algorithm)
        )
        assert bits.tolist() == lax.rng_bit_generator(STATES[0], (3,))[1].tolist()


@pytest.mark.parametrize("axis", [0, 1])
def test_a_batch_has_the_bits_of_its_first_state(axis):
    states = np.arange(12, dtype=np.uint32).reshape(3, 4)
    given = states if axis == 0 else states.T

    def mapped(library):
        draw = library.vmap(lambda s: library.lax.rng_bit_generator(s, (2,)), axis)
        return draw(given)

    for a, b in zip(mapped(imprint), mapped(jax), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_symbolic_shapes():
    (_, bits) = lax.rng_bit_generator_p.aval(
        *imprint.make_jaxpr(lambda s: s)(STATES[0]).in_avals,
        shape=(name("n", 2), 3),
        dtype=np.dtype("uint32"),
        algorithm=lax.RandomAlgorithm.RNG_DEFAULT,
    )
    assert bits.shape == (name("n", 2), 3)


def test_rng_uniform():
    for draw in (lax.rng_uniform, imprint.jit(lax.rng_uniform, static_argnums=2)):
        floats, whole = draw(1.0, 2.0, (50,)), draw(0, 9, (50,))
        assert (floats.shape, floats.dtype, whole.dtype) == ((50,), "float32", "int32")
        assert ((floats >= 1) & (floats < 2)).all()
        assert ((whole >= 0) & (whole < 9)).all()
        assert len(set(floats.tolist())) > 1


MESSAGES = {
    "state": (
        lambda: lax.rng_bit_generator(np.zeros(2, np.uint32), (3,)),
        ShapeError,
        "rng_bit_generator: expected a state uint32[4] or uint64[2], got uint32[2]. Of a "
        "key take imprint.random.bits.",
    ),
    "dtype": (
        lambda: lax.rng_bit_generator(STATES[0], (3,), "int32"),
        DTypeError,
        "rng_bit_generator: expected uint8, uint16, uint32 or uint64, got int32. For "
        "floats call imprint.random.uniform.",
    ),
    "bounds": (
        lambda: lax.rng_uniform(np.zeros(2, "float32"), np.float32(1), ()),
        ArgumentError,
        "rng_uniform: expected two numbers of one dtype, got float32[2] and float32[]. "
        "For arrays of bounds call imprint.random.uniform.",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(case):
    call, error, message = MESSAGES[case]
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
