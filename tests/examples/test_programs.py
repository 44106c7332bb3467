"""Quotations of JAX in the examples are its output for the same programs."""

import textwrap
from collections import Counter
from types import SimpleNamespace

import equinox
import jax
import jax.numpy
import pytest

from examples import programs

EVENTS = Counter()
TRACE = "/jax/core/compile/jaxpr_trace_duration"
jax.monitoring.register_event_duration_secs_listener(
    lambda event, _, **__: EVENTS.update([event])
)
TWIN = SimpleNamespace(
    jit=jax.jit,
    filter_jit=equinox.filter_jit,
    Module=equinox.Module,
    field=equinox.field,
    debug=SimpleNamespace(counters=lambda: SimpleNamespace(traces=EVENTS[TRACE])),
)

PRINTED = {
    "recreated_functions": [
        "a lambda: 5 trace",
        "a closure: 5 trace",
        "a partial: 5 trace",
        "a bound method: 5 trace",
        "a frozen dataclass: 5 trace",
    ],
    "a_function_made_by_a_method": ["6.0 1", "6.0 2", "8.0 3"],
    "a_rebound_name": ["2.0 2.0 2.0", "traces: 1"],
    "code_that_was_replaced": ["2.0", "2.0"],
    "recreated_models": [
        "shared: 1 trace for 3 models",
        "a lambda: 3 trace for 3 models",
        "a partial: 3 trace for 3 models",
        "a jitted partial: 3 trace for 3 models",
    ],
    "a_field_without_a_declaration": ["cannot assign to field 'fn'"],
}
QUOTED = {
    example.fun.__name__: example
    for chapter in programs.CHAPTERS.values()
    for example in chapter
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTED)
def test_jax_behaves_as_quoted(name, capsys):
    jax.numpy.ones(3)  # traced by JAX itself
    code = QUOTED[name].code
    namespace = {**vars(programs), "imprint": TWIN, "np": jax.numpy}
    exec(f"def program():\n{textwrap.indent(code, '    ')}", namespace)
    namespace["program"]()
    assert capsys.readouterr().out.splitlines() == PRINTED[name]
    assert QUOTED[name].jax
