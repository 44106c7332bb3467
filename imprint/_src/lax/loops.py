"""Loops under JAX's names: `scan`, `while_loop`, `fori_loop`, `map`.

The function is traced once, whatever the number of steps, and becomes the jaxpr of one
equation. Outside of a trace, a loop is a jitted function that captures the user's
function. It is found by definition, so a re-created lambda is not traced or compiled
again, also under `grad` and `vmap`, and its dependencies are compared by contents
(`strict`). Under `disable_jit` a loop is a Python loop.
"""

from collections.abc import Callable
from functools import partial
from operator import index
from typing import Any, Final, TypeVar, overload

from numpy import ndarray

from imprint._src import dtypes
from imprint._src.config import settings
from imprint._src.control_flow.scan import scan as bind_scan
from imprint._src.control_flow.trace_body import Returned, trace_body
from imprint._src.control_flow.while_ import while_loop as bind_while
from imprint._src.core import dims
from imprint._src.core.array import Array, plain
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.dims import Dim
from imprint._src.core.functions import as_result, check_function, name_of, wraps
from imprint._src.core.trace import Tracer
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import (
    ArgumentError,
    ConcretizationError,
    DTypeError,
    ShapeError,
)
from imprint._src.interpreters.trace_to_jaxpr import is_staging
from imprint._src.interpreters.vmap import vmap
from imprint._src.jit.api import run_loop
from imprint._src.lax.carry import Carry, StagedStep, carry_of, settle
from imprint._src.lax.composed import dynamic_index_in_dim, stack
from imprint._src.primitives.core_ops import add, scalar_like
from imprint._src.primitives.elementwise.comparison import lt
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.shape import reshape
from imprint._src.tree import internal as tree

C = TypeVar("C")
X = TypeVar("X")
Y = TypeVar("Y")

# The overloads of a loop: a number becomes an array; a tree keeps its type, where the
# function takes what is given; the last takes anything else, such as NumPy's arrays.


@overload
def scan(
    f: Callable[[Array, X], tuple[Any, Y]],
    init: complex,
    xs: X = ...,
    length: int | None = ...,
    reverse: bool = ...,  # noqa: FBT001 - JAX's signature
    unroll: int | bool = ...,  # noqa: FBT001 - JAX's signature
    _split_transpose: bool = ...,  # noqa: FBT001 - JAX's signature
) -> tuple[Array, Y]: ...
@overload
def scan(
    f: Callable[[C, X], tuple[C, Y]],
    init: C,
    xs: X = ...,
    length: int | None = ...,
    reverse: bool = ...,  # noqa: FBT001 - JAX's signature
    unroll: int | bool = ...,  # noqa: FBT001 - JAX's signature
    _split_transpose: bool = ...,  # noqa: FBT001 - JAX's signature
) -> tuple[C, Y]: ...
@overload
def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = ...,
    length: int | None = ...,
    reverse: bool = ...,  # noqa: FBT001 - JAX's signature
    unroll: int | bool = ...,  # noqa: FBT001 - JAX's signature
    _split_transpose: bool = ...,  # noqa: FBT001 - JAX's signature
) -> tuple[Any, Any]: ...
@filter_traceback
def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    unroll: int | bool = 1,  # noqa: FBT001 - JAX's signature
    _split_transpose: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> tuple[Any, Any]:
    """Scan: carry a value through a function along the first axis of arrays.

    `carry, y = f(carry, x)` for each slice `x` of `xs`, in order. The function is
    traced once, whatever the number of steps, and is differentiable in reverse mode.

    Args:
        f: `(carry, x) -> (carry, y)`; the carry keeps its structure and its types.
        init: the first carry, a pytree of arrays.
        xs: the inputs: a pytree of arrays with a common first axis, or None.
        length: the number of steps; required if `xs` has no arrays.
        reverse: whether to start at the last slice; `ys` stay in the order of `xs`.
        unroll: the number of steps in an iteration of the compiled loop; True for all.

    Returns:
        The last carry, and the `y` of all steps stacked along a new first axis.

    Raises:
        ArgumentError: there is neither an array in `xs` nor a length.
        ShapeError: the first axes or `length` differ, or the step returns a carry of
            another shape.
        DTypeError: the step returns a carry of another dtype.
        TreeError: the step returns a carry of another structure.

    References:
        JAX, `jax.lax.scan`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.lax.scan(lambda total, x: (total + x, total), 0.0, np.arange(4.0))
        (Array(6., dtype=float32), Array([0., 0., 1., 3.], dtype=float32, weak_type=True))
    """
    check_function(f, "scan")
    order = bool(reverse)
    return _scan("scan", f, init, xs, length=length, reverse=order, unroll=unroll)


