"""Loops under JAX's names: `scan`, `while_loop`, `fori_loop`, `map`.

The user's function is staged once, whatever the number of steps, and becomes the jaxpr of
one equation. Outside of all traces a loop is a jitted function that captures the user's:
it is found by its definition, so a lambda made anew is neither traced nor compiled again,
and what it reads is compared by its contents (`strict`). Under `disable_jit` a loop is a
loop of Python's.
"""

from collections.abc import Callable
from functools import partial
from operator import index
from typing import Any

from imprint import dtypes, tree
from imprint.config import settings
from imprint.control.closing import close
from imprint.control.scan import scan as bind_scan
from imprint.control.while_ import while_loop as bind_while
from imprint.core import dims
from imprint.core.aval import ShapedArray, get_aval
from imprint.core.folding import folding
from imprint.core.functions import as_result, check_function, name_of, wraps
from imprint.core.trace import Tracer, current_trace
from imprint.errors import ArgumentError, ConcretizationError, DTypeError, ShapeError
from imprint.jitted.jit import run_loop
from imprint.lax.carry import Carry, Staged, carry_of, settle
from imprint.lax.composed import dynamic_index_in_dim, stack
from imprint.primitives.basis import add, scalar_like
from imprint.primitives.comparison import lt
from imprint.primitives.convert import convert_element_type
from imprint.primitives.shape import reshape
from imprint.primitives.slicing import concatenate, slice_in_dim
from imprint.transforms.vmap import vmap


@folding
def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    unroll: int | bool = 1,  # noqa: FBT001 - JAX's signature
    _split_transpose: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> tuple[Any, Any]:
    """Carry a value through a function along the first axis of arrays.

    `carry, y = f(carry, x)` for each slice `x` of `xs`, in order. The function is traced
    once, however many steps there are, and can be differentiated in reverse.

    Args:
        f: `(carry, x) -> (carry, y)`; the carry keeps its structure and its types.
        init: the first carry, a pytree of arrays.
        xs: what is walked over: a pytree of arrays with a common first axis, or None.
        length: how many steps there are; needed if `xs` has no arrays.
        reverse: whether the walk begins at the last slice; `ys` stay in the order of `xs`.
        unroll: how many steps one turn of the compiled loop takes; True for all.

    Returns:
        The last carry, and the `y` of all steps stacked along a new first axis.

    >>> import imprint
    >>> import imprint.numpy as np
    >>> imprint.lax.scan(lambda total, x: (total + x, total), 0.0, np.arange(4.0))
    (Array(6., dtype=float32), Array([0., 0., 1., 3.], dtype=float32, weak_type=True))
    """
    check_function(f, "scan")
    carry, walked = carry_of(init, "scan", "init"), carry_of(xs, "scan", "xs")
    steps = _length(walked, length)
    options: dict[str, Any] = {
        "length": steps,
        "reverse": bool(reverse),
        "unroll": _unroll(unroll, steps),
    }
    if settings().disable_jit:
        return _scan_in_python(f, init, xs, options)
    if current_trace() is None:
        return run_loop(partial(scan, f, **options), init, xs)

    both = tree.treedef_tuple((carry.tree, walked.tree))
    slices = [a.with_shape(a.shape[1:]) for a in walked.avals]
    names = [*carry.names, *walked.names]

    def stage(carry: Carry) -> Staged:
        closed = close(f, both, [*carry.avals, *slices], "scan", names)
        pair = tree.treedef_children(closed.out_tree)
        if len(pair) != 2:
            raise ArgumentError(
                f"scan: expected {name_of(f)} to return a pair (carry, y), got "
                f"{closed.out_tree}. Return `carry, None` where nothing is stacked."
            )
        avals = closed.jaxpr.out_avals[: pair[0].num_leaves]
        return Staged(closed, pair[0], avals)

    staged, carry = settle("scan", name_of(f), carry, stage)
    closed = staged.closed
    outs = bind_scan(
        closed.jaxpr, closed.captured, carry.leaves, walked.leaves, **options
    )
    results = [as_result(x) for x in outs]
    return tuple(closed.out_tree.unflatten(results))


def _length(walked: Carry, length: int | None) -> int:
    """Return how many steps there are; raise if that is not said, or said twice."""
    found: dict[str, int] = {}
    for name, aval in zip(walked.names, walked.avals, strict=True):
        if not aval.ndim:
            raise ShapeError(
                f"scan: expected arrays to walk over, got {aval} as {name}, which has "
                "no axis. Close over it, or put it into the carry."
            )
        found[name] = dims.concrete(aval.shape[0], "scan")
    if length is not None:
        length = index(length)
        if length < 0:
            raise ArgumentError(
                f"scan: expected a length of 0 or more, got length={length}."
            )
        found["length"] = length
    if not found:
        raise ArgumentError(
            "scan: expected arrays to walk over, or a length, got neither. Pass "
            "length=, the number of steps."
        )
    if len({*found.values()}) > 1:
        listed = ", ".join(f"{name}: {n}" for name, n in found.items())
        raise ShapeError(
            f"scan: expected first axes of one length, got {listed}. Give arrays that "
            "are as long as each other, and leave length out."
        )
    return next(iter(found.values()))


