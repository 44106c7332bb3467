"""Decide comparisons of sizes by the sizes of one call, and record them.

A comparison that depends on the values of names is decided by the sizes of this call.
It is recorded and becomes a known fact, so a later comparison that follows from it is
not recorded. The trace is right for all sizes at which each comparison has the same
result. An earlier comparison may follow from a later one; `Condition` leaves it out.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn, final

from imprint._src.dynamic_shapes.expression import (
    ONE,
    Size,
    SizeScope,
    SymbolicSize,
    atom_of,
)
from imprint._src.dynamic_shapes.values import HOLDS, evaluate, size_arithmetic
from imprint._src.errors import ShapeError


@final
class SizeComparison(NamedTuple):
    """A comparison, and its answer.

    Args:
        x: the left side.
        relation: one of == >= <= > <.
        y: the right side.
        answer: whether it holds.
    """

    x: Size
    relation: str
    y: Size
    answer: bool

    def holds_at(self, sizes: Mapping[str, int]) -> bool:
        """Return whether the answer is the same at some sizes."""
        x, y = evaluate(self.x, sizes), evaluate(self.y, sizes)
        return HOLDS[self.relation](x, y) is self.answer

    def is_same(self, other: "SizeComparison") -> bool:
        """Return whether two comparisons are equal; `==` on sizes would add one."""
        mine, theirs = (self.x, self.y), (other.x, other.y)
        return self.relation == other.relation and all(
            a is b or (type(a) is type(b) is int and a == b)
            for a, b in zip(mine, theirs, strict=True)
        )

    def __str__(self) -> str:
        relation = self.relation if self.answer else _OPPOSITES[self.relation]
        x, y = self.x, self.y
        gap: Size = x - y
        if isinstance(gap, SymbolicSize):
            constant = gap.terms.get(ONE, 0)
            for sign in (1, -1):
                alone: Size = (gap - constant) * sign
                if isinstance(alone, SymbolicSize) and atom_of(alone.terms) is not None:
                    x, y = alone, -constant * sign
                    relation = relation if sign > 0 else _TURNED.get(relation, relation)
        return f"{x} {relation} {y}"


_TURNED: Final = {">=": "<=", "<=": ">=", ">": "<", "<": ">"}
_OPPOSITES: Final = {"==": "!=", ">=": "<", "<=": ">", ">": "<=", "<": ">="}
_MOST: Final = 32
"""Questions in one trace, past which it is a loop that counts."""


@final
class Decisions:
    """Answers the comparisons of one trace.

    Args:
        scope: the scope of the names, used by this trace only.
        sizes: the values of the names at this call.

    Attributes:
        comparisons: those made so far, in order.
    """

    def __init__(self, scope: SizeScope, sizes: Mapping[str, int]) -> None:
        self.comparisons: list[SizeComparison] = []
        self._scope = scope
        self._sizes = sizes

    def __call__(self, x: SymbolicSize, relation: str, y: Any) -> bool:
        """Answer a comparison as it is at this call, and note it."""
        answer = HOLDS[relation](evaluate(x, self._sizes), evaluate(y, self._sizes))
        comparison = SizeComparison(x, relation, y, answer)
        if any(
            map(comparison.is_same, self.comparisons)
        ):  # `!=`, from which little follows
            return answer
        if len(self.comparisons) == _MOST:
            raise ShapeError(
                f"expected at most {_MOST} comparisons that depend on the sizes, got one "
                f"more: {comparison}. Compute with arrays: imprint.lax.while_loop, where."
            )
        self.comparisons.append(comparison)
        _learn(self._scope, comparison)
        return answer


def _known(comparison: SizeComparison) -> list[Size]:
    """Return sizes that are not negative, as a comparison has its answer."""
    x, relation, y, answer = comparison
    shown = relation if answer else _OPPOSITES[relation]
    match shown:
        case ">=":
            return [x - y]
        case ">":
            return [x - y - 1]
        case "<=":
            return [y - x]
        case "<":
            return [y - x - 1]
        case "==":
            return [x - y, y - x]
        case _:
            return []


def _learn(scope: SizeScope, comparison: SizeComparison) -> None:
    """Let a scope know that a comparison has its answer."""
    for gap in _known(comparison):
        if not isinstance(gap, int):
            _learn_gap(scope, gap)
    for made in list(scope.made.values()):
        made.forget()


def _learn_gap(scope: SizeScope, gap: SymbolicSize) -> None:
    """Let a scope know that a size is not negative."""
    constant = gap.terms.get(ONE, 0)
    name = atom_of({m: k for m, k in gap.terms.items() if m})
    if name is not None and name not in scope.operations:
        scope.least[name] = max(scope.least_of(name), -constant)
    else:
        scope.facts.append(gap)


# ---- the condition ----


@final
class Condition:
    """The condition on the sizes, as it prints: `n > 4`.

    Comparisons that follow from the others are left out. That may take as long as a
    trace, so it is done at the first `str`.
    """

    __slots__ = ("_comparisons", "_known", "_text")

    def __init__(
        self,
        comparisons: Sequence[SizeComparison],
        known: Sequence[SizeComparison] = (),
    ) -> None:
        self._comparisons = comparisons
        self._known = known
        self._text: str | None = None

    def where(self, known: Sequence[SizeComparison]) -> "Condition":
        """Return the rest of the condition where other comparisons are printed, too."""
        return Condition(self._comparisons, known)

    def __str__(self) -> str:
        if self._text is None:
            shown = without_implied(self._comparisons, self._known)
            self._text: str | None = ", ".join(map(str, shown))
        return self._text


def without_implied(
    comparisons: Sequence[SizeComparison], known: Sequence[SizeComparison] = ()
) -> list[SizeComparison]:
    """Return the comparisons that do not follow from the others, in their order.

    Args:
        comparisons: the comparisons.
        known: others, which are always known.
    """
    kept = list(comparisons)
    for comparison in comparisons:
        others = [x for x in kept if x is not comparison]
        if (others or known) and _follows(comparison, [*others, *known]):
            kept = others
    return kept


class _UndecidedError(Exception):
    """Neither side is known."""


def _follows(comparison: SizeComparison, known: list[SizeComparison]) -> bool:
    """Return whether a comparison surely has its answer, where others have theirs."""
    scope = SizeScope()

    def undecided(*_: object) -> NoReturn:
        raise _UndecidedError

    def moved(x: Size) -> Any:
        if isinstance(x, int):
            return x
        return x.computed(
            lambda v: scope.name(v) if isinstance(v, str) else v, size_arithmetic
        )

    scope.decide = undecided
    try:
        for x, relation, y, answer in known:
            _learn(scope, SizeComparison(moved(x), relation, moved(y), answer))
        x, relation, y, answer = comparison
        return HOLDS[relation](moved(x), moved(y)) is answer
    except _UndecidedError:
        return False
