"""Arrays of many lengths: all calls with their compiles, and single calls.

The first row has all calls of a new function with batches of many lengths, results on the
host: imprint has programs for buckets, JAX one for each length. The second compares a new
length in a compiled bucket with a known length, both imprint's; the last a trace for all
lengths with one for a single length, both imprint's.
"""

import time
from itertools import count

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Fact, Pair, Timing

RNG = np.random.default_rng(0)
WEIGHTS = RNG.standard_normal((64, 64), np.float32)
ROWS = RNG.standard_normal((4096, 64), np.float32)
LENGTHS = {
    "60 from 50 to 109": range(50, 110),
    "200 up to 4096": [*RNG.integers(1, 4097, 200)],
}
AXES = {"abstracted_axes": {0: "n"}}


def program(library):
    """Return a new function of a batch."""
    np = library.numpy

    def classified(x):
        weights = library.nn.softmax(np.tanh(x @ WEIGHTS), -1)
        return weights.mean(0), (weights * weights).sum()

    return classified


def seconds(jitted, lengths):
    """Return the time of calls of all lengths."""
    start = time.perf_counter()
    for n in lengths:
        for result in jitted(ROWS[:n]):
            np.asarray(result)
    return time.perf_counter() - start


def ours(lengths):
    imprint.clear_caches()
    return seconds(imprint.jit(program(imprint), **AXES), lengths)


def theirs(lengths):
    library = type("", (), {"numpy": jnp, "nn": jax.nn})
    return seconds(jax.jit(program(library)), lengths)


def compiles(lengths):
    jitted = imprint.jit(program(imprint), **AXES)
    seconds(jitted, lengths)
    return len(jitted.versions)


def a_call(lengths, **options):
    """Return the microseconds of a call, the median of calls of each length once."""
    jitted = imprint.jit(lambda x: (inp.tanh(x).sum(0), x.shape[0]), **options)
    arrays = [inp.asarray(ROWS[:n, :2]) for n in lengths]
    jitted(arrays[0])
    jitted(arrays[0])
    taken = []
    for x in arrays[1:]:
        start = time.perf_counter()
        jitted(x)
        taken.append(time.perf_counter() - start)
    return 1e6 * float(np.median(taken))


SALTS = count(1.0)


def traces(length):
    struct = imprint.ShapeDtypeStruct((length, 64), "float32")

    def fresh():
        salt = next(SALTS)  # no two functions are equal

        def chain(x):
            for _ in range(200):
                x = inp.sin(x) * x - x.mean(0) * salt
            return x

        return lambda: imprint.make_jaxpr(chain)(struct) and None

    return fresh


# ---- a transformer whose batches and lengths are drawn ----

_WIDTH, _LETTERS = 16, 32


def _parameters():
    shapes = {
        "embed": (_LETTERS, _WIDTH),
        "look": (_WIDTH, 3 * _WIDTH),
        "merge": (_WIDTH, _WIDTH),
        "up": (_WIDTH, 4 * _WIDTH),
        "down": (4 * _WIDTH, _WIDTH),
    }
    rng = np.random.default_rng(1)
    return {k: rng.normal(0, 0.1, v).astype(np.float32) for k, v in shapes.items()}


def _loss(p, text):
    """Return the mean loss of the next letter, by one causal layer."""
    x = p["embed"][text[:, :-1]]
    query, key, value = inp.split(_normed(x) @ p["look"], 3, -1)
    length = x.shape[1]
    seen = inp.arange(length)[:, None] >= inp.arange(length)
    scores = inp.where(seen, query @ key.mT / _WIDTH**0.5, -1e9)
    x = x + imprint.nn.softmax(scores, -1) @ value @ p["merge"]
    x = x + imprint.nn.gelu(_normed(x) @ p["up"]) @ p["down"]
    rates = imprint.nn.log_softmax(_normed(x) @ p["embed"].T, -1)
    return -inp.take_along_axis(rates, text[:, 1:, None], -1).mean()


def _normed(x):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)


def _step(p, text):
    loss, gradient = imprint.value_and_grad(_loss)(p, text)
    return loss, imprint.tree.map(lambda w, g: w - 0.3 * g, p, gradient)


def _texts(steps):
    """Return texts that count on from a drawn letter, of drawn batch and length."""
    rng = np.random.default_rng(2)
    for _ in range(steps):
        batch, length = rng.integers(1, 33), rng.integers(2, 65)
        start, by = rng.integers(0, _LETTERS, (2, batch, 1))
        yield ((start + by % 3 * np.arange(length)) % _LETTERS).astype(np.int32)


def trained(jitted, steps):
    """Return the loss of each step."""
    p, losses = _parameters(), []
    for text in _texts(steps):
        loss, p = jitted(p, text)
        losses.append(float(loss))
    return losses


NAMED = {"abstracted_axes": {"text": ("batch", "length")}}


def steps_compile(steps=300):
    jitted = imprint.jit(_step, **NAMED)
    trained(jitted, steps)
    return len(jitted.versions)


def unlike_unpadded(steps=300):
    """Return the largest difference of a loss, relative, from training without names."""
    named, plain = imprint.jit(_step, **NAMED), imprint.jit(_step)
    pairs = zip(trained(named, steps), trained(plain, steps), strict=True)
    return max(abs(a - b) / abs(b) for a, b in pairs)


PAIRS = [
    Pair(
        "all calls of 60 lengths, compiles and all",
        ours=lambda: ours(LENGTHS["60 from 50 to 109"]),
        jax=lambda: theirs(LENGTHS["60 from 50 to 109"]),
        target=1 / 8,
        timing=Timing.SELF,
    ),
    Pair(
        "trace for all lengths beside one length, both imprint's",
        ours=traces(imprint.symbolic_shape("n")[0]),
        jax=traces(8),
        target=1.3,
        timing=Timing.FRESH,
    ),
]

FACTS = [
    Fact(
        "compiles of 300 steps of a transformer, batch and length drawn",
        ours=steps_compile,
        jax=lambda: len({text.shape for text in _texts(300)}),
        limit=16,
    ),
    Fact(
        "its losses beside those of 60 steps without padding, relative",
        ours=lambda: unlike_unpadded(60),
        jax=lambda: 0,
        limit=1e-3,
    ),
    Fact(
        "compiles of 60 lengths from 50 to 109",
        ours=lambda: compiles(LENGTHS["60 from 50 to 109"]),
        jax=lambda: 60,
        limit=3,
    ),
    Fact(
        "compiles of 200 lengths up to 4096",
        ours=lambda: compiles(LENGTHS["200 up to 4096"]),
        jax=lambda: len({*LENGTHS["200 up to 4096"]}),
        limit=17,
    ),
    Fact(
        "an unseen length over a call of a seen one, µs",
        ours=lambda: a_call(range(65, 96), **AXES) - a_call([96] * 31),
        jax=lambda: 0,
        limit=60,
    ),
]
