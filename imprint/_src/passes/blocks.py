"""Runs of equal blocks of equations, as an unrolled Python loop leaves them.

1. Each equation has a coarse token: its primitive and the aval of its first result. Search
   ends here if no distance between equal tokens is frequent.
2. An exact token also covers params. Jaxprs in params are compared by their equations; an
   effect equals no other. The starts of a `slice` may differ between blocks, as in `x[i]`.
3. In a run, operands match too: defined at the same position of the same or an earlier
   block, or outside and of one aval. Blocks begin where the fewest values are carried.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized
from itertools import accumulate, chain, count, repeat
from operator import attrgetter
from typing import Any, Final, NamedTuple, cast, final

import numpy as np

from imprint._src.core.control import ControlPrimitive
from imprint._src.core.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    subjaxprs,
)
from imprint._src.core.primitive import Primitive
from imprint._src.primitives.indexing.slicing import slice_p

Ints = np.ndarray[Any, np.dtype[np.int64]]

INVARS: Final[Callable[[Eqn], Sequence[Atom]]] = attrgetter("invars")
_AVAL: Final = attrgetter("aval")
OUTVARS: Final[Callable[[Eqn], Sequence[Var]]] = attrgetter("outvars")


FEWEST: Final = 16
"""Blocks below which a loop stays unrolled."""
_LENGTHS: Final = 12
"""Block lengths that are tried."""
_WORDS: Final = (1, 4, 16, 64)
"""Tokens that are compared at once: an equation may be in a block several times."""
_NEAR: Final = 64
"""Equations up to which the distance of an operand is part of the token."""
_ODD: Final = 1_000_003
"""A multiplier that hashes several numbers into one."""


class BlockRun(NamedTuple):
    """Equal blocks: the start of the first, their length, and their number."""

    start: int
    length: int
    blocks: int

    @property
    def end(self) -> int:
        """The position after the last block."""
        return self.start + self.length * self.blocks

    @property
    def saved(self) -> int:
        """The number of equations that a loop saves."""
        return self.end - self.start - self.length


@final
class UseDef:
    """The definition and the uses of each value of a jaxpr, as arrays of positions.

    Equations, results and operands are numbered in order, so whole arrays are compared at
    once instead of value by value.

    Attributes:
        number: the number of each result.
        results_at: the first result of each equation, and the number of all results.
        operands_at: the same of operands.
        operands: the result that each operand is; -1 if no equation defines it.
        made_at: the equation that defines each result; at -1, -1.
        used_at: the equation of each operand.
        avals: a number for the aval of each operand.
        last_use: the last equation that uses each result; behind all equations for results
            of the jaxpr, -1 for unused values.
    """

    def __init__(self, jaxpr: Jaxpr) -> None:
        eqns = jaxpr.eqns
        at = np.arange(len(eqns))
        results = [*chain.from_iterable(map(OUTVARS, eqns))]
        found: dict[Any, int] = dict(zip(results, range(len(results)), strict=True))
        self.number: dict[Any, int] = found
        self.results_at: Ints = _starts(map(OUTVARS, eqns))
        self.operands_at: Ints = _starts(map(INVARS, eqns))
        operands = [*chain.from_iterable(map(INVARS, eqns))]
        self.operands: Ints = self._of(operands)
        self.avals: Ints = _numbers(map(_AVAL, operands))
        self.made_at: Ints = np.append(np.repeat(at, np.diff(self.results_at)), -1)
        self.used_at: Ints = np.repeat(at, np.diff(self.operands_at))
        self.last_use: Ints = np.full(len(results) + 1, -1)
        self.last_use[self.operands] = self.used_at  # of equal ones the last
        self.last_use[self._of(jaxpr.outvars)] = len(eqns)
        self.last_use[-1] = -1

    def _of(self, atoms: Iterable[Atom]) -> Ints:
        return np.fromiter(map(self.number.get, atoms, repeat(-1)), np.int64)

    def made(self, atom: Atom) -> tuple[int, int]:
        """Return the equation that defines a value (-1 if none), and the result's index."""
        number = self.number.get(atom, -1)
        at = int(self.made_at[number])
        return at, number - int(self.results_at[at]) if at >= 0 else 0


def _numbers(each: Iterable[Hashable]) -> Ints:
    known: dict[Hashable, int] = {}
    return np.fromiter(map(known.setdefault, each, count()), np.int64)


def _starts(each: Iterable[Sized]) -> Ints:
    return np.fromiter(accumulate(map(len, each), initial=0), np.int64)


