"""Blocks: runs of equal blocks of equations, as a Python loop writes them.

1. Each equation has a coarse token: its primitive and the aval of its first result. A
   program in which no distance of equal tokens is frequent is left here.
2. The others have an exact token: params, too. Jaxprs in params count by their own
   equations; an effect is like no other. Where a `slice` starts may differ from block to
   block, as `x[i]` does.
3. In runs of a length operands too are alike: made at the same place of the same block or
   of one before, or outside and of one aval. Blocks begin where least is handed on.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final, NamedTuple, cast, final

import numpy as np

from imprint._src.core.control import ControlPrimitive
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, subjaxprs
from imprint._src.core.primitive import Primitive
from imprint._src.passes.use_def import Ints, Wiring
from imprint._src.primitives.indexing.slicing import slice_p

FEWEST: Final = 16
"""Blocks below which a loop is left unrolled."""
_LENGTHS: Final = 12
"""Lengths of blocks that are tried."""
_WORDS: Final = (1, 4, 16, 64)
"""How many tokens are compared at once: an equation may be in a block several times."""
_NEAR: Final = 64
"""Equations up to which the distance of an operand tells equations apart."""
_ODD: Final = 1_000_003
"""What makes one number of several, which others have by chance only."""


class Run(NamedTuple):
    """Equal blocks: where the first one starts, their length, and how many there are."""

    start: int
    length: int
    blocks: int

    @property
    def end(self) -> int:
        """The position after the last block."""
        return self.start + self.length * self.blocks

    @property
    def saved(self) -> int:
        """How many equations a loop would not have."""
        return self.end - self.start - self.length


def runs_of(
    jaxpr: Jaxpr, may_gain: Callable[[Sequence[Eqn]], bool]
) -> tuple[list[Run], Wiring] | None:
    """Return the runs of equal blocks in a jaxpr; what saves most comes first.

    With them comes how the jaxpr is wired; if there are none, None does.

    Args:
        jaxpr: the program.
        may_gain: whether a stretch that repeats something is worth a closer look.
    """
    eqns = jaxpr.eqns
    if len(eqns) < FEWEST:
        return None
    tokens = _Tokens()
    each = tokens.coarse(eqns)
    coarse = np.array(each)
    if np.bincount(coarse).max() < FEWEST:
        return None
    lengths = _lengths(coarse)
    spans = _merged([span for length in lengths for span in _spans(coarse, length)])
    spans = [span for span in spans if may_gain(eqns[slice(*span)])]
    if not spans:
        return None
    wiring = Wiring(jaxpr)
    parts = [
        _Part(wiring, start, tokens.exact(eqns[start:end], each[start:end]))
        for start, end in spans
    ]
    found = [run for part in parts for run in part.runs(lengths)]
    found.sort(key=lambda run: (-run.saved, run.length, run.start))
    return (found, wiring) if found else None


def literal_key(literal: Literal) -> Hashable:
    """Return what two literals have in common that are the same to the last bit."""
    value = np.asarray(literal.value, literal.aval.dtype)
    return literal.aval, value.tobytes()


# ---- 1. lengths ----


def _lengths(tokens: Ints) -> list[int]:
    """Return how long blocks may be, the most frequent first."""
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
    """Return where words stand, in order, and whether each is unlike the one before."""
    order = np.argsort(words, kind="stable")
    ordered = words[order]
    is_new = np.ones(len(words), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return order, is_new


def _spans(tokens: Ints, length: int) -> list[tuple[int, int]]:
    """Return where tokens are equal to those a length before, for `FEWEST` blocks."""
    differs = np.flatnonzero(tokens[length:] != tokens[:-length])
    ends = np.append(differs, len(tokens) - length)
    starts = np.append(0, differs + 1)
    found = ends - starts >= (FEWEST - 1) * length
    firsts, lasts = starts[found].tolist(), (ends[found] + length).tolist()
    return [*zip(firsts, lasts, strict=True)]


# ---- 2. tokens ----


@final
class _Tokens:
    """Numbers for equations: equal ones may stand at the same place of blocks."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}
        self._held: dict[int, int] = {}

    def coarse(self, eqns: Sequence[Eqn]) -> list[int]:
        """Return numbers that tell equations apart by primitive and first result."""
        known = self._known
        number = known.setdefault
        return [
            number((e.primitive, e.outvars[0].aval if e.outvars else None), len(known))
            for e in eqns
        ]

    def exact(self, eqns: Sequence[Eqn], coarse: Sequence[int]) -> list[int]:
        """Return numbers that tell equations apart by all but their operands."""
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
        return coarse, *params.items()  # `carries` compares exactly

    def _jaxpr(self, closed: ClosedJaxpr) -> int:
        """Return the number of a jaxpr, which is that of each that is the same."""
        found = self._held.get(id(closed))
        if found is None:
            jaxpr = closed.jaxpr
            order: dict[Any, int] = {}
            for var in (*jaxpr.invars, *(v for e in jaxpr.eqns for v in e.outvars)):
                order[var] = len(order)
            wiring = [
                literal_key(v) if isinstance(v, Literal) else order[v]
                for v in (*(v for e in jaxpr.eqns for v in e.invars), *jaxpr.outvars)
            ]
            params = [exact(e.params) for e in jaxpr.eqns if not subjaxprs(e)]
            avals = [v.aval for v in jaxpr.invars]
            eqns = self.exact(jaxpr.eqns, self.coarse(jaxpr.eqns))
            token = (jaxpr.name, *avals, None, *eqns, None, *wiring, None, *params)
            found = self._held[id(closed)] = self._number(token)
        return found


