"""Eager evaluation: evaluate one primitive now.

Outside any trace a primitive runs by its NumPy reference, so `x + y` compiles nothing.
With large operands some run as programs (`large_operands`).
A control primitive declares how it runs: by its reference, compiled once for each jaxpr
it holds, or by binding other primitives. IEEE results (inf, nan) are values, not
warnings: references run in a context of this thread without NumPy warnings. Context
variables of the caller do not reach them: flags that matter are in the avals and the
params.
"""

import contextvars
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from imprint._src import native, runtime
from imprint._src.array import (
    ArrayImpl,
    buffer_on,
    buffer_over,
    deleted_error,
    from_host,
    host_of,
    host_values,
    to_array,
    wrap_host,
)
from imprint._src.bootstrap import hooks
from imprint._src.config import Settings, settings
from imprint._src.core import aval as aval_module
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.control import ControlPrimitive, Eager, one_equation
from imprint._src.core.host_kernel import is_off_host
from imprint._src.core.primitive import (
    Absent,
    EffectfulPrimitive,
    Primitive,
    ThreadedPrimitive,
)
from imprint._src.core.trace import Tracer
from imprint._src.diagnostics.source import current_source
from imprint._src.diagnostics.traceback_filter import drop_internal_frames
from imprint._src.eager.large_operands import FEWEST, program_pays
from imprint._src.errors import DeletedArrayError, NonFiniteError
from imprint._src.jit.calls.device_assignment import (
    ShardedAssignment,
    default_assignment,
    layout_of_equation,
    sharded_assignment,
)
from imprint._src.jit.compilation.lowered import LoweredProgram, lower
from imprint._src.jit.compilation.program import Program, compile_module
from imprint._src.jit.fingerprint.static_values import static_token
from imprint._src.passes import nan_checks
from imprint._src.primitives.constraints import meshes_in
from imprint._src.runtime import Buffer
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.spec import P


class _Quiet(threading.local):
    """A context without NumPy's floating-point warnings; 0.1 us, `errstate` takes 0.7."""

    def __init__(self) -> None:
        context = contextvars.copy_context()
        context.run(np.seterr, all="ignore")
        self.run: Callable[..., Any] = context.run


quiet: Final = _Quiet()
"""`quiet.run(function, *args, **kwargs)` calls a NumPy function without warnings."""


def evaluate(  # noqa: C901, PLR0912 - hot: a helper costs 60 ns
    primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]
) -> tuple[Any, ...]:
    """Apply a primitive to concrete operands; hot."""
    run: Callable[..., Any] = quiet.run
    if type(primitive) is not Primitive:
        if not isinstance(primitive, ControlPrimitive):
            run = _runner(primitive)
        elif primitive.eager is not Eager.INTERPRETED:
            return _by_rule(primitive, operands, params)
    avals: list[Any] = []
    hosts: list[Any] = []
    for x in operands:
        if type(x) is ArrayImpl:
            avals.append(x.aval)
            try:  # the function `host_of` costs 50 ns more
                hosts.append(x._host)  # pyright: ignore[reportPrivateUsage] - the hot path
            except AttributeError:
                if is_off_host(x):
                    if type(x.aval.sharding) is NamedSharding:
                        return _evaluate_spread(primitive, operands, params)
                    return _evaluate_there(primitive, operands, params)
                hosts.append(host_of(x))
        elif isinstance(x, Tracer):
            to_array(x)  # raises: the tracer has leaked
        else:
            aval = get_aval(x)
            avals.append(aval)
            is_typed = isinstance(x, np.generic)  # nothing to check, nothing to share
            make = np.asarray if is_typed else host_values
            hosts.append(make(x, aval.dtype))
    try:
        out_avals = primitive.out_avals(tuple(avals), params)
    except Exception as err:
        drop_internal_frames(err)
        raise
    if (
        hosts
        and hosts[0].size >= FEWEST
        and out_avals  # effects have none
        and program_pays(primitive, hosts[0].size, out_avals[0].size)
    ):
        return _evaluate_there(primitive, operands, params)
    outs = run(primitive.reference, *hosts, **params)
    flags = settings()  # 50 ns with the tests
    if flags.debug_nans or flags.debug_infs:
        _check_finite(primitive, hosts, outs)
    make = wrap_host if flags.default_device is None else from_host
    if len(out_avals) == 1:  # nearly always, and 200 ns less
        (out,) = outs
        (aval,) = out_avals
        # NumPy computes integers below a byte as int8: only the dtype cuts them.
        return (make(aval, np.asarray(out, aval.dtype)),)
    pairs = zip(out_avals, outs, strict=True)
    return tuple([make(aval, np.asarray(out, aval.dtype)) for aval, out in pairs])


