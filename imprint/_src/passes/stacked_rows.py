"""Rows: what a loop has stacked, as the values that the program around knows.

A row is taken out of its stack where an equation takes it by itself. Where the program
puts the axis of the stack before rows that follow each other and joins them again, that
is a part of the stack, or all of it; so is what a later loop walks over row by row.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, final

import numpy as np

from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import Atom, Eqn, Literal, Var
from imprint._src.core.primitive import Params, Primitive
from imprint._src.diagnostics.source import Source
from imprint._src.primitives.core_ops import add_p, broadcast_in_dim_p, mul_p
from imprint._src.primitives.indexing.slicing import concatenate_p, slice_p
from imprint._src.primitives.shape import iota_p, reshape_p, rev_p

_COUNTED: Final = {np.dtype(name) for name in ("int32", "int64", "float32", "float64")}
"""Dtypes in which whole numbers are counted, not listed."""


def is_longer(eqn: Eqn) -> bool:
    """Tell whether an equation only puts an axis of length 1 before those of a value."""
    if eqn.primitive is not broadcast_in_dim_p and eqn.primitive is not reshape_p:
        return False
    return eqn.outvars[0].aval.shape == (1, *eqn.invars[0].aval.shape)


def is_joining(eqn: Eqn) -> bool:
    """Tell whether an equation joins arrays along their first axes."""
    return eqn.primitive is concatenate_p and not eqn.params["dimension"]


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
class Rows:
    """Writes equations that know which values are rows.

    Attributes:
        eqns: what is written.
        source: the user's line of what is written of our own.
    """

    def __init__(self) -> None:
        self.eqns: list[Eqn] = []
        self.source: Source | None = None
        self._rows: dict[Atom, _Row] = {}
        self._absent: set[Atom] = set()  # what no equation has taken out of its stack
        self._renamed: dict[Atom, Atom] = {}

    def add(self, stack: Var, variables: Sequence[Var], there: Sequence[Var]) -> None:
        """Note the rows of a stack.

        Args:
            stack: it.
            variables: those of its rows.
            there: variables that have their values without it.
        """
        for k, v in enumerate(variables):
            self._rows[v] = _Row(stack, k, long=False)
        self._absent.update(variables)
        self._absent.difference_update(there)

    def descends(self, values: Sequence[Atom]) -> bool:
        """Tell whether values are rows from the last to the first."""
        first = self._rows.get(values[0])
        return first is not None and all(
            self._is_row(v, first, -k) for k, v in enumerate(values)
        )

    def zeros(self, aval: ShapedArray) -> Atom:
        """Return what a carry begins with that no step takes."""
        zero = Literal(aval.dtype.type(0), aval.with_shape(()))
        if not aval.shape:
            return zero
        params = {"shape": aval.shape, "broadcast_dimensions": ()}
        return self._bind(broadcast_in_dim_p, [zero], params)

    def keep(self, eqn: Eqn) -> None:
        """Write an equation that stays; what it takes from a stack is taken out."""
        if not self._rows or not (self._lengthens(eqn) or self._joins(eqn)):
            self.source = eqn.source
            invars = [self.read(v) for v in eqn.invars] if self._rows else eqn.invars
            self.eqns.append(
                Eqn(invars, eqn.outvars, eqn.primitive, eqn.params, eqn.source)
            )

    def _lengthens(self, eqn: Eqn) -> bool:
        """Note the result if an equation only gives a row the axis of its stack."""
        row = self._rows.get(eqn.invars[0]) if eqn.invars else None
        if row is None or row.long or not is_longer(eqn):
            return False
        (out,) = eqn.outvars
        self._rows[out] = row._replace(long=True)
        self._absent.add(out)
        return True

    def _joins(self, eqn: Eqn) -> bool:
        """Write what joins rows again, with those that follow each other as one."""
        if not is_joining(eqn):
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
        """Return a value as an operand; a row of a stack is taken out of it."""
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
        """Return whole numbers that differ by equal steps as an array."""
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
        """Return arrays whose rows are values, in order, as few as there are."""
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
        """Return how many values from here on are rows one after the other, or before."""
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

    def _is_row(self, value: Atom, row: _Row, distance: int) -> bool:
        """Tell whether a value is a row so far behind another."""
        return self._rows.get(value) == row._replace(at=row.at + distance)

    def _long(self, value: Atom, *, long: bool) -> Atom:
        """Return a value as an array of one row."""
        found = self.read(value)
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
