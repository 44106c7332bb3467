"""Guests of the laws of control primitives: a primitive, and equations of it.

An `Example` is a function that binds the primitive once, with a twin in JAX; the laws
take the equation out of it and draw operands. `BODIES` are functions that most guests can
wrap. `Guest.broken` is the guest with a rule replaced, for the tests that laws bite.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np

import imprint.numpy as inp
from imprint._src.core.aval import ShapedArray
from imprint._src.core.control import ControlPrimitive
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, hoist_consts, stage
from tests.strategies import Call

RULES = (
    *("name", "aval", "reference", "lower", "jvp", "linearize", "transpose", "batch"),
    *("pad", "dce", "eager", "sentinels", "granularity"),
)


@dataclass(frozen=True, eq=False)
class Example:
    """One equation of a guest.

    Args:
        name: its name in messages.
        function: takes and returns flat arrays, and binds the primitive once.
        avals: of its arguments.
        twin: the same in JAX.
        primitive: the primitive of the equation.
        domain: the interval from which floats are drawn, where it is smooth.
        integers: the interval of integers.
        has_rule: whether its derivative is a rule, not that of its jaxprs; a rule may use
            other operands, and does not see captured values.
    """

    name: str
    function: Callable
    avals: tuple[ShapedArray, ...]
    twin: Callable
    primitive: ControlPrimitive
    domain: tuple[float, float] = (0.3, 1.7)
    integers: tuple[int, int] = (0, 4)
    has_rule: bool = False

    @cached_property
    def _found(self):
        closed = stage(self.function, self.avals, DebugInfo("laws", self.name))
        (eqn,) = [e for e in closed.eqns if e.primitive.name == self.primitive.name]
        assert len(closed.eqns) == 1, f"{self.name}: expected one equation\n{closed}"
        bound = hoist_consts(closed).jaxpr.invars
        assert list(eqn.invars) == [*bound], f"{self.name}: operands in another order"
        return eqn, closed.consts

    @property
    def call(self):
        """Return the equation, as a call of the primitive."""
        eqn, _ = self._found
        avals = tuple(v.aval for v in eqn.invars)
        return Call(self.primitive, avals, eqn.params)

    @property
    def program(self):
        """Return the jaxpr of this equation alone."""
        eqn, _ = self._found
        own = Eqn(eqn.invars, eqn.outvars, self.primitive, eqn.params, eqn.source)
        return ClosedJaxpr(Jaxpr((), eqn.invars, eqn.outvars, [own], self.name))

    @property
    def jaxprs(self):
        return self.primitive.jaxprs(self.call.params)

    def operands(self, seed=0):
        """Return operands: captured values and drawn arguments."""
        _, consts = self._found
        return (*map(np.asarray, consts), *self.arguments(seed))

    def arguments(self, seed=0):
        rng = np.random.default_rng([seed, len(self.name)])
        return tuple(self._drawn(rng, aval) for aval in self.avals)

    def _drawn(self, rng, aval):
        if aval.dtype.kind == "b":
            return np.asarray(rng.integers(0, 2, aval.shape).astype(bool))
        if aval.dtype.kind in "iu":
            drawn = rng.integers(*self.integers, aval.shape)
        else:
            drawn = rng.uniform(*self.domain, aval.shape)
        return np.asarray(drawn).astype(aval.dtype)

    def __str__(self):
        return f"{self.primitive}: {self.name}"


@dataclass(frozen=True)
class Guest:
    """A control primitive, before the laws.

    Args:
        primitive: the guest.
        examples: its equations; at least one with several results.
        culprit: an equation on which a body makes NaN at operands below zero, by `log`.
        made_by: a pattern of the message of `debug_nans`: the primitive and its line, those
            of `log` where it looks inside, else those of the guest.
        is_reversible: whether it has a transpose.
    """

    primitive: ControlPrimitive
    examples: tuple[Example, ...] = field(repr=False)
    culprit: Example = field(repr=False)
    made_by: str
    is_reversible: bool = True

    def broken(self, **rules):
        kept = {rule: getattr(self.primitive, rule) for rule in RULES}
        kept["jaxprs"] = self.primitive.held
        wrong = ControlPrimitive(**(kept | rules))
        return replace(
            self,
            primitive=wrong,
            examples=tuple(replace(e, primitive=wrong) for e in self.examples),
            culprit=replace(self.culprit, primitive=wrong),
        )

    def __str__(self):
        return self.primitive.name


# ---- bodies ----


def float64(*shape):
    return ShapedArray(shape, np.dtype("float64"))


def int32(*shape):
    return ShapedArray(shape, np.dtype("int32"))


@dataclass(frozen=True)
class Body:
    """A function of arrays, written once for imprint and for JAX."""

    name: str
    function: Callable
    avals: tuple[ShapedArray, ...]

    @property
    def ours(self):
        return lambda *xs: self.function(inp, *xs)

    @property
    def theirs(self):
        return lambda *xs: self.function(jnp, *xs)


CAPTURED = np.linspace(0.5, 2.0, 3)

BODIES = (
    Body("linear", lambda np, x, w: [x @ w * 2.0], (float64(3), float64(3, 2))),
    Body(
        "nonlinear, several results",
        lambda np, x, y: [np.sin(x) * y, np.exp(y), x + y],
        (float64(2, 3), float64(3)),
    ),
    Body(
        "captured",
        lambda np, x: [x * np.asarray(CAPTURED), np.cos(x)],
        (float64(3),),
    ),
    Body(
        "integers beside floats",
        lambda np, x, n: [x * n, n + 1, np.tanh(x)],
        (float64(3), int32(3)),
    ),
    Body(
        "an operand without use, an argument as a result",
        lambda np, x, y, z: [y, np.exp(y) * x, y * 2.0],
        (float64(2), float64(2), float64()),
    ),
    Body("numbers", lambda np, x, y: [x / y, np.log(x)], (float64(), float64())),
)

NAN = Body("makes NaN", lambda np, x: [np.log(x) * 2.0], (float64(3),))


def wrapped(body, ours, theirs, primitive):
    """Return the example of a body and a factory of functions of it."""
    ours, theirs = ours(body.ours), theirs(body.theirs)
    return Example(
        body.name, lambda *xs: list(ours(*xs)), body.avals, theirs, primitive
    )


def run_twin(example, arguments):
    """Return the results of the twin, in 64 bits."""
    with jax.enable_x64(True):
        return [np.asarray(y) for y in example.twin(*arguments)]
