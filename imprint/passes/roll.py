"""Rolling: equal blocks of equations, which a Python loop wrote, become one `scan`.

1. `blocks` finds them, and `carries` what each takes and gives.
2. `rolling_costs` says whether a loop would be slower. If so, all stays as it is.
3. What blocks take one by one is walked over. Numbers and arrays are stacked; rows of what
   an earlier loop has stacked are walked over as they are, also backwards, as the
   gradient of a loop does.
4. What is used after the loop is its last carry, or a row of what it stacks; where the
   program stacks them itself, that is it.
A step is looked through for blocks in its turn, as loops in loops write them.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

from imprint.config import config
from imprint.control.scan import scan_equation
from imprint.core.aval import ShapedArray
from imprint.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from imprint.core.primitive import Params, Primitive
from imprint.core.source import Source
from imprint.passes.blocks import FEWEST, Run, made_at, runs_of
from imprint.passes.carries import Loop, Slot, loop_of
from imprint.passes.rolling_costs import is_slower, is_too_large
from imprint.primitives.basis import add_p, broadcast_in_dim_p, mul_p
from imprint.primitives.dynamic_slicing import dynamic_slice_p
from imprint.primitives.shape import iota_p, reshape_p, rev_p
from imprint.primitives.slicing import concatenate_p, slice_p

_ROLLS: Final = "rolls"
_ALONE: Final = 4
"""One of so many rows may be taken out of a stack by itself: if all are, as where the
gradient of a loop is none, 20 steps take 2 to 3 times as long."""
_COUNTED: Final = {np.dtype(name) for name in ("int32", "int64", "float32", "float64")}
"""Dtypes in which whole numbers are counted, not listed."""


class Rolled(NamedTuple):
    """Equal blocks that run as one loop.

    Args:
        blocks: how many there are.
        equations: how many equations each has.
        source: where the user wrote the first of them.
    """

    blocks: int
    equations: int
    source: Source | None

    def __str__(self) -> str:
        at = f" from {self.source}" if self.source else ""
        return f"{self.blocks:,} equal blocks{at} run as one loop"


def roll(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Return the program with equal blocks as loops."""
    if not config.roll_loops:
        return closed
    runs = runs_of(closed.jaxpr)
    if not runs:
        return closed
    rolling = _Rolling(closed.jaxpr)
    found = rolling.run(runs, closed.consts)
    if found is None:
        return closed
    found.derived(_ROLLS, lambda: tuple(rolling.rolls))
    return found


def rolls_of(closed: ClosedJaxpr) -> tuple[Rolled, ...]:
    """Return the loops that `roll` made in a program, and in its bodies."""
    found: list[Rolled] = []
    seen: set[int] = set()
    todo = [closed]
    while todo:
        part = todo.pop()
        if id(part) not in seen:
            seen.add(id(part))
            found += part.derived(_ROLLS, tuple[Rolled, ...])
            todo += reversed(part.jaxpr.bodies)
    return tuple(found)


class _Row(NamedTuple):
    """A row of what a loop has stacked.

    Args:
        of: the stack.
        at: which row.
        long: whether it has the axis of the stack, with length 1.
    """

    of: Var
    at: int
    long: bool


