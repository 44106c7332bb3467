"""The laws bite: a primitive with one broken rule turns the law of that rule red.

Each function is a possible mistake in a rule; `mistake` names the primitive, the rule and
the law that must notice it. The law sees a new `Primitive` with that rule; other rules
still call the good one.
"""

import dataclasses

import numpy as np
import pytest

from imprint._src.core.primitive import Primitive
from imprint._src.primitives import ALL
from imprint._src.primitives.core_ops import instantiate, mul, neg, transpose
from imprint.errors import DTypeError, ShapeError
from tests.laws import (
    test_aval,
    test_batch,
    test_jax,
    test_jit,
    test_jvp,
    test_lower,
    test_transpose,
)

pytestmark = pytest.mark.slow

GOOD = {primitive.name: primitive for primitive in ALL}
RULES = (
    "aval",
    "reference",
    "lower",
    "fusion",
    "makes_nan",
    "jvp",
    "transpose",
    "batch",
    "pad",
    "samples",
)
MISTAKES = []


def mistake(name, rule, *laws):
    def add(wrong):
        primitive = broken(name, **{rule: wrong})
        MISTAKES.extend(
            pytest.param(law, primitive, id=f"{wrong.__name__}-{law.__module__}")
            for law in laws
        )
        return wrong

    return add


def broken(name, **rules):
    kept = {rule: getattr(GOOD[name], rule) for rule in RULES}
    return Primitive(name=name, **(kept | rules))


# ---- laws 1 to 3, and 7 ----


@mistake("reduce_sum", "aval", test_aval.law)
def reduced_axes_are_kept(x, *, axes):
    return (x,)


@mistake("neg", "aval", test_jax.law_of_weak_types)
def the_weak_type_is_dropped(x):
    return (x.strong(),)


@mistake("neg", "reference", test_aval.law)
def an_operand_is_written_to(x):
    x[...] = -x
    return (x,)


@mistake("neg", "reference", test_jax.law, test_lower.law)
def the_sign_of_zero_is_lost(x):
    return (0 - x,)


@mistake("max", "reference", test_jax.law, test_lower.law)
def nan_is_passed_over(x, y):
    return (np.fmax(x, y),)


@mistake("div", "reference", test_jax.law, test_lower.law)
def integers_are_divided_as_in_python(x, y):
    return ((x // y) if x.dtype.kind in "iu" else x / y,)


@mistake("sub", "lower", test_lower.law, test_jit.law)
def operands_are_exchanged(b, x, y):
    return GOOD["sub"].lower(b, y, x)


def test_a_dtype_that_is_not_listed_turns_the_law_red():
    one = dataclasses.replace(GOOD["sin"].samples, dtypes=("float32",))
    with pytest.raises(AssertionError):
        test_jax.law_of_dtypes(broken("sin", samples=one))


# ---- law 4 ----


@mistake("reduce_sum", "batch", test_batch.law)
def the_hidden_axis_is_not_shifted(xs, dims, *, axes):
    outs, _ = GOOD["reduce_sum"].batch(xs, dims, axes=axes)
    return outs, dims


@mistake("sub", "batch", test_batch.law)
def only_the_first_operand_is_batched(xs, dims):
    return GOOD["sub"].bind_all(*xs), dims[:1]


@mistake("transpose", "batch", test_batch.law)
def the_permutation_forgets_the_hidden_axis(xs, dims, *, permutation):
    moved = tuple(p + 1 for p in permutation)
    return (transpose(xs[0], (0, *moved)),), (0,)


# ---- laws 5 and 6 ----


@mistake("cos", "jvp", test_jvp.law)
def the_sign_of_the_derivative(xs, ts):
    return GOOD["cos"].bind_all(*xs), (mul(ts[0], GOOD["sin"].bind1(*xs)),)


@mistake("mul", "jvp", test_jvp.law)
def the_second_tangent_is_forgotten(xs, ts):
    return GOOD["mul"].bind_all(*xs), (mul(instantiate(ts[0]), xs[1]),)


@mistake("neg", "jvp", test_jvp.law_of_avals)
def a_constant_has_a_dtype_of_its_own(xs, ts):
    return (neg(xs[0]),), (mul(ts[0], np.float32(-1)),)


@mistake("max", "jvp", test_jax.law_of_derivatives)
def a_tie_goes_to_the_first(xs, ts):
    first = np.greater_equal(*map(np.asarray, xs))
    return GOOD["max"].bind_all(*xs), (np.where(first, *map(instantiate, ts)),)


@mistake("transpose", "jvp", test_transpose.law)
def a_permutation_is_not_inverted(xs, ts, *, permutation):
    def same(cts, _, *, permutation):
        return (transpose(cts[0], permutation),)

    out = GOOD["transpose"].bind_all(*xs, permutation=permutation)
    wrong = broken("transpose", transpose=same)
    return out, wrong.bind_all(*ts, permutation=permutation)


@mistake("add", "jvp", test_transpose.law)
def a_cotangent_is_not_summed(xs, ts):
    wrong = broken("add", transpose=lambda cts, _: (cts[0], cts[0]))
    return GOOD["add"].bind_all(*xs), wrong.bind_all(*map(instantiate, ts))


@pytest.mark.parametrize(("law", "primitive"), MISTAKES)
def test_a_broken_rule_turns_its_law_red(law, primitive):
    with pytest.raises((AssertionError, ValueError, DTypeError, ShapeError)):
        law(primitive)