_CARRIED: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "scan": ("init", ()),
    "map": ("init", ()),
    "fori_loop": ("init_val", ("i", "upper")),
    "while_loop": ("init_val", ()),
}
"""For each public function, the carried argument and the internal carry."""


def _scan(  # noqa: PLR0913 - as `scan` takes it
    who: str,
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any,
    *,
    length: int | None,
    reverse: bool,
    unroll: int | bool,
) -> tuple[Any, Any]:
    """Scan arrays for the public function of this name."""
    name, own = _CARRIED[who]
    carry, walked = carry_of(init, who, name, own[:1]), carry_of(xs, who, "xs")
    steps = _length(who, walked, length)
    options: dict[str, Any] = {
        "length": steps,
        "reverse": reverse,
        "unroll": _unroll(who, unroll, steps),
    }
    if settings().disable_jit:
        return _scan_in_python(who, f, init, xs, options)
    if not is_staging():
        return run_loop(partial(_scan, who, f, **options), init, xs)

    both = tree.treedef_tuple((carry.tree, walked.tree))
    slices = [a.with_shape(a.shape[1:]) for a in walked.avals]
    names = [*carry.names, *walked.names]

    def stage(carry: Carry) -> StagedStep:
        closed = trace_body(f, both, [*carry.avals, *slices], who, names)
        pair = tree.treedef_children(closed.out_tree)
        if len(pair) != 2:
            came = Returned(closed.out_tree, closed.jaxpr.out_avals)
            raise ArgumentError(
                f"scan: expected {name_of(f)} to return a pair (carry, y), got {came}. "
                "Return `carry, None` where nothing is stacked."
            )
        avals = closed.jaxpr.out_avals[: pair[0].num_leaves]
        return StagedStep(closed, pair[0], avals)

    staged, carry = settle(who, name_of(f), carry, stage)
    closed = staged.closed
    outs = bind_scan(
        closed.jaxpr, closed.captured, carry.leaves, walked.leaves, **options
    )
    results = [as_result(x) for x in outs]
    return tuple(closed.out_tree.unflatten(results))


def _length(who: str, walked: Carry, length: Dim | None) -> Dim:
    """Return the number of steps; raise if it is missing or contradictory."""
    found: dict[str, Dim] = {}
    for name, aval in zip(walked.names, walked.avals, strict=True):
        if not aval.ndim:
            more = ", or put it into the carry" if who == "scan" else ""
            raise ShapeError(
                f"{who}: expected arrays to walk over, got {aval} as {name}, which has "
                f"no axis. Close over it{more}."
            )
        found[name] = aval.shape[0]
    if length is not None:
        length = dims.as_dim(length, who)
        if not dims.at_least(length, 0):
            raise ArgumentError(
                f"{who}: expected a length of 0 or more, got length={length}. Pass the "
                "number of steps, or reverse=True to begin at the end."
            )
        found["length"] = length
    if not found:
        raise ArgumentError(f"{who}: expected arrays to walk over{_OR_LENGTH[who]}.")
    first, *others = found.values()
    if not all(dims.equal(first, n) for n in others):
        listed = ", ".join(f"{name}: {n}" for name, n in found.items())
        remedy = "Give arrays that are as long as each other"
        if length is not None:
            remedy = f"Leave length out, or {remedy.lower()} and as it says"
        raise ShapeError(
            f"{who}: expected first axes of one length, got {listed}. {remedy}."
        )
    return first


