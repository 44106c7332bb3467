"""The laws of control primitives: functions of a guest that raise where one is broken.

They check every rule on each equation of the guest: values against the reference, JAX,
slices and differences; other facts, such as the remaining operands, against an oracle that
does not read the rules.
"""

import contextlib
import itertools

import numpy as np
import pytest

from imprint._src import runtime
from imprint._src.core.aval import get_aval
from imprint._src.core.control import Unit, one_equation
from imprint._src.core.jaxpr import (
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    check_jaxpr,
    eval_jaxpr,
)
from imprint._src.core.tangents import zero_of
from imprint._src.interpreters.batching import batch_jaxpr
from imprint._src.interpreters.dce import dce_jaxpr
from imprint._src.interpreters.jvp import jvp_jaxpr
from imprint._src.interpreters.linearize import linearize_flat, linearize_jaxpr
from imprint._src.interpreters.trace_to_jaxpr import hoist_consts
from imprint._src.interpreters.transpose import transpose_jaxpr
from imprint._src.jit.compilation.lowered import lower
from imprint._src.jit.explain.granularity import granularity
from imprint._src.passes.nan_checks import with_sentinels
from imprint.errors import NonFiniteError, NotDifferentiableError
from tests.laws import test_jvp, test_transpose
from tests.laws.control.guest import run_twin
from tests.laws.law import compile_closed
from tests.noisy import EFFECTS, HEARD, tell_p
from tests.strategies import Call
from tests.tolerances import assert_within, tolerance

LAWS = []


def law(check):
    """Make a check of an example a law of guests."""

    def of_guest(guest):
        for example in guest.examples:
            with noted(example):
                check(example)

    of_guest.__name__ = check.__name__
    LAWS.append(of_guest)
    return of_guest


@contextlib.contextmanager
def noted(example):
    """Add the name of the example to an error."""
    try:
        yield
    except Exception as err:
        err.add_note(f"{example}\n{example.program}")
        raise


def assert_values(got, want):
    for a, b in zip(got, want, strict=True):
        assert_within(np.asarray(a), b, tolerance(b.dtype, "program"))


def run(closed, *args):
    return [np.asarray(y) for y in eval_jaxpr(closed.jaxpr, closed.consts, *args)]


def run_compiled(closed, *args):
    program = compile_closed(closed, "laws")
    kept = [(args[i], closed.in_avals[i]) for i in program.kept]
    outs = program.run([runtime.put(x, aval, copy=True) for x, aval in kept])
    return list(map(runtime.read, outs, program.out_avals))


# ---- values ----


@law
def values(example):
    """The reference, compiled and eager evaluation and JAX agree with the avals."""
    call, operands = example.call, example.operands()
    check_jaxpr(example.program.jaxpr)
    want = call.reference(*operands)
    assert [get_aval(y) for y in want] == list(call.out_avals)
    assert_values(run_compiled(example.program, *operands), want)
    assert_values(call.bind(*operands), want)
    assert_values(run_twin(example, example.arguments()), want)


# ---- batching ----

SIZE = 5


@law
def batches(example):
    """A batch is a loop over slices: each mix of axes, results where they are demanded."""
    call, operands = example.call, example.operands()
    rounds = [example.arguments(seed) for seed in range(SIZE)]
    captured = operands[: len(operands) - len(rounds[0])]
    slices = [(*captured, *arguments) for arguments in rounds]
    for dims in mixes_of_axes(call.avals):
        at = [
            [
                xs[0 if d is None else i]
                for xs, d in zip(columns(slices), dims, strict=True)
            ]
            for i in range(SIZE)
        ]
        wanted = [call.reference(*xs) for xs in at]
        args = [
            xs[0] if d is None else np.stack(xs, d)
            for xs, d in zip(columns(slices), dims, strict=True)
        ]
        for demanded in demands_of_axes(call.out_avals):
            closed, out_dims = batch_jaxpr(
                example.program, SIZE, dims, out_dims=demanded
            )
            check_jaxpr(closed.jaxpr)
            for came, to in zip(out_dims, demanded or (), strict=False):
                assert to is None or came == to
            outs = run(closed, *args)
            for i, want in enumerate(wanted):
                got = [
                    y if d is None else np.take(y, i, d)
                    for y, d in zip(outs, out_dims, strict=True)
                ]
                assert_values(got, want)


