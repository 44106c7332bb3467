"""Carries, scanned operands and stacked results of a run of equal blocks.

An operand of a block is defined in it, in one of the last few blocks (a `Slot` of the
carry), or before the run. In the last case it is a constant of the loop, or scanned over.
The first blocks take values from before the run as their carry. If two operands are one
value in later blocks but two in the first, the run begins a block later.
"""

from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple, TypeAlias, final

import numpy as np

from imprint._src.core.aval import ShapedArray
from imprint._src.core.control import ControlPrimitive
from imprint._src.core.jaxpr import Atom, Eqn, Literal, Var
from imprint._src.passes.blocks import (
    FEWEST,
    BlockRun,
    UseDef,
    exact,
    is_without_strides,
    literal_key,
)
from imprint._src.primitives.indexing.slicing import slice_p

_BACK: Final = 4
"""Earlier blocks that a block may take values from; each is one more carry."""
_START: Final = ShapedArray((), np.dtype(np.int32))


class Slot(NamedTuple):
    """A result of an equation, in this block or `back` blocks before."""

    at: int
    result: int
    back: int


Operand: TypeAlias = Atom | Slot | int
"""An operand of an equation of the step: an int is the index of a scanned operand."""


class RerolledLoop(NamedTuple):
    """The loop of a run.

    Args:
        run: the run.
        eqns: its equations.
        step: the operands of each equation of the step, which is the last block; a
            `slice` with varying starts has them after its operand.
        carry: the initial value of each slot; None if no block takes it.
        scanned: the operands that differ from block to block.
        stacked: the values of each block that are used after the loop.
    """

    run: BlockRun
    eqns: Sequence[Eqn]
    step: tuple[tuple[Operand, ...], ...]
    carry: dict[Slot, Atom | None]
    scanned: tuple[tuple[Atom, ...], ...]
    stacked: tuple[Slot, ...]

    @property
    def is_exact(self) -> bool:
        """Whether params are identical to the last bit, not merely equal as 1 and True."""
        length = self.run.length
        for at, (eqn, operands) in enumerate(
            zip(self.eqns[:length], self.step, strict=True)
        ):
            is_plain = type(eqn.primitive) is not ControlPrimitive and eqn.params
            if is_plain and len(operands) == len(eqn.invars):
                wanted = exact(eqn.params)
                if any(exact(e.params) != wanted for e in self.eqns[at::length]):
                    return False
        return True

    @property
    def lasts(self) -> list[Var]:
        """The variables of the last carry."""
        return [self.variables(slot)[-slot.back] for slot in self.carry]

    def variables(self, slot: Slot) -> list[Var]:
        """Return the variables of a value, in each block."""
        each = self.eqns[slot.at :: self.run.length]
        return [eqn.outvars[slot.result] for eqn in each]


def loop_of(eqns: Sequence[Eqn], run: BlockRun, use_def: UseDef) -> RerolledLoop | None:
    """Return the loop of a run; None if its blocks do not form a loop.

    Args:
        eqns: the equations of the jaxpr.
        run: the run.
        use_def: their definitions and uses.
    """
    for _ in range(_BACK + 1):
        if run.blocks < FEWEST:
            return None
        try:
            return _CarryAnalysis(eqns, run, use_def).loop()
        except _NoLoopError:
            return None
        except _TwoValuesError:
            run = BlockRun(run.start + run.length, run.length, run.blocks - 1)
    return None


class _NoLoopError(Exception):
    """Blocks carry nothing, or take values from too far back."""


class _TwoValuesError(Exception):
    """One value of later blocks is two values in the first."""


@final
class _CarryAnalysis:
    """Analysis of the operands of a run."""

    def __init__(self, eqns: Sequence[Eqn], run: BlockRun, use_def: UseDef) -> None:
        self._eqns = eqns
        self._run = run
        self._use_def = use_def
        self._carry: dict[Slot, Atom | None] = {}
        self._scanned: dict[tuple[Hashable, ...], tuple[Atom, ...]] = {}

    def loop(self) -> RerolledLoop:
        """Return the loop."""
        run = self._run
        step = tuple(map(self._operands, range(run.end - run.length, run.end)))
        if not self._carry:  # blocks are independent
            raise _NoLoopError
        stacked = self._used_after()
        eqns = self._eqns[run.start : run.end]
        return RerolledLoop(
            run, eqns, step, self._carry, (*self._scanned.values(),), stacked
        )

    def _each(self, i: int) -> Sequence[Eqn]:
        """Return the equations of all blocks at the position of `i` in the last block."""
        start, length, _ = self._run
        return self._eqns[start + (i - start) % length : self._run.end : length]

    def _operands(self, i: int) -> tuple[Operand, ...]:
        each = self._each(i)
        operands = [self._operand(v, each, m) for m, v in enumerate(each[-1].invars)]
        params = each[-1].params
        if each[-1].primitive is slice_p and is_without_strides(params):
            starts = [eqn.params["start_indices"] for eqn in each]
            if any(s != starts[0] for s in starts):
                for axis in zip(*starts, strict=True):
                    literals = [Literal(np.int32(at), _START) for at in axis]
                    operands.append(self._outside(literals))
        return tuple(operands)

    def _operand(self, last: Atom, each: Sequence[Eqn], m: int) -> Operand:
        """Return operand `m` of an equation, which is `last` in the last block."""
        start, length, blocks = self._run
        made, result = self._use_def.made(last)
        if made < start:
            return self._outside([eqn.invars[m] for eqn in each])
        block, at = divmod(made - start, length)
        back = blocks - 1 - block
        if back > _BACK:
            raise _NoLoopError
        for k, eqn in enumerate(each[:back]):
            slot, value = Slot(at, result, back - k), eqn.invars[m]
            if _key(self._carry.setdefault(slot, value)) != _key(value):
                raise _TwoValuesError
        return Slot(at, result, back)

    def _outside(self, values: Sequence[Atom]) -> Operand:
        """Return an operand from before the run: a constant or a scanned operand."""
        keys = tuple(map(_key, values))
        if len({*keys}) == 1:
            return values[0]
        self._scanned.setdefault(keys, tuple(values))
        return [*self._scanned].index(keys)

    def _used_after(self) -> tuple[Slot, ...]:
        """Return the stacked values; a value used of the last block only is carried."""
        run, use_def = self._run, self._use_def
        first, last = use_def.results_at[[run.start, run.end]]
        is_used = use_def.last_use[first:last].reshape(run.blocks, -1) >= run.end
        stacked: list[Slot] = []
        for number in np.flatnonzero(is_used.any(0)).tolist():
            at = int(use_def.made_at[first + number]) - run.start
            result = int(first + number - use_def.results_at[run.start + at])
            used = run.blocks - np.flatnonzero(is_used[:, number])
            lacking = [
                back
                for back in used.tolist()
                if Slot(at, result, back) not in self._carry
            ]
            if lacking == [1]:
                self._carry[Slot(at, result, 1)] = None
            elif lacking:
                stacked.append(Slot(at, result, 0))
        return tuple(stacked)


def _key(atom: Atom | None) -> Hashable:
    return literal_key(atom) if isinstance(atom, Literal) else id(atom)
