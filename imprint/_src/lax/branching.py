"""Conditionals under JAX's names: `cond`, `switch` and `platform_dependent`.

Inside `jit` all branches are traced and only the chosen one runs, also under `vmap` if
the choice is not mapped. Without a trace, the first call with given functions and types
traces all branches, to compare what they return; later ones call the chosen function
and ignore the others.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from types import CellType, FunctionType
from typing import Any, Final, TypeVar, TypeVarTuple, cast, overload

import numpy as np

from imprint._src import dtypes, runtime
from imprint._src.config import settings
from imprint._src.control_flow.cond import choose
from imprint._src.control_flow.trace_body import (
    REMEDY,
    MismatchKind,
    Returned,
    TracedBody,
    defined,
    first_mismatch,
    leaf_names,
    own_values,
    trace_body,
    unite,
)
from imprint._src.core.aval import get_aval
from imprint._src.core.functions import as_result, name_of, result_leaves
from imprint._src.core.jaxpr import eval_jaxpr
from imprint._src.core.trace import Tracer
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import (
    ArgumentError,
    BackendError,
    DTypeError,
    ShapeError,
    TreeError,
)
from imprint._src.interpreters.trace_to_jaxpr import is_staging
from imprint._src.jit.api import run_loop
from imprint._src.primitives.core_ops import scalar_like
from imprint._src.primitives.elementwise.comparison import ne
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.select import clamp
from imprint._src.primitives.shape import as_operand
from imprint.tree import TreeDef

_NONE: Final[Any] = object()
"""The default of `operand`; None is a valid operand."""


R = TypeVar("R")
Operands = TypeVarTuple("Operands")


@overload
def cond(
    pred: Any,
    true_fun: Callable[[*Operands], R],
    false_fun: Callable[[*Operands], R],
    *operands: *Operands,
) -> R: ...
@overload
def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = ...,
) -> Any: ...
@filter_traceback
def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = _NONE,
) -> Any:
    """Call one of two functions; a compiled program runs only that one.

    Under `vmap` with a mapped condition, both run and elements are selected.

    Args:
        pred: the condition: a number of rank 0; nonzero is true.
        true_fun: called with the operands if the condition is true.
        false_fun: called if it is false; its result has the same tree, shapes and
            dtypes.
        operands: pytrees of arrays. The functions may also close over arrays.
        operand: one operand, as a keyword.

    Returns:
        The result of the called function, with arrays in place of numbers.

    Raises:
        ArgumentError: a branch is not a function, or the condition is not a number.
        ShapeError: the condition is not of rank 0, or results differ in shape.
        DTypeError: the condition is complex, or results differ in dtype.
        TreeError: the results differ in structure.

    References:
        StableHLO, `case`.

    Example:
        >>> import imprint
        >>> from imprint import lax, numpy as np
        >>> root = imprint.jit(lambda x: lax.cond(x > 0, np.sqrt, np.zeros_like, x))
        >>> root(4.0), root(-4.0)
        (Array(2., dtype=float32, weak_type=True), Array(0., dtype=float32, weak_type=True))
    """
    is_old = len(operands) == 2 and callable(false_fun) and callable(operands[1])
    if is_old and not callable(true_fun):  # operand and function, operand and function
        on_true, true_fun, on_false, false_fun = true_fun, false_fun, *operands
        return _both(pred, (true_fun, on_true), (false_fun, on_false))
    operands = _operands("cond", operands, operand)
    named = {"true_fun": true_fun, "false_fun": false_fun}
    _check_functions("cond", named)
    index = convert_element_type(_condition(pred), np.int32)
    return _choose("cond", index, named, operands, order=(1, 0))


@overload
def switch(
    index: Any, branches: Sequence[Callable[[*Operands], R]], *operands: *Operands
) -> R: ...
@overload
def switch(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    *operands: Any,
    operand: Any = ...,
) -> Any: ...
@filter_traceback
def switch(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    *operands: Any,
    operand: Any = _NONE,
) -> Any:
    """Call one of several functions by index; see `cond`.

    Args:
        index: an integer of rank 0, clipped into range.
        branches: functions that return the same tree, shapes and dtypes.
        operands: the arguments of the branches.
        operand: one operand, as a keyword.

    Returns:
        The result of the called branch, with arrays in place of numbers.

    Raises:
        ArgumentError: there is no branch, or one is not a function.
        ShapeError: the index is not of rank 0, or results differ in shape.
        DTypeError: the index is not an integer, or results differ in dtype.
        TreeError: the results differ in structure.

    References:
        StableHLO, `case`.

    Example:
        >>> from imprint import lax, numpy as np
        >>> lax.switch(1, [np.sin, np.square, np.exp], 3.0)
        Array(9., dtype=float32, weak_type=True)
    """
    named = _numbered(branches)
    operands = _operands("switch", operands, operand)
    _check_functions("switch", named)
    number = _number(index, len(named))
    return _choose("switch", number, named, operands, order=range(len(named)))


@filter_traceback
def platform_dependent(
    *args: Any,
    default: Callable[..., Any] | None = None,
    **per_platform: Callable[..., Any],
) -> Any:
    """Call the function for the platform of the computation.

    Inside `jit` all functions are traced, like branches of `switch`, so an error in one
    for another platform is found; only one is compiled.

    Args:
        args: the arguments: pytrees of arrays.
        default: the function for other platforms.
        per_platform: the functions by platform name, such as `cpu` and `cuda`.

    Returns:
        The result of the called function; all return the same tree, shapes and dtypes.

    Raises:
        ArgumentError: a platform is "gpu", or a value is not a function.
        BackendError: there is neither a function for the platform nor a default.

    References:
        JAX, `jax.lax.platform_dependent`.

    Example:
        >>> from imprint import lax, numpy as np
        >>> lax.platform_dependent(4.0, cpu=np.sqrt, default=np.square)
        Array(2., dtype=float32, weak_type=True)
    """
    named = dict(per_platform)
    if "gpu" in named:
        raise ArgumentError(
            "platform_dependent: expected names of platforms, got gpu, which may be one "
            "of two. Pass cuda= or rocm=."
        )
    here = runtime.default_backend()
    if default is not None:
        named["default"] = default
    _check_functions("platform_dependent", named)
    name = here if here in named else "default"
    if name not in named:
        raise BackendError(
            f"platform_dependent: expected a function for {here}, which computes, or a "
            f"default, got {', '.join(named)}. Pass {here}= or default=."
        )
    at = list(named).index(name)
    return _choose("platform_dependent", at, named, args, order=range(len(named)))


# ---- arguments ----


def _both(pred: Any, on_true: tuple[Any, Any], on_false: tuple[Any, Any]) -> Any:
    (true_fun, true_operand), (false_fun, false_operand) = on_true, on_false

    def when_true(x: Any, _: Any) -> Any:
        return true_fun(x)

    def when_false(_: Any, x: Any) -> Any:
        return false_fun(x)

    return cond(pred, when_true, when_false, true_operand, false_operand)


def _numbered(branches: Any) -> dict[str, Any]:
    if not isinstance(branches, Iterable):
        raise ArgumentError(
            f"switch: expected a list of functions, got {branches!r}. Put the branches "
            "into a list."
        )
    listed = enumerate(cast("Iterable[Any]", branches))
    return {f"branches[{i}]": function for i, function in listed}


def _operands(caller: str, operands: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
    if operand is _NONE:
        return operands
    if operands:
        raise ArgumentError(
            f"{caller}: expected operands by position or one as `operand=`, got both. "
            "Pass all of them by position."
        )
    return (operand,)


def _check_functions(caller: str, functions: dict[str, Any]) -> None:
    if not functions:
        raise ArgumentError(
            f"{caller}: expected at least one branch, got none. Pass a list of functions."
        )
    for name, function in functions.items():
        if not callable(function):
            raise ArgumentError(
                f"{caller}: expected a function as {name}, got {function!r}. To return "
                "a value, wrap it: lambda *_: value."
            )


_ALL_TOGETHER: Final = (
    "To choose by all elements together, reduce it with `.any()` or `.all()`"
)
_ONE_ELEMENT: Final = "To choose by one of its elements, take that"


def _condition(pred: Any) -> Any:
    """Return the condition as a bool."""
    aval = _scalar("cond", "a condition", pred, _ALL_TOGETHER)
    if dtypes.is_complex(aval.dtype):
        raise DTypeError(
            f"cond: expected a bool or a real number as the condition, got {aval}. "
            "Compare it with something."
        )
    return pred if dtypes.is_bool(aval.dtype) else ne(pred, scalar_like(pred, 0))


def _number(index: Any, count: int) -> Any:
    """Return the index of a branch, as an int32 in range."""
    index = as_operand(index)
    aval = _scalar("switch", "an index", index, _ONE_ELEMENT)
    if not dtypes.is_integer(aval.dtype):
        raise DTypeError(
            f"switch: expected an integer as the index, got {aval}. Convert it with "
            "`.astype(int)`; by a bool, imprint.lax.cond chooses."
        )
    bits = dtypes.bit_width(aval.dtype) - dtypes.is_signed(aval.dtype)
    last = min(count - 1, 2**bits - 1)  # a narrow index cannot exceed it
    low, high = (scalar_like(index, limit) for limit in (0, last))
    return convert_element_type(clamp(low, index, high), np.int32)


def _scalar(caller: str, what: str, x: Any, remedy: str) -> Any:
    try:
        aval = get_aval(x)
    except TypeError:
        raise ArgumentError(
            f"{caller}: expected {what}, got {type(x).__name__} {x!r}. Pass an array of "
            "rank 0 or a number."
        ) from None
    if aval.ndim:
        raise ShapeError(
            f"{caller}: expected {what} of rank 0, got {aval}. {remedy}; to choose by each, "
            "use imprint.numpy.where or imprint.vmap."
        )
    return aval


# ---- the choice ----


def _choose(
    caller: str,
    index: Any,
    named: dict[str, Callable[..., Any]],
    operands: tuple[Any, ...],
    *,
    order: Sequence[int],
) -> Any:
    """Call the function whose position in `named` is `order[index]`.

    An int index is known before compilation: only one branch is in the program.
    """
    functions = list(named.values())
    leaves, in_tree = own_values(operands, caller, "operands")
    call = None
    if len(order) == 1 or not (isinstance(index, Tracer) or is_staging()):
        position = int(index) if len(order) > 1 else 0
        flags = settings()
        is_checked = flags.debug_nans or flags.debug_infs
        if is_checked and not flags.disable_jit:  # then only results are checked
            choice = partial(_choose, caller, position, named, order=order)
            return run_loop(choice, operands)
        call = _signature(functions, in_tree, leaves) if len(order) > 1 else None
        if len(order) == 1 or flags.disable_jit or call in _compared:
            return _called(caller, functions[order[position]], in_tree, leaves)
        index = position
    avals = [get_aval(x) for x in leaves]
    names = leaf_names(in_tree, "operands")
    bodies = [trace_body(f, in_tree, avals, caller, names) for f in functions]
    _check_agreement(caller, named, bodies)
    if call is not None:
        if len(_compared) >= _MOST_COMPARED:
            _compared.clear()
        _compared.add(call)
    branches, captured = unite([bodies[i] for i in order])
    arguments = [*captured, *leaves]
    if isinstance(index, int):
        outs = eval_jaxpr(branches[index].jaxpr, (), *arguments)
    else:
        outs = choose(index, branches, arguments)
    return bodies[0].out_tree.unflatten(list(map(as_result, outs)))


_compared: Final[set[Hashable]] = set()
"""The signatures of calls outside of traces whose branches agree."""
_MOST_COMPARED: Final = 512


def _signature(
    functions: Sequence[Any], in_tree: TreeDef, leaves: Sequence[Any]
) -> Hashable | None:
    """Return what the results of branches depend on; None if it has no hash."""
    avals = [get_aval(x) for x in leaves]
    call = settings(), in_tree, *avals, *map(_definition, functions)
    try:
        hash(call)
    except (TypeError, ArgumentError):
        return None
    return call


def _definition(function: Any) -> Hashable:
    """Return the code of a function, with the types of the values that it captures."""
    if type(function) is not FunctionType:
        return function
    cells = function.__closure__
    return (function.__code__, *map(_captured, cells)) if cells else function.__code__


def _captured(cell: CellType) -> Hashable:
    try:
        value = cell.cell_contents
    except ValueError:  # it is empty
        return None
    if type(value) is FunctionType:
        return value.__code__
    return getattr(value, "aval", value.__class__)


def _called(
    caller: str, function: Callable[..., Any], in_tree: TreeDef, leaves: Sequence[Any]
) -> Any:
    """Return the result of a branch, with arrays in place of numbers."""
    result = function(*in_tree.unflatten(list(map(as_result, leaves))))
    outs, out_tree = result_leaves(result, f"{caller}({name_of(function)})", REMEDY)
    return out_tree.unflatten(list(map(as_result, outs)))


def _check_agreement(
    caller: str, named: dict[str, Callable[..., Any]], bodies: Sequence[TracedBody]
) -> None:
    """Raise an error that names the first leaf in which two branches differ."""
    returned = [Returned(body.out_tree, body.jaxpr.out_avals) for body in bodies]
    labels = [f"{name}, {defined(function)}," for name, function in named.items()]
    for label, other in zip(labels, returned, strict=True):
        found = first_mismatch(returned[0], other)
        if found is None:
            continue
        if found.kind is MismatchKind.TREE:
            error, remedy = TreeError, "Return the same containers from all branches."
        elif found.kind is MismatchKind.DTYPE:
            error = DTypeError
            remedy = f"Cast what they return there: `.astype({found.dtype!r})`."
        else:
            error = ShapeError
            remedy = "Bring them to one shape, as imprint.numpy.broadcast_to does."
        where = f" at result{found.where}" if found.where else ""
        raise error(
            f"{caller}: expected branches that return the same tree, dtypes and shapes, "
            f"got {found.expected} and {found.got}{where}.\n"
            f"  {labels[0]} returns {returned[0]}\n  {label} returns {other}\n  {remedy}"
        )
