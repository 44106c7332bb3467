"""Cuts: which values are written to memory instead of being computed again?

XLA:CPU fuses a cheap operation into each of its users, and so computes it once in each.
Where the users are used twice again, work multiplies along the path: programs with reuse
take time to compile that grows with a power of their length, and run many times slower. A
value that would be computed again at more than the cost of writing it is made a
`materialize`, which nothing fuses across; so is one between many functions in a row that
are vectors of polynomials, which make one loop too large. What is shared little stays one
fusion. A nested call is inlined: what it adds to the work of its operands is known once.
Integers are left alone: hashes reuse each value, in one kernel, which computes it once.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, final

from imprint.config import config
from imprint.core import dims
from imprint.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var
from imprint.core.source import Source
from imprint.dtypes import is_inexact
from imprint.primitives.barrier import materialize_p

# ---- the figures ----
#
# Measured on a Xeon with AVX-512 over 22 programs (ODE solvers unrolled, chains, networks
# and their gradients) with jaxlib 0.10.2 and 0.12; a unit is an addition of one element.

_LIMIT: Final = 48.0  # 24 to 96 are alike; with 12, attention is cut
_CALLED: Final = 20.0  # sin, cos, tan: the engine takes them for cheap
_IN_A_ROW: Final = 2  # ten tanh of 30,000: 358 µs become 164, cut by threes 193
_LARGE: Final = 10_000  # of 3,000 elements a cut costs what it gains
_APART: Final = 2_000  # elements that are reduced by themselves; 1,024 are not

_CUTS: Final = "cuts"


class Cut(NamedTuple):
    """A value that is written to memory.

    Args:
        value: the operation that makes it, and its type: `mul f32[1000]`.
        source: where the user wrote that.
        uses: how many operations would compute it.
        work: what each of them would compute, in additions an element.
    """

    value: str
    source: Source | None
    uses: int
    work: float

    def __str__(self) -> str:
        at = f" at {self.source}" if self.source else ""
        return f"{self.value}{at}: {self.uses} uses of {self.work:.0f} additions each"


class _Body(NamedTuple):
    """What a nested call adds to the work of its operands.

    Args:
        own: for each result, the work of computing it from operands in memory.
        shares: for each result, how often it computes each operand.
        uses: how many operations use each operand.
    """

    own: tuple[float, ...]
    shares: tuple[tuple[float, ...], ...]
    uses: tuple[int, ...]


def cut(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Return the program with values written to memory that it would compute too often."""
    if not config.cut_recomputation:
        return closed
    cutting = _Cutting(closed.jaxpr)
    found = cutting.run(closed.consts)
    if found is None:
        return closed
    found.derived(_CUTS, lambda: tuple(cutting.cuts))
    return found


def cuts_of(closed: ClosedJaxpr) -> tuple[Cut, ...]:
    """Return what `cut` writes to memory in a program that it made, and in its bodies."""
    return tuple(
        found
        for part in _parts(closed, set())
        for found in part.derived(_CUTS, tuple[Cut, ...])
    )


def _parts(closed: ClosedJaxpr, seen: set[int]) -> Iterator[ClosedJaxpr]:
    """Yield a program and its bodies, each once."""
    if id(closed) not in seen:
        seen.add(id(closed))
        yield closed
        for body in closed.jaxpr.bodies:
            yield from _parts(body, seen)


