"""The builder: one method for each StableHLO operation that a lowering rule needs.

A `Builder` writes the body of one function of a `Module`. Each method appends one line of
text and returns the `Value` that it defines. Methods have the dialect's names. CHLO is
StableHLO's companion dialect for functions that XLA expands itself (`erf_inv`, `lgamma`).
Text, not bindings: a line costs 0.5 us and nothing to import. A size that is a name is a
`?` in a type, so an operation with such a result takes its shape as an operand. `sizes`
has the values of the names; XLA compiles such a program after numbers replaced them.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.errors import ConcretizationError
from imprint._src.stablehlo.module import ModuleWriter
from imprint._src.stablehlo.types import (
    SIZE,
    TOKEN,
    TensorType,
    Value,
    drop_axes,
    is_named,
    list_text,
    literal,
    names_of,
    signature,
    tensor,
)

Comparison = Literal["EQ", "NE", "LT", "LE", "GT", "GE"]
Region = Callable[["Builder", tuple[Value, ...]], Sequence[Value]]

_BOOL: Final = np.dtype(bool)
_I32: Final = np.dtype(np.int32)
_OF_TWO_BITS: Final = (dt.int2, dt.uint2)


def _unary(name: str) -> "Callable[[Builder, Value], Value]":
    """Return the method that writes `name x`, of the operand's type."""

    def write(b: "Builder", x: Value) -> Value:
        return b.op(f"{name} {x.name}", x.type)

    return write


def _binary(name: str) -> "Callable[[Builder, Value, Value], Value]":
    """Return the method that writes `name x, y`, all of one type."""

    def write(b: "Builder", x: Value, y: Value) -> Value:
        return b.op(f"{name} {x.name}, {y.name}", x.type)

    return write


def _chlo_unary(name: str) -> "Callable[[Builder, Value], Value]":
    """Return the method of a CHLO operation, which spells out the types."""

    def write(b: "Builder", x: Value) -> Value:
        return b.op(f"{name} {x.name}", x.type, f"{x.type} -> {x.type}")

    return write


def _chlo_binary(name: str) -> "Callable[[Builder, Value, Value], Value]":
    """Return the method of a CHLO operation on two operands of one type."""

    def write(b: "Builder", x: Value, y: Value) -> Value:
        types = f"{x.type}, {y.type} -> {x.type}"
        return b.op(f"{name} {x.name}, {y.name}", x.type, types)

    return write


