"""The stages of a call with symbolic sizes: one `Compiled` for all sizes.

`f.lower(ShapeDtypeStruct((n, 3), "float32")).compile()` takes arrays of every size. As in
the jitted function, each bucket has a program, compiled at the first call in it; only that
of the smallest sizes is compiled at once. Sizes without a bucket (0, or an equation that
cannot be padded) have their own programs.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple, final

import numpy as np

from imprint._src.array import to_array
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.core.padding import NoPaddingError
from imprint._src.dynamic_shapes.expression import SizeScope
from imprint._src.dynamic_shapes.instantiate import instantiate
from imprint._src.dynamic_shapes.values import allows
from imprint._src.errors import ArgumentError
from imprint._src.interpreters.lowering import lower_jaxpr
from imprint._src.interpreters.trace_to_jaxpr import hoist_consts
from imprint._src.jit.bucketing.buckets import bucket_of, in_bucket
from imprint._src.jit.bucketing.programs import (
    Cuts,
    cuts_of,
    run_padded,
    shortened,
    sizes_as_arrays,
    sizes_last,
    trusting_zeros,
)
from imprint._src.jit.bucketing.sizes import scope_of, sources, values_of
from imprint._src.jit.calls.device_assignment import layout_of_call
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.signature import Call, Signature
from imprint._src.jit.calls.tracing import Results, TracedCall
from imprint._src.jit.compile_steps import compile_lowered, lower_traced
from imprint._src.jit.compiled_stages import CallDetails, Compiled, Lowered
from imprint._src.jit.versions.version import Version
from imprint._src.runtime import CompileOptions
from imprint._src.tree import internal as tree

Sizes = Mapping[str, int]


def lower_symbolic(
    traced: TracedCall, signature: Signature, options: JitOptions, given: CallDetails
) -> Lowered:
    """Return a program for all sizes; its StableHLO has dynamic shapes."""
    sources(signature.function_name, traced.closed.in_avals)
    scope_of(signature.function_name, traced.closed.in_avals)
    program = _SymbolicProgram(traced, signature, options, given)
    return Lowered(traced, signature, program, given)


@final
class _SymbolicProgram:
    """The symbolic program of a `Lowered`."""

    def __init__(
        self,
        traced: TracedCall,
        signature: Signature,
        options: JitOptions,
        given: CallDetails,
    ) -> None:
        self._traced = traced
        self._signature = signature
        self._options = options
        self._given = given

    def as_text(self, dialect: str | None, *, debug_info: bool) -> str:
        """Return the program as text, with `?` for sizes that have names."""
        name, closed = self._signature.function_name, self._traced.closed
        if dialect not in (None, "stablehlo"):
            raise ArgumentError(
                f"{name}: expected the dialect 'stablehlo' of a program whose sizes have "
                f"names, got {dialect!r}. Lower it for a shape of numbers."
            )
        module = lower_jaxpr(
            hoist_consts(closed).jaxpr,
            f"jit_{name}",
            sizes=sources(name, closed.in_avals),
            consts=[np.asarray(x) for x in closed.consts],
            locations=debug_info,
        )
        return module.text()

    def compile(self, asked: CompileOptions) -> "CompiledSymbolic":
        """Compile the program of the least sizes; the others follow when called."""
        options = replace(self._options, compile=asked.over(self._options.compile))
        programs = _SizePrograms(self._traced, self._signature, options, self._given)
        return CompiledSymbolic(programs, self._signature, self._given)


@final
class CompiledSymbolic(Compiled):
    """An executable for calls of any size.

    `as_text`, `cost_analysis` and so on describe the program of the last call, before the
    first call that of the smallest sizes.
    """

    def __init__(
        self, programs: "_SizePrograms", signature: Signature, given: CallDetails
    ) -> None:
        super().__init__(programs.least().version, signature, given)
        self._traced = programs.traced
        self._programs = programs

    def _run(self, call: Call) -> Any:
        leaves, came = self._given_leaves(call)
        name, expected = self._signature.function_name, self._traced.closed.in_avals
        names = self._traced.leaf_names()
        for i, (got, aval) in enumerate(zip(came, expected, strict=True)):
            if got.dtype != aval.dtype:
                raise ArgumentError(
                    f"{name}: expected {aval} as argument {names[i]}, got {got}. "
                    f"{self._one_kind}"
                )
        sizes = values_of(name, expected, came, names)
        program = self._programs.at(sizes)
        self._version = program.version
        self._check_places(came)
        return program.run([to_array(x) for x in leaves], sizes)

    def _accept(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], call: Call
    ) -> None:
        """Return None: another call may need another program."""


class _SizeProgram(NamedTuple):
    """A program, and how to cut its results to the true sizes.

    Args:
        version: the program.
        cuts: of a program for a bucket, the true shapes of results.
        results: the structure of the result.
    """

    version: Version
    cuts: Cuts | None
    results: Results

    def run(self, given: list[Any], sizes: Sizes) -> Any:
        """Return the result of the function."""
        if self.cuts is None:
            return self.version.run(given)
        shapes = [aval.shape for aval in self.version.traced.closed.in_avals]
        leaves = [
            in_bucket(x, x.aval, shape, zeros=True)
            for x, shape in zip(given, shapes[: len(given)], strict=True)
        ]
        outs = run_padded(self.version, given, [*leaves, *sizes_as_arrays(sizes)])
        return self.results.unflatten(shortened(outs, self.cuts, sizes))


@final
class _SizePrograms:
    """The programs of one trace for all sizes."""

    def __init__(
        self,
        traced: TracedCall,
        signature: Signature,
        options: JitOptions,
        given: CallDetails,
    ) -> None:
        self.traced = traced
        self._name = signature.function_name
        self._options = options
        self._given = given
        self._made: dict[tuple[int, ...], _SizeProgram] = {}
        self._is_padded = options.buckets is not None
        scope = scope_of(signature.function_name, traced.closed.in_avals)
        assert scope is not None
        self._scope = scope

    def least(self) -> _SizeProgram:
        """Return the program of the least sizes that the constraints allow."""
        names, scope = sources(self._name, self.traced.closed.in_avals), self._scope
        least = {name: max(1, scope.least_of(name)) for name in names}
        return self.at(_least_allowed(scope, least))

    def at(self, sizes: Sizes) -> _SizeProgram:
        """Return the program for some sizes."""
        bucket = self._bucket(sizes)
        if bucket is not None:
            found = self._made.get((1, *bucket.values()))
            if found is not None:
                return found
            try:
                closed = trusting_zeros(self.traced.closed, bucket)
            except NoPaddingError:
                self._is_padded = False
            else:
                made = self._padded(sizes_last(closed, len(bucket)), tuple(bucket))
                return self._made.setdefault((1, *bucket.values()), made)
        return self._exact(sizes)

    def _bucket(self, sizes: Sizes) -> dict[str, int] | None:
        buckets = self._options.buckets
        if not self._is_padded or not all(sizes.values()):
            return None
        most = self._scope.most_of
        return {
            k: int(min(bucket_of(buckets, k, n, self._name), most(k)))
            for k, n in sizes.items()
        }

    def _padded(self, closed: ClosedJaxpr, hidden: tuple[str, ...]) -> _SizeProgram:
        outs = self.traced.closed.out_avals
        flat = Results(tree.structure(tuple(outs)), {})
        made = self.traced.at(closed, flat, 0.0)
        made.hidden = hidden
        cuts = cuts_of(outs)
        return _SizeProgram(self._compiled(made), cuts, self.traced.results)

    def _exact(self, sizes: Sizes) -> _SizeProgram:
        key = (0, *sizes.values())
        found = self._made.get(key)
        if found is None:
            closed = instantiate(self.traced.closed, sizes)
            made = self.traced.at(closed, self.traced.results, 0.0)
            found = _SizeProgram(self._compiled(made), None, made.results)
            self._made[key] = found
        return found

    def _compiled(self, made: TracedCall) -> Version:
        given, inside = self._given.avals, made.closed.in_avals
        avals = [
            aval.with_sharding(given[i].sharding) if i < len(given) else aval
            for i, aval in enumerate(inside)
        ]
        name, options = self._name, self._options
        layout = layout_of_call(name, options, made, avals)
        module = lower_traced(made, name, options, layout=layout)
        program, assignment = compile_lowered(module, name, options, made, avals)
        return Version(made, program, name, assignment._replace(moves=True))


def _least_allowed(scope: SizeScope, least: dict[str, int]) -> dict[str, int]:
    """Return small sizes that the constraints allow; if none is found, the least ones."""
    for k in range(_TRIED):
        for sizes in ({n: v + k for n, v in least.items()}, dict.fromkeys(least, k)):
            if allows(scope, sizes):
                return sizes
    return least


_TRIED: Final = 1025
