"""Lowering with debug flags, and the memory that is then donated."""

import re

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.compilation.layout import match_donated

X = np.ones(3, np.float32)
DEBUG = pytest.mark.parametrize("nans", [False, True])
DONATED_IN_VAIN = {
    "no result has its aval": (
        lambda x, y: x.sum() + y.sum(),
        "no result left of float32[3]",
    ),
    "unused, and a result has its aval": (
        lambda x, y: y + 1,
        "the function does not use it",
    ),
}


def flagged(on):
    imprint.clear_caches()
    return imprint.debug_nans(on)


@DEBUG
@pytest.mark.parametrize("case", DONATED_IN_VAIN)
def test_a_program_is_lowered_once_and_an_unused_donation_warns_once(case, nans):
    fun, reason = DONATED_IN_VAIN[case]
    f = imprint.jit(fun, donate_argnums=0)
    x, before = inp.asarray(X), COUNTERS.lowerings
    with flagged(nans), pytest.warns(UserWarning, match=re.escape(reason)) as caught:
        f(x, X)
    assert len(caught) == 1
    assert COUNTERS.lowerings == before + 1
    assert not x.is_deleted()


@DEBUG
def test_donated_arrays_are_deleted_with_and_without_flags(nans):
    f = imprint.jit(lambda x, y: (inp.log(x), y.sum()), donate_argnums=0)
    x = inp.asarray(X)
    with flagged(nans):
        f(x, X)
    assert x.is_deleted()


def test_a_donated_argument_is_not_given_the_memory_of_the_flags():
    f = imprint.jit(lambda mask, x: (inp.sin(x) + x, mask.sum()), donate_argnums=0)
    mask = inp.zeros(4, "int32")
    with flagged(on=True), pytest.warns(UserWarning, match="no result left of int32"):
        f(mask, 1.0)
    (version,) = f.versions
    assert str(version.program.out_avals[-1]) == str(mask.aval)
    assert not mask.is_deleted()


def test_stages_lower_the_program_without_flags():
    f = imprint.jit(lambda x: inp.sin(x))
    with flagged(on=True):
        assert "compare" not in f.lower(X).as_text()


# ---- matching ----

MATCHED = {
    "the first result that fits": (lambda a, b: (a + 1, b + 2), {0, 1}, {0: 0, 1: 1}),
    "one result for two": (lambda a, b: a + b, {0, 1}, {0: 0}),
    "only what is donated": (lambda a, b: a + b, {1}, {1: 0}),
    "the dtype counts": (lambda a, b: (a + b).astype("int32"), {0}, {}),
    "the shape counts": (lambda a, b: (a + b)[:2], {0}, {}),
    "nothing is donated": (lambda a, b: a + b, set(), {}),
}


@pytest.mark.parametrize("case", MATCHED)
def test_each_donated_argument_is_given_a_result_of_its_aval(case):
    fun, donated, expected = MATCHED[case]
    closed = imprint.make_jaxpr(fun)(X, X)
    aliases = match_donated(closed, frozenset(donated), keep_unused=False)
    assert aliases.results == expected
    assert {i for i, _ in aliases.unusable} == donated - expected.keys()


def test_an_unused_argument_that_is_kept_can_be_donated():
    closed = imprint.make_jaxpr(lambda a, b: b + 1)(X, X)
    (caught,) = match_donated(closed, frozenset({0}), keep_unused=False).unusable
    assert caught == (0, "the function does not use it")
    assert match_donated(closed, frozenset({0}), keep_unused=True).results == {0: 0}
