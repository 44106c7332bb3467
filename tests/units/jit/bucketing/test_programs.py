"""Programs in buckets give the results without names, at each length."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax, nn

LENGTHS = (1, 2, 3, 15, 16, 17, 5, 24, 31)


def grad(f):
    return imprint.grad(lambda x: (f(x) ** 2).sum())


def carried(x):
    return lax.scan(lambda c, r: (c * 0.5 + r, c.sum()), inp.zeros(3), x)


def turned(x):
    def step(c):
        return c[0] + 1, c[1] * 0.5 + x.sum()

    return lax.while_loop(lambda c: c[0] < x.shape[0], step, (0, 1.0))


def ranked(x):
    return inp.arange(x.shape[0])[:, None]


PROGRAMS = {
    "softmax": lambda x: (nn.softmax(x, 0), nn.softmax(x), nn.logsumexp(x, 0)),
    "attention": lambda x: nn.softmax(x @ x.T / 4) @ x,
    "ordered": lambda x: (inp.sort(x, 0), inp.argsort(x, 0), x.argmax(0), x.argmin()),
    "moments": lambda x: (x.mean(), x.var(0), x.std(), x.shape[0] / 2, x.size),
    "cumulative": lambda x: (inp.cumsum(x, 0), inp.cumprod(x, 0), lax.cummax(x, 0)),
    "joined": lambda x: (inp.concatenate([x, x * 2, x[:1]]), inp.stack([x, x])),
    "moved": lambda x: (x[::-1], inp.roll(x, 1, 0), inp.diff(x, axis=0)),
    "sliced": lambda x: (x[1:], x[:-1], x[::2], x[-1:], x[:1], x[-1], x[0]),
    "reshaped": lambda x: (x.reshape(-1), x.T.reshape(-1), x.reshape(-1, 1)),
    "made": lambda x: (x + ranked(x), inp.eye(x.shape[0]) @ x, inp.tril(x @ x.T)),
    "gathered": lambda x: (x[inp.argsort(x[:, 0])], inp.take(x, inp.array([0]), 0)),
    "scattered": lambda x: (x.at[0].set(1.0), x.at[inp.argsort(x[:, 0])].add(1.0)),
    "padded": lambda x: inp.pad(x, ((1, 2), (0, 0))),
    "products": lambda x: (x.T @ x, inp.einsum("ij,kj->ik", x, x), x.prod(0)),
    "answers": lambda x: ((x > 0).all(0), (x > 9).any(), inp.count_nonzero(x > 0)),
    "extremes": lambda x: (x.min(0), x.max(0), (x * 10).astype("int8").max(0)),
    "gradients": lambda x: (grad(lambda x: inp.tanh(x @ x.T))(x), grad(nn.softmax)(x)),
    "gradient of order": lambda x: grad(lambda x: inp.sort(x, 0) * ranked(x))(x),
    "vmap": imprint.vmap(lambda row: row / inp.linalg.norm(row)),
    "scan": carried,
    "while": turned,
    "cond": lambda x: lax.cond(x.sum() > 0, lambda x: x.cumsum(0), lambda x: -x, x),
    "map": lambda x: lax.map(inp.sort, x),
    "drawn": lambda x: imprint.random.uniform(imprint.random.key(3), x.shape),
    "branch": lambda x: x[:20].sum(0) if x.shape[0] > 20 else x.sum(0) * 2,
    "parity": lambda x: x if x.shape[0] % 2 else x * 2,
    "solve": lambda x: inp.linalg.solve(x @ x.T + inp.eye(x.shape[0]) * 3, x),
    "cholesky": lambda x: inp.linalg.cholesky(x @ x.T + inp.eye(x.shape[0]) * 3),
    "segments": lambda x: imprint.ops.segment_sum(x, inp.arange(x.shape[0]) % 3, 3),
    "searched": lambda x: inp.searchsorted(inp.sort(x[:, 0]), inp.array([0.0, 0.5])),
    "repeated": lambda x: (inp.tile(x, (2, 1)), inp.repeat(x, 2, axis=0)),
    "median": lambda x: (inp.median(x, 0), inp.linspace(0, 1, x.shape[0])),
}
QUICK = {"softmax", "ordered", "sliced", "gradients", "scan", "branch"}


def check(name, lengths):
    named = imprint.jit(PROGRAMS[name], abstracted_axes={0: "n"})
    plain = imprint.jit(PROGRAMS[name])
    for n in lengths:
        x = np.random.default_rng(n).standard_normal((n, 3), np.float32)
        came, expected = [imprint.tree.leaves(f(x)) for f in (named, plain)]
        for a, b in zip(came, expected, strict=True):
            assert (a.aval, n) == (b.aval, n)
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize("name", sorted(QUICK))
def test_a_program_at_a_length_gives_the_result_without_names(name):
    check(name, (2, 17))


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:.* was compiled 8 times")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_at_each_length_gives_the_result_without_names(name):
    check(name, LENGTHS)