def columns(rows):
    return [list(column) for column in zip(*rows, strict=True)]


def mixes_of_axes(avals):
    """Return where each operand is batched: each mix of the first axis, and the last."""
    first = itertools.product(*[(None, 0)] * len(avals))
    mixes = [dims for dims in first if any(d is not None for d in dims)]
    return [*mixes, tuple(a.ndim for a in avals)]


def demands_of_axes(avals):
    last = tuple(a.ndim for a in avals)
    return [None, (0,) * len(avals), last]


# ---- derivatives ----


@law
def jvps(example):
    """Tangents are central differences: each mix of them, zeros demanded or not."""
    call, primals = example.call, example.operands()
    tangents = directions(call.avals, seed=1)
    for active in test_jvp.mixes(call.avals):
        masked = masked_by(active, tangents, primals)
        given = list(itertools.compress(tangents, active))
        for instantiate in (False, True):
            program, nonzero = jvp_jaxpr(
                example.program, active, instantiate=instantiate
            )
            check_jaxpr(program.jaxpr)
            if instantiate:
                assert nonzero == tuple(a.dtype.kind == "f" for a in call.out_avals)
            outs = run(program, *primals, *given)
            pairs = outs[: len(nonzero)], outs[len(nonzero) :]
            if not instantiate:
                test_jvp.check_rule(call, primals, masked, pairs)
            else:
                assert_instantiated(call, primals, masked, nonzero, pairs[1])


def assert_instantiated(call, primals, masked, nonzero, tangents):
    want = test_jvp.central_differences(call, primals, masked)
    for got, theirs in zip(tangents, itertools.compress(want, nonzero), strict=True):
        assert_within(got, theirs, test_jvp.FINITE_DIFFERENCE)


@law
def linearizations(example):
    """The split program is the jvp; arguments and results are its residuals."""
    call, primals = example.call, example.operands()
    tangents = directions(call.avals, seed=2)
    for active in test_jvp.mixes(call.avals):
        given = list(itertools.compress(tangents, active))
        program, nonzero = jvp_jaxpr(example.program, active)
        want = run(program, *primals, *given)
        lin = linearize_jaxpr(example.program, active)
        assert lin.nonzero == nonzero
        check_jaxpr(lin.primal.jaxpr)
        check_jaxpr(lin.tangent.jaxpr)
        assert_residuals_are_handed_on(call, lin)
        results = run(lin.primal, *primals)
        pushed = run(lin.tangent, *lin.known(primals, results), *given)
        assert_values([*results[: len(nonzero)], *pushed], want)
        eager = linearize_flat(call.bind, primals, active)
        pushed = eval_jaxpr(eager.tangent.jaxpr, eager.tangent.consts, *given)
        assert_values([*eager.outs, *pushed], want)


def assert_residuals_are_handed_on(call, lin):
    """A body returns nothing for the tangent that is an argument, or that it returns."""
    for eqn in lin.primal.eqns:
        if eqn.primitive.name != call.primitive.name:
            continue
        for inner in eqn.primitive.jaxprs(eqn.params):
            outs, extra = (
                inner.jaxpr.outvars[: len(call.out_avals)],
                inner.jaxpr.outvars[len(call.out_avals) :],
            )
            assert len({*extra}) == len(extra), "a residual is given twice"
            moving = carry_of(eqn.params, inner.jaxpr)
            assert not {*extra} & {*inner.jaxpr.invars} - moving, (
                "an argument is a result"
            )
            assert not {*extra} & {v for v in outs if isinstance(v, Var)} - moving


def carry_of(params, jaxpr):
    """Return the carry of a step, which is another in each: it may be a residual."""
    first, count = params.get("num_consts", 0), params.get("num_carry", 0)
    carry = {*jaxpr.invars[first : first + count]}
    return carry | {v for v in jaxpr.outvars[:count] if isinstance(v, Var)}


def transposes(guest):
    """<ct, jvp t> = <vjp ct, t>: each mix of operands and of cotangents."""
    for example in guest.examples:
        if guest.is_reversible:
            with noted(example):
                assert_transposed(example)
            continue
        active = tuple(a.dtype.kind == "f" for a in example.call.avals)
        lin = linearize_jaxpr(example.program, active)
        linear = tuple(
            i >= len(lin.residuals) for i in range(len(lin.tangent.in_avals))
        )
        with pytest.raises(NotDifferentiableError):
            transpose_jaxpr(lin.tangent, linear, (True,) * sum(lin.nonzero))


