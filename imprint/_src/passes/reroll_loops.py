"""Rerolling: equal blocks of equations, from an unrolled Python loop, become one `scan`.

1. `blocks` finds the blocks, and `loop_carries` their operands and results.
2. `reroll_cost` decides whether the loop would be slower; then the blocks stay.
3. Operands that differ between blocks are stacked and scanned over. Rows of the stacked
   results of an earlier loop are scanned over as they are, also backwards, as the gradient
   of a loop does.
4. A value used after the loop is its last carry, or a row of a stacked result.
The step of a loop is rerolled in turn, for nested loops.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

from imprint._src.config import config
from imprint._src.control_flow.scan import scan_equation
from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    all_bodies,
)
from imprint._src.core.primitive import Params, Primitive
from imprint._src.diagnostics.source import Source
from imprint._src.passes.blocks import FEWEST, BlockRun, UseDef, runs_of
from imprint._src.passes.loop_carries import RerolledLoop, Slot, loop_of
from imprint._src.passes.pass_report import Rolled
from imprint._src.passes.reroll_cost import is_slower, is_too_large, may_gain
from imprint._src.primitives.core_ops import add_p, broadcast_in_dim_p, mul_p
from imprint._src.primitives.indexing.dynamic_slicing import dynamic_slice_p
from imprint._src.primitives.indexing.slicing import concatenate_p, slice_p
from imprint._src.primitives.shape import iota_p, reshape_p, rev_p

_ROLLS: Final = "rolls"
_ALONE: Final = 4
"""One of so many rows may be read out of a stack singly. If all are, as when the gradient
of a loop is not rerolled, 20 steps take 2 to 3 times as long."""


def roll(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Replace runs of equal blocks with loops."""
    if not config.roll_loops:
        return closed
    blocks = runs_of(closed.jaxpr, may_gain)
    if blocks is None:
        return closed
    runs, use_def = blocks
    rolling = _Reroller(closed.jaxpr, use_def)
    found = rolling.run(runs, closed.consts)
    if found is None:
        return closed
    found.derived(_ROLLS, lambda: tuple(rolling.rolls))
    return found


def rolls_of(closed: ClosedJaxpr) -> tuple[Rolled, ...]:
    """Return the loops that `roll` made in a program and in its bodies."""
    return tuple(
        found
        for part in (closed, *all_bodies(closed.jaxpr))
        for found in part.derived(_ROLLS, tuple[Rolled, ...])
    )


