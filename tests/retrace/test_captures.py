"""Captured values, and when they are read: a hit gives the result of a fresh trace."""

import enum
import gc
import weakref

import ml_dtypes
import numpy as np
import pytest

import imprint
import imprint.numpy as inp

X = np.float32(1)


def layer(w, **options):
    return imprint.jit(lambda x: x * np.asarray(w, "float32").sum(), **options)


def weighted(w, **options):
    return imprint.jit(lambda x, n=1: x + np.asarray(w).sum() * n, **options)


# ---- arrays of any class and dtype ----


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, "int64"])
@pytest.mark.parametrize("size", [8, 2000])
@pytest.mark.parametrize("strict", [False, True])
def test_arrays_of_each_dtype_are_compared_by_content(dtype, size, strict):
    for value in (1, 2):
        f = layer(np.full(size, value).astype(dtype), strict=strict)
        assert f(X) == layer(np.full(size, value).astype("float32"))(X)


def test_dates_are_compared_by_value():
    def years(w):
        return imprint.jit(
            lambda x: x + (w[0] - np.datetime64("2000", "Y")).astype(int)
        )

    for year in (2001, 2002):
        dates = np.full(2000, year - 1970).astype("datetime64[Y]")
        assert years(dates)(X) == year - 1999


ARRAYS = {
    "a matrix": lambda: np.ones((40, 40)).view(type("M", (np.ndarray,), {})),
    "a masked array": lambda: np.ma.masked_array(np.ones(2000)),
    "objects": lambda: np.array([1.0] * 10, dtype=object),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_write_into_an_unusual_array_is_seen(name):
    w = ARRAYS[name]()
    before = weighted(w)(X)
    w[0] = 5
    after = weighted(w)(X)
    assert after == weighted(np.array(w, dtype="float32"))(X)
    assert after > before


# ---- when captures are read: at the first call ----


@pytest.mark.parametrize(
    "look",
    [
        lambda f: None,
        lambda f: f.versions,
        lambda f: f.explain(X),
        lambda f: f.cache_info(),
    ],
    ids=["nothing", "versions", "explain", "cache_info"],
)
@pytest.mark.parametrize("options", [{}, {"static_argnames": "n"}])
def test_captures_are_read_at_the_first_call(look, options):
    w = np.ones(1000)
    weighted(w, **options)(X)
    f = weighted(w, **options)
    look(f)
    w[:] = 5
    assert f(X) == 5001


# ---- values reached from a name ----


def counter():
    n = 1.0

    def get():
        return n

    def put(value):
        nonlocal n
        n = value

    return get, put


def with_default(get):
    def helper(get=get):
        return get()

    return helper


first, _ = counter()
helper = with_default(first)
KEYS = {"a": 2.0}


class Mode(enum.StrEnum):
    A = "a"


def test_the_closure_of_a_default_of_a_helper_that_was_rebound(monkeypatch):
    f = imprint.jit(lambda x: x + helper())
    f(X)
    f(X)
    again, put = counter()
    monkeypatch.setitem(globals(), "helper", with_default(again))
    assert [float(f(X)), float(f(X))] == [2.0, 2.0]
    put(5.0)
    assert f(X) == 6.0


def test_a_variable_that_a_function_binds_is_its_own():
    def make(steps):
        def fraction(count):
            nonlocal steps
            steps = float(steps)
            return count / steps

        return fraction

    assert [float(imprint.jit(make(n))(12)) for n in (1, 2, 3)] == [12, 6, 4]


def test_a_key_that_was_replaced_by_an_equal_one():
    def by_kind(x):
        return x + (100.0 if any(type(k) is Mode for k in KEYS) else KEYS["a"])

    f = imprint.jit(by_kind)
    assert [float(f(X)), float(f(X))] == [3.0, 3.0]
    value = KEYS.pop("a")
    KEYS[Mode.A] = value
    assert f(X) == 101.0


# ---- values that are freed ----


class HeldError(Exception):  # it hides its state, so a key holds the object
    def __eq__(self, other):
        return type(other) is HeldError and self.args == other.args

    def __hash__(self):
        return hash(self.args)


def test_clear_cache_frees_static_arguments():
    f = imprint.jit(lambda x, n: x, static_argnames="n")
    alive = []
    for i in range(3):
        held = HeldError(i)
        alive.append(weakref.ref(held))
        f(X, n=held)
    del held
    f.clear_cache()
    gc.collect()
    assert [ref() for ref in alive] == [None] * 3


def test_a_host_argument_is_freed_after_the_call():
    f = imprint.jit(lambda x: x.sum())
    x = np.ones(1 << 16, "float32")
    f(x), f(x)
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None


def test_evict_takes_a_version_out_of_every_table():
    w = np.ones(1000)
    f, g = weighted(w), weighted(w)
    f(X), g(X)
    w[:] = 2
    f(inp.ones(3))  # traces with other captures than those of `g`
    version = next(v for v in f.versions if v.avals[0].shape == ())
    version.evict()
    assert version not in f.versions
    assert version not in g.versions


def _act_by(w):
    """Return a jitted function, by whose rule the derivative is `w`, and how to set it."""

    @imprint.custom_jvp
    def act(y):
        return y

    @act.defjvp
    def _(primals, tangents):
        return primals[0], tangents[0] * w

    def put(value):
        nonlocal w
        w = value

    return imprint.jit(lambda y: act(y)), put


def test_the_rule_of_a_function_keeps_to_its_own_closure():
    """Equal functions share a trace, until one gets another rule."""
    (one, put), (other, _) = _act_by(2.0), _act_by(2.0)
    f, g = imprint.jit(imprint.grad(one)), imprint.jit(imprint.grad(other))
    assert float(f(1.0)) == 2.0
    put(3.0)
    assert float(g(1.0)) == float(imprint.grad(other)(1.0)) == 2.0
    assert float(f(1.0)) == float(imprint.grad(one)(1.0)) == 3.0


# ---- another thread makes it another function while a call traces it ----
