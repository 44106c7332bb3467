"""The benchmarks: an asv suite, and `python -m benchmarks`, which compares with JAX.

The persistent cache is off, except in benchmarks of it, so compilations are timed. On a GPU
JAX starts first, as it accepts no plug-in that is loaded already.
"""

import os


def missing(err: ImportError) -> SystemExit:
    """Return the end of the process for want of a package of the extra `[bench]`."""
    return SystemExit(
        f"benchmarks: expected the packages of the extra [bench], got {err}. Install "
        "them: pip install '.[bench]'."
    )


try:
    import jax
except ImportError as err:
    raise missing(err) from err

os.environ["IMPRINT_CACHE"] = "off"
if "IMPRINT_DEFAULT_DEVICE" in os.environ:
    jax.devices()
