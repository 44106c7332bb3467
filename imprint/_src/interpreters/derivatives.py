"""Derivatives of functions of pytrees: grad, value_and_grad, vjp, jvp, linearize.

Each flattens its arguments, runs an interpreter on flat values (`jvp`, `linearize`,
`transpose`) and rebuilds trees from the results. It checks that arguments and results have
a differentiable dtype, and that tangents and cotangents fit.
"""

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Literal, ParamSpec, TypeVar, cast, overload

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import get_aval
from imprint._src.core.functions import (
    as_result,
    check_function,
    check_no_axes,
    copy_leaf,
    name_of,
    result_leaves,
    wraps,
)
from imprint._src.core.tangents import Zero, tangent_aval
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError, NotDifferentiableError
from imprint._src.interpreters.jvp import jvp_flat
from imprint._src.interpreters.linear_maps import (
    LinearProgram,
    check_like,
    float_array,
    pullback,
    pushforward,
    tangent_result,
)
from imprint._src.interpreters.linearize import linearize_flat
from imprint._src.primitives.axes import whole
from imprint._src.primitives.core_ops import scalar_like
from imprint._src.tree import internal as tree
from imprint.tree import SequenceKey

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A")

# ---- reverse mode ----


def grad(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    holomorphic: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    allow_int: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    reduce_axes: Sequence[Any] = (),
) -> Callable[P, Any]:
    """Return the function that evaluates the gradient of `fun`.

    Args:
        fun: a function with a scalar result.
        argnums: which positional arguments to differentiate.
        has_aux: whether `fun` returns `(result, auxiliary data)`.
        holomorphic: whether `fun` is complex and promised to be holomorphic.
        allow_int: whether integer arguments are allowed; their gradient is float0.
        reduce_axes: must be empty, as in JAX; sum with `imprint.lax.psum`.

    Returns:
        A function with the arguments of `fun`, which returns the gradient in the shape
        of the arguments (a tuple if `argnums` is a sequence), or `(gradient, aux)`.

    Raises:
        ArgumentError: `fun` is not a function, `reduce_axes` is not empty, or `argnums`
            names no argument of the call.
        NotDifferentiableError: the result is not a float of rank 0, or an argument is an
            integer.

    References:
        Griewank and Walther, "Evaluating Derivatives", 2008; JAX, `jax.grad`.

    Example:
        >>> import imprint
        >>> imprint.grad(lambda x: x**3)(2.0)
        Array(12., dtype=float32, weak_type=True)
    """
    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int, reduce_axes)

    @wraps(fun)
    @filter_traceback
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, grads = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return gradient


def value_and_grad(
    fun: Callable[P, R],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    holomorphic: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    allow_int: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    reduce_axes: Sequence[Any] = (),
) -> Callable[P, tuple[R, Any]]:
    """Return the function that evaluates both `fun` and its gradient.

    Args:
        fun: a function with a scalar result.
        argnums: which positional arguments to differentiate.
        has_aux: whether `fun` returns `(result, auxiliary data)`.
        holomorphic: whether `fun` is complex and promised to be holomorphic.
        allow_int: whether integer arguments are allowed; their gradient is float0.
        reduce_axes: must be empty, as in JAX; sum with `imprint.lax.psum`.

    Returns:
        A function with the arguments of `fun`, which returns `(result, gradient)`, or
        `((result, aux), gradient)`.

    Raises:
        ArgumentError: `fun` is not a function, `reduce_axes` is not empty, or `argnums`
            names no argument of the call.
        NotDifferentiableError: the result is not a float of rank 0, or an argument is an
            integer.

    References:
        JAX, `jax.value_and_grad`.

    Example:
        >>> import imprint
        >>> imprint.value_and_grad(lambda x: x**3)(2.0)[0]
        Array(8., dtype=float32, weak_type=True)
    """
    check_no_axes("grad", reduce_axes)
    check_function(fun, "grad")
    name = name_of(fun)

    @wraps(fun)
    @filter_traceback
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        nums = check_argnums(argnums, len(args), f"grad({name})")
        primals, treedef = _owned([args[i] for i in nums], nums, "grad")
        leaf_name = partial(_leaf_name, treedef, nums)
        _check_inputs(primals, leaf_name, name, holomorphic, allow_int)

        def chosen(*dynamic: Any) -> Any:
            every = list(args)
            for i, value in zip(nums, dynamic, strict=True):
                every[i] = value
            return fun(*every, **kwargs)  # pyright: ignore[reportCallIssue] - those of a call

        flat = _FlatFunction(chosen, treedef, name, has_aux=has_aux)
        lin = linearize_flat(flat, primals, name=name)
        value = _check_output(flat.result(lin.outs), name, holomorphic)
        program = LinearProgram(lin, primals, treedef, flat.out_tree)
        grads = program.pull(lin.tangent.consts, [scalar_like(value, 1)])
        packed = treedef.unflatten(grads)
        result = packed[0] if is_one(argnums) else tuple(packed)
        out = as_result(value)
        return ((out, flat.aux(lin.outs)) if has_aux else out), result

    return value_and_gradient


