"""The opposite of `enable_x64`.

JAX had both in `jax.experimental`.
"""

from contextlib import AbstractContextManager

from imprint._src.config import enable_x64


def disable_x64() -> AbstractContextManager[None]:
    """Return a `with` inside which 64-bit values are cut to 32 bits, as by default.

    Example:
        >>> import imprint
        >>> with imprint.experimental.disable_x64():
        ...     print(imprint.config.enable_x64)
        False
    """
    return enable_x64(new_val=False)