_OR_LENGTH: Final = {
    "scan": ", or a length, got neither. Pass length=, the number of steps",
    "map": ", got none. Pass arrays with a first axis",
}


def _unroll(who: str, unroll: int | bool, length: Dim) -> int:  # noqa: FBT001 - as `scan` takes it
    if unroll is True:
        return max(dims.concrete(length, f"{who} with unroll=True"), 1)
    steps = 1 if unroll is False else index(unroll)
    if steps < 0:
        raise ArgumentError(
            f"{who}: expected unroll to be a bool or 0 or more steps, got {unroll!r}. "
            "Leave it out for a step at a time, or pass True for all at once."
        )
    steps = max(steps, 1)
    if dims.is_symbolic(length):
        return 1  # the remainder of unrolled iterations has no symbolic length
    return min(steps, max(length, 1))


def _scan_in_python(
    who: str, f: Callable[..., Any], carry: Any, xs: Any, options: dict[str, Any]
) -> tuple[Any, Any]:
    order = range(options["length"])
    if not order:
        raise ArgumentError(
            f"{who}: expected at least one step under disable_jit, got none: what a step "
            "returns is only known by running one. Turn disable_jit off."
        )
    ys: list[Any] = []
    for i in reversed(order) if options["reverse"] else order:
        x = tree.map(partial(_slice, i), xs)
        carry, y = f(carry, x)
        ys.append(y)
    if options["reverse"]:
        ys.reverse()
    return tree.map(as_result, carry), tree.map(_stacked, *ys)


def _stacked(*ys: Any) -> Any:
    return stack([as_result(y) for y in ys])


def _slice(i: int, x: Any) -> Any:
    return dynamic_index_in_dim(x, i, keepdims=False)


@overload
def while_loop(
    cond_fun: Callable[[Array], Any],
    body_fun: Callable[[Array], Any],
    init_val: complex,
) -> Array: ...
@overload
def while_loop(
    cond_fun: Callable[[C], Any], body_fun: Callable[[C], C], init_val: C
) -> C: ...
@overload
def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any: ...
@filter_traceback
def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """Apply a function repeatedly while a condition holds.

    The number of steps may depend on values. Differentiable in forward mode; for
    reverse mode use `scan`, or `fori_loop` with concrete bounds.

    Args:
        cond_fun: a function from the value to a bool, whether to continue.
        body_fun: a function from the value to the next one, of the same types.
        init_val: the first value, a pytree of arrays.

    Returns:
        The first value for which the condition is false.

    Raises:
        ArgumentError: `cond_fun` does not return a bool of rank 0.
        ShapeError: `body_fun` returns another shape.
        DTypeError: `body_fun` returns another dtype.
        TreeError: `body_fun` returns another structure.

    References:
        StableHLO, `while`.

    Example:
        >>> import imprint
        >>> imprint.lax.while_loop(lambda x: x < 100, lambda x: x * 2, 3)
        Array(192, dtype=int32, weak_type=True)
    """
    check_function(cond_fun, "while_loop", "cond_fun")
    check_function(body_fun, "while_loop", "body_fun")
    return _while("while_loop", cond_fun, body_fun, init_val)


