"""Drawn programs compared with JAX: eagerly, compiled, mapped and differentiated.

Each seed draws a block of programs, which JAX compiles as one. Where JAX refuses, imprint
must refuse with an exception that the same `except` catches. Dtypes, shapes and weak
types are equal, values within the tolerance. A failure shows the program in full.
The first seed is in the fast lane; `DRAWN_CASES=10000` in the environment draws more.
"""

import os
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from tests.differential.programs import programs
from tests.lanes import exhaustive
from tests.tolerances import tolerance

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # JAX's own, of casts and of NumPy
]

PER_SEED = 60
SEEDS = range(-(-int(os.environ.get("DRAWN_CASES", "600")) // PER_SEED))
QUICK = {"xla_backend_optimization_level": 0}
FAST_COMPILE = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
}
THEIRS = SimpleNamespace(numpy=jnp, lax=jax.lax, asarray=jnp.asarray)
OURS = SimpleNamespace(numpy=inp, lax=lax, asarray=inp.asarray)
every_seed = pytest.mark.parametrize(
    "seed", [0, *exhaustive(*SEEDS[1:])], ids="seed{}".format
)
both_widths = pytest.mark.parametrize(
    "x64", [False, *exhaustive(True)], ids=["x32", "x64"]
)


@every_seed
@both_widths
@pytest.mark.parametrize("kind", ["values", "edges", "mapped", "gradients", "both"])
def test_a_drawn_program_agrees_with_jax(kind, seed, x64):
    derive, ways, operation, special = KINDS[kind]
    drawn = f"{derive.__name__} {seed} {x64} {special}"
    with imprint.enable_x64(x64), jax.enable_x64(x64), np.errstate(all="ignore"):
        faults = differences(
            programs(drawn, PER_SEED, special=special), derive, ways, operation
        )
    assert not faults, f"{len(faults)} differ\n\n" + "\n\n".join(faults)


# ---- ways to run a program: a library and its transforms give a function ----


def whole(program, library, tools):
    return lambda *xs: program(library, *xs)


def mapped(program, library, tools):
    if np.ndim(program.operands[0].value) == 0:
        return None
    axes = [program.axis, *[None] * (len(program.arrays(np.asarray)) - 1)]
    return tools.vmap(lambda *xs: program(library, *xs), in_axes=tuple(axes))


def gradient(program, library, tools):
    if program.steps[0].operation.name in ("arccosh", "arctanh"):
        return None  # NaN outside of their domains has no derivative; JAX gives numbers
    arrays = program.arrays(np.asarray)
    moving = [i for i, x in enumerate(arrays) if x.dtype.kind not in "biuc"]
    if not moving:
        return None

    def total(*xs):
        out = program(library, *xs)
        first = out[0] if isinstance(out, tuple | list) else out
        return (library.numpy.real(first) * 1.5).sum()

    return tools.grad(total, argnums=tuple(moving))


def mapped_gradient(program, library, tools):
    if len(program.operands) != 1 or np.ndim(program.operands[0].value) == 0:
        return None
    inner = gradient(program, library, tools)
    return None if inner is None else tools.vmap(inner, in_axes=program.axis)


def eagerly(cases):
    """Return for each function and its operands a function that runs it."""
    return [lambda f=f, xs=xs: f(*xs) for f, xs in cases]


def compiled(cases):
    """Return the same; all traceable functions are compiled as one program."""
    runs = [
        lambda f=f, xs=xs: imprint.jit(f, compiler_options=QUICK)(*xs)
        for f, xs in cases
    ]
    kept = [i for i, (f, xs) in enumerate(cases) if is_traced(f, xs)]
    together = imprint.jit(
        lambda every: [cases[i][0](*xs) for i, xs in zip(kept, every, strict=True)],
        compiler_options=QUICK,
    )
    outs = together([cases[i][1] for i in kept])
    for i, out in zip(kept, outs, strict=True):
        runs[i] = lambda out=out: out
    return runs


def is_traced(function, operands):
    try:
        imprint.eval_shape(function, *operands)
    except Exception:  # it is raised again where it is compared with JAX's
        return False
    return True


BOTH = {"eager": eagerly, "compiled": compiled}
KINDS = {
    "values": (whole, BOTH, "program", False),
    "edges": (whole, BOTH, "program", True),
    "mapped": (mapped, BOTH, "program", False),
    "gradients": (gradient, BOTH, "gradient", False),
    "both": (mapped_gradient, {"compiled": compiled}, "gradient", False),
}
"""The transform of a program, the ways to run it, the tolerance, and whether special
numbers are drawn."""


# ---- the comparison ----


def differences(drawn, derive, ways, operation):
    """Return the differences from JAX, each with its program."""
    drawn = [p for p in drawn if not is_changed(p)]
    cases = [p for p in drawn if derive(p, THEIRS, jax) is not None]
    wanted = expected([(p, derive(p, THEIRS, jax)) for p in cases])
    ours = [(derive(p, OURS, imprint), p.arrays(OURS.asarray)) for p in cases]
    faults = []
    for way, runs_of in ways.items():
        for program, want, run in zip(cases, wanted, runs_of(ours), strict=True):
            fault = difference(run, want, program, operation)
            if fault:
                faults.append(f"{way} {derive.__name__} of\n{program}\n-> {fault}")
    return faults


def expected(cases):
    """Return, for each function of JAX, its result on its operands or its exception.

    JAX refuses most calls when it traces; lowering each alone takes longer.
    """
    try:
        return run_together(cases, jax.eval_shape)
    except Exception:  # lowering each alone finds the one that fails
        return run_together(cases, lambda function, *xs: jax.jit(function).lower(*xs))


def run_together(cases, try_out):
    found = []
    for program, function in cases:
        try:
            try_out(function, *program.arrays(THEIRS.asarray))
            found.append(None)
        except Exception as err:
            found.append(err)
    kept = [i for i, out in enumerate(found) if out is None]
    run = jax.jit(
        lambda all_operands: [
            cases[i][1](*xs) for i, xs in zip(kept, all_operands, strict=True)
        ],
        compiler_options=FAST_COMPILE,
    )
    made = [cases[i][0].arrays(THEIRS.asarray) for i in kept]
    for i, out in zip(kept, run(made), strict=True):
        found[i] = out
    return found


# Intended differences: operations that only imprint or only JAX differentiates.
MORE = {"round", "maximum", "minimum", "lax.select", "cumsum", "cumprod", "nancumsum"}
LESS = {"lax.cummax"}
CHANGED = set()
OF_COMPLEX = {"all", "any"}  # JAX looks at real parts
if jax.__version_info__ < (0, 11):
    MORE |= {"nextafter", "lax.nextafter"}  # has had a derivative since
    CHANGED |= {"sinc", "lax.digamma"}  # at infinity, and at poles


def is_changed(program):
    """Return whether the first operation differs on purpose."""
    name = program.steps[0].operation.name
    complexes = any(np.iscomplexobj(x.value) for x in program.operands)
    return name in CHANGED or (complexes and name in OF_COMPLEX)


def difference(run, want, program, operation):
    """Return how a result of imprint differs from JAX's; None if it does not."""
    name = program.steps[0].operation.name
    try:
        got = run()
    except OverflowError:  # JAX lets the number wrap, silently
        return None
    except Exception as err:
        if not isinstance(want, Exception):
            return None if name in LESS else f"raises {type(err).__name__}: {err}"
        for kind in (TypeError, ValueError):  # another of JAX's is an accident
            if isinstance(want, kind) and not isinstance(err, kind):
                return f"raises no {kind.__name__} as JAX does ({want}), {err!r}"
        return None
    if isinstance(want, Exception):
        return (
            None
            if name in MORE
            else f"gives {got!r}, JAX raises {type(want).__name__}: {want}"
        )
    got, want = imprint.tree.leaves(got), jax.tree.leaves(want)
    if len(got) != len(want):
        return f"gives {len(got)} results, JAX {len(want)}"
    for one, other in zip(got, want, strict=True):
        fault = unequal(one, other, operation)
        if fault:
            return fault
    return None


def unequal(got, want, operation):
    # JAX's rules make some derivatives at Python's numbers strong.
    weak = operation != "gradient" and jax.__version_info__ >= (0, 11)
    shown, wanted = described(got, weak=weak), described(want, weak=weak)
    if shown != wanted:
        return f"gives {shown}, JAX {wanted}"
    one, other = np.asarray(got), np.asarray(want)
    if other.dtype.kind in "biu":
        same = np.array_equal(one, other)
    else:
        wide = np.complex128 if other.dtype.kind == "c" else np.float64
        one, other = one.astype(wide), other.astype(wide)
        allowed = tolerance(want.dtype, operation)
        near = np.abs(one - other) <= allowed.atol + allowed.rtol * np.abs(other)
        # At infinite or undefined complex numbers XLA departs from C99, NumPy does not.
        lost = ~np.isfinite(one) | ~np.isfinite(other)
        equal = (
            lost
            if wide is np.complex128
            else (one == other) | (np.isnan(one) & np.isnan(other))
        )
        same = bool((near | equal).all())
    return None if same else f"gives\n{one!r}\nJAX\n{other!r}"


def described(x, *, weak):
    name = np.asarray(x).dtype.name
    mark = "~" if weak and getattr(x, "weak_type", False) and name != "bool" else ""
    return f"{mark}{name}{list(np.shape(x))}"