def runs_of(
    jaxpr: Jaxpr, may_gain: Callable[[Sequence[Eqn]], bool]
) -> tuple[list[BlockRun], UseDef] | None:
    """Return the runs of equal blocks in a jaxpr, the most saving first, and its `UseDef`.

    Args:
        jaxpr: the program.
        may_gain: whether equations that repeat something are worth a closer search.
    """
    eqns = jaxpr.eqns
    if len(eqns) < FEWEST:
        return None
    tokens = _EqnTokens()
    each = tokens.coarse(eqns)
    coarse = np.array(each)
    if np.bincount(coarse).max() < FEWEST:
        return None
    lengths = _lengths(coarse)
    spans = _merged([span for length in lengths for span in _spans(coarse, length)])
    spans = [span for span in spans if may_gain(eqns[slice(*span)])]
    if not spans:
        return None
    use_def = UseDef(jaxpr)
    parts = [
        _RepeatingSpan(use_def, start, tokens.exact(eqns[start:end], each[start:end]))
        for start, end in spans
    ]
    found = [run for part in parts for run in part.runs(lengths)]
    found.sort(key=lambda run: (-run.saved, run.length, run.start))
    return (found, use_def) if found else None


def literal_key(literal: Literal) -> Hashable:
    """Return a key that is equal for literals equal to the last bit."""
    value = np.asarray(literal.value, literal.aval.dtype)
    return literal.aval, value.tobytes()


# ---- 1. lengths ----


def _lengths(tokens: Ints) -> list[int]:
    """Return candidate block lengths, the most frequent first."""
    counts: dict[int, int] = {}
    size, (order, is_new) = 1, _sorted(tokens)
    for wanted in _WORDS:
        while size < wanted and len(order) > size:
            words = np.empty_like(order)
            words[order] = np.cumsum(is_new)
            order, is_new = _sorted(words[:-size] * (len(words) + 1) + words[size:])
            size *= 2
        times = np.bincount(np.diff(order)[~is_new[1:]])
        often = np.flatnonzero(times >= FEWEST - 1)
        if size < wanted or not len(often):
            break
        for gap, n in zip(often.tolist(), times[often].tolist(), strict=True):
            counts[gap] = max(counts.get(gap, 0), n)
    likely = sorted(counts, key=lambda gap: -counts[gap] * gap)
    return likely[:_LENGTHS]