class Builder:
    """Writes the body of one function."""

    def __init__(self, module: ModuleWriter, parent: "Builder | None" = None) -> None:
        self.module = module
        self.lines: list[str] = []
        self.tokens: dict[str, Value] = {} if parent is None else {**parent.tokens}
        """The token after the last operation of each ordered effect."""
        self.location: str = "" if parent is None else parent.location
        self.sizes: dict[str, Value] = {} if parent is None else parent.sizes
        self._computed: dict[Any, Value] = (
            {} if parent is None else {**parent._computed}
        )
        self._depth = 0 if parent is None else parent._depth + 1
        self._count = 0
        self._prefix = "%" if parent is None else f"%r{self._depth}_"

    # ---- lines ----

    def op(self, text: str, result: TensorType, signature: str | None = None) -> Value:
        """Append `%n = text : signature`; the signature is the result type if None."""
        name = f"{self._prefix}{self._count}"
        self._count += 1
        self.lines.append(
            f"{name} = {text} : {signature or result.text}{self.location}"
        )
        return Value(name, result)

    def ops(
        self, text: str, results: Sequence[TensorType], signature: str
    ) -> tuple[Value, ...]:
        """Append an operation with any number of results."""
        name = f"{self._prefix}{self._count}"
        self._count += 1
        if not results:
            self.lines.append(f"{text} : {signature}{self.location}")
            return ()
        if len(results) == 1:
            self.lines.append(f"{name} = {text} : {signature}{self.location}")
            return (Value(name, results[0]),)
        self.lines.append(
            f"{name}:{len(results)} = {text} : {signature}{self.location}"
        )
        return tuple(Value(f"{name}#{i}", t) for i, t in enumerate(results))

    def region(
        self,
        args: Sequence[TensorType],
        body: Region,
        *,
        ends: str = "stablehlo.return",
    ) -> tuple[str, int]:
        """Return the text of a region `^bb0(args): body`, and its number of results."""
        inner = Builder(self.module, self)
        inner._prefix = f"%r{self._depth + 1}_{self._count}_"
        values = tuple(Value(f"{inner._prefix}a{i}", t) for i, t in enumerate(args))
        results = tuple(body(inner, values))
        head = ", ".join(f"{v.name}: {v.type}" for v in values)
        block = f"^bb0({head}):\n" if values else ""
        lines = "".join(f"{line}\n" for line in inner.lines)
        return f"{{\n{block}{lines}{_return(ends, results)}\n}}", len(results)

    def call(
        self,
        name: str,
        args: Sequence[Value],
        results: Sequence[TensorType],
        *,
        inlineable: str = "",
    ) -> tuple[Value, ...]:
        """Call another function of the module.

        Args:
            name: of the function.
            args: its arguments.
            results: the types of its results.
            inlineable: whether XLA shall dissolve the call, in its words; empty if it
                decides.
        """
        text = f"func.call @{name}({names_of(args)})"
        if inlineable:
            text += f' {{mhlo.frontend_attributes = {{inlineable = "{inlineable}"}}}}'
        return self.ops(text, results, signature(args, results))

    def create_token(self) -> Value:
        """Begin an order of operations that have effects."""
        return self.op("stablehlo.create_token", TOKEN)

    def materialize(self, x: Value) -> Value:
        """Write `x` to memory: its producer is not fused with its users.

        XLA:CPU drops optimization barriers before it fuses, but keeps a call.
        """
        arg = Value("%arg0", x.type)

        def define(symbol: str) -> tuple[TensorType, ...]:
            body = Builder(self.module)
            self.module.add(
                function_text(symbol, body, [(arg, "")], [arg], public=False)
            )
            return (x.type,)

        symbol, _ = self.module.function(x.type, "materialize", define)
        return self.call(symbol, [x], [x.type], inlineable="false")[0]

    # ---- constants ----

    def constant(self, array: Any, dtype: Any = None) -> Value:
        """Write an array, a number or a size as a constant of `dtype`."""
        if is_named(array):
            return self.convert(self.size(array), dtype)
        value = np.asarray(array, dtype)
        return self.op(
            f"stablehlo.constant {literal(value)}", tensor(value.shape, value.dtype)
        )

    def full(self, shape: Sequence[int], fill: Any, dtype: Any) -> Value:
        """Write a constant with all elements equal."""
        value = np.asarray(fill, dtype)
        out = tensor(tuple(shape), value.dtype)
        if not out.is_static:
            return self.dynamic_broadcast(self.constant(value), out)
        return self.op(f"stablehlo.constant {literal(value)}", out)

    def iota(self, shape: Sequence[int], dtype: Any, dimension: int) -> Value:
        """Count 0, 1, 2, … along `dimension`."""
        out = tensor(tuple(shape), np.dtype(dtype))
        if not out.is_static:
            text = f"stablehlo.dynamic_iota {{}}, dim = {dimension}"
            return self.shaped_op(text, [], out)
        return self.op(f"stablehlo.iota dim = {dimension}", out)

    # ---- elementwise ----

    cbrt = _unary("stablehlo.cbrt")
    ceil = _unary("stablehlo.ceil")
    cosine = _unary("stablehlo.cosine")
    count_leading_zeros = _unary("stablehlo.count_leading_zeros")
    exponential = _unary("stablehlo.exponential")
    exponential_minus_one = _unary("stablehlo.exponential_minus_one")
    floor = _unary("stablehlo.floor")
    log = _unary("stablehlo.log")
    log_plus_one = _unary("stablehlo.log_plus_one")
    logistic = _unary("stablehlo.logistic")
    negate = _unary("stablehlo.negate")
    not_ = _unary("stablehlo.not")
    popcnt = _unary("stablehlo.popcnt")
    round_nearest_even = _unary("stablehlo.round_nearest_even")
    round_nearest_afz = _unary("stablehlo.round_nearest_afz")
    rsqrt = _unary("stablehlo.rsqrt")
    sign = _unary("stablehlo.sign")
    sine = _unary("stablehlo.sine")
    sqrt = _unary("stablehlo.sqrt")
    tan = _unary("stablehlo.tan")
    tanh = _unary("stablehlo.tanh")
    acos = _chlo_unary("chlo.acos")
    acosh = _chlo_unary("chlo.acosh")
    asin = _chlo_unary("chlo.asin")
    asinh = _chlo_unary("chlo.asinh")
    atan = _chlo_unary("chlo.atan")
    atanh = _chlo_unary("chlo.atanh")
    cosh = _chlo_unary("chlo.cosh")
    sinh = _chlo_unary("chlo.sinh")
    bessel_i1e = _chlo_unary("chlo.bessel_i1e")
    digamma = _chlo_unary("chlo.digamma")
    erf = _chlo_unary("chlo.erf")
    erf_inv = _chlo_unary("chlo.erf_inv")
    erfc = _chlo_unary("chlo.erfc")
    lgamma = _chlo_unary("chlo.lgamma")
    add = _binary("stablehlo.add")
    and_ = _binary("stablehlo.and")
    atan2 = _binary("stablehlo.atan2")
    divide = _binary("stablehlo.divide")
    maximum = _binary("stablehlo.maximum")
    minimum = _binary("stablehlo.minimum")
    multiply = _binary("stablehlo.multiply")
    or_ = _binary("stablehlo.or")
    power = _binary("stablehlo.power")
    remainder = _binary("stablehlo.remainder")
    shift_left = _binary("stablehlo.shift_left")
    shift_right_arithmetic = _binary("stablehlo.shift_right_arithmetic")
    shift_right_logical = _binary("stablehlo.shift_right_logical")
    subtract = _binary("stablehlo.subtract")
    xor = _binary("stablehlo.xor")
    polygamma = _chlo_binary(
        "chlo.polygamma"
    )  # derivative number `x` of digamma at `y`
    mulhi = _chlo_binary("chlo.mulhi")  # the upper half of the bits of the product
    zeta = _chlo_binary("chlo.zeta")

    def unary(self, name: str, x: Value) -> Value:
        """Append `name x`, result of the operand's type."""
        return self.op(f"{name} {x.name}", x.type)

    def binary(self, name: str, x: Value, y: Value) -> Value:
        """Append `name x, y`, all of one type."""
        return self.op(f"{name} {x.name}, {y.name}", x.type)

    def abs(self, x: Value) -> Value:
        """`stablehlo.abs`: real also for a complex operand."""
        if x.dtype.kind == "c":
            return self._part("stablehlo.abs", x)
        return self.unary("stablehlo.abs", x)

    def real(self, x: Value) -> Value:
        """`stablehlo.real`: the result is real."""
        return self._part("stablehlo.real", x)

    def imag(self, x: Value) -> Value:
        """`stablehlo.imag`: the result is real."""
        return self._part("stablehlo.imag", x)

    def _part(self, name: str, x: Value) -> Value:
        out = tensor(x.shape, np.dtype(f"f{x.dtype.itemsize // 2}"))
        return self.op(f"{name} {x.name}", out, f"({x.type}) -> {out}")

    def is_finite(self, x: Value) -> Value:
        """`stablehlo.is_finite`: the result is boolean."""
        out = tensor(x.shape, np.dtype(bool))
        return self.op(f"stablehlo.is_finite {x.name}", out, f"({x.type}) -> {out}")

    def complex(self, real: Value, imag: Value) -> Value:
        """`stablehlo.complex`: join real and imaginary part."""
        dtype = np.dtype(f"c{2 * real.dtype.itemsize}")
        out = tensor(real.shape, dtype)
        return self.op(
            f"stablehlo.complex {real.name}, {imag.name}",
            out,
            f"({real.type}, {imag.type}) -> {out}",
        )

    def compare(
        self, x: Value, y: Value, direction: Comparison, *, total: bool = False
    ) -> Value:
        """Compare elementwise; floats as IEEE says, complex only for equality.

        If `total`, floats compare by their bits: -NaN, -inf, -0.0, 0.0, inf, NaN.
        """
        kind = "TOTALORDER" if total else "FLOAT"
        if x.dtype.kind in "bu" or x.dtype.name.startswith("uint"):
            kind = "UNSIGNED"
        elif x.dtype.kind == "i" or x.dtype.name.startswith("int"):
            kind = "SIGNED"
        out = tensor(x.shape, _BOOL)
        return self.op(
            f"stablehlo.compare {direction}, {x.name}, {y.name}, {kind}",
            out,
            signature((x, y), (out,)),
        )

    def select(self, pred: Value, on_true: Value, on_false: Value) -> Value:
        """Choose elementwise; `pred` has the shape of the others or rank 0."""
        return self.op(
            f"stablehlo.select {pred.name}, {on_true.name}, {on_false.name}",
            on_true.type,
            f"{pred.type}, {on_true.type}",
        )

    def clamp(self, low: Value, x: Value, high: Value) -> Value:
        """Limit `x`; the limits have its shape or rank 0."""
        return self.op(
            f"stablehlo.clamp {low.name}, {x.name}, {high.name}",
            x.type,
            signature((low, x, high), (x.type,)),
        )

    # ---- conversion and shape ----

    def convert(self, x: Value, dtype: Any) -> Value:
        """Convert the elements to another dtype."""
        return self._retyped(
            f"stablehlo.convert {x.name}", x, tensor(x.shape, np.dtype(dtype))
        )

    def bitcast_convert(self, x: Value, shape: Sequence[int], dtype: Any) -> Value:
        """Read the bits as another dtype."""
        out = tensor(tuple(shape), np.dtype(dtype))
        return self._retyped(f"stablehlo.bitcast_convert {x.name}", x, out)

    def reduce_precision(
        self, x: Value, exponent_bits: int, mantissa_bits: int
    ) -> Value:
        """Round floats to a format of fewer bits."""
        bits = f"e{exponent_bits}m{mantissa_bits}"
        return self.op(f"stablehlo.reduce_precision {x.name}, format = {bits}", x.type)

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """Give another shape of the same size."""
        out = tensor(tuple(shape), x.dtype)
        if not out.is_static:
            return self.shaped_op("stablehlo.dynamic_reshape {}", [x], out)
        return self._retyped(f"stablehlo.reshape {x.name}", x, out)

    def broadcast_in_dim(
        self, x: Value, shape: Sequence[int], dimensions: Sequence[int]
    ) -> Value:
        """Repeat `x`; its axis i becomes axis `dimensions[i]`."""
        out = tensor(tuple(shape), x.dtype)
        is_like = out is x.type or (out.is_static and out.text == x.type.text)
        if is_like and tuple(dimensions) == tuple(range(x.ndim)):
            return x
        if not out.is_static:
            return self.dynamic_broadcast(x, out, dimensions)
        return self._retyped(
            f"stablehlo.broadcast_in_dim {x.name}, dims = {list_text(dimensions)}",
            x,
            out,
        )

    def transpose(self, x: Value, permutation: Sequence[int]) -> Value:
        """Permute the axes: axis i of the result is axis `permutation[i]` of `x`."""
        out = tensor(tuple(x.shape[p] for p in permutation), x.dtype)
        return self._retyped(
            f"stablehlo.transpose {x.name}, dims = {list_text(permutation)}", x, out
        )

    def reverse(self, x: Value, dimensions: Sequence[int]) -> Value:
        """Reverse the order of the elements along axes."""
        return self.op(
            f"stablehlo.reverse {x.name}, dims = {list_text(dimensions)}", x.type
        )

    def slice(
        self,
        x: Value,
        start: Sequence[int],
        limit: Sequence[int],
        strides: Sequence[int],
    ) -> Value:
        """Take `start:limit:stride` of each axis."""
        out = tensor(_lengths(start, limit, strides), x.dtype)
        if not x.type.is_static:
            spans = map(self.vector, (start, limit, strides))
            return self.dynamic_op("stablehlo.real_dynamic_slice {}", [x, *spans], out)
        ranges = ", ".join(
            f"{lo}:{hi}" if step == 1 else f"{lo}:{hi}:{step}"
            for lo, hi, step in zip(start, limit, strides, strict=True)
        )
        return self._retyped(f"stablehlo.slice {x.name} [{ranges}]", x, out)

    def pad(
        self,
        x: Value,
        fill: Value,
        low: Sequence[int],
        high: Sequence[int],
        interior: Sequence[int],
    ) -> Value:
        """Pad each axis with `fill`; negative padding cuts."""
        shape = tuple(
            lo + hi + n + (gap and _at_least_0(n - 1) * gap)
            for n, lo, hi, gap in zip(x.shape, low, high, interior, strict=True)
        )
        out = tensor(shape, x.dtype)
        if any(map(is_named, (*low, *high))):
            widths = map(self.vector, (low, high, interior))
            return self.dynamic_op("stablehlo.dynamic_pad {}", [x, fill, *widths], out)
        return self.op(
            f"stablehlo.pad {x.name}, {fill.name}, low = {list_text(low)}, "
            f"high = {list_text(high)}, interior = {list_text(interior)}",
            out,
            signature((x, fill), (out,)),
        )

    def concatenate(self, xs: Sequence[Value], dimension: int) -> Value:
        """Join along an axis; XLA:CPU 0.10 to 0.12 ends the process where elements have 2 bits."""
        first = xs[0]
        if first.dtype in _OF_TWO_BITS:
            wide = self.concatenate([self.convert(x, np.int8) for x in xs], dimension)
            return self.convert(wide, first.dtype)
        length = sum(x.shape[dimension] for x in xs)
        shape = (*first.shape[:dimension], length, *first.shape[dimension + 1 :])
        out = tensor(shape, first.dtype)
        return self.op(
            f"stablehlo.concatenate {names_of(xs)}, dim = {dimension}",
            out,
            signature(xs, (out,)),
        )

    def _retyped(self, text: str, x: Value, out: TensorType) -> Value:
        return self.op(text, out, f"({x.type}) -> {out}")

    # ---- control flow and reduction ----

    def case(
        self, index: Value, branches: Sequence[Region], types: Sequence[TensorType]
    ) -> tuple[Value, ...]:
        """Run the branch whose number is `index`; the last one if there is none.

        Args:
            index: an int32 of rank 0.
            branches: write the branches, which have no arguments and use outer values.
            types: the types of the results of each.
        """
        regions = ", ".join(self.region((), branch)[0] for branch in branches)
        return self.ops(
            f'"stablehlo.case"({index.name}) ({regions})',
            types,
            signature((index,), types),
        )

    def while_loop(
        self, carry: Sequence[Value], condition: Region, body: Region
    ) -> tuple[Value, ...]:
        """Run `body` on the carry as long as `condition` of it, a bool, is true."""
        types = [x.type for x in carry]
        self.module.loops += 1
        try:
            regions = ", ".join(self.region(types, r)[0] for r in (condition, body))
        finally:
            self.module.loops -= 1
        return self.ops(
            f'"stablehlo.while"({names_of(carry)}) ({regions})',
            types,
            signature(carry, types),
        )

    def reduce(
        self, x: Value, init: Value, op: str, dimensions: Sequence[int]
    ) -> Value:
        """Reduce axes with a StableHLO operation such as `add`."""
        out = tensor(drop_axes(x.shape, dimensions), x.dtype)
        return self.op(
            f"stablehlo.reduce({x.name} init: {init.name}) applies stablehlo.{op} "
            f"across dimensions = {list_text(dimensions)}",
            out,
            signature((x, init), (out,)),
        )

    def optimization_barrier(self, xs: Sequence[Value]) -> tuple[Value, ...]:
        """Keep the compiler from moving computation across."""
        types = [x.type for x in xs]
        if not xs:
            return ()
        return self.ops(
            f"stablehlo.optimization_barrier {names_of(xs)}",
            types,
            ", ".join(t.text for t in types),
        )

    def sharding_constraint(self, x: Value, sharding: str) -> Value:
        """Say how the values are spread; `sharding` is a mesh and axes, in sdy's words."""
        return self.op(f"sdy.sharding_constraint {x.name} <{sharding}>", x.type)

    # ---- sizes that are names ----

    def size(self, n: Any) -> Value:
        """Return a size as an int32 of rank 0."""
        found = self._computed.get(n)
        if found is None:
            found = self._computed[n] = (
                n.computed(self._of, self._joined) if is_named(n) else self._int(n)
            )
        return found

    def vector(self, numbers: Sequence[Any]) -> Value:
        """Return sizes as an int32 of rank 1."""
        out = tensor((len(numbers),), _I32)
        if not any(is_named(n) for n in numbers):
            items = ", ".join(map(str, numbers))
            return self.op(f"stablehlo.constant dense<[{items}]>", out)
        one = tensor((1,), _I32)
        parts = [
            self.op(f"stablehlo.reshape {x.name}", one, signature((x,), (one,)))
            for x in map(self.size, numbers)
        ]
        return self.op(
            f"stablehlo.concatenate {names_of(parts)}, dim = 0",
            out,
            signature(parts, (out,)),
        )

    def _int(self, n: int) -> Value:
        return self.op(f"stablehlo.constant dense<{n}>", SIZE)

    def get_dimension_size(self, x: Value, dimension: int) -> Value:
        """Return the length of an axis."""
        text = f"stablehlo.get_dimension_size {{}}, dim = {dimension}"
        return self.dynamic_op(text, [x], SIZE)

    def size_named(self, name: str) -> Value:
        """Return the value of a name."""
        found = self.sizes.get(name)
        if found is None:
            raise ConcretizationError(
                f"expected a program whose sizes are numbers, got the size {name}. Sizes with "
                "names are for make_jaxpr, eval_shape and export: compile for a shape of "
                "numbers."
            )
        return found

    def _of(self, n: str | int) -> Value:
        return self.size(n) if isinstance(n, int) else self.size_named(n)

    def _joined(self, name: str, x: Value, y: Value) -> Value:
        return _JOINS[name](self, x, y)

    def shaped_op(self, text: str, operands: Sequence[Value], out: TensorType) -> Value:
        """Write an operation whose last operand is the shape of its result.

        Args:
            text: the operation, with `{}` in the place of its operands.
            operands: those before the shape.
            out: the type of the result.
        """
        return self.dynamic_op(text, [*operands, self.vector(out.shape)], out)

    def dynamic_op(
        self, text: str, operands: Sequence[Value], out: TensorType
    ) -> Value:
        """Write an operation; `{}` is replaced by the names of the operands."""
        filled = text.replace("{}", names_of(operands))
        return self.op(filled, out, signature(operands, (out,)))

    def dynamic_broadcast(
        self, x: Value, out: TensorType, dimensions: Sequence[int] = ()
    ) -> Value:
        """Repeat `x`; its axis i becomes axis `dimensions[i]` of the result."""
        dims = list_text(dimensions)
        text = f"stablehlo.dynamic_broadcast_in_dim {{}}, dims = {dims}"
        return self.shaped_op(text, [x], out)


