"""Checks of values raise at the caller of the program, with the user's message."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, CheckError

ONE = np.float32(1)


def root(x):
    imprint.debug.check(x >= 0, "no root of {x}, {}", "none", x=x)
    return x**0.5


USES = {
    "eager": root,
    "jit": imprint.jit(root),
    "grad": imprint.grad(root),
    "jit of grad": imprint.jit(imprint.grad(root)),
    "nested": imprint.jit(lambda x: imprint.jit(root)(x) + 1),
    "vmap": lambda x: imprint.vmap(root)(inp.array([1.0, 4.0, x])),
    "jit of vmap": lambda x: imprint.jit(imprint.vmap(root))(inp.array([1.0, 4.0, x])),
    "unused": imprint.jit(lambda x: (root(x), x)[1]),
}


@pytest.mark.parametrize("use", USES)
def test_a_check_raises_at_the_caller(use):
    call = USES[use]
    call(ONE)
    with pytest.raises(CheckError, match=r"^no root of -1\.0, none") as caught:
        call(-ONE)
    (note,) = caught.value.__notes__
    assert "test_checks.py" in note
    assert note.endswith(
        '`imprint.debug.check(x >= 0, "no root of {x}, {}", "none", x=x)`'
    )
    call(ONE)


def test_all_of_an_array_has_to_be_true():
    f = imprint.jit(lambda x: imprint.debug.check(x > 0, "x"))
    f(np.ones(3))
    with pytest.raises(CheckError):
        f(np.array([1.0, 0.0]))


def test_bad_checks_raise():
    with pytest.raises(ArgumentError, match="got none for argument 0"):
        imprint.debug.check(True, "text", ONE)
    for call in (imprint.debug.check, lambda p, m: imprint.error_if(inp.ones(1), p, m)):
        with pytest.raises(TypeError, match="expected a bool"):
            call(ONE, "text")


def checked(library, numpy, **options):
    def f(x):
        x = library.error_if(x, x < 0, "negative", **options)
        x = library.branched_error_if(
            x, x > 9, (x > 99).astype(int), ["big", "huge"], **options
        )
        return numpy.sqrt(x)

    return f


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("x", "message"), [(-1.0, "negative"), (10.0, "big"), (100.0, "huge")]
)
def test_error_if_raises_as_equinox_does(compiled, x, message):
    for library, numpy in ((eqx, jnp), (imprint, inp)):
        f = checked(library, numpy)
        f = library.filter_jit(f) if compiled else f
        assert float(f(numpy.asarray(4.0))) == 2
        with pytest.raises(RuntimeError, match=message):
            f(numpy.asarray(x))


@pytest.mark.parametrize("x", [np.float32(-1), np.float32(4)])
@pytest.mark.parametrize("on_error", ["nan", "off"])
def test_error_if_may_go_on(x, on_error):
    theirs, ours = (
        checked(*side, on_error=on_error)(side[1].asarray(x))
        for side in ((eqx, jnp), (imprint, inp))
    )
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", ["int8", "bool", "complex64"])
def test_the_replacement_of_nan_is_equinox_s(dtype):
    results = []
    for library, numpy in ((eqx, jnp), (imprint, inp)):
        x = {"a": numpy.zeros(2, dtype), "b": "text"}
        found = library.filter_jit(
            lambda x, p, library=library: library.error_if(x, p, "m", on_error="nan")
        )(x, numpy.asarray(True))
        assert found["b"] == "text"
        results.append(np.asarray(found["a"]))
    np.testing.assert_array_equal(*results)


def test_error_if_has_the_derivative_of_the_identity():
    f = imprint.jit(imprint.grad(lambda x: imprint.error_if(x, x < 0, "negative") ** 2))
    assert float(f(np.float32(3))) == 6
    with pytest.raises(CheckError, match="negative"):
        f(-ONE)


def test_error_if_raises_whether_or_not_its_result_is_used():
    def f(x):
        imprint.error_if(x, x < 0, "negative")
        return x

    with pytest.raises(CheckError, match="negative"):
        imprint.jit(f)(-ONE)


def test_error_if_wants_an_array_and_a_way():
    with pytest.raises(ValueError, match="expected a tree with an array"):
        imprint.error_if("text", False, "m")
    with pytest.raises(ValueError, match="expected on_error to be one of"):
        imprint.error_if(inp.ones(1), False, "m", on_error="ignore")


def test_a_wrong_value_that_is_known_raises_while_tracing():
    f = imprint.jit(lambda x: imprint.error_if(x, True, "known"))
    with pytest.raises(CheckError, match="known"):
        f.lower(ONE)
