"""Equinox, as its documentation uses it."""

import io

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

KEY = jax.random.key(0)
X = jax.random.normal(jax.random.key(1), (8, 3))
Y = jnp.sin(X[:, :1])


class Linear(eqx.Module):
    weight: jax.Array
    bias: jax.Array

    def __init__(self, inputs, outputs, key):
        self.weight = jax.random.normal(key, (outputs, inputs))
        self.bias = jnp.zeros(outputs)

    def __call__(self, x):
        return jnp.tanh(self.weight @ x + self.bias)


def loss_of(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


def test_a_module_is_a_tree_under_jit_and_grad():
    model = Linear(3, 1, KEY)
    loss, gradient = eqx.filter_value_and_grad(loss_of)(model, X, Y)
    assert loss == pytest.approx(float(eqx.filter_jit(loss_of)(model, X, Y)), rel=1e-5)
    moved = eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, gradient))
    assert loss_of(moved, X, Y) < loss


def test_modules_are_immutable():
    with pytest.raises((AttributeError, TypeError)):
        Linear(3, 1, KEY).bias = jnp.ones(1)


def test_training_with_optax():
    model = eqx.nn.MLP(3, 1, 16, 2, key=KEY)
    optimizer = optax.adam(1e-2)
    state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit
    def step(model, state):
        loss, gradient = eqx.filter_value_and_grad(loss_of)(model, X, Y)
        updates, state = optimizer.update(gradient, state, model)
        return eqx.apply_updates(model, updates), state, loss

    losses = []
    for _ in range(30):
        model, state, loss = step(model, state)
        losses.append(float(loss))
    assert losses[-1] < 0.3 * losses[0]


