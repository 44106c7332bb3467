"""Programs on two devices, and where their results are; run by imprint and by JAX.

`python -m tests.spec.placements imprint` prints, for each program of `CASES`, the device
of each array of its result and whether it is committed there; or that it was refused.
The programs know: `a` committed to the second device, `b` to the first, `u` made without
a device, `v` made while the second was the default one; `second` makes it the default.
"""

import copy
import importlib
import json
import os
import pickle
import sys

import numpy as np

CASES = {
    # ---- put and make ----
    "put on a device": "put(np.ones(3), d1)",
    "put on no device": "put(np.ones(3))",
    "put a committed array on no device": "put(a)",
    "put an array on its own device": "put(u, d0)",
    "put by a sharding": "put(1.0, Single(d1))",
    "put a tree": "put((1.0, {'x': u}), d1)",
    "put what is on another device": "put(b, d1)",
    "to_device": "u.to_device(d1)",
    "zeros": "xp.zeros(2, device=d1)",
    "ones": "xp.ones(2, device=Single(d1))",
    "empty": "xp.empty(2, device=d1)",
    "full": "xp.full(2, 7, device=d1)",
    "zeros_like": "xp.zeros_like(u, device=d1)",
    "ones_like a committed array": "xp.ones_like(a)",
    "empty_like": "xp.empty_like(u, device=d1)",
    "full_like a committed array": "xp.full_like(a, 2.0)",
    "array": "xp.array([1, 2], device=d1)",
    "array of an array": "[xp.array(a), xp.array(u)]",
    "asarray": "xp.asarray(u, device=d1)",
    "asarray of a committed array": "xp.asarray(a)",
    "astype": "xp.astype(u, 'int32', device=d1)",
    "arange": "xp.arange(3, device=d1)",
    "linspace": "xp.linspace(0, 1, 3, device=d1)",
    "eye": "xp.eye(2, device=d1)",
    # ---- eager operations ----
    "with an uncommitted array": "a + u",
    "with a number": "[a + 1, 1 + a]",
    "with a NumPy array": "a + np.ones(3, 'f')",
    "two devices": "a + b",
    "uncommitted ones of two devices": "[u + v, v + 1]",
    "a committed and one of another device": "v + b",
    "promoted": "a * xp.arange(3)",
    "indexed": "[a[0], *a]",
    "converted": "a.astype('int32')",
    "chosen": "xp.where(a > 0, u, 1)",
    "stacked": "[xp.stack([a, u]), xp.array([a, u])]",
    "mapped": "lib.vmap(lambda x: x * 2)(a)",
    "differentiated": "lib.value_and_grad(lambda x: (x * x).sum())(a)",
    "key": "lib.random.split(put(lib.random.PRNGKey(0), d1))",
    "keys of seeds": "[lib.random.PRNGKey(put(0, d1)), lib.random.PRNGKey(xp.int32(1))]",
    "folded": "lib.random.fold_in(lib.random.PRNGKey(0), put(1, d1))",
    "normal": "lib.random.normal(put(lib.random.key(0), d1), (2,))",
    "copies": "[copy.copy(a), copy.deepcopy(a), a.copy()]",
    "pickled": "pickle.loads(pickle.dumps(a))",
    # ---- jit ----
    "jit of committed and not": "[add(a, u), add(u, a), add(a, np.ones(3, 'f'))]",
    "jit of two devices": "add(a, b)",
    "jit of uncommitted": "[add(u, u), add(v, v), add(u, v)]",
    "jit of nothing": "lib.jit(lambda: xp.ones(2))()",
    "jit of a captured array": "[lib.jit(lambda x: x + a)(x) for x in (u, b)]",
    "jit without use of an argument": "[first(b, a), first(u, a)]",
    "jit of a tree": "lib.jit(lambda t: {'s': t['x'] + 1, 'c': 1.0})({'x': a})",
    "jit under grad": "lib.grad(lambda x: lib.jit(lambda y: (y * y).sum())(x))(a)",
    "jit under grad, of several devices": "(lambda m: [lib.grad(m)(x) for x in (b, a, b)])"
    "(lib.jit(lambda x: (x * x).sum()))",
    "jit under jvp, of a captured array": "lib.jvp(lib.jit(lambda x: x * a), (b,), (b,))",
    "jit under vmap, of a captured array": "lib.vmap(lib.jit(lambda x: x * a.sum()))(b)",
    "jit in jit": "lib.jit(lambda x: add(x, 1.0))(a)",
    "jit with a device": "[on_second(x) for x in (u, a, b, np.ones(3))]",
    "jit with a backend": "[lib.jit(lambda x: x, backend='cpu')(x) for x in (u, a)]",
    "jit with a device of nothing": "lib.jit(lambda: 1.0, device=d1)()",
    "jit with in_shardings": "[lib.jit(inc, in_shardings=Single(d1))(x) for x in (u, a, b)]",
    "in_shardings of two devices": "lib.jit(add, in_shardings=(Single(d0), Single(d1)))(u, u)",
    "jit with out_shardings": "lib.jit(inc, out_shardings=Single(d1))(u)",
    "out_shardings elsewhere": "lib.jit(inc, out_shardings=Single(d1))(b)",
    "put in a trace": "lib.jit(lambda x: put(x, d1))(u)",
    "made in a trace": "lib.jit(lambda x: x + xp.zeros(3, device=d1))(u)",
    "donated": "donating(put(np.ones(3), d1))",
    # ---- stages ----
    "compiled for a device": "add.lower(a, u).compile()(a, u)",
    "compiled, called with uncommitted": "add.lower(a, u).compile()(u, np.ones(3, 'f'))",
    "compiled, called with another device": "add.lower(a, u).compile()(b, u)",
    "compiled uncommitted, called committed": "add.lower(u, u).compile()(a, u)",
    "compiled for a struct": "inc.lower(lib.ShapeDtypeStruct((3,), 'f4', sharding=Single(d1)))"
    ".compile()(u)",
    # ---- the default device ----
    "default: made": "second(lambda: [xp.zeros(2), xp.asarray([1.0]), put(np.ones(2))])",
    "default: eager": "second(lambda: [u + 1, u[0], u.reshape(3, 1), v + u])",
    "default: committed elsewhere": "second(lambda: [b + 1, add(b, u), xp.zeros_like(b)])",
    "default: put and asarray leave": "second(lambda: [put(u), xp.asarray(u)])",
    "default: jit": "second(lambda: [add(u, u), add(v, u), add(np.ones(3), 1)])",
    "default: jit gives its argument": "second(lambda: lib.jit(lambda x: x)(u))",
    "default: copies": "second(lambda: [u.copy(), copy.deepcopy(u), xp.array(u)])",
    "default: a backend": "second(lambda: lib.jit(inc, backend='cpu')(u))",
    "default: a key": "second(lambda: lib.random.PRNGKey(0))",
    "default: pickled": "second(lambda: pickle.loads(pickle.dumps(u)))",
    "default by the name of a platform": "under('cpu', lambda: xp.zeros(2))",
    "default that is not here": "under('tpu', lambda: xp.zeros(2))",
    "default that is no platform": "under('tpo', lambda: 1)",
}