@overload
def vjp(
    fun: Callable[..., R],
    *primals: Any,
    has_aux: Literal[False] = False,
    reduce_axes: Sequence[Any] = (),
) -> tuple[R, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vjp(
    fun: Callable[..., tuple[R, A]],
    *primals: Any,
    has_aux: Literal[True],
    reduce_axes: Sequence[Any] = (),
) -> tuple[R, Callable[[Any], tuple[Any, ...]], A]: ...
@overload
def vjp(
    fun: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> tuple[Any, ...]: ...
@filter_traceback
def vjp(
    fun: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> tuple[Any, ...]:
    """Evaluate `fun` and return its result with the function that pulls back.

    Args:
        fun: the function.
        primals: its arguments, all differentiated.
        has_aux: whether `fun` returns `(result, auxiliary data)`.
        reduce_axes: as in `grad`.

    Returns:
        `(result, pullback)` or `(result, pullback, aux)`. The pullback takes a
        cotangent of the structure of the result and returns a tuple of cotangents, one
        for each argument. It is a node of pytrees, whose leaves are its residuals,
        so it can be an argument or a result of a jitted function.

    Raises:
        ArgumentError: `fun` is not a function, or `reduce_axes` is not empty.

    References:
        Griewank and Walther, "Evaluating Derivatives", 2008; JAX, `jax.vjp`.

    Example:
        >>> import imprint
        >>> out, pullback = imprint.vjp(lambda x, y: x * y, 2.0, 5.0)
        >>> pullback(1.0)
        (Array(5., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    check_no_axes("vjp", reduce_axes)
    check_function(fun, "vjp")
    name = name_of(fun)
    leaves, treedef = _owned(list(primals), range(len(primals)), "vjp")
    flat = _FlatFunction(fun, treedef, name, has_aux=has_aux)
    lin = linearize_flat(flat, leaves, name=name)
    pull = pullback(lin, leaves, treedef, flat.out_tree)
    out = tree.map(as_result, flat.result(lin.outs))
    return (out, pull, flat.aux(lin.outs)) if has_aux else (out, pull)


# ---- forward mode ----


@overload
def jvp(
    fun: Callable[..., R],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: Literal[False] = False,  # noqa: FBT002 - JAX's signature
) -> tuple[R, R]: ...
@overload
def jvp(
    fun: Callable[..., tuple[R, A]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: Literal[True],
) -> tuple[R, R, A]: ...
@overload
def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> tuple[Any, ...]: ...
@filter_traceback
def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> tuple[Any, ...]:
    """Evaluate `fun` and its derivative in a direction.

    Args:
        fun: the function.
        primals: its arguments, a tuple or list.
        tangents: the direction, of the same structure, shapes and dtypes.
        has_aux: whether `fun` returns `(result, auxiliary data)`.

    Returns:
        `(result, tangent of the result)`, and the aux if there is one.

    Raises:
        ArgumentError: `fun` is not a function, `primals` or `tangents` are no tuple or
            list, or a tangent has another shape or dtype than its primal.
        TreeError: the structures of primals and tangents differ.

    References:
        Griewank and Walther, "Evaluating Derivatives", 2008; JAX, `jax.jvp`.

    Example:
        >>> import imprint
        >>> imprint.jvp(lambda x: x**2, (3.0,), (1.0,))[1]
        Array(6., dtype=float32, weak_type=True)
    """
    check_function(fun, "jvp")
    name = name_of(fun)
    for said, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple | list):
            raise ArgumentError(
                f"jvp: expected a tuple or list of {said}, one for each argument, got "
                f"{shown(given)}. Write imprint.jvp(f, (x,), (t,))."
            )
    leaves, treedef = _owned(list(primals), range(len(primals)), "jvp")
    avals = [tangent_aval(get_aval(x)) for x in leaves]
    flat_tangents = check_like(list(tangents), treedef, avals, "jvp", "tangent")
    known = [
        Zero(a) if a.dtype == dtypes.float0 else t
        for a, t in zip(avals, flat_tangents, strict=True)
    ]
    flat = _FlatFunction(fun, treedef, name, has_aux=has_aux)
    outs, out_tangents = jvp_flat(flat, leaves, known, name)
    out = tree.map(as_result, flat.result(outs))
    tangent = flat.result([*map(tangent_result, out_tangents)])
    return (out, tangent, flat.aux(outs)) if has_aux else (out, tangent)


@overload
def linearize(
    fun: Callable[..., R],
    *primals: Any,
    has_aux: Literal[False] = False,
    reduce_axes: Sequence[Any] = (),
) -> tuple[R, Callable[..., R]]: ...
@overload
def linearize(
    fun: Callable[..., tuple[R, A]], *primals: Any, has_aux: Literal[True]
) -> tuple[R, Callable[..., R], A]: ...
@overload
def linearize(
    fun: Callable[..., Any], *primals: Any, has_aux: bool = False
) -> tuple[Any, ...]: ...
@filter_traceback
def linearize(
    fun: Callable[..., Any], *primals: Any, has_aux: bool = False
) -> tuple[Any, ...]:
    """Evaluate `fun` and return its result with its derivative as a linear function.

    Args:
        fun: the function.
        primals: its arguments, all differentiated.
        has_aux: whether `fun` returns `(result, auxiliary data)`.

    Returns:
        `(result, pushforward)` or `(result, pushforward, aux)`. The pushforward takes
        a tangent for each argument and returns the tangent of the result. It is a node
        of pytrees, as the pullback of `vjp` is.

    Raises:
        ArgumentError: `fun` is not a function.

    References:
        JAX, `jax.linearize`.

    Example:
        >>> import imprint
        >>> out, push = imprint.linearize(lambda x: x**2, 3.0)
        >>> push(1.0)
        Array(6., dtype=float32, weak_type=True)
    """
    check_function(fun, "linearize")
    name = name_of(fun)
    leaves, treedef = _owned(list(primals), range(len(primals)), "linearize")
    flat = _FlatFunction(fun, treedef, name, has_aux=has_aux)
    lin = linearize_flat(flat, leaves, name=name)
    push = pushforward(lin, leaves, treedef, flat.out_tree)
    out = tree.map(as_result, flat.result(lin.outs))
    return (out, push, flat.aux(lin.outs)) if has_aux else (out, push)


# ---- functions of trees as functions of leaves ----


_ARRAY: Final = object()


class _FlatFunction:
    """A function of leaves from a function of trees; keeps non-array auxiliary data."""

    __slots__ = (
        "_aux_tree",
        "_count",
        "_fun",
        "_has_aux",
        "_in_tree",
        "_name",
        "_others",
        "out_tree",
    )

    def __init__(
        self,
        fun: Callable[..., Any],
        in_tree: tree.TreeDef,
        name: str,
        *,
        has_aux: bool,
    ) -> None:
        self._fun = fun
        self._in_tree = in_tree
        self._name = name
        self._has_aux = has_aux

    def __call__(self, *xs: Any) -> list[Any]:
        result, aux = self._fun(*self._in_tree.unflatten(xs)), None
        if self._has_aux:
            result, aux = _check_pair(result, self._name)
        outs, self.out_tree = result_leaves(result, self._name)
        self._count = len(outs)
        leaves, self._aux_tree = tree.flatten(aux)
        self._others = [_ARRAY if isinstance(x, Array) else x for x in leaves]
        return [*outs, *(x for x in leaves if isinstance(x, Array))]

    def result(self, outs: Sequence[Any]) -> Any:
        """Return the result of the function from its transformed leaves."""
        return self.out_tree.unflatten(outs[: self._count])

    def aux(self, outs: Sequence[Any]) -> Any:
        """Return the auxiliary data from its transformed arrays."""
        arrays = iter(outs[self._count :])
        return self._aux_tree.unflatten(
            [as_result(next(arrays)) if x is _ARRAY else x for x in self._others]
        )


# ---- checks ----


def _owned(
    args: list[Any], positions: Sequence[int], transform: str
) -> tuple[list[Any], tree.TreeDef]:
    """Return the leaves of arguments as immutable arrays."""
    leaves, treedef = tree.flatten(args)
    owned: list[Any] = []
    for i, leaf in enumerate(leaves):
        try:
            owned.append(float_array(copy_leaf(leaf, transform, "")))
        except ArgumentError:
            copy_leaf(leaf, transform, _leaf_name(treedef, positions, i))
            raise
    return owned, treedef


def _leaf_name(treedef: tree.TreeDef, positions: Sequence[int], i: int) -> str:
    """Say which leaf of which argument it is; many leaves take long to name."""
    first, *rest = treedef.paths()[i]
    number = cast("SequenceKey", first).idx
    return f"argument {positions[number]}{tree.keystr(tuple(rest))}"


def check_argnums(argnums: Any, count: int, name: str) -> tuple[int, ...]:
    """Return the positions that `argnums` means, counted from 0; `name` begins the error.

    Args:
        argnums: one position or several.
        count: how many positional arguments the call has.
        name: the transform and the function, as `grad(f)`.
    """
    several = hasattr(argnums, "__iter__") and not is_one(argnums)
    nums = [whole(name, "argnums", n) for n in (argnums if several else (argnums,))]
    for num in nums:
        if not -count <= num < count:
            raise ArgumentError(
                f"{name}: expected argnums in [{-count}, {count}), got {num}; "
                f"the call has {count} positional arguments. Pass the argument to "
                "differentiate by position."
            )
    positions = tuple([num % count for num in nums])
    if not positions or len({*positions}) < len(positions):
        raise ArgumentError(
            f"{name}: expected at least one argument in argnums, and each once, got "
            f"{argnums}. Name the positions of those to differentiate."
        )
    return positions


def is_one(argnums: Any) -> bool:
    """Return whether `argnums` is a single position."""
    try:
        operator.index(argnums)
    except TypeError:
        return False
    return True


def _check_inputs(
    leaves: Sequence[Any],
    leaf_name: Callable[[int], str],
    name: str,
    holomorphic: bool,  # noqa: FBT001 - JAX's signature
    allow_int: bool,  # noqa: FBT001 - JAX's signature
) -> None:
    for i, x in enumerate(leaves):
        aval = get_aval(x)
        if holomorphic and not dtypes.is_complex(aval.dtype):
            raise NotDifferentiableError(
                f"grad({name}, holomorphic=True): expected complex inputs, got {aval} "
                f"as {leaf_name(i)}. Convert it, or leave holomorphic out."
            )
        if not dtypes.is_inexact(aval.dtype) and not allow_int:
            raise NotDifferentiableError(
                f"grad({name}): expected float inputs, got {aval} as {leaf_name(i)}. "
                "Convert it with `.astype(float)`, choose other argnums, or pass "
                "allow_int=True for a gradient of dtype float0."
            )


def _check_output(out: Any, name: str, holomorphic: bool) -> Any:  # noqa: FBT001 - JAX's signature
    leaves, _ = tree.flatten(out)
    if len(leaves) != 1 or leaves[0] is not out:
        raise NotDifferentiableError(
            f"grad({name}): expected one scalar as result, got {_described(out)}. "
            "Return `(loss, aux)` with has_aux=True, or use imprint.vjp."
        )
    aval = get_aval(out)
    if aval.shape:
        raise NotDifferentiableError(
            f"grad({name}): expected a scalar result, got {aval}. "
            "Reduce it, `.sum()` or `.mean()`, or use imprint.vjp."
        )
    right = dtypes.is_complex if holomorphic else dtypes.is_floating
    if not right(aval.dtype):
        kind = "complex" if holomorphic else "float"
        raise NotDifferentiableError(
            f"grad({name}): expected a {kind} result, got {aval}. "
            "Take the real part, or pass holomorphic=True for a holomorphic function."
        )
    return out


def _described(out: Any) -> str:
    return f"{type(out).__name__} with {len(tree.leaves(out))} leaves"


def _check_pair(result: Any, name: str) -> tuple[Any, Any]:
    if not isinstance(result, tuple | list) or len(result) != 2:  # pyright: ignore[reportUnknownArgumentType] - of anything
        raise ArgumentError(
            f"{name} with has_aux=True: expected a pair (result, aux), got "
            f"{type(result).__name__}. Return exactly two things."  # pyright: ignore[reportUnknownArgumentType] - of anything
        )
    return result[0], result[1]  # pyright: ignore[reportUnknownVariableType] - of anything