def _unroll(unroll: int | bool, length: int) -> int:  # noqa: FBT001 - as `scan` takes it
    if unroll is True:
        return max(length, 1)
    steps = 1 if unroll is False else index(unroll)
    if steps < 1:
        raise ArgumentError(
            f"scan: expected unroll to be a bool or 1 or more steps, got {unroll!r}."
        )
    return min(steps, max(length, 1))


def _scan_in_python(
    f: Callable[..., Any], carry: Any, xs: Any, options: dict[str, Any]
) -> tuple[Any, Any]:
    order = range(options["length"])
    if not order:
        raise ArgumentError(
            "scan: expected at least one step under disable_jit, got none: what a step "
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


@folding
def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """Apply a function to its own result as long as a condition of it holds.

    How many steps that takes may depend on the values. It can be differentiated in forward
    mode; for reverse mode there are `scan`, and `fori_loop` with known bounds.

    Args:
        cond_fun: takes the value and returns whether to go on, a bool.
        body_fun: takes the value and returns the next one, of the same types.
        init_val: the first value, a pytree of arrays.

    Returns:
        The first value for which the condition does not hold.

    >>> import imprint
    >>> imprint.lax.while_loop(lambda x: x < 100, lambda x: x * 2, 3)
    Array(192, dtype=int32, weak_type=True)
    """
    check_function(cond_fun, "while_loop")
    check_function(body_fun, "while_loop")
    if settings().disable_jit:
        try:
            return _while_in_python(cond_fun, body_fun, init_val)
        except ConcretizationError:  # the condition is traced: it cannot be in Python
            pass
    carry = carry_of(init_val, "while_loop", "init_val")
    if current_trace() is None and not settings().disable_jit:
        return run_loop(partial(while_loop, cond_fun, body_fun), init_val)
    in_tree = tree.treedef_tuple((carry.tree,))

    def stage(carry: Carry) -> Staged:
        closed = close(body_fun, in_tree, carry.avals, "while_loop", carry.names)
        return Staged(closed, closed.out_tree, closed.jaxpr.out_avals)

    staged, carry = settle("while_loop", name_of(body_fun), carry, stage)
    condition = close(cond_fun, in_tree, carry.avals, "while_loop", carry.names)
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
    came = str(avals[0]) if closed.out_tree.is_leaf else str(closed.out_tree)
    remedy = "Return one bool"
    if closed.out_tree.is_leaf and avals[0].ndim:
        remedy = "Reduce it with `.any()` or `.all()`"
    elif closed.out_tree.is_leaf:
        remedy = "Compare it, such as `x > 0`"
    raise ArgumentError(
        f"while_loop: expected {name} to return bool[], got {came}. {remedy}."
    )


@folding
def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
) -> Any:
    """Apply a function of a counter and a value, for each number from `lower` to `upper`.

    With bounds that are known while tracing it is a `scan`, which can be differentiated in
    reverse; otherwise a `while_loop`, which cannot.

    Args:
        lower: the first number.
        upper: the number before which it ends.
        body_fun: `(i, value) -> value`, of the same types.
        init_val: the first value, a pytree of arrays.
        unroll: as of `scan`; only where the bounds are known.

    Returns:
        The last value.

    >>> import imprint
    >>> imprint.lax.fori_loop(1, 5, lambda i, product: product * i, 1)
    Array(24, dtype=int32, weak_type=True)
    """
    check_function(body_fun, "fori_loop")
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

        carry, _ = scan(step, (first, init_val), length=length, unroll=unroll or False)
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
    return while_loop(lambda carry: lt(carry[0], carry[1]), body, (*bounds, init_val))[
        2
    ]


def _counter(lower: Any, upper: Any) -> Any:
    """Return the dtype of the counter of a loop between two bounds."""
    avals = first, last = [get_aval(x) for x in (lower, upper)]
    if not first.ndim and not last.ndim:
        if first.dtype == last.dtype:
            return first.dtype
        signed = all(dtypes.is_signed(a.dtype) for a in avals)
        if signed and first.weak_type != last.weak_type:
            return last.dtype if first.weak_type else first.dtype
    raise DTypeError(
        "fori_loop: expected two numbers of one dtype as bounds, got lower: "
        f"{first} and upper: {last}. Convert them with `.astype(...)`."
    )


@folding
def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Apply a function to each slice along the first axis, one after the other.

    Args:
        f: a function of a slice.
        xs: a pytree of arrays with a common first axis.
        batch_size: how many slices are computed at once, by `vmap`; one by default.

    Returns:
        The results, stacked along a new first axis.

    >>> import imprint
    >>> import imprint.numpy as np
    >>> imprint.lax.map(lambda x: x * x, np.arange(4))
    Array([0, 1, 4, 9], dtype=int32)
    """
    check_function(f, "map")
    if batch_size is None:
        return scan(lambda _, x: ((), f(x)), (), xs)[1]
    walked = carry_of(xs, "map", "xs")
    length = _length(walked, None)
    size = index(batch_size)
    if size < 0:
        raise ArgumentError(f"map: expected a batch_size of 0 or more, got {size}.")
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
