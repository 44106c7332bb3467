"""The jaxpr checker: does a jaxpr obey its own rules?

It finds mistakes of transforms, not of users, so what it raises is InternalError:
every var is bound once and before its use, every equation's results have the avals that
its shape rule gives, and a jaxpr that an equation holds has no constants; one that several
hold is checked once. Tests turn it on after every transform (`enable_checks`).
"""

from imprint._src.core.jaxpr import Eqn, Jaxpr, Literal, Var, subjaxprs
from imprint._src.errors import InternalError


def check_jaxpr(jaxpr: Jaxpr) -> None:
    """Raise InternalError, with the jaxpr, where `jaxpr` is not well formed."""
    _check(jaxpr, set())


def _check(jaxpr: Jaxpr, checked: set[Jaxpr]) -> None:
    if jaxpr in checked:
        return
    checked.add(jaxpr)
    bound: set[Var] = set()

    def bind(variables: tuple[Var, ...], what: str) -> None:
        for var in variables:
            if var in bound:
                raise _broken(jaxpr, f"{what}: {var} is bound twice")
            bound.add(var)

    bind(jaxpr.constvars + jaxpr.invars, "arguments")
    for eqn in jaxpr.eqns:
        for atom in eqn.invars:
            if isinstance(atom, Var) and atom not in bound:
                raise _broken(jaxpr, f"{eqn.primitive}: {atom} is used unbound")
        _check_eqn(jaxpr, eqn, checked)
        bind(tuple(eqn.outvars), str(eqn.primitive))
    for atom in jaxpr.outvars:
        if not isinstance(atom, Literal) and atom not in bound:
            raise _broken(jaxpr, f"result {atom} is unbound")


def _check_eqn(jaxpr: Jaxpr, eqn: Eqn, checked: set[Jaxpr]) -> None:
    avals = tuple(v.aval for v in eqn.invars)
    expected = eqn.primitive.out_avals(avals, eqn.params)
    came = tuple(v.aval for v in eqn.outvars)
    if expected != came:
        raise _broken(
            jaxpr, f"{eqn.primitive}: expected results {expected}, got {came}"
        )
    for inner in subjaxprs(eqn):
        if inner.consts:
            raise _broken(
                jaxpr, f"{eqn.primitive}: a jaxpr that it holds has constants"
            )
        _check(inner.jaxpr, checked)


def _broken(jaxpr: Jaxpr, what: str) -> InternalError:
    return InternalError(f"ill-formed jaxpr: {what}.\n{jaxpr}")