@final
class _Rolling:
    """One walk over a jaxpr.

    Attributes:
        rows: what is a row of a stack.
        absent: of these, what no equation has taken out of it.
        renamed: variables that stand for others.
    """

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.jaxpr = jaxpr
        self.places = made_at(jaxpr.eqns)
        self.last_use: dict[Any, int] = {}
        for i, eqn in enumerate(jaxpr.eqns):
            self.last_use.update(dict.fromkeys(eqn.invars, i))
        self.last_use.update(dict.fromkeys(jaxpr.outvars, len(jaxpr.eqns)))
        self.rows: dict[Atom, _Row] = {}
        self.absent: set[Atom] = set()
        self.renamed: dict[Atom, Atom] = {}
        self.eqns: list[Eqn] = []
        self.rolls: list[Rolled] = []
        self.source: Source | None = None

    def run(self, runs: Sequence[Run], consts: Sequence[Any]) -> ClosedJaxpr | None:
        """Return the program with its loops; None if it has none."""
        jaxpr, at = self.jaxpr, 0
        for loop in self._loops(runs):
            for eqn in jaxpr.eqns[at : loop.run.start]:
                self._keep(eqn)
            self._loop(loop)
            at = loop.run.end
        if not self.rolls:
            return None
        for eqn in jaxpr.eqns[at:]:
            self._keep(eqn)
        outvars = [self._read(v) for v in jaxpr.outvars]
        return ClosedJaxpr(
            Jaxpr(jaxpr.constvars, jaxpr.invars, outvars, self.eqns, jaxpr.name), consts
        )

    def _loops(self, runs: Sequence[Run]) -> list[Loop]:
        """Return loops that do not overlap, in order; those that save most are taken."""
        loops: list[Loop] = []
        eqns = self.jaxpr.eqns
        taken = np.zeros(len(eqns), np.bool_)
        for every in runs:
            run = _apart(every, taken)
            block = eqns[run.start : run.start + run.length]
            if run.blocks >= FEWEST and not is_too_large(block):
                loop = loop_of(eqns, run, self.places, self.last_use)
                if loop is not None:
                    taken[loop.run.start : loop.run.end] = True
                    loops.append(loop)
        loops.sort(key=lambda loop: loop.run)
        while True:  # what stays unrolled does not walk over what others stack
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

    def _taken_alone(self, loops: Sequence[Loop], rows: dict[Any, Any]) -> set[Any]:
        """Return the rows that no loop walks over, and that are not joined again."""
        if not rows:
            return set()
        alone = {v for v in self.jaxpr.outvars if v in rows}
        carried = {v for loop in loops for v in loop.lasts}
        long: dict[Any, Any] = {}
        inside = {i for loop in loops for i in range(loop.run.start, loop.run.end)}
        for i, eqn in enumerate(self.jaxpr.eqns):
            if i in inside:
                continue
            if _is_longer(eqn) and eqn.invars[0] in rows:
                long[eqn.outvars[0]] = eqn.invars[0]
                continue
            parts = [long.get(v, v) for v in eqn.invars]
            found = {v for v in parts if v in rows}
            is_joined = eqn.primitive is concatenate_p and not eqn.params["dimension"]
            if found and not (is_joined and len({rows[v] for v in found}) == 1):
                alone |= found
        return alone - carried

    # ---- the loop ----

    def _loop(self, loop: Loop) -> None:
        """Write the loop of a run."""
        count, length = loop.run.blocks, loop.run.length
        self.source = loop.eqns[0].source
        self.rolls.append(Rolled(count, length, self.source))
        reverse = any(map(self._descends, loop.walked))
        lasts = loop.lasts
        step, consts = _step(loop)
        carry = [
            self._zeros(v.aval) if first is None else self._read(first)
            for v, first in zip(lasts, loop.carry.values(), strict=True)
        ]
        order = slice(None, None, -1 if reverse else None)
        constant = [self._read(v) for v in consts]
        walked = [self._stack(values[order]) for values in loop.walked]
        eqn = scan_equation(
            roll(step),
            (constant, carry, walked),
            lasts,
            length=count,
            reverse=reverse,
            source=self.source,
        )
        self.eqns.append(eqn)
        stacks = eqn.outvars[len(lasts) :]
        for slot, stack in zip(loop.stacked, stacks, strict=True):
            for k, v in enumerate(loop.variables(slot)[order]):
                self.rows[v] = _Row(stack, k, long=False)
                self.absent.add(v)
        self.absent.difference_update(lasts)

    def _descends(self, values: Sequence[Atom]) -> bool:
        """Tell whether values are rows from the last to the first."""
        first = self.rows.get(values[0])
        return first is not None and all(
            self._is_row(v, first, -k) for k, v in enumerate(values)
        )

    def _zeros(self, aval: ShapedArray) -> Atom:
        """Return what a carry begins with that no step takes."""
        zero = Literal(aval.dtype.type(0), aval.with_shape(()))
        if not aval.shape:
            return zero
        params = {"shape": aval.shape, "broadcast_dimensions": ()}
        return self._bind(broadcast_in_dim_p, [zero], params)

    # ---- rows ----

    def _keep(self, eqn: Eqn) -> None:
        """Write an equation that stays; what it takes from a stack is taken out."""
        if not self.rows or not (self._lengthens(eqn) or self._joins(eqn)):
            self.source = eqn.source
            invars = [self._read(v) for v in eqn.invars] if self.rows else eqn.invars
            self.eqns.append(
                Eqn(invars, eqn.outvars, eqn.primitive, eqn.params, eqn.source)
            )

    def _lengthens(self, eqn: Eqn) -> bool:
        """Note the result if an equation only gives a row the axis of its stack."""
        row = self.rows.get(eqn.invars[0]) if eqn.invars else None
        if row is None or row.long or not _is_longer(eqn):
            return False
        (out,) = eqn.outvars
        self.rows[out] = row._replace(long=True)
        self.absent.add(out)
        return True

    def _joins(self, eqn: Eqn) -> bool:
        """Write what joins rows again, with those that follow each other as one."""
        if eqn.primitive is not concatenate_p or eqn.params["dimension"]:
            return False
        parts = self._parts(eqn.invars, long=True)
        if len(parts) == len(eqn.invars):
            return False
        out = eqn.outvars[0]
        if len(parts) == 1:
            self.renamed[out] = parts[0]
        else:
            self.eqns.append(Eqn(parts, [out], concatenate_p, eqn.params, eqn.source))
        return True

    def _read(self, atom: Atom) -> Atom:
        """Return a value as an operand; a row of a stack is taken out of it."""
        if atom in self.absent:
            self.absent.discard(atom)
            row = self.rows[atom]
            if row.long:
                self._slice(row.of, row.at, row.at + 1, atom)
            else:
                part = self._slice(row.of, row.at, row.at + 1)
                params = {"new_sizes": atom.aval.shape, "dimensions": None}
                self._bind(reshape_p, [part], params, atom)
        return self.renamed.get(atom, atom)

    def _stack(self, values: Sequence[Atom]) -> Atom:
        """Return values as the rows of an array."""
        counted = self._count(values)
        if counted is not None:
            return counted
        parts = self._parts(values, long=False)
        if len(parts) == 1:
            return parts[0]
        return self._bind(concatenate_p, parts, {"dimension": 0})

    def _count(self, values: Sequence[Atom]) -> Atom | None:
        """Return whole numbers that differ by equal steps as an array."""
        aval, count = values[0].aval, len(values)
        numbers = [v.read() for v in values if isinstance(v, Literal)]
        if len(numbers) < count or aval.dtype not in _COUNTED:
            return None
        first, step = numbers[0], numbers[1] - numbers[0]
        places = np.arange(count, dtype=aval.dtype) * step + first
        wanted = np.array(numbers, aval.dtype)
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
        """Return arrays whose rows are values, in order, as few as there are."""
        parts: list[Atom] = []
        at = 0
        while at < len(values):
            count, step = self._follows(values, at, long=long)
            if count == 1:
                parts.append(self._long(values[at], long=long))
            else:
                row = self.rows[values[at]]
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
        """Return how many values from here on are rows one after the other, or before."""
        first = self.rows.get(values[at])
        if first is None or first.long != long or at + 1 == len(values):
            return 1, 1
        step = -1 if self._is_row(values[at + 1], first, -1) else 1
        count = 1
        while at + count < len(values) and self._is_row(
            values[at + count], first, step * count
        ):
            count += 1
        return count, step

    def _is_row(self, value: Atom, row: _Row, distance: int) -> bool:
        """Tell whether a value is a row so far behind another."""
        return self.rows.get(value) == row._replace(at=row.at + distance)

    def _long(self, value: Atom, *, long: bool) -> Atom:
        """Return a value as an array of one row."""
        found = self._read(value)
        if long:
            return found
        params = {"new_sizes": (1, *found.aval.shape), "dimensions": None}
        return self._bind(reshape_p, [found], params)

    def _slice(self, x: Var, first: int, last: int, out: Atom | None = None) -> Var:
        """Return rows of an array; all of them are it."""
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
        """Write an equation of our own; return its result."""
        if out is None:
            (aval,) = primitive.out_avals(tuple([v.aval for v in operands]), params)
            out = Var(aval)
        assert isinstance(out, Var)
        self.eqns.append(Eqn(operands, [out], primitive, params, self.source))
        return out


