"""Audits: a hit whose program differs from a fresh trace is an error.

The messages are in tests/golden. The programs here become stale by a computed name, which
`hidden` reads and no version watches.
"""

import threading

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.config import config
from imprint._src.jit.compilation.counters import COUNTERS
from imprint.errors import StaleVersionError

pytestmark = pytest.mark.unaudited  # each test chooses its audits

HIDDEN = {"rate": 2.0}


def hidden(name="rate"):
    return globals()["".join(["HID", "DEN"])][name]


@pytest.fixture(autouse=True)
def _restored():
    yield
    HIDDEN["rate"] = 2.0


def plain(x):
    return x * hidden()


def of_a_tree(x):
    return {"a": x["b"] * hidden()}


def with_a_static(x, n):
    return x * hidden() + n


class Model(imprint.Module):
    weight: imprint.Array

    def __call__(self, x):
        return x * self.weight * hidden()


ONES = np.ones(3, np.float32)

CALLS = {
    "device arrays": lambda: (imprint.jit(plain), [inp.asarray(ONES)], {}),
    "host arrays": lambda: (imprint.jit(plain), [ONES], {}),
    "numbers": lambda: (imprint.jit(plain), [1.0], {}),
    "keywords": lambda: (imprint.jit(plain), [], {"x": inp.asarray(ONES)}),
    "trees": lambda: (imprint.jit(of_a_tree), [{"b": inp.asarray(ONES)}], {}),
    "static arguments": lambda: (
        *(imprint.jit(with_a_static, static_argnums=1), [inp.asarray(ONES), 2], {}),
    ),
    "filtered": lambda: (
        *(imprint.filter_jit(with_a_static), [inp.asarray(ONES), 2], {}),
    ),
    "a module": lambda: (
        *(imprint.filter_jit(Model(inp.asarray(ONES))), [inp.asarray(ONES)], {}),
    ),
    "strict": lambda: (imprint.jit(plain, strict=True), [inp.asarray(ONES)], {}),
    "inside another": lambda: (
        *(imprint.jit(lambda x: imprint.jit(plain)(x) + 1), [inp.asarray(ONES)], {}),
    ),
    "mapped": lambda: (imprint.jit(imprint.vmap(plain)), [inp.asarray(ONES)], {}),
}


def outcome(f, args, kwargs):
    return [x.tolist() for x in imprint.tree.leaves(f(*args, **kwargs))]


@pytest.mark.parametrize("calls", [1, 3])
@pytest.mark.parametrize("name", CALLS)
def test_a_stale_version_is_an_error_and_the_next_call_is_right(name, calls):
    f, args, kwargs = CALLS[name]()
    for _ in range(calls):  # the third takes the shortest way
        before = outcome(f, args, kwargs)
    HIDDEN["rate"] = 5.0
    with imprint.audit(1.0):
        with pytest.raises(StaleVersionError) as caught:
            f(*args, **kwargs)
        after = outcome(f, args, kwargs)
        assert outcome(f, args, kwargs) == after
    assert after != before
    assert outcome(f, args, kwargs) == after
    assert "2.0:f32[]" in caught.value.cached
    assert "5.0:f32[]" in caught.value.fresh


class Settings:
    rate = 2.0


settings = Settings()


@pytest.mark.parametrize("strict", [False, True])
def test_the_message_lists_untracked_values(strict):
    f = imprint.jit(lambda x: x * settings.rate * hidden(), strict=strict)
    f(1.0)
    HIDDEN["rate"] = 5.0
    with imprint.audit(1.0), pytest.raises(StaleVersionError) as caught:
        f(1.0)
    assert "Nothing that it reads by name has changed" in str(caught.value)
    named = "not tracked: the contents of arrays and larger containers, names computed"
    assert (named in str(caught.value)) == (not strict)
    assert ("or jit with strict=True" in str(caught.value)) == (not strict)


def test_a_function_that_the_trace_makes_is_not_named():
    def made(by):
        return lambda x: x * by

    keep = []

    def fun(x):
        keep.append(made(hidden()))
        return keep[-1](x)

    f = imprint.jit(fun)
    f(1.0)
    HIDDEN["rate"] = 5.0
    with imprint.audit(1.0), pytest.raises(StaleVersionError) as caught:
        f(1.0)
    assert "Nothing that it reads by name has changed" in str(caught.value)
    assert "The fresh trace also read" not in str(caught.value)


