"""Run the cases over eight devices, here and in JAX; print the names of those that agree.

Each runs three times: compiled, outside of a trace, and by the references alone.
"""

import os
import sys

os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
)
os.environ["IMPRINT_CACHE"] = "off"

import jax
import jax.numpy as jnp
import numpy as onp
from cases import cases

import imprint
import imprint.numpy as np
from imprint import P, lax, tree
from imprint._src.control_flow.interpret import interpret
from imprint._src.interpreters.trace_to_jaxpr import hoist_consts


def by_references(function, args):
    leaves, treedef = tree.flatten(args)
    closed = imprint.make_jaxpr(
        lambda *xs: tree.leaves(function(*treedef.unflatten(xs)))
    )(*leaves)
    values = [onp.asarray(x) for x in (*closed.consts, *leaves)]
    return interpret(hoist_consts(closed).jaxpr, values)


WAYS = {
    "jit": lambda function, args: imprint.jit(function)(*args),
    "eager": lambda function, args: function(*args),
    "reference": by_references,
}


def main(ways, names):
    types = (jax.sharding.AxisType.Auto,) * 2
    theirs = jax.make_mesh((4, 2), ("x", "y"), axis_types=types)
    wanted = cases(jax, jnp, jax.lax, jax.P, jax.shard_map, theirs)
    mesh = imprint.make_mesh((4, 2), ("x", "y"))
    ours = cases(imprint, np, lax, P, imprint.shard_map, mesh)
    for name in names or ours:
        function, args = wanted[name]
        expected = jax.tree.leaves(jax.jit(function)(*args))
        function, args = ours[name]
        for way in ways:
            came = tree.leaves(WAYS[way](function, args))
            for x, y in zip(came, expected, strict=True):
                mine, other = onp.asarray(x), onp.asarray(y)
                assert mine.dtype == other.dtype, (name, way, mine.dtype, other.dtype)
                onp.testing.assert_allclose(
                    mine, other, rtol=2e-5, atol=1e-5, err_msg=f"{name}, {way}"
                )
        print(name)


if __name__ == "__main__":
    main(sys.argv[1].split(","), sys.argv[2:])
