"""Jaxprs: programs as data.

    jaxpr ::= { lambda constvars ; invars . let eqns in outvars }

A `ClosedJaxpr` is a jaxpr with the values of its constvars. Vars are compared by
identity; a `Literal` is a rank-0 constant written into the equation. Jaxprs are not
changed once built. What a transform derives from a closed jaxpr is kept in its `memo`,
so the derived jaxpr is one object, and dies with it.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar, final

from imprint._src.core.aval import ShapedArray, number_of
from imprint._src.core.derived import Kept, derive
from imprint._src.core.effects import PURE, Effects
from imprint._src.core.pretty import format_jaxpr
from imprint._src.core.primitive import NO_NAMES, AxisNames, Primitive
from imprint._src.core.trace import named_axes
from imprint._src.diagnostics import source
from imprint._src.diagnostics.source import Source


@final
class Var:
    """A variable of a jaxpr."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval: ShapedArray = aval

    def __repr__(self) -> str:
        return f"Var(id={id(self)}):{self.aval.short()}"


@final
class Literal:
    """A rank-0 constant in the place of a variable."""

    __slots__ = ("aval", "value")

    def __init__(self, value: Any, aval: ShapedArray) -> None:
        self.value: Any = value
        self.aval: ShapedArray = aval

    @property
    def val(self) -> Any:
        """The value, under JAX's name."""
        return self.value

    def read(self) -> Any:
        """Return the value as an operand, of the aval that it had when it was staged."""
        return number_of(self.value, self.aval.dtype)

    def __repr__(self) -> str:
        return f"{self.value}:{self.aval.short()}"


Atom = Var | Literal


@final
class Eqn:
    """`outvars = primitive[params] invars`, and where the user wrote it."""

    __slots__ = ("invars", "outvars", "params", "primitive", "source")

    def __init__(
        self,
        invars: Sequence[Atom],
        outvars: Sequence[Var],
        primitive: Primitive,
        params: dict[str, Any],
        source: Source | None = None,
    ) -> None:
        self.invars: Sequence[Atom] = invars
        self.outvars: Sequence[Var] = outvars
        self.primitive: Primitive = primitive
        self.params: dict[str, Any] = params
        self.source: Source | None = source

    @property
    def effects(self) -> Effects:
        """What it does besides giving its results."""
        return self.primitive.effects_of(self.params)


@final
class Jaxpr:
    """A program with free constants; see `ClosedJaxpr`."""

    __slots__ = (
        *("_axis_names", "_bodies", "_effects"),
        *("constvars", "eqns", "invars", "name", "outvars"),
    )

    def __init__(
        self,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        outvars: Sequence[Atom],
        eqns: Sequence[Eqn],
        name: str = "",
    ) -> None:
        self.constvars: tuple[Var, ...] = tuple(constvars)
        self.invars: tuple[Var, ...] = tuple(invars)
        self.outvars: tuple[Atom, ...] = tuple(outvars)
        self.eqns: tuple[Eqn, ...] = tuple(eqns)
        self.name: str = name
        self._axis_names: AxisNames | None = None
        self._bodies: tuple[ClosedJaxpr, ...] | None = None
        self._effects: Effects | None = None

    @property
    def axis_names(self) -> AxisNames:
        """The named axes that its equations need."""
        if self._axis_names is None:
            every = (eqn.primitive.axis_names_of(eqn.params) for eqn in self.eqns)
            self._axis_names = NO_NAMES.union(*every)
        return self._axis_names

    @property
    def bodies(self) -> "tuple[ClosedJaxpr, ...]":
        """The jaxprs that its equations hold, in order."""
        if self._bodies is None:
            holding = [eqn for eqn in self.eqns if eqn.params]
            self._bodies = tuple(b for eqn in holding for b in subjaxprs(eqn))
        return self._bodies

    @property
    def effects(self) -> Effects:
        """What its equations do besides giving their results."""
        if self._effects is None:
            self._effects = PURE.union(*(eqn.effects for eqn in self.eqns))
        return self._effects

    def __str__(self) -> str:
        return format_jaxpr(self)

    __repr__ = __str__


class ClosedJaxpr:
    """A jaxpr with its constants."""

    __slots__ = ("__weakref__", "_memo", "consts", "jaxpr")

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any] = ()) -> None:
        self.jaxpr: Jaxpr = jaxpr
        self.consts: tuple[Any, ...] = tuple(consts)
        self._memo: dict[Hashable, Any] = {}

    @property
    def in_avals(self) -> tuple[ShapedArray, ...]:
        """The avals of the arguments."""
        return tuple(v.aval for v in self.jaxpr.invars)

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        """The avals of the results."""
        return tuple(v.aval for v in self.jaxpr.outvars)

    @property
    def eqns(self) -> tuple[Eqn, ...]:
        """The equations."""
        return self.jaxpr.eqns

    def derived(self, key: Hashable, make: Callable[[], "_T"]) -> "_T":
        """Return what `make` derives from this jaxpr, made once a key.

        It may run rules of the user's, which see the named axes around: these count too.
        """
        axes = named_axes()
        if axes:
            key = key, axes
        found = self._memo.get(key)
        if found is None or type(found) is Kept:
            found = derive(self._memo, key, make)
        return found

    def __str__(self) -> str:
        return str(self.jaxpr)

    __repr__ = __str__


_T = TypeVar("_T")


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Run a jaxpr by binding its equations under the current trace.

    Args:
        jaxpr: the program.
        consts: values of `jaxpr.constvars`.
        args: values of `jaxpr.invars`.

    Returns:
        The values of `jaxpr.outvars`.
    """
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    for eqn in jaxpr.eqns:
        operands = [v.read() if type(v) is Literal else env[v] for v in eqn.invars]
        token = source.set_replayed_source(eqn.source or source.replayed_source())
        try:
            results = eqn.primitive.bind(*operands, **eqn.params)
        finally:
            source.reset_replayed_source(token)
        env.update(zip(eqn.outvars, results, strict=True))
    return [v.read() if isinstance(v, Literal) else env[v] for v in jaxpr.outvars]


def subjaxprs(eqn: Eqn) -> tuple[ClosedJaxpr, ...]:
    """Return the jaxprs that the params of an equation hold."""
    return eqn.primitive.jaxprs(eqn.params)


def map_subjaxprs(
    closed: ClosedJaxpr, change: Callable[[ClosedJaxpr], ClosedJaxpr]
) -> ClosedJaxpr:
    """Return a jaxpr with each jaxpr that its equations hold changed.

    If none is, it is the object that it was, with all that is kept of it.
    """
    bodies = closed.jaxpr.bodies
    if not bodies:
        return closed
    changed = {id(body): change(body) for body in bodies}
    if all(changed[id(body)] is body for body in bodies):
        return closed
    jaxpr = closed.jaxpr
    eqns = [
        _with_subjaxprs(eqn, lambda body: changed[id(body)]) if eqn.params else eqn
        for eqn in jaxpr.eqns
    ]
    made = Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, eqns, jaxpr.name)
    return ClosedJaxpr(made, closed.consts)


def _with_subjaxprs(eqn: Eqn, change: Callable[[ClosedJaxpr], ClosedJaxpr]) -> Eqn:
    held = subjaxprs(eqn)
    if not held:
        return eqn
    params = eqn.primitive.with_jaxprs(eqn.params, tuple(map(change, held)))
    return Eqn(eqn.invars, eqn.outvars, eqn.primitive, params, eqn.source)
