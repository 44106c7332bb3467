"""The laws of control primitives bite: one broken rule of a guest turns its law red.

Each function is a possible mistake in a rule of the nested call. The law sees the guest
with that rule; other rules still call the good one.
"""

import dataclasses

import pytest

from imprint._src.control_flow.call import call, jit_p
from imprint._src.core.control import Eager, Narrowed, Unit, Watched
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr
from imprint._src.core.tangents import UndefinedPrimal, Zero, is_zero, zero_of
from imprint._src.interpreters.linearize import linearize_jaxpr
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.primitives.core_ops import instantiate
from tests.laws.control import laws
from tests.laws.control.guests import GUESTS

pytestmark = pytest.mark.slow

(GUEST,) = [guest for guest in GUESTS if guest.primitive is jit_p]
MISTAKES = []


def mistake(rule, *broken):
    def add(wrong):
        MISTAKES.extend(
            pytest.param(law, {rule: wrong}, id=f"{wrong.__name__}-{law.__name__}")
            for law in broken
        )
        return wrong

    return add


# ---- rules of every primitive ----


@mistake("aval", laws.values)
def a_result_is_forgotten(*avals, jaxpr, name):
    return jaxpr.out_avals[:-1]


@mistake("reference", laws.values)
def the_first_operand_counts_twice(*xs, jaxpr, name):
    return jit_p.reference(
        *(x * 2 if i == 0 else x for i, x in enumerate(xs)), jaxpr=jaxpr, name=name
    )


@mistake("lower", laws.values)
def results_are_those_of_the_first(b, *values, jaxpr, name):
    outs = jit_p.lower(b, *values, jaxpr=jaxpr, name=name)
    fits = [outs[0] if y.type is outs[0].type else y for y in outs]
    return tuple(fits)


@mistake("lower", laws.effects)
def tokens_are_not_taken(b, *values, jaxpr, name):
    kept = [e for e in jaxpr.eqns if not e.effects]
    quiet = Jaxpr((), jaxpr.jaxpr.invars, jaxpr.jaxpr.outvars, kept)
    return jit_p.lower(b, *values, jaxpr=ClosedJaxpr(quiet), name=name)


@mistake("batch", laws.batches)
def the_hidden_axis_is_said_to_be_first(xs, dims, **params):
    outs, out_dims = jit_p.batch(xs, dims, **params)
    return outs, tuple(None if d is None else 0 for d in out_dims)


@mistake("batch", laws.batches)
def unbatched_results_are_said_to_be_batched(xs, dims, **params):
    outs, out_dims = jit_p.batch(xs, dims, **params)
    return outs, (0,) * len(out_dims)


@mistake("batch", laws.batches)
def only_the_first_operand_is_batched(xs, dims, **params):
    return jit_p.batch(xs, (*dims[:1], *(None for _ in dims[1:])), **params)


@mistake("jvp", laws.jvps)
def tangents_are_halved(primals, tangents, **params):
    outs, ts = jit_p.jvp(primals, tangents, **params)
    return outs, tuple(t if is_zero(t) else t * 0.5 for t in ts)


@mistake("jvp", laws.jvps)
def a_zero_of_an_integer_gets_values(primals, tangents, **params):
    outs, ts = jit_p.jvp(primals, tangents, **params)
    return outs, tuple(
        instantiate(Zero(y.aval)) if is_zero(t) else t
        for y, t in zip(outs, ts, strict=True)
    )


@mistake("transpose", laws.transposes)
def cotangents_are_forgotten(cts, operands, **params):
    outs = jit_p.transpose(cts, operands, **params)
    first = next(i for i, x in enumerate(operands) if isinstance(x, UndefinedPrimal))
    return tuple(None if i == first else ct for i, ct in enumerate(outs))


@mistake("transpose", laws.transposes)
def cotangents_are_doubled(cts, operands, **params):
    outs = jit_p.transpose(cts, operands, **params)
    return tuple(None if ct is None else ct * 2.0 for ct in outs)


# ---- linearize ----


