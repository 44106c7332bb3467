"""What an exported function is, and how it is called.

A call takes the tree, the dtypes and the shapes that were exported; where these have names
for sizes, any sizes that fit. For each kind of call the module is refined and compiled
once, as every program is; inside a trace the call is one equation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from imprint import tree
from imprint._src import runtime
from imprint._src.control_flow.call import call
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.control import one_equation
from imprint._src.core.dims import is_symbolic
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.core.tangents import is_float0, tangent_aval
from imprint._src.errors import DTypeError, NotDifferentiableError, TreeError
from imprint._src.export.calling import call_exported_p
from imprint._src.export.module import Functions, at_sizes
from imprint._src.jit.bucketing.sizes import size_at, values_of
from imprint.custom_derivatives import custom_vjp

Avals = tuple[ShapedArray, ...]

_KEYWORDS: Final = tree.SequenceKey(1)


@final
@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Exported:
    """A function as StableHLO: what `export` and `deserialize` return.

    Args:
        fun_name: its name, for errors.
        in_tree: the tree of its arguments, `((positional, …), {keyword: …})`.
        in_avals: the avals of the leaves of its arguments.
        out_tree: the tree of its result.
        out_avals: the avals of the leaves of its result.
        platforms: the platforms that it was exported for.
        mlir_module_serialized: its module, as a portable artefact of StableHLO.
        derive: how its derivative is found; None if that was left out.
        module_kept_var_idx: which leaves of the arguments the module takes.
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

    # ---- what it is ----

    @property
    def uses_global_constants(self) -> bool:
        """Whether sizes have names, so that the engine must refine the module first."""
        return any(is_symbolic(n) for aval in self.in_avals for n in aval.shape)

    @property
    def nr_devices(self) -> int:
        """For how many devices it is."""
        return 1

    def mlir_module(self) -> str:
        """Return its module as text."""
        return self._once(
            "text", lambda: runtime.from_portable(self.mlir_module_serialized)
        )

    def has_vjp(self) -> bool:
        """Tell whether it was exported with its derivative."""
        return self.derive is not None

    def vjp(self) -> "Exported":
        """Return its derivative, exported.

        It takes the leaves of the arguments, then a cotangent for each leaf of the result
        that has one (floats and complex numbers), and returns a cotangent for each leaf of
        the arguments that has one.

        Raises:
            NotDifferentiableError: it was serialized without.
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
            vjp_order: how many derivatives are stored with it.
        """
        from imprint._src.export.format import to_bytes  # noqa: PLC0415 - format makes this class

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
        """Return what `functions_at` takes and gives."""
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
        """Return the program that is one call of it."""
        key = "program", *avals
        return self._once(
            key, lambda: one_equation(call_exported_p, tuple(avals), {"exported": self})
        )

    def _flat(self, *leaves: Any) -> tuple[Any, ...]:
        avals = [get_aval(x).unplaced() for x in leaves]
        self.results_at(avals)
        return call(self.program_at(avals), leaves, self.fun_name)

    def _differentiable(self) -> Callable[..., tuple[Any, ...]]:
        """Return the function of the leaves, with its derivative as its rule."""

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
        """Return what stands for each leaf of the arguments in errors."""
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


def _is_static(avals: Sequence[ShapedArray]) -> bool:
    return not any(is_symbolic(n) for aval in avals for n in aval.shape)
