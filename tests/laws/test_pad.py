"""Law 10: a padded primitive gives, at each size, the result of that size.

The calls are those of law 8, with names for sizes. A call is padded once, to its bounds,
and runs at sizes 0, 1, the bounds less 1, the bounds, and drawn ones. The padding of
operands is garbage (NaN, the largest and the least integer, True), or zeros that the rule
knows of. A fill value that a rule declares must be there, as later sums omit the mask.
References, which have laws of their own, evaluate both sides, so nothing is compiled.
`PER_SIZE` lists the primitives with calls that cannot be padded, so a lost rule is noticed.
"""

import itertools

import numpy as np
import pytest

from imprint import dtypes as dt
from imprint._src.control_flow.interpret import interpret
from imprint._src.core.control import one_equation
from imprint._src.core.padding import (
    AS_IS,
    ELEMENTWISE,
    NoPaddingError,
    PaddedValue,
    PerSize,
    filling,
)
from imprint._src.core.primitive import Primitive
from imprint._src.dynamic_shapes import SymbolicScope
from imprint._src.dynamic_shapes.instantiate import Instance, instantiate
from imprint._src.interpreters.derivatives import vjp
from imprint._src.interpreters.padding import fills_of_results, padded
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, hoist_consts, stage
from imprint.errors import AbsentRuleError, ConcretizationError, ShapeError
from tests.lanes import exhaustive
from tests.laws.law import EVERY, about, assert_agree, every_primitive
from tests.laws.test_laws_bite import RULES
from tests.laws.test_symbolic_aval import symbolic_calls
from tests.strategies import (
    SMALL,
    Call,
    calls,
    calls_of_each_shape,
    numbered_operands,
    numbered_smooth_operands,
    smooth_calls,
)
from tests.symbolic import evaluate, names
from tests.tolerances import assert_within, tolerance

ROOM = 3
"""By how much the bound of a name is over the size in the samples."""

NEVER = {"eig", "schur", "hessenberg", "tridiagonal", "sharding_constraint"}
"""The primitives of whose samples none can be padded: a new one says why in its rule."""
PER_SIZE = NEVER | {"scatter", "fft", "svd", "qr", "conv_general_dilated"}
"""The primitives that have calls that cannot be padded."""
UNDIFFERENTIATED = {"lu", "svd"} | NEVER
"""Those of whose derivatives none is padded: it does not take names, or needs them."""
UNSIGNED = {"qr", "dot_general", "conv_general_dilated"}
"""Those of whose zeros the sign is open: of nothing but -0.0, a sum with 0.0 is 0.0."""


ZEROS = None
"""The side of which a program knows what it is."""


class Symbolic:
    """A call with names for sizes, with their bounds and sizes between."""

    def __init__(self, primitive, call, least, only=None):
        self.made = primitive, call
        self.only = only
        free = names_of(call)
        fixed = {text: n for text, n in free if only not in (None, text)}
        free = [(text, n) for text, n in free if text not in fixed]
        scope = SymbolicScope([f"{text} >= {min(n, least)}" for text, n in free])
        env = {text: scope.name(text) for text, _ in free} | fixed
        self.primitive = primitive
        self.avals = tuple(a.with_shape(evaluate(a.shape, env)) for a in call.avals)
        self.params = evaluate(call.params, env)
        self.closed = one_equation(primitive, self.avals, self.params)
        self.least = {text: min(n, least) for text, n in free}
        self.bounds = {text: n + ROOM + i for i, (text, n) in enumerate(free)}

    def sizes(self):
        """Return sizes of the names: the least, 1, the bounds and before, and drawn."""
        few = [0, 1, 2, *(n for top in self.bounds.values() for n in (top - 1, top))]
        for n in dict.fromkeys(few):
            yield {
                text: max(low, min(n, self.bounds[text]))
                for text, low in self.least.items()
            }
        rng = np.random.default_rng(len(self.bounds))
        for _ in range(2):
            yield {
                text: int(rng.integers(low, self.bounds[text] + 1))
                for text, low in self.least.items()
            }


def names_of(call):
    return sorted(names([[a.shape for a in call.avals], call.params]))


def ways(primitive, call):
    """Return a call of all its names, and of each alone."""
    alone = [text for text, _ in names_of(call)]
    for only in (None, *(alone if len(alone) > 1 else ())):
        yield symbolic(primitive, call, only)


