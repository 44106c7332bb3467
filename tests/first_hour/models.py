"""Models as people write them with Equinox, after the examples of its documentation.

Each takes the two libraries, `(jax, equinox)` or `(imprint, imprint)`, and returns its
results. None was written for imprint. Functions are filtered out of the results, since an
activation of one library is no object of the other.
"""

import abc
import io
import json
from collections.abc import Callable

import numpy as np


def all_of_equinox(lib, eqx):
    jnp = lib.numpy

    class Network(eqx.Module):
        layers: list
        extra_bias: lib.Array

        def __init__(self, key):
            first, second = lib.random.split(key)
            self.layers = [
                eqx.nn.Linear(2, 4, key=first),
                lib.nn.relu,
                eqx.nn.Linear(4, 2, key=second),
            ]
            self.extra_bias = jnp.ones(2)

        def __call__(self, x):
            for layer in self.layers:
                x = layer(x)
            return x + self.extra_bias

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def loss(model, x, y):
        return jnp.mean((y - lib.vmap(model)(x)) ** 2)

    model = Network(lib.random.PRNGKey(0))
    value, grads = loss(model, jnp.ones((5, 2)), jnp.zeros((5, 2)))
    model = eqx.apply_updates(model, lib.tree.map(lambda g: -0.1 * g, grads))
    arrays, static = eqx.partition(model, eqx.is_array)
    again = eqx.combine(arrays, static)
    return value, grads, arrays, eqx.tree_equal(again, model)


def layer_of_ones_own(lib, eqx):
    jnp = lib.numpy

    class Linear(eqx.Module):
        weight: lib.Array
        bias: lib.Array
        in_size: int = eqx.field(static=True)

        def __init__(self, in_size, out_size, key):
            weight_key, bias_key = lib.random.split(key)
            self.weight = lib.random.normal(weight_key, (out_size, in_size))
            self.bias = lib.random.normal(bias_key, (out_size,))
            self.in_size = in_size

        def __call__(self, x):
            return self.weight @ x + self.bias

    @lib.jit
    @lib.grad
    def slope(model, x, y):
        return jnp.mean((y - lib.vmap(model)(x)) ** 2)

    model = Linear(2, 3, key=lib.random.PRNGKey(0))
    grads = slope(model, jnp.ones((5, 2)), jnp.ones((5, 3)))
    model = lib.tree.map(lambda m, g: m - 0.1 * g, model, grads)
    refused = False
    try:
        model.weight = None
    except AttributeError:
        refused = True
    paths = lib.tree_util.tree_leaves_with_path(model)
    return model, refused, [lib.tree_util.keystr(path) for path, _ in paths]


def frozen_parameters(lib, eqx):
    jnp = lib.numpy
    model = eqx.nn.MLP(1, 1, width_size=8, depth=2, key=lib.random.PRNGKey(5))
    trained = lib.tree_util.tree_map(lambda _: False, model)
    trained = eqx.tree_at(
        lambda tree: (tree.layers[-1].weight, tree.layers[-1].bias),
        trained,
        replace=(True, True),
    )
    x = lib.random.normal(lib.random.key(1), (32, 1))

    @eqx.filter_jit
    def step(model, x, y):
        @eqx.filter_value_and_grad
        def loss(moving, still, x, y):
            return jnp.mean((lib.vmap(eqx.combine(moving, still))(x) - y) ** 2)

        moving, still = eqx.partition(model, trained)
        value, grads = loss(moving, still, x, y)
        return eqx.apply_updates(model, lib.tree.map(lambda g: -0.1 * g, grads)), value

    first = model.layers[0].weight
    for _ in range(3):
        model, value = step(model, x, x**2)
    still_the_same = bool((model.layers[0].weight == first).all())
    return eqx.filter(model, eqx.is_array), value, still_the_same


