"""`check_grads`: passes, failures and messages."""

import jax.test_util
import ml_dtypes
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.testing import gradients
from imprint.errors import ArgumentError
from imprint.testing import check_grads


def model(params, x):
    hidden = inp.tanh(x @ params["w"] + params["b"])
    return {"mean": hidden.mean(), "hidden": hidden, "size": x.shape[0]}


PARAMS = {"w": np.linspace(-1, 1, 6).reshape(3, 2), "b": np.array([0.1, -0.2])}
X = np.linspace(-2, 2, 12).reshape(4, 3)


@pytest.mark.slow
@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_right_derivatives_pass(order, x64):
    with imprint.enable_x64(x64):
        check_grads(model, (PARAMS, X), order)
        check_grads(imprint.jit(model), (PARAMS, X), order)


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_third_order_of_one_mode(mode):
    check_grads(lambda x: inp.sin(x) * x, (np.arange(3.0),), order=3, modes=(mode,))


def test_complex_functions():
    z = np.array([1 + 2j, -0.5 + 0.1j], np.complex64)
    check_grads(lambda z: inp.exp(z) * z, (z,), order=2)
    check_grads(lambda z: inp.abs(z) ** 2, (z,), order=1)
    check_grads(lambda z: inp.conj(z) * z * z, (z,), order=2)


def test_a_step_that_is_rounded_is_accounted_for():
    check_grads(lambda x: 2 * x, (np.array([1000.1, -2000.3]),), order=1)


def test_one_mode_never_uses_the_other(monkeypatch):
    for mode, other in [("fwd", "vjp"), ("rev", "jvp")]:
        with monkeypatch.context() as patch:
            patch.delattr(gradients, other)
            check_grads(inp.sin, (0.5,), order=2, modes=(mode,))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_dtypes(dtype):
    check_grads(inp.tanh, (np.linspace(-1, 1, 4).astype(dtype),), order=1)


def test_integers_and_booleans_are_held_fixed():
    def power(x, n, mask):
        return inp.where(mask, x**n, x), n

    mask = np.array([True, False])
    check_grads(power, (np.array([1.5, 2.5]), 3, mask), order=2)


# ---- failures: functions whose derivative is not that of their values ----


def stopped(x):
    """Return x², with the derivative of a function that holds one x fixed."""
    return x * inp.asarray(np.asarray(x)) if is_concrete(x) else x * 1.0


def is_concrete(x):
    return not type(x).__name__.endswith("Tracer")


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_a_wrong_derivative_is_found_in_each_mode(mode):
    with pytest.raises(AssertionError, match=rf"check_grads: .* in {MODES[mode]}"):
        check_grads(stopped, (np.array([3.0]),), order=1, modes=(mode,))


MODES = {"fwd": "forward mode", "rev": "reverse mode"}


def test_message_names_mode_order_and_argument():
    def loss(params, scale):
        return stopped(params["w"]) * scale + params["b"]

    params = {"b": np.float32(1), "w": np.float32(2)}
    with pytest.raises(AssertionError) as caught:
        check_grads(loss, (params, 3.0), 1, ("rev",), atol=1e-2, rtol=1e-2, eps=2**-7)
    text = str(caught.value)
    start, rest = text.split(" got ")
    _, end = rest.split(" by differences")
    assert start == (
        "check_grads: expected the derivative of loss by args[0]['w'] to agree with "
        "finite differences in reverse mode (order 1),"
    )
    assert end == (
        ", with atol=0.01, rtol=0.01 and eps=0.0078125. If the function is smooth there, "
        "a rule that it uses is wrong; else choose another point or eps."
    )


@pytest.mark.parametrize("modes", [("fwd", "rev"), ("rev", "fwd")])
def test_a_wrong_second_derivative_names_the_path(modes, monkeypatch):
    first, second = modes
    right = getattr(gradients, {"fwd": "jvp", "rev": "vjp"}[second])
    calls = []

    def wrong(fun, *args):
        calls.append(fun)
        return right(lambda *xs: [y * 1.5 for y in fun(*xs)], *args)

    def checked(x):
        return inp.sin(x)

    monkeypatch.setattr(gradients, {"fwd": "jvp", "rev": "vjp"}[second], wrong)
    with pytest.raises(AssertionError) as caught:
        check_grads(checked, (np.array([0.5]),), 2, (first, second))
    path = f"in {MODES[second]} of {MODES[first]} (order 2), got"
    assert path in str(caught.value)
    assert "the derivative of checked by args[0] to" in str(caught.value)


def test_a_function_with_a_kink_or_a_hole_is_found():
    with pytest.raises(AssertionError, match="forward mode"):
        check_grads(inp.abs, (np.zeros(2),), order=1)
    with pytest.raises(AssertionError, match="nan by differences"):
        check_grads(inp.log, (np.array([1.0, -1.0]),), order=1)


@pytest.mark.parametrize("part", [inp.real, inp.imag])
def test_a_wrong_part_of_a_complex_derivative_is_found(part):
    z = np.array([1 + 2j, -0.5 + 0.1j], np.complex64)
    with pytest.raises(AssertionError):
        check_grads(lambda z: stopped(part(z)), (z,), order=1)


def test_one_wrong_element_of_many_is_found():
    def off(x):
        wrong = stopped(x)
        return inp.where(inp.arange(100) == 57, wrong, x * x)

    for mode in ("fwd", "rev"):
        with pytest.raises(AssertionError):
            check_grads(off, (np.linspace(1, 2, 100),), order=1, modes=(mode,))


# ---- as JAX ----


@pytest.mark.slow
@pytest.mark.parametrize("x", [0.5, 2.0])
def test_the_same_functions_pass_as_in_jax(x):
    for ours, theirs in [(inp.tanh, jax.numpy.tanh), (inp.round, jax.numpy.round)]:
        for check, f in [(check_grads, ours), (jax.test_util.check_grads, theirs)]:
            check(f, (x + 0.25,), order=2, eps=1e-2)


# ---- bad arguments ----


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"order": 0},
            "expected an order of at least 1, got 0. Order 1 checks the gradient, order "
            "2 its derivatives too.",
        ),
        (
            {"order": True},
            "expected an order of at least 1, got True. Order 1 checks the gradient, "
            "order 2 its derivatives too.",
        ),
        (
            {"modes": ("lin",)},
            "expected modes among 'fwd' and 'rev', got ('lin',). Write "
            'modes=("rev",) for one of them.',
        ),
        (
            {"modes": "fwd"},
            "expected modes among 'fwd' and 'rev', got 'fwd'. Write "
            'modes=("rev",) for one of them.',
        ),
        (
            {"args": (1, np.array([True]))},
            "expected an argument with floating or complex values, got ~int32[], "
            "bool[1]. Convert one with `.astype(float)`.",
        ),
        (
            {"args": ()},
            "expected an argument with floating or complex values, got none. Convert "
            "one with `.astype(float)`.",
        ),
        (
            {"eps": 1e-12},
            "expected a step eps that changes args[0], got eps=1e-12, which rounding "
            "takes away. Make it larger, or use float64.",
        ),
    ],
)
def test_bad_arguments_are_refused(options, text):
    with pytest.raises(ArgumentError) as caught:
        check_grads(inp.sin, **{"args": (1.0,), "order": 1, **options})
    assert str(caught.value) == f"check_grads: {text}"
