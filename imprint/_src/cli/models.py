"""The tour's programs about `Module`: a model is a tree of arrays, functions and settings.

The class and its story are those of the document about Equinox: a model that holds a
function is built anew all the time, and must not be compiled for it.
"""

from collections.abc import Callable
from functools import partial

import imprint
import imprint.numpy as np
from imprint import Array
from imprint._src.cli.example import prints


@prints(
    """
    shared: 1 trace for 3 models
    a lambda: 1 trace for 3 models
    a partial: 1 trace for 3 models
    a jitted partial: 1 trace for 3 models
    """,
    jax="with Equinox, 3 traces for all but the shared function.",
)
def models_built_anew() -> None:
    """Build a model anew, with a function made anew: it is the same model."""
    traces = 0

    class MyModule(imprint.Module):
        fn: Callable[[Array], Array]

        def __call__(self, x: Array) -> Array:
            nonlocal traces
            traces += 1  # runs while tracing only
            return self.fn(x)

    @imprint.filter_jit
    def run(model: MyModule, x: Array) -> Array:
        return model(x)

    functions: dict[str, Callable[[], Callable[[Array], Array]]] = {
        "shared": lambda: np.cos,
        "a lambda": lambda: lambda x: np.sin(x) * 2,
        "a partial": lambda: partial(np.add, 2.0),
        "a jitted partial": lambda: imprint.jit(partial(np.add, 3.0)),
    }
    for name, make in functions.items():
        traces = 0
        for _ in range(3):
            run(MyModule(make()), np.ones(3))
        print(f"{name}: {traces} trace for 3 models")


@prints(
    """
    MyModule.fn: expected every attribute to be declared as a field, got `self.fn = ...`...

        class MyModule(Module):
            fn: Callable
    """,
    jax="with Equinox, \"cannot assign to field 'fn'\".",
)
def a_field_without_a_declaration() -> None:
    """Refuse an attribute that is not declared, and show the line to add."""

    class MyModule(imprint.Module):
        def __init__(self, fn: Callable[[Array], Array]) -> None:
            self.fn = fn

    try:
        MyModule(np.sin)
    except AttributeError as error:
        print(error)


CHAPTERS = {"Models": (models_built_anew, a_field_without_a_declaration)}
