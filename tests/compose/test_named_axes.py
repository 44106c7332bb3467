"""Collectives inside loops, branches and user rules, compared with JAX.

Also where no operand depends on the place along the axis, so that the name alone says that
they have to be batched.
"""

import pytest

import imprint
import imprint.numpy as inp
from tests import oracle
from tests.oracle import jax
from tests.tolerances import assert_close


def along(api, f, x):
    return api.vmap(f, axis_name="i")(x)


def with_tangents(api):
    @api.custom_jvp
    def f(x):
        return x * api.lax.psum(x, "i")

    @f.defjvp
    def rule(primals, tangents):
        ((x,), (t,)) = primals, tangents
        return f(x), t * api.lax.axis_size("i") + api.lax.psum(t * x, "i")

    return f


def with_cotangents(api):
    @api.custom_vjp
    def f(x):
        return x * 2.0

    def backward(x, ct):
        return (api.lax.psum(ct * x, "i") * api.lax.axis_size("i"),)

    f.defvjp(lambda x: (x * 2.0, x), backward)
    return f


def whole(api, x, f, init, cond):
    return api.lax.while_loop(lambda c: cond(c, x), lambda c: f(c, x), init)


IN_REVERSE = {
    "scan": lambda api, x: api.lax.scan(
        lambda c, _: (c + api.lax.pmean(c, "i"), api.lax.psum(c, "i")),
        x,
        None,
        length=3,
    ),
    "scan of what is the same": lambda api, x: (
        api.lax.scan(lambda c, _: (api.lax.psum(c, "i"), c), 1.0, None, length=3)[0] + x
    ),
    "scan of a place": lambda api, x: (
        api.lax.scan(lambda c, _: (c + api.lax.axis_index("i"), c), 0, None, length=3)[
            0
        ]
        + x
    ),
    "scan of nothing": lambda api, x: (
        api.lax.scan(lambda c, _: (c, api.lax.axis_index("i")), (), None, length=3)[1]
        + x
    ),
    "scan over what is the same": lambda api, x: (
        api.lax.scan(
            lambda c, a: (c + api.lax.psum(a, "i"), c), 0.0, api.numpy.arange(3.0)
        )[0]
        + x
    ),
    "fori_loop": lambda api, x: api.lax.fori_loop(
        0, 3, lambda _, c: c + api.lax.psum(c, "i"), x
    ),
    "map": lambda api, x: api.lax.map(
        lambda y: api.lax.psum(y * x, "i"), api.numpy.arange(2.0)
    ),
    "cond": lambda api, x: api.lax.cond(
        api.lax.psum(x, "i") > 3, lambda: api.lax.psum(x, "i"), lambda: x
    ),
    "cond for each place": lambda api, x: api.lax.cond(
        x > 1.5, lambda: x * 2, lambda: x + api.lax.axis_index("i")
    ),
    "cond of nothing": lambda api, x: (
        api.jit(lambda p: api.lax.cond(p, lambda: api.lax.axis_index("i"), lambda: 7))(
            True
        )
        + x
    ),
    "switch": lambda api, x: api.lax.switch(
        api.lax.axis_index("i"),
        [lambda: api.lax.psum(1.0, "i"), lambda: api.lax.psum(x, "i"), lambda: x],
    ),
    "checkpoint": lambda api, x: api.checkpoint(
        lambda y: api.numpy.sin(api.lax.psum(y, "i"))
    )(x),
    "checkpoint of a place": lambda api, x: (
        api.checkpoint(lambda: api.lax.axis_index("i"))() + x
    ),
    "custom_jvp": lambda api, x: with_tangents(api)(x),
    "grad of custom_jvp": lambda api, x: api.grad(with_tangents(api))(x),
    "grad of custom_vjp": lambda api, x: api.grad(with_cotangents(api))(x) + x,
    "grad of scan": lambda api, x: api.grad(IN_REVERSE["fori_loop"], 1)(api, x),
}
FORWARDS = {
    "while_loop": lambda api, x: whole(
        api,
        x,
        lambda c, x: (c[0] + 1, c[1] + api.lax.psum(c[1], "i")),
        (0, x),
        lambda c, x: c[0] < api.lax.axis_size("i"),
    )[1],
    "while_loop until a sum": lambda api, x: whole(
        api, x, lambda c, x: c * 2, x, lambda c, x: api.lax.psum(c, "i") < 50.0
    ),
    "while_loop of a place": lambda api, x: (
        whole(
            api,
            x,
            lambda c, x: c + 1,
            0.0,
            lambda c, x: c < api.lax.axis_index("i") * 5.0,
        )
        + x
    ),
}
PROGRAMS = {**IN_REVERSE, **FORWARDS}


def leaves(api, tree):
    return api.tree.leaves(tree)


def agree(program):
    """Assert that a program is the same by imprint and by JAX, which compiles it whole."""
    ours = leaves(imprint, program(imprint))
    theirs = leaves(jax, oracle.jit(lambda: program(jax))())
    for x, y in zip(ours, theirs, strict=True):
        assert_close(x, y, "gradient")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_in_a_program_along_an_axis(name):
    f = PROGRAMS[name]
    for size in (3, 4):
        agree(
            lambda api, size=size: along(
                api, lambda x: f(api, x), api.numpy.arange(size) + 1.0
            )
        )
        agree(
            lambda api, size=size: along(
                api, api.jit(lambda x: f(api, x)), api.numpy.arange(size) + 1.0
            )
        )


@pytest.mark.parametrize("name", IN_REVERSE)
def test_in_the_gradient_of_a_mapped_function(name):
    f = IN_REVERSE[name]

    def total(api, x):
        return sum(
            leaf.sum()
            for leaf in leaves(api, along(api, api.jit(lambda y: f(api, y)), x))
        )

    agree(lambda api: api.grad(lambda x: total(api, x))(api.numpy.arange(3.0) + 1))


def test_a_rule_that_is_kept_belongs_to_the_axis_it_is_used_in():
    """JAX knows no axis where the gradient is taken around `vmap`."""
    f = with_cotangents(imprint)
    for g in (f, imprint.jit(f)):
        for size in (3, 4, 3):
            x = inp.arange(size) + 1.0
            want = [float(size * x.sum())] * size
            assert along(imprint, imprint.grad(g), x).tolist() == want
            around = imprint.grad(lambda x, g=g: along(imprint, g, x).sum())(x)
            assert around.tolist() == want


def test_a_rule_under_an_unnamed_axis():
    def inner(api, x):
        f = with_cotangents(api)
        h = api.jit(lambda y: f(y * x) * x)
        return api.vmap(h)(api.numpy.ones(2)).sum()

    agree(lambda api: along(api, api.grad(lambda x: inner(api, x)), api.numpy.ones(3)))
