"""Exported functions, their calls and their bytes.

A call takes the tree, the dtypes and the shapes that were exported; names for sizes take
any sizes that fit. For each call signature the module is refined and compiled once, like
any program. Inside a trace the call is one equation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from imprint._src import runtime
from imprint._src.control_flow.call import call
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.control import one_equation
from imprint._src.core.dims import is_symbolic
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.core.tangents import is_float0, tangent_aval
from imprint._src.errors import DTypeError, NotDifferentiableError, TreeError
from imprint._src.export.calling import call_exported_p
from imprint._src.export.format import (
    ExportedFields,
    from_bytes,
    is_imprint_format,
    to_bytes,
)
from imprint._src.export.jax_format import from_jax_bytes, to_jax_bytes
from imprint._src.export.module import Functions, at_sizes
from imprint._src.jit.bucketing.sizes import size_at, values_of
from imprint._src.tree import internal as tree
from imprint.custom_derivatives import custom_vjp

Avals = tuple[ShapedArray, ...]

_KEYWORDS: Final = tree.SequenceKey(1)


@final
@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Exported:
    """A function as StableHLO: what `export` and `deserialize` return.

    Args:
        fun_name: its name, for messages.
        in_tree: the tree of its arguments, `((positional, …), {keyword: …})`.
        in_avals: the avals of the leaves of its arguments.
        out_tree: the tree of its result.
        out_avals: the avals of the leaves of its result.
        platforms: the platforms that it was exported for.
        mlir_module_serialized: its module, as a portable artefact of StableHLO.
        derive: returns its derivative; None if that was left out.
        module_kept_var_idx: the leaves of the arguments that the module takes.
    """

    fun_name: str
    in_tree: tree.TreeDef
    in_avals: Avals
    out_tree: tree.TreeDef
    out_avals: Avals
    platforms: tuple[str, ...]
    mlir_module_serialized: bytes
    derive: Callable[[], "Exported"] | None
    module_kept_var_idx: tuple[int, ...]
    _made: dict[Any, Any] = field(default_factory=dict[Any, Any])

    # ---- properties ----

    @property
    def uses_global_constants(self) -> bool:
        """Whether sizes have names, so that XLA must refine the module first."""
        return any(is_symbolic(n) for aval in self.in_avals for n in aval.shape)

    @property
    def nr_devices(self) -> int:
        """The number of its devices."""
        return 1

    def mlir_module(self) -> str:
        """Return its module as text."""
        return self._once(
            "text", lambda: runtime.from_portable(self.mlir_module_serialized)
        )

    def has_vjp(self) -> bool:
        """Return whether it was exported with its derivative."""
        return self.derive is not None

    def vjp(self) -> "Exported":
        """Return its derivative, exported.

        It takes the leaves of the arguments, then a cotangent for each leaf of the result
        that has one (floats and complex numbers), and returns a cotangent for each leaf of
        the arguments that has one.

        Raises:
            NotDifferentiableError: it was serialized without one.
        """
        derive = self.derive
        if derive is None:
            raise NotDifferentiableError(
                f"{self.fun_name}: expected an exported function with its derivative, got "
                "one without. Serialize it with vjp_order=1."
            )
        return self._once("vjp", derive)

    def serialize(self, vjp_order: int = 0) -> bytearray:
        """Return it as bytes, for `deserialize`.

        Args:
            vjp_order: the number of derivatives that are stored with it.
        """
        return bytearray(to_bytes(self, vjp_order))

    # ---- calls ----

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call it with arguments of the tree, dtypes and shapes that were exported.

        Raises:
            TreeError: the arguments are another tree.
            DTypeError: one has another dtype.
            ShapeError: one has another shape, or a name would be two sizes.
        """
        leaves, treedef = tree.flatten((args, kwargs))
        if treedef != self.in_tree:
            raise TreeError(
                f"{self.fun_name}: expected arguments of structure {self.in_tree}, got "
                f"{treedef}. An exported function takes only the tree that was exported."
            )
        self._check_dtypes([get_aval(x) for x in leaves])
        flat = self._flat if self.derive is None else self._differentiable()
        return tree.unflatten(self.out_tree, flat(*leaves))

    def results_at(self, avals: Sequence[ShapedArray]) -> Avals:
        """Return the avals of the results; ShapeError if the operands do not fit."""
        sizes = values_of(self.fun_name, self.in_avals, avals, self._names())
        return tuple(
            ShapedArray(
                tuple([size_at(n, sizes) for n in out.shape]), out.dtype, out.weak_type
            )
            for out in self.out_avals
        )

    def types_at(self, avals: Sequence[ShapedArray]) -> tuple[Avals, Avals]:
        """Return the avals of the arguments and results of `functions_at`."""
        takes, gives = self.in_avals, self.out_avals
        if _is_static(avals):
            takes, gives = tuple(avals), self.results_at(avals)
        return tuple([takes[i] for i in self.module_kept_var_idx]), gives

    def functions_at(self, avals: Sequence[ShapedArray]) -> Functions:
        """Return its StableHLO for operands of these avals."""
        every = self._once(
            "functions", lambda: runtime.functions_of(self.mlir_module())
        )
        if not self.uses_global_constants or not _is_static(avals):
            return every
        kept = self.module_kept_var_idx
        takes, given = ([each[i] for i in kept] for each in (self.in_avals, avals))
        return self._once(
            tuple([a.shape for a in avals]),
            lambda: at_sizes(every, takes, self.out_avals, given),
        )

    def program_at(self, avals: Sequence[ShapedArray]) -> ClosedJaxpr:
        """Return the program of one call of it."""
        key = "program", *avals
        return self._once(
            key, lambda: one_equation(call_exported_p, tuple(avals), {"exported": self})
        )

    def _flat(self, *leaves: Any) -> tuple[Any, ...]:
        avals = [get_aval(x).unplaced() for x in leaves]
        self.results_at(avals)
        return call(self.program_at(avals), leaves, self.fun_name)

    def _differentiable(self) -> Callable[..., tuple[Any, ...]]:
        """Return the function of the leaves, with its derivative as custom rule."""

        def make() -> Any:
            function = custom_vjp(self._flat)
            # The rule calls the function, so that it can itself be differentiated.
            function.defvjp(lambda *xs: (function(*xs), xs), self._backward)
            return function

        return self._once("differentiable", make)

    def _backward(self, leaves: tuple[Any, ...], cts: Any) -> tuple[Any, ...]:
        given = [
            ct
            for ct, aval in zip(cts, self.out_avals, strict=True)
            if not is_float0(tangent_aval(aval))
        ]
        found = iter(self.vjp().call(*leaves, *given))
        return tuple(
            None if is_float0(tangent_aval(aval)) else next(found)
            for aval in self.in_avals
        )

    def _check_dtypes(self, avals: Sequence[ShapedArray]) -> None:
        for name, aval, got in zip(self._names(), self.in_avals, avals, strict=True):
            if aval.dtype != got.dtype:
                raise DTypeError(
                    f"{self.fun_name}: expected {name} of dtype {aval.dtype}, got "
                    f"{got.dtype}. Convert it, or export for that dtype."
                )

    def _names(self) -> list[str]:
        """Return the name of each leaf of the arguments in messages."""
        return self._once(
            "names",
            lambda: [
                f"{'kwargs' if path[0] == _KEYWORDS else 'args'}{tree.keystr(path[1:])}"
                for path in self.in_tree.paths()
            ],
        )

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        found = self._made.get(key)
        if found is None:
            found = self._made.setdefault(key, make())
        return found

    def __repr__(self) -> str:
        takes = ", ".join(map(str, self.in_avals))
        gives = ", ".join(map(str, self.out_avals))
        return f"Exported({self.fun_name}: ({takes}) -> ({gives}))"


