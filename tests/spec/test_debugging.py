"""The debugging flags: NaN, infinities, leaked tracers, compilations."""

import gc
import logging
from pathlib import Path

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import NonFiniteError, UnexpectedTracerError
from tests.lanes import exhaustive_but
from tests.spec.leaks import fresh


def raised(action):
    """Return the message of the NaN or infinity that `action` produces."""
    with pytest.raises(FloatingPointError) as caught:
        action()
    assert isinstance(caught.value, NonFiniteError)
    return str(caught.value)


def line_of(text, file=__file__):
    """Return `file:line` of the only line of a file that holds a text."""
    with open(file, encoding="utf-8") as lines:
        (number,) = [i for i, line in enumerate(lines, 1) if text in line]
    return f"{Path(file).name}:{number}"


# ---- NaN ----


@imprint.jit
def inner(y):
    return inp.log(y) * 2  # the culprit


@imprint.jit
def outer(batch):
    shifted = batch["x"] - 1.0
    return {"ok": shifted, "loss": inner(shifted).sum()}


NEGATIVE = np.array([0.5, 3.0], np.float32)


def test_the_first_nan_is_named_with_its_operation_and_line():
    with imprint.debug_nans():
        message = raised(lambda: outer({"x": NEGATIVE}))
    assert message.startswith(
        "outer: expected no NaN, got one as result['loss']: `log`"
    )
    assert line_of("# the " + "culprit") in message
    assert "(inp.log(y)) makes it from operands without one" in message


def test_results_are_right_where_there_is_no_nan():
    fine = {"x": np.array([2.0, 3.0], np.float32)}
    want = outer(fine)
    with imprint.debug_nans():
        got = outer(fine)
    assert got["loss"] == want["loss"]
    assert got["ok"].tolist() == want["ok"].tolist()


def test_nan_is_allowed_without_the_flag():
    assert np.isnan(outer({"x": NEGATIVE})["loss"])
    with imprint.debug_nans(True), imprint.debug_nans(False):
        assert np.isnan(outer({"x": NEGATIVE})["loss"])


def test_a_nan_in_an_argument_is_named_by_its_path():
    with imprint.debug_nans():
        message = raised(lambda: outer({"x": np.array([np.nan], np.float32)}))
    assert "argument batch['x'] already holds one" in message


def test_a_nan_that_no_result_holds_is_no_error():
    f = imprint.jit(lambda x: inp.where(x > 0, inp.log(x), 0.0))
    with imprint.debug_nans():
        assert f(np.array([-1.0, 1.0], np.float32)).tolist() == [0, 0]


def test_a_nan_in_a_gradient_is_found():
    f = imprint.jit(imprint.grad(lambda x: inp.sqrt(x) * x))
    with imprint.debug_nans():
        message = raised(lambda: f(0.0))
    assert "(inp.sqrt(x))" in message


def test_a_nan_is_found_although_its_operand_was_donated():
    f = imprint.jit(lambda x: inp.log(x), donate_argnums=0)
    x = inp.asarray(NEGATIVE) - 1
    with imprint.debug_nans():
        message = raised(lambda: f(x))
    assert "`log`" in message
    assert x.is_deleted()


def test_a_nan_in_a_batch_is_found():
    with imprint.debug_nans():
        message = raised(lambda: imprint.jit(imprint.vmap(inp.log))(NEGATIVE - 1))
    assert "`log`" in message


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "complex64"])
def test_every_inexact_dtype_is_watched(dtype):
    f = imprint.jit(lambda x: x / x)
    with imprint.debug_nans():
        assert f(inp.ones(2, dtype)).dtype == dtype
        assert "`div`" in raised(lambda: f(inp.zeros(2, dtype)))


def test_integers_cannot_be_nan():
    with imprint.debug_nans(), imprint.debug_infs():
        assert imprint.jit(lambda x: x * 2)(inp.arange(3)).tolist() == [0, 2, 4]


def test_an_eager_operation_is_checked_too():
    with imprint.debug_nans():
        message = raised(lambda: inp.log(inp.asarray(-1.0)))
        assert "log: expected no NaN" in message
        assert "no operand holds one" in message
        message = raised(lambda: inp.array([np.nan]) + 1)
        assert "operand 0 already holds one" in message
        assert inp.sqrt(4.0) == 2


def test_a_disabled_jit_is_checked_too():
    with imprint.debug_nans(), imprint.disable_jit():
        assert "(inp.log(y))" in raised(lambda: outer({"x": NEGATIVE}))


