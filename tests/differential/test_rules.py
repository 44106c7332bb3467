"""Drawn compositions of derivative rules, transforms and closures, compared with JAX.

A program is a function of one number. Its rules capture values around them, also those
that are mapped or differentiated, and take them as `nondiff_argnums`. A result must be
JAX's; where JAX refuses, imprint may too, and never by an `InternalError`. The first
programs are in the fast lane; `DRAWN_CASES=5000` in the environment draws more.

JAX passes a differentiated value that a rule captures along, often with the derivative
zero, and refuses any computation with it: there is nothing to compare with.
"""

import os
import random
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import InternalError
from tests.lanes import exhaustive

pytestmark = pytest.mark.filterwarnings("ignore")

PER_SEED = 25
SEEDS = range(-(-int(os.environ.get("DRAWN_CASES", "250")) // PER_SEED))

FORMS = [
    "np.sin({a}) * {b}",
    "{a} * {b} + 0.5",
    "np.tanh({a})",
    "rule_jvp(lambda x: {f:x}, lambda x, t: t * ({f:x}))({a})",
    "rule_jvp(lambda x: {f:x}, lambda x, t: t * ({f:x}))({a})",
    "rule_vjp(lambda x: {f:x}, lambda x: {f:x}, lambda x, ct: ct * ({g:x}))({a})",
    "nondiff_jvp(lambda n, x: np.sin(n) * x, lambda n, x, t: t * np.cos(n))({b}, {a})",
    "nondiff_vjp(lambda n, x: np.sin(n) * x, lambda n, x, ct: ct * np.cos(n))({b}, {a})",
    "lib.vmap(lambda x: {f:x})(np.arange(3.0) * 0.3 + {a}).sum()",
    "lib.vmap(lambda x, y: {f:x} * y, (0, None))(np.arange(2.0) - 0.4, {a}).sum()",
    "lib.vmap(lambda x: {f:x})(np.arange(2.0) + 0.2).sum()",
    "lib.jvp(lambda x: {f:x}, ({a},), ({b},))[1]",
    "lib.grad(lambda x: {f:x})({a})",
    "lib.vjp(lambda x: {f:x}, {a})[1](np.float32(0.7))[0]",
    "lib.linearize(lambda x: {f:x}, {a})[1](np.float32(0.7))",
]
AROUND = ["{}", "{}", "lib.grad({})", "lambda z: lib.jvp({}, (z,), (z,))[1]"]
AROUND += ["lambda z: lib.vmap({})(np.stack([z, z * 0.5]))", "lib.grad(lib.grad({}))"]
JITTED = "lib.jit({})"
HEADER = """
def rule_jvp(f, of_tangent):
    g = lib.custom_jvp(f)
    g.defjvp(lambda p, t: (f(*p), of_tangent(*p, *t)))
    return g
def rule_vjp(f, fwd, of_cotangent):
    g = lib.custom_vjp(f)
    g.defvjp(lambda x: (f(x), fwd(x)), lambda x, ct: (of_cotangent(x, ct),))
    return g
def nondiff_jvp(f, of_tangent):
    g = lib.custom_jvp(f, nondiff_argnums=(0,))
    g.defjvp(lambda n, p, t: (f(n, *p), of_tangent(n, *p, *t)))
    return g
def nondiff_vjp(f, of_cotangent):
    g = lib.custom_vjp(f, nondiff_argnums=(0,))
    g.defvjp(lambda n, x: (f(n, x), x), lambda n, x, ct: (of_cotangent(n, x, ct),))
    return g
"""


class _Writer:
    """Draws the text of a program; `names` are the values in scope."""

    def __init__(self, seed):
        self._random = random.Random(f"rules {seed}")
        self._count = 0

    def program(self):
        text = f"(lambda z: {self._body(['z'], 3)})"
        for _ in range(self._random.choice([1, 1, 2])):
            text = f"({self._random.choice(AROUND).format(text)})"
        return text if self._random.random() < 0.9 else JITTED.format(text)

    def _body(self, names, depth):
        if not depth or self._random.random() < 0.15:
            return self._random.choice(names)
        return _Filled(self, names, depth).text(self._random.choice(FORMS))

    def value(self, names, depth):
        if self._random.random() < 0.8:
            return self._random.choice(names)
        return f"({self._body(names, depth - 2) if depth > 2 else names[-1]})"

    def function(self, names, depth, parameter, captures):
        seen = [*names, parameter, parameter] if captures else [parameter]
        return f"({self._body(seen, depth - 1)})"

    def fresh(self):
        self._count += 1
        return f"v{self._count}"


class _Filled:
    """Fills the fields of one form: values, and functions of a fresh parameter."""

    def __init__(self, writer, names, depth):
        self._writer, self._names, self._depth = writer, names, depth

    def text(self, form):
        fresh = self._writer.fresh()
        for held in ("x", "y"):
            form = form.replace(f"lambda {held}", f"lambda {fresh}{held}")
            form = form.replace(f":{held}}}", f":{fresh}{held}}}")
        form = form.replace(f"lambda {fresh}x, y: ", f"lambda {fresh}x, {fresh}y: ")
        form = form.replace(" * y,", f" * {fresh}y,")
        while "{" in form:
            before, _, rest = form.partition("{")
            field, _, after = rest.partition("}")
            kind, _, parameter = field.partition(":")
            if parameter:
                captures = kind == "f"
                filled = self._writer.function(
                    self._names, self._depth, parameter, captures
                )
            else:
                filled = self._writer.value(self._names, self._depth)
            form = before + filled + after
        return form


@pytest.mark.parametrize("seed", [*SEEDS[:1], *exhaustive(*SEEDS[1:])])
def test_rules_agree_with_jax(seed):
    numbers = range(seed * PER_SEED, (seed + 1) * PER_SEED)
    found = [f for n in numbers if (f := fault(_Writer(n).program()))]
    assert not found, f"{len(found)} differ\n\n" + "\n\n".join(found)


def fault(text):
    """Return what is wrong with imprint's result of a program, if anything."""
    expected, got = _result(jax, jnp, text), _result(imprint, inp, text)
    if isinstance(got, InternalError):
        return f"{text}\n{got!r}"
    if isinstance(expected, Exception) or _agree(got, expected):
        return None
    if isinstance(_result(jax, jnp, _computed(text)), jax.errors.UnexpectedTracerError):
        return None
    return f"{text}\n{expected}\n{got!r}"


def _agree(got, expected):
    if isinstance(got, Exception) or got.shape != expected.shape:
        return False
    return np.allclose(got, expected, 1e-3, 1e-4, True)


def _computed(text):
    """Return a program in which no value is passed along without a computation."""
    parameters_or_name = r"lambda [^:]*:|\b(?:z|v\d+[xy])\b"

    def replace(found):
        return found[0] if found[0].endswith(":") else f"({found[0]} * np.float32(1))"

    return re.sub(parameters_or_name, replace, text)


def _result(lib, numpy, text):
    scope = {"lib": lib, "np": numpy}
    exec(HEADER, scope)
    try:
        return np.asarray(eval(text, scope)(numpy.float32(0.6)))
    except Exception as err:
        return err
