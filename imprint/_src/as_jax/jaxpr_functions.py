"""Functions of `jax.core`, `jax.interpreters` and `jax.extend` on jaxprs and avals.

Each has JAX's signature and calls the function of imprint that does the work. A parameter
that has no meaning here is accepted and ignored.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, NamedTuple

from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.identity import identity
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr
from imprint._src.core.primitive import Params
from imprint._src.core.trace import Trace, current_trace
from imprint._src.interpreters import dce
from imprint._src.interpreters.batching import hidden_size
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.tree.registry import is_tree_node


class AxisData(NamedTuple):
    """The axis that `vmap` maps, for rules in `axis_primitive_batchers`."""

    name: Hashable
    size: int
    spmd_name: Any = None
    explicit_mesh_axis: Any = None


def axis_data(args: Sequence[Any], dims: Sequence[int | None]) -> AxisData:
    """Return the axis of batched operands."""
    return AxisData("batch", hidden_size(args, tuple(dims)))


def staged(
    fun: Callable[..., Any], avals: Sequence[ShapedArray], params: Params, name: str
) -> ClosedJaxpr:
    """Return the jaxpr of a flat function with these params."""
    return stage(
        lambda *args: fun(*args, **params), avals, DebugInfo("lower_fun", name)
    )


def mapped_aval(size: int, axis: int | None, aval: ShapedArray) -> ShapedArray:
    """Return the aval without the mapped axis."""
    if axis is None:
        return aval
    return aval.with_shape((*aval.shape[:axis], *aval.shape[axis + 1 :]))


def unmapped_aval(
    size: int, axis: int | None, aval: ShapedArray, *_: Any
) -> ShapedArray:
    """Return the aval with an axis of a size inserted."""
    if axis is None:
        return aval
    return aval.with_shape((*aval.shape[:axis], size, *aval.shape[axis:]))


def dce_jaxpr(
    jaxpr: Jaxpr,
    used_outputs: Sequence[bool],
    instantiate: bool | Sequence[bool] = False,
) -> tuple[Jaxpr, list[bool]]:
    """Return the jaxpr without dead equations, and which arguments it uses."""
    kept = dce.dce_jaxpr(jaxpr, used_outputs)
    used = dce.used_invars(kept)
    wanted = [instantiate] * len(used) if isinstance(instantiate, bool) else instantiate
    used = [a or bool(b) for a, b in zip(used, wanted, strict=True)]
    invars = [v for v, u in zip(kept.invars, used, strict=True) if u]
    new = Jaxpr(kept.constvars, invars, kept.outvars, kept.eqns, kept.name)
    return new, used


def trace_state_clean() -> bool:
    """Return whether no function is being traced."""
    return current_trace() is None


def get_opaque_trace_state(convention: str = "") -> Any:
    """Return a value that is equal as long as the same trace is current."""
    return identity(current_trace())


def find_top_trace(_: Any) -> Trace | None:
    """Return the trace of the function that is being traced."""
    return current_trace()


class _NodeTypes:
    """The classes whose instances are nodes of trees, for `in`."""

    def __contains__(self, kind: type) -> bool:
        return is_tree_node(kind)


NODE_TYPES: Final = _NodeTypes()


def valid_jaxtype(x: Any) -> bool:
    """Return whether a value can be an argument of a jitted function."""
    try:
        get_aval(x)
    except Exception:
        return False
    return True