LAYERS = {
    "linear": (lambda: eqx.nn.Linear(3, 4, key=KEY), (3,), (4,)),
    "conv1d": (lambda: eqx.nn.Conv1d(2, 4, 3, key=KEY), (2, 9), (4, 7)),
    "conv2d": (
        lambda: eqx.nn.Conv2d(2, 4, 3, padding=1, key=KEY),
        (2, 6, 6),
        (4, 6, 6),
    ),
    "transposed": (
        lambda: eqx.nn.ConvTranspose2d(2, 3, 2, stride=2, key=KEY),
        (2, 4, 4),
        (3, 8, 8),
    ),
    "max pool": (lambda: eqx.nn.MaxPool2d(2, 2), (2, 6, 6), (2, 3, 3)),
    "average pool": (lambda: eqx.nn.AvgPool1d(2, 2), (2, 6), (2, 3)),
    "adaptive pool": (lambda: eqx.nn.AdaptiveAvgPool2d(2), (2, 6, 6), (2, 2, 2)),
    "layer norm": (lambda: eqx.nn.LayerNorm(5), (5,), (5,)),
    "group norm": (lambda: eqx.nn.GroupNorm(2, 4), (4, 6), (4, 6)),
    "rms norm": (lambda: eqx.nn.RMSNorm(5), (5,), (5,)),
    "prelu": (lambda: eqx.nn.PReLU(), (5,), (5,)),
    "lambda": (lambda: eqx.nn.Lambda(jax.nn.relu), (5,), (5,)),
    "mlp": (lambda: eqx.nn.MLP(3, 2, 8, 2, key=KEY), (3,), (2,)),
    "spectral": (
        lambda: eqx.nn.Sequential(
            [eqx.nn.Linear(3, 4, key=KEY), eqx.nn.Lambda(jax.nn.gelu)]
        ),
        (3,),
        (4,),
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_has_the_shape_and_a_gradient(name):
    make, shape, expected = LAYERS[name]
    layer, x = make(), jnp.linspace(0.1, 1.0, int(np.prod(shape))).reshape(shape)
    found = eqx.filter_jit(layer)(x)
    assert found.shape == expected
    np.testing.assert_allclose(found, layer(x), rtol=2e-5, atol=1e-6)
    gradient = jax.grad(lambda x: layer(x).sum())(x)
    assert bool(jnp.isfinite(gradient).all())


def test_attention_and_embedding():
    attention = eqx.nn.MultiheadAttention(2, 8, key=KEY)
    words = jax.vmap(eqx.nn.Embedding(5, 8, key=KEY))(jnp.array([1, 3, 4]))
    mask = jnp.tril(jnp.ones((3, 3), bool))
    out = eqx.filter_jit(attention)(words, words, words, mask)
    changed = attention(words, words.at[2].set(9.0), words.at[2].set(9.0), mask)
    np.testing.assert_allclose(out[:2], changed[:2], rtol=1e-5, atol=1e-6)
    rotated = eqx.nn.RotaryPositionalEmbedding(8)(words)
    np.testing.assert_allclose((rotated**2).sum(), (words**2).sum(), rtol=1e-5)


@pytest.mark.parametrize("cell", [eqx.nn.GRUCell, eqx.nn.LSTMCell])
def test_a_recurrent_network_in_a_scan(cell):
    cell = cell(3, 4, key=KEY)
    zero = jnp.zeros(4)
    start = (zero, zero) if isinstance(cell, eqx.nn.LSTMCell) else zero

    @eqx.filter_jit
    def run(cell):
        return jax.lax.scan(lambda h, x: (cell(x, h), None), start, X)[0]

    final = start
    for x in X:
        final = cell(x, final)
    for got, expected in zip(
        jax.tree.leaves(run(cell)), jax.tree.leaves(final), strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


def test_dropout_and_inference_mode():
    dropout = eqx.nn.Dropout(0.5)
    assert (dropout(jnp.ones(1000), key=KEY) == 0).sum() > 300
    assert (eqx.nn.inference_mode(dropout)(jnp.ones(5)) == 1).all()


def test_batch_norm_keeps_its_state():
    model, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(3, "batch", mode="ema")
    call = jax.vmap(model, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
    out, state = eqx.filter_jit(call)(X, state)
    assert out.shape == X.shape
    again, _ = call(X, state)
    assert bool(jnp.isfinite(again).all())


def test_filters_partition_and_combine():
    model = eqx.nn.MLP(2, 2, 4, 1, key=KEY)
    arrays, rest = eqx.partition(model, eqx.is_array)
    assert all(map(eqx.is_array, jax.tree.leaves(arrays)))
    assert eqx.tree_equal(eqx.combine(arrays, rest), model)


def test_tree_at_replaces():
    model = Linear(3, 1, KEY)
    new = eqx.tree_at(lambda m: (m.bias, m.weight), model, replace_fn=jnp.ones_like)
    assert (new.weight == 1).all()
    assert (model.bias == 0).all()


def test_an_ensemble_by_filter_vmap():
    make = eqx.filter_vmap(lambda key: eqx.nn.MLP(3, 1, 4, 1, key=key))
    models = make(jax.random.split(KEY, 5))
    run = eqx.filter_vmap(lambda m, x: m(x), in_axes=(eqx.if_array(0), None))
    assert run(models, X[0]).shape == (5, 1)


def test_filter_jvp_and_vjp():
    model = Linear(3, 1, KEY)
    out, pull = eqx.filter_vjp(lambda m: m(X[0]), model)
    (gradient,) = pull(jnp.ones_like(out))
    _, tangent = eqx.filter_jvp(lambda m: m(X[0]), (model,), (gradient,))
    expected = sum((g**2).sum() for g in jax.tree.leaves(gradient))
    np.testing.assert_allclose(tangent.sum(), expected, rtol=1e-4)


def test_filter_custom_derivatives():
    @eqx.filter_custom_vjp
    def doubled(x, factor):
        return factor * x

    @doubled.def_fwd
    def forward(perturbed, x, factor):
        return factor * x, None

    @doubled.def_bwd
    def backward(residuals, ct, perturbed, x, factor):
        return -ct

    x = jnp.array(3.0)
    assert doubled(x, 2.0) == 6.0
    assert eqx.filter_grad(lambda x: 10 * doubled(x, 2.0))(x) == -10.0


def test_filter_eval_shape_and_make_jaxpr():
    made = eqx.filter_eval_shape(lambda key: eqx.nn.MLP(2, 3, 4, 1, key=key), KEY)
    assert made.layers[0].weight.shape == (4, 2)
    jaxpr, out, _ = eqx.filter_make_jaxpr(lambda m, x: m(x))(Linear(3, 1, KEY), X[0])
    assert out.shape == (1,)
    assert len(jaxpr.jaxpr.invars) == 3


def test_a_file_is_read_back():
    model, file = Linear(3, 1, KEY), io.BytesIO()
    eqx.tree_serialise_leaves(file, model)
    file.seek(0)
    like = eqx.filter_eval_shape(Linear, 3, 1, KEY)
    assert eqx.tree_equal(eqx.tree_deserialise_leaves(file, like), model)


def test_errors_at_run_time():
    @eqx.filter_jit
    def checked(x):
        return eqx.error_if(x, x < 0, "x must not be negative")

    assert checked(jnp.array(1.0)) == 1.0
    with pytest.raises(Exception, match="x must not be negative"):
        jax.block_until_ready(checked(jnp.array(-1.0)))


def test_an_enumeration():
    class Result(eqx.Enumeration):
        good = "all is well"
        bad = "it failed"

    chosen = Result.where(jnp.array(True), Result.good, Result.bad)
    assert bool(chosen == Result.good)
    assert Result[Result.bad] == "it failed"


@pytest.mark.parametrize("kind", ["lax", "checkpointed", "bounded"])
def test_while_loops(kind):
    bound = None if kind == "lax" else 16

    def run(x):
        return eqx.internal.while_loop(
            lambda c: c[1] < 5,
            lambda c: (c[0] * x, c[1] + 1),
            (jnp.ones(()), 0),
            max_steps=bound,
            kind=kind,
        )[0]

    assert jax.jit(run)(2.0) == 32.0
    if kind != "lax":
        assert jax.grad(run)(2.0) == 80.0


def test_a_scan_with_checkpoints():
    def run(x):
        step = lambda c, _: (jnp.sin(c * x), c)
        return eqx.internal.scan(step, x, None, length=4, kind="checkpointed")[0]

    def plain(x):
        return jax.lax.scan(lambda c, _: (jnp.sin(c * x), c), x, None, length=4)[0]

    np.testing.assert_allclose(jax.grad(run)(0.7), jax.grad(plain)(0.7), rtol=1e-5)


def test_abstract_attributes_and_checks():
    class Base(eqx.Module):
        size: eqx.AbstractVar[int]

    class Sized(Base):
        size: int

        def __check_init__(self):
            if self.size < 0:
                raise ValueError("size must not be negative")

    with pytest.raises(TypeError):
        Base()
    with pytest.raises(ValueError, match="negative"):
        Sized(-1)


def test_a_module_prints_its_arrays_shortly():
    assert "f32[1,3]" in eqx.tree_pformat(Linear(3, 1, KEY))


def test_assert_max_traces():
    @eqx.filter_jit
    @eqx.debug.assert_max_traces(max_traces=1)
    def f(x):
        return x + 1

    assert f(f(jnp.ones(2))).sum() == 6.0


def test_closures_and_partials_are_modules():
    f = eqx.Partial(lambda a, b, c: a * b + c, jnp.array(2.0), c=jnp.array(1.0))
    assert len(jax.tree.leaves(f)) == 3
    assert eqx.filter_jit(lambda f: f(3.0))(f) == 7.0
    closed = eqx.filter_closure_convert(lambda x: x * f.args[0], jnp.array(1.0))
    assert closed(jnp.array(4.0)) == 8.0


def test_no_inline():
    f = eqx.internal.noinline(lambda x: jnp.sin(x) * 2)
    np.testing.assert_allclose(jax.jit(jax.grad(f))(0.3), 2 * np.cos(0.3), rtol=1e-6)


def test_module_methods_are_wrapped():
    class Counted(eqx.Module):
        x: jax.Array

        @eqx.filter_jit
        def doubled(self):
            return 2 * self.x

        @property
        def tripled(self):
            return 3 * self.x

    counted = Counted(jnp.array(2.0))
    assert counted.doubled() == 4.0
    assert counted.tripled == 6.0
