"""Model of XLA:CPU fusion: the kernels that compute each value, and the values to write.

XLA:CPU emits one kernel per result, per operand of an unfused operation, and per expensive
operation with several users. A kernel computes each cheap operation from there back to
memory once; a kernel that joins arrays computes them once along each path, which grows
exponentially. So the model walks from the results backwards, and a value is in the kernels
of its users. `tests/units/passes/test_fusion_model.py` compares the counts with compiled
programs. A value is written to memory if that saves more than it costs; it is then one
kernel. The cost of an operation is its `primitive.fusion`.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, Final, final

from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray
from imprint._src.core.fusion import Fusion
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var
from imprint._src.dtypes import is_inexact
from imprint._src.primitives.indexing.slicing import concatenate_p, slice_p

LIMIT: Final = 40.0
"""Additions an element that a cut must save.

A cut costs 17 ns of a scalar, which is 40 additions; 2 µs of 1,000 elements, which is 40
additions of each; 60 µs of 1,000,000, which is 20.
"""

_SHARED: Final = 6
"""Kernels from which a cut also saves the operands that have other users.

With 3 to 12, solvers of three coupled equations run alike, in 0.4 to 0.8 of their time;
with 3, a solver that has three results is cut for nothing.
"""

_AXIS: Final = 32  # a longer axis is reduced in two steps, from memory
_REDUCED_ALONE: Final = 10_000  # elements; 4,000 are reduced where they are computed

Kernel = int
Kernels = frozenset[Kernel]
_NONE: Final[Kernels] = frozenset()
_MEMORY: Final[Kernel] = -1  # marks a value that a body reads from memory
_FIRST: Final[Kernel] = -2  # and downwards: kernels of the caller of a body
_NEVER: Final = float("inf")
_MANY: Final = 16  # more kernels are not counted
_OFTEN: Final = 1_000  # nor more computations
_FAR: Final = 100  # equations searched between a value and its user
_ALL: Final[frozenset[Atom]] = frozenset()  # values with other users are included
_INVARS: Final = attrgetter("invars")
_OUTVARS: Final = attrgetter("outvars")
_AVAL: Final = attrgetter("aval")
_FUSION: Final = attrgetter("primitive.fusion")


def fusions_of(eqns: Sequence[Eqn]) -> list[Fusion | None]:
    """Return how XLA fuses each equation."""
    return [*map(_FUSION, eqns)]


def avals_of(eqns: Sequence[Eqn]) -> set[ShapedArray]:
    """Return the avals of all results of equations."""
    return {*map(_AVAL, chain.from_iterable(map(_OUTVARS, eqns)))}


def is_one_kernel(jaxpr: Jaxpr) -> bool:
    """Return whether a program is one kernel that computes nothing twice.

    This holds if it has one result and each operation is elementwise.
    """
    eqns = jaxpr.eqns
    if len({*jaxpr.outvars}) > 1:
        return False
    if not all(fusion and not fusion.reindexes for fusion in {*fusions_of(eqns)}):
        return False
    return len({aval.shape for aval in avals_of(eqns)}) < 2


def is_small(eqns: Sequence[Eqn]) -> bool:
    """Return whether a program is too small for a cut to save enough."""
    if len(eqns) > LIMIT:
        return False
    fusions = fusions_of(eqns)
    work = sum([fusion.work for fusion in fusions if fusion])
    return None not in fusions and work * len(eqns) < LIMIT


def _reads_memory(eqn: Eqn) -> bool:
    """Return whether a reduction reads its operand from memory."""
    operand = eqn.invars[0].aval
    if dims.is_symbolic(operand.size):
        return True
    axes: tuple[int, ...] = eqn.params["axes"]
    longest = max([operand.shape[axis] for axis in axes], default=0)
    return longest > _AXIS or operand.size >= _REDUCED_ALONE


@final
class FusionModel:
    """The kernels of a jaxpr, by one walk from its results to its arguments.

    Args:
        jaxpr: the program.
        results: the kernels that compute each result, if it is the body of a call.
        limit: additions an element that a cut must save; no cuts by default.

    Attributes:
        kernels: the kernels that compute each value.
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
        self._indexed: set[Atom] = set()  # read at several indices in one kernel
        self._joined = _JoinCounts()
        self._fusions: list[Fusion | None] = fusions_of(jaxpr.eqns)
        self._extra: int = len(jaxpr.eqns)
        uses = Counter({*jaxpr.outvars})
        uses.update(chain.from_iterable(map(_INVARS, jaxpr.eqns)))
        self._shared: set[Atom] = {v for v, n in uses.items() if n > 1}
        self._reread: set[Atom] = _reread(jaxpr.eqns, self._fusions)
        self._reads: dict[Any, bool] = {}
        self._written: dict[int, None] = {}  # equations after which a value is written
        for eqn in jaxpr.eqns if jaxpr.bodies else ():
            if eqn.primitive.is_call:  # it may use an operand twice
                self._shared.update(eqn.invars)
        if results is None:
            self._memory.update(jaxpr.outvars)
        else:
            for v, found in zip(jaxpr.outvars, results, strict=True):
                self._merge(v, found)
        self._walk()

    # ---- computed on first use ----

    @cached_property
    def _made(self) -> dict[Atom, int]:
        """The equation that defines each value."""
        return {v: i for i, e in enumerate(self._jaxpr.eqns) for v in e.outvars}

    @cached_property
    def _users(self) -> dict[Atom, list[int]]:
        """The users of each value that is used twice."""
        users: dict[Atom, list[int]] = {v: [] for v in self._shared}
        for i, eqn in enumerate(self._jaxpr.eqns):
            for v in eqn.invars:
                if v in users:
                    users[v].append(i)
        return users

    def _writes(self, eqn: Eqn, out: Var, fusion: Fusion) -> bool:
        """Return whether a value between an operand and a user of the result is written."""
        if fusion.reduces:
            return self._reads_memory(eqn) or self._is_reread(out, fusion)
        return fusion.is_expensive and not fusion.has_one_use and out in self._shared

    def _reads_memory(self, eqn: Eqn) -> bool:
        key = eqn.invars[0].aval, eqn.params["axes"]
        found = self._reads.get(key)
        if found is None:
            found = self._reads[key] = _reads_memory(eqn)
        return found

    def _walk(self) -> None:
        eqns, fusions, shared = self._jaxpr.eqns, self._fusions, self._shared
        kernels, memory = self.kernels, self._memory
        indexed, joined = self._indexed, self._joined.times
        for i in range(len(eqns) - 1, -1, -1):
            eqn, fusion = eqns[i], fusions[i]
            if fusion is None:
                self._unfused(i, eqn)
                continue
            out = eqn.outvars[0]
            found = kernels.get(out, _NONE)
            if fusion.is_expensive or out in shared or out in memory:
                kernels[out] = found = self._decide(i, eqn, fusion, found)
            if fusion.reduces and self._reads_memory(eqn):
                memory.update(eqn.invars)
                continue
            for v in eqn.invars:
                had = kernels.get(v)
                if had is None:
                    kernels[v] = found
                elif had is not found:
                    self._merge(v, found)
            if fusion.reindexes or out in indexed or out in joined:
                self._index(eqn, fusion, is_alone=i in found)

    def _merge(self, v: Atom, found: Kernels) -> None:
        had = self.kernels.get(v, _NONE)
        if len(had) < _MANY and not found <= had:
            self.kernels[v] = had | found

    def _index(self, eqn: Eqn, fusion: Fusion, *, is_alone: bool) -> None:
        """Record which operands are read at several indices."""
        out, indexed, joined = eqn.outvars[0], self._indexed, self._joined
        if fusion.has_one_use or out in joined.times:
            joined.count(eqn, fusion, is_alone=is_alone)
        if out in indexed and not is_alone:
            indexed.update(eqn.invars)
        elif fusion.reindexes:
            indexed.update(self._shared.intersection(eqn.invars))

    # ---- one value ----

    def _decide(self, i: int, eqn: Eqn, fusion: Fusion, found: Kernels) -> Kernels:
        """Return the kernels that compute an equation, or its own kernel."""
        out = eqn.outvars[0]
        if out in self._memory:
            found |= {i}
        if len(found) > 1:
            is_alone = (
                fusion.is_expensive
                or self._is_kept(i, eqn)
                or self._is_cut(i, out, found)
            )
        elif self._joined.times.get(out, 0) > 1 and self._is_cut(i, out, found):
            is_alone = True
        else:
            is_alone = bool(
                fusion.is_expensive and found and self._is_reread(out, fusion)
            )
        if fusion.is_expensive and self._writes(eqn, out, fusion):
            self._written[i] = None
        return frozenset((i,)) if is_alone else found

    def _is_reread(self, out: Var, fusion: Fusion) -> bool:
        """Return whether the only kernel of an expensive result would compute it again."""
        if fusion.has_one_use and (out in self._shared or out in self._indexed):
            return True
        return out in self._reread

    def _is_kept(self, i: int, eqn: Eqn) -> bool:
        """Return whether XLA writes a value instead of reading its operands again.

        It does if there are two operands and a user also depends on the value by another
        path, on which a value is written.
        """
        if len(eqn.invars) < 2 or eqn.primitive is concatenate_p:
            return False
        out = eqn.outvars[0]
        rank = out.aval.ndim
        full = {v for v in eqn.invars if type(v) is Var and v.aval.ndim >= rank}
        if sum([not self._is_spread(v) for v in full]) < 2:
            return False
        return out in self._memory or self._is_behind(i, out)

    def _is_spread(self, v: Var) -> bool:
        fusion = self._fusions[self._made[v]] if v in self._made else None
        return fusion is not None and fusion.broadcasts

    def _is_behind(self, i: int, out: Var) -> bool:
        """Return whether a user also takes a written value that depends on `out`."""
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
                    path = k, is_behind or k in written
                    if path not in seen:
                        seen.add(path)
                        stack.append(path)
        return any(is_behind for _, is_behind in stack)

    # ---- cuts ----

    def _is_cut(self, i: int, out: Var, found: Kernels) -> bool:
        """Return whether a value that several kernels compute is written."""
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
        """Return the work to compute a value, in additions an element, up to `enough`.

        Args:
            i: the equation that defines it.
            out: the value.
            kernels: how many compute it; if many, operands with other users are included.
            enough: where to stop.
        """
        eqns, made, size = self._jaxpr.eqns, self._made, out.aval.size
        fusions, shared = self._fusions, self._shared if kernels < _SHARED else _ALL
        stack, seen = [i], {i}
        total = 0.0
        while stack and total < enough:
            j = stack.pop()
            eqn, fusion = eqns[j], fusions[j]
            if fusion is not None and eqn.outvars[0].aval.size is size:
                total += fusion.work
            else:
                total += _weight(eqn, size)
            for v in eqn.invars:
                j = made.get(v)
                if j is None or j in seen or v in shared:
                    continue
                fusion = fusions[j]
                if (
                    eqns[j].primitive.is_call
                    if fusion is None
                    else not fusion.is_expensive
                ):
                    seen.add(j)
                    stack.append(j)
        return total

    # ---- calls ----

    def _unfused(self, i: int, eqn: Eqn) -> None:
        """Visit an unfused equation or the body of a call."""
        if eqn.primitive.is_call:
            self._call(i, eqn)
        else:
            self._memory.update(eqn.invars)
            self._written[i] = None

    def _call(self, i: int, eqn: Eqn) -> None:
        """Visit the body of a call, which XLA inlines."""
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
class _JoinCounts:
    """How often a kernel that joins arrays computes each value.

    XLA computes the joined operands again for each place, along each path: twice as often
    for each value used twice. A slice of a joined array reads the operand.

    Attributes:
        times: how often each value is computed.
    """

    def __init__(self) -> None:
        self.times: dict[Atom, int] = {}
        self._sliced: dict[Atom, int] = {}  # by slices

    def count(self, eqn: Eqn, fusion: Fusion, *, is_alone: bool) -> None:
        """Count how often operands are computed; `is_alone`: the result is a kernel."""
        out = eqn.outvars[0]
        if fusion.has_one_use and not fusion.reduces:
            of = self._sliced if is_alone else self.times
            times = max(1, of.get(out, 0))
        else:
            times = 0 if is_alone else self.times.get(out, 0)
        if times:
            for v in eqn.invars:
                self.times[v] = min(self.times.get(v, 0) + times, _OFTEN)
                if eqn.primitive is slice_p:
                    self._sliced[v] = min(self._sliced.get(v, 0) + times, _OFTEN)


