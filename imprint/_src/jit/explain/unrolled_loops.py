"""Blocks of equations that a Python loop repeated.

1. Each equation has a token: primitive, line, avals of operands and results, and params.
   Integers in params may differ by equal steps, like the start of `x[i]` in a loop.
2. The distances between equal tokens are the possible lengths of blocks; they are few.
3. For each length, find the longest runs of blocks in which each equation equals that of
   the previous block, and takes its operands from the same positions of its own block.
   Operands from outside a block (a carry, a constant, a weight) may differ.
4. Of overlapping runs, keep the one that saves most, unless it is inside a jitted function
   of this package, such as a random number generator.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final, NamedTuple, cast, final

from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, all_bodies
from imprint._src.diagnostics.source import Source
from imprint._src.jit.explain.granularity import dissolved
from imprint._src.jit.explain.loops import SourceLoop, loop_around

_FEWEST: Final = 4
"""The least number of blocks."""
_SAVED: Final = 100
"""The least number of equations that a loop saves."""
_LENGTHS: Final = 16
"""Lengths of blocks to try in a jaxpr."""


class Repeat(NamedTuple):
    """Equal blocks of equations, one after the other.

    Args:
        counts: pairs of the number of blocks and of equations in each, nested calls
            included; a differentiated loop has forward and backward blocks.
        source: the source of the first one.
        loop: the Python loop, if it is known.
        stacked: whether each uses other arrays from outside, such as its weights.
    """

    counts: tuple[tuple[int, int], ...]
    source: Source | None
    loop: SourceLoop | None
    stacked: bool

    @property
    def saved(self) -> int:
        """The number of equations that a loop would save."""
        return sum((blocks - 1) * equations for blocks, equations in self.counts)

    def __str__(self) -> str:
        ((blocks, equations), times), *more = Counter(self.counts).items()
        text = f"{blocks:,} equal blocks of {equations:,} equations{_times(times)}"
        text += "".join(f", {n:,} of {size:,}{_times(k)}" for (n, size), k in more)
        if self.loop is not None:
            text += f"{',' * bool(more)} from a Python loop at {self.loop}"
        elif self.source is not None:
            text += f", the first at {self.source}"
        name = "`lax.scan` over" if self.stacked else "`lax.fori_loop`"
        over = " what each takes, stacked," if self.stacked else ""
        each = "each" if len(self.counts) > 1 else "them"
        return f"{text}: {name}{over} would compile 1 of {each}."


def _times(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""


def repeats(closed: ClosedJaxpr) -> tuple[Repeat, ...]:
    """Return the repeats of a program and its inner jaxprs; those that save most first."""
    found: dict[Hashable, Repeat] = {}
    for one in (closed, *all_bodies(closed.jaxpr)):
        for new in _repeats_of(one.jaxpr):
            old = found.setdefault(new.loop or _place(new.source), new)
            if old is not new:
                counts = (*old.counts, *new.counts)
                found[new.loop or _place(new.source)] = old._replace(counts=counts)
    return tuple(sorted(found.values(), key=lambda r: -r.saved))


def describe_repeats(closed: ClosedJaxpr) -> str:
    """Return the repeats of a program as text; empty if there are none."""
    return " ".join(map(str, repeats(closed)[:_TOLD]))


_TOLD: Final = 3


class _BlockRun(NamedTuple):
    """Equal blocks: the start of the first, their length and number."""

    start: int
    length: int
    blocks: int

    @property
    def end(self) -> int:
        """The position after the last block."""
        return self.start + self.length * self.blocks


def _repeats_of(jaxpr: Jaxpr) -> list[Repeat]:
    equations = _Equations(jaxpr)
    lengths = equations.lengths()
    if not lengths:
        return []
    weights = [dissolved(eqn) for eqn in jaxpr.eqns]
    runs = [run for length in lengths for run in equations.runs(length)]

    def saved(run: _BlockRun) -> int:
        return sum(weights[run.start + run.length : run.end])

    chosen: list[_BlockRun] = []
    for run in sorted(runs, key=saved, reverse=True):
        apart = all(run.end <= c.start or c.end <= run.start for c in chosen)
        if apart and saved(run) >= _SAVED:
            chosen.append(run)
    chosen = [run for run in sorted(chosen) if not _is_inner(jaxpr.eqns[run.start])]
    sources = [_sources(jaxpr.eqns[run.start : run.end]) for run in chosen]
    loops = [*map(loop_around, sources)]
    return [
        Repeat(
            ((run.blocks, sum(weights[run.start : run.start + run.length])),),
            jaxpr.eqns[run.start].source,
            loops[k] or _loop_of_same_lines(k, chosen, sources, loops),
            equations.is_stacked(run),
        )
        for k, run in enumerate(chosen)
    ]


def _is_inner(eqn: Eqn) -> bool:
    return eqn.source is not None and eqn.source.is_inner


def _loop_of_same_lines(
    k: int,
    runs: Sequence[_BlockRun],
    sources: Sequence[Sequence[Source]],
    loops: Sequence[SourceLoop | None],
) -> SourceLoop | None:
    """Return the loop of another run with the same lines and number of blocks.

    A transform writes the equations of a backward pass, while no loop runs.
    """
    if any(source.callers for source in sources[k]):
        return None
    places = {*map(_place, sources[k])}
    found = {
        loop
        for run, lines, loop in zip(runs, sources, loops, strict=True)
        if abs(run.blocks - runs[k].blocks) <= 1
        and not places.isdisjoint(map(_place, lines))
    }
    found.discard(None)
    return found.pop() if len(found) == 1 else None


def _sources(eqns: Iterable[Eqn]) -> list[Source]:
    return [eqn.source for eqn in eqns if eqn.source is not None]


# ---- equations ----


@final
class _EquationTokens:
    """Numbers for equations: equal ones may have the same position in blocks."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}
        self._held: dict[int, int] = {}

    def of(self, eqns: Iterable[Eqn]) -> list[int]:
        """Return the numbers of equations."""
        return [self._number(self._token(eqn)) for eqn in eqns]

    def _number(self, token: Hashable) -> int:
        return self._known.setdefault(token, len(self._known))

    def _token(self, eqn: Eqn) -> Hashable:
        ins, outs = ([v.aval for v in atoms] for atoms in (eqn.invars, eqn.outvars))
        params = [(name, self._param(value)) for name, value in eqn.params.items()]
        return id(eqn.primitive), _place(eqn.source), *ins, None, *outs, *params

    def _param(self, value: Any) -> Hashable:
        """Return a param with `int` for each integer, and a number for a jaxpr."""
        if isinstance(value, ClosedJaxpr):
            return self._jaxpr(value)
        if type(value) is not tuple:
            return int if type(value) is int else value
        return tuple([self._param(each) for each in cast("tuple[Any, ...]", value)])

    def _jaxpr(self, closed: ClosedJaxpr) -> int:
        """Return the number of a jaxpr; equal jaxprs have the same."""
        if id(closed) not in self._held:
            jaxpr = closed.jaxpr
            order: dict[Any, int] = {}
            variables = [*jaxpr.invars, *(v for e in jaxpr.eqns for v in e.outvars)]
            for var in variables:
                order[var] = len(order)
            atoms = [*(v for e in jaxpr.eqns for v in e.invars), *jaxpr.outvars]
            wiring = [
                str(v) if isinstance(v, Literal) else order.get(v, -1) for v in atoms
            ]
            numbers = [str(_numbers(tuple(e.params.values()))) for e in jaxpr.eqns]
            avals = [v.aval for v in jaxpr.invars]
            token = (*avals, None, *self.of(jaxpr.eqns), None, *wiring, *numbers)
            self._held[id(closed)] = self._number(token)
        return self._held[id(closed)]


