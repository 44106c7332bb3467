"""Warm steps of unmodified programs of JAX's libraries, on imprint and on JAX.

As both cannot be `jax` in one process, each side is a process of its own; they are asked in
turn (`library_steps`). A library that is not installed has no row: `pip install -e
'.[libraries]'` gets them all.
"""

import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from benchmarks.pairs import Pair, Timing

STEPS = {
    "equinox_mlp": "equinox",
    "neural_ode": "diffrax",
    "lineax_solve": "lineax",
    "nnx_mlp": "flax",
    "nnx_cached_partial": "flax",
    "linen_cnn": "flax",
    "linen_attention": "flax",
    "blackjax_nuts": "blackjax",
    "numpyro_nuts": "numpyro",
}
COUNT = 20
GOAL = 1.1

children = {}


def seconds_of(name, library):
    """Return the seconds of a step in the process of a library."""
    if (name, library) not in children:
        script = Path(__file__).with_name("library_steps.py")
        children[name, library] = subprocess.Popen(
            [sys.executable, str(script), library, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
    child = children[name, library]
    print(COUNT, file=child.stdin, flush=True)
    return float(child.stdout.readline())


PAIRS = [
    Pair(
        f"a step of {name.replace('_', ' ')}",
        partial(seconds_of, name, "imprint"),
        partial(seconds_of, name, "jax"),
        target=GOAL,
        timing=Timing.SELF,
    )
    for name, module in STEPS.items()
    if find_spec(module)
]
