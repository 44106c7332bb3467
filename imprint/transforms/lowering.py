"""Lowering: a jaxpr becomes the text of a StableHLO module.

Each equation calls its primitive's `lower` rule with IR values. A jaxpr held by an
equation becomes a private function, written once however often it is called. Every
line carries the user's source line as an MLIR location.
Ordered effects are threaded through tokens: `main` creates one for each, an operation
takes the last from `Builder.tokens` and puts its own there, and a body with effects takes
them before its arguments and gives them before its results (`lower_body`). No token
leaves a program: the order between executions is not said here.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from imprint.core.aval import ShapedArray
from imprint.core.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var
from imprint.core.source import Source
from imprint.stablehlo import TOKEN, Builder, ModuleWriter, TensorType, Value, tensor
from imprint.stablehlo.builder import function_text


def lower_jaxpr(
    jaxpr: Jaxpr,
    name: str,
    *,
    arg_attrs: Mapping[int, str] | None = None,
    locations: bool = True,
) -> ModuleWriter:
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
    return module


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
        closed: what is called.
        args: its arguments.
        name: of the function.
        inlineable: what XLA is asked to do with the call, if anything.
    """
    assert not closed.consts
    located = bool(b.module.locations)
    ordered = ordered_effects(closed.jaxpr)

    def define(symbol: str) -> tuple[TensorType, ...]:
        return _define(
            b.module, symbol, closed.jaxpr, {}, public=False, locations=located
        )

    symbol, types = b.module.function(closed, name, define)
    given = [*(b.tokens[e] for e in ordered), *args]
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
        jaxpr: what is written, without constants.
        values: a token for each effect of `ordered`, and the arguments.
        ordered: names of the effects, those of all bodies that must agree.
        locations: whether lines carry the user's source lines.
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
    module: ModuleWriter,
    symbol: str,
    jaxpr: Jaxpr,
    arg_attrs: Mapping[int, str],
    *,
    public: bool,
    locations: bool,
) -> tuple[TensorType, ...]:
    b = Builder(module)
    ordered = ordered_effects(jaxpr)
    taken: Sequence[str] = () if public else ordered
    types = [*(TOKEN for _ in taken), *(ir_type(v.aval) for v in jaxpr.invars)]
    args = [Value(f"%arg{i}", t) for i, t in enumerate(types)]
    if public:
        b.tokens.update((e, b.create_token()) for e in ordered)
    results = lower_body(b, jaxpr, args, taken, locations=locations)
    attrs = [(v, arg_attrs.get(i, "")) for i, v in enumerate(args)]
    module.add(function_text(symbol, b, attrs, results, public=public))
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
"""What cannot stand in a text of StableHLO as it is."""


def _escaped(letter: re.Match[str]) -> str:
    return f"\\{ord(letter[0]):02X}"