def _place(source: Source | None) -> Hashable:
    """Return a cheap hash key of a source; hashing its code is slow."""
    return None if source is None else (id(source.code), source.instruction)


def _numbers(value: Any) -> list[int]:
    """Return the integers in a param."""
    if type(value) is not tuple:
        return [value] if type(value) is int else []
    return [n for each in cast("tuple[Any, ...]", value) for n in _numbers(each)]


@final
class _Equations:
    """The equations of a jaxpr."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self._eqns = jaxpr.eqns
        self._tokens = _EquationTokens().of(jaxpr.eqns)
        self._made_at: dict[Any, int] = {
            var: i for i, eqn in enumerate(jaxpr.eqns) for var in eqn.outvars
        }
        self._numbers = [_numbers(tuple(eqn.params.values())) for eqn in jaxpr.eqns]

    def lengths(self) -> list[int]:
        """Return the possible lengths of blocks: the distances of equal equations."""
        last: dict[int, int] = {}
        gaps: Counter[int] = Counter()
        for i, token in enumerate(self._tokens):
            if token in last:
                gaps[i - last[token]] += 1
            last[token] = i
        often = gaps.most_common(_LENGTHS)
        return [gap for gap, count in often if count >= _FEWEST - 1]

    def runs(self, length: int) -> list[_BlockRun]:
        """Return the longest runs of equal blocks of a length."""
        found: list[_BlockRun] = []
        start = 0
        for i in range(length, len(self._eqns) + 1):
            if i < len(self._eqns) and self._is_same(i, length, start):
                continue
            blocks = (i - start) // length
            if blocks >= _FEWEST:
                found.append(_BlockRun(start, length, blocks))
            start = i - length + 1
        return found

    def _is_same(self, i: int, length: int, start: int) -> bool:
        """Return whether an equation equals that of the previous block."""
        if self._tokens[i] != self._tokens[i - length]:
            return False
        block = i - (i - start) % length
        pairs = zip(self._eqns[i].invars, self._eqns[i - length].invars, strict=True)
        for ours, theirs in pairs:
            mine = self._made_at.get(ours, -1) - block
            other = self._made_at.get(theirs, -1) - block + length
            if max(mine, -1) != max(other, -1):  # negative: from outside
                return False
        if not self._numbers[i] or i - 2 * length < start:
            return True
        return self._step(i, length) == self._step(i - length, length)

    def _step(self, i: int, length: int) -> list[int]:
        """Return the differences of the integers from those of the previous block."""
        pairs = zip(self._numbers[i], self._numbers[i - length], strict=True)
        return [ours - theirs for ours, theirs in pairs]

    def is_stacked(self, run: _BlockRun) -> bool:
        """Return whether blocks use different arrays from outside."""
        second = range(run.start + run.length, run.start + 2 * run.length)
        return any(
            ours is not theirs
            for i in second
            for ours, theirs in zip(
                self._eqns[i].invars, self._eqns[i + run.length].invars, strict=True
            )
            if self._is_outside(ours, run) and self._is_outside(theirs, run)
        )

    def _is_outside(self, atom: Any, run: _BlockRun) -> bool:
        if isinstance(atom, Literal):
            return False
        return not run.start <= self._made_at.get(atom, -1) < run.end
