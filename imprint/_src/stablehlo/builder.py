"""The builder: one method for each StableHLO operation that a lowering rule needs.

A `ModuleWriter` collects functions; a `Builder` writes the body of one. Each method
appends one line of text and returns the `Value` it defines. Names of methods and
attributes are the dialect's. Text, not bindings: a line costs 0.5 us and nothing to
import. Constants, branches, reductions and products are here; see `elementwise` and
`rearranging` for the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from imprint._src.stablehlo.mesh import MeshAxis
from imprint._src.stablehlo.sized import is_named
from imprint._src.stablehlo.types import (
    TOKEN,
    TensorType,
    Value,
    list_text,
    literal,
    names_of,
    signature,
    tensor,
)
from imprint._src.stablehlo.windows import Windowed, Windows

Region = Callable[["Builder", tuple[Value, ...]], Sequence[Value]]


class ModuleWriter:
    """A module under construction: its functions by key, with unique names."""

    def __init__(self, name: str, names: tuple[str, ...] = ()) -> None:
        self.name = name
        self.names = names
        """Of sizes; each function but `main` takes their values before all else."""
        self._texts: list[str] = []
        self._names: set[str] = set()
        self._by_key: dict[Any, tuple[str, tuple[TensorType, ...], Any]] = {}
        self.mesh: tuple[tuple[str, int], ...] = ()
        """Names and sizes of the axes of the devices that it runs on; one if empty."""
        self.manual: frozenset[str] = frozenset()
        """The axes for one device of which the present function is written."""
        self.locations: dict[str, str] = {}
        self.partitions = 1
        """Over how many devices the program is spread."""
        self.callbacks: list[Callable[..., Any]] = []
        """The functions of the host that it calls, by their index."""

    def unique_name(self, wanted: str) -> str:
        """Return `wanted`, made a valid symbol and unique in this module."""
        base = "".join(c if c.isalnum() or c == "_" else "_" for c in wanted) or "f"
        base = base if not base[0].isdigit() else f"_{base}"
        name, count = base, 0
        while name in self._names:
            name, count = f"{base}_{count}", count + 1
        self._names.add(name)
        return name

    def function(
        self, key: Any, wanted: str, define: Callable[[str], tuple[TensorType, ...]]
    ) -> tuple[str, tuple[TensorType, ...]]:
        """Return name and result types of the function for the object `key`.

        `define(name)` writes it, the first time; later calls share it.
        """
        place = id(key), self.manual
        found = self._by_key.get(place)
        if found is None:
            name = self.unique_name(wanted)
            found = name, define(name), key  # the key is held, so its id stays taken
            self._by_key[place] = found
        return found[0], found[1]

    def add(self, text: str) -> None:
        """Append the text of a finished function."""
        self._texts.append(text)

    def location(self, place: str) -> str:
        """Return the alias of a location such as `"f.py":3:0`."""
        alias = self.locations.get(place)
        if alias is None:
            alias = self.locations[place] = f"#loc{len(self.locations) + 1}"
        return alias

    def mesh_axis(self, name: Any) -> MeshAxis | None:
        """Return an axis for one device of which the present function is written."""
        if name not in self.manual:
            return None
        names = [axis for axis, _ in self.mesh]
        sizes = tuple([size for _, size in self.mesh])
        others = tuple([axis for axis in names if axis not in self.manual])
        return MeshAxis(sizes, names.index(name), others)

    def text(self) -> str:
        """Return the whole module."""
        head = (
            f"module @{self.name} attributes {{mhlo.num_partitions = "
            f"{self.partitions} : i32, mhlo.num_replicas = 1 : i32}} {{\n"
        )
        aliases = "".join(f"{a} = loc({p})\n" for p, a in self.locations.items())
        return f"{head}{''.join(reversed(self._texts))}}}\n{aliases}"


class Builder(Windows):
    """Writes the body of one function."""

    def __init__(self, module: ModuleWriter, parent: "Builder | None" = None) -> None:
        self.module = module
        self.lines: list[str] = []
        self.tokens: dict[str, Value] = {} if parent is None else {**parent.tokens}
        """By the name of an ordered effect, what its last operation left."""
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

    def joiner(self, body: str, scalars: Sequence[TensorType]) -> str:
        """Write a region that joins two sets of scalars as a function; return its name."""
        symbol = self.module.unique_name("join")
        listed = ", ".join([t.text for t in scalars])
        self.module.add(
            f'  "func.func"() <{{function_type = ({listed}, {listed}) -> ({listed}), '
            f'sym_name = "{symbol}", sym_visibility = "private"}}> ({body}) '
            ": () -> ()\n"
        )
        return symbol

    def create_token(self) -> Value:
        """Begin an order of operations that have effects."""
        return self.op("stablehlo.create_token", TOKEN)

    def host_call(
        self,
        function: Callable[..., Any],
        operands: Sequence[Value],
        results: Sequence[TensorType],
        *,
        effect: bool,
    ) -> tuple[Value, ...]:
        """Call a function of the host.

        Args:
            function: takes NumPy arrays, and None for a token; returns a sequence of
                as many results, which it has checked: the engine does not.
            operands: its arguments, tokens too.
            results: the types of its results.
            effect: whether it is called even if nothing uses them.
        """
        index = len(self.module.callbacks)
        self.module.callbacks.append(function)
        takes = ", ".join([_layout(x.type) for x in operands])
        gives = ", ".join(map(_layout, results))
        return self.ops(
            f"stablehlo.custom_call @xla_ffi_python_cpu_callback({names_of(operands)}) "
            f"{{api_version = 4 : i32, has_side_effect = {str(effect).lower()}, "
            f"backend_config = {{index = {index} : ui64}}, "
            f"operand_layouts = [{takes}], result_layouts = [{gives}]}}",
            results,
            signature(operands, results),
        )

    def materialize(self, x: Value) -> Value:
        """Write `x` to memory: what makes it fuses with nothing that uses it.

        XLA:CPU drops optimization barriers before it fuses; a call it keeps.
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
            return self.spread(self.constant(value), out)
        return self.op(f"stablehlo.constant {literal(value)}", out)

    def iota(self, shape: Sequence[int], dtype: Any, dimension: int) -> Value:
        """Count 0, 1, 2, … along `dimension`."""
        out = tensor(tuple(shape), np.dtype(dtype))
        if not out.is_static:
            text = f"stablehlo.dynamic_iota {{}}, dim = {dimension}"
            return self.shaped(text, [], out)
        return self.op(f"stablehlo.iota dim = {dimension}", out)

    # ---- branches and loops ----

    def case(
        self, index: Value, branches: Sequence[Region], types: Sequence[TensorType]
    ) -> tuple[Value, ...]:
        """Run the branch whose number is `index`; the last one if there is none.

        Args:
            index: an int32 of rank 0.
            branches: what each writes; they take nothing, and see the values outside.
            types: those of the results of each.
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
        regions = ", ".join(self.region(types, r)[0] for r in (condition, body))
        return self.ops(
            f'"stablehlo.while"({names_of(carry)}) ({regions})',
            types,
            signature(carry, types),
        )

    # ---- reduction and contraction ----

    def reduce(
        self, x: Value, init: Value, op: str, dimensions: Sequence[int]
    ) -> Value:
        """Reduce axes with a StableHLO operation such as `add`."""
        out = tensor(_without(x.shape, dimensions), x.dtype)
        return self.op(
            f"stablehlo.reduce({x.name} init: {init.name}) applies stablehlo.{op} "
            f"across dimensions = {list_text(dimensions)}",
            out,
            signature((x, init), (out,)),
        )

    def reduce_with(
        self,
        xs: Sequence[Value],
        inits: Sequence[Value],
        dimensions: Sequence[int],
        body: Region,
    ) -> tuple[Value, ...]:
        """Reduce several operands together; `body` joins two sets of scalars."""
        outs = [tensor(_without(x.shape, dimensions), x.dtype) for x in xs]
        scalars = [tensor((), x.dtype) for x in xs]
        text, _ = self.region([*scalars, *scalars], body)
        operands = (*xs, *inits)
        head = f'"stablehlo.reduce"({names_of(operands)}) ({text}) '
        attributes = f"{{dimensions = array<i64{_items(dimensions)}>}}"
        return self.ops(head + attributes, outs, signature(operands, outs))

    def cumulate(
        self, x: Value, init: Value, axis: int, *, reverse: bool, body: Region
    ) -> Value:
        """Join each element with all before it (or behind it) on a non-empty axis.

        It is a `reduce_window` as long as the axis, which the engine turns into a scan.
        """
        ones = (1,) * x.ndim
        window = [n if i == axis else 1 for i, n in enumerate(x.shape)]
        room = window[axis] - 1
        one = (0, room) if reverse else (room, 0)
        pads = [one if i == axis else (0, 0) for i in range(x.ndim)]
        config = Windowed(window, ones, pads, ones, ones)
        scalar = tensor((), x.dtype)
        text, _ = self.region([scalar, scalar], body)
        return self.reduce_window([x], [init], config, x.shape, text)[0]

    def dot_general(
        self,
        x: Value,
        y: Value,
        batching: tuple[Sequence[int], Sequence[int]],
        contracting: tuple[Sequence[int], Sequence[int]],
        dtype: Any,
        numerics: str,
    ) -> Value:
        """Contract axes of two operands; batch axes come first in the result.

        Args:
            x: the first operand.
            y: the second operand.
            batching: batch axes of `x` and of `y`.
            contracting: contracting axes of `x` and of `y`.
            dtype: the dtype of the result.
            numerics: the attributes `precision = […]` and `algorithm = <…>`.
        """
        free = [
            tuple(n for i, n in enumerate(v.shape) if i not in (*b, *c))
            for v, b, c in zip((x, y), batching, contracting, strict=True)
        ]
        shape = tuple(x.shape[i] for i in batching[0]) + free[0] + free[1]
        out = tensor(shape, np.dtype(dtype))
        batch = (
            f"batching_dims = {list_text(batching[0])} x {list_text(batching[1])}, "
            if batching[0]
            else ""
        )
        return self.op(
            f"stablehlo.dot_general {x.name}, {y.name}, {batch}"
            f"contracting_dims = {list_text(contracting[0])} x {list_text(contracting[1])}, "
            f"{numerics}",
            out,
            signature((x, y), (out,)),
        )

    def sharding_constraint(self, x: Value, sharding: str) -> Value:
        """Say how the values are spread; `sharding` is a mesh and axes, in sdy's words."""
        return self.op(f"sdy.sharding_constraint {x.name} <{sharding}>", x.type)

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


def _layout(type: TensorType) -> str:  # noqa: A002 - MLIR's word
    """Return the layout of NumPy's arrays: the last axis is the nearest in memory."""
    ndim = 0 if type is TOKEN else len(type.shape)
    order = list_text(range(ndim - 1, -1, -1)) if ndim else ""
    return f"dense<{order}> : tensor<{ndim}xindex>"


def _items(numbers: Sequence[int]) -> str:
    return f": {', '.join(map(str, numbers))}" if numbers else ""


def _without(shape: Sequence[int], dimensions: Sequence[int]) -> tuple[int, ...]:
    return tuple(n for i, n in enumerate(shape) if i not in dimensions)
