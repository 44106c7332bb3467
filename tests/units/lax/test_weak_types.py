"""Weak types of loops, branches and their derivatives are JAX's."""

import jax
import numpy as np
import pytest

import imprint

X = np.linspace(0.2, 1.3, 3, dtype="float32")
ONE = np.float32(1)


def run(lib, step, init, xs=None, length=None):
    return lib.lax.scan(step, init, xs, length)


def chosen(lib, c, v):
    return lib.lax.cond(c > 1.0, lambda c: c * v, lambda c: c + v, c)


def solution(lib, b):
    solve = lambda matvec, b: b / matvec(1.0)
    return lambda a: lib.lax.custom_linear_solve(lambda y: y * a, b, solve, solve)


def root(lib):
    find = lambda f, y: y - f(y)
    return lambda a: lib.lax.custom_root(
        lambda y: y - a, 3.0, find, lambda g, y: y / g(1.0)
    )


PROGRAMS = {
    "a counter": lambda lib, x: run(lib, lambda c, v: (c + 1, v * c), 0, x),
    "a counter without slices": lambda lib, x: run(
        lib, lambda c, _: (c + 1, c), 0, None, 3
    ),
    "a counter beside a float": lambda lib, x: run(
        lib, lambda c, v: ((c[0] + 1, c[1] * c[0]), c), (0, 1.0), None, 3
    ),
    "numbers of a known loop": lambda lib, x: (
        lib.lax.fori_loop(0, 3, lambda i, c: c * 2, 1),
        lib.lax.fori_loop(0, 3, lambda i, c: c * i, 1.0),
        lib.lax.fori_loop(0, 3, lambda i, c: i, 1),
    ),
    "mapped numbers": lambda lib, x: (
        lib.lax.map(lambda v: 2.0, x),
        lib.vmap(lambda v: run(lib, lambda c, _: (c * 2.0, 1.0), 1.0, None, 2))(x),
        lib.vmap(lambda v: run(lib, lambda c, _: (c * v, 1.0), 1.0, None, 2))(x),
        lib.vmap(lambda v: lib.lax.cond(v > 0, lambda: 1.0, lambda: 2.0))(x),
        lib.vmap(lambda v: lib.lax.cond(v > 0, lambda: v, lambda: 2.0))(x),
    ),
    "grad of a carry that becomes strong": lambda lib, x: lib.grad(
        lambda a: run(lib, lambda c, v: (c * v, None), a, x)[0]
    )(1.0),
    "grad of a carry that stays weak": lambda lib, x: lib.grad(
        lambda a: run(lib, lambda c, _: (c * 2.0, None), a, None, 3)[0]
    )(1.0),
    "grad of a cond in a scan": lambda lib, x: lib.grad(
        lambda a: run(lib, lambda c, v: (chosen(lib, c, v), c), a, x)[0]
    )(1.0),
    "grad of a cond in a scan, captured": lambda lib, x: lib.grad(
        lambda a: run(
            lib,
            lambda c, v: (lib.lax.cond(v > 0, lambda: c * 2, lambda: 0.0), None),
            a,
            x,
        )[0]
    )(1.0),
    "grad of a jitted step": lambda lib, x: lib.grad(
        lambda a: run(lib, lambda c, v: (lib.jit(lambda c: c * v)(c), None), a, x)[0]
    )(1.0),
    "grad of a scan in a scan": lambda lib, x: lib.grad(
        lambda a: run(
            lib,
            lambda c, v: (run(lib, lambda d, _: (d * v, None), c, None, 2)[0], None),
            *(a, x),
        )[0]
    )(1.0),
    "grad beside a counter": lambda lib, x: lib.grad(
        lambda a: run(lib, lambda c, v: ((c[0] + 1, c[1] * v * c[0]), c), (0, a), x)[0][
            1
        ]
    )(1.0),
    "grad of what is captured": lambda lib, x: lib.grad(
        lambda a: run(lib, lambda c, v: (c + v * a, None), 1.0, x)[0]
    )(1.0),
    "grad of a known loop": lambda lib, x: lib.grad(
        lambda a: lib.lax.fori_loop(0, 3, lambda i, c: c * 2 + a * i, 1.0)
    )(1.0),
    "grad of a checkpoint around": lambda lib, x: lib.grad(
        lib.checkpoint(lambda a: run(lib, lambda c, v: (c * v, None), a, x)[0])
    )(1.0),
    "vjp of a carry and slices": lambda lib, x: lib.vjp(
        lambda a: run(lib, lambda c, v: (c * v, c * 2.0), a, x), 1.0
    )[1]((ONE, x)),
    "vjp at a weak cotangent": lambda lib, x: lib.vjp(
        lambda a: run(lib, lambda c, _: (c * 2.0, c * 2.0), a, None, 3), 1.0
    )[1]((1.0, x)),
    "jacobians": lambda lib, x: [
        transform(lambda a: run(lib, lambda c, v: (c * v * a, c), a, x)[1])(1.0)
        for transform in (lib.jacrev, lib.jacfwd, lib.hessian)
    ],
    "jvp beside a counter": lambda lib, x: lib.jvp(
        lambda a: run(lib, lambda c, v: ((c[0] + 1, c[1] * v * c[0]), c[1]), (0, a), x),
        *((1.0,), (1.0,)),
    ),
    "jvp of a while": lambda lib, x: lib.jvp(
        lambda a: lib.lax.while_loop(lambda c: c < 9, lambda c: c * 2.0, a),
        (1.0,),
        (1.0,),
    ),
    "grad of a cond": lambda lib, x: (
        lib.grad(lambda a: lib.lax.cond(x[0] > 0, lambda: a * 2.0, lambda: a))(1.0),
        lib.grad(
            lambda a: lib.lax.cond(x[0] > 0, lambda a: a * x[0], lambda a: 0.0, a)
        )(1.0),
    ),
    "transpose of a carry": lambda lib, x: lib.linear_transpose(
        lambda a: run(lib, lambda c, _: (c * 2.0, c), a, None, 3), 1.0
    )((1.0, x)),
    "transpose of a carry that becomes strong": lambda lib, x: lib.linear_transpose(
        lambda a: run(lib, lambda c, v: (c * v, c), a, x), 1.0
    )((ONE, x)),
    "transpose of slices": lambda lib, x: lib.linear_transpose(
        lambda a: run(lib, lambda c, v: (c + v, v), 0.0, a)[0], x
    )(ONE),
    "transpose of what is captured": lambda lib, x: lib.linear_transpose(
        lambda a: run(lib, lambda c, v: (c + v * a, c), 0.0, x), 2.0
    )((1.0, x)),
    "transpose of integers": lambda lib, x: lib.linear_transpose(
        lambda a: run(lib, lambda c, _: (c * 2, c), a, None, 3), 3
    )((1, np.ones(3, "int32"))),
    "derivatives of a solution": lambda lib, x: [
        transform(solution(lib, b))(2.0)
        for b in (3.0, x[0])
        for transform in (lib.grad, lib.jacfwd)
    ],
    "derivatives of a root": lambda lib, x: [
        transform(root(lib))(a)
        for a in (2.0, x[0])
        for transform in (lib.grad, lib.jacfwd)
    ],
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("compiled", [True, False], ids=["jitted", "eager"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_weak_types_are_those_of_jax(program, compiled):
    def found(lib):
        function = lambda x: PROGRAMS[program](lib, x)
        outs = (lib.jit(function) if compiled else function)(lib.numpy.asarray(X))
        leaves = (imprint if lib is imprint else jax).tree.leaves(outs)
        return [(str(x.dtype), x.shape, getattr(x, "weak_type", False)) for x in leaves]

    assert found(imprint) == found(jax)