def _through(closed: ClosedJaxpr, results: tuple[Kernels, ...]) -> tuple[Kernels, ...]:
    """Return the kernels of the arguments of a body, whose results are in `results`."""
    return closed.derived(
        ("kernels", results), lambda: FusionModel(closed.jaxpr, results).arguments
    )


def _reread(eqns: Sequence[Eqn], fusions: Sequence[Fusion | None]) -> set[Atom]:
    """Return values that a user reads at other elements."""
    found: set[Atom] = set()
    for eqn, fusion in zip(eqns, fusions, strict=True):
        if fusion is None or not fusion.reindexes or fusion.broadcasts:
            aval = eqn.outvars[0].aval if eqn.outvars else None
            for v in eqn.invars:
                if v.aval is not aval and (not aval or v.aval.shape != aval.shape):
                    found.add(v)
    return found


def _weight(eqn: Eqn, size: int) -> float:
    """Return the additions that an equation costs for each of `size` elements."""
    fusion = eqn.primitive.fusion
    if fusion is None:
        (closed,) = eqn.primitive.jaxprs(eqn.params)
        return closed.derived(
            "work",
            lambda: sum([_weight(e, size) for e in closed.eqns if _is_work(e)]),
        )
    own = eqn.outvars[0].aval.size
    if own is size or type(own) is not int or type(size) is not int or not size:
        return fusion.work
    return fusion.work * own / size


def _is_work(eqn: Eqn) -> bool:
    return eqn.primitive.fusion is not None or eqn.primitive.is_call
