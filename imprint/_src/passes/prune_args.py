"""Pruning: which arguments and constants does a program take from its caller?

An executable has arguments only, so the constants that are used become leading arguments,
whose values are put on the device once; arguments that nothing uses are dropped. That
changes the signature, and the caller must know how: so `prune` is no pass of the
pipeline. It runs once, after the passes, on the outermost jaxpr.
"""

from typing import Any, NamedTuple

from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr
from imprint._src.core.tangents import is_float0
from imprint._src.interpreters.dce import used_invars
from imprint._src.interpreters.trace_to_jaxpr import hoist_consts


class Pruned(NamedTuple):
    """A jaxpr that takes what it uses.

    Args:
        jaxpr: the program, without constants of its own.
        consts: values of its leading arguments.
        kept: positions of the original's arguments that follow them.
    """

    jaxpr: Jaxpr
    consts: tuple[Any, ...]
    kept: tuple[int, ...]


def prune(closed: ClosedJaxpr, *, keep_unused: bool = False) -> Pruned:
    """Drop what a jaxpr does not use, and make its constants arguments.

    Args:
        closed: the program, after the passes.
        keep_unused: whether arguments that nothing uses are kept.
    """
    jaxpr = hoist_consts(closed).jaxpr
    used = used_invars(jaxpr)
    count = len(closed.consts)
    wanted = [keep_unused and not is_float0(v.aval) for v in jaxpr.invars[count:]]
    kept = tuple(i for i, w in enumerate(wanted) if w or used[count + i])
    consts = [i for i, u in enumerate(used[:count]) if u]
    invars = [jaxpr.invars[i] for i in (*consts, *(count + k for k in kept))]
    return Pruned(
        jaxpr=Jaxpr((), invars, jaxpr.outvars, jaxpr.eqns, jaxpr.name),
        consts=tuple(closed.consts[i] for i in consts),
        kept=kept,
    )
