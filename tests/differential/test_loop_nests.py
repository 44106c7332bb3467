"""Drawn nests of loops and transforms beside JAX: compiled, eager, derived again.

The first seed is in the fast lane; `DRAWN_CASES=10000` in the environment draws more. A
failure shows the text of the program, which runs as it is.
"""

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.differential.loop_nests import nest
from tests.lanes import exhaustive
from tests.tolerances import assert_close

pytestmark = pytest.mark.slow

PER_SEED = 6
SEEDS = range(-(-int(os.environ.get("DRAWN_CASES", "120")) // PER_SEED))
QUICK = {"xla_backend_optimization_level": 0}
X = np.array([0.3, -0.7, 1.1], "float32")
W = np.array([0.9, 0.4, -0.5], "float32")
WAYS = {
    "as it is": lambda lib, f: f,
    "differentiated": lambda lib, f: lib.grad(lambda x: (f(x) * X).sum()),
    "mapped": lambda lib, f: lambda x: lib.vmap(f)(lib.numpy.stack([x, -x, x * 2])),
}


def made(text, lib, np):
    names = {"lib": lib, "np": np, "lax": lib.lax, "w": np.asarray(W)}
    return eval(f"lambda x: {text}", names)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", [0, *exhaustive(*SEEDS[1:])], ids="seed{}".format)
def test_a_nest_gives_what_it_gives_with_jax(seed, way):
    numbers = range(seed * PER_SEED, (seed + 1) * PER_SEED)
    texts = [nest(number, reverse=way == "differentiated") for number in numbers]
    theirs = [WAYS[way](jax, made(text, jax, jnp)) for text in texts]
    wanted = jax.jit(lambda x: [f(x) for f in theirs], compiler_options=QUICK)(X)
    for text, want in zip(texts, wanted, strict=True):
        function = WAYS[way](imprint, made(text, imprint, inp))
        for run in (imprint.jit(function, compiler_options=QUICK), function):
            try:
                got = run(X)
                assert got.dtype == want.dtype
                assert_close(got, np.asarray(want), "gradient")
            except Exception as err:
                err.add_note(f"{way}: lambda x: {text}")
                raise