def _while(
    who: str,
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
) -> Any:
    """Loop while a condition holds, for the public function of this name."""
    if settings().disable_jit:
        try:
            return _while_in_python(cond_fun, body_fun, init_val)
        except ConcretizationError:  # a traced condition cannot run in Python
            pass
    carry = carry_of(init_val, who, *_CARRIED[who])
    if not is_staging() and not settings().disable_jit:
        return run_loop(partial(_while, who, cond_fun, body_fun), init_val)
    in_tree = tree.treedef_tuple((carry.tree,))

    def stage(carry: Carry) -> StagedStep:
        closed = trace_body(body_fun, in_tree, carry.avals, who, carry.names)
        return StagedStep(closed, closed.out_tree, closed.jaxpr.out_avals)

    staged, carry = settle(who, name_of(body_fun), carry, stage)
    condition = trace_body(cond_fun, in_tree, carry.avals, who, carry.names)
    _check_condition(name_of(cond_fun), condition)
    outs = bind_while(
        condition.jaxpr,
        staged.closed.jaxpr,
        (condition.captured, staged.closed.captured),
        carry.leaves,
    )
    return carry.tree.unflatten([as_result(x) for x in outs])


def _while_in_python(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], value: Any
) -> Any:
    while cond_fun(value):
        value = body_fun(value)
    return tree.map(as_result, value)


def _check_condition(name: str, closed: Any) -> None:
    avals: tuple[ShapedArray, ...] = closed.jaxpr.out_avals
    if closed.out_tree.is_leaf and not avals[0].ndim and dtypes.is_bool(avals[0].dtype):
        return
    came = Returned(closed.out_tree, avals)
    remedy = "Return one bool"
    if closed.out_tree.is_leaf and avals[0].ndim:
        remedy = "Reduce it with `.any()` or `.all()`"
    elif closed.out_tree.is_leaf:
        remedy = "Compare it, such as `x > 0`"
    raise ArgumentError(
        f"while_loop: expected {name} to return bool[], got {came}. {remedy}."
    )


@overload
def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Array, Array], Any],
    init_val: complex,
    *,
    unroll: int | bool | None = ...,
) -> Array: ...
@overload
def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Array, C], C],
    init_val: C,
    *,
    unroll: int | bool | None = ...,
) -> C: ...
@overload
def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool | None = ...,
) -> Any: ...
@filter_traceback
def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
) -> Any:
    """Apply a function of a counter and a value for the integers of a range.

    With bounds that are known while tracing it is a `scan`, differentiable in reverse
    mode; otherwise a `while_loop`, which is not.

    Args:
        lower: the first number.
        upper: the end, excluded.
        body_fun: `(i, value) -> value`, of the same types.
        init_val: the first value, a pytree of arrays.
        unroll: as for `scan`; only with known bounds.

    Returns:
        The last value.

    Raises:
        ArgumentError: `unroll` is given and a bound is not known while tracing.
        ShapeError: `body_fun` returns another shape.
        DTypeError: `body_fun` returns another dtype, or the bounds are not numbers of
            one dtype.
        TreeError: `body_fun` returns another structure.

    References:
        JAX, `jax.lax.fori_loop`.

    Example:
        >>> import imprint
        >>> imprint.lax.fori_loop(1, 5, lambda i, product: product * i, 1)
        Array(24, dtype=int32, weak_type=True)
    """
    check_function(body_fun, "fori_loop", "body_fun")
    lower, upper = plain(lower), plain(upper)
    dtype = _counter(lower, upper)
    if not isinstance(lower, Tracer) and not isinstance(upper, Tracer):
        first, last = int(lower), int(upper)
        length = max(last - first, 0)
        if settings().disable_jit and not length:
            return init_val

        @wraps(body_fun)
        def step(carry: Any, _: None) -> tuple[Any, None]:
            i, value = carry
            return (add(i, scalar_like(i, 1)), body_fun(i, value)), None

        walk: dict[str, Any] = {"length": length, "unroll": unroll or False}
        walk["reverse"] = False
        carry, _ = _scan("fori_loop", step, (first, init_val), None, **walk)
        return carry[1]
    if unroll not in (None, False, 1):
        raise ArgumentError(
            "fori_loop: expected bounds that are known while tracing, as unroll was "
            f"given, got lower={lower} and upper={upper}. Leave unroll out, or take the "
            "bounds from shapes or static arguments."
        )

    @wraps(body_fun)
    def body(carry: Any) -> Any:
        i, end, value = carry
        return add(i, scalar_like(i, 1)), end, body_fun(i, value)

    bounds = [
        x if get_aval(x).dtype == dtype else convert_element_type(x, dtype)
        for x in (lower, upper)
    ]

    def goes_on(carry: Any) -> Any:
        return lt(carry[0], carry[1])

    return _while("fori_loop", goes_on, body, (*bounds, init_val))[2]


