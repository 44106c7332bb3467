"""Padding rules: evaluate primitives on arrays that are rounded up to a bucket.

In a padded program an axis of size `n` is as long as the bucket, and the true size is
data. The elements from `n` on are padding; only `PaddedValue.fills` knows their values.
The `pad` rule of a primitive takes the `PadContext` of its equation and the operands.
It returns results whose first `n` elements are those of the true size. Params and avals
are those of the symbolic program. `ELEMENTWISE`, `EACH` and `AS_IS` are such rules, and
`filling(value)` makes one. `PerSize("why")` marks a primitive without one: then the
program is compiled for each size.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn, final

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import DType, ShapedArray
from imprint._src.core.dims import Dim
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn
from imprint._src.core.primitive import Absent, Avals, Params, Primitive, Values


class NoPaddingError(Exception):
    """A program that cannot be padded, and is compiled for each size.

    Attributes:
        equation: which one forced it; None if it is an argument.
    """

    equation: Eqn | None = None


class PerSize(Absent):
    """A padding rule that cannot exist; calling it says why."""

    __slots__ = ()

    def __call__(self, *_args: Any, **_params: Any) -> NoReturn:
        """Raise NoPaddingError with the reason."""
        raise NoPaddingError(self.reason)


@final
class PaddedValue:
    """A value of a padded program.

    Args:
        value: the array, as long as the bucket.
        aval: its aval in the symbolic program.
        fills: for each axis the number that is in all of its padding, or None if that
            is not known; without padding it says nothing.
        known: the number that each element is, or None.
    """

    __slots__ = ("aval", "filled", "fills", "known", "value")

    def __init__(
        self,
        value: Any,
        aval: ShapedArray,
        fills: Sequence[Any] | None = None,
        known: Any = None,
    ) -> None:
        self.value: Any = value
        self.aval: ShapedArray = aval
        self.known: Any = known
        unknown = (known,) * aval.ndim
        self.fills: tuple[Any, ...] = unknown if fills is None else tuple(fills)
        self.filled: dict[Any, PaddedValue] = {}

    def padded_axes(self, axes: Iterable[int] | None = None) -> tuple[int, ...]:
        """Return which of `axes` have padding; of all axes if None."""
        shape = self.aval.shape
        every = range(len(shape)) if axes is None else axes
        return tuple(i for i in every if dims.is_symbolic(shape[i]))


class PadContext:
    """The equation that is padded, and the operations that a rule needs.

    Attributes:
        primitive: the primitive of the equation.
        outs: the avals of its results.
        sizes: the true sizes of the names, the leading operands of a padded body.
    """

    __slots__ = ("outs", "primitive", "sizes")
    primitive: Primitive
    outs: Avals
    sizes: Values

    def bound(self, x: Any) -> Any:
        """Return a size, or a container of sizes, at the size of the bucket."""
        raise NotImplementedError

    def number(self, n: Dim) -> Any:
        """Return the true size, a number that is data."""
        raise NotImplementedError

    def inside(self, shape: tuple[Dim, ...], axes: Sequence[int]) -> Any:
        """Return where an array of `shape` has no padding along `axes`, as booleans."""
        raise NotImplementedError

    def filled(
        self, x: PaddedValue, value: Any, axes: Sequence[int] | None = None
    ) -> PaddedValue:
        """Return `x` with `value` in the padding of `axes`, of all axes if None."""
        raise NotImplementedError

    def most(self, n: Dim) -> int:
        """Return the largest value of the size within its bounds."""
        raise NotImplementedError

    def part(self, x: Any, start: Any, length: int, axis: int) -> Any:
        """Return `length` elements of an array from `start` on; beyond the end are zeros."""
        raise NotImplementedError

    def written(self, x: Any, update: Any, start: Any, axis: int) -> Any:
        """Return an array with `update` written from `start` on, all of it inside."""
        raise NotImplementedError

    def taken(self, x: Any, places: Any, axis: int) -> Any:
        """Return the elements of an axis at places, a vector; clipped to its ends."""
        raise NotImplementedError

    def body(self, closed: ClosedJaxpr) -> ClosedJaxpr:
        """Return a jaxpr that the equation holds padded, and `sizes` its first arguments."""
        raise NotImplementedError

    def inlined(
        self, closed: ClosedJaxpr, operands: Sequence[PaddedValue]
    ) -> list[PaddedValue]:
        """Compute a jaxpr that the equation holds in its place."""
        raise NotImplementedError

    def bind_all(self, *operands: Any, **params: Any) -> Values:
        """Apply the primitive to arrays, with params as they are in the bucket."""
        return self.primitive.bind_all(*map(value_of, operands), **self.bound(params))


def value_of(x: Any) -> Any:
    """Return the array of a padded value; an array is its own."""
    return x.value if type(x) is PaddedValue else x


# ---- rules ----


def as_is(bucket: PadContext, *operands: PaddedValue, **params: Any) -> Values:
    """Pad a primitive whose result elements depend only on operand elements at their index."""
    return bucket.bind_all(*operands, **params)


def each(bucket: PadContext, *operands: PaddedValue, **params: Any) -> Values:
    """Pad a primitive that returns its operands."""
    outs = bucket.bind_all(*operands, **params)
    triples = zip(outs, bucket.outs, operands, strict=True)
    return tuple(PaddedValue(out, aval, x.fills, x.known) for out, aval, x in triples)


def elementwise(bucket: PadContext, *operands: PaddedValue, **params: Any) -> Values:
    """Pad an elementwise primitive; its padding is computed from the operands' padding."""
    (out,), (aval,) = bucket.bind_all(*operands, **params), bucket.outs
    known = _made(bucket.primitive, [x.known for x in operands], operands, params)
    if known is not None:
        return (PaddedValue(out, aval, None, known),)
    fills = [
        _made(bucket.primitive, [fill_at(x, i) for x in operands], operands, params)
        for i in range(aval.ndim)
    ]
    return (PaddedValue(out, aval, fills),)


