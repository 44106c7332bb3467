"""Decisions: a question is answered as at one call, and from then on is known."""

import pytest

from imprint.core import dims
from imprint.errors import ShapeError
from imprint.symbolic.deciding import Decisions
from imprint.symbolic.expression import Scope


def decided(**sizes):
    scope = Scope()
    scope.decide = Decisions(scope, sizes)
    return scope.decide, *map(scope.name, sizes)


def shown(decisions):
    return [str(question) for question in decisions.asked]


def test_an_answer_is_that_of_the_call():
    decisions, n = decided(n=7)
    assert n > 4
    assert n >= 5  # follows, as do the next two
    assert not n < 5
    assert n != 3
    assert n != 9
    assert shown(decisions) == ["n > 4", "n != 9"]
    assert all(q.holds_at({"n": 5}) for q in decisions.asked)
    assert not all(q.holds_at({"n": 4}) for q in decisions.asked)
    assert not all(q.holds_at({"n": 9}) for q in decisions.asked)


def test_two_names_that_are_equal_stay_equal():
    decisions, n, m = decided(n=3, m=3)
    assert dims.equal(n, m)
    assert dims.equal(2 * n, m + n)
    assert dims.broadcast(n, m) is n
    assert shown(decisions) == ["n == m"]


def test_what_follows_from_two_answers_is_not_asked():
    decisions, n, m = decided(n=8, m=3)
    assert n > m
    assert m >= 2
    assert n >= 3
    assert shown(decisions) == ["n > m", "m >= 2"]


def test_a_number_on_the_left_is_turned():
    decisions, n = decided(n=3)
    assert not dims.at_least(2, n)
    assert shown(decisions) == ["n > 2"]


def test_a_loop_that_counts_is_refused():
    _, n = decided(n=100)
    with pytest.raises(ShapeError, match="expected at most 32 questions"):
        any(n == 1000 + i for i in range(1000))
