"""Gamma draws and those made of them: JAX's bits, and JAX's derivatives."""

import jax
import numpy as np
import pytest

import imprint
from imprint import errors, random
from tests.lanes import exhaustive_but
from tests.tolerances import assert_close
from tests.units.random.streams import JAX_0_12, flags, same, same_draw

KEY = random.key(0)
A = np.array([0.3, 0.9, 1.7, 30.0], np.float32)
DRAWS = {
    "gamma": ("gamma", (A,)),
    "gamma of a shape": ("gamma", (0.3, (3, 2))),
    "gamma of one": ("gamma", (2.5, ())),
    "loggamma": ("loggamma", (A, (2, 4))),
    "loggamma of little": ("loggamma", (0.01, (7,))),
    "beta": ("beta", (A, 2.0)),
    "dirichlet": ("dirichlet", (A,)),
    "dirichlet of a shape": ("dirichlet", (A, (3,))),
    "chisquare": ("chisquare", (3, (2,))),
    "f": ("f", (A, 3.0)),
    "t": ("t", (3.0, (4,))),
    "generalized normal": ("generalized_normal", (1.5, (4,))),
    "ball": ("ball", (3, 1.5, (4,))),
    "nothing": ("gamma", (2.0, (0, 3))),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", exhaustive_but(["gamma", "dirichlet"], DRAWS))
def test_as_jax(case):
    name, args = DRAWS[case]
    got = getattr(random, name)(random.key(1), *args)
    want = getattr(jax.random, name)(jax.random.key(1), *args)
    if name == "f":  # in which order its quotients are taken is the compiler's
        assert_close(np.asarray(got), np.asarray(want))
    else:
        same(got, want)


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_every_dtype_and_the_other_stream(dtype):
    with flags(x64=True, partitionable=dtype != "float16"):
        for name in ("gamma", "loggamma"):
            same_draw(name, A.astype(dtype), (2, 4), dtype)


@pytest.mark.slow
@pytest.mark.parametrize("name", exhaustive_but(["loggamma"], ["gamma", "loggamma"]))
def test_a_draw_moves_as_its_quantile_does(name):
    draw = getattr(random, name)
    drawn, moved = imprint.jvp(
        lambda a: draw(KEY, a), (A,), (np.full(4, 2, "float32"),)
    )
    numbers = np.asarray(drawn)
    numbers = np.exp(numbers) if name == "loggamma" else numbers
    want = 2 * jax.lax.random_gamma_grad(A, numbers)
    want = want / numbers if name == "loggamma" else want
    assert_close(np.asarray(moved), np.asarray(want), "gradient")


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["gamma", "loggamma"])
def test_the_derivative_is_that_at_a_fixed_quantile(name):
    """In a batch of keys, of which each element has its own."""
    ours, theirs = getattr(random, name), getattr(jax.random, name)
    keys, a = random.split(KEY, 2), A[:3] + 0.1

    def total(draw, key, a):
        return (draw(key, a, (2, 3)) ** 2).sum()

    want = jax.vmap(jax.grad(lambda a, k: total(theirs, k, a)), (None, 0))(
        a, jax.random.wrap_key_data(np.asarray(random.key_data(keys)))
    )
    got = imprint.vmap(imprint.grad(lambda a, k: total(ours, k, a)), (None, 0))(a, keys)
    assert_close(np.asarray(got) / 64, np.asarray(want) / 64, "gradient")


@pytest.mark.slow
@pytest.mark.exhaustive
def test_in_a_program_and_a_batch():
    keys = random.split(KEY, 3)
    rows = imprint.jit(imprint.vmap(lambda k: random.beta(k, A, 2.0)))(keys)
    assert_close(rows, np.stack([random.beta(k, A, 2.0) for k in keys]), "program")


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.skipif(not JAX_0_12, reason="earlier releases have one method")
@pytest.mark.parametrize("name", ["gamma", "loggamma", "chisquare"])
def test_the_approximate_method_as_jax(name):
    got = getattr(random, name)(KEY, A, (3, 4), method="approximate")
    want = getattr(jax.random, name)(jax.random.key(0), A, (3, 4), method="approximate")
    assert_close(np.asarray(got), np.asarray(want), "program")


def test_one_trace_serves_all_keys():
    random.t(KEY, 3.0, (2,))
    before = imprint.debug.counters()
    random.t(random.key(7), 4.0, (2,))
    after = imprint.debug.counters()
    assert after.traces == before.traces
    assert after.compiles == before.compiles


MESSAGES = {
    "method": (
        lambda: random.gamma(KEY, 1.0, method="exakt"),
        errors.ArgumentError,
        "gamma: expected method to be one of ['exact', 'approximate'], got 'exakt'. Did "
        "you mean 'exact'?",
    ),
    "dirichlet": (
        lambda: random.dirichlet(KEY, 1.0),
        errors.ShapeError,
        "dirichlet: expected alpha with an axis of concentrations, got "
        "~float32[]. Give one for each number, as in alpha=np.ones(3).",
    ),
    "ball": (
        lambda: random.ball(KEY, -1),
        errors.ArgumentError,
        "ball: expected d to be at least 0, got -1.",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(case):
    call, error, message = MESSAGES[case]
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
