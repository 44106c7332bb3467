"""The cache as a whole, and its versions as objects."""

import gc
import time

import pytest

import imprint
import imprint.numpy as inp
from imprint.debug import counters


@pytest.fixture
def step():
    imprint.clear_caches()

    @imprint.jit(static_argnames="n")
    def step(batch, n=2):
        return batch["x"] * n + OFFSET

    return step


OFFSET = 1.5


def test_a_version_describes_itself(step):
    before = time.time()
    step({"x": inp.ones((2, 3))}, n=3)
    (version,) = step.versions
    assert str(version) == "step(batch['x']: float32[2,3], n=3)"
    assert repr(version) == f"<version of {version}, 1 calls>"
    assert list(map(str, version.avals)) == ["float32[2,3]"]
    assert version.statics == {"n": "3"}
    assert version.key.names == ("batch",)
    assert [e.primitive.name for e in version.jaxpr.eqns] == ["mul", "add"]
    assert "stablehlo.multiply" in version.stablehlo
    assert "loc(" not in version.stablehlo
    assert version.hlo.startswith("HloModule jit_step")
    assert before <= version.created_at <= time.time()
    assert version.cost["flops"] == 12
    assert version.memory.output_size_in_bytes == 24
    assert version.watched == (f"global OFFSET in {__name__}",)
    assert version.nbytes > 100_000
    assert min(version.costs) > 0
    costs = version.trace_s, version.lower_s, version.compile_s
    assert version.costs == costs


def test_a_version_knows_where_its_executable_is_from():
    f = imprint.jit(lambda x: x * 5.5)
    for x in 1.0, inp.ones(()):  # a weak type is another version of one program
        f(x)
    assert [v.origin for v in f.versions] == ["compiled", "memory"]


def test_an_evicted_version_is_traced_again(step):
    a, b = {"x": inp.ones(2)}, {"x": inp.ones(3)}
    step(a)
    step(b)
    first, second = step.versions
    first.evict()
    assert step.versions == (second,)
    before = counters()
    step(b)
    assert counters().misses == before.misses
    step(a)
    assert counters().misses == before.misses + 1


def test_evicting_twice_is_evicting_once(step):
    step({"x": inp.ones(2)})
    (version,) = step.versions
    version.evict()
    version.evict()
    assert step.versions == ()


def test_a_pinned_version_outlives_the_byte_budget(step):
    step({"x": inp.ones(2)})
    step({"x": inp.ones(3)})
    pinned, _ = step.versions
    pinned.pin()
    limit = imprint.cache.limit()
    try:
        imprint.cache.limit(bytes=0)
        assert step.versions == (pinned,)
        pinned.unpin()
        imprint.cache.limit(bytes=0)
        assert step.versions == ()
    finally:
        imprint.cache.limit(bytes=limit)


def test_a_pinned_version_outlives_max_versions():
    f = imprint.jit(lambda x: x - 5.5, max_versions=2)
    f(1)
    (pinned,) = f.versions
    pinned.pin()
    f(1.0)
    with pytest.warns(UserWarning, match="The oldest version was dropped"):
        f(inp.ones(2))
    assert f.versions[0] is pinned
    f.versions[1].pin()
    with pytest.warns(UserWarning, match="All are pinned, so none was dropped"):
        f(inp.ones(3))
    assert len(f.versions) == 3


def test_the_warning_of_a_limit_points_at_the_call():
    f = imprint.jit(lambda x: x - 6.5, max_versions=1)
    f(1)
    with pytest.warns(UserWarning, match="oldest") as caught:
        f(1.0)
    assert caught[0].filename == __file__


def test_the_entries_are_the_versions_of_all_functions(step):
    step({"x": inp.ones(2)})
    other = imprint.jit(lambda x: x / 3)
    other(1.0)
    assert set(imprint.cache.entries()) == {*step.versions, *other.versions}
    stats = imprint.cache.stats()
    assert (stats.definitions >= 2, stats.versions) == (True, 2)
    assert stats.nbytes >= sum(v.nbytes for v in imprint.cache.entries())
    imprint.cache.clear()
    assert imprint.cache.entries() == ()
    assert imprint.cache.stats().nbytes == 0


def test_why_is_explain(step):
    step({"x": inp.ones(2)})
    assert imprint.cache.why(step, {"x": inp.ones(2)}).hit
    (difference,) = imprint.cache.why(step, {"x": inp.ones(2)}, n=4).differences
    assert str(difference) == "static n: 2 → 4"


def test_counters_survive_their_versions():
    f = imprint.jit(lambda x: x + 6.25)
    before = counters()
    for x in 1, 2, 3, 1.0:
        f(x)
    imprint.clear_caches()
    del f
    gc.collect()
    after = counters()
    assert after.misses - before.misses == 2
    assert after.hits - before.hits == 2
    assert after.traces - before.traces == 2


def test_evictions_are_counted(step):
    step({"x": inp.ones(2)})
    before, limit = counters().evictions, imprint.cache.limit()
    try:
        imprint.cache.limit(bytes=0)
    finally:
        imprint.cache.limit(bytes=limit)
    assert counters().evictions - before == 2  # the version, and its trace


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "4 GB"])
def test_an_invalid_limit_is_refused(wrong):
    with pytest.raises(imprint.errors.ArgumentError) as raised:
        imprint.cache.limit(bytes=wrong)
    assert str(raised.value) == (
        f"cache.limit: expected bytes to be an integer from 0 on, got {wrong!r}. "
        "Write limit(bytes=4 << 30) for 4 GiB."
    )


def test_why_refuses_a_plain_function():
    with pytest.raises(imprint.errors.ArgumentError) as raised:
        imprint.cache.why(len, 1)
    assert str(raised.value) == (
        "cache.why: expected a function made by imprint.jit, got <built-in function "
        "len>. Only jitted functions have versions."
    )
