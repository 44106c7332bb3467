"""Models that go through loops, after the examples of Equinox's documentation.

As in `models`, each takes the two libraries, `(jax, equinox)` or `(imprint, imprint)`, and
returns its results. A scan captures a model, walks over it or carries it.
"""

from typing import Any


def controlled_equation(lib, eqx):
    """A neural controlled differential equation, solved by a scan with checkpoints."""
    jnp, random = lib.numpy, lib.random

    class Field(eqx.Module):
        mlp: eqx.nn.MLP
        shape: tuple = eqx.field(static=True)

        def __init__(self, hidden, data, *, key):
            self.shape = (hidden, data)
            self.mlp = eqx.nn.MLP(
                hidden,
                hidden * data,
                8,
                1,
                activation=lib.nn.softplus,
                final_activation=jnp.tanh,
                key=key,
            )

        def __call__(self, y):
            return self.mlp(y).reshape(self.shape)

    class Classifier(eqx.Module):
        initial: eqx.nn.Linear
        field: Field
        last: eqx.nn.Linear

        def __init__(self, key):
            first, second, third = random.split(key, 3)
            self.initial = eqx.nn.Linear(3, 4, key=first)
            self.field = Field(4, 3, key=second)
            self.last = eqx.nn.Linear(4, 1, key=third)

        def __call__(self, xs):
            @eqx.filter_checkpoint
            def step(y, dx):
                return y + self.field(y) @ dx, None

            y, _ = lib.lax.scan(step, self.initial(xs[0]), jnp.diff(xs, axis=0))
            return lib.nn.sigmoid(self.last(y))[0]

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def loss(model, xs):
        return -jnp.mean(jnp.log(lib.vmap(model)(xs)))

    xs = random.normal(random.key(1), (4, 7, 3))
    value, grads = loss(Classifier(random.key(0)), xs)
    return value, eqx.filter(grads, eqx.is_array)


def letters_by_gru(lib, eqx):
    """A recurrent model of letters: its loss with dropout, draws, and the likeliest."""
    jnp, lax, random = lib.numpy, lib.lax, lib.random

    class Writer(eqx.Module):
        embedding: eqx.nn.Embedding
        cell: eqx.nn.GRUCell
        dropout: eqx.nn.Dropout
        last: eqx.nn.Linear

        def __init__(self, key):
            first, second, third = random.split(key, 3)
            self.embedding = eqx.nn.Embedding(11, 6, key=first)
            self.cell = eqx.nn.GRUCell(6, 8, key=second)
            self.dropout = eqx.nn.Dropout(0.3)
            self.last = eqx.nn.Linear(8, 11, key=third)

        def step(self, hidden, letter, key=None):
            hidden = self.cell(self.embedding(letter), hidden)
            return hidden, self.last(self.dropout(hidden, key=key))

    def loss(model, text, key):
        keys = random.split(key, len(text) - 1)
        step = lambda hidden, x: model.step(hidden, *x)
        _, logits = lax.scan(step, jnp.zeros(8), (text[:-1], keys))
        truth = lib.nn.one_hot(text[1:], 11)
        return -jnp.mean(jnp.sum(truth * lib.nn.log_softmax(logits), axis=-1))

    @eqx.filter_jit
    def draw(model, keys):
        def step(carry, key):
            hidden, logits = model.step(*carry)
            letter = random.categorical(key, logits)
            return (hidden, letter), letter

        return lax.scan(step, (jnp.zeros(8), jnp.array(0)), keys)[1]

    @eqx.filter_jit
    def likeliest(model):
        def step(state):
            hidden, letter, count = state
            hidden, logits = model.step(hidden, letter)
            return hidden, jnp.argmax(logits), count + 1

        unfinished = lambda state: (state[1] != 3) & (state[2] < 8)
        return lax.while_loop(unfinished, step, (jnp.zeros(8), jnp.array(0), 0))

    model = Writer(random.key(0))
    text = random.randint(random.key(1), (9,), 0, 11)
    value, grads = eqx.filter_jit(eqx.filter_value_and_grad(loss))(
        model, text, random.key(2)
    )
    still = eqx.nn.inference_mode(model)
    drawn = draw(still, random.split(random.key(3), 12))
    return value, eqx.filter(grads, eqx.is_array), drawn, likeliest(still)


def layers_walked_over(lib, eqx):
    """Layers made by filter_vmap: a scan over them, and their derivatives."""
    jnp = lib.numpy
    make = eqx.filter_vmap(lambda key: eqx.nn.MLP(2, 2, 4, 1, key=key))
    layers = make(lib.random.split(lib.random.key(0), 5))
    arrays, settings = eqx.partition(layers, eqx.is_array)

    def network(arrays, x):
        step = lambda x, slices: (x + eqx.combine(slices, settings)(x), None)
        return lib.lax.scan(step, x, arrays)[0]

    x = jnp.ones(2)
    total = lambda arrays, x: network(arrays, x).sum()
    return (
        network(arrays, x),
        lib.jit(lib.grad(total))(arrays, x),
        lib.jacfwd(network, 1)(arrays, x),
        lib.hessian(total, 1)(arrays, x),
        eqx.filter_vmap(lambda m, x: m(x), in_axes=(eqx.if_array(0), None))(layers, x),
    )


def average_in_the_carry(lib, eqx):
    """A model that a loop changes: the carry of a scan, a while_loop and a cond."""
    jnp, lax = lib.numpy, lib.lax

    class Average(eqx.Module):
        value: Any
        decay: float = eqx.field(static=True)

        def __call__(self, x):
            value = self.decay * self.value + (1 - self.decay) * x
            return eqx.tree_at(lambda m: m.value, self, value)

    start = Average(jnp.zeros(2), 0.9)
    follow = lambda xs: lax.scan(lambda m, x: (m(x), m.value), start, xs)
    xs = lib.random.normal(lib.random.key(0), (3, 5, 2))
    low = lambda m: m.value.sum() < 0.5
    return (
        follow(xs[0]),
        lib.grad(lambda xs: follow(xs)[0].value.sum())(xs[0]),
        lib.vmap(follow)(xs),
        lib.jit(lambda: lax.while_loop(low, lambda m: m(1.0), start))(),
        lax.cond(low(start), lambda m: m(2.0), lambda m: m, start),
    )
