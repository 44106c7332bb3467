"""Values that a user rule captures are operands of the derived equation.

The jaxprs of control primitives have no constants. A derived jaxpr has one where a rule
reads an array; the code that binds it passes the array as an operand.
"""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import custom_batching, lax, tree
from tests.tolerances import assert_close

X = np.linspace(0.2, 0.7, 3, dtype="float32")
TABLE = np.arange(1, 4, dtype="float32")


@imprint.custom_jvp
def known_forwards(x):
    return inp.sin(x)


@known_forwards.defjvp
def _(primals, tangents):
    return known_forwards(primals[0]), tangents[0] * inp.asarray(TABLE) * primals[0]


@imprint.custom_vjp
def known_backwards(x):
    return inp.sin(x)


known_backwards.defvjp(
    lambda x: (inp.sin(x), x * inp.asarray(TABLE)),
    lambda x, ct: (ct * inp.asarray(TABLE) * x,),
)


@custom_batching.custom_vmap
def known_batched(x):
    return inp.sin(x) * 2


@known_batched.def_vmap
def _(size, batched, x):
    return inp.sin(x) * inp.asarray(TABLE), True


def _with_a_rule_for_batches(f):
    called = custom_batching.custom_vmap(f)
    called.def_vmap(lambda size, batched, x: (imprint.vmap(f)(x), True))
    return called


AROUND = {
    "a call": imprint.jit,
    "a branch": lambda f: lambda x: lax.cond(x.sum() > -9, f, inp.cos, x),
    "both branches": lambda f: (
        lambda x: lax.cond(x.sum() < -9, lambda x: f(x) * 2, f, x)
    ),
    "one of several": lambda f: (
        lambda x: lax.switch((x > -9).any().astype(int), [inp.cos, f, inp.exp], x)
    ),
    "a branch of each": lambda f: (
        lambda x: inp.concatenate(
            [
                imprint.vmap(lambda on: lax.cond(on, f, inp.cos, x))(
                    inp.asarray([True])
                )[0]
            ]
        )
    ),
    "a step": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 1)[0],
    "a step until": lambda f: (
        lambda x: lax.while_loop(
            lambda c: c[0] < 1, lambda c: (c[0] + 1, f(c[1])), (0, x)
        )[1]
    ),
    "a checkpoint": imprint.checkpoint,
    "a checkpoint with a policy": lambda f: imprint.checkpoint(
        imprint.jit(f), policy=imprint.checkpoint_policies.everything_saveable
    ),
    "a checkpoint by operand": lambda f: (
        lambda x: imprint.checkpoint(
            lambda x, y: f(x) + 0 * y, prevent_cse=(True, False)
        )(x, x)
    ),
    "a batch rule": _with_a_rule_for_batches,
    "a solution": lambda f: (
        lambda x: lax.custom_linear_solve(
            lambda y: y, x, lambda _, b: f(b), lambda _, b: b
        )
    ),
}
WAYS = {
    "jvp": lambda f: lambda x: imprint.jvp(f, (x,), (x + 1,)),
    "grad": lambda f: imprint.grad(lambda x: (f(x) ** 2).sum()),
    "jvp of grad": lambda f: (
        lambda x: imprint.jvp(imprint.grad(lambda x: (f(x) ** 2).sum()), (x,), (x + 1,))
    ),
    "mapped": lambda f: lambda x: imprint.vmap(f)(inp.stack([x, x * 2])),
    "grad of mapped": lambda f: imprint.grad(
        lambda x: (imprint.vmap(f)(inp.stack([x, x * 2])) ** 2).sum()
    ),
}
FUNCTIONS = {
    "known forwards": (known_forwards, {*WAYS}),
    "known backwards": (known_backwards, {"grad", "mapped", "grad of mapped"}),
    "known batched": (known_batched, {"mapped", "grad of mapped"}),
}
CASES = [
    pytest.param(around, name, way, id=f"{around}-{name}-{way}")
    for around in AROUND
    for name, (_, ways) in FUNCTIONS.items()
    for way in WAYS
    if way in ways
    if not (around == "a step until" and "grad" in way)
    if not (around == "a solution" and way != "mapped")
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("compiled", [True, False], ids=["jitted", "eager"])
@pytest.mark.parametrize(("around", "name", "way"), CASES)
def test_the_value_is_the_same_without_the_equation(around, name, way, compiled):
    function, _ = FUNCTIONS[name]
    want = WAYS[way](function)(X)
    run = WAYS[way](AROUND[around](function))
    got = imprint.jit(run)(X) if compiled else run(X)
    for one, other in zip(tree.leaves(got), tree.leaves(want), strict=True):
        assert_close(np.asarray(one), np.asarray(other), "gradient")


def test_debug_nans_watches_a_branch_that_captured_an_array():
    f = lambda x: lax.cond(x.sum() > 0, known_forwards, inp.log, x)
    run = imprint.jit(lambda x: imprint.jvp(f, (x,), (x,)))
    with imprint.debug_nans(True):
        run(X)
        with pytest.raises(FloatingPointError, match="`log` at"):
            run(-X)
