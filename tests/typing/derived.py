"""Types of transforms: pyright reads this file, nothing runs it.

An ignore marks a line with an expected error: an unused one is an error.
"""

from typing import Any, assert_type

import imprint
from imprint import Array


def loss(w: Array, x: Array, power: int = 2) -> Array:
    return ((w @ x) ** power).sum()


def with_aux(w: Array) -> tuple[Array, str]:
    return w.sum(), "aux"


def parameters_are_kept(w: Array, x: Array) -> None:
    assert_type(imprint.value_and_grad(loss)(w, x), tuple[Array, Any])
    assert_type(imprint.vmap(loss, in_axes=(None, 0, None))(w, x, 3), Array)
    assert_type(imprint.jit(imprint.vmap(loss))(w, x), Array)
    assert_type(imprint.filter_value_and_grad(loss)(w, x), tuple[Array, Any])
    assert_type(imprint.filter_vmap(loss)(w, x), Array)
    for transform in imprint.grad, imprint.jacfwd, imprint.jacrev, imprint.hessian:
        transform(loss)(w, x, power=3)
    imprint.grad(loss)(w)  # pyright: ignore[reportCallIssue] - no x
    imprint.grad(loss)(w, x, "3")  # pyright: ignore[reportArgumentType] - a text
    imprint.vmap(loss)(w, x, powers=3)  # pyright: ignore[reportCallIssue] - misspelt
    imprint.jacfwd(loss)(w)  # pyright: ignore[reportCallIssue] - no x
    imprint.hessian(loss)(w)  # pyright: ignore[reportCallIssue] - no x
    imprint.filter_grad(loss)(w)  # pyright: ignore[reportCallIssue] - no x
    imprint.filter_vmap(loss)(w)  # pyright: ignore[reportCallIssue] - no x


@imprint.filter_grad(has_aux=True)
def decorated(w: Array, x: Array) -> tuple[Array, Array]:
    return (w @ x).sum(), w


def a_decorator_with_options_keeps_them(w: Array) -> None:
    decorated(w, w)
    decorated(w)  # pyright: ignore[reportCallIssue] - no x


def results_have_their_types(w: Array) -> None:
    out, push, aux = imprint.linearize(with_aux, w, has_aux=True)
    assert_type(out, Array)
    assert_type(push(w), Array)
    assert_type(aux, str)
    assert_type(imprint.jvp(loss, (w, w), (w, w)), tuple[Array, Array])
    assert_type(imprint.jvp(with_aux, (w,), (w,), True), tuple[Array, Array, str])
    value, pull = imprint.vjp(loss, w, w)
    assert_type(value, Array)
    assert_type(pull(1.0), tuple[Any, ...])
    assert_type(imprint.vjp(with_aux, w, has_aux=True)[2], str)
