"""Lowering: a jaxpr becomes the text of a StableHLO module.

Each equation calls its primitive's `lower` rule with IR values. A jaxpr of an equation
becomes a private function, written once for all calls. Every line carries its source line
in user code as an MLIR location.
Ordered effects are threaded through tokens: `main` creates one for each, an operation
replaces it in `Builder.tokens`, and a body with effects takes them before its arguments and
returns them before its results (`lower_body`). No token leaves a program: it does not order
executions. Symbolic sizes are arguments of private functions; `main` computes them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var
from imprint._src.diagnostics.source import Source
from imprint._src.errors import ConcretizationError
from imprint._src.stablehlo import (
    TOKEN,
    Builder,
    ModuleWriter,
    TensorType,
    Value,
    tensor,
)
from imprint._src.stablehlo.builder import function_text
from imprint._src.stablehlo.types import SIZE


class SizeSource(NamedTuple):
    """Where the value of a name is found: an axis is `factor` times it, and `offset`."""

    argument: int
    axis: int
    factor: int = 1
    offset: int = 0


def lower_jaxpr(  # noqa: PLR0913 - the parts of a module
    jaxpr: Jaxpr,
    name: str,
    *,
    arg_attrs: Mapping[int, str] | None = None,
    result_attrs: Mapping[int, str] | None = None,
    partitions: int = 1,
    locations: bool = True,
    sizes: Mapping[str, SizeSource] | None = None,
    consts: Sequence[Any] = (),
    is_fast: bool = False,
    has_kernels: bool = False,
    vectorizes_sums: bool = False,
) -> ModuleWriter:
    """Return the StableHLO module whose `main` is `jaxpr`, which has no constants.

    Args:
        jaxpr: the program; its arguments are those of `main`.
        name: the module's name.
        arg_attrs: MLIR attributes of arguments by position, such as donation.
        result_attrs: likewise of results.
        partitions: over how many devices it is spread.
        locations: whether lines carry source locations of user code.
        sizes: where the names in sizes are found; None if all sizes are numbers.
        consts: the values of the leading arguments that are constants.
        is_fast: whether rules choose the formulations that are fast on one CPU device.
        has_kernels: whether they may call native kernels, which must be there.
        vectorizes_sums: whether it has sums, and XLA computes what is summed by vectors.
    """
    if sizes is None:
        _check_sizes(jaxpr)
    module = ModuleWriter("", tuple(sizes or ()))
    module.name = module.unique_name(name)
    module.partitions = partitions
    module.is_fast = is_fast
    module.has_kernels = has_kernels
    module.vectorizes_sums = vectorizes_sums
    module.unique_name("main")
    b = Builder(module)
    taken = jaxpr.invars[len(consts) :]
    args = [Value(f"%arg{i}", ir_type(v.aval)) for i, v in enumerate(taken)]
    ordered = ordered_effects(jaxpr)
    b.tokens.update((e, b.create_token()) for e in ordered)
    for text, source in (sizes or {}).items():
        b.sizes[text] = _size_of(b, args[source.argument], source)
    values = [*(b.constant(x, x.dtype) for x in consts), *args]
    results = lower_body(b, jaxpr, values, (), locations=locations)
    attrs = [(v, (arg_attrs or {}).get(i, "")) for i, v in enumerate(args)]
    given = result_attrs or {}
    text = function_text("main", b, attrs, results, public=True, result_attrs=given)
    module.add(text)
    return module


def _check_sizes(jaxpr: Jaxpr) -> None:
    for var in jaxpr.invars:
        if any(map(dims.is_symbolic, var.aval.shape)):
            raise ConcretizationError(
                "expected a program whose sizes are numbers, got the shape "
                f"{var.aval.shape}. Sizes with names are for make_jaxpr, eval_shape and "
                "export: compile for a shape of numbers."
            )


def _size_of(b: Builder, x: Value, source: SizeSource) -> Value:
    size = b.get_dimension_size(x, source.axis)
    if source.offset:
        size = b.subtract(size, b.size(source.offset))
    return size if source.factor == 1 else b.divide(size, b.size(source.factor))


def lower_call(
    b: Builder,
    closed: ClosedJaxpr,
    args: Sequence[Value],
    name: str,
    *,
    inlineable: str = "",
) -> tuple[Value, ...]:
    """Call the function of a jaxpr without constants; write it at the first call.

    Args:
        b: the builder of the function that calls.
        closed: the program.
        args: its arguments.
        name: of the function.
        inlineable: the attribute that tells XLA whether to inline the call, if any.
    """
    assert not closed.consts
    located = bool(b.module.locations)
    ordered = ordered_effects(closed.jaxpr)

    def define(symbol: str) -> tuple[TensorType, ...]:
        return _define(b.module, symbol, closed.jaxpr, locations=located)

    symbol, types = b.module.function(closed, name, define)
    sizes = map(b.size_named, b.module.names)
    given = [*sizes, *(b.tokens[e] for e in ordered), *args]
    results = b.call(symbol, given, types, inlineable=inlineable)
    count = len(ordered)
    b.tokens.update(zip(ordered, results[:count], strict=True))
    return results[count:]


def ordered_effects(*jaxprs: Jaxpr) -> tuple[str, ...]:
    """Return the names of the ordered effects of jaxprs: the tokens that bodies take."""
    every = {e.name for jaxpr in jaxprs for e in jaxpr.effects if e.ordered}
    return tuple(sorted(every))


def lower_body(
    b: Builder,
    jaxpr: Jaxpr,
    values: Sequence[Value],
    ordered: Sequence[str],
    *,
    locations: bool = True,
) -> list[Value]:
    """Write a jaxpr as a body `(*tokens, *args) -> (*tokens, *results)`.

    Args:
        b: the builder of the function or the region.
        jaxpr: the body, without constants.
        values: a token for each effect of `ordered`, and the arguments.
        ordered: names of the effects, those of all bodies that must agree.
        locations: whether lines carry source locations of user code.
    """
    count = len(ordered)
    b.tokens.update(zip(ordered, values[:count], strict=True))
    results = lower_inline(b, jaxpr, values[count:], locations=locations)
    return [*(b.tokens[e] for e in ordered), *results]


def lower_inline(
    b: Builder, jaxpr: Jaxpr, args: Sequence[Value], *, locations: bool = True
) -> list[Value]:
    """Write the equations of a jaxpr without constants into the present function."""
    env: dict[Var, Value] = dict(zip(jaxpr.invars, args, strict=True))
    places: dict[tuple[int, int, str], str] = {}
    literals: dict[Any, Value] = {}

    def read(atom: Var | Literal) -> Value:
        if isinstance(atom, Var):
            return env[atom]
        value = np.asarray(atom.value, atom.aval.dtype)
        key = (value.dtype, value.tobytes())
        found = literals.get(key)
        if found is None:
            found = literals[key] = b.constant(value)
        return found

    before = b.location
    for eqn in jaxpr.eqns:
        if locations:
            name = eqn.primitive.name
            b.location = _location(b.module, eqn.source, name, places) or before
        operands = [env[v] if type(v) is Var else read(v) for v in eqn.invars]
        results = eqn.primitive.lower(b, *operands, **eqn.params)
        env.update(zip(eqn.outvars, results, strict=True))
    b.location = before
    return [read(atom) for atom in jaxpr.outvars]


def ir_type(aval: ShapedArray) -> TensorType:
    """Return the tensor type of an aval."""
    return tensor(aval.shape, aval.dtype)


def _define(
    module: ModuleWriter, symbol: str, jaxpr: Jaxpr, *, locations: bool
) -> tuple[TensorType, ...]:
    """Write a private function `(*sizes, *tokens, *args) -> (*tokens, *results)`."""
    b = Builder(module)
    ordered = ordered_effects(jaxpr)
    types = [
        *(SIZE for _ in module.names),
        *(TOKEN for _ in ordered),
        *(ir_type(v.aval) for v in jaxpr.invars),
    ]
    args = [Value(f"%arg{i}", t) for i, t in enumerate(types)]
    count = len(module.names)
    b.sizes.update(zip(module.names, args[:count], strict=True))
    results = lower_body(b, jaxpr, args[count:], ordered, locations=locations)
    module.add(function_text(symbol, b, [(v, "") for v in args], results, public=False))
    return tuple(v.type for v in results)


def _location(
    module: ModuleWriter,
    source: Source | None,
    primitive: str,
    places: dict[tuple[int, int, str], str],
) -> str | None:
    if source is None:
        return None
    name = f"{source.scope}/{primitive}" if source.scope else ""
    key = id(source.code), source.offset, name  # hashing a code object is slow
    found = places.get(key)
    if found is None:
        file = _UNSAFE.sub(_escaped, source.file)
        alias = module.location(f'"{file}":{source.line}:0')
        if name:  # the operation's name in the metadata of the engine
            alias = module.location(f'"{_UNSAFE.sub(_escaped, name)}"({alias})')
        found = places[key] = f" loc({alias})"
    return found


_UNSAFE: Final = re.compile(r'[\x00-\x1f"\\]')
"""Characters that StableHLO text escapes."""


def _escaped(letter: re.Match[str]) -> str:
    return f"\\{ord(letter[0]):02X}"
