"""Export: a function is traced, lowered for every size, and made portable.

No pass changes the program, and no option of this machine is chosen: the process that
calls it compiles it. Captured arrays are constants of the module.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from imprint._src import runtime
from imprint._src.core import dims
from imprint._src.core.aval import get_aval
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr, eval_jaxpr
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.core.tangents import is_float0, tangent_aval
from imprint._src.dynamic_shapes import SymbolicScope, symbolic_shape
from imprint._src.errors import ArgumentError
from imprint._src.export.exported import Exported
from imprint._src.export.writing import write
from imprint._src.interpreters.derivatives import vjp
from imprint._src.jit.bucketing.sizes import scope_of
from imprint._src.jit.make_jaxpr import make_jaxpr
from imprint._src.jit.stages import Wrapped
from imprint._src.runtime import EngineError
from imprint._src.tree import internal as tree

_PLATFORMS: Final = ("cpu", "cuda", "rocm", "tpu")


def default_export_platform() -> str:
    """Return the platform of the default device, for which functions are exported."""
    name = runtime.default_backend()
    return "cuda" if name == "gpu" else name


def export(
    fun_jit: Wrapped,
    *,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[Any] = (),
) -> Callable[..., Exported]:
    """Return the function that exports `fun_jit` for concrete or abstract arguments.

    Args:
        fun_jit: a function that `jit` returned.
        platforms: some of "cpu", "cuda", "rocm" and "tpu"; None for that of the default
            device.
        disabled_checks: empty: there is no check to disable.

    Returns:
        A function of arguments, or of `ShapeDtypeStruct`s with names for sizes, that
        returns an `Exported`.

    Raises:
        ArgumentError: `fun_jit` is not jitted, or no such platform is known. The function
            returned raises it for a program that calls Python, or one that calls a
            library of the CPU and is for another platform.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint import export
        >>> (n,) = export.symbolic_shape("n")
        >>> x = imprint.ShapeDtypeStruct((n, 2), "float32")
        >>> mean = export.export(imprint.jit(lambda x: x.mean(0)))(x)
        >>> mean
        Exported(<lambda>: (float32[n,2]) -> (float32[2]))
        >>> data = mean.serialize()  # for a file, and another process
        >>> export.deserialize(data).call(np.ones((5, 2)))
        Array([1., 1.], dtype=float32)
    """
    if not isinstance(fun_jit, Wrapped):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(
            f"export: expected what imprint.jit returned, got {type(fun_jit).__name__}. "
            "Write export(imprint.jit(f))."
        )
    wanted = (default_export_platform(),) if platforms is None else _checked(platforms)
    if disabled_checks:
        raise ArgumentError(
            f"export: expected no disabled_checks, got {list(disabled_checks)}. There is "
            "no check to disable: what has no portable form is an error."
        )

    def exporter(*args: Any, **kwargs: Any) -> Exported:
        traced = fun_jit.trace(*args, **kwargs)
        closed = traced.jaxpr
        order = traced.leaf_order
        invars = [closed.jaxpr.invars[i] for i in order]
        jaxpr = Jaxpr(closed.jaxpr.constvars, invars, closed.jaxpr.outvars, closed.eqns)
        program = _ExportedProgram(
            traced.fun_name,
            ClosedJaxpr(jaxpr, closed.consts),
            (traced.in_tree, traced.out_tree),
            wanted,
        )
        return program.exported()

    return exporter


def _checked(platforms: Sequence[str]) -> tuple[str, ...]:
    given = (platforms,) if isinstance(platforms, str) else tuple(platforms)
    unknown = [p for p in given if p not in _PLATFORMS]
    if unknown or not given:
        raise ArgumentError(
            f"export: expected platforms of {', '.join(_PLATFORMS)}, got {list(given)}. "
            "Leave platforms out for that of the default device."
        )
    return given


class _ExportedProgram(NamedTuple):
    """A program to export.

    Args:
        name: of the function.
        closed: the program, whose arguments are the leaves of the arguments.
        trees: of the arguments, and of the result.
        platforms: the platforms to run on.
    """

    name: str
    closed: ClosedJaxpr
    trees: tuple[tree.TreeDef, tree.TreeDef]
    platforms: tuple[str, ...]

    def exported(self) -> Exported:
        """Return the exported function."""
        closed = self.closed
        in_avals = tuple(closed.in_avals)
        who = f"export of {self.name}"
        scope_of(who, in_avals)
        text = self._text(who)
        try:
            data = runtime.to_portable(text)
        except EngineError as err:
            raise ArgumentError(
                f"{who}: expected operations that have a portable form, got one that has "
                f"none: {err}. Leave it out of what is exported."
            ) from err
        in_tree, out_tree = self.trees
        return Exported(
            fun_name=self.name,
            in_tree=in_tree,
            in_avals=in_avals,
            out_tree=out_tree,
            out_avals=tuple(closed.out_avals),
            platforms=self.platforms,
            mlir_module_serialized=data,
            derive=self._derivative,
            module_kept_var_idx=tuple(range(len(in_avals))),
        )

    def _text(self, who: str) -> str:
        closed = self.closed
        if closed.jaxpr.effects:
            names = ", ".join(sorted({e.name for e in closed.jaxpr.effects}))
            raise ArgumentError(
                f"{who}: expected a program without effects, got one with {names}. "
                "Another process has none of this one's functions: leave calls of "
                "Python, prints and checks out."
            )
        text, calls_python = write(who, closed, f"jit_{self.name}")
        if calls_python:
            raise ArgumentError(
                f"{who}: expected a program that calls no Python, got one that calls a "
                "function of this process. Leave it out of what is exported."
            )
        others = [p for p in self.platforms if p != "cpu"]
        if others and "@lapack_" in text:
            raise ArgumentError(
                f"{who}: expected a program without LAPACK for {', '.join(others)}, got "
                "one whose linear algebra calls it. Export for platforms=['cpu']."
            )
        return text

    def _derivative(self) -> Exported:
        """Return its derivative, exported; see `Exported.vjp`."""
        closed, name = self.closed, f"{self.name}_vjp"
        takes, gives = (
            [i for i, aval in enumerate(avals) if not is_float0(tangent_aval(aval))]
            for avals in (closed.in_avals, closed.out_avals)
        )
        count = len(closed.in_avals)

        def backward(*given: Any) -> tuple[Any, ...]:
            leaves, cts = [*given[:count]], given[count:]

            def varied(*xs: Any) -> tuple[Any, ...]:
                for i, x in zip(takes, xs, strict=True):
                    leaves[i] = x
                outs = eval_jaxpr(closed.jaxpr, closed.consts, *leaves)
                return tuple([outs[i] for i in gives])

            _, pull = vjp(varied, *[leaves[i] for i in takes])
            return pull(cts)

        structs = [ShapeDtypeStruct.of(a) for a in closed.in_avals]
        structs += [ShapeDtypeStruct.of(closed.out_avals[i]) for i in gives]
        in_tree = tree.structure((tuple(structs), {}))
        out_tree = tree.structure((0,) * len(takes))
        made = make_jaxpr(backward)(*structs)
        return _ExportedProgram(
            name, made, (in_tree, out_tree), self.platforms
        ).exported()


def symbolic_args_specs(
    args: Any,
    shapes_specs: Any,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
) -> Any:
    """Return arguments with names for sizes, of one scope.

    Args:
        args: a tree of arrays or `ShapeDtypeStruct`s.
        shapes_specs: a text for each, see `symbolic_shape`, or a prefix tree of `args`; None
            for unchanged shapes.
        constraints: those of the names, as for `symbolic_shape`.
        scope: the scope of other names, which share it.

    Returns:
        The tree with a `ShapeDtypeStruct` for each leaf.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import export
        >>> export.symbolic_args_specs((np.ones((4, 3)), np.ones(3)), ("n, _", None))
        (ShapeDtypeStruct(shape=(n, 3), dtype=float32), ShapeDtypeStruct(shape=(3,), dtype=float32))
    """
    if scope is None:
        scope, constraints = SymbolicScope(constraints), ()
    leaves, treedef = tree.flatten(args)
    texts = tree.broadcast_prefix(shapes_specs, args, lambda x: x is None)
    found: list[ShapeDtypeStruct] = []
    for leaf, text in zip(leaves, texts, strict=True):
        aval = get_aval(leaf)
        shape = symbolic_shape(
            text, constraints=constraints, scope=scope, like=aval.shape
        )
        found.append(ShapeDtypeStruct(shape, aval.dtype))
    return treedef.unflatten(found)


def is_symbolic_dim(p: Any) -> bool:
    """Return whether a size is an expression of names, and no number.

    Args:
        p: the length of an axis.

    Returns:
        Whether it is symbolic.

    Example:
        >>> import imprint
        >>> from imprint import export
        >>> (n,) = export.symbolic_shape("n")
        >>> export.is_symbolic_dim(n), export.is_symbolic_dim(3)
        (True, False)
    """
    return dims.is_symbolic(p)