def test_a_donated_array_is_taken_only_if_the_program_is_right():
    f = imprint.jit(plain, donate_argnums=0)
    f(inp.asarray(ONES) + 0)
    x = inp.asarray(ONES) + 0
    HIDDEN["rate"] = 5.0
    with imprint.audit(1.0):
        with pytest.raises(StaleVersionError):
            f(x)
        assert not x.is_deleted()
        assert f(x).tolist() == [5, 5, 5]
        assert x.is_deleted()


def test_a_recreated_function_is_audited():
    def made():
        return imprint.jit(lambda x: x + hidden())

    made()(1.0)
    HIDDEN["rate"] = 5.0
    with imprint.audit(1.0), pytest.raises(StaleVersionError):
        made()(1.0)
    assert made()(1.0) == 6.0


def test_a_fresh_trace_that_fails_is_an_error_too():
    f = imprint.jit(plain)
    f(1.0)
    del HIDDEN["rate"]
    with imprint.audit(1.0):
        with pytest.raises(StaleVersionError, match="got KeyError") as caught:
            f(1.0)
        assert isinstance(caught.value.__cause__, KeyError)
        assert caught.value.fresh is None
        with pytest.raises(KeyError):
            f(1.0)


def test_a_nested_function_that_fails_is_not_taken_from_its_earlier_trace():
    inner = imprint.jit(plain)
    outer = imprint.jit(lambda x: inner(x) + 1)
    inner(1.0)
    outer(1.0)
    del HIDDEN["rate"]
    with imprint.audit(1.0), pytest.raises(StaleVersionError, match="got KeyError"):
        outer(1.0)
    for f in (outer, inner):
        with pytest.raises(KeyError):
            f(1.0)


def test_only_stale_traces_of_nested_functions_are_dropped():
    inner = imprint.jit(plain)
    other = imprint.jit(lambda x: inp.sin(x))
    outer = imprint.jit(lambda x: inner(x) + other(x))
    for f in (inner, other, outer):
        f(1.0)
    HIDDEN["rate"] = 5.0
    with imprint.audit(1.0), pytest.raises(StaleVersionError):
        outer(1.0)
    assert [f._cache_size() for f in (inner, other, outer)] == [0, 1, 0]
    assert inner(1.0) == 5.0
    traces = COUNTERS.traces
    outer(1.0)
    assert COUNTERS.traces - traces == 1  # both nested functions have one


def test_an_interrupt_of_the_fresh_trace_changes_nothing():
    stop = []

    @imprint.jit
    def f(x):
        if stop:
            raise KeyboardInterrupt
        return x + 1

    f(1.0)
    stop.append(1)
    with imprint.audit(1.0), pytest.raises(KeyboardInterrupt):
        f(1.0)
    stop.clear()
    traces = COUNTERS.traces
    with imprint.audit(1.0):
        assert f(1.0) == 2.0
    assert COUNTERS.traces == traces


def test_a_stale_static_result_is_an_error():
    f = imprint.filter_jit(lambda x: (x, hidden(), lambda y: y))
    f(ONES)
    with imprint.audit(1.0):
        f(ONES)
        HIDDEN["rate"] = 5.0
        with pytest.raises(StaleVersionError, match=r"(?s)result\[1\].*2\.0.*5\.0"):
            f(ONES)
        assert f(ONES)[1] == 5.0


def test_a_stale_tree_of_a_result_is_an_error():
    f = imprint.jit(lambda x: {hidden("rate"): x})
    f(1.0)
    HIDDEN["rate"] = 5.0
    with imprint.audit(1.0), pytest.raises(StaleVersionError, match="the result"):
        f(1.0)
    assert f(1.0) == {5.0: 1.0}


# ---- side effects of an audit ----


def test_an_audit_adds_only_to_its_own_counter():
    f = imprint.jit(lambda x: imprint.jit(plain)(x) + 1)
    f(1.0)
    before = imprint.debug.counters()
    with imprint.audit(1.0):
        for _ in range(5):
            f(1.0)
    after = imprint.debug.counters()
    assert after.audits - before.audits == 5
    assert after.hits - before.hits == 5
    assert after._replace(audits=0, hits=0) == before._replace(audits=0, hits=0)
    assert f._cache_size() == 1
    assert f.explain(1.0).hit