def exact(value: Any) -> Hashable:
    """Return what is equal only for params that mean the same: not 1 and True, 0 and -0."""
    if type(value) is tuple:
        return tuple([exact(each) for each in cast("tuple[Any, ...]", value)])
    if type(value) is dict:
        return tuple([exact(each) for each in cast("dict[Any, Any]", value).items()])
    if isinstance(value, float):
        return type(value), value.hex()
    return cast("Hashable", value.__class__), value


def is_without_strides(params: dict[str, Any]) -> bool:
    """Tell whether a `slice` takes all between its starts and limits."""
    return set(params["strides"] or ()) <= {1}


# ---- 3. runs ----


@final
class _Part:
    """A part of a jaxpr that repeats something."""

    def __init__(self, wiring: Wiring, start: int, tokens: Sequence[int]) -> None:
        self._wiring = wiring
        self._start, self._end = start, start + len(tokens)
        self._tokens = np.array(tokens)

    def runs(self, lengths: Sequence[int]) -> list[Run]:
        """Return the runs of some lengths; if there are none, those of other lengths."""
        return self._of(lengths) or self._of(_lengths(self._wired()))

    def _of(self, lengths: Sequence[int]) -> list[Run]:
        spans = [(n, span) for n in lengths for span in _spans(self._tokens, n)]
        at = self._start
        return [r for n, (lo, hi) in spans for r in self._runs(lo + at, hi + at, n)]

    def _wired(self) -> Ints:
        """Return tokens of equations that count the distance of operands that are near.

        Those that are equal by chance propose a length of blocks, and no more.
        """
        wiring = self._wiring
        starts = wiring.operands_at[self._start : self._end + 1]
        part = slice(starts[0], starts[-1])
        at, made = wiring.used_at[part], wiring.made_at[wiring.operands[part]]
        near = np.where((made >= 0) & (at - made < _NEAR), at - made, 0)
        place = starts[0] + np.arange(len(at)) - wiring.operands_at[at]
        told = (near + _NEAR * wiring.avals[part]) * (1 + place * _ODD)
        sums = np.append(0, np.cumsum(told))[starts - starts[0]]
        return self._tokens * _ODD + np.diff(sums)

    def _runs(self, start: int, end: int, length: int) -> list[Run]:
        """Return the runs of a length in a span of equal tokens."""
        found: list[Run] = []
        for i, earliest in (*self._unlike(start, end, length), (end, end)):
            if i < start + length or earliest <= start:
                continue
            if i - start >= FEWEST * length:
                found.append(self._aligned(start, i, length))
            start = i - length + 1
        return found

    def _unlike(self, start: int, end: int, length: int) -> Iterator[tuple[int, int]]:
        """Return equations with an operand that is unlike that of the block before.

        It is like it if both are made before the blocks, and of one type: so the first
        place where blocks may begin is told, too.
        """
        wiring, avals = self._wiring, self._wiring.avals
        block = slice(start, start + length + 1, length)
        first, second = wiring.operands_at[block]
        results = int(np.diff(wiring.results_at[block])[0])
        last = wiring.operands_at[end]
        ours = wiring.operands[second:last]
        theirs = wiring.operands[first : last - second + first]
        mine, other = wiring.made_at[ours] - length, wiring.made_at[theirs]
        is_other = avals[second:last] != avals[first : last - second + first]
        unlike = np.flatnonzero((theirs != ours - results) | (mine < start) | is_other)
        at = wiring.used_at[second:last][unlike]
        places = np.maximum(mine[unlike], other[unlike]) + 1
        places[is_other[unlike]] = end
        is_later = places > start
        return zip(at[is_later].tolist(), places[is_later].tolist(), strict=True)

    # ---- 4. where blocks begin ----

    def _aligned(self, start: int, end: int, length: int) -> Run:
        """Return the run that begins where least is handed on, and has as many blocks."""
        count, spare = divmod(end - start, length)
        if not spare:
            return Run(start, length, count)
        last = end - length  # what the block before it makes is used up to its end
        wiring = self._wiring
        near = slice(*wiring.operands_at[[last - length, end]])
        made = wiring.made_at[wiring.operands[near]].tolist()
        used = dict(zip(made, wiring.used_at[near].tolist(), strict=True))
        crossing = np.zeros(2 * length + 1, np.int64)
        for at in range(last - length, last):
            if at in used:
                first = (at + 1 - start) % length
                crossing[first] += 1
                crossing[first + min(used[at] - at, length)] -= 1
        live = np.cumsum(crossing)[: 2 * length]
        at = int(np.argmin((live[:length] + live[length:])[: spare + 1]))
        return Run(start + at, length, count)


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
