"""Traces, tracers and named axes.

There is one current trace. `Primitive.bind_all` passes the operands to it; without one,
evaluation is eager. A transform pushes its trace with `tracing`, and its rules run
under the trace that was current before (`parent`), so transforms nest. A tracer belongs
to one trace; a tracer whose trace has ended was leaked, and `check_alive` raises.
Collectives use the named axes of the current trace (`axes`): a trace inherits them from
the trace around it, and `vmap` adds its own. So a rule, which runs under the parent,
sees no axis that is hidden above it.
"""

from collections.abc import Generator, Hashable, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, Token
from typing import Any, ClassVar, Final, NamedTuple, NoReturn, cast, final

from imprint._src.bootstrap import hooks
from imprint._src.core.array import NumberArray
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import ShapedArray
from imprint._src.diagnostics.concretization_hints import Construct, current_construct
from imprint._src.diagnostics.source import Source, current_source
from imprint._src.errors import (
    ArgumentError,
    ConcretizationError,
    ShapeError,
    UnboundAxisError,
    UnexpectedTracerError,
)


class NamedAxis(NamedTuple):
    """An axis that `vmap` hides, or of a mesh, by the name that collectives know."""

    name: Hashable
    size: int
    is_checked: bool = False
    """Whether avals track variation along it: it is a mesh axis in `shard_map`."""

    def __str__(self) -> str:
        return f"{self.name!r} of size {self.size}"


NamedAxes = tuple[NamedAxis, ...]
"""The axes around a place of the program, the innermost last; no name twice."""


