"""Fuse eager functions: run their primitives' references as one NumPy function.

An eager function of ten primitives takes ten evaluations and its own Python code.
`fuse_eager` stages a hot function once, and writes its references as one function of
NumPy arrays: 1 us a primitive, not 5.
1. The key of a call is its settings, the avals of its arrays and its other values.
2. Call number `_OFTEN` of a key is staged, the first if an array is large. Others run
   unfused, and so do functions that need values or have effects.
3. With large arrays it may become a program. Otherwise operations on constants are
   computed now, the rest is text for `compile` (no `exec`).
"""

from collections.abc import Callable, Iterator
from functools import partial, wraps
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar, cast, final

import numpy as np

from imprint._src import runtime
from imprint._src.array import ArrayImpl, buffer_on, host_of, host_values, wrap_host
from imprint._src.config import settings
from imprint._src.control_flow import call as call_rules
from imprint._src.core.array import NumberArray
from imprint._src.core.aval import ShapedArray
from imprint._src.core.control import ControlPrimitive
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from imprint._src.core.primitive import Primitive, ThreadedPrimitive
from imprint._src.core.trace import current_trace
from imprint._src.diagnostics.traceback_filter import drop_internal_frames
from imprint._src.eager.evaluate import in_present_context, quiet, run_threaded
from imprint._src.eager.large_operands import LARGE, function_pays
from imprint._src.interpreters import dce, trace_to_jaxpr
from imprint._src.jit.compilation.lowered import lower
from imprint._src.jit.compilation.program import Program, compile_module
from imprint._src.tree import internal as tree

P = ParamSpec("P")
R = TypeVar("R")
NDArray = np.ndarray[Any, Any]

_OFTEN: Final = 4
"""The call of a kind that is staged, which takes as long as ten others."""
_KINDS: Final = 256
"""The maximum number of call signatures of a function with plans."""
_LONGEST: Final = 64
"""Elements of a list up to which it is a part of a kind."""
_SMALL: Final = 1 << 18
"""Bytes of a constant up to which a plan holds it."""


def fuse_eager(function: Callable[P, R]) -> Callable[P, R]:
    """Evaluate a function in one go where it is called often and nothing is traced.

    It is for functions of arrays that mean the same whether their arrays are tracers, and
    do nothing but to return arrays. One that stages an equation or two is left alone: a
    call that is staged takes 100 ns more.
    """
    _known[function] = _FusedCalls()

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if current_trace() is not None:
                return function(*args, **kwargs)
            arrays: list[ArrayImpl] = []
            kind = _call_key(args, kwargs, arrays)
            plan = _known[function].plans.get(kind, 0)
            if type(plan) is _FusedCall or type(plan) is _CompiledCall:
                try:
                    return plan.run(arrays)
                except Exception:  # a singular matrix: the function handles it
                    return function(*args, **kwargs)
            if plan is not None:
                plans = _known[function]
                make = partial(_plan_of, function, args, kwargs)
                plan = plans.note(kind, plan, make, is_large=_are_large(arrays))
                if type(plan) is _CompiledCall:
                    return plan.run(arrays)
            return function(*args, **kwargs)
        except Exception as err:
            drop_internal_frames(err)
            raise

    return call


@final
class _FusedCalls:
    """The fused calls of a function, by their key.

    Attributes:
        plans: the fused call; None if there is none; the number of earlier calls.
    """

    __slots__ = ("plans",)

    def __init__(self) -> None:
        self.plans: dict[_CallKey | None, int | _Plan | None] = {None: None}

    def note(
        self,
        kind: "_CallKey | None",
        calls: Any,
        make: Callable[..., "_Plan | None"],
        *,
        is_large: bool,
    ) -> "int | _Plan | None":
        """Enter a call of a kind that has no plan yet; return the entry."""
        if len(self.plans) >= _KINDS:
            self.plans = {None: None}
        is_due = is_large or calls == _OFTEN
        entry = make(is_large=is_large) if is_due else calls + 1
        self.plans[kind] = entry
        return entry


_known: Final[dict[Callable[..., Any], _FusedCalls]] = {}
"""Not in closures: a guard on captured values would find a change."""

# ---- 1. call signatures ----


_CallKey = tuple[Any, ...]


def _call_key(args: Any, kwargs: Any, arrays: list[ArrayImpl]) -> _CallKey | None:
    """Return the key of a call, equal for calls that compute the same; None without one.

    Args:
        args: of the call.
        kwargs: of the call.
        arrays: takes the arrays among them.
    """
    kind: list[Any] = [settings()]
    for x in args:
        if type(x) is ArrayImpl:  # 50 ns less in the common case
            kind.append(x.aval)
            arrays.append(x)
        elif not _read(x, kind, arrays):
            return None
    for name, x in kwargs.items():
        kind.append(name)
        if not _read(x, kind, arrays):
            return None
    return (*kind,)