def _evaluate_spread(
    primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]
) -> tuple[Any, ...]:
    """Apply a primitive to operands over several devices: compiled, once for each kind."""
    arrays = [*map(to_array, operands)]
    avals = tuple([x.aval for x in arrays])
    if isinstance(primitive, EffectfulPrimitive) or isinstance(primitive.lower, Absent):
        return _gathered(primitive, arrays, params)
    key = _key(primitive, avals, params)
    found = _SPREAD.get(key)
    if found is None:
        closed = one_equation(primitive, tuple([a.unplaced() for a in avals]), params)
        layout = layout_of_equation(primitive.name, closed, avals)
        module = lower(closed, primitive.name, keep_unused=True, layout=layout)
        program = compile_module(module)
        if len(_SPREAD) >= _MOST:
            _SPREAD.clear()
        found = _SPREAD[key] = program, sharded_assignment(program, avals)
    program, home = found
    pairs = zip(arrays, home.inputs[len(program.consts) :], strict=True)
    buffers = program.run([buffer_over(x, sharding) for x, sharding in pairs])
    return _finite(primitive, arrays, home.place(program.out_avals), buffers)


def _finite(
    primitive: Primitive,
    arrays: Sequence[ArrayImpl],
    avals: Sequence[ShapedArray],
    buffers: Sequence[Buffer],
) -> tuple[ArrayImpl, ...]:
    """Return the results of a program, checked for NaN if a flag is set."""
    outs = tuple(map(ArrayImpl, avals, buffers))
    flags = settings()
    if flags.debug_nans or flags.debug_infs:
        _check_finite(primitive, [*map(host_of, arrays)], [*map(host_of, outs)])
    return outs


def _key(
    primitive: Primitive, avals: tuple[ShapedArray, ...], params: dict[str, Any]
) -> tuple[Any, ...]:
    names = tuple(params)
    exact = tuple([static_token(params[name], name) for name in names])
    return primitive, avals, names, exact, settings()


def _evaluate_there(
    primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]
) -> tuple[Any, ...]:
    """Apply a primitive where an operand is, by a program; compiled once a kind."""
    arrays = [*map(to_array, operands)]
    avals = tuple([x.aval.unplaced() for x in arrays])
    called = [f"operand {i}" for i in range(len(arrays))]
    placements = [x.aval.sharding for x in arrays]
    device, *_ = home = default_assignment(primitive.name, called, placements)
    if isinstance(primitive.lower, Absent):
        values = quiet.run(primitive.reference, *map(host_of, arrays), **params)
        placed = home.place(primitive.out_avals(avals, params))
        return tuple(map(from_host, placed, map(np.asarray, values)))
    key = device, *_key(primitive, avals, params)
    program = _THERE.get(key)
    if program is None:
        closed = one_equation(primitive, avals, params)
        module = lower(closed, primitive.name, keep_unused=True)
        if len(_THERE) >= _MOST:
            _THERE.clear()
        program = _THERE[key] = compile_module(module, device=device)
    buffers = program.run([buffer_on(x, device) for x in arrays])
    return _finite(primitive, arrays, home.place(program.out_avals), buffers)