# ---- bytes ----


def deserialize(blob: bytes | bytearray) -> Exported:
    """Return the exported function of bytes that `Exported.serialize` returned.

    Args:
        blob: the bytes; those of JAX's `Exported.serialize` are also accepted, if the
            package flatbuffers is installed.

    Returns:
        The exported function, on which `call` runs it.

    Raises:
        ArgumentError: they are something else, damaged, or of a later version.
    """
    data = bytes(blob)
    return _exported(
        from_bytes(data) if is_imprint_format(data) else from_jax_bytes(data)
    )


def to_jax(exported: Exported, vjp_order: int = 0) -> bytearray:
    """Return an exported function as bytes that `jax.export.deserialize` takes.

    Args:
        exported: the function.
        vjp_order: the number of derivatives that are stored with it.

    Returns:
        The bytes.

    Raises:
        ArgumentError: flatbuffers is not installed; trees have keys that are no texts; or
            a derivative is requested where a leaf has none (integers).
    """
    return to_jax_bytes(exported, vjp_order)


def _exported(fields: ExportedFields) -> Exported:
    derive = fields.derive
    every = fields._asdict()
    every["derive"] = None if derive is None else lambda: _exported(derive())
    return Exported(**every)


def _is_static(avals: Sequence[ShapedArray]) -> bool:
    return not any(is_symbolic(n) for aval in avals for n in aval.shape)
