"""What `jax.scipy.cluster` has: codes of observations."""

from imprint.scipy.cluster import vq as vq

__all__ = ["vq"]
