"""Vector quantization, as `jax.scipy.cluster.vq` has it: the nearest code."""

from imprint._src.scipy.cluster.vq import vq as vq

__all__ = [
    "vq",
]
