"""Answers by the sizes of one call: what a trace assumed that is right for many sizes.

A question that depends on the values of names is answered as it is at this call. What
was asked is noted, and from then on is known: a later question that follows from it asks
nobody. So what was traced is right for all sizes at which each question has its answer.
An earlier question may follow from a later one; what is told of a trace leaves it out.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn, final

from imprint._src.dynamic_shapes.expression import Size, SizeScope, SymbolicSize
from imprint._src.dynamic_shapes.terms import ONE, atom_of
from imprint._src.dynamic_shapes.values import evaluate, joined
from imprint._src.dynamic_shapes.witnesses import HOLDS
from imprint._src.errors import ShapeError


@final
class SizeComparison(NamedTuple):
    """A question, and its answer.

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
        """Return whether another question is this one; `==` would ask one in turn."""
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
    """Answers the questions of one trace.

    Args:
        scope: whose names they are about; nobody else computes in it.
        sizes: the values of the names at this call.

    Attributes:
        asked: the questions, in order.
    """

    def __init__(self, scope: SizeScope, sizes: Mapping[str, int]) -> None:
        self.asked: list[SizeComparison] = []
        self._scope = scope
        self._sizes = sizes

    def __call__(self, x: SymbolicSize, relation: str, y: Any) -> bool:
        """Answer a question as it is at this call, and note it."""
        answer = HOLDS[relation](evaluate(x, self._sizes), evaluate(y, self._sizes))
        question = SizeComparison(x, relation, y, answer)
        if any(map(question.is_same, self.asked)):  # `!=`, from which little follows
            return answer
        if len(self.asked) == _MOST:
            raise ShapeError(
                f"expected at most {_MOST} questions that depend on the sizes, got one "
                f"more: {question}. Compute with arrays: imprint.lax.while_loop, where."
            )
        self.asked.append(question)
        _learn(self._scope, question)
        return answer


def _known(question: SizeComparison) -> list[Size]:
    """Return sizes that are not negative, as a question has its answer."""
    x, relation, y, answer = question
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


def _learn(scope: SizeScope, question: SizeComparison) -> None:
    """Let a scope know that a question has its answer."""
    for gap in _known(question):
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


# ---- what is told ----


@final
class Condition:
    """For which sizes some questions have their answers, as it prints: `n > 4`.

    What follows from the others is left out, which may take as long as a trace: it is
    worked out when somebody looks.
    """

    __slots__ = ("_asked", "_known", "_text")

    def __init__(
        self, asked: Sequence[SizeComparison], known: Sequence[SizeComparison] = ()
    ) -> None:
        self._asked = asked
        self._known = known
        self._text: str | None = None

    def where(self, known: Sequence[SizeComparison]) -> "Condition":
        """Return what is left to tell where other answers are told beside it."""
        return Condition(self._asked, known)

    def __str__(self) -> str:
        if self._text is None:
            told = without_implied(self._asked, self._known)
            self._text: str | None = ", ".join(map(str, told))
        return self._text


def without_implied(
    asked: Sequence[SizeComparison], known: Sequence[SizeComparison] = ()
) -> list[SizeComparison]:
    """Return the questions that do not follow from the others, in their order.

    Args:
        asked: the questions.
        known: others, which are told in any case.
    """
    kept = list(asked)
    for question in asked:
        others = [x for x in kept if x is not question]
        if (others or known) and _follows(question, [*others, *known]):
            kept = others
    return kept


class _UndecidedError(Exception):
    """Nobody knows."""


def _follows(question: SizeComparison, known: list[SizeComparison]) -> bool:
    """Return whether a question surely has its answer, where others have theirs."""
    scope = SizeScope()

    def undecided(*_: object) -> NoReturn:
        raise _UndecidedError

    def moved(x: Size) -> Any:
        if isinstance(x, int):
            return x
        return x.computed(lambda v: scope.name(v) if isinstance(v, str) else v, joined)

    scope.decide = undecided
    try:
        for x, relation, y, answer in known:
            _learn(scope, SizeComparison(moved(x), relation, moved(y), answer))
        x, relation, y, answer = question
        return HOLDS[relation](moved(x), moved(y)) is answer
    except _UndecidedError:
        return False
