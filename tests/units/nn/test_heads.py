"""Attention, positions, groups and wrappers as layers, and a transformer block: Equinox's."""

import jax
import numpy as np
import pytest

from imprint import nn, random
from imprint.errors import ArgumentError, ShapeError
from tests.lanes import exhaustive, exhaustive_but
from tests.units.nn.equinox_parity import OURS, THEIRS, numbers, same_calls

MASK = np.tri(4, 5, dtype=bool)
HEADS = np.stack([MASK, np.ones_like(MASK)])
QUERY, KEYS, VALUES = numbers(4, 6), numbers(5, 3, seed=1), numbers(5, 7, seed=2)


def attention(m):
    return m.nn.MultiheadAttention(
        *(2, 6, 3, 7, 5, 4, 3), use_query_bias=True, use_output_bias=True, key=m.key
    )


def turned(layer, batched):
    def process(query, key, value):
        return batched(layer, 1, 1)(query), batched(layer, 1, 1)(key), value

    return process


def key_of(model):
    return OURS.key if type(model).__module__.startswith("imprint") else THEIRS.key


def processed(query, key, value):
    return query * 2, key[::-1], value + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{"mask": HEADS, "process_heads": processed}, *exhaustive({}, {"mask": HEADS})],
)
def test_attention_as_equinox(options):
    same_calls(attention, lambda f, *xs: f(*xs, **options), QUERY, KEYS, VALUES)


@pytest.mark.slow
def test_attention_that_drops_as_equinox():
    def plain(m):
        return m.nn.MultiheadAttention(2, 6, dropout_p=0.4, key=m.key)

    def dropped(f, x):
        return f(x, x, x, MASK[:, :4], key=key_of(f))

    same_calls(plain, dropped, QUERY)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_rotary_positions_as_equinox(dtype):
    x = numbers(7, 6).astype(dtype)  # Equinox keeps the angles of a size for any theta
    make = lambda m: m.nn.RotaryPositionalEmbedding(6, theta=100.0)
    same_calls(make, lambda f, x: f(x), x)


def test_the_angles_are_those_of_the_layer_whichever_was_made_before():
    for module in (OURS, THEIRS):
        first = module.nn.RotaryPositionalEmbedding(8)
        second = module.nn.RotaryPositionalEmbedding(8, theta=7.0)
        x = numbers(5, 8)
        is_same = np.allclose(np.asarray(first(x)), np.asarray(second(x)))
        assert is_same == (module is THEIRS)


