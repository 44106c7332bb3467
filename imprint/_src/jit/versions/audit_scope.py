"""Fresh traces: those of an audit, which takes no earlier trace's word.

What a fresh trace gives is asked as if nothing had been traced before, nested functions
included. So while one runs, the traces of all definitions are found and kept in tables of
its own, which are compared with the others' and then forgotten.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple, TypeAlias

from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.versions.definitions import Definition
from imprint._src.jit.versions.table import Table


class _Kept(NamedTuple):
    """The fresh traces of one definition, which is kept alive: it is known by `id`."""

    definition: Definition
    traces: Table[TracedCall]


FreshTraces: TypeAlias = dict[int, _Kept]

_fresh: Final = ContextVar[FreshTraces | None]("imprint_fresh_traces", default=None)


@contextmanager
def fresh_traces() -> Generator[FreshTraces]:
    """Return a `with` in which every function is traced anew; it gives their traces."""
    traces: FreshTraces = {}
    token = _fresh.set(traces)
    try:
        yield traces
    finally:
        _fresh.reset(token)


def is_fresh() -> bool:
    """Tell whether what is traced now is traced by an audit."""
    return _fresh.get() is not None


def count_trace() -> None:
    """Count a trace, unless it is an audit's, which a user has not asked for."""
    COUNTERS.traces += not is_fresh()


def traces_of(definition: Definition) -> Table[TracedCall]:
    """Return the table in which a trace of a definition is found and kept."""
    fresh = _fresh.get()
    if fresh is None:
        return definition.traced
    return fresh.setdefault(id(definition), _Kept(definition, Table())).traces
