"""A symbolic jaxpr at concrete sizes: each name becomes a number.

Sizes occur in avals and in params: alone, in tuples and dicts, and in the jaxprs that
params hold. A size that is used as a number becomes a literal. Derivative rules in
params stay symbolic, because the result is only lowered, not differentiated. A jaxpr
that several equations share stays one.
"""

from collections.abc import Mapping
from typing import Any, cast, final

from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from imprint._src.dynamic_shapes.expression import SymbolicSize
from imprint._src.dynamic_shapes.values import evaluate
from imprint._src.primitives.shape import dim_as_value_p


def instantiate(closed: ClosedJaxpr, sizes: Mapping[str, int]) -> ClosedJaxpr:
    """Return a symbolic jaxpr at concrete sizes.

    Args:
        closed: the program.
        sizes: the value of each name in it.
    """
    return Instance(sizes).closed(closed)


@final
class Instance:
    """Replaces symbolic sizes in programs by numbers.

    Args:
        sizes: the value of each name.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes: Mapping[str, int] = sizes
        self._made: dict[int, tuple[ClosedJaxpr, ClosedJaxpr]] = {}

    def closed(self, closed: ClosedJaxpr) -> ClosedJaxpr:
        """Return a jaxpr at these sizes."""
        found = self._made.get(id(closed))
        if found is None:
            jaxpr = self._jaxpr(closed.jaxpr)
            found = closed, ClosedJaxpr(jaxpr, closed.consts)
            self._made[id(closed)] = found
        return found[1]

    def aval(self, aval: ShapedArray) -> ShapedArray:
        """Return an aval at these sizes."""
        shape = self.value(aval.shape)
        if shape is aval.shape:
            return aval
        return ShapedArray(shape, aval.dtype, aval.weak_type, aval.sharding)

    def value(self, x: Any) -> Any:
        """Return a param at these sizes; the same object if it contains no name."""
        if type(x) is SymbolicSize:
            return evaluate(x, self.sizes)
        if isinstance(x, tuple | list):
            given = cast("tuple[Any, ...]", x)
            parts = [*map(self.value, given)]
            if all(a is b for a, b in zip(parts, given, strict=True)):
                return given
            kind = type(given)
            return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
        if isinstance(x, dict):
            table = cast("dict[Any, Any]", x)
            return {key: self.value(part) for key, part in table.items()}
        if isinstance(x, ShapedArray):
            return self.aval(x)
        return self.closed(x) if isinstance(x, ClosedJaxpr) else x

    def _jaxpr(self, jaxpr: Jaxpr) -> Jaxpr:
        env: dict[Var, Atom] = {}

        def bound(var: Var) -> Var:
            made = env[var] = Var(self.aval(var.aval))
            return made

        def read(atom: Atom) -> Atom:
            return atom if isinstance(atom, Literal) else env[atom]

        constvars = [*map(bound, jaxpr.constvars)]
        invars = [*map(bound, jaxpr.invars)]
        eqns: list[Eqn] = []
        for eqn in jaxpr.eqns:
            params = {key: self.value(x) for key, x in eqn.params.items()}
            if eqn.primitive is dim_as_value_p:
                (out,) = eqn.outvars
                env[out] = Literal(params["dim"], out.aval)
                continue
            operands = [*map(read, eqn.invars)]
            outs = [*map(bound, eqn.outvars)]
            eqns.append(Eqn(operands, outs, eqn.primitive, params, eqn.source))
        outvars = [*map(read, jaxpr.outvars)]
        return Jaxpr(constvars, invars, outvars, eqns, jaxpr.name)