@final
class _Cutting:
    """One walk over a jaxpr.

    Attributes:
        uses: how many operations compute each value, unless it is in memory.
        kept: what the engine keeps in memory for a user that it cannot fuse it into.
        work: of values that are not, additions an element from what is.
        row: how many dear functions follow each other since then.
        written: the variables of what is in memory by a cut.
    """

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.jaxpr = jaxpr
        self.uses = _uses_of(jaxpr)
        self.kept = {v for eqn in jaxpr.eqns if _is_apart(eqn) for v in eqn.invars}
        self.work: dict[Atom, float] = {}
        self.row: dict[Atom, int] = {}
        self.written: dict[Atom, Var] = {}
        self.eqns: list[Eqn] = []
        self.cuts: list[Cut] = []

    def run(self, consts: Sequence[Any]) -> ClosedJaxpr | None:
        """Return the program with its cuts; None if it has none."""
        jaxpr = self.jaxpr
        for eqn in jaxpr.eqns:
            cost = _cost(eqn)
            if cost is not None:
                self._fusible(eqn, cost)
            elif eqn.primitive.is_call:
                self._call(eqn)
            else:  # its results are in memory
                self._keep(eqn)
        if not self.cuts:
            return None
        outvars = [self.written.get(v, v) for v in jaxpr.outvars]
        return ClosedJaxpr(
            Jaxpr(jaxpr.constvars, jaxpr.invars, outvars, self.eqns, jaxpr.name), consts
        )

    def _fusible(self, eqn: Eqn, cost: float) -> None:
        out, operands = eqn.outvars[0], _reread(eqn)
        row = max([self.row.get(v, 0) for v in operands], default=0)
        if eqn.primitive.name in _IN_VECTORS and _is_at_least(out, _LARGE):
            if row >= _IN_A_ROW:
                for v in {*operands}:
                    if self.row.get(v) == row:
                        self._write(v, eqn)
                row = 0
            row += 1
        self._keep(eqn)
        self.row[out] = row
        work = cost + sum([self.work.get(v, 0.0) for v in operands]) if cost else 0.0
        self._made(eqn, out, work)

    def _call(self, eqn: Eqn) -> None:
        body = _body_of(eqn)
        works = [self.work.get(v, 0.0) for v in eqn.invars]
        self._keep(eqn)
        for out, own, shares in zip(eqn.outvars, body.own, body.shares, strict=True):
            again = sum([n * w for n, w in zip(shares, works, strict=True) if n])
            self._made(eqn, out, own + again)

    def _keep(self, eqn: Eqn) -> None:
        if self.written and not self.written.keys().isdisjoint(eqn.invars):
            invars = [self.written.get(v, v) for v in eqn.invars]
            eqn = Eqn(invars, eqn.outvars, eqn.primitive, eqn.params, eqn.source)
        self.eqns.append(eqn)

    def _made(self, eqn: Eqn, out: Var, work: float) -> None:
        again = self.uses.get(out, 0) - 1
        self.work[out] = 0.0 if out in self.kept else work
        ends_row = again > 0 and self.row.get(out, 0) >= _IN_A_ROW
        if ends_row or self.work[out] * again >= _LIMIT:
            self._write(out, eqn)

    def _write(self, value: Atom, eqn: Eqn) -> None:
        """Write a value to memory: what `eqn` makes, or takes."""
        self.written[value] = written = Var(value.aval)
        self.eqns.append(Eqn([value], [written], materialize_p, {}, eqn.source))
        name = f"{eqn.primitive} {value.aval.short()}"
        work, uses = self.work.pop(value), self.uses.get(value, 0)
        self.row.pop(value, None)
        self.cuts.append(Cut(name, eqn.source, uses, work))


def _cost(eqn: Eqn) -> float | None:
    """Return the additions that an element costs; None if nothing is fused into it."""
    cost = _COSTS.get(eqn.primitive.name)
    return cost if cost is None or is_inexact(eqn.outvars[0].aval.dtype) else 0.0


def _reread(eqn: Eqn) -> Sequence[Atom]:
    """Return the operands of which an element is computed for each of the result."""
    if eqn.primitive.name == "broadcast_in_dim":
        shapes = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
        return eqn.invars if dims.is_same_shape(*shapes) else ()
    return eqn.invars


def _is_apart(eqn: Eqn) -> bool:
    """Tell whether no operand is fused into an operation: then it is computed once."""
    name = eqn.primitive.name
    if name in ("dot_general", "conv_general_dilated"):
        return eqn.outvars[0].aval.ndim > 0
    return name.startswith("reduce_") and _is_at_least(eqn.invars[0], _APART)


def _is_at_least(value: Atom, size: int) -> bool:
    return not dims.is_symbolic(value.aval.size) and value.aval.size >= size


