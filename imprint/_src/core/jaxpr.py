"""Jaxprs: programs as data.

    jaxpr ::= { lambda constvars ; invars . let eqns in outvars }

A `ClosedJaxpr` is a jaxpr with the values of its constvars. Vars are compared by
identity; a `Literal` is a rank-0 constant written into the equation. Jaxprs are not
changed once built. A jaxpr that a transform derives from a closed jaxpr is kept in its
memo, so it is one object and dies with it. User rules may read state that changes.
Their reads are kept with the derived result, which is valid as long as the reads hold.
`check_jaxpr` finds faults of transforms, not of users.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol, TypeVar, final

from imprint._src.core.aval import ShapedArray, number_of
from imprint._src.core.pretty import format_jaxpr
from imprint._src.core.primitive import NO_NAMES, PURE, AxisNames, Effects, Primitive
from imprint._src.core.trace import named_axes
from imprint._src.diagnostics import source
from imprint._src.diagnostics.source import Source
from imprint._src.errors import InternalError


class Reads(Protocol):
    """The values that a user rule read."""

    def holds(self) -> bool:
        """Return whether it is as it was."""
        raise NotImplementedError

    def count(self) -> None:
        """Take it in as read now."""
        raise NotImplementedError


@final
class DerivedEntry(NamedTuple):
    """A derived result, and the reads that it depends on."""

    result: Any
    reads: tuple[Reads, ...]


_T = TypeVar("_T")
_reads: ContextVar[dict[Reads, None] | None] = ContextVar("imprint_reads", default=None)
_derivation: ContextVar[ExitStack | None] = ContextVar(
    "imprint_derivation", default=None
)


def derivation() -> ExitStack | None:
    """Return what ends with the running derivation, whose result is kept; None outside."""
    return _derivation.get()


def track_read(reads: Reads) -> None:
    """Add the reads of a rule to the running derivation."""
    found = _reads.get()
    if found is not None:
        found[reads] = None


def derive(memo: dict[Hashable, Any], key: Hashable, make: Callable[[], _T]) -> _T:
    """Return the memoized result of `make`, if its reads still hold; else run it."""
    found = memo.get(key)
    if type(found) is DerivedEntry and all(reads.holds() for reads in found.reads):
        for reads in found.reads:
            reads.count()
            track_read(reads)
        return found.result
    if _derivation.get() is not None:
        return _derive(memo, key, make)
    with ExitStack() as ends:
        outer = _derivation.set(ends)
        try:
            return _derive(memo, key, make)
        finally:
            _derivation.reset(outer)


def _derive(memo: dict[Hashable, Any], key: Hashable, make: Callable[[], _T]) -> _T:
    read: dict[Reads, None] = {}
    token = _reads.set(read)
    try:
        made = make()
    finally:
        _reads.reset(token)
    if not read:
        return memo.setdefault(key, made)
    for reads in read:
        track_read(reads)
    memo[key] = DerivedEntry(made, tuple(read))
    return made


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
        """The value; JAX's name for it."""
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
        """The effects of the equation."""
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
        """The effects of its equations."""
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

    @property
    def constvars(self) -> tuple[Var, ...]:
        """The variables of the constants."""
        return self.jaxpr.constvars

    @property
    def invars(self) -> tuple[Var, ...]:
        """The variables of the arguments."""
        return self.jaxpr.invars

    @property
    def outvars(self) -> tuple[Atom, ...]:
        """The variables and literals of the results."""
        return self.jaxpr.outvars

    @property
    def literals(self) -> tuple[Any, ...]:
        """The constants; JAX's older name."""
        return self.consts

    @property
    def effects(self) -> Effects:
        """The effects of the equations."""
        return self.jaxpr.effects

    def replace(
        self, *, jaxpr: Jaxpr | None = None, consts: Sequence[Any] | None = None
    ) -> "ClosedJaxpr":
        """Return a closed jaxpr with another jaxpr or other constants."""
        return ClosedJaxpr(
            self.jaxpr if jaxpr is None else jaxpr,
            self.consts if consts is None else consts,
        )

    def pretty_print(self) -> str:
        """Return the text that `str` gives."""
        return str(self.jaxpr)

    @property
    def is_derived(self) -> bool:
        """Whether a result of `derived` is remembered."""
        return bool(self._memo)

    def derived(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return the result of `make`, memoized by `key`.

        User rules see the surrounding named axes, so these are part of the key.
        """
        axes = named_axes()
        if axes:
            key = key, axes
        found = self._memo.get(key)
        if found is None or type(found) is DerivedEntry:
            found = derive(self._memo, key, make)
        return found

    def __str__(self) -> str:
        return str(self.jaxpr)

    __repr__ = __str__


def eval_jaxpr(
    jaxpr: Jaxpr,
    consts: Sequence[Any],
    *args: Any,
    propagate_source_info: bool = True,
) -> list[Any]:
    """Run a jaxpr by binding its equations under the current trace.

    Args:
        jaxpr: the program.
        consts: values of `jaxpr.constvars`.
        args: values of `jaxpr.invars`.
        propagate_source_info: whether new equations have the lines of the old ones.

    Returns:
        The values of `jaxpr.outvars`.
    """
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    for eqn in jaxpr.eqns:
        operands = [v.read() if type(v) is Literal else env[v] for v in eqn.invars]
        replayed = eqn.source if propagate_source_info else None
        token = source.set_replayed_source(replayed or source.replayed_source())
        try:
            results = eqn.primitive.bind_all(*operands, **eqn.params)
        finally:
            source.reset_replayed_source(token)
        env.update(zip(eqn.outvars, results, strict=True))
    return [v.read() if isinstance(v, Literal) else env[v] for v in jaxpr.outvars]


def jaxpr_as_fun(closed_jaxpr: ClosedJaxpr, *args: Any) -> Callable[..., list[Any]]:
    """Return a function that runs a closed jaxpr; it returns a list of the results.

    Args:
        closed_jaxpr: the program.
        *args: its first arguments.

    Returns:
        A function of the other arguments.

    Example:
        >>> import imprint
        >>> double = imprint.core.jaxpr_as_fun(imprint.make_jaxpr(lambda x: 2 * x)(1.0))
        >>> double(3.0)
        [Array(6., dtype=float32, weak_type=True)]
    """

    def run(*rest: Any) -> list[Any]:
        return eval_jaxpr(closed_jaxpr.jaxpr, closed_jaxpr.consts, *args, *rest)

    return run


def subjaxprs(eqn: Eqn) -> tuple[ClosedJaxpr, ...]:
    """Return the jaxprs that the params of an equation hold."""
    return eqn.primitive.jaxprs(eqn.params)


def all_bodies(jaxpr: Jaxpr) -> Iterator[ClosedJaxpr]:
    """Yield the jaxprs inside a jaxpr at any depth, each once, outer before inner."""
    seen: set[int] = set()
    todo = [*reversed(jaxpr.bodies)]
    while todo:
        body = todo.pop()
        if id(body) not in seen:
            seen.add(id(body))
            yield body
            todo += reversed(body.jaxpr.bodies)


def all_eqns(jaxpr: Jaxpr) -> Iterator[Eqn]:
    """Yield the equations of a jaxpr and of all its bodies, each body once."""
    yield from jaxpr.eqns
    for body in all_bodies(jaxpr):
        yield from body.jaxpr.eqns


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


# ---- the checker ----


def check_jaxpr(jaxpr: Jaxpr) -> None:
    """Raise InternalError, with the jaxpr, where `jaxpr` is not well formed.

    Args:
        jaxpr: the program.

    Returns:
        None, if it is well formed.

    Raises:
        InternalError: a variable is unbound or bound twice, or the avals of an equation are
            not those that its primitive gives.
    """
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
