"""The stages of a compilation, one object each: Traced, Lowered, Compiled.

`f.trace(x).lower().compile()(x)` does by hand what `f(x)` does. It leaves the versions of
the function as they are.
"""

from collections.abc import Sequence
from typing import Any, Protocol, final, runtime_checkable

from imprint._src import runtime
from imprint._src.core.aval import ShapedArray
from imprint._src.core.dims import is_symbolic
from imprint._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from imprint._src.core.primitive import Effects
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.errors import ArgumentError
from imprint._src.jit.calls.device_assignment import layout_of_call
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.signature import Signature
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.compile_steps import lower_traced, trace_for_all
from imprint._src.jit.compiled_stages import CallDetails, Lowered, Stage, lowered
from imprint._src.jit.versions.definitions import Request
from imprint._src.tree import internal as tree


@final
class Traced(Stage):
    """A function traced for one call signature."""

    def __init__(
        self,
        traced: TracedCall,
        signature: Signature,
        options: JitOptions,
        given: CallDetails,
    ) -> None:
        super().__init__(traced, signature, given)
        self._options = options

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program."""
        return self._traced.closed

    @property
    def fun_name(self) -> str:
        """The name of the function."""
        return self._signature.function_name

    @property
    def effects(self) -> Effects:
        """The effects of the program, such as callbacks."""
        return self.jaxpr.jaxpr.effects

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the jaxpr, on arrays or on traced values.

        Static arguments are left out, as in JAX, or given with the same value.
        """
        leaves = tree.leaves(self._call(args, kwargs).dynamic)
        outs = eval_jaxpr(self.jaxpr.jaxpr, self.jaxpr.consts, *leaves)
        return self._traced.results.unflatten(outs)

    def lower(self, *, lowering_platforms: Sequence[str] | None = None) -> "Lowered":
        """Write the program as StableHLO, for all sizes if they have names.

        Args:
            lowering_platforms: what it is for: the platform of this process, as
                `imprint.export.export` writes programs for others.
        """
        name, options, traced = self.fun_name, self._options, self._traced
        own = runtime.default_backend()
        if lowering_platforms is not None and tuple(lowering_platforms) != (own,):
            raise ArgumentError(
                f"lower: expected lowering_platforms to be {(own,)!r}, which this process "
                f"compiles for, got {lowering_platforms!r}. For others call "
                "imprint.export.export(f, platforms=...)."
            )
        if any(is_symbolic(n) for aval in traced.closed.in_avals for n in aval.shape):
            from imprint._src.jit.symbolic_stages import lower_symbolic  # noqa: PLC0415 - few programs have names

            return lower_symbolic(traced, self._signature, options, self._given)
        layout = layout_of_call(name, options, traced, self._given.avals)
        module = lower_traced(traced, name, options, layout=layout)
        if self._given.disk is not None:
            self._given.disk.describe(traced, module)
        return lowered(traced, self._signature, options, module, self._given)


@runtime_checkable
class Wrapped(Protocol):
    """A function that can be called, traced and lowered, such as `jit` returns.

    Example:
        >>> import imprint
        >>> isinstance(imprint.jit(lambda x: x), imprint.stages.Wrapped)
        True
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function by its compiled version."""
        ...

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace the function for these arguments, which may be abstract."""
        ...

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace and lower the function for these arguments."""
        ...


# ---- lowering with the disk ----


def lower_with_disk(request: Request, positional: int) -> Lowered:
    """Return a call as a program in StableHLO, from the disk if it is there.

    The program of another process is taken if its guards hold. Otherwise the reads of this
    trace are recorded at once: they may have changed when `compile()` is called.

    Args:
        request: the call.
        positional: how many arguments were given by position.
    """
    from imprint._src.jit.load_from_disk import DiskLookup  # noqa: PLC0415 - with the store, 5 ms of an import

    signature = request.definition.signature
    given = CallDetails.of(request.pending, positional)
    disk = DiskLookup(_without_values(request, given.avals))
    given = given._replace(disk=disk)
    found = disk.version()
    if found is not None:
        disk.notify(found)
        module = found.program.module
        return lowered(found.traced, signature, request.options, module, given)
    return Traced(trace_for_all(request), signature, request.options, given).lower()


def _without_values(request: Request, avals: tuple[ShapedArray, ...]) -> Request:
    """Return a call with shapes in the place of arrays."""
    pending = request.pending
    leaves = [*map(_shape, avals)]
    dynamic = tree.structure(pending.call.dynamic).unflatten(leaves)
    call = pending.call._replace(dynamic=dynamic)
    return request._replace(pending=pending._replace(leaves=leaves, call=call))


def _shape(aval: ShapedArray) -> ShapeDtypeStruct:
    """Return the shape of an array with its placement."""
    made = ShapeDtypeStruct.of(aval)
    made.aval = aval
    return made
