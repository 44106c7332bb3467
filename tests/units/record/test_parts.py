"""Parts: what a value holds, and what C gives code from one."""

import functools
import threading
from contextvars import ContextVar

import pytest

from imprint.record.parts import RESULTS, shown_by

MEMOS = {
    "of all": (functools.cache, [*range(100)][-RESULTS:]),
    "of the latest": (functools.lru_cache(200), [*range(101 - RESULTS, 100), 3]),
    "of as many as fit": (functools.lru_cache(RESULTS + 1), [*range(37, 100), 3]),
}


@pytest.mark.parametrize(("memo", "expected"), MEMOS.values(), ids=MEMOS)
def test_a_memo_shows_the_latest_of_what_it_gave(memo, expected):
    given = memo(lambda n: [n])
    for n in (*range(100), 3):
        given(n)
    shown = shown_by(given, type(given), "given")
    assert [n for (n,), _ in shown] == expected
    assert {path for _, path in shown} == {"given()"}


def test_only_what_can_change_is_shown():
    given = functools.cache(lambda n: [1, (n, {}), (n, frozenset([n])), {"n": n}][n])
    for n in range(4):
        given(n)
    assert [x for x, _ in shown_by(given, type(given), "")] == [(1, {}), {"n": 3}]
    variable, here = ContextVar("variable"), threading.local()
    assert not shown_by(variable, ContextVar, "v") + shown_by(here, type(here), "here")
    here.w, here.n = [1], 2
    assert shown_by(here, type(here), "here") == [([1], "here.w")]
