"""Rolling: equal blocks of equations, which a Python loop wrote, become one `scan`.

1. `blocks` finds them, and `carries` what each takes and gives.
2. `rolling_costs` says whether a loop would be slower. If so, all stays as it is.
3. What blocks take one by one is walked over. Numbers and arrays are stacked; `rows` of
   what an earlier loop has stacked are walked over as they are, also backwards, as the
   gradient of a loop does.
4. What is used after the loop is its last carry, or a row of what it stacks.
A step is looked through for blocks in its turn, as loops in loops write them.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from imprint._src.config import config
from imprint._src.control_flow.scan import scan_equation
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from imprint._src.passes.blocks import FEWEST, Run, runs_of
from imprint._src.passes.loop_carries import Loop, Slot, loop_of
from imprint._src.passes.pass_report import Rolled
from imprint._src.passes.reroll_cost import is_slower, is_too_large, may_gain
from imprint._src.passes.stacked_rows import Rows, is_joining, is_longer
from imprint._src.passes.use_def import Wiring
from imprint._src.primitives.indexing.dynamic_slicing import dynamic_slice_p

_ROLLS: Final = "rolls"
_ALONE: Final = 4
"""One of so many rows may be taken out of a stack by itself: if all are, as where the
gradient of a loop is none, 20 steps take 2 to 3 times as long."""


def roll(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Return the program with equal blocks as loops."""
    if not config.roll_loops:
        return closed
    blocks = runs_of(closed.jaxpr, may_gain)
    if blocks is None:
        return closed
    runs, wiring = blocks
    rolling = _Rolling(closed.jaxpr, wiring)
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


@final
class _Rolling:
    """One walk over a jaxpr.

    Attributes:
        rows: what writes its equations.
        rolls: the loops that it made.
    """

    def __init__(self, jaxpr: Jaxpr, wiring: Wiring) -> None:
        self.jaxpr = jaxpr
        self.wiring = wiring
        self.rows = Rows()
        self.rolls: list[Rolled] = []

    def run(self, runs: Sequence[Run], consts: Sequence[Any]) -> ClosedJaxpr | None:
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

    def _loops(self, runs: Sequence[Run]) -> list[Loop]:
        """Return loops that do not overlap, in order; those that save most are taken."""
        loops: list[Loop] = []
        eqns = self.jaxpr.eqns
        taken = np.zeros(len(eqns), np.bool_)
        for every in runs:
            run = _apart(every, taken)
            block = eqns[run.start : run.start + run.length]
            if run.blocks >= FEWEST and not is_too_large(block):
                loop = loop_of(eqns, run, self.wiring)
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
            if is_longer(eqn) and eqn.invars[0] in rows:
                long[eqn.outvars[0]] = eqn.invars[0]
                continue
            parts = [long.get(v, v) for v in eqn.invars]
            found = {v for v in parts if v in rows}
            if found and not (is_joining(eqn) and len({rows[v] for v in found}) == 1):
                alone |= found
        return alone - carried

    # ---- the loop ----

    def _loop(self, loop: Loop) -> None:
        """Write the loop of a run."""
        count, length = loop.run.blocks, loop.run.length
        source = self.rows.source = loop.eqns[0].source
        self.rolls.append(Rolled(count, length, source))
        reverse = any(map(self.rows.descends, loop.walked))
        lasts = loop.lasts
        step, consts = _step(loop)
        carry = [
            self.rows.zeros(v.aval) if first is None else self.rows.read(first)
            for v, first in zip(lasts, loop.carry.values(), strict=True)
        ]
        order = slice(None, None, -1 if reverse else None)
        constant = [self.rows.read(v) for v in consts]
        walked = [self.rows.stack(values[order]) for values in loop.walked]
        eqn = scan_equation(
            roll(step),
            (constant, carry, walked),
            lasts,
            length=count,
            reverse=reverse,
            source=source,
        )
        self.rows.eqns.append(eqn)
        stacks = eqn.outvars[len(lasts) :]
        for slot, stack in zip(loop.stacked, stacks, strict=True):
            self.rows.add(stack, loop.variables(slot)[order], lasts)


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
