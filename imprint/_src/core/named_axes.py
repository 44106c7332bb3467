"""Which named axes are bound: what collectives ask, and the error if one is not.

The axes are those of the current trace (`trace.named_axes`); a collective names one, or
several in a tuple or a list, the first of which varies slowest.
"""

from collections.abc import Generator, Hashable, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast, final

from imprint._src.core.array_interop import shown
from imprint._src.core.trace import (
    NamedAxes,
    NamedAxis,
    Trace,
    current_trace,
    named_axes,
    process_under,
    tracing,
)
from imprint._src.errors import ArgumentError, UnboundAxisError


def names_in(axis_name: Any) -> tuple[Any, ...]:
    """Return the names that a collective is given: one, or a tuple or list of them."""
    if isinstance(axis_name, tuple | list):
        return tuple(cast("Sequence[Any]", axis_name))
    return (axis_name,)


def size_of(axis_name: Hashable, who: str) -> int:
    """Return the size of a named axis; `who` begins the error if it is not bound."""
    return axis_of(axis_name, who).size


def axis_of(axis_name: Hashable, who: str) -> NamedAxis:
    """Return a named axis; `who` begins the error if it is not bound."""
    check_name(axis_name, who)
    axes = named_axes()
    for axis in axes:
        if axis.name == axis_name:
            return axis
    raise unbound(axis_name, who, axes)


def check_name(axis_name: Any, who: str) -> None:
    """Raise unless a value can name an axis."""
    try:
        hash(axis_name)
    except TypeError:
        raise ArgumentError(
            f"{who}: expected axis_name to be hashable, got {shown(axis_name)}. "
            "Name an axis by a string; several, in a tuple."
        ) from None


def unbound(axis_name: Hashable, who: str, axes: NamedAxes = ()) -> UnboundAxisError:
    """Return the error of an axis that is not bound."""
    bound = ", ".join(map(str, axes))
    wanted = f"one of those mapped here: {bound}" if axes else "one that is mapped here"
    came = "" if axes else ", and no axis that is mapped here has a name"
    return UnboundAxisError(
        f"{who}: expected the name of an axis, {wanted}; got {axis_name!r}{came}. Name it "
        f"where it is mapped, around this call: imprint.vmap(f, axis_name={axis_name!r})."
    )


# ---- axes that nothing maps ----


@contextmanager
def within_axes(axes: Sequence[tuple[Hashable, int]], who: str) -> Generator[None]:
    """Bind names of axes for what is staged inside the `with` block.

    Args:
        axes: names and sizes; they hide outer axes of these names.
        who: what begins the error if one cannot be a name.
    """
    for name, _ in axes:
        check_name(name, who)
    with binding_axes([NamedAxis(name, size) for name, size in axes]):
        yield


def binding_axes(axes: Sequence[NamedAxis]) -> AbstractContextManager[None]:
    """Bind axes for what is staged inside the `with` block; outer ones are hidden."""
    return tracing(_Within(axes) if axes else current_trace())


@final
class _Within(Trace):
    """Knows axes, and leaves the rest to the trace around it."""

    __slots__ = ("parent",)

    def __init__(self, axes: Sequence[NamedAxis]) -> None:
        super().__init__()
        self.parent: Trace | None = current_trace()
        own = {axis.name: axis for axis in axes}
        outer = [axis for axis in self.axes if axis.name not in own]
        self.axes = (*outer, *own.values())
        self.is_checked = any(axis.is_checked for axis in self.axes)

    def process(
        self, primitive: Any, operands: tuple[Any, ...], params: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Apply the primitive under the trace around."""
        return process_under(self.parent, primitive, operands, params)

    def describe(self) -> str:
        """Say what the trace around traces."""
        return self.parent.describe() if self.parent is not None else "make_jaxpr"