GROUPS = {
    "channels": lambda m: m.nn.GroupNorm(2, 4, eps=1e-3),
    "any number": lambda m: m.nn.GroupNorm(2, channelwise_affine=False),
    "float16": lambda m: m.nn.GroupNorm(4, 4, dtype="float16"),
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups_as_equinox(name):
    same_calls(GROUPS[name], lambda f, x: f(x), numbers(4, 3, 2))
    layer = GROUPS[name](OURS)
    assert layer(numbers(4, 3), "state")[1] == "state"


WRAPPED = {
    "Linear": lambda m: m.nn.WeightNorm(m.nn.Linear(3, 4, key=m.key)),
    "one length": lambda m: m.nn.WeightNorm(m.nn.Linear(3, 4, key=m.key), axis=None),
    "last axis": lambda m: m.nn.WeightNorm(m.nn.Linear(3, 4, key=m.key), "weight", 1),
}


@pytest.mark.parametrize("name", exhaustive_but(["one length", "last axis"], WRAPPED))
def test_lengths_of_weights_as_equinox(name):
    same_calls(WRAPPED[name], lambda f, x: f(x), numbers(3))


def test_lengths_of_kernels_as_equinox():
    make = lambda m: m.nn.WeightNorm(m.nn.Conv1d(2, 3, 2, key=m.key))
    same_calls(make, lambda f, x: f(x), numbers(2, 5))


def shared(m):
    model = m.nn.Embedding(5, 3, key=m.key), m.nn.Linear(3, 5, key=m.key)
    return m.nn.Shared(
        model, lambda model: model[1].weight, lambda model: model[0].weight
    )


def test_shared_weights_as_equinox():
    def call(model):
        embed, linear = model()
        return linear(embed(2))

    same_calls(shared, call)


def block(m):
    """Return a transformer block: an embedding, attention, and a network."""
    split = random.split if m is OURS else jax.random.split
    keys = split(m.key, 4)

    class Block(m.modules.Module):
        embed: m.nn.Embedding
        rope: m.nn.RotaryPositionalEmbedding
        attention: m.nn.MultiheadAttention
        network: m.nn.MLP
        norms: list
        last: m.nn.Linear

        def __call__(self, ids):
            batched = m.transforms.vmap
            x = batched(self.embed)(ids)
            y = batched(self.norms[0])(x)
            mask = m.np.tri(len(ids), dtype=bool)
            heads = turned(self.rope, batched)
            x = x + self.attention(y, y, y, mask, process_heads=heads)
            x = x + batched(self.network)(batched(self.norms[1])(x))
            return batched(self.last)(x)

    return Block(
        m.nn.Embedding(11, 8, key=keys[0]),
        m.nn.RotaryPositionalEmbedding(4),
        m.nn.MultiheadAttention(2, 8, key=keys[1]),
        m.nn.MLP(8, 8, 16, 1, activation=m.jnn.gelu, key=keys[2]),
        [m.nn.LayerNorm(8), m.nn.RMSNorm(8)],
        m.nn.Linear(8, 11, key=keys[3]),
    )


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_transformer_block_as_equinox():
    ids = np.array([3, 1, 4, 1, 5, 9], "int32")
    same_calls(block, lambda f, ids: f(ids), ids)


REFUSED = [
    (
        lambda: attention(OURS)(QUERY, KEYS[1:], VALUES),
        ShapeError,
        "MultiheadAttention: expected a sequence of queries, and as many keys as values, "
        "of sizes (6, 3, 7), got float32[4,6], float32[4,3], float32[5,7]. For a batch "
        "write imprint.vmap.",
    ),
    (
        lambda: attention(OURS)(QUERY, KEYS, VALUES, MASK[1:]),
        ShapeError,
        "MultiheadAttention: expected a mask for queries and keys, of shape (4, 5), or "
        "with heads in front, (2, 4, 5), got bool[3,5].",
    ),
    (
        lambda: attention(OURS)(
            QUERY, KEYS, VALUES, process_heads=lambda q, k, v: (q[1:], k, v)
        ),
        ShapeError,
        "MultiheadAttention: expected process_heads to keep the shapes of queries, keys "
        "and values, (4, 2, 4), (5, 2, 4), (5, 2, 3), got float32[3,2,4], float32[5,2,4], "
        "float32[5,2,3].",
    ),
    (
        lambda: nn.RotaryPositionalEmbedding(3),
        ArgumentError,
        "RotaryPositionalEmbedding: expected an even embedding_size, got 3.",
    ),
    (
        lambda: nn.RotaryPositionalEmbedding(4)(QUERY),
        ShapeError,
        "RotaryPositionalEmbedding: expected one sequence of shape (length, 4), got "
        "float32[4,6]. For heads, or a batch, write imprint.vmap.",
    ),
    (
        lambda: nn.GroupNorm(2),
        ArgumentError,
        "GroupNorm: expected channels, for weight and bias, got None. Write the number, "
        "or channelwise_affine=False.",
    ),
    (
        lambda: nn.GroupNorm(2, 3),
        ArgumentError,
        "GroupNorm: expected channels that groups divide, got channels=3 and groups=2.",
    ),
    (
        lambda: nn.GroupNorm(2, 4)(QUERY[:2]),
        ShapeError,
        "GroupNorm: expected one example whose channels are 4, got float32[2,6] with "
        "groups=2. For a batch write imprint.vmap(layer)(x).",
    ),
    (
        lambda: nn.Shared((1.0, (2.0, 3.0)), lambda m: m[0], lambda m: m[1]),
        ArgumentError,
        None,
    ),
]


@pytest.mark.parametrize(("call", "error", "said"), REFUSED)
def test_error_messages(call, error, said):
    with pytest.raises(error) as caught:
        call()
    assert said is None or str(caught.value) == said
