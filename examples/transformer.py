"""A transformer that continues text: the model, its loss, a training step, and sampling.

1. A `Block` is one layer. `filter_vmap` makes all layers at once: one `Block` whose
   arrays have an axis more, that of the layers.
2. `lax.scan` runs over that axis, so the program holds one layer however deep the model
   is, and `filter_checkpoint` keeps of a layer only its input for the backward pass.
3. Model and layers take one text; `vmap` gives them a batch. Dropout takes a key.
"""

from functools import partial
from typing import Any, NamedTuple

import imprint
import imprint.numpy as np
from imprint import Array, lax, nn, optim, random


class Sizes(NamedTuple):
    """How large a model is, and how often dropout sets a number to 0."""

    vocabulary: int
    context: int
    width: int
    heads: int
    depth: int
    dropout: float


class Block(imprint.Module):
    """One layer: attention to earlier positions, then an MLP for each position."""

    first_norm: nn.LayerNorm
    queries_keys_values: nn.Linear
    merge: nn.Linear
    second_norm: nn.LayerNorm
    compute: nn.MLP
    dropout: nn.Dropout
    heads: int = imprint.field(static=True)

    def __init__(self, sizes: Sizes, key: Array) -> None:
        """Draw the parameters."""
        width = sizes.width
        look, merge, compute = random.split(key, 3)
        self.first_norm = nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width, use_bias=False, key=look)
        self.merge = nn.Linear(width, width, key=merge)
        self.second_norm = nn.LayerNorm(width)
        self.compute = nn.MLP(width, width, 4 * width, 1, nn.gelu, key=compute)
        self.dropout = nn.Dropout(sizes.dropout)
        self.heads = sizes.heads

    def __call__(self, x: Array, key: Array) -> Array:
        """Return the next vector of each position."""
        first, second = random.split(key)
        seen = self.look(imprint.vmap(self.first_norm)(x))
        x = x + self.dropout(seen, key=first)
        computed = imprint.vmap(self.compute)(imprint.vmap(self.second_norm)(x))
        return x + self.dropout(computed, key=second)

    def look(self, x: Array) -> Array:
        """Return the causal attention of each position."""
        length, width = x.shape
        heads = imprint.vmap(self.queries_keys_values)(x)
        heads = heads.reshape(length, 3, self.heads, width // self.heads)
        query, key, value = heads[:, 0], heads[:, 1], heads[:, 2]
        seen = nn.dot_product_attention(query, key, value, is_causal=True)
        return imprint.vmap(self.merge)(seen.reshape(length, width))


class Transformer(imprint.Module):
    """A model of text: for each position, the logits of the character that follows."""

    embedding: Array
    places: Array
    blocks: Block
    norm: nn.LayerNorm
    sizes: Sizes = imprint.field(static=True)

    def __init__(self, sizes: Sizes, key: Array) -> None:
        """Draw the parameters."""
        embedding, places, blocks = random.split(key, 3)
        shape = sizes.vocabulary, sizes.width
        self.embedding = 0.02 * random.normal(embedding, shape)
        self.places = 0.02 * random.normal(places, (sizes.context, sizes.width))
        make_blocks = imprint.filter_vmap(partial(Block, sizes))
        self.blocks = make_blocks(random.split(blocks, sizes.depth))
        self.norm = nn.LayerNorm(sizes.width)
        self.sizes = sizes

    def __call__(self, text: Array, key: Array) -> Array:
        """Return the logits after each character of a text; the key is for dropout."""
        chosen = nn.one_hot(text, self.sizes.vocabulary)
        x = chosen @ self.embedding + self.places
        arrays, settings = imprint.partition(self.blocks, imprint.is_array)

        @imprint.filter_checkpoint
        def layer(x: Array, slices: Any) -> Any:
            arrays, key = slices
            block = imprint.combine(arrays, settings)
            return block(x, key), None

        keys = random.split(key, self.sizes.depth)
        x, _ = lax.scan(layer, x, (arrays, keys))
        return imprint.vmap(self.norm)(x) @ self.embedding.T


def loss_of(model: Transformer, texts: Array, key: Array) -> Array:
    """Return the mean cross-entropy of a character, in nats.

    Args:
        model: the model.
        texts: rows of one character more than the context.
        key: for dropout.
    """
    keys = random.split(key, len(texts))
    logits = imprint.vmap(model)(texts[:, :-1], keys)
    truth = nn.one_hot(texts[:, 1:], model.sizes.vocabulary)
    return -np.mean(np.sum(truth * nn.log_softmax(logits), axis=-1))


def make_optimizer(rate: float, steps: int) -> optim.GradientTransformation:
    """Return Adam with a step size that rises at first, then falls to zero.

    Args:
        rate: the largest step size.
        steps: how many steps there will be.
    """
    schedule = optim.warmup_cosine_decay_schedule(0.0, rate, steps // 10, steps)
    return optim.chain(optim.clip_by_global_norm(1.0), optim.adamw(schedule))


def make_step(optimizer: optim.GradientTransformation) -> Any:
    """Return the compiled training step.

    Args:
        optimizer: the optimizer.
    """

    @imprint.filter_jit(donate="all")
    def step(model: Transformer, state: Any, texts: Array, key: Array) -> Any:
        loss, gradient = imprint.filter_value_and_grad(loss_of)(model, texts, key)
        updates, state = optimizer.update(gradient, state, trained(model))
        return imprint.apply_updates(model, updates), state, loss

    return step


def trained(model: Transformer) -> Any:
    """Return the parameters of a model, and None for everything else."""
    return imprint.filter(model, imprint.is_inexact_array)


@imprint.filter_jit
def continue_text(model: Transformer, text: Array, key: Array, length: int) -> Array:
    """Return characters that the model draws to follow a text.

    Args:
        model: the model; `nn.inference_mode` makes one without dropout.
        text: as many characters as the context has.
        key: for the draws.
        length: how many characters to draw.
    """

    def draw(text: Array, key: Array) -> Any:
        logits = model(text, key)[-1]
        character = random.categorical(key, 2 * logits)  # 2: the likely more often
        return np.append(text[1:], character), character

    _, drawn = lax.scan(draw, text, random.split(key, length))
    return drawn
