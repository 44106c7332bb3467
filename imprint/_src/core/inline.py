"""Inline: what becomes of a nested call of a jitted function, as JAX has it.

A call is an equation of its own, and a function of the compiled program, unless the
function says otherwise. What results is the same; what is traced, written and compiled is
shared by calls that stay calls.
"""

from enum import Enum


class Inline(Enum):
    """What becomes of nested calls of a jitted function: `jit(inline=...)`.

    Example:
        >>> import imprint
        >>> @imprint.jit(inline=imprint.Inline.JAX_EARLY)
        ... def double(x):
        ...     return x * 2
        >>> print(imprint.make_jaxpr(lambda x: double(x) + 1)(1.0))
        { lambda ; a:f32[]. let
            b:f32[] = mul a 2.0:f32[]
            c:f32[] = add b 1.0:f32[]
          in (c,) }
    """

    JAX_EARLY = "jax_early"
    """They dissolve into the jaxpr around them."""
    JAX_LATE = "jax_late"
    """They are equations of the jaxpr, and dissolve where it is lowered; True says so."""
    XLA_EARLY = "xla_early"
    """They are calls in StableHLO, which XLA is asked to dissolve early."""
    XLA_LATE = "xla_late"
    """They are calls in StableHLO, which XLA is asked to dissolve late."""
    AUTO = "auto"
    """They are calls in StableHLO, and XLA decides; False says so."""
