"""The values of the names in symbolic sizes, computed from the arguments of a call.

A name is computed from an axis whose size is a multiple of it plus a constant. Then the
other axes and the constraints of the scope are checked.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray
from imprint._src.dynamic_shapes import SymbolicScope
from imprint._src.dynamic_shapes.expression import SymbolicSize
from imprint._src.dynamic_shapes.values import (
    allows,
    evaluate,
    names_of,
    size_arithmetic,
)
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.interpreters.lowering import SizeSource

Avals = Sequence[ShapedArray]


def scope_of(who: str, avals: Avals) -> SymbolicScope | None:
    """Return the scope of the names in shapes; None if there is no name.

    Raises:
        ArgumentError: there are several.
    """
    sizes: list[Any] = [n for a in avals for n in a.shape if dims.is_symbolic(n)]
    scopes = {id(n.scope): n.scope for n in sizes}
    if len(scopes) > 1:
        raise ArgumentError(
            f"{who}: expected the names in sizes from one scope, got {len(scopes)} "
            "scopes. Make all shapes with one call of symbolic_args_specs, or give "
            "symbolic_shape the same scope=."
        )
    return next(iter(scopes.values()), None)


def sources(who: str, avals: Avals) -> dict[str, SizeSource]:
    """Return where each name is found among the arguments.

    Raises:
        ArgumentError: a name has no axis from which it can be computed.
    """
    found: dict[str, SizeSource] = {}
    wanted: set[str] = set()
    for i, aval in enumerate(avals):
        shape: tuple[Any, ...] = aval.shape
        for axis, n in enumerate(shape):
            if type(n) is not SymbolicSize:
                continue
            wanted.update(names_of(n))
            alone = _alone(n)
            if alone is not None:
                name, factor, offset = alone
                source = SizeSource(i, axis, factor, offset)
                if name not in found or _is_plainer(source, found[name]):
                    found[name] = source
    missing = sorted(wanted - {*found})
    if missing:
        raise ArgumentError(
            f"{who}: expected for each name an axis from which it can be computed, got "
            f"none for {', '.join(missing)}. Pass an array that has it as a length."
        )
    return dict(sorted(found.items()))


def _is_plainer(a: SizeSource, b: SizeSource) -> bool:
    return (a.factor != 1, a.offset != 0) < (b.factor != 1, b.offset != 0)


def _alone(n: SymbolicSize) -> tuple[str, int, int] | None:
    """Return name, factor and offset of a size that is no more than that."""
    terms = dict(n.terms)
    offset = terms.pop((), 0)
    if len(terms) != 1:
        return None
    ((monomial, factor),) = terms.items()
    if len(monomial) != 1 or monomial[0][1] != 1 or factor < 1:
        return None
    name = monomial[0][0]
    return None if name in n.scope.operations else (name, factor, offset)


def values_of(
    who: str, avals: Avals, given: Avals, names: Sequence[str]
) -> dict[str, Any]:
    """Return the values of the names in a call.

    Args:
        who: the function, for errors.
        avals: of the parameters; they have the names.
        given: of the arguments.
        names: of the arguments, for errors.

    Raises:
        ShapeError: one name would be two sizes, or the constraints do not hold.
    """
    for aval, got, name in zip(avals, given, names, strict=True):
        if len(aval.shape) != len(got.shape):
            raise _unlike(who, aval, got, name)
    found: dict[str, Any] = {}
    for name, source in sources(who, avals).items():
        n = given[source.argument].shape[source.axis] - source.offset
        if not dims.divides(source.factor, n):
            at = avals[source.argument]
            raise _unlike(who, at, given[source.argument], names[source.argument])
        found[name] = n // source.factor
    for aval, got, name in zip(avals, given, names, strict=True):
        for n, m in zip(aval.shape, got.shape, strict=True):
            if not dims.equal(size_at(n, found), m):
                raise _unlike(who, aval, got, name, found)
    scope = scope_of(who, avals)
    if scope is not None and not _is_allowed(scope, found):
        raise ShapeError(
            f"{who}: expected sizes for which {_said(scope)} holds, got {_listed(found)}. "
            "Give symbolic_shape constraints that allow them."
        )
    return found


def size_at(n: Any, values: Mapping[str, Any]) -> Any:
    """Return a size with numbers, or other sizes, for its names."""
    if type(n) is not SymbolicSize:
        return n
    if all(type(v) is int for v in values.values()):
        return evaluate(n, values)
    return n.computed(lambda x: values[x] if isinstance(x, str) else x, size_arithmetic)


def _is_allowed(scope: SymbolicScope, values: Mapping[str, Any]) -> bool:
    """Return whether constraints hold; of sizes that are names it is taken to be so."""
    if any(type(v) is not int for v in values.values()):
        return True
    return allows(scope, values)


def _said(scope: SymbolicScope) -> str:
    return " and ".join(scope.constraints) or "each name is at least 1"


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {n}" for name, n in values.items())


def _unlike(
    who: str,
    aval: ShapedArray,
    got: ShapedArray,
    name: str,
    found: Mapping[str, Any] | None = None,
) -> ShapeError:
    known = f" where {_listed(found)}" if found else ""
    return ShapeError(
        f"{who}: expected {name} of shape {aval.shape}{known}, got {got.shape}. The same "
        "name is the same size in all arguments of a call."
    )