@final
class _Reroller:
    """Rerolls the loops of a jaxpr.

    Attributes:
        rows: the writer of its equations.
        rolls: the loops that were made.
    """

    def __init__(self, jaxpr: Jaxpr, use_def: UseDef) -> None:
        self.jaxpr = jaxpr
        self.use_def = use_def
        self.rows = _RowWriter()
        self.rolls: list[Rolled] = []

    def run(
        self, runs: Sequence[BlockRun], consts: Sequence[Any]
    ) -> ClosedJaxpr | None:
        """Return the program with its loops; None if it has none."""
        jaxpr, at = self.jaxpr, 0
        for loop in self._loops(runs):
            for eqn in jaxpr.eqns[at : loop.run.start]:
                self.rows.keep(eqn)
            self._loop(loop)
            at = loop.run.end
        if not self.rolls:
            return None
        for eqn in jaxpr.eqns[at:]:
            self.rows.keep(eqn)
        outvars = [self.rows.read(v) for v in jaxpr.outvars]
        return ClosedJaxpr(
            Jaxpr(jaxpr.constvars, jaxpr.invars, outvars, self.rows.eqns, jaxpr.name),
            consts,
        )

    def _loops(self, runs: Sequence[BlockRun]) -> list[RerolledLoop]:
        """Return loops that do not overlap, in order; those that save most come first."""
        loops: list[RerolledLoop] = []
        eqns = self.jaxpr.eqns
        taken = np.zeros(len(eqns), np.bool_)
        for every in runs:
            run = _outside(every, taken)
            block = eqns[run.start : run.start + run.length]
            if run.blocks >= FEWEST and not is_too_large(block):
                loop = loop_of(eqns, run, self.use_def)
                if loop is not None:
                    taken[loop.run.start : loop.run.end] = True
                    loops.append(loop)
        loops.sort(key=lambda loop: loop.run)
        while True:  # blocks that stay unrolled read rows of other loops singly
            rows = {
                v: (i, slot)
                for i, loop in enumerate(loops)
                for slot in loop.stacked
                for v in loop.variables(slot)
            }
            alone = Counter(rows[v][0] for v in self._taken_alone(loops, rows))
            kept = [
                loop
                for i, loop in enumerate(loops)
                if not is_slower(loop, rows)
                and alone[i] <= loop.run.blocks // _ALONE
                and loop.is_exact
            ]
            if len(kept) == len(loops):
                return kept
            loops = kept

    def _taken_alone(
        self, loops: Sequence[RerolledLoop], rows: dict[Any, Any]
    ) -> set[Any]:
        """Return the rows that no loop scans over and no concatenation joins again."""
        if not rows:
            return set()
        alone = {v for v in self.jaxpr.outvars if v in rows}
        carried = {v for loop in loops for v in loop.lasts}
        long: dict[Any, Any] = {}
        inside = {i for loop in loops for i in range(loop.run.start, loop.run.end)}
        for i, eqn in enumerate(self.jaxpr.eqns):
            if i in inside:
                continue
            if _adds_axis(eqn) and eqn.invars[0] in rows:
                long[eqn.outvars[0]] = eqn.invars[0]
                continue
            parts = [long.get(v, v) for v in eqn.invars]
            found = {v for v in parts if v in rows}
            if found and not (
                _is_concatenation(eqn) and len({rows[v] for v in found}) == 1
            ):
                alone |= found
        return alone - carried

    # ---- the loop ----

    def _loop(self, loop: RerolledLoop) -> None:
        """Write the loop of a run."""
        count, length = loop.run.blocks, loop.run.length
        source = self.rows.source = loop.eqns[0].source
        self.rolls.append(Rolled(count, length, source))
        reverse = any(map(self.rows.descends, loop.scanned))
        lasts = loop.lasts
        step, consts = _step(loop)
        carry = [
            self.rows.zeros(v.aval) if first is None else self.rows.read(first)
            for v, first in zip(lasts, loop.carry.values(), strict=True)
        ]
        order = slice(None, None, -1 if reverse else None)
        constant = [self.rows.read(v) for v in consts]
        scanned = [self.rows.stack(values[order]) for values in loop.scanned]
        eqn = scan_equation(
            roll(step),
            (constant, carry, scanned),
            lasts,
            length=count,
            reverse=reverse,
            source=source,
        )
        self.rows.eqns.append(eqn)
        stacks = eqn.outvars[len(lasts) :]
        for slot, stack in zip(loop.stacked, stacks, strict=True):
            self.rows.add(stack, loop.variables(slot)[order], lasts)


def _outside(run: BlockRun, taken: Any) -> BlockRun:
    """Return the blocks of a run before the taken equations, or after, if more."""
    start, length, blocks = run
    places = np.flatnonzero(taken[start : run.end])
    if not len(places):
        return run
    before, behind = int(places[0]) // length, int(places[-1]) // length + 1
    if before >= blocks - behind:
        return BlockRun(start, length, before)
    return BlockRun(start + behind * length, length, blocks - behind)


def _step(loop: RerolledLoop) -> tuple[ClosedJaxpr, list[Var]]:
    """Return the step of a loop, and its constants, which are its first arguments."""
    values: dict[Any, Var] = {}
    for slot in loop.carry:
        values[slot] = Var(loop.variables(slot)[0].aval)
    carry = [*values.values()]
    xs = [Var(each[0].aval) for each in loop.scanned]
    values.update(enumerate(xs))
    consts: list[Var] = []
    eqns: list[Eqn] = []
    last = loop.eqns[-loop.run.length :]
    for at, (eqn, operands) in enumerate(zip(last, loop.step, strict=True)):
        for v in operands:
            if isinstance(v, Var) and v not in values:
                consts.append(v)
                values[v] = Var(v.aval)
        outs = [Var(v.aval) for v in eqn.outvars]
        values.update((Slot(at, r, 0), v) for r, v in enumerate(outs))
        taken: list[Atom] = [
            v if isinstance(v, Literal) else values[v] for v in operands
        ]
        eqns.append(_step_equation(eqn, taken, outs))
    results = [values[slot._replace(back=slot.back - 1)] for slot in loop.carry]
    results += [values[slot] for slot in loop.stacked]
    invars = [*(values[v] for v in consts), *carry, *xs]
    return ClosedJaxpr(Jaxpr((), invars, results, eqns)), consts