def test_traces_inside_a_fresh_trace_are_not_counted():
    fun = imprint.jit(lambda x: x + len(str(imprint.make_jaxpr(plain)(x))))
    before = COUNTERS.traces
    fun(1.0)
    assert COUNTERS.traces - before == 2
    with imprint.audit(1.0):
        fun(1.0)
    assert COUNTERS.traces - before == 2


def test_versions_are_those_without_an_audit():
    f = imprint.jit(plain)
    with imprint.audit(1.0):
        f(1.0)
        assert f.explain(1.0).hit
    assert f.explain(1.0).hit
    before = imprint.debug.counters().misses
    f(1.0)
    with imprint.audit(0.5):
        f(1.0)
    assert imprint.debug.counters().misses == before


def test_nothing_is_audited_by_default():
    f = imprint.jit(plain)
    f(1.0)
    before = COUNTERS.audits
    for _ in range(3):
        f(1.0)
    assert config.audit == 0
    assert COUNTERS.audits == before


def test_the_function_runs_again_for_each_audit():
    ran = []

    @imprint.jit
    def f(x):
        ran.append(1)
        return x

    with imprint.audit(1.0):
        for _ in range(4):
            f(1.0)
    assert len(ran) == 4


def test_a_function_that_calls_itself_on_arrays_is_audited_once():
    @imprint.jit
    def f(x):
        with imprint.ensure_compile_time_eval():
            known = f(1) if x.dtype == np.float32 else 2
        return x * known

    f(1.0)
    before = COUNTERS.audits
    with imprint.audit(1.0):
        f(1.0)
    assert COUNTERS.audits - before == 1


@pytest.mark.parametrize("share", [0.0, 0.01, 0.25, 0.5, 1.0, 1])
def test_each_of_functions_called_in_turn_is_audited_by_its_share(share):
    functions = [imprint.jit(lambda x, i=i: x + i) for i in range(2)]
    for f in functions:
        f(1.0)
    found = []
    with imprint.audit(share):
        for _ in range(400):
            for f in functions:
                before = COUNTERS.audits
                f(1.0)
                found.append(COUNTERS.audits - before)
    for own in (found[::2], found[1::2]):
        assert abs(sum(own) - 400 * share) <= 2


def test_threads_audit_at_once():
    f = imprint.jit(lambda x: inp.sin(x) * 2)
    x = inp.asarray(ONES)
    expected = f(x).tolist()
    found, before = [], COUNTERS.traces

    def work():
        with imprint.audit(1.0):
            found.extend(f(x).tolist() == expected for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [True] * 80
    assert COUNTERS.traces == before


@pytest.mark.parametrize("around", [imprint.jit, imprint.vmap, imprint.grad])
def test_a_call_under_a_trace_is_audited_too(around):
    inner = imprint.jit(plain)
    x = inp.asarray(ONES) if around is imprint.vmap else 1.0
    outer = around(lambda x: inner(x) * x)
    outer(x)
    again = around(lambda x: inner(x) * x + 0)
    with imprint.audit(1.0):
        again(x)
        HIDDEN["rate"] = 5.0
        message = "plain: expected its earlier trace, which stands for this call,"
        with pytest.raises(StaleVersionError, match=message) as caught:
            around(lambda x: inner(x) * x + 1 - 1)(x)
        assert "mul a 2.0:f32[]" in str(caught.value)
        assert "mul a 5.0:f32[]" in str(caught.value)
        expected = around(lambda x: plain(x) * x)(x)
        assert np.array_equal(around(lambda x: inner(x) * x - 0)(x), expected)
    assert imprint._src.core.trace.current_trace() is None


def test_a_tracer_captured_in_place_of_an_array_is_stale():
    inner = imprint.jit(lambda x: x + hidden())

    @imprint.jit
    def outer(x):
        HIDDEN["rate"] = x
        return inner(x)

    HIDDEN["rate"] = inp.asarray(ONES)
    inner(ONES)
    with imprint.audit(1.0), pytest.raises(StaleVersionError, match="captured array"):
        outer(ONES)


def test_explain_names_the_audit_that_dropped_a_version():
    f = imprint.jit(plain)
    f(1.0)
    HIDDEN["rate"] = 5.0
    with imprint.audit(1.0), pytest.raises(StaleVersionError):
        f(1.0)
    assert "the version for this call was dropped by an audit" in str(f.explain(1.0))
