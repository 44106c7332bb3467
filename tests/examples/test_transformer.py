"""The transformer and its twin: the same source, its imports those of JAX.

Equinox replaces the modules and filters, optax `optim`. Both draw their parameters
from one key, so they begin with the same numbers; dropout draws the same zeros.
"""

import inspect
from types import SimpleNamespace

import equinox as eqx
import jax
import numpy as np
import optax
import pytest

import imprint
from examples import transformer as ours
from tests.units.optim.same_leaves import same_leaves

pytestmark = pytest.mark.slow

IMPORTS = """
import imprint
import imprint.numpy as np
from imprint import Array, lax, nn, optim, random
"""

SIZES = {"vocabulary": 11, "context": 8, "width": 16, "heads": 2, "depth": 3}
TEXTS = np.random.default_rng(0).integers(0, 11, (5, 9)).astype(np.int32)


def twin():
    """Return the names of the same source, run with the libraries of JAX."""
    source = inspect.getsource(ours)
    assert source.count(IMPORTS) == 1
    names = {
        "__name__": "twin",
        "imprint": SimpleNamespace(**vars(eqx) | {"vmap": jax.vmap}),
        "np": jax.numpy,
        "Array": jax.Array,
        "lax": jax.lax,
        "nn": SimpleNamespace(**vars(jax.nn) | vars(eqx.nn)),
        "optim": optax,
        "random": jax.random,
    }
    exec(source.replace(IMPORTS, "\n" * IMPORTS.count("\n")), names)
    return SimpleNamespace(**names)


THEIRS = twin()


def made(side, dropout=0.25):
    return side.Transformer(side.Sizes(**SIZES, dropout=dropout), side.random.key(0))


def same_arrays(got, want, operation="gradient"):
    same_leaves(
        imprint.filter(got, imprint.is_array), eqx.filter(want, eqx.is_array), operation
    )


def test_the_same_loss_and_gradients():
    ours_made, theirs_made = made(ours), made(THEIRS)
    same_arrays(ours_made, theirs_made, "elementwise")
    got = imprint.filter_jit(imprint.filter_value_and_grad(ours.loss_of))(
        ours_made, TEXTS, ours.random.key(1)
    )
    want = eqx.filter_jit(eqx.filter_value_and_grad(THEIRS.loss_of))(
        theirs_made, TEXTS, jax.random.key(1)
    )
    same_arrays(got, want)


def test_dropout_counts_and_inference_has_none():
    key, other = ours.random.split(ours.random.key(1))
    model = made(ours)
    assert ours.loss_of(model, TEXTS, key) != ours.loss_of(model, TEXTS, other)
    still = imprint.nn.inference_mode(model)
    assert ours.loss_of(still, TEXTS, key) == ours.loss_of(still, TEXTS, other)


def steps(side, optimizer, count):
    """Return the model after some steps, and their losses."""
    model, step, losses = made(side), side.make_step(optimizer), []
    state = optimizer.init(side.trained(model))
    for key in side.random.split(side.random.key(2), count):
        model, state, loss = step(model, state, side.np.asarray(TEXTS), key)
        losses.append(loss)
    return model, losses


@pytest.mark.exhaustive
def test_the_same_parameters_after_training():
    got = steps(ours, ours.make_optimizer(0.01, 20), 8)
    want = steps(THEIRS, THEIRS.make_optimizer(0.01, 20), 8)
    same_arrays(got, want)
    assert got[1][-1] < got[1][0]


@pytest.mark.exhaustive
def test_the_same_characters_are_drawn():
    text = TEXTS[0, :8]
    got, want = (
        side.continue_text(
            side.nn.inference_mode(made(side)),
            side.np.asarray(text),
            side.random.key(3),
            40,
        )
        for side in (ours, THEIRS)
    )
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


def test_the_program_holds_one_layer_however_many_there_are():
    def products(depth):
        sizes = ours.Sizes(**SIZES | {"depth": depth}, dropout=0.25)
        model = ours.Transformer(sizes, ours.random.key(0))
        trace = imprint.filter_make_jaxpr(ours.loss_of)
        return str(trace(model, TEXTS, ours.random.key(1))[0]).count("dot_general")

    # To the embedding and back, 4 matrices of a layer, and its queries by keys by values.
    assert products(2) == products(4) == 2 + 4 + 2


def test_no_position_sees_later_ones():
    model, key = imprint.nn.inference_mode(made(ours)), ours.random.key(1)
    logits = imprint.filter_jit(model)
    text = TEXTS[0, :8]
    changed = text.copy()
    changed[5] += 1
    got, want = (np.asarray(logits(x, key)) for x in (changed, text))
    np.testing.assert_array_equal(got[:5], want[:5])
    assert (got[5:] != want[5:]).any(axis=1).all()
