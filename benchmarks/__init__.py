"""The benchmarks: an asv suite, and `python -m benchmarks` for imprint beside JAX.

Nothing is on the disk, but where a benchmark asks for it: what compiles is timed.
"""

import os

os.environ["IMPRINT_CACHE"] = "off"