LAWS.append(transposes)


def assert_transposed(example):
    call, primals = example.call, example.operands()
    tangents = directions(call.avals, seed=3)
    cts = directions(call.out_avals, seed=4)
    for active in test_jvp.mixes(call.avals):
        lin = linearize_jaxpr(example.program, active)
        known = lin.known(primals, run(lin.primal, *primals))
        tangent = tangent_program(call.primitive, lin.tangent, known)
        given = list(itertools.compress(tangents, active))
        pushed = run(tangent, *given)
        own = list(itertools.compress(cts, lin.nonzero))
        for some in test_transpose.mixes_of_cotangents(own):
            pulled = test_transpose.pull(tangent, given, some)
            derived = test_transpose.pull_by_jaxprs(tangent, given, some)
            test_transpose.assert_same(pulled, derived)
            test_transpose.assert_paired((some, pushed), (pulled, given))
        for nonzero in subsets(len(own)):
            linear = (False,) * len(known) + (True,) * len(given)
            program, back = transpose_jaxpr(
                hoist_consts(tangent), linear, nonzero, instantiate=True
            )
            check_jaxpr(program.jaxpr)
            assert all(back)


def tangent_program(primitive, closed, known):
    """Return the program at known residuals; it binds the guest itself."""
    jaxpr, count = closed.jaxpr, len(known)
    eqns = [
        Eqn(e.invars, e.outvars, primitive, e.params, e.source)
        if e.primitive.name == primitive.name
        else e
        for e in jaxpr.eqns
    ]
    constvars, args = jaxpr.invars[:count], jaxpr.invars[count:]
    return ClosedJaxpr(Jaxpr(constvars, args, jaxpr.outvars, eqns), known)


def directions(avals, seed):
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.uniform(0.5, 1.5, a.shape)) for a in avals]


def masked_by(active, tangents, primals):
    return [
        t if on else zero_of(get_aval(x))
        for t, on, x in zip(tangents, active, primals, strict=True)
    ]


# ---- dead code ----


@law
def dead_code(example):
    """Each set of results keeps its values, and the operands that influence it only."""
    call, operands = example.call, example.operands()
    every = call.reference(*operands)
    influence = influences(example)
    for used in subsets(len(every)):
        jaxpr = dce_jaxpr(example.program.jaxpr, used)
        check_jaxpr(jaxpr)
        closed = ClosedJaxpr(jaxpr)
        assert_values(run(closed, *operands), [*itertools.compress(every, used)])
        assert len(jaxpr.eqns) == any(used)
        for eqn in jaxpr.eqns:
            kept = [v in eqn.invars for v in jaxpr.invars]
            needed = [any(itertools.compress(row, used)) for row in influence]
            if example.has_rule:
                needed = [True] * len(kept)
            assert kept == needed, f"{used}: keeps operands {kept}, needs {needed}"
            more = len(eqn.outvars) - sum(used)  # a loop may need unused results
            assert more == 0 or example.primitive.granularity is Unit.BODY
            for inner in eqn.primitive.jaxprs(eqn.params):
                assert_alive(inner.jaxpr)


def influences(example):
    """Return for each operand, found by changing it, which results depend on it.

    At several points, as at one of them an operand may choose what others do.
    """
    call, found = example.call, []
    for seed in range(8):
        operands = example.operands(seed)
        want = call.reference(*operands)
        rows = []
        for i, x in enumerate(operands):
            changed = np.array(x + 1).astype(x.dtype) if x.dtype.kind != "b" else ~x
            came = call.reference(*operands[:i], changed, *operands[i + 1 :])
            pairs = zip(came, want, strict=True)
            rows.append([not np.array_equal(a, b) for a, b in pairs])
        found.append(rows)
    return np.any(found, axis=0).tolist()


def assert_alive(jaxpr):
    used = {*jaxpr.outvars}.union(*(eqn.invars for eqn in jaxpr.eqns))
    for eqn in jaxpr.eqns:
        assert used.intersection(eqn.outvars), f"{eqn.primitive} is dead in\n{jaxpr}"


def subsets(count):
    return list(itertools.product((False, True), repeat=count))


# ---- the jaxprs that it holds ----


