"""Derivatives of functions of pytrees: grad, value_and_grad, vjp, jvp, linearize.

Each flattens its arguments, runs an interpreter on flat values (`jvp`, `linearize`,
`transpose`) and puts the results back into trees. What is checked here: that arguments
and results are of a kind that has a derivative, and that tangents and cotangents fit.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from imprint import dtypes, tree
from imprint.core.aval import ShapedArray, get_aval
from imprint.core.folding import folding
from imprint.core.functions import as_result, check_function, name_of, own_leaf, wraps
from imprint.core.jaxpr import eval_jaxpr
from imprint.core.tangents import Linear, Zero, is_zero, tangent_aval, zero_of
from imprint.errors import ArgumentError, NotDifferentiableError, TreeError
from imprint.primitives.basis import instantiate, scalar_like
from imprint.transforms.jvp import jvp_flat, merge_zeros
from imprint.transforms.linearize import Linearized, linearize_flat
from imprint.transforms.transpose import backward_pass

# ---- reverse mode ----


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    holomorphic: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    allow_int: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Callable[..., Any]:
    """Return the function that evaluates the gradient of `fun`.

    Args:
        fun: a function with a scalar result.
        argnums: which positional arguments to differentiate.
        has_aux: whether `fun` returns `(result, auxiliary data)`.
        holomorphic: whether `fun` is complex and promised to be holomorphic.
        allow_int: whether integer arguments are allowed; their gradient is float0.

    Returns:
        A function with the arguments of `fun`, which returns the gradient in the shape
        of the arguments (a tuple if `argnums` is a sequence), or `(gradient, aux)`.

    >>> import imprint
    >>> imprint.grad(lambda x: x**3)(2.0)
    Array(12., dtype=float32, weak_type=True)
    """
    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int)

    @wraps(fun)
    @folding
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, grads = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return gradient


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    holomorphic: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    allow_int: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Callable[..., Any]:
    """Return the function that evaluates both `fun` and its gradient; see `grad`.

    >>> import imprint
    >>> imprint.value_and_grad(lambda x: x**3)(2.0)[0]
    Array(8., dtype=float32, weak_type=True)
    """
    check_function(fun, "grad")
    name = name_of(fun)

    @wraps(fun)
    @folding
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        nums = _check_argnums(argnums, len(args), name)
        leaves, treedef = _flatten_named([args[i] for i in nums], nums, "grad")
        for leaf_name, x in leaves:
            _check_input(x, leaf_name, name, holomorphic, allow_int)

        def chosen(*dynamic: Any) -> Any:
            whole = list(args)
            for i, value in zip(nums, dynamic, strict=True):
                whole[i] = value
            return fun(*whole, **kwargs)

        pull = _pullback(chosen, [x for _, x in leaves], treedef, has_aux, name)
        value = _check_output(pull.out, name, holomorphic)
        grads = pull.pull([scalar_like(value, 1)])
        packed = treedef.unflatten(grads)
        result = packed[0] if _is_integer(argnums) else tuple(packed)
        out = as_result(value)
        return ((out, pull.aux) if has_aux else out), result

    return value_and_gradient


@folding
def vjp(
    fun: Callable[..., Any], *primals: Any, has_aux: bool = False
) -> tuple[Any, ...]:
    """Evaluate `fun` and return its result with the function that pulls back.

    Args:
        fun: the function.
        primals: its arguments, all differentiated.
        has_aux: whether `fun` returns `(result, auxiliary data)`.

    Returns:
        `(result, pullback)` or `(result, pullback, aux)`. The pullback takes a
        cotangent of the structure of the result and returns a tuple of cotangents, one
        for each argument.

    >>> import imprint
    >>> out, pullback = imprint.vjp(lambda x, y: x * y, 2.0, 5.0)
    >>> pullback(1.0)
    (Array(5., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    check_function(fun, "vjp")
    name = name_of(fun)
    leaves, treedef = _flatten_named(list(primals), range(len(primals)), "vjp")
    pull = _pullback(fun, [x for _, x in leaves], treedef, has_aux, name)
    out_leaves, out_tree = tree.flatten(pull.out)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        cts = _check_like(
            cotangent, out_tree, [get_aval(x) for x in out_leaves], "vjp", "cotangent"
        )
        return tuple(treedef.unflatten(pull.pull(cts)))

    out = tree.map(as_result, pull.out)
    return (out, pullback, pull.aux) if has_aux else (out, pullback)


class _Pullback:
    """An evaluated function: its result, its aux and the way back."""

    __slots__ = ("_lin", "_out_avals", "_primal_avals", "aux", "out")

    def __init__(
        self, lin: Linearized, primals: Sequence[Any], out_tree: Any, aux_tree: Any
    ) -> None:
        count = out_tree.num_leaves
        self._lin = lin
        self._primal_avals = [get_aval(x) for x in primals]
        self._out_avals = [get_aval(x) for x in lin.outs[:count]]
        self.out = out_tree.unflatten(lin.outs[:count])
        self.aux = (
            None
            if aux_tree is None
            else aux_tree.unflatten(map(as_result, lin.outs[count:]))
        )

    def pull(self, cts: Sequence[Any]) -> list[Any]:
        """Return the cotangents of all primals at cotangents of the results."""
        lin = self._lin
        padded = [*cts, *(None for _ in lin.outs[len(cts) :])]
        wanted = [
            zero_of(get_aval(out)) if ct is None else ct
            for ct, out, has in zip(padded, lin.outs, lin.nonzero, strict=True)
            if has
        ]
        holes = [Linear(v.aval) for v in lin.tangent.jaxpr.invars]
        found = iter(
            backward_pass(lin.tangent.jaxpr, lin.tangent.consts, holes, wanted)
        )
        return [_cotangent(aval, found) for aval in self._primal_avals]


def _cotangent(aval: ShapedArray, found: Any) -> Any:
    if not dtypes.is_inexact(aval.dtype):
        return np.zeros(aval.shape, dtypes.float0)
    ct = next(found)
    return as_result(instantiate(Zero(aval) if is_zero(ct) else ct))


def _pullback(
    fun: Callable[..., Any],
    leaves: Sequence[Any],
    treedef: tree.TreeDef,
    has_aux: bool,  # noqa: FBT001 - passed on
    name: str,
) -> _Pullback:
    trees: list[Any] = []

    def flat(*xs: Any) -> list[Any]:
        result = fun(*treedef.unflatten(xs))
        aux = None
        if has_aux:
            result, aux = _check_pair(result, name)
        outs, out_tree = tree.flatten(result)
        extra, aux_tree = tree.flatten(aux) if has_aux else ([], None)
        trees[:] = [out_tree, aux_tree]
        return [*outs, *extra]

    lin = linearize_flat(flat, leaves, name=name)
    return _Pullback(lin, leaves, trees[0], trees[1])


# ---- forward mode ----


@folding
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

    >>> import imprint
    >>> imprint.jvp(lambda x: x**2, (3.0,), (1.0,))[1]
    Array(6., dtype=float32, weak_type=True)
    """
    check_function(fun, "jvp")
    name = name_of(fun)
    leaves, treedef = _flatten_named(list(primals), range(len(primals)), "jvp")
    flat_primals = [x for _, x in leaves]
    avals = [tangent_aval(get_aval(x)) for x in flat_primals]
    flat_tangents = _check_like(list(tangents), treedef, avals, "jvp", "tangent")
    trees: list[Any] = []

    def flat(*xs: Any) -> list[Any]:
        result = fun(*treedef.unflatten(xs))
        aux = None
        if has_aux:
            result, aux = _check_pair(result, name)
        outs, out_tree = tree.flatten(result)
        extra, aux_tree = tree.flatten(aux)
        trees[:] = [out_tree, aux_tree, len(outs)]
        return [*outs, *extra]

    known = [
        Zero(a) if a.dtype == dtypes.float0 else t
        for a, t in zip(avals, flat_tangents, strict=True)
    ]
    outs, out_tangents = jvp_flat(flat, flat_primals, known, name)
    out_tree, aux_tree, count = trees
    out = out_tree.unflatten(map(as_result, outs[:count]))
    tangent = out_tree.unflatten(map(_tangent_result, out_tangents[:count]))
    if has_aux:
        return out, tangent, aux_tree.unflatten(map(as_result, outs[count:]))
    return out, tangent


def linearize(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Any]:
    """Evaluate `fun` and return its result with its derivative as a linear function.

    >>> import imprint
    >>> out, push = imprint.linearize(lambda x: x**2, 3.0)
    >>> push(1.0)
    Array(6., dtype=float32, weak_type=True)
    """
    check_function(fun, "linearize")
    name = name_of(fun)
    leaves, treedef = _flatten_named(list(primals), range(len(primals)), "linearize")
    flat_primals = [x for _, x in leaves]
    avals = [tangent_aval(get_aval(x)) for x in flat_primals]
    trees: list[Any] = []

    def flat(*xs: Any) -> list[Any]:
        outs, out_tree = tree.flatten(fun(*treedef.unflatten(xs)))
        trees[:] = [out_tree]
        return outs

    lin = linearize_flat(flat, flat_primals, name=name)
    (out_tree,) = trees
    out_avals = [get_aval(x) for x in lin.outs]

    def push(*tangents: Any) -> Any:
        given = _check_like(list(tangents), treedef, avals, "linearize", "tangent")
        used = [
            t for a, t in zip(avals, given, strict=True) if a.dtype != dtypes.float0
        ]
        found = eval_jaxpr(lin.tangent.jaxpr, lin.tangent.consts, *used)
        merged = merge_zeros(out_avals, lin.nonzero, found)
        return out_tree.unflatten(map(_tangent_result, merged))

    return out_tree.unflatten(map(as_result, lin.outs)), push


def _tangent_result(t: Any) -> Any:
    if is_zero(t) and t.aval.dtype == dtypes.float0:
        return np.zeros(t.aval.shape, dtypes.float0)
    return as_result(instantiate(t))


# ---- checks ----


def _flatten_named(
    args: Sequence[Any], positions: Sequence[int], transform: str
) -> tuple[list[tuple[str, Any]], tree.TreeDef]:
    leaves, treedef = tree.flatten_with_path(list(args))
    named: list[tuple[str, Any]] = []
    for path, leaf in leaves:
        first, rest = path[0], path[1:]
        name = f"argument {positions[_index(first)]}{tree.keystr(rest)}"
        named.append((name, _as_array(own_leaf(leaf, transform, name))))
    return named, treedef


def _as_array(x: Any) -> Any:
    """Return a number of a floating dtype as an array, which keeps it if flags change."""
    is_number = isinstance(x, float | complex | np.inexact)
    return as_result(x) if is_number else x


def _index(key: Any) -> int:
    return key.idx


def _check_argnums(argnums: Any, count: int, name: str) -> tuple[int, ...]:
    nums = (argnums,) if _is_integer(argnums) else tuple(argnums)
    for num in nums:
        if not -count <= num < count:
            raise ArgumentError(
                f"grad({name}): expected argnums in [{-count}, {count}), got {num}; "
                f"the call has {count} positional arguments. Pass the argument to "
                "differentiate by position."
            )
    positions = tuple(num % count for num in nums)
    if not positions or len({*positions}) < len(positions):
        raise ArgumentError(
            f"grad({name}): expected at least one argument in argnums, and each once, "
            f"got {argnums}. Name the positions of those to differentiate."
        )
    return positions


def _is_integer(argnums: Any) -> bool:
    try:
        operator.index(argnums)
    except TypeError:
        return False
    return True


def _check_input(
    x: Any,
    leaf_name: str,
    name: str,
    holomorphic: bool,  # noqa: FBT001 - JAX's signature
    allow_int: bool,  # noqa: FBT001 - JAX's signature
) -> None:
    aval = get_aval(x)
    if holomorphic and not dtypes.is_complex(aval.dtype):
        raise NotDifferentiableError(
            f"grad({name}, holomorphic=True): expected complex inputs, got {aval} as "
            f"{leaf_name}. Convert it, or leave holomorphic out."
        )
    if not dtypes.is_inexact(aval.dtype) and not allow_int:
        raise NotDifferentiableError(
            f"grad({name}): expected float inputs, got {aval} as {leaf_name}. "
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


def _check_like(
    given: Any, treedef: tree.TreeDef, avals: Sequence[ShapedArray], who: str, what: str
) -> list[Any]:
    leaves, given_tree = tree.flatten(given)
    if given_tree != treedef:
        raise TreeError(
            f"{who}: expected a {what} of structure {treedef}, got {given_tree}. "
            f"Give the {what} the structure of the value it belongs to."
        )
    for x, aval in zip(leaves, avals, strict=True):
        came = get_aval(x) if not _is_float0(x) else aval
        if came.shape != aval.shape or came.dtype != aval.dtype:
            raise ArgumentError(
                f"{who}: expected a {what} {aval.strong()}, got {came}. "
                f"Convert it to the shape and dtype of the value it belongs to."
            )
    return [
        _as_array(own_leaf(x, who, what)) if not _is_float0(x) else x for x in leaves
    ]


def _is_float0(x: Any) -> bool:
    return getattr(x, "dtype", None) == dtypes.float0