HELD = np.array([1.0, np.nan], np.float32)
CAPTURED = inp.asarray(HELD)
CONSTANTS = {
    "a number": lambda x: float("nan"),
    "in a tuple": lambda x: (x, float("nan")),
    "complex": lambda x: complex(1, float("nan")),
    "a scalar of NumPy": lambda x: np.float32(np.nan),
    "an array of NumPy": lambda x: HELD,
    "an array": lambda x: CAPTURED,
    "in a nested call": lambda x: imprint.jit(lambda y: CAPTURED)(x),
    "in a derivative": imprint.value_and_grad(lambda x: float("nan")),
}


@pytest.mark.parametrize("kind", CONSTANTS)
def test_a_constant_that_is_returned_is_watched(kind):
    f = imprint.jit(CONSTANTS[kind])
    f(1.0)
    with imprint.debug_nans():
        assert "a constant already holds one" in raised(lambda: f(1.0))
        assert "a constant already holds one" in raised(lambda: f(1.0))
    g = imprint.filter_jit(lambda x: (HELD, x))
    with imprint.debug_nans():
        raised(lambda: g(1.0))
    with imprint.debug_infs():
        f(1.0)
        assert "infinity" in raised(lambda: imprint.jit(lambda x: float("inf"))(1.0))


def test_a_constant_is_named_with_the_operation_that_takes_it():
    f = imprint.jit(lambda x: x * 2 + CAPTURED)
    with imprint.debug_nans():
        message = raised(lambda: f(1.0))
    assert "a constant that `add` at" in message
    assert "(x * 2 + CAPTURED)" in message


def test_a_constant_that_no_result_holds_is_no_error():
    f = imprint.jit(lambda x: (inp.where(x > 0, x, float("nan")), 3))
    with imprint.debug_nans(), imprint.debug_infs():
        assert f(1.0)[0] == 1


# ---- infinities ----


def reciprocal(x):
    return 1 / x


def test_an_infinity_is_named_with_its_operation_and_line():
    f = imprint.jit(reciprocal)
    with imprint.debug_infs():
        message = raised(lambda: f(0.0))
        assert f(2.0) == 0.5
    assert message.startswith(
        "reciprocal: expected no infinity, got one as result: `div`"
    )
    assert line_of("return 1 " + "/ x") in message


@pytest.mark.parametrize("x", [0.0, np.nan])
def test_both_flags_watch_for_both(x):
    f = imprint.jit(lambda x: reciprocal(x) * 2)
    with imprint.debug_nans(), imprint.debug_infs():
        assert "expected no NaN or infinity" in raised(lambda: f(x))
        assert "expected no NaN or infinity" in raised(lambda: inp.asarray(x) / 0)
    with imprint.debug_infs():
        assert np.isnan(f(np.nan))
    with imprint.debug_nans():
        assert np.isinf(f(0.0))


# ---- leaked tracers ----


HOLDERS = {
    "into_a_list": "held by list KEPT of module",
    "into_an_attribute": "held by attribute state of Model",
    "into_a_global": "held by attribute GLOBAL of module",
    "into_a_function": "held by attribute last of function into_a_function",
    "into_a_closure": "held by a closure",
}


@pytest.fixture
def leaks(monkeypatch):
    # The holders are young; to search all that tests froze takes a second.
    monkeypatch.setattr(gc, "unfreeze", lambda: None)
    return fresh()


@pytest.mark.parametrize("name", HOLDERS)
def test_a_leaked_tracer_is_reported_with_its_holder(name, leaks):
    leak = getattr(leaks, name)

    @imprint.jit
    def step(x):
        leak(x)
        return x + 1

    with (
        imprint.check_tracer_leaks(),
        pytest.raises(UnexpectedTracerError, match=HOLDERS[name]) as caught,
    ):
        step(1.0)
    assert "1 leaked from step, traced by jit at test_debugging.py" in str(caught.value)
    assert step._cache_size() == 0


def test_a_frozen_holder_is_found():
    leaks = fresh()
    gc.freeze()
    with (
        imprint.check_tracer_leaks(),
        pytest.raises(UnexpectedTracerError, match=HOLDERS["into_a_function"]),
    ):
        imprint.jit(lambda x: (leaks.into_a_function(x), x)[1])(1.0)


OUTSIDE = {
    "grad": lambda f: imprint.grad(f)(1.0),
    "grad of grad": lambda f: imprint.grad(imprint.grad(f))(1.0),
    "jvp": lambda f: imprint.jvp(f, (1.0,), (1.0,)),
    "linearize": lambda f: imprint.linearize(f, 1.0),
    "vjp": lambda f: imprint.vjp(f, 1.0),
    "vmap": lambda f: imprint.vmap(f)(np.ones(3, np.float32)),
    "vmap of grad": lambda f: imprint.vmap(imprint.grad(f))(np.ones(3, np.float32)),
}


PAIRS = [(outside, holder) for outside in OUTSIDE for holder in HOLDERS]
QUICK_PAIRS = [
    (outside, holder)
    for outside, holder in PAIRS
    if outside == "grad" or holder == "into_a_closure"
]


