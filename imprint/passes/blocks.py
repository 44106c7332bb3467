"""Blocks: runs of equal blocks of equations, as a Python loop writes them.

1. Each equation has a coarse token: its primitive and the aval of its first result. A
   program in which no distance of equal tokens is frequent is left here.
2. The others have an exact token: params, too, and the avals of operands. Jaxprs in params
   count by their own equations; an effect is like no other. Where a `slice` starts may
   differ from block to block, as `x[i]` does.
3. In runs of a length operands too are alike: made at the same place of the same block or
   of one before, or outside. Blocks begin where least is handed on.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, NamedTuple, cast, final

import numpy as np

from imprint.core.control import ControlPrimitive
from imprint.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, subjaxprs
from imprint.primitives.slicing import slice_p

Ints = np.ndarray[Any, np.dtype[np.int64]]

FEWEST: Final = 16
"""Blocks below which a loop is left unrolled."""
_LENGTHS: Final = 12
"""Lengths of blocks that are tried."""
_WORDS: Final = (1, 4, 16, 64)
"""How many tokens are compared at once: an equation may be in a block several times."""
_NEAR: Final = 64
"""Equations up to which the distance of an operand tells equations apart."""


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


def runs_of(jaxpr: Jaxpr, may_gain: Callable[[Sequence[Eqn]], bool]) -> list[Run]:
    """Return the runs of equal blocks in a jaxpr; what saves most comes first.

    Args:
        jaxpr: the program.
        may_gain: whether a stretch that repeats something is worth a closer look.
    """
    eqns = jaxpr.eqns
    if len(eqns) < FEWEST:
        return []
    coarse = _coarse(eqns)
    if coarse is None:
        return []
    lengths = _lengths(coarse)
    spans = _merged([span for length in lengths for span in _spans(coarse, length)])
    spans = [span for span in spans if may_gain(eqns[slice(*span)])]
    if not spans:
        return []
    places = made_at(eqns)
    parts = [_Part(eqns, places, span) for span in spans]
    found = [run for part in parts for run in part.runs(lengths)]
    return sorted(found, key=lambda run: (-run.saved, run.length, run.start))


def made_at(eqns: Sequence[Eqn]) -> dict[Any, tuple[int, int]]:
    """Return which equation makes each variable, as which of its results."""
    return {v: (i, r) for i, eqn in enumerate(eqns) for r, v in enumerate(eqn.outvars)}


def literal_key(literal: Literal) -> Hashable:
    """Return what two literals have in common that are the same to the last bit."""
    value = np.asarray(literal.value, literal.aval.dtype)
    return literal.aval, value.tobytes()


# ---- 1. lengths ----


def _coarse(eqns: Sequence[Eqn]) -> Ints | None:
    """Return a number for each equation; None if none is there often enough."""
    known: dict[Any, int] = {}
    number = known.setdefault
    tokens = [
        number((e.primitive, e.outvars[0].aval if e.outvars else None), len(known))
        for e in eqns
    ]
    if len(eqns) < FEWEST * len(known) and not _is_often(tokens, len(known)):
        return None
    return np.array(tokens, np.int64)


def _is_often(tokens: list[int], kinds: int) -> bool:
    return int(np.bincount(tokens, minlength=kinds).max()) >= FEWEST


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

    def of(self, eqn: Eqn) -> int:
        """Return the number of an equation."""
        return self._number(self._token(eqn))

    def _number(self, token: Hashable) -> int:
        return self._known.setdefault(token, len(self._known))

    def _token(self, eqn: Eqn) -> Hashable:
        primitive, params = eqn.primitive, eqn.params
        if eqn.effects:
            return object()
        avals = [v.aval for v in eqn.invars]
        if not params:
            return primitive, *avals
        if type(primitive) is ControlPrimitive:
            named = primitive.options(params)
            held = [self._jaxpr(closed) for closed in primitive.jaxprs(params)]
            return primitive, *avals, None, *held, exact(named)
        if primitive is slice_p and is_without_strides(params):
            return primitive, *avals, eqn.outvars[0].aval
        return primitive, *avals, None, *params.items()  # `carries` compares exactly

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
            eqns = [self.of(eqn) for eqn in jaxpr.eqns]
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

    def __init__(
        self,
        eqns: Sequence[Eqn],
        places: dict[Any, tuple[int, int]],
        span: tuple[int, int],
    ) -> None:
        self._eqns = eqns
        self._made_at = places
        self._start, end = span
        tokens = _Tokens()
        self._tokens = np.array([tokens.of(eqn) for eqn in eqns[self._start : end]])

    def runs(self, lengths: Sequence[int]) -> list[Run]:
        """Return the runs of some lengths; if there are none, those of other lengths."""
        return self._of(lengths) or self._of(_lengths(self._wired()))

    def _of(self, lengths: Sequence[int]) -> list[Run]:
        spans = [(n, span) for n in lengths for span in _spans(self._tokens, n)]
        at = self._start
        return [r for n, (lo, hi) in spans for r in self._runs(lo + at, hi + at, n)]

    def _wired(self) -> Ints:
        """Return tokens of equations that count the distance of operands that are near."""
        known: dict[Hashable, int] = {}
        wired: list[int] = []
        for i, token in enumerate(self._tokens.tolist(), self._start):
            places = [self._made_at.get(v, (-1, 0))[0] for v in self._eqns[i].invars]
            near = [i - a if i - a < _NEAR and a >= 0 else 0 for a in places]
            wired.append(known.setdefault((token, *near), len(known)))
        return np.array(wired)

    def _runs(self, start: int, end: int, length: int) -> list[Run]:
        """Return the runs of a length in a span of equal tokens."""
        found: list[Run] = []
        for i in range(start + length, end + 1):
            if i < end and self._is_same(i, length, start):
                continue
            if i - start >= FEWEST * length:
                found.append(self._aligned(start, i, length))
            start = i - length + 1
        return found

    def _is_same(self, i: int, length: int, start: int) -> bool:
        """Tell whether operands are as those of the block before."""
        for ours, theirs in zip(
            self._eqns[i].invars, self._eqns[i - length].invars, strict=True
        ):
            mine, result = self._made_at.get(ours, (-1, 0))
            other, other_result = self._made_at.get(theirs, (-1, 0))
            if mine - length >= start:
                if other != mine - length or result != other_result:
                    return False
            elif other >= start:
                return False
        return True

    # ---- 4. where blocks begin ----

    def _aligned(self, start: int, end: int, length: int) -> Run:
        """Return the run that begins where least is handed on, and has as many blocks."""
        count, spare = divmod(end - start, length)
        if not spare:
            return Run(start, length, count)
        last = end - length  # what the block before it makes is used up to its end
        used: dict[int, int] = {}
        for i in range(last - length, end):
            for v in self._eqns[i].invars:
                used[self._made_at.get(v, (-1, 0))[0]] = i
        crossing = np.zeros(2 * length + 1, np.int64)
        for made in range(last - length, last):
            if made in used:
                first = (made + 1 - start) % length
                crossing[first] += 1
                crossing[first + min(used[made] - made, length)] -= 1
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
