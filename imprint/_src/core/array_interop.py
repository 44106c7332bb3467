"""Conversions of foreign values to arrays and numbers, for error messages.

`conversion` gives the remedy in a message about an argument or result that is neither.
A library is recognized by the module of the class and its conversion method, so no
library needs to be installed.
"""

import datetime
import numbers
from collections.abc import Callable, Iterator, Set
from dataclasses import is_dataclass
from typing import Any, Final, cast

import numpy as np

_Test = Callable[[Any], bool]


def conversion(x: Any, name: str) -> str | None:
    """Return how a value becomes arrays and numbers; None if it means none.

    Args:
        x: the value, no array and no number.
        name: how the message names it: `batch['x']`.
    """
    for test, remedy in _REMEDIES:
        if test(x):
            return remedy.format(name=name, kind=type(x).__name__)
    return None


def shown(x: Any) -> str:
    """Return the class and the text of a value, on one line and not too long."""
    kind = type(x).__name__
    if type(x).__repr__ is object.__repr__:  # a memory address helps no reader
        return f"{kind} object"
    text = " ".join(repr(x).split())
    short = text if len(text) <= 60 else f"{text[:57]}..."
    return short if f"{text}(".startswith(f"{kind}(") else f"{kind} {short}"


def _of_library(method: str, *libraries: str) -> _Test:
    """Return the test for classes that convert by `method`, of libraries if named."""

    def test(x: Any) -> bool:
        library = type(x).__module__.partition(".")[0]
        has = callable(getattr(cast("type[Any]", type(x)), method, None))
        return has and (not libraries or library in libraries)

    return test


def _is(*kinds: type) -> _Test:
    return lambda x: isinstance(x, kinds)


def _is_generator(x: Any) -> bool:
    return type(x) is np.random.Generator or type(x).__module__ == "random"


_REMEDIES: Final[tuple[tuple[_Test, str], ...]] = (
    (
        lambda x: is_dataclass(x) and not isinstance(x, type),
        "If it holds arrays make its class a tree, imprint.tree.register_dataclass"
        "({kind}), or derive it from imprint.Module; if it holds settings, "
        "imprint.filter_jit keeps it as it is.",
    ),
    (_of_library("to_numpy"), "Convert it: {name}.to_numpy()."),
    (
        _of_library("detach", "torch"),
        "Convert it: {name}.detach().cpu().numpy().",
    ),
    (_of_library("numpy"), "Convert it: {name}.numpy()."),
    (
        _of_library("toarray"),
        "Sparse matrices have no meaning here; convert it: {name}.toarray().",
    ),
    (
        _is(datetime.timedelta),
        "Convert it to a number of seconds: {name}.total_seconds().",
    ),
    (
        _is(datetime.datetime),
        "Convert it to a number of seconds: {name}.timestamp().",
    ),
    (_is(datetime.date), "Convert it to a number of days: {name}.toordinal()."),
    (_is(numbers.Number), "Convert it: float({name})."),
    (_is_generator, "Random numbers come of a key: imprint.random.key(seed)."),
    (_of_library("__array__"), "Convert it: imprint.numpy.asarray({name})."),
    (_is(Set), "It has no order: pass a list, such as sorted({name})."),
    (
        _is(Iterator, range, bytes, bytearray, memoryview),
        "Make it a container of numbers, or an array: list({name}), or "
        "imprint.numpy.asarray(list({name})).",
    ),
)
