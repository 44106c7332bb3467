"""The guests: each control primitive has one entry."""

import jax

import imprint
from imprint.control.call import jit_p
from tests.laws.control.guest import BODIES, NAN, Guest, wrapped

GUESTS = (
    Guest(
        primitive=jit_p,
        examples=tuple(wrapped(body, imprint.jit, jax.jit, jit_p) for body in BODIES),
        culprit=wrapped(NAN, imprint.jit, jax.jit, jit_p),
        made_by=r"`log` at guest\.py:\d+ \(np\.log\(x\)\)",
    ),
)