def symbolic(primitive, call, only):
    """Return a call with the least sizes at which its shape rule is decided."""
    for least in (0, 1, 2, 1 << 30):
        try:
            return Symbolic(primitive, call, least, only)
        except ShapeError:
            continue
    raise AssertionError(f"{call}: its shape rule decides at no size")


def law(primitive, given=calls_of_each_shape):
    """Check the law; return the number of calls that were checked."""
    held = refused = 0
    for call in given(primitive):
        for named in symbolic_calls(call):
            for found in ways(primitive, named):
                try:
                    program = padded(found.closed, found.bounds)
                except NoPaddingError:
                    refused += 1
                    continue
                held += 1
                check(found, program)
    assert bool(refused) == (primitive.name in PER_SIZE), (held, refused)
    assert bool(held) != (primitive.name in NEVER), (held, refused)
    return held


def check(found, program):
    knows = padded(found.closed, found.bounds, [0] * len(found.avals))
    seen = set()
    for number, env in enumerate(found.sizes()):
        if tuple(env.items()) in seen:
            continue
        seen.add(tuple(env.items()))
        call = Call(
            found.primitive,
            tuple(Instance(env).aval(a) for a in found.avals),
            Instance(env).value(found.params),
        )
        if not is_allowed(call):
            continue
        operands = numbered_operands(call, number)
        want = call.reference(*operands)
        for side in (0, 1, ZEROS):
            made = knows if side is ZEROS else program
            got = run_padded(made, found, env, operands, side)
            fills = [0] * len(found.avals) if side is ZEROS else None
            declared = fills_of_results(found.closed, found.bounds, fills)
            assert_filled(call, got, want, declared)
            got = [x[inside(w.shape)] for x, w in zip(got, want, strict=True)]
            if call.primitive.name in UNSIGNED:
                got, want = [x + 0 for x in got], [x + 0 for x in want]
            assert_agree(call, operands, got, want)


def assert_filled(call, got, want, declared):
    """Assert that the padding of results has the declared fill values."""
    for x, w, fills in zip(got, want, declared, strict=True):
        for axis, fill in enumerate(fills):
            behind = np.moveaxis(x, axis, 0)[w.shape[axis] :]
            if fill is not None and behind.size:
                declared = f"{call}: {fill} is not in all of the padding of axis {axis}"
                assert np.array_equal(
                    behind, np.full_like(behind, fill), equal_nan=True
                ), declared


def run_padded(program, found, env, operands, side):
    """Run a padded program on operands with garbage behind the true sizes."""
    avals = program.in_avals[len(env) :]
    given = [
        with_garbage(x, aval.shape, side)
        for x, aval in zip(operands, avals, strict=True)
    ]
    sizes = [np.int32(env[name]) for name in found.bounds]
    hoisted = hoist_consts(program)
    with np.errstate(all="ignore"):
        return interpret(
            hoisted.jaxpr, [*map(np.asarray, program.consts), *sizes, *given]
        )


def with_garbage(x, shape, side):
    """Return an array in the corner of a larger one."""
    if x.shape == shape:
        return x
    out = np.full(shape, garbage(x.dtype, side), x.dtype)
    out[inside(x.shape)] = x
    return out


def garbage(dtype, side):
    if side is ZEROS:
        return 0
    if dt.is_bool(dtype):
        return side == 0
    if dt.is_integer(dtype):
        info = dt.iinfo(dtype)
        return (info.max, info.min)[side]
    return (np.nan, np.inf)[side]


def inside(shape):
    return tuple(slice(0, n) for n in shape)


def is_allowed(call):
    """Return whether the shape rule takes a call: some axes must have an element."""
    try:
        avals = (*call.avals, *call.out_avals)
    except ShapeError:
        return False
    return all(n >= 0 for a in avals for n in a.shape)


# ---- derivatives ----


def law_of_derivatives(primitive):
    """Check that cotangents of a padded program are those of each size."""
    held = 0
    for call in first_of_shapes(smooth_calls(primitive)):
        for named in symbolic_calls(call):
            held += sum(map(pads_its_derivative, ways(primitive, named)))
    return held


def pads_its_derivative(found):
    try:
        closed = pulled_back(found)
    except ShapeError:  # rules of derivatives have more conditions
        found = Symbolic(*found.made, 1 << 30, found.only)
    except (ConcretizationError, AbsentRuleError):
        return False
    try:
        closed = pulled_back(found)
        program = padded(closed, found.bounds)
    except UNDECIDED:
        return False
    for number, env in enumerate(itertools.islice(found.sizes(), 2, None, 2)):
        check_derivative(found, closed, program, env, number)
    return True