@pytest.mark.parametrize(("outside", "name"), exhaustive_but(QUICK_PAIRS, PAIRS))
def test_a_tracer_that_leaks_outside_jit_is_reported_too(outside, name, leaks):
    """JAX finds those of `vmap`; its derivatives keep no trace to check."""
    leak = getattr(leaks, name)

    def step(x):
        leak(x)
        return x * x

    with (
        imprint.check_tracer_leaks(),
        pytest.raises(UnexpectedTracerError, match=HOLDERS[name]) as caught,
    ):
        OUTSIDE[outside](step)
    assert "1 leaked from" in str(caught.value)


def test_a_tracer_that_leaks_from_a_nested_call_is_reported(leaks):
    @imprint.jit
    def inner(x):
        leaks.into_a_list(x)
        return x

    with (
        imprint.check_tracer_leaks(),
        pytest.raises(UnexpectedTracerError, match="1 leaked from inner"),
    ):
        imprint.jit(lambda x: imprint.grad(inner)(x))(1.0)


def test_a_leaked_tracer_says_where_it_was_made(leaks):
    with (
        imprint.check_tracer_leaks(),
        pytest.raises(UnexpectedTracerError, match=r"KEPT.append\(x \* 2\)") as caught,
    ):
        imprint.jit(lambda x: (leaks.into_a_list(x), x)[1])(1.0)
    assert line_of("KEPT.append(x * 2)", leaks.__file__) in str(caught.value)


def test_a_leaked_tracer_is_an_error_when_it_is_used(leaks):
    imprint.jit(lambda x: (leaks.into_a_list(x), x)[1])(1.0)
    (kept,) = leaks.KEPT
    for use in (lambda: kept + 1, lambda: imprint.jit(lambda y: y + kept)(1.0)):
        with pytest.raises(UnexpectedTracerError, match="leaked tracer"):
            use()


CLEAN = {
    "jit": lambda f: f(1.0),
    "grad": lambda f: imprint.grad(f)(1.0),
    "grad of grad": lambda f: imprint.grad(imprint.grad(f))(1.0),
    "jit of grad": lambda f: imprint.jit(imprint.grad(f))(1.0),
    "vmap": lambda f: imprint.vmap(f)(np.ones(3, np.float32)),
    "nested": lambda f: imprint.jit(lambda x: f(f(x)))(1.0),
    "make_jaxpr": lambda f: imprint.make_jaxpr(f)(1.0),
    "vjp": lambda f: imprint.vjp(f, 1.0)[1](1.0),
}


@pytest.mark.parametrize("name", CLEAN)
def test_clean_programs_are_not_blamed(name):
    offset = inp.ones(())
    with imprint.check_tracer_leaks():
        CLEAN[name](imprint.jit(lambda x: inp.sin(x) * x + offset))


@pytest.mark.parametrize("name", OUTSIDE)
def test_clean_programs_outside_jit_are_not_blamed(name):
    def f(x):
        inner = imprint.vmap(lambda y: y * x)(np.ones(3, np.float32)).sum()
        return inner * imprint.jit(lambda y: y * x)(2.0) + imprint.grad(
            lambda y: y * y * x
        )(x)

    with imprint.check_tracer_leaks():
        OUTSIDE[name](f)
        imprint.grad(lambda x: (f(x), x), has_aux=True)(1.0)


@pytest.mark.parametrize("name", CLEAN)
def test_clean_programs_with_functions_inside_are_not_blamed(name):
    """The recording of a function holds the tracers that inner functions captured."""

    def f(x):
        rows = imprint.vmap(lambda y: y * x)(np.ones(3, np.float32))
        nested = imprint.jit(lambda y: imprint.grad(lambda z: z * z * y * x)(y))
        return nested(x) + rows.sum()

    with imprint.check_tracer_leaks():
        CLEAN[name](f)
        CLEAN[name](imprint.jit(f))


# ---- compiles ----


def test_log_compiles_names_the_function_its_arguments_and_times(caplog):
    @imprint.jit(static_argnames="n")
    def scale(batch, n):
        return batch["x"] * n + 1

    with imprint.log_compiles(), caplog.at_level(logging.WARNING, "imprint"):
        for _ in range(2):
            scale({"x": np.ones(3, np.float32)}, n=2)
            scale({"x": np.ones(4, np.float32)}, n=2)
    scale({"x": np.ones(5, np.float32)}, n=2)
    assert [message.split(", traced")[0] for message in caplog.messages] == [
        "compiled scale(batch['x']: float32[3], n=2): 2 equations",
        "compiled scale(batch['x']: float32[4], n=2): 2 equations",
    ]
    assert {record.levelname for record in caplog.records} == {"WARNING"}
