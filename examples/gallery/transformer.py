"""Transformer: one layer of attention, of plain functions, that learns to look back.

Each text repeats six random letters. The next letter is the one that stands five places
back, so the layer has to learn where to look; the matrix of attention shows it.
"""

import imprint
import imprint.numpy as np
from imprint import nn, optim, random

LETTERS, PERIOD, LENGTH, WIDTH = 8, 6, 24, 32
OPTIMIZER = optim.adam(0.01)


def make(key):
    """Return the parameters, a dictionary of arrays."""
    shapes = {
        "letter": (LETTERS, WIDTH),
        "place": (LENGTH, WIDTH),
        "query": (WIDTH, WIDTH),
        "key": (WIDTH, WIDTH),
        "value": (WIDTH, WIDTH),
        "wide": (WIDTH, 4 * WIDTH),
        "narrow": (4 * WIDTH, WIDTH),
        "out": (WIDTH, LETTERS),
    }
    keys = random.split(key, len(shapes))
    return {
        name: random.normal(key, shape) / shape[0] ** 0.5
        for key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def norm(x):
    return nn.standardize(x, axis=-1)


def apply(p, text):
    """Return the logits of the letters after each place, and the attention."""
    x = p["letter"][text] + p["place"]
    y = norm(x)
    scores = (y @ p["query"]) @ (y @ p["key"]).T / WIDTH**0.5
    earlier = np.tril(np.ones((LENGTH, LENGTH), bool))
    attention = nn.softmax(np.where(earlier, scores, -np.inf))
    x = x + attention @ y @ p["value"]
    x = x + nn.gelu(norm(x) @ p["wide"]) @ p["narrow"]
    return norm(x) @ p["out"], attention


def texts(key, count):
    """Return texts of `LENGTH + 1` letters, each a repeated word."""
    words = random.randint(key, (count, PERIOD), 0, LETTERS)
    return np.tile(words, LENGTH // PERIOD + 1)[:, : LENGTH + 1]


def loss(p, batch):
    """Return the mean cross-entropy after the first word, and the share that is right."""
    logits, _ = imprint.vmap(apply, in_axes=(None, 0))(p, batch[:, :-1])
    logits, truth = logits[:, PERIOD:], batch[:, PERIOD + 1 :]
    chances = nn.log_softmax(logits) * nn.one_hot(truth, LETTERS)
    return -chances.sum(-1).mean(), (logits.argmax(-1) == truth).mean()


@imprint.jit(donate_argnums=(0, 1))
def step(p, state, key):
    (value, right), slope = imprint.value_and_grad(loss, has_aux=True)(
        p, texts(key, 32)
    )
    updates, state = OPTIMIZER.update(slope, state)
    return optim.apply_updates(p, updates), state, value, right


def main():
    """Train on new texts, and return what is right at the end and the attention."""
    p = make(random.key(0))
    state = OPTIMIZER.init(p)
    for i, key in enumerate(random.split(random.key(1), 60)):
        p, state, value, right = step(p, state, key)
        if i % 15 == 14:
            print(
                f"step {i + 1}: loss {float(value):.3f}, {float(right):.0%} are right"
            )
    _, attention = apply(p, texts(random.key(2), 1)[0, :-1])
    return float(right), attention


def plot(figure, found):
    """Draw the attention: each row is a place, and looks back at the columns."""
    axes = figure.subplots()
    axes.imshow(found[1])
    axes.set(xlabel="looks at", ylabel="place")


if __name__ == "__main__":
    main()
