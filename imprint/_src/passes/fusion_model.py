"""Kernels: how many of them compute each value, and which values should be written?

XLA:CPU makes a kernel of each result, of each operand of what it fuses with nothing, and
of each dear operation that two kernels need; a kernel computes all cheap operations from
there back to what is in memory, each once; one that joins arrays computes them once along
each way from what it joins, which grows exponentially. So the walk goes from the results backwards,
and a value is in the kernels of its users. The counts are those of the compiled programs,
see `tests/units/passes/test_fusion_model.py`. A value is written to memory where that saves
more than it costs; then it is a kernel, and what it is made of is counted anew.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, Final, final

from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var
from imprint._src.dtypes import is_inexact
from imprint._src.passes.fusion import SHARED, Kind, kind_of, kinds_of, takes_memory

Kernel = int
Kernels = frozenset[Kernel]
_NONE: Final[Kernels] = frozenset()
_MEMORY: Final[Kernel] = -1  # stands for: a body needs that in memory
_FIRST: Final[Kernel] = -2  # and downwards: kernels of whoever calls a body
_NEVER: Final = float("inf")
_MANY: Final = 16  # as good as any more
_OFTEN: Final = 1_000  # as good as any more
_FAR: Final = 100  # equations that are looked at between a value and its user
_ALL: Final[frozenset[Atom]] = frozenset()  # whatever has other users counts
_INVARS: Final = attrgetter("invars")


@final
class Walk:
    """One walk over a jaxpr, from its results to its arguments.

    Args:
        jaxpr: the program.
        results: the kernels that compute each result, if it is the body of a call.
        limit: additions an element that a cut must save; none is made by default.

    Attributes:
        kernels: those that compute each value.
        cuts: the values to write, the kernels of each, and the additions that it saves.
    """

    def __init__(
        self,
        jaxpr: Jaxpr,
        results: Sequence[Kernels] | None = None,
        limit: float = _NEVER,
    ) -> None:
        self.kernels: dict[Atom, Kernels] = {}
        self.cuts: dict[Var, tuple[int, float]] = {}
        self._jaxpr: Jaxpr = jaxpr
        self._limit: float = limit
        self._memory: set[Atom] = set()
        self._indexed: set[Atom] = set()  # needed at several places of one kernel
        self._joined = _Joined()
        self._kinds: list[Kind | None] = kinds_of(jaxpr.eqns)
        self._extra: int = len(jaxpr.eqns)
        uses = Counter({*jaxpr.outvars})
        uses.update(chain.from_iterable(map(_INVARS, jaxpr.eqns)))
        self._shared: set[Atom] = {v for v, n in uses.items() if n > 1}
        self._reread: set[Atom] = _reread(jaxpr.eqns, self._kinds)
        self._reads: dict[Any, bool] = {}
        self._written: dict[int, None] = {}  # equations behind which something is
        for eqn in jaxpr.eqns if jaxpr.bodies else ():
            if eqn.primitive.is_call:  # it may use an operand twice
                self._shared.update(eqn.invars)
        if results is None:
            self._memory.update(jaxpr.outvars)
        else:
            for v, found in zip(jaxpr.outvars, results, strict=True):
                self._merge(v, found)
        self._walk()

    # ---- what is looked up if it is needed ----

    @cached_property
    def _made(self) -> dict[Atom, int]:
        """The equation that makes each value."""
        return {v: i for i, e in enumerate(self._jaxpr.eqns) for v in e.outvars}

    @cached_property
    def _users(self) -> dict[Atom, list[int]]:
        """The equations that use each value, of those that are used twice."""
        users: dict[Atom, list[int]] = {v: [] for v in self._shared}
        for i, eqn in enumerate(self._jaxpr.eqns):
            for v in eqn.invars:
                if v in users:
                    users[v].append(i)
        return users

    def _writes(self, eqn: Eqn, out: Var, kind: Kind) -> bool:
        """Tell whether something is written between an operand and a user of the result."""
        if kind.is_reduced:
            return self._takes_memory(eqn) or self._is_reread(out, kind)
        return kind.dear and not kind.blocks and out in self._shared

    def _takes_memory(self, eqn: Eqn) -> bool:
        key = eqn.invars[0].aval, eqn.params["axes"]
        found = self._reads.get(key)
        if found is None:
            found = self._reads[key] = takes_memory(eqn)
        return found

    def _walk(self) -> None:
        eqns, kinds, shared = self._jaxpr.eqns, self._kinds, self._shared
        kernels, memory = self.kernels, self._memory
        indexed, joined = self._indexed, self._joined.times
        for i in range(len(eqns) - 1, -1, -1):
            eqn, kind = eqns[i], kinds[i]
            if kind is None:
                self._apart(i, eqn)
                continue
            out = eqn.outvars[0]
            found = kernels.get(out, _NONE)
            if kind.dear or out in shared or out in memory:
                kernels[out] = found = self._decide(i, eqn, kind, found)
            if kind.is_reduced and self._takes_memory(eqn):
                memory.update(eqn.invars)
                continue
            for v in eqn.invars:
                had = kernels.get(v)
                if had is None:
                    kernels[v] = found
                elif had is not found:
                    self._merge(v, found)
            if kind.moves or out in indexed or out in joined:
                self._index(eqn, kind, is_alone=i in found)

    def _merge(self, v: Atom, found: Kernels) -> None:
        had = self.kernels.get(v, _NONE)
        if len(had) < _MANY and not found <= had:
            self.kernels[v] = had | found

    def _index(self, eqn: Eqn, kind: Kind, *, is_alone: bool) -> None:
        """Note which operands are needed at several places."""
        out, indexed, joined = eqn.outvars[0], self._indexed, self._joined
        if kind.blocks or out in joined.times:
            joined.count(eqn, kind, is_alone=is_alone)
        if out in indexed and not is_alone:
            indexed.update(eqn.invars)
        elif kind.moves:
            indexed.update(self._shared.intersection(eqn.invars))

    # ---- one value ----

    def _decide(self, i: int, eqn: Eqn, kind: Kind, found: Kernels) -> Kernels:
        """Return the kernels that compute an equation, which may be its own alone."""
        out = eqn.outvars[0]
        if out in self._memory:
            found |= {i}
        if len(found) > 1:
            is_alone = kind.dear or self._is_kept(i, eqn) or self._is_cut(i, out, found)
        elif self._joined.times.get(out, 0) > 1 and self._is_cut(i, out, found):
            is_alone = True
        else:
            is_alone = bool(kind.dear and found and self._is_reread(out, kind))
        if kind.dear and self._writes(eqn, out, kind):
            self._written[i] = None
        return frozenset((i,)) if is_alone else found

    def _is_reread(self, out: Var, kind: Kind) -> bool:
        """Tell whether the one kernel that uses a dear result would compute it again."""
        if kind.blocks and (out in self._shared or out in self._indexed):
            return True
        return out in self._reread

    def _is_kept(self, i: int, eqn: Eqn) -> bool:
        """Tell whether the engine writes a value rather than read its operands again.

        That is so if it has two of them, and one of its users is computed from it by
        another way, too, on which something is written.
        """
        if len(eqn.invars) < 2 or eqn.primitive.name == "concatenate":
            return False
        out = eqn.outvars[0]
        rank = out.aval.ndim
        full = {v for v in eqn.invars if type(v) is Var and v.aval.ndim >= rank}
        if sum([not self._is_spread(v) for v in full]) < 2:
            return False
        return out in self._memory or self._is_behind(i, out)

    def _is_spread(self, v: Var) -> bool:
        kind = self._kinds[self._made[v]] if v in self._made else None
        return kind is not None and kind.spreads

    def _is_behind(self, i: int, out: Var) -> bool:
        """Tell whether a user also takes what is written between `out` and it."""
        eqns, made, written = self._jaxpr.eqns, self._made, self._written
        first = next(reversed(written), len(eqns))
        users = [eqns[u] for u in self._users[out] if u > first]
        above = {j for user in users for v in user.invars if (j := made.get(v, -1)) > i}
        stack = [(j, j in written) for j in above if j >= first]
        seen = {*stack}
        while stack and len(seen) <= _FAR:
            j, is_behind = stack.pop()
            for v in eqns[j].invars:
                k = made.get(v, -1)
                if k == i and is_behind:
                    return True
                if k > i if is_behind else k >= first:
                    way = k, is_behind or k in written
                    if way not in seen:
                        seen.add(way)
                        stack.append(way)
        return any(is_behind for _, is_behind in stack)

    # ---- what a cut saves ----

    def _is_cut(self, i: int, out: Var, found: Kernels) -> bool:
        """Tell whether a value is written, which more than one kernel computes."""
        if self._limit == _NEVER or out not in self._shared:
            return False
        if not is_inexact(out.aval.dtype):
            return False
        times = max(len(found), self._joined.times.get(out, 0))
        again = times - 1
        saved = again * self._work(i, out, times, self._limit / again)
        if saved >= self._limit:
            self.cuts[out] = times, saved
        return saved >= self._limit

    def _work(self, i: int, out: Var, kernels: int, enough: float) -> float:
        """Return the work behind a value, additions an element, up to `enough`.

        Args:
            i: the equation that makes it.
            out: the value.
            kernels: how many compute it; if many, what has other users counts, too.
            enough: where to stop.
        """
        eqns, made, size = self._jaxpr.eqns, self._made, out.aval.size
        kinds, shared = self._kinds, self._shared if kernels < SHARED else _ALL
        stack, seen = [i], {i}
        total = 0.0
        while stack and total < enough:
            j = stack.pop()
            eqn, kind = eqns[j], kinds[j]
            if kind is not None and eqn.outvars[0].aval.size is size:
                total += kind.work
            else:
                total += _weight(eqn, size)
            for v in eqn.invars:
                j = made.get(v)
                if j is None or j in seen or v in shared:
                    continue
                kind = kinds[j]
                if eqns[j].primitive.is_call if kind is None else not kind.dear:
                    seen.add(j)
                    stack.append(j)
        return total

    # ---- calls ----

    def _apart(self, i: int, eqn: Eqn) -> None:
        """Go through what is fused with nothing, or the body of a call."""
        if eqn.primitive.is_call:
            self._call(i, eqn)
        else:
            self._memory.update(eqn.invars)
            self._written[i] = None

    def _call(self, i: int, eqn: Eqn) -> None:
        """Go through the body of a call, which the engine puts in its place."""
        names: dict[Kernel, Kernel] = {}
        results = [self._of_call(i, v) for v in eqn.outvars]
        for found in results:
            for kernel in sorted(found):
                names.setdefault(kernel, _FIRST - len(names))
        back = {name: kernel for kernel, name in names.items()}
        (closed,) = eqn.primitive.jaxprs(eqn.params)
        renamed = tuple([frozenset([names[k] for k in found]) for found in results])
        for v, found in zip(eqn.invars, _through(closed, renamed), strict=True):
            if _MEMORY in found:
                self._memory.add(v)
            if found:
                self._merge(v, self._named(found, back))

    def _of_call(self, i: int, v: Var) -> Kernels:
        """Return the kernels that compute a result of a call."""
        found = self.kernels.get(v, _NONE)
        if v in self._memory:
            found |= {self._new()}
        if len(found) > 1 and self._is_cut(i, v, found):
            found = frozenset((self._new(),))
        return found

    def _named(self, found: Kernels, back: dict[Kernel, Kernel]) -> Kernels:
        """Return kernels of a body as those of this call."""
        for kernel in found:
            if kernel not in back:
                back[kernel] = self._new()
        return frozenset([back[k] for k in found if k != _MEMORY])

    def _new(self) -> Kernel:
        self._extra += 1
        return self._extra

    @property
    def arguments(self) -> tuple[Kernels, ...]:
        """The kernels that compute each argument, if it is not in memory."""
        return tuple(
            [
                self.kernels.get(v, _NONE) | ({_MEMORY} if v in self._memory else _NONE)
                for v in self._jaxpr.invars
            ]
        )


@final
class _Joined:
    """How often a kernel that joins arrays computes each value.

    The engine computes what it joins anew for each place, along each way there is to it:
    twice as often for each value used twice. What takes a part of what was joined takes
    the operand.

    Attributes:
        times: how often each value is computed.
    """

    def __init__(self) -> None:
        self.times: dict[Atom, int] = {}
        self._sliced: dict[Atom, int] = {}  # by what takes a part

    def count(self, eqn: Eqn, kind: Kind, *, is_alone: bool) -> None:
        """Count how often operands are computed, if the result is a kernel alone or not."""
        out = eqn.outvars[0]
        if kind.blocks and not kind.is_reduced:
            of = self._sliced if is_alone else self.times
            times = max(1, of.get(out, 0))
        else:
            times = 0 if is_alone else self.times.get(out, 0)
        if times:
            for v in eqn.invars:
                self.times[v] = min(self.times.get(v, 0) + times, _OFTEN)
                if eqn.primitive.name == "slice":
                    self._sliced[v] = min(self._sliced.get(v, 0) + times, _OFTEN)


def _through(closed: ClosedJaxpr, results: tuple[Kernels, ...]) -> tuple[Kernels, ...]:
    """Return the kernels of the arguments of a body, whose results are in `results`."""
    return closed.derived(
        ("kernels", results), lambda: Walk(closed.jaxpr, results).arguments
    )


def _reread(eqns: Sequence[Eqn], kinds: Sequence[Kind | None]) -> set[Atom]:
    """Return values of which a user has other elements than they have."""
    found: set[Atom] = set()
    for eqn, kind in zip(eqns, kinds, strict=True):
        if kind is None or not kind.moves or kind.spreads:
            aval = eqn.outvars[0].aval if eqn.outvars else None
            for v in eqn.invars:
                if v.aval is not aval and (not aval or v.aval.shape != aval.shape):
                    found.add(v)
    return found


def _weight(eqn: Eqn, size: int) -> float:
    """Return the additions that an equation costs for each of `size` elements."""
    kind = kind_of(eqn)
    if kind is None:
        (closed,) = eqn.primitive.jaxprs(eqn.params)
        return closed.derived(
            "work",
            lambda: sum([_weight(e, size) for e in closed.eqns if _is_work(e)]),
        )
    own = eqn.outvars[0].aval.size
    if own is size or type(own) is not int or type(size) is not int or not size:
        return kind.work
    return kind.work * own / size


def _is_work(eqn: Eqn) -> bool:
    return kind_of(eqn) is not None or eqn.primitive.is_call
