"""check: ends a program with the error of a user check if its predicate is false.

Outside of `checkify` it is a callback that raises; `checkify` replaces it and makes a value
of the error. Both take the message from a `Failure`. The predicate is one bool. Under `vmap`
a check is still one: of all elements, and its message is about the first that fails.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Any, Final

import numpy as np

from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.padding import PerSize
from imprint._src.core.primitive import (
    Absent,
    Avals,
    Dims,
    EffectfulPrimitive,
    Effects,
    Values,
)
from imprint._src.diagnostics.source import Source, current_source
from imprint._src.errors import CheckError
from imprint._src.primitives.arg_reductions import argmin
from imprint._src.primitives.callbacks import CALLED
from imprint._src.primitives.core_ops import moveaxis
from imprint._src.primitives.indexing.dynamic_slicing import dynamic_slice
from imprint._src.primitives.reductions import reduce_and
from imprint._src.primitives.shape import squeeze
from imprint._src.stablehlo import Builder, Value
from imprint._src.stablehlo.custom_calls import host_call


class When(Enum):
    """When a check is active."""

    ALWAYS = "it raises, unless `checkify` looks for it"
    ENABLED = "it raises, unless `checkify` looks for it or for others only"
    CHECKIFIED = "it does nothing, unless `checkify` looks for it"


class Failure:
    """The message of a failed check; called with the values of the check, it raises.

    Two are equal if their messages and their lines are.

    Attributes:
        site: the line of the check in user code.
    """

    def __init__(self) -> None:
        self.site: Source | None = current_source()

    def message(self, *arrays: Any) -> str:
        """Return the message for the values of the check."""
        raise NotImplementedError

    def __imprint_token__(self) -> Any:
        """Return its token in the comparison of programs."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, Failure)
            and self.site == other.site
            and bool(self.__imprint_token__() == other.__imprint_token__())
        )

    def __hash__(self) -> int:
        return hash((type(self), self.site))

    def __call__(self, *arrays: Any) -> Sequence[Any]:
        """Raise CheckError; a note has the line of the check."""
        raise failed(self.message(*arrays), self.site)


def failed(message: str, site: Source | None) -> CheckError:
    """Return the error of a check at a line of user code."""
    error = CheckError(message)
    if site is not None:
        error.add_note(f"checked at {site}, `{site.expression}`")
    return error


def first_failed(pred: Any, values: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Return whether all of `pred` is true, and the values of the first that is false.

    Args:
        pred: bools along one axis, which has elements.
        values: values with that axis in front.
    """
    at = argmin(pred, 0, np.int32)
    return reduce_and(pred, (0,)), [_element(x, at) for x in values]


def _element(x: Any, at: Any) -> Any:
    shape = get_aval(x).shape
    starts = [at, *[np.int32(0)] * (len(shape) - 1)]
    row = dynamic_slice(x, starts, (1, *shape[1:]), allow_negative_indices=False)
    return squeeze(row, (0,))


def _effects(**_: Any) -> Effects:
    return CALLED


def _aval(
    pred: ShapedArray, *values: ShapedArray, callback: Failure, when: When
) -> Avals:
    assert not pred.ndim, f"a check of {pred}"
    return ()


def _reference(pred: Any, *arrays: Any, callback: Failure, when: When) -> Values:
    if not pred and when is not When.CHECKIFIED:
        callback(*arrays)
    return ()


def _lower(
    b: Builder, pred: Value, *values: Value, callback: Failure, when: When
) -> tuple[Value, ...]:
    if when is When.CHECKIFIED:
        return ()

    def function(pred: Any, *arrays: Any) -> Values:
        return _reference(pred, *arrays, callback=callback, when=when)

    return host_call(b, function, (pred, *values), (), effect=True)


def _jvp(primals: Values, _: Values, **params: Any) -> tuple[Values, Values]:
    return check_p.bind_all(*primals, **params), ()


def _transpose(_: Values, operands: Values, **__: Any) -> Values:
    return (None,) * len(operands)


def _batch(args: Values, at: Dims, **params: Any) -> tuple[Values, Dims]:
    fronts = [
        x if d is None else moveaxis(x, d, 0) for x, d in zip(args, at, strict=True)
    ]
    pred, *values = fronts
    mapped = [x for x, d in zip(values, at[1:], strict=True) if d is not None]
    size = next(
        get_aval(x).shape[0] for x, d in zip(fronts, at, strict=True) if d is not None
    )
    if size == 0:
        return (), ()
    if at[0] is None:
        chosen = [_element(x, np.int32(0)) for x in mapped]
    else:
        pred, chosen = first_failed(pred, mapped)
    rest = iter(chosen)
    own = [x if d is None else next(rest) for x, d in zip(values, at[1:], strict=True)]
    return check_p.bind_all(pred, *own, **params), ()


check_p: Final = EffectfulPrimitive(
    name="check",
    effects=_effects,
    aval=_aval,
    reference=_reference,
    lower=_lower,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    pad=PerSize("what it says shows arrays of the true size"),
    samples=Absent("its meaning is an error that the caller words"),
)