def saved_model(lib, eqx):
    def make(*, key, width, depth):
        return eqx.nn.MLP(2, "scalar", width, depth, key=key)

    size = {"width": 5, "depth": 1}
    model = make(key=lib.random.key(0), **size)
    file = io.BytesIO()
    file.write((json.dumps(size) + "\n").encode())
    eqx.tree_serialise_leaves(file, model)
    file.seek(0)
    size = json.loads(file.readline().decode())
    like = eqx.filter_eval_shape(make, key=lib.random.key(1), **size)
    loaded = eqx.tree_deserialise_leaves(file, like)
    return eqx.filter(loaded, eqx.is_array), eqx.tree_equal(loaded, model)


def tied_weights(lib, eqx):
    jnp = lib.numpy

    class Tied(eqx.Module):
        embed: lib.Array
        scale: float
        name: str = "tied"
        activation: Callable = lib.nn.relu

        def encode(self, x):
            return self.activation(x @ self.embed) * self.scale

        def __call__(self, x):
            return self.encode(x) @ self.embed.T

        @property
        def size(self):
            return self.embed.size

        @staticmethod
        def loss(a, b):
            return jnp.abs(a - b).sum()

        @classmethod
        def random(cls, key):
            return cls(lib.random.normal(key, (3, 2)), 2.0)

    model, x = Tied.random(lib.random.key(0)), jnp.ones((4, 3))
    grads = eqx.filter_grad(lambda m, x: Tied.loss(m(x), x))(model, x)
    text = eqx.tree_pformat({"x": x, "n": (1, 2.0, "a"), "none": None})
    return grads.embed, grads.scale, eqx.filter_jit(model.encode)(x), model.size, text


def abstract_layers(lib, eqx):
    jnp = lib.numpy

    class Base(eqx.Module):
        shift: eqx.AbstractVar[int]

        @abc.abstractmethod
        def __call__(self, x): ...

        def twice(self, x):
            return self(self(x))

    class Affine(Base):
        shift: int = eqx.field(static=True)
        slope: lib.Array = eqx.field(converter=jnp.asarray)

        def __call__(self, x):
            return self.slope * x + self.shift

        def __check_init__(self):
            if self.shift < 0:
                raise ValueError("shift")

    refused = 0
    for make in (Base, lambda: Affine(-1, 2.0)):
        try:
            make()
        except (TypeError, ValueError):
            refused += 1
    keys = lib.random.split(lib.random.key(0), 3)
    several = eqx.filter_vmap(lambda k: Affine(1, lib.random.normal(k, ())))(keys)
    call = eqx.filter_vmap(lambda m, x: m.twice(x), in_axes=(eqx.if_array(0), None))
    return (
        Affine(shift=2, slope=1.5).twice(3.0),
        call(several, 2.0),
        several,
        refused,
    )


def ensemble(lib, eqx):
    jnp = lib.numpy

    @eqx.filter_vmap
    def make(key):
        return eqx.nn.MLP(2, 2, 4, 1, key=key)

    @eqx.filter_vmap(in_axes=(eqx.if_array(0), None))
    def evaluate(model, x):
        return model(x)

    models = make(lib.random.split(lib.random.PRNGKey(0), 3))
    return evaluate(models, jnp.ones(2)), eqx.filter(models, eqx.is_array)


def layers_in_a_row(lib, eqx):
    jnp = lib.numpy
    keys = lib.random.split(lib.random.key(0), 4)
    model = eqx.nn.Sequential(
        [
            eqx.nn.Embedding(7, 3, key=keys[0]),
            eqx.nn.Linear(3, 4, key=keys[1]),
            eqx.nn.Lambda(lib.nn.gelu),
            eqx.nn.LayerNorm(4),
            eqx.nn.Dropout(0.5),
            eqx.nn.Linear(4, 2, use_bias=False, key=keys[2]),
        ]
    )
    words = jnp.array([1, 5, 1])
    loss = lambda m: lib.vmap(eqx.nn.inference_mode(m))(words).sum()
    return (
        model(2, key=keys[3]),
        lib.vmap(eqx.nn.inference_mode(model))(words),
        eqx.filter(eqx.filter_grad(loss)(model), eqx.is_array),
    )