def _gathered(
    primitive: Primitive, arrays: Sequence[ArrayImpl], params: dict[str, Any]
) -> tuple[Any, ...]:
    """Apply a primitive by its reference; each device gets the results."""
    shardings = [x.sharding for x in arrays]
    mesh = next(s.mesh for s in shardings if type(s) is NamedSharding)
    outs = quiet.run(primitive.reference, *map(host_of, arrays), **params)
    avals = primitive.aval(*[x.aval.unplaced() for x in arrays], **params)
    whole = NamedSharding(mesh, P())
    pairs = zip(avals, outs, strict=True)
    return tuple(
        [
            from_host(a.with_sharding(whole), np.asarray(out, a.dtype))
            for a, out in pairs
        ]
    )


def _runner(primitive: Primitive) -> Callable[..., Any]:
    if type(primitive) is ThreadedPrimitive:
        return partial(run_threaded, primitive, quiet.run)
    return in_present_context


def run_threaded(
    primitive: ThreadedPrimitive,
    run: Callable[..., Any],
    reference: Callable[..., Any],
    *hosts: Any,
    **params: Any,
) -> Sequence[Any]:
    """Return what a reference would, by a program if the operands are large."""
    if not primitive.is_large(*hosts, **params):
        return run(reference, *hosts, **params)
    avals = tuple([ShapedArray(x.shape, x.dtype) for x in hosts])
    key = primitive, avals, *params.items()
    program = _LARGE.get(key)  # no flag changes it
    device = runtime.first_device()
    if program is None:
        closed = one_equation(primitive, avals, params)
        if len(_LARGE) >= _MOST:
            _LARGE.clear()
        module = lower(closed, primitive.name, keep_unused=True)
        program = _LARGE[key] = compile_module(module, device=device)
    operands = zip(hosts, avals, strict=True)
    given = [runtime.put(x, aval, copy=False, device=device) for x, aval in operands]
    buffers = program.run(given)
    pairs = zip(program.out_avals, buffers, strict=True)
    return [host_of(ArrayImpl(aval, buffer)) for aval, buffer in pairs]


_SPREAD: Final[dict[Any, tuple[Program, ShardedAssignment]]] = {}
_THERE: Final[dict[Any, Program]] = {}
_LARGE: Final[dict[Any, Program]] = {}
_MOST: Final = 1024


def _by_rule(
    primitive: ControlPrimitive, operands: tuple[Any, ...], params: dict[str, Any]
) -> tuple[Any, ...]:
    compiled = primitive.eager is Eager.COMPILED
    rule: Any = partial(_run_compiled, primitive) if compiled else primitive.eager
    if settings().debug_key_reuse:
        return _run_checked(primitive, rule, operands, params)
    return rule(*operands, **params)


def _run_checked(
    primitive: ControlPrimitive,
    rule: Callable[..., Any],
    operands: tuple[Any, ...],
    params: dict[str, Any],
) -> tuple[Any, ...]:
    from imprint._src.control_flow import key_reuse  # noqa: PLC0415 - for few programs

    outs: list[Any] = []

    def run() -> list[Any]:
        outs.extend(rule(*operands, **params))
        return outs

    avals = tuple([get_aval(x) for x in operands])
    closed = one_equation(primitive, avals, params)
    key_reuse.run_checked(closed, operands, run)
    return tuple(outs)


def in_present_context(reference: Callable[..., Any], *args: Any, **params: Any) -> Any:
    """Run effects, which are user code, with the context variables of the caller."""
    return reference(*args, **params)