def _uses_of(jaxpr: Jaxpr) -> dict[Atom, int]:
    """Return how many operations use each value, those inside a call one by one."""
    uses: dict[Atom, int] = {}
    for eqn in jaxpr.eqns:
        is_call = eqn.primitive.is_call
        counts = _body_of(eqn).uses if is_call else (1,) * len(eqn.invars)
        for v, n in zip(eqn.invars, counts, strict=True):
            uses[v] = uses.get(v, 0) + n
    for v in jaxpr.outvars:
        uses[v] = uses.get(v, 0) + 1
    return uses


def _body_of(call: Eqn) -> _Body:
    (closed,) = call.primitive.jaxprs(call.params)
    return closed.derived("work", lambda: _body(closed.jaxpr))


def _body(jaxpr: Jaxpr) -> _Body:
    """Work out what a body adds, which has its own cuts by now."""
    own: dict[Atom, float] = {}
    shares: dict[Atom, dict[Atom, float]] = {v: {v: 1.0} for v in jaxpr.invars}
    for eqn in jaxpr.eqns:
        cost = _cost(eqn)
        if cost is not None:
            parts = [(1.0, v) for v in _reread(eqn)]
            _add(own, shares, eqn.outvars[0], cost, parts)
        elif eqn.primitive.is_call:
            body = _body_of(eqn)
            for out, cost, counts in zip(
                eqn.outvars, body.own, body.shares, strict=True
            ):
                _add(own, shares, out, cost, [*zip(counts, eqn.invars, strict=True)])
    uses = _uses_of(jaxpr)
    return _Body(
        own=tuple([own.get(v, 0.0) for v in jaxpr.outvars]),
        shares=tuple(
            [
                tuple([shares.get(out, {}).get(v, 0.0) for v in jaxpr.invars])
                for out in jaxpr.outvars
            ]
        ),
        uses=tuple([uses.get(v, 0) for v in jaxpr.invars]),
    )


def _add(
    own: dict[Atom, float],
    shares: dict[Atom, dict[Atom, float]],
    out: Var,
    cost: float,
    parts: list[tuple[float, Atom]],
) -> None:
    """Note a result that computes parts again, each so many times."""
    own[out] = cost + sum([n * own.get(v, 0.0) for n, v in parts])
    total: dict[Atom, float] = {}
    for n, v in parts:
        for operand, share in shares.get(v, {}).items():
            total[operand] = total.get(operand, 0.0) + n * share
    shares[out] = total


_COSTS: Final[dict[str, float]] = {
    **dict.fromkeys(
        (
            *("abs", "add", "and", "bitcast_convert_type", "broadcast_in_dim", "ceil"),
            *(
                "clamp",
                "complex",
                "concatenate",
                "conj",
                "convert_element_type",
                "copy",
            ),
            *("eq", "floor", "ge", "gt", "imag", "is_finite", "le", "lt", "max", "min"),
            *(
                "mul",
                "name",
                "ne",
                "neg",
                "not",
                "or",
                "pad",
                "real",
                "reduce_precision",
            ),
            *("reshape", "rev", "round", "select_n", "shift_left", "sign", "slice"),
            *("shift_right_arithmetic", "shift_right_logical", "square", "squeeze"),
            *("stop_gradient", "sub", "transpose", "xor", "integer_pow"),
        ),
        1.0,
    ),
    **dict.fromkeys(("cos", "sin", "tan"), _CALLED),
    **dict.fromkeys(
        (
            *(
                "acos",
                "acosh",
                "asin",
                "asinh",
                "atan",
                "atan2",
                "atanh",
                "cbrt",
                "cosh",
            ),
            *(
                "digamma",
                "div",
                "erf",
                "erf_inv",
                "erfc",
                "exp",
                "exp2",
                "expm1",
                "lgamma",
            ),
            *(
                "log",
                "log1p",
                "logistic",
                "pow",
                "rem",
                "rsqrt",
                "sinh",
                "sqrt",
                "tanh",
            ),
        ),
        0.0,  # the engine takes them for dear, and never computes them twice
    ),
}
"""Additions that an element costs; an operation that is not here is fused into no other."""

_IN_VECTORS: Final = frozenset(
    ("erf", "erfc", "exp", "expm1", "log", "log1p", "logistic", "tanh")
)
"""Functions that are polynomials; ten of them in one loop run slower than one by one."""
