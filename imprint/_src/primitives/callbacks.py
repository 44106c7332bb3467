"""Callbacks: operations that call a Python function.

`callback`, a param, takes NumPy arrays and returns a sequence of arrays. Compiled programs
and eager evaluation check its results alike (`called`). A pure callback may be dropped or
merged with an equal one; the others have an effect. Ordered callbacks of all kinds share a
token, so they keep the order of the program.
Under `vmap`, one call for each element becomes one call of `OneByOne`, which loops.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, final

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.aval import NDArray, ShapedArray, get_aval
from imprint._src.core.padding import PerSize
from imprint._src.core.primitive import (
    PURE,
    Absent,
    Avals,
    Dims,
    Effect,
    EffectfulPrimitive,
    Effects,
    Params,
    Primitive,
    Values,
)
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.primitives.core_ops import broadcast_in_dim, moveaxis
from imprint._src.stablehlo import TOKEN, Builder, Value, tensor
from imprint._src.stablehlo.custom_calls import host_call

HostFunction: TypeAlias = Callable[..., Sequence[Any]]

_TOKEN: Final = "callback"
CALLED: Final[Effects] = frozenset({Effect("callback", ordered=False)})
CALLED_IN_ORDER: Final[Effects] = frozenset({Effect(_TOKEN, ordered=True)})

_NO_SAMPLES: Final = Absent("its meaning is a function that the caller gives")


# ---- calling ----


def called(
    callback: HostFunction, name: str, arrays: Sequence[Any], avals: Avals
) -> tuple[NDArray, ...]:
    """Call a callback, and check its results.

    Args:
        callback: takes and returns arrays.
        name: of the public function, for messages.
        arrays: its arguments.
        avals: the expected avals of the results.

    Raises:
        ArgumentError: it returned another number of results.
        ShapeError: a result has another shape.
        DTypeError: a result has another dtype.
    """
    outs = callback(*arrays)
    if len(outs) != len(avals):
        raise ArgumentError(
            f"{name}: expected {callback} to return {len(avals)} arrays, as "
            f"result_shape_dtypes says, got {len(outs)}. Return what it says, or "
            "change it."
        )
    return tuple(
        _checked(callback, name, i, out, aval)
        for i, (out, aval) in enumerate(zip(outs, avals, strict=True))
    )


def _checked(
    callback: HostFunction, name: str, at: int, out: Any, aval: ShapedArray
) -> NDArray:
    values = np.asarray(out)
    shown = f"{values.dtype.name}[{','.join(map(str, values.shape))}]"
    said = (
        f"{name}: expected {callback} to return {aval} as result {at}, as "
        f"result_shape_dtypes says, got {shown}."
    )
    if not dims.is_same_shape(values.shape, aval.shape):
        raise ShapeError(f"{said} Reshape it, or change what is expected.")
    if values.dtype != aval.dtype:
        if dtypes.canonicalize(values.dtype) != aval.dtype:
            raise DTypeError(f"{said} Convert it, or change what is expected.")
        values = values.astype(aval.dtype)
    return np.ascontiguousarray(values).reshape(aval.shape)


@final
class OneByOne:
    """A callback called once for each element along an axis of some of its arguments."""

    def __init__(
        self, callback: HostFunction, name: str, avals: Avals, axes: Dims, size: int
    ) -> None:
        self._callback = callback
        self._name = name
        self._avals = avals
        self._axes = axes
        self._size = size

    def __call__(self, *arrays: Any) -> list[NDArray]:
        """Call it for each element, in order; stack the results."""
        rows = [self._element(arrays, i) for i in range(self._size)]
        if not rows:
            return [np.empty((0, *aval.shape), aval.dtype) for aval in self._avals]
        return [np.stack(column) for column in zip(*rows, strict=True)]

    def _element(self, arrays: Sequence[Any], i: int) -> tuple[NDArray, ...]:
        taken = [
            x if axis is None else np.take(x, i, axis=axis)
            for x, axis in zip(arrays, self._axes, strict=True)
        ]
        return called(self._callback, self._name, taken, self._avals)

    def __imprint_token__(self) -> Any:
        """Return the token of this function in the comparison of programs."""
        return "each", self._callback, self._avals, self._axes, self._size

    def __repr__(self) -> str:
        return f"{self._callback} for each of {self._size}"


def _size_of(args: Values, at: Dims) -> int:
    pairs = zip(args, at, strict=True)
    return next(get_aval(x).shape[d] for x, d in pairs if d is not None)


def _one_by_one(
    primitive: Primitive, args: Values, at: Dims, avals: Avals, params: Params
) -> tuple[Values, Dims]:
    """Batch by calling for each element."""
    size = _size_of(args, at)
    callback = OneByOne(params["callback"], primitive.name, avals, at, size)
    outs = primitive.bind_all(*args, **{**params, "callback": callback})
    return outs, (0,) * len(outs)


def _stacked(avals: Avals, size: int) -> Avals:
    return tuple(aval.with_shape((size, *aval.shape)) for aval in avals)


# ---- lowering ----


def _lower(
    b: Builder,
    values: Sequence[Value],
    function: Callable[..., tuple[NDArray, ...]],
    avals: Avals,
    effects: Effects,
) -> tuple[Value, ...]:
    """Write the call of a function that checks its results."""
    types = [tensor(aval.shape, aval.dtype) for aval in avals]
    if effects is not CALLED_IN_ORDER:
        return host_call(b, function, values, types, effect=effects is not PURE)

    def in_order(token: None, *arrays: NDArray) -> tuple[Any, ...]:
        return token, *function(*arrays)

    given = b.tokens[_TOKEN], *values
    token, *results = host_call(b, in_order, given, [TOKEN, *types], effect=True)
    b.tokens[_TOKEN] = token
    return tuple(results)


# ---- pure_callback ----


def _no_effects(**_: Any) -> Effects:
    return PURE


def _pure_aval(
    *_: ShapedArray, callback: HostFunction, results: Avals, vmap_method: str | None
) -> Avals:
    return results


def _pure_reference(
    *arrays: Any, callback: HostFunction, results: Avals, vmap_method: str | None
) -> Values:
    return called(callback, "pure_callback", arrays, results)


def _pure_lower(
    b: Builder,
    *values: Value,
    callback: HostFunction,
    results: Avals,
    vmap_method: str | None,
) -> tuple[Value, ...]:
    def function(*arrays: NDArray) -> tuple[NDArray, ...]:
        return called(callback, "pure_callback", arrays, results)

    return _lower(b, values, function, results, PURE)


def _pure_batch(
    args: Values,
    at: Dims,
    *,
    callback: HostFunction,
    results: Avals,
    vmap_method: str | None,
) -> tuple[Values, Dims]:
    size = _size_of(args, at)
    stacked = _stacked(results, size)
    params: Params = {
        "callback": callback,
        "results": stacked,
        "vmap_method": vmap_method,
    }
    if vmap_method is None:
        raise NotImplementedError(_NO_METHOD.format(callback=callback))
    if vmap_method.startswith("sequential"):
        return _one_by_one(pure_callback_p, args, at, results, params)
    lengths = {"legacy_vectorized": None, "expand_dims": 1, "broadcast_all": size}
    length = lengths[vmap_method]
    given: list[Any] = []
    for x, d in zip(args, at, strict=True):
        if d is not None:
            given.append(moveaxis(x, d, 0))
        elif length is None:
            given.append(x)
        else:
            shape = get_aval(x).shape
            axes = tuple(range(1, len(shape) + 1))
            given.append(broadcast_in_dim(x, (length, *shape), axes))
    outs = pure_callback_p.bind_all(*given, **params)
    return outs, (0,) * len(outs)


_NO_METHOD: Final = (
    "pure_callback: expected a vmap_method for {callback} under vmap, got None. Pass "
    "vmap_method='sequential' to call it for each element; 'expand_dims' or "
    "'broadcast_all' to call it once, if it takes a further leading axis."
)

_WHOLE: Final = PerSize("a function of Python's is given arrays of the true size")

pure_callback_p: Final = EffectfulPrimitive(
    name="pure_callback",
    effects=_no_effects,
    aval=_pure_aval,
    reference=_pure_reference,
    lower=_pure_lower,
    jvp=Absent(
        "pure_callback: expected no derivative of a callback, got one asked for. Give "
        "the function around it a rule with custom_jvp."
    ),
    transpose=Absent(
        "pure_callback: expected no transpose of a callback, got one asked for. Give "
        "the function around it a rule with custom_vjp."
    ),
    batch=_pure_batch,
    pad=_WHOLE,
    samples=_NO_SAMPLES,
)


# ---- io_callback ----


def _effects(*, ordered: bool, **_: Any) -> Effects:
    return CALLED_IN_ORDER if ordered else CALLED


def _io_aval(
    *_: ShapedArray, callback: HostFunction, results: Avals, ordered: bool
) -> Avals:
    return results


def _io_reference(
    *arrays: Any, callback: HostFunction, results: Avals, ordered: bool
) -> Values:
    return called(callback, "io_callback", arrays, results)


def _io_lower(
    b: Builder, *values: Value, callback: HostFunction, results: Avals, ordered: bool
) -> tuple[Value, ...]:
    def function(*arrays: NDArray) -> tuple[NDArray, ...]:
        return called(callback, "io_callback", arrays, results)

    return _lower(b, values, function, results, _effects(ordered=ordered))


def _io_batch(
    args: Values, at: Dims, *, callback: HostFunction, results: Avals, ordered: bool
) -> tuple[Values, Dims]:
    if ordered:
        raise ArgumentError(
            f"io_callback: expected ordered=False for {callback} under vmap, whose "
            "elements have no order, got ordered=True. Leave it out, or loop with "
            "imprint.lax.map."
        )
    stacked = _stacked(results, _size_of(args, at))
    params: Params = {"callback": callback, "results": stacked, "ordered": ordered}
    return _one_by_one(io_callback_p, args, at, results, params)


io_callback_p: Final = EffectfulPrimitive(
    name="io_callback",
    effects=_effects,
    aval=_io_aval,
    reference=_io_reference,
    lower=_io_lower,
    jvp=Absent(
        "io_callback: expected no derivative of a callback, got one asked for. Pass it "
        "imprint.lax.stop_gradient(x), or give the function around it a rule with "
        "custom_jvp."
    ),
    transpose=Absent(
        "io_callback: expected no transpose of a callback, got one asked for. Give the "
        "function around it a rule with custom_vjp."
    ),
    batch=_io_batch,
    pad=_WHOLE,
    samples=_NO_SAMPLES,
)


# ---- debug_callback ----


def _debug_aval(*_: ShapedArray, callback: HostFunction, ordered: bool) -> Avals:
    return ()


def _debug_reference(*arrays: Any, callback: HostFunction, ordered: bool) -> Values:
    return called(callback, "debug_callback", arrays, ())


def _debug_lower(
    b: Builder, *values: Value, callback: HostFunction, ordered: bool
) -> tuple[Value, ...]:
    def function(*arrays: NDArray) -> tuple[NDArray, ...]:
        return called(callback, "debug_callback", arrays, ())

    return _lower(b, values, function, (), _effects(ordered=ordered))


def _debug_jvp(primals: Values, _: Values, **params: Any) -> tuple[Values, Values]:
    return debug_callback_p.bind_all(*primals, **params), ()


def _debug_transpose(_: Values, operands: Values, **__: Any) -> Values:
    return (None,) * len(operands)


def _debug_batch(
    args: Values, at: Dims, *, callback: HostFunction, ordered: bool
) -> tuple[Values, Dims]:
    params: Params = {"callback": callback, "ordered": ordered}
    return _one_by_one(debug_callback_p, args, at, (), params)


debug_callback_p: Final = EffectfulPrimitive(
    name="debug_callback",
    effects=_effects,
    aval=_debug_aval,
    reference=_debug_reference,
    lower=_debug_lower,
    jvp=_debug_jvp,
    transpose=_debug_transpose,
    batch=_debug_batch,
    pad=_WHOLE,
    samples=_NO_SAMPLES,
)
