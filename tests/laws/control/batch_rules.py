"""Guests with their own batching rule: `custom_vmap`.

The rule of a body is its `vmap`, so that the laws hold. Rules that differ or close over
values are tested in `units/test_custom_batching`.
"""

import dataclasses

import jax

from imprint._src.control_flow.custom_vmap import (
    BatchRule,
    call_with_batch_rule,
    custom_vmap_call_p,
)
from imprint._src.interpreters.batching import at_axis, batch_flat
from tests.laws.control.guest import BODIES, NAN, Guest, wrapped


class Own(BatchRule):
    """Return the `vmap` of a flat function, as its rule."""

    def __init__(self, fun):
        super().__init__("own")
        self.fun = fun

    def batch(self, size, batched, args):
        dims = tuple(0 if on else None for on in batched)
        outs, came = batch_flat(self.fun, args, dims)
        flags = tuple(d is not None for d in came)
        moved = [
            x if d is None else at_axis(x, d, 0, size)
            for x, d in zip(outs, came, strict=True)
        ]
        return tuple(moved), flags


def example(body):
    rule = Own(body.ours)
    found = wrapped(
        body,
        lambda fun: lambda *xs: call_with_batch_rule(fun, rule, xs),
        jax.jit,
        custom_vmap_call_p,
    )
    return dataclasses.replace(found, has_rule=True)


BATCH_RULES = (
    Guest(
        primitive=custom_vmap_call_p,
        examples=tuple(example(b) for b in BODIES if b.name != "captured"),
        culprit=example(NAN),
        made_by=r"`log` at guest\.py:\d+ \(np\.log\(x\)\)",
    ),
)
