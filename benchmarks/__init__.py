"""The benchmarks: an asv suite, and `python -m benchmarks` for imprint beside JAX.

Nothing is on the disk, but where a benchmark asks for it: what compiles is timed. On a GPU
JAX starts first, as it takes no plug-in that is loaded already.
"""

import os

import jax

os.environ["IMPRINT_CACHE"] = "off"
if "IMPRINT_DEFAULT_DEVICE" in os.environ:
    jax.devices()
