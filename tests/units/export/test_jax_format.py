"""Exchange with `jax.export` in both directions."""

import sys

import jax
import jax.numpy as jnp
import numpy as onp
import pytest

import imprint
import imprint.numpy as np
from imprint import export
from imprint.errors import ArgumentError

WEIGHTS = onp.linspace(-1, 1, 6, dtype=onp.float32).reshape(3, 2)
PARAMS = {"w": WEIGHTS, "unused": onp.float32(2)}
CONSTRAINTS = ["n >= 2"]


def array(n):
    return onp.random.default_rng(n).normal(size=(n, 3)).astype(onp.float32)


def program(m):
    def run(p, x):
        rows = m.arange(x.shape[0])[:, None]
        return {"y": m.tanh(x @ p["w"]) + rows, "z": [x.mean(), m.cumsum(x, 0)[1:]]}

    return run


def of_imprint():
    shape = export.symbolic_shape("n, 3", constraints=CONSTRAINTS)
    x = imprint.ShapeDtypeStruct(shape, "float32")
    return export.export(imprint.jit(program(np)))(PARAMS, x)


def of_jax():
    shape = jax.export.symbolic_shape("n, 3", constraints=CONSTRAINTS)
    x = jax.ShapeDtypeStruct(shape, "float32")
    return jax.export.export(jax.jit(program(jnp)))(PARAMS, x)


def assert_same(came, wanted):
    came, wanted = (jax.tree.map(onp.asarray, x) for x in (came, wanted))
    jax.tree.map(
        lambda a, b: onp.testing.assert_allclose(a, b, rtol=2e-6, atol=2e-6),
        came,
        wanted,
    )


def test_programs_of_jax_are_called_at_every_size():
    theirs = of_jax()
    ours = export.deserialize(theirs.serialize(vjp_order=1))
    assert "float32[n,3]" in str(ours)
    for n in (2, 5):
        assert_same(ours.call(PARAMS, array(n)), theirs.call(PARAMS, array(n)))
    came = imprint.grad(lambda x: ours.call(PARAMS, x)["y"].sum())(array(3))
    wanted = jax.grad(lambda x: program(jnp)(PARAMS, x)["y"].sum())(array(3))
    assert_same(came, wanted)
    inside = imprint.jit(lambda x: ours.call(PARAMS, x * 2)["z"][0])
    assert_same(inside(array(4)), array(4).mean() * 2)


def test_jax_calls_programs_of_imprint_at_every_size():
    ours = of_imprint()
    theirs = jax.export.deserialize(export.to_jax(ours, vjp_order=1))
    assert [str(aval) for aval in theirs.in_avals] == [
        str(a) for a in of_jax().in_avals
    ]
    for n in (2, 5):
        assert_same(theirs.call(PARAMS, array(n)), ours.call(PARAMS, array(n)))
    came = jax.grad(lambda x: theirs.call(PARAMS, x)["y"].sum())(array(3))
    wanted = imprint.grad(lambda x: ours.call(PARAMS, x)["y"].sum())(array(3))
    assert_same(came, wanted)


def test_there_and_back_again():
    ours = of_imprint()
    back = export.deserialize(export.to_jax(export.deserialize(of_jax().serialize())))
    assert back.in_tree == ours.in_tree
    assert back.out_tree == ours.out_tree
    assert list(map(str, back.out_avals)) == list(map(str, ours.out_avals))
    assert_same(back.call(PARAMS, array(3)), ours.call(PARAMS, array(3)))


def failing(data):
    with pytest.raises(ArgumentError) as caught:
        export.deserialize(data)
    return str(caught.value)


def test_unknown_features_are_refused():
    made = jax.export.export(jax.jit(jnp.sin), platforms=["cpu", "cuda"])(array(2))
    assert failing(made.serialize()) == (
        "deserialize of sin: expected a function that JAX exported with one platform, got "
        "one with others. Export it so."
    )
    made = jax.export.export(jax.jit(lambda k: k))(jax.random.key(0))
    assert failing(made.serialize()) == (
        "deserialize of <lambda>: expected arrays of numbers, got keys or float0. Export "
        "it for jax.random.key_data, and without the derivative of integers."
    )
    for data in (b"", b"1234", b"\xff" * 100, bytes(1000)):
        assert failing(data) == (
            "deserialize: expected the bytes that Exported.serialize of imprint or JAX "
            f"returned, got {len(data)} others. Serialize the function again."
        )


def test_a_derivative_of_integers_is_not_for_jax():
    made = export.export(imprint.jit(lambda i: i * 2.0))(3)
    with pytest.raises(
        ArgumentError, match=r"^to_jax of <lambda>: expected arguments and"
    ):
        export.to_jax(made, vjp_order=1)
    theirs = jax.export.deserialize(export.to_jax(made))
    assert theirs.call(onp.int32(4)) == 8


def test_without_flatbuffers_the_extra_is_named(monkeypatch):
    made = export.export(imprint.jit(np.sin))(onp.float32(1))
    monkeypatch.setitem(sys.modules, "flatbuffers", None)
    with pytest.raises(ArgumentError) as caught:
        export.to_jax(made)
    assert str(caught.value) == (
        "exchange with jax.export: expected the package flatbuffers, got none. Install "
        "it: pip install 'imprint[export]'."
    )