def function_text(
    name: str,
    builder: Builder,
    args: Sequence[tuple[Value, str]],
    results: Sequence[Value],
    *,
    public: bool,
    result_attrs: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """Return the text of a function; each argument comes with its attributes."""
    head = ", ".join(f"{v.name}: {v.type}{attrs}" for v, attrs in args)
    outs = ", ".join(
        f"{v.type.text}{result_attrs.get(i, '')}" for i, v in enumerate(results)
    )
    visibility = "public" if public else "private"
    lines = "".join(f"    {line}\n" for line in builder.lines)
    return (
        f"  func.func {visibility} @{name}({head}) -> ({outs}) {{\n{lines}"
        f"    {_return('return', results)}\n  }}\n"
    )


def _return(word: str, results: Sequence[Value]) -> str:
    if not results:
        return word
    return f"{word} {names_of(results)} : {', '.join(v.type.text for v in results)}"


def _lengths(
    start: Sequence[int], limit: Sequence[int], strides: Sequence[int]
) -> tuple[int, ...]:
    return tuple(
        _at_least_0(-(-(hi - lo) // step))
        for lo, hi, step in zip(start, limit, strides, strict=True)
    )


def _at_least_0(n: Any) -> Any:
    return n.maximum(0) if is_named(n) else max(0, n)


# ---- the arithmetic of sizes ----


def _floor_divide(b: Builder, x: Value, y: Value) -> Value:
    rest = _remainder(b, x, y)
    return b.divide(b.subtract(x, rest), y)


def _remainder(b: Builder, x: Value, y: Value) -> Value:
    rest = b.remainder(x, y)  # has the sign of x; y is positive
    return b.remainder(b.add(rest, y), y)


_JOINS: Final[dict[str, Callable[[Builder, Value, Value], Value]]] = {
    "add": lambda b, x, y: b.add(x, y),
    "mul": lambda b, x, y: b.multiply(x, y),
    "floordiv": _floor_divide,
    "mod": _remainder,
    "max": lambda b, x, y: b.maximum(x, y),
    "min": lambda b, x, y: b.minimum(x, y),
}
