"""What `jax.scipy.cluster` has: codes of observations.

- `vq`: which code is nearest to an observation?
"""

from imprint.scipy.cluster import vq as vq

__all__ = ["vq"]
