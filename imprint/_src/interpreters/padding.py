"""Padding a program: one static program that is right for all sizes up to a bound.

The symbolic jaxpr becomes one whose axes are as long as at the bounds; the true sizes are
its first arguments. Each equation runs the `pad` rule of its primitive. The rules also
propagate the known padding of results, so nothing is filled twice. A fill is a select by
`iota < n`, which XLA fuses into its operand. A size expression is computed from the true
sizes, in int32. If an axis can be longer than at the bounds, or a rule is `PerSize`,
NoPaddingError names the equation.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Final, cast

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval, number_of
from imprint._src.core.dims import Dim, Shape
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Literal, Var
from imprint._src.core.padding import (
    NoPaddingError,
    PadContext,
    PaddedValue,
    is_same_number,
)
from imprint._src.core.primitive import Values
from imprint._src.diagnostics import source
from imprint._src.dynamic_shapes.expression import SymbolicSize
from imprint._src.dynamic_shapes.instantiate import Instance
from imprint._src.dynamic_shapes.values import evaluate, names_of
from imprint._src.errors import ShapeError
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.primitives.core_ops import (
    add,
    broadcast_in_dim,
    mul,
    scalar_like,
    sub,
)
from imprint._src.primitives.elementwise.arithmetic import div, max_, min_, rem
from imprint._src.primitives.elementwise.bitwise import and_
from imprint._src.primitives.elementwise.comparison import lt
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.dynamic_slicing import (
    dynamic_slice_p,
    dynamic_update_slice_p,
)
from imprint._src.primitives.indexing.gather import gather_p
from imprint._src.primitives.indexing.slicing import pad
from imprint._src.primitives.shape import broadcasted_iota
from imprint._src.primitives.windows.gather_dims import (
    GatherDimensionNumbers,
    GatherScatterMode,
)

_NUMBERS: Final[Any] = bool | int | float | complex | np.generic | np.ndarray
INT32: Final = np.dtype(np.int32)
_SIZE: Final = ShapedArray((), INT32)
_MOST: Final = int(np.iinfo(np.int32).max)
_MOST_POINTS: Final = 1 << 16


def padded(
    closed: ClosedJaxpr,
    bounds: Mapping[str, int],
    fills: Sequence[Any] | None = None,
) -> ClosedJaxpr:
    """Return a program at the bounds that is right for all sizes up to these.

    Args:
        closed: the program of names.
        bounds: the largest size of each name.
        fills: for each argument the number that is in all of its padding, or None if
            that may be anything; None for all. Zeros save the masks of most sums.

    Returns:
        A program without names. Its first arguments are the true sizes, int32 numbers in
        the order of `bounds`, followed by those of `closed`. Where an aval has names,
        elements from the true size on may be anything, in arguments and in results.

    Raises:
        NoPaddingError: an equation has no padding rule, or its shapes can be larger than
            at the bounds.
    """
    return _made(closed, bounds, fills)[0]


def fills_of_results(
    closed: ClosedJaxpr,
    bounds: Mapping[str, int],
    fills: Sequence[Any] | None = None,
) -> list[tuple[Any, ...]]:
    """Return the known padding of the results of a padded program.

    Args:
        closed: the program of names.
        bounds: as for `padded`.
        fills: as for `padded`.

    Returns:
        For each axis of each result the number that is in all of its padding, or None if
        that is not known.
    """
    return _made(closed, bounds, fills)[1]


def _made(
    closed: ClosedJaxpr, bounds: Mapping[str, int], fills: Sequence[Any] | None
) -> tuple[ClosedJaxpr, list[tuple[Any, ...]]]:
    known = tuple(fills or (None,) * len(closed.jaxpr.invars))
    key = ("padded", known, *bounds.items())
    return closed.derived(key, lambda: _padded(closed, dict(bounds), known))


def _padded(
    closed: ClosedJaxpr, bounds: dict[str, int], fills: tuple[Any, ...]
) -> tuple[ClosedJaxpr, list[tuple[Any, ...]]]:
    jaxpr = closed.jaxpr
    told: list[tuple[Any, ...]] = []

    def run(*args: Any) -> list[Any]:
        sizes, operands = args[: len(bounds)], args[len(bounds) :]
        at = _Sizes(bounds, sizes)
        given = zip(operands, jaxpr.invars, fills, strict=True)
        found = _run(at, closed, [_argument(x, v.aval, n) for x, v, n in given])
        told[:] = [x.fills for x in found]
        outs = zip(found, jaxpr.outvars, strict=True)
        return [_as_weak(x.value, v.aval) for x, v in outs]

    at_bounds = _Sizes(bounds, (None,) * len(bounds))
    try:
        avals = [at_bounds.aval(v.aval) for v in jaxpr.invars]
    except NoPaddingError as err:
        err.add_note("It is an argument.")
        raise
    debug_info = DebugInfo("padded", jaxpr.name)
    return stage(run, [_SIZE] * len(bounds) + avals, debug_info), told


def _argument(x: Any, aval: ShapedArray, fill: Any) -> PaddedValue:
    number = None if fill is None else np.asarray(fill).astype(aval.dtype)[()]
    fills = [number if dims.is_symbolic(n) else None for n in aval.shape]
    return PaddedValue(x, aval, fills)


def _as_weak(x: Any, aval: ShapedArray) -> Any:
    """Return a result that is as weak as that of the true size; a rule need not care."""
    if get_aval(x).weak_type is aval.weak_type:
        return x
    return convert_element_type(x, aval.dtype, weak_type=aval.weak_type)


# ---- the equations ----


def _run(
    at: "_Sizes", closed: ClosedJaxpr, operands: Sequence[PaddedValue]
) -> list[PaddedValue]:
    jaxpr = closed.jaxpr
    env: dict[Var, PaddedValue] = dict(zip(jaxpr.invars, operands, strict=True))
    for var, const in zip(jaxpr.constvars, closed.consts, strict=True):
        env[var] = PaddedValue(const, var.aval)
    for eqn in jaxpr.eqns:
        given = [_literal(v) if type(v) is Literal else env[v] for v in eqn.invars]
        token = source.set_replayed_source(eqn.source or source.replayed_source())
        try:
            results = _equation(at, eqn, given)
        finally:
            source.reset_replayed_source(token)
        env.update(zip(eqn.outvars, results, strict=True))
    return [_literal(v) if isinstance(v, Literal) else env[v] for v in jaxpr.outvars]


def _literal(literal: Literal) -> PaddedValue:
    value: Any = literal.value
    known = None
    if isinstance(
        literal.value, bool | int | float | complex | np.generic | np.ndarray
    ):
        known = np.asarray(value, literal.aval.dtype)
    return PaddedValue(literal.read(), literal.aval, (), known)


def _equation(
    at: "_Sizes", eqn: Eqn, given: Sequence[PaddedValue]
) -> list[PaddedValue]:
    """Return the results of an equation; NoPaddingError is about it."""
    outs = tuple([v.aval for v in eqn.outvars])
    shapes = [x.aval.shape for x in given], [aval.shape for aval in outs]
    bucket = _Equation(at, eqn, outs)
    try:
        if not _holds_names((shapes, eqn.params)) and not eqn.primitive.jaxprs(
            eqn.params
        ):
            found = eqn.primitive.bind_all(*[x.value for x in given], **eqn.params)
        else:
            for aval in outs:
                at.aval(aval)
            found = eqn.primitive.pad(bucket, *given, **eqn.params)
    except NoPaddingError as err:
        if err.equation is None:
            err.equation = eqn
        raise
    except ShapeError as err:  # sizes equal for all values differ at the bounds
        failed = NoPaddingError(str(err))
        failed.equation = eqn
        raise failed from err
    pairs = zip(found, outs, strict=True)
    return [x if type(x) is PaddedValue else PaddedValue(x, aval) for x, aval in pairs]


def _holds_names(x: Any) -> bool:
    if isinstance(x, tuple | list):
        return any(map(_holds_names, cast("Iterable[Any]", x)))
    if isinstance(x, dict):
        return any(map(_holds_names, cast("dict[Any, Any]", x).values()))
    return isinstance(x, SymbolicSize)


class _Equation(PadContext):
    """The bucket of one equation."""

    __slots__ = ("_at", "_source")

    def __init__(self, at: "_Sizes", eqn: Eqn, outs: tuple[ShapedArray, ...]) -> None:
        self._at: _Sizes = at
        self.primitive = eqn.primitive
        self.outs = outs
        self.sizes = at.sizes

    def bound(self, x: Any) -> Any:
        return self._at.bound(x)

    def number(self, n: Dim) -> Any:
        return self._at.number(n)

    def inside(self, shape: Shape, axes: Sequence[int]) -> Any:
        return self._at.inside(shape, axes)

    def filled(
        self, x: PaddedValue, value: Any, axes: Sequence[int] | None = None
    ) -> PaddedValue:
        return self._at.filled(x, value, axes)

    def most(self, n: Dim) -> int:
        return self._at.most(n)

    def part(self, x: Any, start: Any, length: int, axis: int) -> Any:
        shape = get_aval(x).shape
        config = [(0, length if i == axis else 0, 0) for i in range(len(shape))]
        wide = pad(x, scalar_like(x, 0), config)
        starts = [start if i == axis else np.int32(0) for i in range(len(shape))]
        sizes = (*shape[:axis], length, *shape[axis + 1 :])
        return dynamic_slice_p.bind1(wide, *starts, slice_sizes=sizes)

    def written(self, x: Any, update: Any, start: Any, axis: int) -> Any:
        ndim = get_aval(x).ndim
        starts = [start if i == axis else np.int32(0) for i in range(ndim)]
        return dynamic_update_slice_p.bind1(x, update, *starts)

    def taken(self, x: Any, places: Any, axis: int) -> Any:
        shape = get_aval(x).shape
        others = tuple(i for i in range(len(shape)) if i != axis)
        count = get_aval(places).shape[0]
        return gather_p.bind1(
            x,
            broadcast_in_dim(places, (count, 1), (0,)),
            dimension_numbers=GatherDimensionNumbers(others, (axis,), (axis,)),
            slice_sizes=(*shape[:axis], 1, *shape[axis + 1 :]),
            indices_are_sorted=False,
            unique_indices=False,
            mode=GatherScatterMode.CLIP,
            fill_value=None,
        )

    def body(self, closed: ClosedJaxpr) -> ClosedJaxpr:
        return padded(closed, self._at.bounds)

    def inlined(
        self, closed: ClosedJaxpr, operands: Sequence[PaddedValue]
    ) -> list[PaddedValue]:
        return _run(self._at, closed, operands)


# ---- sizes ----


class _Sizes:
    """The bounds, and the true sizes, of a program or a body."""

    __slots__ = ("_dominated", "_inside", "_instance", "_numbers", "bounds", "sizes")

    def __init__(self, bounds: dict[str, int], sizes: Values) -> None:
        self.bounds: dict[str, int] = bounds
        self.sizes: Values = sizes
        self._numbers: dict[Any, Any] = dict(zip(bounds, sizes, strict=True))
        self._inside: dict[Any, Any] = {}
        self._instance: Instance = Instance(bounds)
        self._dominated: set[SymbolicSize] = set()

    def bound(self, x: Any) -> Any:
        """Return a size, or whatever holds sizes, as it is at the bounds."""
        return self._instance.value(x)

    def most(self, n: Dim) -> int:
        """Return the size at the bounds, which it nowhere exceeds."""
        self._check_dominated(n)
        return self.bound(n)

    def aval(self, aval: ShapedArray) -> ShapedArray:
        """Return an aval at the bounds, if it is nowhere larger."""
        if not _holds_names(aval.shape):
            return aval
        for n in aval.shape:
            self._check_dominated(n)
        return self._instance.aval(aval)

    def number(self, n: Dim | SymbolicSize) -> Any:
        """Return the true size."""
        if not isinstance(n, SymbolicSize):
            return np.int32(n)
        found = self._numbers.get(n)
        if found is None:
            if self.bound(n) > _MOST:
                raise NoPaddingError(f"int32 does not count to the length {n}")
            found = self._numbers[n] = n.computed(self._value, _joined)
        return found

    def _value(self, x: str | int) -> Any:
        return np.int32(x) if isinstance(x, int) else self._numbers[x]

    def inside(self, shape: Shape, axes: Sequence[int]) -> Any:
        """Return where an array has no padding along `axes`."""
        lengths = self.bound(shape)
        mask: Any = None
        for axis in axes:
            n = shape[axis]
            assert dims.is_symbolic(n), (shape, axis)
            row = self._inside.get(n)
            if row is None:
                count = broadcasted_iota(INT32, (lengths[axis],), 0)
                row = self._inside[n] = lt(count, self.number(n))
            wide = broadcast_in_dim(row, lengths, (axis,)) if len(shape) > 1 else row
            mask = wide if mask is None else and_(mask, wide)
        return mask

    def filled(
        self, x: PaddedValue, value: Any, axes: Sequence[int] | None = None
    ) -> PaddedValue:
        """Return `x` with a number in the padding of `axes`."""
        axes = x.padded_axes(axes)
        if type(value) is PaddedValue:
            if value.known is None:
                inside = self.inside(x.aval.shape, axes) if axes else None
                made = select_n(inside, value.value, x.value) if axes else x.value
                return PaddedValue(made, x.aval)
            value = value.known
        number = np.asarray(value).astype(x.aval.dtype)[()]
        missing = [i for i in axes if not is_same_number(x.fills[i], number)]
        if not missing:
            return x
        key = (number.tobytes(), *missing)
        found = x.filled.get(key)
        if found is None:
            found = x.filled[key] = self._filled(x, number, missing)
        return found

    def _filled(self, x: PaddedValue, number: Any, axes: Sequence[int]) -> PaddedValue:
        inside = self.inside(x.aval.shape, axes)
        value = select_n(inside, number_of(number, x.aval.dtype), x.value)
        fills = [
            number if i in axes else (old if is_same_number(old, number) else None)
            for i, old in enumerate(x.fills)
        ]
        return PaddedValue(value, x.aval, fills)

    # ---- whether no size is larger than its bound's ----

    def _check_dominated(self, n: Dim | SymbolicSize) -> None:
        if not isinstance(n, SymbolicSize) or n in self._dominated:
            return
        if not _is_increasing(n) and not self._is_largest_at_the_bounds(n):
            raise NoPaddingError(f"the length {n} is not the longest at the bounds")
        self._dominated.add(n)

    def _is_largest_at_the_bounds(self, n: SymbolicSize) -> bool:
        names = names_of(n)
        ranges = [range(1, self.bounds[name] + 1) for name in names]  # 0 is in none
        if np.prod([len(r) for r in ranges]) > _MOST_POINTS:
            return False
        most = evaluate(n, self.bounds)
        return all(
            evaluate(n, dict(zip(names, point, strict=True))) <= most
            for point in product(*ranges)
        )


def _is_increasing(n: Any) -> bool:
    """Return whether a size surely grows with its names, or is constant."""
    if not isinstance(n, SymbolicSize):
        return True
    for monomial, k in n.terms.items():
        if monomial and k < 0:
            return False
        for text, _ in monomial:
            made = n.scope.operations.get(text)
            if made is None or made.name in ("max", "min"):
                parts = () if made is None else made[1:]
            elif made.name == "floordiv" and isinstance(made.y, int) and made.y > 0:
                parts = (made.x,)
            else:
                return False
            if not all(map(_is_increasing, parts)):
                return False
            if made is not None and len(monomial) > 1 and not _at_least_zero(made):
                return False
    return True


def _at_least_zero(made: Any) -> bool:
    return all(dims.is_surely_at_least(part, 0) for part in made[1:])


def _joined(name: str, x: Any, y: Any) -> Any:
    for neutral, of in ((0, "add"), (1, "mul")):
        if name == of and type(x) is np.int32 and x == neutral:
            return y
    return _MEANS[name](x, y)


def _floor_divide(x: Any, y: Any) -> Any:
    """Divide by a positive number, as Python does."""
    quotient, left = div(x, y), rem(x, y)
    return select_n(lt(left, np.int32(0)), quotient, sub(quotient, np.int32(1)))


def _modulo(x: Any, y: Any) -> Any:
    left = rem(x, y)
    return select_n(lt(left, np.int32(0)), left, add(left, y))


_MEANS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": add,
    "mul": mul,
    "floordiv": _floor_divide,
    "mod": _modulo,
    "max": max_,
    "min": min_,
}
