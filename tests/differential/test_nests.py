"""Drawn nests of loops, choices, rules and transforms, compared with JAX.

Each seed draws a block of programs, which JAX compiles as one and calls with two sets of
values: other branches, other numbers of iterations. imprint's are run by the references of
the primitives, some of them compiled and outside of `jit`, too. Where JAX refuses, imprint
must refuse with an exception that the same `except` catches. The first seeds are in the
fast lane; `DRAWN_CASES=10000` in the environment draws more. A failure shows the smallest
program found that fails.
"""

import os
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.control_flow.interpret import interpret
from imprint._src.interpreters.trace_to_jaxpr import hoist_consts
from imprint._src.passes.pipeline import run_passes
from tests.differential.nest_forms import form
from tests.differential.nests import program, reduced, text
from tests.lanes import exhaustive
from tests.tolerances import tolerance

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # JAX's own, of casts
]

PER_SEED = 50
FAST = 1
SEEDS = range(-(-int(os.environ.get("DRAWN_CASES", "1000")) // PER_SEED))
COMPILED, EAGER = 4, 10
"""One program in so many is compiled, and runs outside of `jit`; all are interpreted."""
QUICK = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_allow_excess_precision": False,
}
if jax.__version_info__ < (0, 11):
    # Twice as fast to compile without; later releases have no choice.
    QUICK["xla_cpu_use_fusion_emitters"] = False
DERIVED = re.compile(r"lib\.(grad|value_and|jvp|vjp|linearize|jac|hessian|custom)")
"""Where derivatives are taken, JAX's rules make some that are weak strong, and reverse."""
W = np.array([0.9, 0.4, -0.5], "float32")
OPERANDS = [
    (
        np.array([0.3, -0.7, 1.1], "float32"),
        np.float32(0.6),
        np.array([0.5, -1.25, 2.0], "float16"),
        np.int32(3),
        np.array([1, 4, 2], "int32"),
        np.bool_(True),
    ),
    (
        np.array([-0.45, 0.8, 0.25], "float32"),
        np.float32(-0.35),
        np.array([-0.75, 1.5, 0.25], "float16"),
        np.int32(2),
        np.array([0, 3, 5], "int32"),
        np.bool_(False),
    ),
]


@pytest.mark.parametrize(
    "seed", [*SEEDS[:FAST], *exhaustive(*SEEDS[FAST:])], ids="seed{}".format
)
def test_a_nest_agrees_with_jax(seed):
    numbers = range(seed * PER_SEED, (seed + 1) * PER_SEED)
    faults = zip(numbers, differences(list(map(code, numbers))), strict=True)
    found = [number for number, fault in faults if fault]
    shown = "\n\n".join(map(described, found))
    assert not found, f"{len(found)} differ\n\n{shown}"


def code(number):
    return text(program(number, form))


def fault_of(code):
    """Return how a program differs from JAX, run in every way."""
    return differences([code], every=True)[0]


def described(number):
    """Show the smallest program found that differs as one does."""
    small = text(reduced(program(number, form), fault_of))
    return f"program {number}\n{small}\n-> {fault_of(small) or 'alone it is equal'}"


# ---- the comparison ----


def differences(codes, *, every=False):
    """Return for each program how it differs from JAX; None where it does not.

    Args:
        codes: the programs.
        every: whether all of them run in each way, not some.
    """
    wanted = results(jax, [made(code, jax, jnp) for code in codes])
    ours = [made(code, imprint, inp) for code in codes]
    faults = [
        difference(interpreted(function), want, code)
        for function, want, code in zip(ours, wanted, codes, strict=True)
    ]
    for share, way in ((COMPILED, compiled), (EAGER, eagerly)):
        chosen = range(0, len(codes), 1 if every else share)
        sound = [i for i in chosen if not (faults[i] or is_refused(wanted[i]))]
        for i, got in zip(sound, way([ours[i] for i in sound]), strict=True):
            faults[i] = difference(got, wanted[i], codes[i])
    return faults


def made(code, lib, np_):
    names = {"lib": lib, "np": np_, "lax": lib.lax, "W": np_.asarray(W)}
    exec(code, names)
    return names["program"]


def is_refused(result):
    return isinstance(result, Exception)


def results(lib, functions):
    """Return types and results of each function, compiled as one; or its exception."""
    jitted = list(map(lib.jit, functions))
    found = [attempt(types, function) for function in jitted]
    kept = [i for i, out in enumerate(found) if not is_refused(out)]
    batch = lib.jit(lambda *xs: [jitted[i](*xs) for i in kept], compiler_options=QUICK)
    runs = zip(*(batch(*xs) for xs in OPERANDS), strict=True) if kept else []
    for i, outs in zip(kept, runs, strict=True):
        found[i] = found[i], [np.asarray(x) for out in outs for x in out]
    return found


def compiled(functions):
    try:
        return results(imprint, functions)
    except Exception:  # of one of them
        return [attempt(lambda f: results(imprint, [f])[0], f) for f in functions]


def attempt(run, *args):
    """Return the result of a call, or its exception."""
    try:
        return run(*args)
    except Exception as err:
        return err


def types(jitted):
    avals = jitted.trace(*OPERANDS[0]).jaxpr.out_avals
    return [(a.dtype.name, a.shape, a.weak_type and a.dtype != bool) for a in avals]


def interpreted(function):
    """Return types and results by the references of the primitives: nothing compiles."""

    def run():
        jitted = imprint.jit(function)
        closed = run_passes(jitted.trace(*OPERANDS[0]).jaxpr)
        jaxpr, consts = hoist_consts(closed).jaxpr, list(map(np.asarray, closed.consts))
        with np.errstate(all="ignore"):
            outs = [interpret(jaxpr, [*consts, *xs]) for xs in OPERANDS]
        return types(jitted), [x for each in outs for x in each]

    return attempt(run)


def eagerly(functions):
    return [attempt(run_eagerly, function) for function in functions]


def run_eagerly(function):
    outs = [x for xs in OPERANDS for x in function(*map(inp.asarray, xs))]
    return None, list(map(np.asarray, outs))


def difference(got, want, code):
    """Return how a result of imprint differs from JAX's; None if it does not."""
    if isinstance(got, Exception):
        if not isinstance(want, Exception):
            return f"raises {type(got).__name__}: {got}"
        for kind in (TypeError, ValueError, NotImplementedError):
            if isinstance(want, kind) and not isinstance(got, kind):
                return f"raises {got!r}, JAX {want!r}"
        return None
    if isinstance(want, Exception):
        return f"gives {got}, JAX raises {want!r}"
    if DERIVED.search(code) is None and got[0] not in (None, want[0]):
        return f"gives {got[0]}, JAX {want[0]}"
    for i, (one, other) in enumerate(zip(got[1], want[1], strict=True)):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"gives {one.dtype}{one.shape}, JAX {other.dtype}{other.shape}"
        if not near(one, other, is_half(code)):
            return f"result {i % len(want[0])}:\n{one!r}\nJAX\n{other!r}"
    return None


def is_half(code):
    """Return whether a program has float16 values."""
    return "float16" in code or bool(re.search(r"\bh\d*\b", code.partition("\n")[2]))


def near(one, other, is_half):
    if other.dtype.kind in "biu":
        return np.array_equal(one, other)
    allowed = tolerance("float16") if is_half else tolerance("float32", "gradient")
    one, other = one.astype("float64"), other.astype("float64")
    return np.allclose(one, other, *allowed, equal_nan=True)