class Trace:
    """Interprets primitives; `ended` once the traced function returned.

    Attributes:
        axes: the named axes of the traced function.
        is_checked: whether avals track variation along some of them.
    """

    __slots__ = ("__weakref__", "axes", "ended", "is_checked")
    stages: ClassVar[bool] = False
    """Whether it writes a program, whose results are arrays of their own anyway."""

    def __init__(self) -> None:
        self.axes: NamedAxes = named_axes()
        self.is_checked: bool = any(axis.is_checked for axis in self.axes)
        self.ended: bool = False

    @property
    def main(self) -> "Trace":
        """The trace itself, for libraries that compare what tracers belong to."""
        return self

    @property
    def evaluates(self) -> bool:
        """Whether its equations are computed by references, and by nothing else."""
        return False

    def process(
        self, primitive: Any, operands: tuple[Any, ...], params: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Apply `primitive` to `operands` under this trace."""
        raise NotImplementedError

    def describe(self) -> str:
        """Describe the traced function: `loss, traced by jit at model.py:41`."""
        raise NotImplementedError

    def static_advice(self) -> str:
        """Say how an argument of the traced function stays a Python value."""
        return "mark its argument static (static_argnums)"


_current: ContextVar[Trace | None] = ContextVar("imprint_trace", default=None)
current_trace: Final = _current.get
set_trace: Final = _current.set
reset_trace: Final = _current.reset


def named_axes() -> NamedAxes:
    """Return the named axes that are mapped around here."""
    trace = current_trace()
    return () if trace is None else trace.axes


def tracing(trace: Trace | None) -> AbstractContextManager[None]:
    """Make `trace` the current trace inside the `with` block; None means eager."""
    return _Tracing(trace)


@final
class _Tracing:
    """Sets the current trace, and resets it; `contextlib` takes 1 µs more."""

    __slots__ = ("_token", "_trace")
    _token: Token[Trace | None]

    def __init__(self, trace: Trace | None) -> None:
        self._trace = trace

    def __enter__(self) -> None:
        self._token = _current.set(self._trace)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)


def process_under(
    trace: Trace | None, primitive: Any, operands: tuple[Any, ...], params: Any
) -> tuple[Any, ...]:
    """Apply `primitive` under `trace` as if it were current; None means eager."""
    if trace is not None and trace.stages:  # it does not read the current trace
        return trace.process(primitive, operands, params)
    token = set_trace(trace)
    try:
        if trace is None:
            return hooks.eager(primitive, operands, params)
        return trace.process(primitive, operands, params)
    finally:
        reset_trace(token)


class Tracer(NumberArray):
    """Stands for an array while a function is traced."""

    __slots__ = ("aval", "owner")
    owner: Trace
    aval: ShapedArray

    @property
    def _trace(self) -> Trace:
        """The trace that made it, by JAX's name."""
        return self.owner

    @property
    def device(self) -> None:
        """None, which where an array is made means: where the program will run."""
        return

    def concrete_for(self, user: str, kind: str, remedy: str) -> Any:
        """Return the value of this tracer; raise if it is not known."""
        check_alive(self)
        raise_concretization(self, user, kind, remedy)

    def check_constant(self, user: str) -> None:
        """Raise if a tangent would be lost where `user` takes the value."""

    def origin(self) -> "Source | None":
        """Return the location in the user program that made this tracer."""
        return None

    def provenance(self) -> str:
        """Say which argument this tracer is or comes from, in one sentence."""
        return f"It was made while tracing {self.owner.describe()}."

    def static_advice(self) -> str:
        """Say how to get this value as a Python value; empty if it is known."""
        return self.owner.static_advice()

    def __bool__(self) -> bool:
        return bool(self.concrete_for("a condition", "bool", _BOOL_REMEDY))

    def __int__(self) -> int:  # a step function, as `bool` is: nothing to lose
        return int(self.concrete_for("`int()`", "int", _INT_REMEDY))

    def __index__(self) -> int:
        value = self._constant_for("an index or a size", "int", _INT_REMEDY)
        return value.__index__()

    def __float__(self) -> float:
        return float(self._constant_for("`float()`", "float", _FLOAT_REMEDY))

    def __complex__(self) -> complex:
        return complex(self._constant_for("`complex()`", "complex", _FLOAT_REMEDY))

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] - says more than None does
        check_alive(self)
        raise_concretization(self, "a key of a dict or set", "value", _KEY_REMEDY)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return format(self.concrete_for("a format", "number", _TEXT_REMEDY), spec)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:  # noqa: FBT001 - NumPy's protocol
        value = self._constant_for("NumPy", "array", _ARRAY_REMEDY)
        return value.__array__(dtype, copy)

    def tolist(self) -> Any:
        """Return a nested Python list; needs a concrete array."""
        return self._constant_for("`.tolist()`", "array", _ARRAY_REMEDY).tolist()

    def item(self, *args: int) -> Any:
        """Return one element as a Python scalar; needs a concrete array."""
        return self._constant_for("`.item()`", "array", _ARRAY_REMEDY).item(*args)

    def __reduce__(self) -> Any:
        return self._constant_for("`pickle`", "array", _ARRAY_REMEDY).__reduce__()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.aval})"

    def _constant_for(self, user: str, kind: str, remedy: str) -> Any:
        value = self.concrete_for(user, kind, remedy)
        self.check_constant(user)
        return value


# Generic remedies; `concretization_hints` has better ones for known constructs.
_BOOL_REMEDY = (
    "To choose by a traced condition write imprint.numpy.where(condition, a, b), or\n"
    "  imprint.lax.cond(condition, f, g), which computes only one of the two"
)
_INT_REMEDY = (
    "Sizes, indices and counts must be known while tracing: take them from `x.shape`"
)
_FLOAT_REMEDY = "Keep it an array: imprint.numpy computes with it"
_ARRAY_REMEDY = (
    "NumPy needs the values, which exist only when the compiled program runs: use the\n"
    "  function of the same name in imprint.numpy, or do this outside the traced call"
)
_KEY_REMEDY = (
    "Keys are compared while tracing, when there is no value: look up outside, or\n"
    "  choose among arrays with imprint.numpy.where"
)
_TEXT_REMEDY = (
    "The value exists only when the compiled program runs: return it, and make the\n"
    "  text of it outside"
)