def _step_equation(eqn: Eqn, invars: list[Atom], outs: list[Var]) -> Eqn:
    """Return an equation of a step: a `slice` with varying starts is dynamic."""
    if len(invars) == len(eqn.invars):
        return Eqn(invars, outs, eqn.primitive, eqn.params, eqn.source)
    params = {"slice_sizes": outs[0].aval.shape}
    return Eqn(invars, outs, dynamic_slice_p, params, eqn.source)


# ---- rows of stacked results ----
#
# A row is read out of its stack if an equation takes it singly. If the program adds the
# axis of the stack to consecutive rows and joins them again, they are a slice of the
# stack, or all of it; so are consecutive rows that a later loop scans over.

_COUNTED: Final = {np.dtype(name) for name in ("int32", "int64", "float32", "float64")}
"""Dtypes whose equidistant whole numbers become an `iota`."""


def _adds_axis(eqn: Eqn) -> bool:
    """Return whether an equation only adds a first axis of length 1."""
    if eqn.primitive is not broadcast_in_dim_p and eqn.primitive is not reshape_p:
        return False
    return eqn.outvars[0].aval.shape == (1, *eqn.invars[0].aval.shape)


def _is_concatenation(eqn: Eqn) -> bool:
    """Return whether an equation joins arrays along their first axes."""
    return eqn.primitive is concatenate_p and not eqn.params["dimension"]


class _StackedRow(NamedTuple):
    """A row of a stacked result.

    Args:
        of: the stack.
        at: its index.
        long: whether it has the axis of the stack, with length 1.
    """

    of: Var
    at: int
    long: bool