def surgery(lib, eqx):
    jnp = lib.numpy
    model = eqx.nn.MLP(2, 2, 3, 1, key=lib.random.key(0))
    is_linear = lambda x: isinstance(x, eqx.nn.Linear)

    def weights(model):
        parts = lib.tree.leaves(model, is_leaf=is_linear)
        return [part.weight for part in parts if is_linear(part)]

    bias = lambda m: m.layers[1].bias
    bare = eqx.tree_at(bias, model, None)
    made = [
        eqx.tree_at(weights, model, [jnp.full_like(w, 0.1) for w in weights(model)]),
        eqx.tree_at(
            lambda m: [part.bias for part in m.layers], model, replace_fn=jnp.exp
        ),
        bare,
        eqx.tree_at(bias, bare, jnp.ones(2), is_leaf=lambda x: x is None),
    ]
    decay = sum(
        jnp.sum(p**2) for p in lib.tree.leaves(eqx.filter(model, eqx.is_inexact_array))
    )
    return [eqx.filter(m, eqx.is_array) for m in made], decay


def recurrent_classifier(lib, eqx):
    jnp = lib.numpy

    class Network(eqx.Module):
        hidden_size: int
        cell: eqx.nn.GRUCell
        linear: eqx.nn.Linear

        def __init__(self, hidden_size, *, key):
            cell_key, linear_key = lib.random.split(key)
            self.hidden_size = hidden_size
            self.cell = eqx.nn.GRUCell(1, hidden_size, key=cell_key)
            self.linear = eqx.nn.Linear(hidden_size, 1, key=linear_key)

        def __call__(self, inputs):
            hidden = jnp.zeros((self.hidden_size,))
            for x in inputs:
                hidden = self.cell(x, hidden)
            return lib.nn.sigmoid(self.linear(hidden))

    def batches(arrays, size):
        rng = np.random.default_rng(0)
        while True:
            order = rng.permutation(len(arrays[0]))
            for start in range(0, len(order) - size + 1, size):
                yield tuple(a[order[start : start + size]] for a in arrays)

    @eqx.filter_jit
    def step(model, x, y):
        @eqx.filter_value_and_grad
        def loss(model):
            p = lib.vmap(model)(x)
            return -jnp.mean(y * jnp.log(p) + (1 - y) * jnp.log(1 - p))

        value, grads = loss(model)
        return value, eqx.apply_updates(model, lib.tree.map(lambda g: -0.1 * g, grads))

    t = np.linspace(0, 2 * np.pi, 5)
    x = np.sin(t + np.arange(12)[:, None])[..., None].astype(np.float32)
    y = (np.arange(12) % 2).astype(np.float32)[:, None]
    model, losses = Network(4, key=lib.random.key(0)), []
    for _, batch in zip(range(3), batches((x, y), 4), strict=False):
        value, model = step(model, *batch)
        losses.append(value)
    return losses, model


def filtered_transforms(lib, eqx):
    jnp = lib.numpy
    model = eqx.nn.MLP(2, 1, 3, 1, activation=jnp.tanh, key=lib.random.key(0))
    f = lambda m: m(jnp.ones(2)).sum()
    along = lib.tree.map(
        lambda a: jnp.ones_like(a) if eqx.is_inexact_array(a) else None, model
    )
    value, tangent = eqx.filter_jvp(f, (model,), (along,))
    _, pull = eqx.filter_vjp(f, model)
    with_aux = eqx.filter_value_and_grad(lambda m: (f(m), {"n": 3}), has_aux=True)
    closed = eqx.filter_closure_convert(lambda x: model(x) * 2, jnp.ones(2))
    shape = eqx.filter_eval_shape(model, jnp.ones(2))
    return (
        [value, tangent, shape.shape, closed(jnp.ones(2))],
        eqx.filter(pull(jnp.ones(())), eqx.is_array),
        eqx.filter(with_aux(model), eqx.is_array_like),
        eqx.filter_jacrev(model)(jnp.ones(2)),
    )
