"""Lowering: a jaxpr becomes the text of a StableHLO module.

Each equation calls its primitive's `lower` rule with IR values. A jaxpr held by an
equation becomes a private function, written once however often it is called. Every
line carries the user's source line as an MLIR location.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from imprint.core.aval import ShapedArray
from imprint.core.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var
from imprint.core.source import Source
from imprint.stablehlo import Builder, ModuleWriter, TensorType, Value, tensor
from imprint.stablehlo.builder import function_text


def lower_jaxpr(
    jaxpr: Jaxpr,
    name: str,
    *,
    arg_attrs: Mapping[int, str] | None = None,
    locations: bool = True,
) -> str:
    """Return the StableHLO module whose `main` is `jaxpr`, which has no constants.

    Args:
        jaxpr: the program; its arguments are those of `main`.
        name: the module's name.
        arg_attrs: MLIR attributes of arguments by position, such as donation.
        locations: whether lines carry the user's source lines.
    """
    module = ModuleWriter("")
    module.name = module.unique_name(name)
    module.unique_name("main")
    _define(module, "main", jaxpr, arg_attrs or {}, public=True, locations=locations)
    return module.text()


def lower_call(
    b: Builder, closed: ClosedJaxpr, args: Sequence[Value], name: str
) -> tuple[Value, ...]:
    """Call the function of a jaxpr without constants; write it at the first call."""
    assert not closed.consts
    located = bool(b.module.locations)

    def define(symbol: str) -> tuple[TensorType, ...]:
        return _define(
            b.module, symbol, closed.jaxpr, {}, public=False, locations=located
        )

    symbol, results = b.module.function(closed, name, define)
    return b.call(symbol, args, results)


def lower_inline(
    b: Builder, jaxpr: Jaxpr, args: Sequence[Value], *, locations: bool = True
) -> list[Value]:
    """Write the equations of a jaxpr without constants into the present function."""
    env: dict[Var, Value] = dict(zip(jaxpr.invars, args, strict=True))
    places: dict[tuple[int, int], str] = {}
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
            b.location = _location(b.module, eqn.source, places) or before
        operands = [env[v] if type(v) is Var else read(v) for v in eqn.invars]
        results = eqn.primitive.lower(b, *operands, **eqn.params)
        env.update(zip(eqn.outvars, results, strict=True))
    b.location = before
    return [read(atom) for atom in jaxpr.outvars]


def ir_type(aval: ShapedArray) -> TensorType:
    """Return the tensor type of an aval."""
    return tensor(aval.shape, aval.dtype)


def _define(
    module: ModuleWriter,
    symbol: str,
    jaxpr: Jaxpr,
    arg_attrs: Mapping[int, str],
    *,
    public: bool,
    locations: bool,
) -> tuple[TensorType, ...]:
    b = Builder(module)
    args = [Value(f"%arg{i}", ir_type(v.aval)) for i, v in enumerate(jaxpr.invars)]
    results = lower_inline(b, jaxpr, args, locations=locations)
    attrs = [(v, arg_attrs.get(i, "")) for i, v in enumerate(args)]
    module.add(function_text(symbol, b, attrs, results, public=public))
    return tuple(v.type for v in results)


def _location(
    module: ModuleWriter, source: Source | None, places: dict[tuple[int, int], str]
) -> str | None:
    if source is None:
        return None
    key = id(source.code), source.offset  # hashing a code object is slow
    found = places.get(key)
    if found is None:
        file = source.file.replace("\\", "\\\\").replace('"', '\\"')
        alias = module.location(f'"{file}":{source.line}:0')
        found = places[key] = f" loc({alias})"
    return found
