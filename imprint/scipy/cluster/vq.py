"""Vector quantization, as in `jax.scipy.cluster.vq`: the nearest code."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.scipy.cluster.vq import vq as vq

__all__ = [
    "vq",
]

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
