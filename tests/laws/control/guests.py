"""The guests: each control primitive has one entry."""

import jax
import jax.numpy as jnp

import imprint
import imprint.numpy as inp
from imprint import tree
from imprint._src.control_flow.call import jit_p
from imprint._src.control_flow.cond import choose, cond_p
from imprint._src.control_flow.shard_map import shard_map_p
from imprint._src.control_flow.trace_body import trace_body
from imprint._src.core.aval import get_aval
from tests.laws.control.batch_rules import BATCH_RULES
from tests.laws.control.checkpoints import CHECKPOINTS
from tests.laws.control.guest import (
    BODIES,
    NAN,
    Example,
    Guest,
    float64,
    int32,
    wrapped,
)
from tests.laws.control.loop_guests import LOOPS
from tests.laws.control.rules import RULES
from tests.laws.control.solution_guests import SOLUTIONS

# ---- conditionals ----


def chosen(name, avals, *bodies):
    """Return the example of a choice among bodies; the index is its first argument."""

    def ours(index, *xs):
        functions = [lambda *xs, body=body: body(inp, *xs) for body in bodies]
        in_avals = list(map(get_aval, xs))
        in_tree = tree.structure(tuple(xs))
        closed = [
            trace_body(function, in_tree, in_avals, "cond") for function in functions
        ]
        return choose(index, tuple(body.jaxpr for body in closed), xs)

    def theirs(index, *xs):
        functions = [lambda *xs, body=body: body(jnp, *xs) for body in bodies]
        return jax.lax.switch(index, functions, *xs)

    avals = (int32(), *avals)
    return Example(name, ours, avals, theirs, cond_p, integers=(0, len(bodies)))


CHOICES = (
    chosen(
        "two, with residuals of their own",
        (float64(2, 3), float64(3)),
        lambda np, x, y: [np.sin(x) * y, np.exp(y) * np.cos(y)],
        lambda np, x, y: [np.tanh(x * y) + np.exp(x), y * y],
    ),
    chosen(
        "three, one of which is linear, one constant",
        (float64(3), float64()),
        lambda np, x, y: [x * y, y],
        lambda np, x, y: [x * 2.0, y * 3.0],
        lambda np, x, y: [np.ones(3, "float64"), np.asarray(1.0)],
    ),
    chosen(
        "integers beside floats",
        (float64(3), int32(3)),
        lambda np, x, n: [x * n, n + 1],
        lambda np, x, n: [np.where(n > 1, np.sin(x), x), n * n],
    ),
    chosen(
        "an operand that one branch uses, an argument that one returns",
        (float64(2), float64(2), float64(2)),
        lambda np, x, y, z: [y, np.exp(y) * x],
        lambda np, x, y, z: [z * z * 2.0, x],
    ),
    chosen(
        "numbers",
        (float64(), float64()),
        lambda np, x, y: [x / y, np.log(x)],
        lambda np, x, y: [y / x, np.log(y) * x],
    ),
)


def _on_one(function):
    """Return a function as the program of the one device of a mesh."""
    mesh = imprint.make_mesh((1,), ("i",))
    specs = {"in_specs": imprint.P(), "out_specs": imprint.P()}
    return imprint.shard_map(function, mesh=mesh, **specs)


GUESTS = (
    Guest(
        primitive=jit_p,
        examples=tuple(wrapped(body, imprint.jit, jax.jit, jit_p) for body in BODIES),
        culprit=wrapped(NAN, imprint.jit, jax.jit, jit_p),
        made_by=r"`log` at guest\.py:\d+ \(np\.log\(x\)\)",
    ),
    Guest(
        primitive=cond_p,
        examples=CHOICES,
        culprit=chosen(
            "makes NaN",
            (float64(3),),
            lambda np, x: [np.log(x) * 2.0],
            lambda np, x: [np.log(x) * 3.0],
        ),
        made_by=r"`log` at guests\.py:\d+ \(np\.log\(x\)\)",
    ),
    Guest(
        primitive=shard_map_p,
        examples=tuple(wrapped(b, _on_one, jax.jit, shard_map_p) for b in BODIES),
        culprit=wrapped(NAN, _on_one, jax.jit, shard_map_p),
        made_by=r"`shard_map` at",
    ),
    *LOOPS,
    *RULES,
    *BATCH_RULES,
    *CHECKPOINTS,
    *SOLUTIONS,
)
