"""Guests whose derivative is a user rule: `custom_jvp` and `custom_vjp`.

The rule of a body is its own derivative, so that differences agree with it, and is a
forward rule for both. Backward rules, which give an equation of their own, and rules that
differ or close over values are tested in `units/custom_derivatives`.
"""

import dataclasses

import jax

from imprint._src.control_flow.custom import (
    DerivativeRule,
    call_with_rule,
    custom_jvp_call_p,
    custom_vjp_call_p,
)
from imprint._src.interpreters.jvp import jvp_flat
from tests.laws.control.guest import BODIES, NAN, Guest, wrapped


class Own(DerivativeRule):
    """The derivative of a flat function, as the rule of it."""

    def __init__(self, primitive, fun):
        super().__init__(primitive, "own")
        self.fun = fun

    def tangents(self, primals, tangents):
        return jvp_flat(self.fun, primals, tangents)


def guest(primitive):
    def example(body):
        rule = Own(primitive, body.ours)
        found = wrapped(
            body,
            lambda fun: lambda *xs: call_with_rule(fun, rule, xs),
            jax.jit,
            primitive,
        )
        return dataclasses.replace(found, has_rule=True)

    return Guest(
        primitive=primitive,
        examples=tuple(example(b) for b in BODIES if b.name != "captured"),
        culprit=example(NAN),
        made_by=r"`log` at guest\.py:\d+ \(np\.log\(x\)\)",
    )


RULES = (guest(custom_jvp_call_p), guest(custom_vjp_call_p))
