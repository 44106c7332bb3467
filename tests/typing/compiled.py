"""Types of compiled functions: pyright reads this file, nothing runs it.

An ignore marks a line with an expected error: an unused one is an error.
"""

from typing import Any, assert_type

import imprint
from imprint import Array
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint.stages import Compiled, Lowered, Traced, Wrapped


@imprint.jit
def scale(x: Array, factor: float = 2.0) -> Array:
    return x * factor


@imprint.jit(static_argnames="name", max_versions=4)
def named(x: Array, *, name: str) -> dict[str, Array]:
    return {name: x}


@imprint.filter_jit(donate="all")
def filtered(x: Array, flag: bool) -> tuple[Array, bool]:
    return x, flag


def signature_is_kept(x: Array) -> None:
    assert_type(scale(x), Array)
    assert_type(scale(x, factor=3.0), Array)
    assert_type(named(x, name="a"), dict[str, Array])
    assert_type(filtered(x, True), tuple[Array, bool])
    assert_type(imprint.jit(scale.__wrapped__)(x), Array)
    assert_type(imprint.filter_jit(scale.__wrapped__)(x), Array)


def wrong_calls_are_found(x: Array) -> None:
    scale()  # pyright: ignore[reportCallIssue] - no x
    scale(x, "2")  # pyright: ignore[reportArgumentType] - a text
    scale(x, scale=2.0)  # pyright: ignore[reportCallIssue] - misspelt
    named(x, "a")  # pyright: ignore[reportCallIssue] - by name only
    filtered(x)  # pyright: ignore[reportCallIssue] - no flag
    scale.lowr(x)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - misspelt
    imprint.jit(scale, static_argnum=1)  # pyright: ignore[reportCallIssue] - misspelt
    imprint.filter_jit(scale, donate="some")  # pyright: ignore[reportCallIssue, reportArgumentType] - no such word


def inspection(x: Array) -> None:
    assert_type(scale.trace(x), Traced)
    assert_type(scale.lower(x), Lowered)
    assert_type(scale.lower(x).compile(), Compiled)
    assert_type(scale.explain(x).differences[0].slot, str)
    assert_type(scale.replay(x), imprint.debug.Replay)
    assert_type(scale.replay(x).first_nan(), imprint.debug.Step | None)
    assert_type(scale.replay(x).first_difference(scale), imprint.debug.Parting | None)
    scale.replay()  # pyright: ignore[reportCallIssue] - as a call
    assert_type(len(scale.versions), int)
    assert_type(scale.cache_info().hits, int)
    assert_type(scale.__name__, str)
    assert_type(imprint.make_jaxpr(scale)(x), ClosedJaxpr)
    both = imprint.make_jaxpr(scale, return_shape=True)(x)
    assert_type(both, tuple[ClosedJaxpr, Any])
    wrapped: Wrapped = scale
    wrapped.lower(x)


class Model(imprint.Module):
    weight: Array

    @imprint.jit
    def forward(self, x: Array) -> Array:
        return self.weight @ x

    @imprint.filter_jit
    def __call__(self, x: Array, times: int = 1) -> Array:
        return self.weight @ x * times


def methods_bind(model: Model, x: Array) -> None:
    assert_type(model.forward(x), Array)
    assert_type(model(x, 2), Array)
    model.forward(x, x)  # pyright: ignore[reportCallIssue] - one x
    model(x, "2")  # pyright: ignore[reportArgumentType] - a text
    assert_type(Model.forward(model, x), Array)
    assert_type(model.forward.lower(x), Lowered)
