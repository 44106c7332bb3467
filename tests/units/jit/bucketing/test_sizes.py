"""Functions of numbers and lengths take the length of an axis with a name."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import image, lax, random

KEY = random.key(3)


def turned(x):
    return lax.switch(x.shape[0] % 3, [lambda x: x, lambda x: -x, lambda x: x * 2], x)


def written(x):
    return lax.dynamic_update_slice(x, x[:1] * 0, (x.shape[0] - 1, 0))


def in_bins(x):
    return inp.digitize(x[:, 0], inp.sort(x[:, 1])[::-1])


def averaged(x):
    return lax.reduce_window(x, 0.0, lax.add, (3, 1), (2, 1)) / 3


PROGRAMS = {
    "reduce_window": averaged,
    "matrix_rank": inp.linalg.matrix_rank,
    **{
        f"resize, {method}": lambda x, method=method: image.resize(x, (7, 2), method)
        for method in ("nearest", "linear", "area", "cubic-pytorch")
    },
    "resize twofold": lambda x: image.resize(x, (2 * x.shape[0], 2), "cubic"),
    "full": lambda x: inp.full((x.shape[0], 2), x.shape[0]),
    "switch": turned,
    "dynamic_slice": lambda x: lax.dynamic_slice(x, (x.shape[0] - 2, 0), (2, 2)),
    "dynamic_update_slice": written,
    "randint": lambda x: random.randint(KEY, (3,), 0, x.shape[0]),
    "uniform": lambda x: random.uniform(KEY, (3,), minval=-x.shape[0], maxval=1),
    "digitize": in_bins,
    "kaiser": lambda x: inp.kaiser(x.shape[0], 8.0),
}


def rows(n):
    return np.random.default_rng(n).standard_normal((n, 2), np.float32)


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_program_for_a_bucket_gives_the_result_without_names(name):
    named = imprint.jit(PROGRAMS[name], abstracted_axes={0: "n"})
    named.clear_cache()
    for n in (5, 15):
        x = rows(n)
        came, expected = named(x), PROGRAMS[name](inp.asarray(x))
        assert came.aval == expected.aval
        np.testing.assert_allclose(came, expected, rtol=1e-4, atol=1e-5)
    assert len(named.versions) == 1
