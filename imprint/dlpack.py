"""Arrays of other libraries by DLPack, under the names of `jax.dlpack`."""

from imprint._src.numpy.creation import from_dlpack as from_dlpack
from imprint._src.numpy.creation import is_supported_dtype as is_supported_dtype

__all__ = ["from_dlpack", "is_supported_dtype"]