@final
class _RowWriter:
    """Writes equations, with rows of stacked results as operands.

    Attributes:
        eqns: the equations.
        source: the line in user code of added equations.
    """

    def __init__(self) -> None:
        self.eqns: list[Eqn] = []
        self.source: Source | None = None
        self._rows: dict[Atom, _StackedRow] = {}
        self._absent: set[Atom] = set()  # rows not yet read out of their stack
        self._renamed: dict[Atom, Atom] = {}

    def add(self, stack: Var, variables: Sequence[Var], there: Sequence[Var]) -> None:
        """Record the rows of a stack.

        Args:
            stack: the stack.
            variables: the variables of its rows.
            there: variables that have their values without it.
        """
        for k, v in enumerate(variables):
            self._rows[v] = _StackedRow(stack, k, long=False)
        self._absent.update(variables)
        self._absent.difference_update(there)

    def descends(self, values: Sequence[Atom]) -> bool:
        """Return whether values are rows from the last to the first."""
        first = self._rows.get(values[0])
        return first is not None and all(
            self._is_row(v, first, -k) for k, v in enumerate(values)
        )

    def zeros(self, aval: ShapedArray) -> Atom:
        """Return the initial value of a carry that no step takes."""
        zero = Literal(aval.dtype.type(0), aval.with_shape(()))
        if not aval.shape:
            return zero
        params = {"shape": aval.shape, "broadcast_dimensions": ()}
        return self._bind(broadcast_in_dim_p, [zero], params)

    def keep(self, eqn: Eqn) -> None:
        """Write an unrolled equation; rows are read out of their stacks."""
        if not self._rows or not (self._lengthens(eqn) or self._joins(eqn)):
            self.source = eqn.source
            invars = [self.read(v) for v in eqn.invars] if self._rows else eqn.invars
            self.eqns.append(
                Eqn(invars, eqn.outvars, eqn.primitive, eqn.params, eqn.source)
            )

    def _lengthens(self, eqn: Eqn) -> bool:
        """Record the result if an equation only adds the axis of its stack to a row."""
        row = self._rows.get(eqn.invars[0]) if eqn.invars else None
        if row is None or row.long or not _adds_axis(eqn):
            return False
        (out,) = eqn.outvars
        self._rows[out] = row._replace(long=True)
        self._absent.add(out)
        return True

    def _joins(self, eqn: Eqn) -> bool:
        """Write a concatenation of rows, with consecutive ones as one slice."""
        if not _is_concatenation(eqn):
            return False
        parts = self._parts(eqn.invars, long=True)
        if len(parts) == len(eqn.invars):
            return False
        out = eqn.outvars[0]
        if len(parts) == 1:
            self._renamed[out] = parts[0]
        else:
            self.eqns.append(Eqn(parts, [out], concatenate_p, eqn.params, eqn.source))
        return True

    def read(self, atom: Atom) -> Atom:
        """Return a value as an operand; a row is read out of its stack."""
        if atom in self._absent:
            self._absent.discard(atom)
            row = self._rows[atom]
            if row.long:
                self._slice(row.of, row.at, row.at + 1, atom)
            else:
                part = self._slice(row.of, row.at, row.at + 1)
                params = {"new_sizes": atom.aval.shape, "dimensions": None}
                self._bind(reshape_p, [part], params, atom)
        return self._renamed.get(atom, atom)

    def stack(self, values: Sequence[Atom]) -> Atom:
        """Return values as the rows of an array."""
        counted = self._count(values)
        if counted is not None:
            return counted
        parts = self._parts(values, long=False)
        if len(parts) == 1:
            return parts[0]
        return self._bind(concatenate_p, parts, {"dimension": 0})

    def _count(self, values: Sequence[Atom]) -> Atom | None:
        """Return equidistant whole numbers as an `iota`."""
        aval, count = values[0].aval, len(values)
        numbers = [v.read() for v in values if isinstance(v, Literal)]
        if len(numbers) < count or aval.dtype not in _COUNTED:
            return None
        wanted = np.array(numbers, aval.dtype)
        with np.errstate(all="ignore"):
            first, step = wanted[0], wanted[1] - wanted[0]
            places = np.arange(count, dtype=aval.dtype) * step + first
            if places.tobytes() != wanted.tobytes() or (wanted % 1).any():
                return None
        params = {"dtype": aval.dtype, "shape": (count,), "dimension": 0}
        found = self._bind(iota_p, [], params)
        spread = {"shape": (count,), "broadcast_dimensions": ()}
        for primitive, number in ((mul_p, step), (add_p, first)):
            literal = Literal(aval.dtype.type(number), aval.strong())
            row = self._bind(broadcast_in_dim_p, [literal], spread)
            found = self._bind(primitive, [found, row], {})
        return found

    def _parts(self, values: Sequence[Atom], *, long: bool) -> list[Atom]:
        """Return the fewest arrays whose rows are the values, in order."""
        parts: list[Atom] = []
        at = 0
        while at < len(values):
            count, step = self._follows(values, at, long=long)
            if count == 1:
                parts.append(self._long(values[at], long=long))
            else:
                row = self._rows[values[at]]
                first = row.at if step > 0 else row.at - count + 1
                part = self._slice(row.of, first, first + count)
                if step < 0:
                    part = self._bind(rev_p, [part], {"dimensions": (0,)})
                parts.append(part)
            at += count
        return parts

    def _follows(
        self, values: Sequence[Atom], at: int, *, long: bool
    ) -> tuple[int, int]:
        """Return how many values from here on are consecutive rows, and their step."""
        first = self._rows.get(values[at])
        if first is None or first.long != long or at + 1 == len(values):
            return 1, 1
        step = -1 if self._is_row(values[at + 1], first, -1) else 1
        count = 1
        while at + count < len(values) and self._is_row(
            values[at + count], first, step * count
        ):
            count += 1
        return count, step

    def _is_row(self, value: Atom, row: _StackedRow, distance: int) -> bool:
        """Return whether a value is the row at a distance from another."""
        return self._rows.get(value) == row._replace(at=row.at + distance)

    def _long(self, value: Atom, *, long: bool) -> Atom:
        """Return a value as an array of one row."""
        found = self.read(value)
        if long:
            return found
        params = {"new_sizes": (1, *found.aval.shape), "dimensions": None}
        return self._bind(reshape_p, [found], params)

    def _slice(self, x: Var, first: int, last: int, out: Atom | None = None) -> Var:
        """Return rows of an array, or the array if these are all."""
        if out is None and (first, last) == (0, x.aval.shape[0]):
            return x
        rest = x.aval.shape[1:]
        params = {
            "start_indices": (first, *(0 for _ in rest)),
            "limit_indices": (last, *rest),
            "strides": None,
        }
        return self._bind(slice_p, [x], params, out)

    def _bind(
        self,
        primitive: Primitive,
        operands: Sequence[Atom],
        params: Params,
        out: Atom | None = None,
    ) -> Var:
        """Write an added equation; return its result."""
        if out is None:
            (aval,) = primitive.out_avals(tuple([v.aval for v in operands]), params)
            out = Var(aval)
        assert isinstance(out, Var)
        self.eqns.append(Eqn(operands, [out], primitive, params, self.source))
        return out
