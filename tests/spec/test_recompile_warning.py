"""The warning about many versions of one function, and the reason that it names."""

import functools
import gc
import warnings

import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.compilation.counters import COUNTERS


def test_the_eighth_version_warns_and_names_the_changing_value():
    f = imprint.jit(lambda x: x.sum())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(1, 12):
            f(inp.ones(n))
    (warning,) = caught
    assert warning.category is imprint.errors.RecompileWarning
    assert warning.filename == __file__
    place = f.last_miss.defined
    assert str(warning.message) == (
        f"<lambda> ({place}) was compiled 8 times, 7 of them because of x.shape[0], the "
        "last time 7 → 8. Pad axis 0 of x to a multiple of 4. Or name it: "
        "`abstracted_axes={'x': {0: 'n'}}`."
    )


def test_functions_freed_with_their_objects_warn_together():
    class Other:
        def __init__(self, rates):
            self.rates = rates

        def __call__(self, x):
            return x * self.rates["w"]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(9):
            imprint.jit(Other({"w": float(n)}))(1.0)
            gc.collect()
    (warning,) = caught
    words = (
        "because of self.rates['w'], the last time 6.0 → 7.0. Make Other once, or pass"
    )
    assert f"7 of them {words}" in str(warning.message)


def test_a_list_that_grows_is_counted_by_its_argument():
    f = imprint.jit(lambda x: x[0])
    for n in range(1, 8):
        f([1.0] * n)
    words = "because of the structure of x, the last time x: list of 7 → list of 8"
    with pytest.warns(imprint.errors.RecompileWarning, match=words):
        f([1.0] * 8)


def test_clearing_the_cache_gives_no_warning():
    f = imprint.jit(lambda x: x + 13.25)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(12):
            f(1.0)
            f.clear_cache()


def test_recreated_functions_warn_together():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(10):
            imprint.jit(lambda x, i=i: x - i)(1.0)
    (warning,) = caught
    assert "7 of them because of default of i" in str(warning.message)


def test_max_versions_replaces_the_warning():
    f = imprint.jit(lambda x: x.sum() - 0, max_versions=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(1, 12):
            f(inp.ones(n))


def test_the_error_of_a_limit_names_the_difference():
    f = imprint.jit(lambda x: x * 0.5, max_versions=1, on_limit="error")
    f(1.0)
    with pytest.raises(imprint.errors.RecompileError) as caught:
        f(1)
    assert str(caught.value) == (
        "<lambda>: expected at most 1 version (max_versions), got a call that needs "
        "one more: x.dtype: float32 → int32. Make its arguments alike (shapes, dtypes, "
        "static values), or raise the limit."
    )


def test_a_warning_raised_as_an_error_loses_no_version():
    f = imprint.jit(lambda x: x.sum() + 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(1, 8):
            f(inp.ones(n))
        with pytest.raises(imprint.errors.RecompileWarning):
            f(inp.ones(8))
        before = COUNTERS.traces
        assert f(inp.ones(8)) == 8
    assert COUNTERS.traces == before


def test_library_functions_give_no_warning():
    key = imprint.random.key(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(30, 42):
            imprint.random.uniform(key, (n,))


def test_a_function_inside_of_a_transform_is_where_the_user_defined_it():
    def first(x):
        return x**2

    def second(x):
        return x**3

    f, g = imprint.jit(imprint.grad(first)), imprint.jit(imprint.grad(second))
    f(1.0)
    assert f.last_miss.defined.endswith(f":{first.__code__.co_firstlineno}")
    assert g.explain(1.0).differences == ()  # of another family


def test_a_capture_of_a_decorated_function_is_named_as_its_own():
    def doubled(fun):
        @functools.wraps(fun)
        def wrapper(x):
            return 2 * fun(x)

        return wrapper

    def make(rate):
        @imprint.jit
        @doubled
        def scaled(x):
            return x * rate

        return scaled

    make(0.5)(1.0)
    (difference,) = make(0.25).explain(1.0).differences
    assert str(difference) == "closure variable rate: 0.5 → 0.25"
    assert difference.remedy == "Make rate an argument: `def scaled(..., rate)`."


def test_functions_that_are_jitted_on_different_lines_are_no_recompiles(monkeypatch):
    monkeypatch.setattr("imprint._src.jit.versions.definitions._MANY", 3)

    def loss(x, by=1.0):
        return inp.sum(inp.sin(x) * by)

    x = inp.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = imprint.jit(functools.partial(loss, by=2.0))
        other = imprint.jit(functools.partial(loss, by=3.0))
        slope = imprint.jit(imprint.grad(loss))
        value(x), other(x), slope(x)
    assert [f.last_miss.differences for f in (value, other, slope)] == [()] * 3
    for transform in (imprint.value_and_grad, imprint.vmap):  # one place jits both
        transformed = imprint.jit(transform(loss))
        assert transformed.explain(x).differences == ()
        transformed(x)


def test_a_partial_that_one_line_creates_again_is_counted(monkeypatch):
    monkeypatch.setattr("imprint._src.jit.versions.definitions._MANY", 3)

    def jitted(by):
        return imprint.jit(functools.partial(lambda x, by: x * by + 1, by=by))

    jitted(4.0)(1.0), jitted(5.0)(1.0)
    with pytest.warns(imprint.errors.RecompileWarning, match="3 times, 2 of them"):
        jitted(6.0)(1.0)


def test_versions_from_the_disk_give_no_warning(monkeypatch, imprint_store):
    monkeypatch.setattr("imprint._src.jit.versions.definitions._MANY", 3)
    f = imprint.jit(lambda x: x.sum() * 3.25)
    f(inp.ones(1)), f(inp.ones(2))
    with pytest.warns(imprint.errors.RecompileWarning):
        f(inp.ones(3))
    imprint.clear_caches()
    g = imprint.jit(lambda x: x.sum() * 3.25)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(1, 4):
            g(inp.ones(n))
    assert [version.origin for version in g.versions] == ["disk"] * 3
    assert "loads its program from the disk: it differs from" in str(g.last_miss)
