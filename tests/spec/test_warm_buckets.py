"""Calls with named sizes, in a process that finds their buckets on the disk."""

import functools

import numpy as np
import pytest

import imprint
from imprint.errors import ArgumentError
from tests.spec import reborn

TEXT = """
import imprint, imprint.numpy as np
RATE = 2.0

@imprint.jit(abstracted_axes={0: "n"}, donate_argnames="spent")
def f(x, w, spent=None):
    x = x * RATE if x.shape[0] > 4 else x
    ends = None if spent is None else spent + 1
    return {"rest": x[1:] * w[0], "all": (x.sum(), np.concatenate([x, x, w])), "e": ends}
"""
X = np.arange(40, dtype="float32") + 1
pytestmark = pytest.mark.unaudited  # while audits are on, buckets are traced


@pytest.fixture
def life(tmp_path, imprint_store):
    """Return how a life begins."""
    return lambda text=TEXT: reborn.begin({"main": text}, tmp_path).main.f


def expected(n, rate=2.0):
    x = X[:n] * rate if n > 4 else X[:n]
    return x[1:] * X[0], x.sum(), np.concatenate([x, x, X[:n]])


def called(fun, n, rate=2.0):
    """Call a function at a size; return how often something was traced."""
    found, count = reborn.traces(fun, X[:n], X[:n])
    got = found["rest"], *found["all"]
    for one, other in zip(got, expected(n, rate), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    return count


def test_each_size_in_a_bucket_starts_warm(life):
    assert [called(life(), n) for n in (7, 6, 7)] == [1, 0, 0]
    fun = life()
    assert [called(fun, n) for n in (9, 7, 5, 16)] == [0, 0, 0, 0]
    (version,) = fun.versions
    assert (version.origin, version.restarts) == ("disk", "without a trace")
    assert str(version).endswith("where n > 4, n <= 16")


def test_sizes_of_other_answers_are_traced(life):
    assert called(life(), 3) == 1
    fun = life()
    answer = imprint.cache.why(fun, X[:5], X[:5]).disk
    assert answer.endswith("its sizes have other answers to what it asks.")
    assert [called(fun, n) for n in (5, 4)] == [1, 0]
    assert [called(life(), n) for n in (4, 5)] == [0, 0]
    short = life()
    assert called(short, 4) == 0
    assert str(short.versions[0]).endswith("where n <= 4")


def test_a_size_added_to_a_warm_bucket_is_stored(life):
    called(life(), 5)
    fun = life()
    assert [called(fun, n) for n in (5, 30, 6)] == [0, 1, 0]
    assert [called(life(), n) for n in (30, 5)] == [0, 0]


def test_an_edit_and_a_later_change_are_seen(life):
    called(life(), 5)
    edited = TEXT.replace("RATE = 2.0", "RATE = 3.0")
    assert called(life(edited), 5, 3.0) == 1
    fun = life()
    assert called(fun, 5) == 0
    fun.__globals__["RATE"] = 4.0
    assert called(fun, 6, 4.0) == 1


def test_reading_a_warm_version_traces_its_program(life):
    cold = life()
    called(cold, 5)
    text, program = cold.versions[0].stablehlo, str(cold.versions[0].jaxpr)
    warm = life()
    called(warm, 5)
    (version,) = warm.versions
    assert (version.stablehlo, str(version.jaxpr)) == (text, program)
    again = life()
    called(again, 5)
    (version,) = again.versions
    again.__globals__["RATE"] = 4.0
    with pytest.raises(ArgumentError, match="nobody has traced its program"):
        version.stablehlo  # noqa: B018 - it raises


def test_donated_arrays_are_taken(life):
    for count in (1, 0):
        spent = imprint.numpy.ones(6)
        fun = functools.partial(life(), spent=spent)
        found, traced = reborn.traces(fun, X[:6], X[:6])
        assert traced == count
        np.testing.assert_array_equal(found["e"], np.full(6, 2.0))
        assert spent.is_deleted()