def _read(x: Any, kind: list[Any], arrays: list[ArrayImpl]) -> bool:
    """Enter an argument into a kind, and its arrays into a list; False if it cannot be."""
    of = x.__class__
    if of is ArrayImpl:
        kind.append(x.aval)
        arrays.append(x)
        return True
    kind.append(of)  # 1, 1.0 and True are equal
    if of in _BY_VALUE:
        kind.append(x)
        return True
    if of is float:
        kind.append(x or str(x))  # so are 0.0 and -0.0
        return x == x
    if of in _SEQUENCES and len(x) <= _LONGEST:
        kind.append(len(x))
        return all(_read(item, kind, arrays) for item in x)
    return False


_BY_VALUE: Final = frozenset({bool, int, str, type(None)})
_SEQUENCES: Final = frozenset({tuple, list})

# ---- 2. plans ----


def _are_large(arrays: list[ArrayImpl]) -> bool:
    return any(x.aval.size >= LARGE for x in arrays)


@final
class _CompiledCall(NamedTuple):
    """The evaluation of the calls with one key by a program.

    Args:
        program: the program.
        device: its device.
        make: from the list of the results to the result of the function.
    """

    program: Program
    device: runtime.Device
    make: Callable[[list[Any]], Any] | None

    def run(self, arrays: list[ArrayImpl]) -> Any:
        """Return the result of the function for these arrays."""
        given = [buffer_on(arrays[i], self.device) for i in self.program.kept]
        buffers = self.program.run(given)
        outs = [*map(ArrayImpl, self.program.out_avals, buffers)]
        return outs[0] if self.make is None else self.make(outs)


class _FusedCall(NamedTuple):
    """The evaluation of the calls with one key.

    Args:
        compute: from NumPy arrays to NumPy arrays.
        avals: of the results.
        make: from the list of the results to the result of the function; None if it is
            the only one.
    """

    compute: Callable[..., Any]
    avals: tuple[ShapedArray, ...]
    make: Callable[[list[Any]], Any] | None

    def run(self, arrays: list[ArrayImpl]) -> Any:
        """Return the result of the function for these arrays."""
        hosts: list[NDArray] = []
        for x in arrays:
            try:
                hosts.append(x._host)  # pyright: ignore[reportPrivateUsage] - the hot path
            except AttributeError:
                hosts.append(host_of(x))
        outs = quiet.run(self.compute, *hosts)
        if self.make is None:  # nearly always, and 200 ns less
            return wrap_host(self.avals[0], outs[0])
        return self.make(
            [wrap_host(*pair) for pair in zip(self.avals, outs, strict=True)]
        )


_Plan = _FusedCall | _CompiledCall


def _plan_of(
    function: Callable[..., Any], args: Any, kwargs: Any, *, is_large: bool
) -> _Plan | None:
    """Stage a call and fuse it; None where it needs more than references."""
    flags = settings()
    is_watched = flags.debug_nans or flags.debug_infs or flags.disable_jit
    is_placed = flags.default_device is not None
    if is_watched or is_placed or flags.numpy_rank_promotion != "allow":
        return None
    arrays = [x for x in tree.leaves((args, kwargs)) if type(x) is ArrayImpl]
    if any(x.aval.sharding is not None for x in arrays):
        return None
    found: list[tuple[tree.TreeDef, list[Any]]] = []

    def flat(*tracers: Any) -> list[Any]:
        given_by = iter(tracers)
        given = [_exchanged(x, given_by) for x in args]
        named = {name: _exchanged(x, given_by) for name, x in kwargs.items()}
        leaves, treedef = tree.flatten(function(*given, **named))
        arrays = [x for x in leaves if isinstance(x, NumberArray)]
        rest = [_HERE if isinstance(x, NumberArray) else x for x in leaves]
        if any(type(x) not in _BY_VALUE for x in rest if x is not _HERE):
            raise _UnplannedError
        found.append((treedef, rest))
        return arrays

    def staged(transform: str) -> ClosedJaxpr:
        found.clear()
        name = getattr(function, "__name__", "")
        info = trace_to_jaxpr.DebugInfo(transform, name)
        return dce.dce(trace_to_jaxpr.stage(flat, [x.aval for x in arrays], info))

    def make() -> Callable[[list[Any]], Any] | None:
        ((treedef, rest),) = found
        return None if treedef.is_leaf else partial(_made, treedef, rest)

    try:
        if is_large:
            closed = staged("compile_eager")
            if function_pays(_equations(closed.jaxpr)):
                device = runtime.first_device()
                module = lower(closed, closed.jaxpr.name)
                return _CompiledCall(
                    compile_module(module, device=device), device, make()
                )
        closed = staged("fuse_eager")
        compute = _CodeGenerator(closed).written()
    except Exception:
        return None
    return _FusedCall(compute, closed.out_avals, make())


def _equations(jaxpr: Jaxpr) -> Iterator[Eqn]:
    """Yield the equations that are no calls, also those in calls."""
    for eqn in jaxpr.eqns:
        if getattr(eqn.primitive, "eager", None) is call_rules.applied_eager:
            yield from _equations(eqn.params["jaxpr"].jaxpr)
        else:
            yield eqn


_HERE: Final = object()
"""The placeholder of an array among the leaves of a result."""


def _made(treedef: tree.TreeDef, leaves: list[Any], outs: list[Any]) -> Any:
    arrays = iter(outs)
    return treedef.unflatten([next(arrays) if x is _HERE else x for x in leaves])


