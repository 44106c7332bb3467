"""Operations whose sizes are names: what stands in a program for every size.

A size that is a name is a `?` in a type, so an operation that gives a shape takes it as an
operand. `Builder.sizes` has the values of the names, as int32 of rank 0, and what is
computed of them is written where it is first needed. The engine compiles no such program:
it puts numbers for the names first, which turns each operation here into its static form.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeGuard

import numpy as np

from imprint._src.errors import ConcretizationError
from imprint._src.stablehlo.elementwise import Elementwise
from imprint._src.stablehlo.types import (
    TensorType,
    Value,
    list_text,
    names_of,
    signature,
    tensor,
)

_I32: Final = np.dtype(np.int32)
SIZE: Final = tensor((), _I32)
"""The type of a size as a value."""


def is_named(n: Any) -> TypeGuard[Any]:
    """Tell whether a size is an expression of names: it can be computed from them."""
    return type(n) is not int and hasattr(n, "computed")


class Sized(Elementwise):
    """The part of `Builder` for sizes that are names."""

    sizes: dict[str, Value]
    """The values of the names."""
    _computed: dict[Any, Value]
    """Those of the expressions that were needed so far."""

    # ---- the values of sizes ----

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
        return self.taking(text, [x], SIZE)

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

    # ---- operations that take a shape ----

    def shaped(self, text: str, operands: Sequence[Value], out: TensorType) -> Value:
        """Write an operation whose last operand is the shape of its result.

        Args:
            text: the operation, with `{}` where the names of its operands stand.
            operands: those before the shape.
            out: the type of the result.
        """
        return self.taking(text, [*operands, self.vector(out.shape)], out)

    def taking(self, text: str, operands: Sequence[Value], out: TensorType) -> Value:
        """Write an operation; `{}` stands for the names of the operands."""
        filled = text.replace("{}", names_of(operands))
        return self.op(filled, out, signature(operands, (out,)))

    def spread(
        self, x: Value, out: TensorType, dimensions: Sequence[int] = ()
    ) -> Value:
        """Repeat `x`; its axis i becomes axis `dimensions[i]` of the result."""
        dims = list_text(dimensions)
        text = f"stablehlo.dynamic_broadcast_in_dim {{}}, dims = {dims}"
        return self.shaped(text, [x], out)

    def sliced(
        self, x: Value, spans: Sequence[Sequence[Any]], out: TensorType
    ) -> Value:
        """Take a part of `x`; `spans` are starts, limits and strides."""
        return self.taking(
            "stablehlo.real_dynamic_slice {}", [x, *map(self.vector, spans)], out
        )

    def sliced_at(self, x: Value, starts: Sequence[Value], out: TensorType) -> Value:
        """Take a part of `x` as large as the result, from starts that are clamped."""
        begins = [
            self._moved_inside(self._as_int32(at), n, size)
            for at, n, size in zip(starts, x.shape, out.shape, strict=True)
        ]
        first = self._stacked(begins)
        # Such a sum as the limit is what the engine knows as a slice from traced starts.
        limit = self.binary("stablehlo.add", first, self.vector(out.shape))
        spans = first, limit, self.vector([1] * x.ndim)
        return self.taking("stablehlo.real_dynamic_slice {}", [x, *spans], out)

    def _moved_inside(self, at: Value, n: Any, size: Any) -> Value:
        last = self.binary("stablehlo.maximum", self.size(n - size), self.size(0))
        above = self.binary("stablehlo.maximum", at, self.size(0))
        return self.binary("stablehlo.minimum", above, last)

    def _as_int32(self, x: Value) -> Value:
        if x.dtype == _I32:
            return x
        return self.taking("stablehlo.convert {}", [x], SIZE)

    def _stacked(self, numbers: Sequence[Value]) -> Value:
        one = tensor((1,), _I32)
        parts = [self.taking("stablehlo.reshape {}", [x], one) for x in numbers]
        out = tensor((len(parts),), _I32)
        return self.taking("stablehlo.concatenate {}, dim = 0", parts, out)


def _floor_divide(b: Sized, x: Value, y: Value) -> Value:
    rest = _remainder(b, x, y)
    return b.binary("stablehlo.divide", b.binary("stablehlo.subtract", x, rest), y)


def _remainder(b: Sized, x: Value, y: Value) -> Value:
    rest = b.binary("stablehlo.remainder", x, y)  # has the sign of x; y is positive
    return b.binary("stablehlo.remainder", b.binary("stablehlo.add", rest, y), y)


_JOINS: Final[dict[str, Callable[[Sized, Value, Value], Value]]] = {
    "add": lambda b, x, y: b.binary("stablehlo.add", x, y),
    "mul": lambda b, x, y: b.binary("stablehlo.multiply", x, y),
    "floordiv": _floor_divide,
    "mod": _remainder,
    "max": lambda b, x, y: b.binary("stablehlo.maximum", x, y),
    "min": lambda b, x, y: b.binary("stablehlo.minimum", x, y),
}
