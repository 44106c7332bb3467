"""Shared parts of the laws: their primitives, draws and comparison.

A law is a function of a primitive that raises where the law does not hold; its test runs
it over every primitive, and `test_laws_bite` over broken ones. `for_draws` runs a check
on values that Hypothesis draws, the same in every run.
"""

from contextlib import contextmanager

import hypothesis
import numpy as np
import pytest

import imprint._src.eager.evaluate  # noqa: F401 - gives `bind` outside a trace its meaning
from imprint._src import runtime
from imprint._src.core.primitive import Absent
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.jit.compilation.lowered import lower
from imprint._src.jit.compilation.program import compile_module
from imprint._src.primitives import ALL
from tests.quick import options_of
from tests.tolerances import assert_within_ulps

EVERY = [p for p in ALL if not isinstance(p.samples, Absent)]
SIBLINGS = {"igammac", "random_gamma_grad"}
SIBLINGS |= {"hyp1f1", "hyp1f1_grad", "hyp2f1", "hyp2f1_grad"}
"""Primitives whose formula another one has, or takes long: their laws are exhaustive."""


def over(primitives):
    """Return the mark of a law that runs over primitives."""
    marks = dict.fromkeys(SIBLINGS, (pytest.mark.slow, pytest.mark.exhaustive))
    params = [pytest.param(p, marks=marks.get(p.name, ())) for p in primitives]
    return pytest.mark.parametrize("primitive", params, ids=str)


every_primitive = over(EVERY)


def for_draws(strategy, check, examples):
    """Run `check` on `examples` draws of `strategy`."""

    # Quiet: `assert_agree` prints the call and its operands, a draw is just bytes.
    @hypothesis.settings(max_examples=examples, verbosity=hypothesis.Verbosity.quiet)
    @hypothesis.given(strategy)
    def drawn(value):
        check(value)

    drawn()


def staged(calls):
    """Return the jaxpr of all calls, each on operands of its own."""

    def run(*operands):
        rest = iter(operands)
        return [
            out
            for call in calls
            for out in call.bind(*[next(rest) for _ in call.avals])
        ]

    avals = [aval for call in calls for aval in call.avals]
    return stage(run, avals, DebugInfo("laws", calls[0].primitive.name))


def compiled(calls):
    """Return the function that runs all calls compiled, as one program."""
    closed = staged(calls)
    options = runtime.CompileOptions.of(options_of(calls[0].primitive))
    program = compile_closed(closed, "laws", options)

    def run(operands):
        flat = [x for values in operands for x in values]
        kept = [(flat[i], closed.in_avals[i]) for i in program.kept]
        outs = program.run([runtime.put(x, aval, copy=True) for x, aval in kept])
        read = map(runtime.read, outs, program.out_avals)
        return split(calls, list(read))

    return run


def compile_closed(closed, name, options=None):
    """Lower and compile a program."""
    return compile_module(lower(closed, name), options)


def split(calls, results):
    """Return the results of each call out of the results of all."""
    rest = iter(results)
    return [tuple(next(rest) for _ in call.out_avals) for call in calls]


@contextmanager
def about(call, operands):
    """Add the call and its operands to the errors of assertions."""
    try:
        yield
    except AssertionError as err:
        shown = "\n".join(f"operand {k}: {x!r}" for k, x in enumerate(operands))
        err.add_note(f"{call} on\n{shown}")
        raise


def assert_agree(call, operands, got, want):
    """Assert that two results of a call are the same, up to the ulps of its samples."""
    samples = call.primitive.samples
    # A sum may be small compared with its terms, so errors are measured by the terms.
    scale = _magnitude(operands) if samples.cases else 0.0
    with about(call, operands):
        for a, b in zip(got, want, strict=True):
            assert_within_ulps(a, b, samples.ulps, scale)


def _magnitude(operands):
    scale = 1.0
    for x in operands:
        values = np.abs(x.astype(np.complex128))
        scale *= max(1.0, np.max(values, initial=0.0, where=np.isfinite(values)))
    return scale