@law
def held_jaxprs(example):
    """All jaxprs in the params are named, and others can be put in their places."""
    primitive, params = example.primitive, example.call.params
    found = primitive.jaxprs(params)
    assert {*found} == {*closed_in(tuple(params.values()))}
    assert primitive.with_jaxprs(params, found) == params
    others = tuple(ClosedJaxpr(closed.jaxpr) for closed in found)
    changed = primitive.with_jaxprs(params, others)
    assert primitive.jaxprs(changed) == others
    assert primitive.options(changed) == primitive.options(params)
    assert all(not closed_in(value) for value in primitive.options(params).values())
    assert_values(
        Call(primitive, example.call.avals, changed).reference(*example.operands()),
        example.call.reference(*example.operands()),
    )


def closed_in(value):
    if isinstance(value, ClosedJaxpr):
        return [value]
    inside = value if isinstance(value, tuple | list) else ()
    return [closed for item in inside for closed in closed_in(item)]


# ---- interfaces ----


def sentinels(guest):
    """The equation that made a NaN is named; without a NaN there is no error."""
    example = guest.culprit
    flagged, watch = with_sentinels(example.program, nans=True, infinities=False)
    names = [f"x{i}" for i in range(len(example.call.avals))]
    results = [f"[{i}]" for i in range(len(example.call.out_avals))]
    for sign, evaluate in itertools.product((1, -1), (run, run_compiled)):
        operands = [sign * np.abs(x) for x in example.operands()]
        *outs, flags = evaluate(flagged, *operands)
        assert_values(outs, example.call.reference(*operands))
        if sign > 0:
            watch.check(flags, "laws", names, results)
            continue
        with pytest.raises(NonFiniteError, match=guest.made_by):
            watch.check(flags, "laws", names, results)


LAWS.append(sentinels)


@law
def counts(example):
    """Granularity counts the jaxprs as declared."""
    own = sum(len(closed.eqns) for closed in {*example.jaxprs})
    found = granularity(example.program)
    whole = found.outer.equations, found.both.equations, found.both.programs
    parts = found.inner.equations, found.inner.programs, found.inner.calls
    unit = example.primitive.granularity
    assert {found.outer.programs, found.outer.calls, found.both.calls} == {1}
    if unit is Unit.PART:
        assert (whole, parts) == ((own, own, 1), (own, 1, 1))
    elif unit is Unit.BODY:
        assert (whole, parts) == ((1 + own, 1 + own, 1), (1 + own, 1, 1))
    else:
        assert (whole, parts) == ((own, own, 1), (0, 0, own))


@law
def effects(example):
    """Its effects are those of its jaxprs, happen alike however it runs, and stay."""
    call, operands = example.call, example.operands()
    assert call.primitive.effects_of(call.params) == frozenset()
    for ordered, effect in EFFECTS.items():
        noisy = tuple(with_noise(closed, ordered=ordered) for closed in example.jaxprs)
        params = call.primitive.with_jaxprs(call.params, noisy)
        loud = Call(call.primitive, call.avals, params)
        program = one_equation(loud.primitive, loud.avals, loud.params)
        assert program.jaxpr.effects == {effect}
        want, expected_effects = listened(lambda loud=loud: loud.reference(*operands))
        assert expected_effects
        ways = [
            lambda loud=loud: loud.bind(*operands),
            lambda program=program: run_compiled(program, *operands),
        ]
        if not example.has_rule:
            ways.append(lambda loud=loud: linearize_flat(loud.bind, operands).outs)
        for way in ways:
            outs, came = listened(way)
            assert came == expected_effects
            assert_values(outs, want)
        (kept,) = dce_jaxpr(program.jaxpr, [False] * len(want)).eqns
        assert kept.effects == {effect}
        assert ("create_token" in lower(program, "laws").text) == ordered


def with_noise(closed, *, ordered):
    one = np.float32(1)
    noise = Eqn([Literal(one, get_aval(one))], [], tell_p, {"ordered": ordered})
    jaxpr = closed.jaxpr
    return ClosedJaxpr(
        Jaxpr((), jaxpr.invars, jaxpr.outvars, [noise, *jaxpr.eqns], jaxpr.name)
    )


def listened(way):
    HEARD.clear()
    outs = [np.asarray(y) for y in way()]
    return outs, list(HEARD)