def _sorted(words: Ints) -> tuple[Ints, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Return the positions of words, sorted, and whether each differs from the previous."""
    order = np.argsort(words, kind="stable")
    ordered = words[order]
    is_new = np.ones(len(words), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return order, is_new


def _spans(tokens: Ints, length: int) -> list[tuple[int, int]]:
    """Return spans in which tokens repeat at a distance, for `FEWEST` blocks."""
    differs = np.flatnonzero(tokens[length:] != tokens[:-length])
    ends = np.append(differs, len(tokens) - length)
    starts = np.append(0, differs + 1)
    found = ends - starts >= (FEWEST - 1) * length
    firsts, lasts = starts[found].tolist(), (ends[found] + length).tolist()
    return [*zip(firsts, lasts, strict=True)]


# ---- 2. tokens ----


@final
class _EqnTokens:
    """Tokens of equations, as numbers: equal ones may match between blocks."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}
        self._held: dict[int, int] = {}

    def coarse(self, eqns: Sequence[Eqn]) -> list[int]:
        """Return tokens of primitive and first result."""
        known = self._known
        number = known.setdefault
        return [
            number((e.primitive, e.outvars[0].aval if e.outvars else None), len(known))
            for e in eqns
        ]

    def exact(self, eqns: Sequence[Eqn], coarse: Sequence[int]) -> list[int]:
        """Return tokens of everything but the operands."""
        return [
            self._number(self._token(eqn, token))
            if eqn.params or type(eqn.primitive) is not Primitive
            else token
            for eqn, token in zip(eqns, coarse, strict=True)
        ]

    def _number(self, token: Hashable) -> int:
        return self._known.setdefault(token, len(self._known))

    def _token(self, eqn: Eqn, coarse: int) -> Hashable:
        primitive, params = eqn.primitive, eqn.params
        if eqn.effects:
            return object()
        if type(primitive) is ControlPrimitive:
            named = primitive.options(params)
            held = [self._jaxpr(closed) for closed in primitive.jaxprs(params)]
            return coarse, None, *held, exact(named)
        if primitive is slice_p and is_without_strides(params):
            return coarse, None
        return coarse, *params.items()  # `loop_carries` compares exactly

    def _jaxpr(self, closed: ClosedJaxpr) -> int:
        """Return the token of a jaxpr; equal jaxprs have the same."""
        found = self._held.get(id(closed))
        if found is None:
            jaxpr = closed.jaxpr
            order: dict[Any, int] = {}
            for var in (*jaxpr.invars, *(v for e in jaxpr.eqns for v in e.outvars)):
                order[var] = len(order)
            atoms = [
                literal_key(v) if isinstance(v, Literal) else order[v]
                for v in (*(v for e in jaxpr.eqns for v in e.invars), *jaxpr.outvars)
            ]
            params = [exact(e.params) for e in jaxpr.eqns if not subjaxprs(e)]
            avals = [v.aval for v in jaxpr.invars]
            eqns = self.exact(jaxpr.eqns, self.coarse(jaxpr.eqns))
            token = (jaxpr.name, *avals, None, *eqns, None, *atoms, None, *params)
            found = self._held[id(closed)] = self._number(token)
        return found


def exact(value: Any) -> Hashable:
    """Return a key that is equal only for identical params: not 1 and True, 0 and -0."""
    if type(value) is tuple:
        return tuple([exact(each) for each in cast("tuple[Any, ...]", value)])
    if type(value) is dict:
        return tuple([exact(each) for each in cast("dict[Any, Any]", value).items()])
    if isinstance(value, float):
        return type(value), value.hex()
    return cast("Hashable", value.__class__), value


def is_without_strides(params: dict[str, Any]) -> bool:
    """Return whether a `slice` has strides of 1."""
    return set(params["strides"] or ()) <= {1}


# ---- 3. runs ----


@final
class _RepeatingSpan:
    """A span of a jaxpr with repeated equations."""

    def __init__(self, use_def: UseDef, start: int, tokens: Sequence[int]) -> None:
        self._use_def = use_def
        self._start, self._end = start, start + len(tokens)
        self._tokens = np.array(tokens)

    def runs(self, lengths: Sequence[int]) -> list[BlockRun]:
        """Return the runs of some lengths; if there are none, of other lengths."""
        return self._of(lengths) or self._of(_lengths(self._operand_tokens()))

    def _of(self, lengths: Sequence[int]) -> list[BlockRun]:
        spans = [(n, span) for n in lengths for span in _spans(self._tokens, n)]
        at = self._start
        return [r for n, (lo, hi) in spans for r in self._runs(lo + at, hi + at, n)]

    def _operand_tokens(self) -> Ints:
        """Return tokens that include the distance of near operands.

        A hash collision only proposes a useless block length.
        """
        use_def = self._use_def
        starts = use_def.operands_at[self._start : self._end + 1]
        part = slice(starts[0], starts[-1])
        at, made = use_def.used_at[part], use_def.made_at[use_def.operands[part]]
        near = np.where((made >= 0) & (at - made < _NEAR), at - made, 0)
        place = starts[0] + np.arange(len(at)) - use_def.operands_at[at]
        hashes = (near + _NEAR * use_def.avals[part]) * (1 + place * _ODD)
        sums = np.append(0, np.cumsum(hashes))[starts - starts[0]]
        return self._tokens * _ODD + np.diff(sums)

    def _runs(self, start: int, end: int, length: int) -> list[BlockRun]:
        """Return the runs of a length in a span of equal tokens."""
        found: list[BlockRun] = []
        for i, earliest in (*self._unlike(start, end, length), (end, end)):
            if i < start + length or earliest <= start:
                continue
            if i - start >= FEWEST * length:
                found.append(self._aligned(start, i, length))
            start = i - length + 1
        return found

    def _unlike(self, start: int, end: int, length: int) -> Iterator[tuple[int, int]]:
        """Return equations with an operand that does not match the previous block.

        Operands defined before the blocks match if their avals are equal, so each equation
        comes with the first position at which blocks may begin for it to match.
        """
        use_def, avals = self._use_def, self._use_def.avals
        block = slice(start, start + length + 1, length)
        first, second = use_def.operands_at[block]
        results = int(np.diff(use_def.results_at[block])[0])
        last = use_def.operands_at[end]
        ours = use_def.operands[second:last]
        theirs = use_def.operands[first : last - second + first]
        mine, other = use_def.made_at[ours] - length, use_def.made_at[theirs]
        is_other = avals[second:last] != avals[first : last - second + first]
        unlike = np.flatnonzero((theirs != ours - results) | (mine < start) | is_other)
        at = use_def.used_at[second:last][unlike]
        places = np.maximum(mine[unlike], other[unlike]) + 1
        places[is_other[unlike]] = end
        is_later = places > start
        return zip(at[is_later].tolist(), places[is_later].tolist(), strict=True)

    # ---- 4. where blocks begin ----

    def _aligned(self, start: int, end: int, length: int) -> BlockRun:
        """Return the run of as many blocks that carries the fewest values."""
        count, spare = divmod(end - start, length)
        if not spare:
            return BlockRun(start, length, count)
        last = end - length  # results of the block before it are used up to its end
        use_def = self._use_def
        near = slice(*use_def.operands_at[[last - length, end]])
        made = use_def.made_at[use_def.operands[near]].tolist()
        used = dict(zip(made, use_def.used_at[near].tolist(), strict=True))
        crossing = np.zeros(2 * length + 1, np.int64)
        for at in range(last - length, last):
            if at in used:
                first = (at + 1 - start) % length
                crossing[first] += 1
                crossing[first + min(used[at] - at, length)] -= 1
        live = np.cumsum(crossing)[: 2 * length]
        at = int(np.argmin((live[:length] + live[length:])[: spare + 1]))
        return BlockRun(start + at, length, count)


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join overlapping spans."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
