"""User-defined batching: `custom_vmap`, a function with its own batching rule."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.custom_batching import custom_vmap as custom_vmap
from imprint._src.custom_batching import sequential_vmap as sequential_vmap

__all__ = [
    "custom_vmap",
    "sequential_vmap",
]

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
