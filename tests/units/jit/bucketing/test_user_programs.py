"""User programs in buckets give the results without names, at each length."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax, nn, ops, random

LENGTHS = (0, 1, 15, 16, 17, 100)
WEIGHTS = np.random.default_rng(0).standard_normal((4, 4), np.float32)


def masked_attention(x):
    scores = x @ x.T / 2
    allowed = inp.tril(inp.ones((x.shape[0], x.shape[0]), bool))
    return nn.softmax(inp.where(allowed, scores, -inp.inf), -1) @ x


def recurrent(x):
    def step(h, row):
        h = inp.tanh(h @ WEIGHTS + row)
        return h, h.sum()

    return lax.scan(step, inp.zeros(4), x)


def by_segment(x):
    group = (inp.abs(x[:, 0]) * 3).astype(int) % 5
    return (
        ops.segment_sum(x, group, 5),
        ops.segment_max(x, group, 5),
        ops.segment_prod(x[:, 1], group, num_segments=5),
    )


def best(x):
    values, places = lax.top_k(inp.concatenate([x[:, 0], inp.zeros(3)]), 3)
    return values, places


def along_log(x):
    return lax.cumlogsumexp(x, 0), lax.cumlogsumexp(x, 0, reverse=True)


def filtered(x):
    kernel = inp.asarray(WEIGHTS[:3, None, :1].transpose(2, 1, 0))
    wide = lax.conv_general_dilated(x.T[:, None], kernel, (1,), "SAME")
    return wide[:, 0].T


def spectrum(x):
    return inp.abs(inp.fft.fft(x, axis=0)) if x.shape[0] else x


def solved(x):
    matrix = x @ x.T + inp.eye(x.shape[0]) * 4
    return inp.linalg.solve(matrix, x), inp.linalg.slogdet(matrix)[1]


def sorted_by_key(x):
    key = inp.round(x[:, 0] * 2)
    return x[inp.argsort(key)], inp.lexsort((x[:, 1], key))


def one_hots(x):
    label = (inp.abs(x[:, 0]) * 2).astype(int)
    return nn.one_hot(label, 6) * x[:, :1], -(nn.log_softmax(x) * x).sum(-1)


def dropped(x):
    key, other = random.split(random.key(7))
    kept = random.bernoulli(key, 0.8, x.shape)
    return inp.where(kept, x / 0.8, 0) + random.normal(other, x.shape[:1])[:, None]


def contracted(x):
    paired = inp.einsum("ia,ja->ij", x, x)
    return inp.einsum("ij,jb,bc->ic", paired, x, WEIGHTS), inp.einsum("ii->", paired)


def loss(weights, x):
    def step(h, row):
        h = inp.tanh(weights @ h + row)
        return h, (h**2).sum()

    return lax.scan(step, inp.zeros(4), x)[1].sum()


def trained(x):
    gradient = imprint.grad(loss)(inp.asarray(WEIGHTS), x)
    each = imprint.vmap(imprint.grad(lambda r: inp.tanh(WEIGHTS @ r).sum()))(x)
    return gradient, each


def second_order(x):
    def f(w):
        return (inp.tanh(x @ w) ** 2).mean() if x.shape[0] else w.sum()

    return imprint.hessian(f)(inp.ones(4)), imprint.jacfwd(f)(inp.ones(4))


def checkpointed(x):
    f = imprint.checkpoint(lambda x: inp.sin(inp.sin(x @ WEIGHTS)).sum())
    return imprint.value_and_grad(f)(x)


def windowed(x):
    return lax.reduce_window(x, -inp.inf, lax.max, (3, 1), (2, 1), "SAME")


def neighbours(x):
    apart = inp.linalg.norm(x[:, None] - x[None], axis=-1)
    return inp.argsort(apart, axis=-1)[:, :1], apart.sum()


def smoothed(x):
    def step(c):
        i, total = c
        return i + 1, total * 0.9 + x[i].sum()

    if x.shape[0] == 0:
        return x
    return lax.while_loop(lambda c: c[0] < x.shape[0], step, (0, 0.0))


def updated(x):
    x = x.at[::2].multiply(2).at[1:, 0].add(1.0)
    return x.at[:, 1].set(inp.arange(x.shape[0]))


def normed(x):
    return (x - x.mean(0)) / (x.std(0) + 1e-3), inp.cov(x, rowvar=False)


def quantiles(x):
    return inp.quantile(x, inp.array([0.1, 0.5]), axis=0) if x.shape[0] else x


def linear_recurrence(x):
    def join(a, b):
        return a[0] * b[0], a[1] * b[0] + b[1]

    return lax.associative_scan(join, (inp.tanh(x), x))


def shuffled(x):
    return random.permutation(random.key(3), x), random.permutation(
        random.key(4), x.shape[0]
    )


def chosen(x):
    places = inp.nonzero(x[:, 0] > 0, size=6, fill_value=-1)[0]
    found = inp.unique(inp.round(x[:, 1]), size=5, return_counts=True, fill_value=9)
    return places, found


def spaced(x):
    return inp.linspace(0.0, 1.0, x.shape[0])[:, None] * x


def products(x):
    def f(x):
        return inp.cumprod(inp.sin(x), 0).sum() + inp.prod(inp.cos(x[:, 0]))

    return imprint.grad(f)(x), imprint.grad(lambda x: lax.cummax(x, 0, True).sum())(x)


PROGRAMS = {
    f.__name__: f
    for f in (
        *(masked_attention, recurrent, by_segment, best, along_log, filtered, spectrum),
        *(solved, sorted_by_key, one_hots, dropped, contracted, trained, second_order),
        *(checkpointed, windowed, neighbours, smoothed, updated, normed, quantiles),
        *(linear_recurrence, shuffled, chosen, spaced, products),
    )
}
QUICK = ("by_segment", "linear_recurrence", "shuffled", "chosen", "spaced", "products")
OF_LIBRARY = (*QUICK[1:], "quantiles")


def rows(n):
    return np.random.default_rng(n).standard_normal((n, 4), np.float32)


def check(name, lengths):
    named = imprint.jit(PROGRAMS[name], abstracted_axes={0: "n"})
    plain = imprint.jit(PROGRAMS[name])
    for n in lengths:
        came, expected = [imprint.tree.leaves(f(rows(n))) for f in (named, plain)]
        for a, b in zip(came, expected, strict=True):
            assert (a.aval, n) == (b.aval, n)
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize("name", QUICK)
def test_a_program_at_a_length_gives_the_result_without_names(name):
    check(name, (1, 17))


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:.* was compiled 8 times")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_at_each_length_gives_the_result_without_names(name):
    check(name, LENGTHS)


@pytest.mark.parametrize("name", OF_LIBRARY)
def test_one_program_of_a_library_function_is_for_a_bucket(name):
    named = imprint.jit(PROGRAMS[name], abstracted_axes={0: "n"})
    named.clear_cache()
    for n in range(97, 129, 5):
        named(rows(n))
    assert len(named.versions) == 1


def test_two_axes_vary_at_once():
    def f(x, y):
        return nn.softmax(x @ y, -1), inp.sort((x @ y).reshape(-1))[:1], x.sum(0)

    named = imprint.jit(f, abstracted_axes=(("n", "m"), ("m", None)))
    for n, m in ((1, 1), (15, 17), (17, 3), (16, 16), (1, 30)):
        x, y = np.ones((n, m), np.float32) * 0.1, rows(m)
        came, expected = named(x, y), imprint.jit(f)(x, y)
        for a, b in zip(came, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


class Layer(imprint.Module):
    weights: imprint.Array
    name: str = "layer"

    def __call__(self, x):
        return nn.relu(x @ self.weights).mean(0)


def test_a_model_is_trained_on_batches_of_each_length():
    model = Layer(inp.asarray(WEIGHTS))

    def step(model, x):
        return imprint.filter_value_and_grad(lambda m: (m(x) ** 2).sum())(model)

    named = imprint.filter_jit(step, abstracted_axes={"x": {0: "n"}})
    plain = imprint.filter_jit(step)
    for n in (1, 15, 16, 17, 30):
        (a, da), (b, db) = named(model, rows(n)), plain(model, rows(n))
        np.testing.assert_allclose(a, b, rtol=1e-5)
        np.testing.assert_allclose(da.weights, db.weights, rtol=1e-4, atol=1e-5)
    assert len(named.versions) == 3