def known(lib):
    """Return the namespace of the programs."""
    xp, d0, d1 = lib.numpy, *lib.devices()
    under_device = lib.default_device

    def under(device, program):
        with under_device(device):
            return program()

    return {
        "lib": lib,
        "xp": xp,
        "np": np,
        "copy": copy,
        "pickle": pickle,
        "d0": d0,
        "d1": d1,
        "put": lib.device_put,
        "under": under,
        "Single": lib.sharding.SingleDeviceSharding,
        "second": lambda program: under(d1, program),
        "a": lib.device_put(np.arange(3, dtype="f"), d1),
        "b": lib.device_put(np.arange(3, dtype="f"), d0),
        "u": xp.arange(3.0),
        "v": under(d1, lambda: xp.arange(3.0)),
        "add": lib.jit(lambda x, y: x + y),
        "inc": lib.jit(lambda x: x + 1),
        "first": lib.jit(lambda x, y: x),
        "on_second": lib.jit(lambda x: x + 1, device=d1),
        "donating": lib.jit(lambda x: x + 1, donate_argnums=0),
    }


def outcome(lib, program, names):
    try:
        result = eval(program, names)
    except (ValueError, RuntimeError):
        return "refused"
    leaves = lib.tree.leaves(result)
    return [
        (x.device.id, x.committed, np.asarray(x).tolist())
        for x in leaves
        if isinstance(x, lib.Array)
    ]


def main(library):
    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
    lib = importlib.import_module(library)
    names = known(lib)
    print(json.dumps({case: outcome(lib, p, names) for case, p in CASES.items()}))


if __name__ == "__main__":
    main(sys.argv[1])