def fill_at(x: PaddedValue, axis: int) -> Any:
    """Return the number in the padding of an axis; of a number, itself; None: not known."""
    return x.fills[axis] if x.aval.ndim else x.known


def _made(
    primitive: Primitive,
    numbers: list[Any],
    operands: Sequence[PaddedValue],
    params: Params,
) -> Any:
    """Return the result of a primitive on numbers; None unless all are known."""
    if not numbers or any(number is None for number in numbers):
        return None
    pairs = zip(numbers, operands, strict=True)
    arrays = [np.asarray(number, x.aval.dtype) for number, x in pairs]
    with np.errstate(all="ignore"):
        return primitive.reference(*arrays, **params)[0]


def carrying(origins: Callable[..., Sequence[int | None]]) -> Callable[..., Values]:
    """Return the rule of a primitive that moves the axes of its operand.

    Args:
        origins: `(aval, **params)` → for each axis of the result the axis of the
            operand that it is; None for a new axis.
    """

    def rule(bucket: PadContext, x: PaddedValue, **params: Any) -> Values:
        (out,) = bucket.bind_all(x, **params)
        fills = [
            x.known if i is None else x.fills[i] for i in origins(x.aval, **params)
        ]
        return (PaddedValue(out, bucket.outs[0], fills, x.known),)

    return rule


def in_batches(core: int | Callable[..., int], why: str) -> Callable[..., Values]:
    """Return the rule of a primitive that treats each example of a batch separately.

    Args:
        core: the number of trailing axes of one example, or `(**params)` → that number.
        why: the reason in the error if one of these axes has a symbolic size.
    """
    refuse = PerSize(why)

    def rule(bucket: PadContext, *operands: PaddedValue, **params: Any) -> Values:
        count = core if isinstance(core, int) else core(**params)
        avals = (*(x.aval for x in operands), *bucket.outs)
        if any(dims.is_symbolic(n) for a in avals for n in a.shape[a.ndim - count :]):
            refuse()
        return bucket.bind_all(*operands, **params)

    return rule


Fill = Callable[[DType], Any]


def filling(
    value: Fill, axes: str = "axes", *, keeps: bool = True
) -> Callable[..., Values]:
    """Return the rule that fills the padding of the reduced axes.

    Args:
        value: the identity element of the reduction, for a dtype.
        axes: the param that names the reduced axes, or the reduced axis.
        keeps: whether reducing identity elements gives the identity element.
    """

    def rule(bucket: PadContext, x: PaddedValue, **params: Any) -> Values:
        joined = params[axes] if isinstance(params[axes], tuple) else (params[axes],)
        number = value(x.aval.dtype)
        (out,) = bucket.bind_all(bucket.filled(x, number, joined), **params)
        (aval,) = bucket.outs
        others = [f for i, f in enumerate(x.fills) if i not in joined]
        fills = [f if keeps and is_same_number(f, number) else None for f in others]
        return (PaddedValue(out, aval, fills),)

    return rule


def is_same_number(x: Any, y: Any) -> bool:
    """Return whether two numbers are equal, NaN to itself."""
    return x is not None and y is not None and bool(x == y or (x != x and y != y))


AS_IS: Final = as_is
EACH: Final = each
ELEMENTWISE: Final = elementwise