def _check_finite(primitive: Primitive, hosts: Sequence[Any], outs: Any) -> None:
    """Raise NonFiniteError where `debug_nans` or `debug_infs` forbids a result."""
    flags = settings()
    kind = nan_checks.watched_for(nans=flags.debug_nans, infinities=flags.debug_infs)
    found = partial(
        nan_checks.holds_one, nans=flags.debug_nans, infinities=flags.debug_infs
    )
    if not any(map(found, outs)):
        return
    site = current_source()
    place = "" if site is None else f" at {site} ({site.expression})"
    wrap_host = [i for i, x in enumerate(hosts) if found(x)]
    came = (
        f"operand {wrap_host[0]} already holds one"
        if wrap_host
        else "no operand holds one"
    )
    raise NonFiniteError(
        f"{primitive.name}: expected no {kind}, got one as result{place}; {came}. "
        "Guard the operand, such as with imprint.numpy.where, or turn debug_nans and "
        "debug_infs off."
    )


def _run_compiled(
    primitive: ControlPrimitive, *operands: Any, **params: Any
) -> tuple[Any, ...]:
    flags = settings()
    watched = flags.debug_nans, flags.debug_infs
    if _is_spread(primitive, operands, params):
        return _evaluate_spread(primitive, operands, params)
    module = _lowered(primitive, operands, params, watched)
    arrays = [to_array(operands[i]) for i in module.kept]
    called = [f"operand {i}" for i in module.kept]
    placements = [x.aval.sharding for x in arrays]
    device, *_ = home = default_assignment(primitive.name, called, placements)
    program: Program = primitive.jaxprs(params)[0].derived(
        ("program", id(module), device), lambda: compile_module(module, device=device)
    )
    try:
        buffers = program.run([buffer_on(x, device) for x in arrays])
    except DeletedArrayError as err:
        gone = (deleted_error(x) for x in arrays if x.is_deleted())
        raise next(gone, err) from None
    if module.sentinels is not None:
        found = host_of(ArrayImpl(program.out_avals[-1], buffers.pop()))
        given = [f"operand {i}" for i in range(len(operands))]
        results = [f"[{i}]" for i in range(len(buffers))]
        module.sentinels.check(found, primitive.name, given, results)
    avals = home.place(program.out_avals[: len(buffers)])
    return tuple(map(ArrayImpl, avals, buffers))


def _is_spread(
    primitive: ControlPrimitive, operands: tuple[Any, ...], params: dict[str, Any]
) -> bool:
    """Return whether operands are over several devices, or the program names a mesh."""
    if any(type(get_aval(x).sharding) is NamedSharding for x in operands):
        return True
    first, *_ = primitive.jaxprs(params)
    return "where" in params or first.derived(
        ("spread",), lambda: bool(meshes_in(first.jaxpr))
    )


def _lowered(
    primitive: ControlPrimitive,
    operands: tuple[Any, ...],
    params: dict[str, Any],
    watched: tuple[bool, bool],
) -> LoweredProgram:
    """Return the program of an equation; its first jaxpr holds it, so it dies with it."""
    first, *others = primitive.jaxprs(params)
    name = params.get("name", primitive.name)
    nans, infinities = watched
    if primitive.is_call:
        return first.derived(
            ("module", watched),
            lambda: lower(first, name, nans=nans, infinities=infinities),
        )
    avals = tuple([get_aval(x).unplaced() for x in operands])
    options = tuple(primitive.options(params).items())

    def make() -> LoweredProgram:
        closed = one_equation(primitive, avals, params)
        return lower(closed, name, nans=nans, infinities=infinities)

    key = "module", watched, primitive, avals, options, *others
    return first.derived(key, make)


def _native_evaluate() -> Any:
    """Return the twin of `evaluate` in C."""
    native.core.setup_eager(
        {
            "primitive": Primitive,
            "aval": ShapedArray,
            "scalar_avals": vars(aval_module)["_of_scalar"],
            "flags": Settings,
            "quiet": quiet,
            "asarray": np.asarray,
            "fewest": FEWEST,
            "evaluate": evaluate,
        }
    )
    return native.core.evaluate


hooks.install_eager(evaluate if native.core is None else _native_evaluate())