def _apart(run: Run, taken: Any) -> Run:
    """Return the blocks of a run before what is taken, or those behind, if more."""
    start, length, blocks = run
    places = np.flatnonzero(taken[start : run.end])
    if not len(places):
        return run
    before, behind = int(places[0]) // length, int(places[-1]) // length + 1
    if before >= blocks - behind:
        return Run(start, length, before)
    return Run(start + behind * length, length, blocks - behind)


def _is_longer(eqn: Eqn) -> bool:
    """Tell whether an equation only puts an axis of length 1 before those of its operand."""
    if eqn.primitive is not broadcast_in_dim_p and eqn.primitive is not reshape_p:
        return False
    return eqn.outvars[0].aval.shape == (1, *eqn.invars[0].aval.shape)


def _step(loop: Loop) -> tuple[ClosedJaxpr, list[Var]]:
    """Return the step of a loop, and what stays as it is, which it takes first."""
    values: dict[Any, Var] = {}
    for slot in loop.carry:
        values[slot] = Var(loop.variables(slot)[0].aval)
    carry = [*values.values()]
    xs = [Var(each[0].aval) for each in loop.walked]
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
        eqns.append(_moving(eqn, taken, outs))
    results = [values[slot._replace(back=slot.back - 1)] for slot in loop.carry]
    results += [values[slot] for slot in loop.stacked]
    invars = [*(values[v] for v in consts), *carry, *xs]
    return ClosedJaxpr(Jaxpr((), invars, results, eqns)), consts


def _moving(eqn: Eqn, invars: list[Atom], outs: list[Var]) -> Eqn:
    """Return an equation of a step: a `slice` that moves takes its starts."""
    if len(invars) == len(eqn.invars):
        return Eqn(invars, outs, eqn.primitive, eqn.params, eqn.source)
    params = {"slice_sizes": outs[0].aval.shape}
    return Eqn(invars, outs, dynamic_slice_p, params, eqn.source)
