"""What 10,000 calls leave behind, in KiB of resident memory.

The first 2,000 calls are warm-up: allocators keep what they once took.
"""

import gc

import jax
import jax.numpy as jnp

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Fact

CALLS = 10_000
PAGE_KIB = 4


def resident_kib() -> int:
    """Return this process's resident memory."""
    with open("/proc/self/statm", encoding="utf-8") as sizes:
        return int(sizes.read().split()[1]) * PAGE_KIB


def growth(library, names):
    """Return a function that counts the KiB that 10,000 calls leave."""

    def count():
        step, x = library.jit(lambda x: x * 0.5 + 1.0), names.ones((1000,))
        before = 0
        for call in range(-2000, CALLS):
            if call == 0:
                gc.collect()
                before = resident_kib()
            x = step(x)
        x.block_until_ready()
        gc.collect()
        return resident_kib() - before

    return count


FACTS = [
    Fact(
        "KiB left by 10,000 calls on 1,000 floats",
        ours=growth(imprint, inp),
        jax=growth(jax, jnp),
        limit=256,
    ),
]
