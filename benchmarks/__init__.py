"""The benchmarks: an asv suite, and `python -m benchmarks`, which compares with JAX.

The persistent cache is off, except in benchmarks of it, so compilations are timed. On a GPU
JAX starts first, as it accepts no plug-in that is loaded already.
"""

import os

import jax

os.environ["IMPRINT_CACHE"] = "off"
if "IMPRINT_DEFAULT_DEVICE" in os.environ:
    jax.devices()
