"""The guest with few residuals: `checkpoint`, without a policy and with some."""

import jax

from imprint._src.control_flow.checkpoint import checkpoint_call, checkpoint_p
from imprint._src.core.aval import get_aval
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from tests.laws.control.guest import BODIES, NAN, Guest, wrapped

POLICIES = {
    "": None,
    "all saved, ": lambda eqns: [True] * len(eqns),
    "some saved, ": lambda eqns: [
        e.primitive.name in ("sin", "exp", "mul") for e in eqns
    ],
}


def example(body, said="", policy=None):
    def wrap(fun):
        def call(*xs):
            closed = stage(fun, [get_aval(x) for x in xs], DebugInfo("laws", body.name))
            return checkpoint_call(closed, xs, policy, (True,) * len(xs))

        return call

    found = wrapped(body, wrap, jax.checkpoint, checkpoint_p)
    object.__setattr__(found, "name", f"{said}{body.name}")
    return found


CHECKPOINTS = (
    Guest(
        primitive=checkpoint_p,
        examples=tuple(
            example(body, said, policy)
            for body in BODIES
            for said, policy in POLICIES.items()
        ),
        culprit=example(NAN),
        made_by=r"`log` at guest\.py:\d+ \(np\.log\(x\)\)",
    ),
)