UNDECIDED = (NoPaddingError, ConcretizationError, AbsentRuleError, ShapeError)


def first_of_shapes(found):
    seen = {}
    for call in found:
        seen.setdefault((tuple(a.shape for a in call.avals), str(call.params)), call)
    return seen.values()


def pulled_back(found):
    """Return the program of names from operands and cotangents to cotangents."""
    moving = [i for i, a in enumerate(found.avals) if dt.is_inexact(a.dtype)]
    results = found.closed.out_avals
    smooth = [i for i, a in enumerate(results) if dt.is_inexact(a.dtype)]
    count = len(found.avals)

    def run(*args):
        operands, cts = list(args[:count]), args[count:]

        def function(*xs):
            for i, x in zip(moving, xs, strict=True):
                operands[i] = x
            outs = found.primitive.bind_all(*operands, **found.params)
            return tuple(outs[i] for i in smooth)

        _, pull = vjp(function, *(operands[i] for i in moving))
        return pull(cts)

    avals = [*found.avals, *(results[i] for i in smooth)]
    return stage(run, avals, DebugInfo("laws", str(found.primitive)))


def check_derivative(found, closed, program, env, number):
    at = Instance(env)
    avals = tuple(map(at.aval, found.avals))
    call = Call(found.primitive, avals, at.value(found.params))
    if not is_allowed(call):
        return
    operands, cts = numbered_smooth_operands(call, number)
    given = [*operands, *(ct for ct in cts if ct.dtype != dt.float0)]
    exact = hoist_consts(instantiate(closed, env))
    with np.errstate(all="ignore"):
        want = interpret(exact.jaxpr, [*map(np.asarray, closed.consts), *given])
    for side in (0, 1):
        got = run_padded(program, found, env, given, side)
        with about(call, operands):
            for x, w in zip(got, want, strict=True):
                allowed = tolerance(w.dtype, "factored")
                assert_within(x[inside(w.shape)], w, allowed)


OWN = [p for p in EVERY if p.pad is not ELEMENTWISE and p.samples.differentiable]
SHARED = [p for p in EVERY if p.pad is ELEMENTWISE and p.samples.differentiable]


@pytest.mark.parametrize("primitive", [*OWN, *exhaustive(*SHARED)], ids=str)
def test_padded_its_derivative_is_that_of_each_size(primitive):
    assert law_of_derivatives(primitive) or primitive.name in UNDIFFERENTIATED


@every_primitive
def test_padded_results_are_those_of_each_size(primitive):
    law(primitive)


def every_call(primitive):
    return [
        call for call in calls(primitive) if all(a.size <= SMALL for a in call.avals)
    ]


@pytest.mark.exhaustive
@every_primitive
def test_padded_it_does_so_in_every_dtype(primitive):
    law(primitive, every_call)


# ---- the law bites ----


def keeping(bucket, x, **params):
    """Declare, wrongly, that the fill of an operand is in the result, too."""
    filled = bucket.filled(x, 0)
    return (
        PaddedValue(bucket.bind_all(filled, **params)[0], bucket.outs[0], filled.fills),
    )


MISTAKES = [
    ("reduce_sum", AS_IS),
    ("reduce_max", filling(lambda _: 0)),
    ("dot_general", AS_IS),
    ("cumsum", AS_IS),
    ("argmin", filling(lambda _: 0)),
    ("cumsum", keeping),
    ("cos", keeping),
    ("rev", AS_IS),
    ("concatenate", AS_IS),
    ("pad", AS_IS),
    ("reshape", AS_IS),
    ("dynamic_slice", AS_IS),
    ("dynamic_update_slice", AS_IS),
    ("gather", AS_IS),
    ("scatter-add", AS_IS),
    ("sort", AS_IS),
    ("top_k", AS_IS),
    ("conv_general_dilated", AS_IS),
    ("reduce_window_max", AS_IS),
    ("select_and_scatter_add", AS_IS),
    ("triangular_solve", AS_IS),
    ("eigh", AS_IS),
    ("tridiagonal_solve", AS_IS),
    ("sin", PerSize("a rule is lost")),
]


@pytest.mark.parametrize(("name", "rule"), MISTAKES, ids=[name for name, _ in MISTAKES])
def test_a_broken_rule_turns_the_law_red(name, rule):
    (good,) = (p for p in EVERY if p.name == name)
    kept = {key: getattr(good, key) for key in RULES if key != "pad"}
    with pytest.raises((AssertionError, ValueError, IndexError)):
        law(Primitive(name=name, pad=rule, **kept))
