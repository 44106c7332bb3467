"""Dead code elimination, and the arguments of an executable.

An equation is live if one of its results is used or it has effects. A control primitive
with unused results is narrowed by its `dce` rule, inside its jaxprs too, together with
operands that become unused. A jaxpr that loses nothing stays the same object, so calls
still share it.
"""

from collections.abc import Sequence
from itertools import compress
from operator import is_
from typing import Any, NamedTuple

from imprint._src.core.control import ControlPrimitive
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr
from imprint._src.core.primitive import Primitive
from imprint._src.core.tangents import is_float0
from imprint._src.interpreters.trace_to_jaxpr import hoist_consts


def dce(closed: ClosedJaxpr, used: Sequence[bool] | None = None) -> ClosedJaxpr:
    """Return `closed` without dead code, with the same arguments.

    If it loses nothing, it is the object that it was.

    Args:
        closed: the program.
        used: which results are kept; all by default.
    """
    jaxpr = dce_jaxpr(closed.jaxpr, used)
    if used is None and _same(jaxpr.eqns, closed.eqns):
        return closed
    return ClosedJaxpr(jaxpr, closed.consts)


def dce_jaxpr(jaxpr: Jaxpr, used: Sequence[bool] | None = None) -> Jaxpr:
    """Return `jaxpr` without unused equations and results.

    Args:
        jaxpr: the program.
        used: which results are kept; all by default.
    """
    outvars: list[Atom] = [
        v for i, v in enumerate(jaxpr.outvars) if used is None or used[i]
    ]
    needed: set[Atom] = {*outvars}
    eqns: list[Eqn] = []
    for eqn in reversed(jaxpr.eqns):
        if needed.isdisjoint(eqn.outvars) and not eqn.effects:
            continue
        if type(eqn.primitive) is ControlPrimitive:
            wanted = tuple(v in needed for v in eqn.outvars)
            eqn = eqn.primitive.narrow(eqn, wanted)
        needed.update(eqn.invars)
        eqns.append(eqn)
    eqns.reverse()
    return Jaxpr(jaxpr.constvars, jaxpr.invars, outvars, eqns, jaxpr.name)


def used_invars(jaxpr: Jaxpr) -> list[bool]:
    """Return, for each argument, whether an equation or a result uses it."""
    used: set[Atom] = {*jaxpr.outvars}
    for eqn in jaxpr.eqns:
        used.update(eqn.invars)
    return [v in used for v in jaxpr.invars]


def narrow(
    closed: ClosedJaxpr, used: tuple[bool, ...], keep: tuple[bool, ...] | None = None
) -> tuple[ClosedJaxpr, tuple[bool, ...]]:
    """Return the jaxpr of the used results and its needed arguments, as a mask.

    Args:
        closed: a jaxpr without constants, as control primitives hold it.
        used: which results are used.
        keep: arguments that stay even if they are not needed, such as those of a carry.
    """

    def derive() -> tuple[ClosedJaxpr | None, tuple[bool, ...]]:
        jaxpr = dce_jaxpr(closed.jaxpr, used)
        needed = used_invars(jaxpr)
        kept = tuple(a or b for a, b in zip(needed, keep or needed, strict=True))
        if all(used) and all(kept) and _same(jaxpr.eqns, closed.eqns):
            return None, kept  # itself would be a cycle, which only a collector frees
        args = [v for v, k in zip(jaxpr.invars, kept, strict=True) if k]
        return ClosedJaxpr(Jaxpr((), args, jaxpr.outvars, jaxpr.eqns, jaxpr.name)), kept

    narrower, kept = closed.derived(("dce", used, keep), derive)
    return narrower or closed, kept


def depending(
    primitive: Primitive, params: dict[str, Any], marked: Sequence[bool], count: int
) -> tuple[bool, ...]:
    """Return which results of an equation depend on a marked operand.

    Args:
        primitive: that of the equation.
        params: its params.
        marked: which of its operands are marked.
        count: how many results it has.
    """
    if type(primitive) is not ControlPrimitive or not any(marked):
        return (any(marked),) * count
    needs = (
        primitive.dce(tuple([j == i for j in range(count)]), **params).operands
        for i in range(count)
    )
    return tuple(any(compress(marked, needed)) for needed in needs)


def _same(ours: Sequence[Eqn], theirs: Sequence[Eqn]) -> bool:
    return len(ours) == len(theirs) and all(map(is_, ours, theirs))


# ---- arguments of an executable ----


class Pruned(NamedTuple):
    """A jaxpr with only the arguments that it uses.

    Args:
        jaxpr: the program, without constants of its own.
        consts: values of its leading arguments.
        kept: positions of the original's arguments that follow them.
    """

    jaxpr: Jaxpr
    consts: tuple[Any, ...]
    kept: tuple[int, ...]


def prune(closed: ClosedJaxpr, *, keep_unused: bool = False) -> Pruned:
    """Drop unused arguments and constants of a jaxpr, and make its constants arguments.

    An executable has arguments only; the used constants are its leading arguments. This
    changes the signature, so it runs once, after the passes, on the outermost jaxpr.

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