def raise_concretization(tracer: Tracer, user: str, kind: str, remedy: str) -> NoReturn:
    """Raise the error of a value that is needed while it is still abstract.

    Args:
        tracer: the value.
        user: the operation that needs it, if its source construct is not known.
        kind: the kind of value that it needs.
        remedy: the generic advice.
    """
    here = current_source()
    made = tracer.origin() or here
    text = f" ({made.expression})" if made is not None and made.expression else ""
    place = f" at {here}" if here is not None else ""
    by = (current_construct() if kind != "value" else None) or Construct(user, "")
    came = f"tracer {tracer.aval}{text}{place}.\n  {tracer.provenance()}"
    if kind == "bool" and tracer.aval.ndim:
        raise ShapeError(
            f"{by.name} needs one bool, got {came}\n"
            "  An array of several elements has no truth value: reduce it with `.any()` or\n"
            "  `.all()`, or choose by each element with imprint.numpy.where."
        )
    otherwise = ""
    if not tracer.aval.ndim and kind != "array":  # an array is no Python value
        otherwise = f";\n  to make it a Python value, {tracer.static_advice()}"
    raise ConcretizationError(
        f"{by.name} needs a concrete {kind}, got {came}\n  {by.remedy or remedy}{otherwise}."
    )


def check_alive(tracer: Tracer) -> None:
    """Raise UnexpectedTracerError if the trace of `tracer` has ended."""
    if not tracer.owner.ended:
        return
    origin = tracer.origin()
    made = "" if origin is None else f"  It was made at {origin}: {origin.text}\n"
    raise UnexpectedTracerError(
        "expected a value that belongs to this call, got a leaked tracer "
        f"{tracer.aval}.\n{made}"
        f"  {tracer.provenance()}\n"
        "  That call has returned, and its tracers with it.\n"
        "  Return the value from the traced function; do not store it in a global, an\n"
        "  attribute or a list that outlives the call."
    )


# ---- named axes ----


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
    """Bind names of axes for the code that is staged inside the `with` block.

    Args:
        axes: names and sizes; they hide outer axes of these names.
        who: the beginning of the error if a name is not hashable.
    """
    for name, _ in axes:
        check_name(name, who)
    with bind_axes([NamedAxis(name, size) for name, size in axes]):
        yield


def bind_axes(axes: Sequence[NamedAxis]) -> AbstractContextManager[None]:
    """Bind axes for the code staged inside the `with` block; outer ones are hidden."""
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
        """Describe the surrounding trace."""
        return self.parent.describe() if self.parent is not None else "make_jaxpr"


# ---- evaluation while tracing ----


@contextmanager
def ensure_compile_time_eval() -> Generator[None]:
    """Evaluate operations inside the `with` block now, unless they depend on a tracer.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> @imprint.jit
        ... def first(x):
        ...     with imprint.ensure_compile_time_eval():
        ...         count = int(np.sqrt(np.array(4.0)))
        ...     return x[:count]
        >>> first(np.arange(5))
        Array([0, 1], dtype=int32)
    """
    outer = current_trace()
    with tracing(None if outer is None else _CompileTime(outer)):
        yield


@final
class _CompileTime(Trace):
    """Evaluates operations on known values, and leaves the rest to the outer trace."""

    __slots__ = ("_outer",)

    def __init__(self, outer: Trace) -> None:
        super().__init__()
        self._outer = outer

    def process(
        self, primitive: Any, operands: tuple[Any, ...], params: dict[str, Any]
    ) -> tuple[Any, ...]:
        known = not any(isinstance(x, Tracer) for x in operands)
        known = known and not primitive.axis_names_of(params)
        trace = None if known else self._outer
        return process_under(trace, primitive, operands, params)

    def describe(self) -> str:
        return self._outer.describe()

    def static_advice(self) -> str:
        return self._outer.static_advice()