@mistake("linearize", laws.linearizations)
def residuals_are_all_results(trace, primals, tangents, *, jaxpr, name):
    active = tuple(not is_zero(t) for t in tangents)
    lin = linearize_jaxpr(jaxpr, active)

    def run(*args):
        results = call(lin.primal, args, name)
        return [*results[: len(lin.nonzero)], *lin.known(args, results)]

    whole = stage(run, jaxpr.in_avals, DebugInfo("laws", name))
    inner = whole.eqns[0].params["jaxpr"].jaxpr
    names = dict(zip(whole.eqns[0].outvars, inner.outvars, strict=True))
    names |= dict(zip(whole.eqns[0].invars, inner.invars, strict=True))
    outs = [names[v] for v in whole.jaxpr.outvars]
    primal = ClosedJaxpr(Jaxpr((), inner.invars, outs, inner.eqns))
    results = call(primal, primals, name)
    count = len(lin.nonzero)
    given = [t for t in tangents if not is_zero(t)]
    ts = trace.process(
        jit_p, (*results[count:], *given), {"jaxpr": lin.tangent, "name": name}
    )
    return _with_zeros(results[:count], ts, lin.nonzero)


def _with_zeros(outs, tangents, nonzero):
    rest = iter(tangents)
    return outs, tuple(
        next(rest) if on else zero_of(y.aval)
        for y, on in zip(outs, nonzero, strict=True)
    )


@mistake("linearize", laws.linearizations)
def the_tangents_are_forgotten(trace, primals, tangents, **params):
    outs, _ = jit_p.linearize(trace, primals, tangents, **params)
    return outs, tuple(zero_of(y.aval) for y in outs)


@mistake("linearize", laws.effects)
def the_primal_runs_twice(trace, primals, tangents, **params):
    jit_p.bind_all(*primals, **params)
    return jit_p.linearize(trace, primals, tangents, **params)


# ---- dce ----


@mistake("dce", laws.dead_code)
def nothing_goes(used, *, jaxpr, name):
    operands = (True,) * len(jaxpr.in_avals)
    return Narrowed(operands, (True,) * len(used), {"jaxpr": jaxpr, "name": name})


@mistake("dce", laws.dead_code)
def operands_stay(used, *, jaxpr, name):
    outvars = [v for v, u in zip(jaxpr.jaxpr.outvars, used, strict=True) if u]
    inner = ClosedJaxpr(Jaxpr((), jaxpr.jaxpr.invars, outvars, jaxpr.eqns))
    operands = (True,) * len(jaxpr.in_avals)
    return Narrowed(operands, used, {"jaxpr": inner, "name": name})


@mistake("dce", laws.dead_code)
def the_results_are_shifted(used, **params):
    operands, _, narrower = jit_p.dce(used, **params)
    return Narrowed(operands, tuple(reversed(used)), narrower)


@mistake("dce", laws.effects)
def an_effect_is_dropped(used, *, jaxpr, name):
    quiet = [e for e in jaxpr.eqns if not e.effects]
    inner = ClosedJaxpr(Jaxpr((), jaxpr.jaxpr.invars, jaxpr.jaxpr.outvars, quiet))
    return jit_p.dce(used, jaxpr=inner, name=name)


# ---- jaxprs, eager, sentinels, granularity ----

MISTAKES += [
    pytest.param(laws.held_jaxprs, {"jaxprs": ()}, id="a-jaxpr-is-not-named"),
    pytest.param(laws.effects, {"jaxprs": ()}, id="effects-are-not-seen"),
    pytest.param(laws.sentinels, {"sentinels": Watched.AS_ONE}, id="seen-as-one"),
    pytest.param(laws.counts, {"jaxprs": ()}, id="a-part-is-not-counted"),
]


@mistake("eager", laws.values)
def the_operands_are_the_results(*xs, jaxpr, name):
    return tuple(xs[i % len(xs)] for i in range(len(jaxpr.out_avals)))


@mistake("eager", laws.effects)
def it_runs_twice(*xs, **params):
    jit_p.bind_all(*xs, **params)
    return jit_p.bind_all(*xs, **params)


@mistake("sentinels", laws.sentinels)
def flags_are_forgotten(watch, eqn, operands):
    return [(x, -1) for x, _ in watch.bind(eqn, operands)]


@pytest.mark.parametrize(("law", "rules"), MISTAKES)
def test_a_broken_rule_turns_its_law_red(law, rules):
    with pytest.raises((Exception, pytest.fail.Exception)):
        law(GUEST.broken(**rules))


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_a_guest_that_is_copied_whole_obeys(law):
    law(GUEST.broken())


@pytest.mark.parametrize("eager", Eager)
@pytest.mark.parametrize("unit", Unit)
def test_other_ways_to_run_and_to_count_are_right_too(eager, unit):
    guest = GUEST.broken(eager=eager, granularity=unit)
    few = dataclasses.replace(guest, examples=guest.examples[:2])
    laws.values(few)
    laws.counts(few)
    laws.effects(few)
