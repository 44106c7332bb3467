"""Answers by the sizes of one call: what a trace assumed that is right for many sizes.

A question that depends on the values of names is answered as it is at this call. What
was asked is noted, and from then on is known: a later question that follows from it asks
nobody. So what was traced is right for all sizes at which each question has its answer.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, final

from imprint.errors import ShapeError
from imprint.symbolic.expression import Scope, Size, SymbolicSize
from imprint.symbolic.terms import ONE, atom_of
from imprint.symbolic.values import evaluate
from imprint.symbolic.witnesses import HOLDS


@final
class Question(NamedTuple):
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
        """Tell whether the answer is the same at some sizes."""
        x, y = evaluate(self.x, sizes), evaluate(self.y, sizes)
        return HOLDS[self.relation](x, y) is self.answer

    def is_same(self, other: "Question") -> bool:
        """Tell whether another question is this one; `==` would ask one in turn."""
        mine, theirs = (self.x, self.y), (other.x, other.y)
        return self.relation == other.relation and all(
            a is b or (type(a) is type(b) is int and a == b)
            for a, b in zip(mine, theirs, strict=True)
        )

    def __str__(self) -> str:
        relation = self.relation if self.answer else _OPPOSITES[self.relation]
        return f"{self.x} {relation} {self.y}"


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

    def __init__(self, scope: Scope, sizes: Mapping[str, int]) -> None:
        self.asked: list[Question] = []
        self._scope = scope
        self._sizes = sizes

    def __call__(self, x: SymbolicSize, relation: str, y: Any) -> bool:
        """Answer a question as it is at this call, and note it."""
        answer = HOLDS[relation](evaluate(x, self._sizes), evaluate(y, self._sizes))
        question = Question(x, relation, y, answer)
        if any(map(question.is_same, self.asked)):  # `!=`, from which little follows
            return answer
        if len(self.asked) == _MOST:
            raise ShapeError(
                f"expected at most {_MOST} questions that depend on the sizes, got one "
                f"more: {question}. Compute with arrays: imprint.lax.while_loop, where."
            )
        self.asked.append(question)
        for gap in _known(question):
            _learn(self._scope, gap)
        for made in list(self._scope.made.values()):
            made.forget()
        return answer


def _known(question: Question) -> list[Size]:
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


def _learn(scope: Scope, gap: Size) -> None:
    """Let a scope know that a size is not negative."""
    if isinstance(gap, int):
        return
    constant = gap.terms.get(ONE, 0)
    name = atom_of({m: k for m, k in gap.terms.items() if m})
    if name is not None and name not in scope.operations:
        scope.least[name] = max(scope.least_of(name), -constant)
    else:
        scope.facts.append(gap)
