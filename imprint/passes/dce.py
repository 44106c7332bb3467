"""Dead code elimination: drop the equations whose results nobody uses.

All primitives are pure, so an equation is needed only if one of its results is. A
nested call keeps only the results that are used.
"""

from collections.abc import Sequence

from imprint.core.jaxpr import Atom, Eqn, Jaxpr, Var


def dce_jaxpr(jaxpr: Jaxpr, used: Sequence[bool] | None = None) -> Jaxpr:
    """Return `jaxpr` without the equations, and results, that are not used.

    Args:
        jaxpr: the program.
        used: which results are kept; all by default.
    """
    outvars: list[Atom] = [
        v for i, v in enumerate(jaxpr.outvars) if used is None or used[i]
    ]
    needed: set[Var] = {v for v in outvars if isinstance(v, Var)}
    eqns: list[Eqn] = []
    for eqn in reversed(jaxpr.eqns):
        if not needed.isdisjoint(eqn.outvars):
            needed.update(v for v in eqn.invars if isinstance(v, Var))
            eqns.append(eqn)
    eqns.reverse()
    return Jaxpr(jaxpr.constvars, jaxpr.invars, outvars, eqns, jaxpr.name)


def used_invars(jaxpr: Jaxpr) -> list[bool]:
    """Return, for each argument, whether an equation or a result uses it."""
    used: set[object] = set(jaxpr.outvars)
    for eqn in jaxpr.eqns:
        used.update(v for v in eqn.invars if isinstance(v, Var))
    return [v in used for v in jaxpr.invars]