class _UnplannedError(Exception):
    """An operation is more than its reference."""


def _exchanged(x: Any, tracers: Iterator[Any]) -> Any:
    if type(x) is ArrayImpl:
        return next(tracers)
    if type(x) in _SEQUENCES:
        return type(x)([_exchanged(item, tracers) for item in x])
    return x


# ---- 3. text ----


@final
class _CodeGenerator:
    """Generates the code that calls the references of a program."""

    def __init__(self, closed: ClosedJaxpr) -> None:
        self._names: dict[Var, str] = {}
        self._known: dict[Var, NDArray] = {}
        self._lines: list[str] = []
        self._held: dict[str, Any] = {"asarray": np.asarray}
        arguments = [self._new(v) for v in closed.jaxpr.invars]
        for v, x in zip(closed.jaxpr.constvars, closed.consts, strict=True):
            self._know(v, host_of(x) if type(x) is ArrayImpl else np.asarray(x))
        self._write(closed.jaxpr)
        outs = [self._name(v) for v in closed.jaxpr.outvars]
        if not set(arguments).isdisjoint(outs):  # a result must be a new array
            raise _UnplannedError
        self._lines.insert(0, f"def compute({', '.join(arguments)}):")
        self._lines.append(f"return ({''.join(out + ',' for out in outs)})")

    def written(self) -> Callable[..., Any]:
        """Return the function."""
        module = compile("\n ".join(self._lines), "<imprint one go>", "exec")
        (code,) = (c for c in module.co_consts if isinstance(c, CodeType))
        return cast("Callable[..., Any]", FunctionType(code, self._held))

    def _write(self, jaxpr: Jaxpr) -> None:
        for eqn in jaxpr.eqns:
            if isinstance(eqn.primitive, ControlPrimitive):
                self._write_inside(eqn)
            elif type(eqn.primitive) not in _BY_REFERENCE:
                raise _UnplannedError
            elif all(isinstance(x, Literal) or x in self._known for x in eqn.invars):
                self._compute(eqn)
            else:
                self._write_eqn(eqn)

    def _write_inside(self, eqn: Eqn) -> None:
        """Write the equations of one that applies its jaxpr to its operands."""
        if (
            cast("ControlPrimitive", eqn.primitive).eager
            is not call_rules.applied_eager
        ):
            raise _UnplannedError
        body: Jaxpr = eqn.params["jaxpr"].jaxpr
        for v, x in zip(body.invars, eqn.invars, strict=True):
            self._same(v, x)
        self._write(body)
        for v, x in zip(eqn.outvars, body.outvars, strict=True):
            self._same(v, x)

    def _same(self, var: Var, atom: Atom) -> None:
        value = self._value(atom)
        if value is None:
            self._names[var] = self._name(atom)
        else:
            self._know(var, value)

    def _compute(self, eqn: Eqn) -> None:
        values = [self._value(x) for x in eqn.invars]
        outs = quiet.run(eqn.primitive.reference, *values, **eqn.params)
        for v, out in zip(eqn.outvars, outs, strict=True):
            self._know(v, np.asarray(out, v.aval.dtype))

    def _write_eqn(self, eqn: Eqn) -> None:
        given = [self._name(x) for x in eqn.invars]
        params = [f"{name}={self._hold(x)}" for name, x in eqn.params.items()]
        outs = [self._new(v) for v in eqn.outvars]
        call = f"{self._hold(_reference_of(eqn))}({', '.join(given + params)})"
        self._lines.append(f"{''.join(out + ',' for out in outs)} = {call}")
        for v, out in zip(eqn.outvars, outs, strict=True):
            # NumPy gives scalars, and computes integers below a byte as int8.
            self._lines.append(f"{out} = asarray({out}, {self._hold(v.aval.dtype)})")

    def _value(self, atom: Atom) -> NDArray | None:
        """Return the value of an operand, if it is known."""
        if isinstance(atom, Var):
            return self._known.get(atom)
        value = atom.read()
        if type(value) is ArrayImpl:
            return host_of(value)
        return host_values(value, atom.aval.dtype)

    def _name(self, atom: Atom) -> str:
        if isinstance(atom, Var) and atom in self._names:
            return self._names[atom]
        value = self._value(atom)
        assert value is not None
        name = self._hold(value)
        if isinstance(atom, Var):
            self._names[atom] = name
        return name

    def _know(self, var: Var, value: NDArray) -> None:
        if value.nbytes > _SMALL:
            raise _UnplannedError
        self._known[var] = value

    def _new(self, var: Var) -> str:
        name = self._names[var] = f"v{len(self._names)}"
        return name

    def _hold(self, x: Any) -> str:
        name = f"c{len(self._held)}"
        self._held[name] = x
        return name


_BY_REFERENCE: Final = frozenset({Primitive, ThreadedPrimitive})


def _reference_of(eqn: Eqn) -> Callable[..., Any]:
    primitive = eqn.primitive
    if type(primitive) is ThreadedPrimitive:
        return partial(run_threaded, primitive, in_present_context, primitive.reference)
    return primitive.reference
