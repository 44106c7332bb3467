"""Carries: what the blocks of a run take from each other, from outside, and give after it.

An operand of a block is made in it, or in one of the last few before (a `Slot` of the
carry), or there before the run: then it is one for all blocks, or another for each, and
walked over. The first blocks take as their carry what is there before. If two operands
that are one value in later blocks are two then, the run begins a block later.
"""

from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple, TypeAlias, final

import numpy as np

from imprint._src.core.aval import ShapedArray
from imprint._src.core.control import ControlPrimitive
from imprint._src.core.jaxpr import Atom, Eqn, Literal, Var
from imprint._src.passes.blocks import (
    FEWEST,
    Run,
    exact,
    is_without_strides,
    literal_key,
)
from imprint._src.passes.use_def import Wiring
from imprint._src.primitives.indexing.slicing import slice_p

_BACK: Final = 4
"""Blocks from which a block may take values; a carry hands each on as often."""
_START: Final = ShapedArray((), np.dtype(np.int32))


class Slot(NamedTuple):
    """A value that an equation of a block makes: of this block, or of one before."""

    at: int
    result: int
    back: int


Operand: TypeAlias = Atom | Slot | int
"""What an equation of the step takes: an int is a number among what is walked over."""


class Loop(NamedTuple):
    """What becomes of a run.

    Args:
        run: the run.
        eqns: its equations.
        step: the operands of each equation of the step, which is the last block; a
            `slice` that moves has its starts behind what it cuts.
        carry: what the first block takes for each slot; None if no block takes it.
        walked: what each block takes, one by one.
        stacked: the values of each block that are used after the loop.
    """

    run: Run
    eqns: Sequence[Eqn]
    step: tuple[tuple[Operand, ...], ...]
    carry: dict[Slot, Atom | None]
    walked: tuple[tuple[Atom, ...], ...]
    stacked: tuple[Slot, ...]

    @property
    def is_exact(self) -> bool:
        """Whether params are the same to the last bit, not equal only, as 1 and True."""
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


def loop_of(eqns: Sequence[Eqn], run: Run, wiring: Wiring) -> Loop | None:
    """Return the loop of a run; None if its blocks do not make one.

    Args:
        eqns: the equations around.
        run: the run.
        wiring: how they are wired.
    """
    for _ in range(_BACK + 1):
        if run.blocks < FEWEST:
            return None
        try:
            return _Reading(eqns, run, wiring).loop()
        except _NoLoopError:
            return None
        except _TwoValuesError:
            run = Run(run.start + run.length, run.length, run.blocks - 1)
    return None


class _NoLoopError(Exception):
    """Blocks hand nothing on, or take what is far back."""


class _TwoValuesError(Exception):
    """What is one value in later blocks is two in the first."""


@final
class _Reading:
    """One walk over the blocks of a run."""

    def __init__(self, eqns: Sequence[Eqn], run: Run, wiring: Wiring) -> None:
        self._eqns = eqns
        self._run = run
        self._wiring = wiring
        self._carry: dict[Slot, Atom | None] = {}
        self._walked: dict[tuple[Hashable, ...], tuple[Atom, ...]] = {}

    def loop(self) -> Loop:
        """Return the loop."""
        run = self._run
        step = tuple(map(self._operands, range(run.end - run.length, run.end)))
        if not self._carry:  # each block is by itself
            raise _NoLoopError
        stacked = self._used_after()
        eqns = self._eqns[run.start : run.end]
        return Loop(run, eqns, step, self._carry, (*self._walked.values(),), stacked)

    def _each(self, i: int) -> Sequence[Eqn]:
        """Return the equations at the place of one of the last block, in each block."""
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
        """Return what an equation takes as its operand `m`, in the last block `last`."""
        start, length, blocks = self._run
        made, result = self._wiring.made(last)
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
        """Return what blocks take that is there before the run."""
        keys = tuple(map(_key, values))
        if len({*keys}) == 1:
            return values[0]
        self._walked.setdefault(keys, tuple(values))
        return [*self._walked].index(keys)

    def _used_after(self) -> tuple[Slot, ...]:
        """Return what is stacked; what is used of the last block only is carried."""
        run, wiring = self._run, self._wiring
        first, last = wiring.results_at[[run.start, run.end]]
        is_used = wiring.last_use[first:last].reshape(run.blocks, -1) >= run.end
        stacked: list[Slot] = []
        for number in np.flatnonzero(is_used.any(0)).tolist():
            at = int(wiring.made_at[first + number]) - run.start
            result = int(first + number - wiring.results_at[run.start + at])
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