def _counter(lower: Any, upper: Any) -> Any:
    """Return the dtype of the counter of a loop between two bounds."""
    avals = first, last = [get_aval(x) for x in (lower, upper)]
    if not first.ndim and not last.ndim:
        if first.dtype == last.dtype:
            return first.dtype
        signed = all(dtypes.is_signed(a.dtype) for a in avals)
        if signed and first.weak_type != last.weak_type:
            return last.dtype if first.weak_type else first.dtype
    remedy = "Convert them with `.astype(...)`."
    if first.ndim or last.ndim:
        remedy = "Pass one number each; to loop for each element, use imprint.vmap."
    raise DTypeError(
        "fori_loop: expected two numbers of one dtype as bounds, got lower: "
        f"{first} and upper: {last}. {remedy}"
    )


@overload
def map(
    f: Callable[[Array], Y],
    xs: Array | ndarray[Any, Any],
    *,
    batch_size: int | None = ...,
) -> Y: ...
@overload
def map(f: Callable[[Any], Y], xs: Any, *, batch_size: int | None = ...) -> Y: ...
@filter_traceback
def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Apply a function to each slice along the first axis, in sequence.

    Args:
        f: a function of a slice.
        xs: a pytree of arrays with a common first axis.
        batch_size: the number of slices to compute at once, by `vmap`; 1 by default.

    Returns:
        The results, stacked along a new first axis.

    Raises:
        ArgumentError: `xs` has no arrays, or `batch_size` is negative.
        ShapeError: the first axes differ.

    References:
        JAX, `jax.lax.map`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.lax.map(lambda x: x * x, np.arange(4))
        Array([0, 1, 4, 9], dtype=int32)
    """
    check_function(f, "map")
    if batch_size is None:
        once: dict[str, Any] = {"length": None, "reverse": False, "unroll": 1}
        return _scan("map", lambda _, x: ((), f(x)), (), xs, **once)[1]
    walked = carry_of(xs, "map", "xs")
    length = _length("map", walked, None)
    size = index(batch_size)
    if size < 0:
        raise ArgumentError(
            f"map: expected a batch_size of 0 or more, got {size}. Leave it out to take "
            "one slice after the other."
        )
    batches = length // size if size else 0
    parts: list[Any] = []
    if batches:
        batched = [_batches(x, batches, size) for x in walked.leaves]
        rows = scan(lambda _, x: ((), vmap(f)(x)), (), walked.tree.unflatten(batched))[
            1
        ]
        parts.append(tree.map(_rows, rows))
    if batches * size < length or not batches:
        rest = [slice_in_dim(x, batches * size, length) for x in walked.leaves]
        parts.append(vmap(f)(walked.tree.unflatten(rest)))
    return parts[0] if len(parts) == 1 else tree.map(_joined, *parts)


def _batches(x: Any, count: int, size: int) -> Any:
    whole = slice_in_dim(x, 0, count * size)
    return reshape(whole, (count, size, *get_aval(x).shape[1:]))


def _rows(y: Any) -> Any:
    count, size, *rest = get_aval(y).shape
    return reshape(y, (count * size, *rest))


def _joined(*parts: Any) -> Any:
    return concatenate(parts, 0)
