"""Clustering, as in `jax.scipy.cluster`: vector quantization."""

from imprint.scipy.cluster import vq as vq

__all__ = ["vq"]
