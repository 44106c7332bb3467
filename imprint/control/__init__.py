"""Primitives that hold jaxprs; `ALL` lists every one of them.

They are apart from `primitives` because their rules transform jaxprs, so they need the
transforms. Nothing outside this package names one: others ask its declaration.

- `agreement`: where does what bodies take and return differ?
- `call`: what does a function jitted inside traced code become?
- `closing`: how does the function of a branch or a step become a jaxpr?
- `cond`: what do conditionals become?
- `interpret`: what does a jaxpr compute, by the references of its primitives?
"""

from typing import Final

from imprint.control import call, cond
from imprint.core.control import ControlPrimitive

ALL: Final[tuple[ControlPrimitive, ...]] = (call.jit_p, cond.cond_p)
"""Every control primitive; the laws read it."""
