"""Jacobians of functions of pytrees: jacfwd, jacrev, hessian.

A Jacobian is a derivative at every vector of the standard basis, all at once: `vmap` over
`jvp` (forward, a column for each input) or over the pullback of `vjp` (reverse, a row for
each output). The tree of the result is that of the outputs with that of the arguments at
each leaf; for an output of shape `out` and an argument of shape `in` it holds an
array of shape `(*out, *in)`.
"""

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy as np

from imprint._src import dtypes
from imprint._src.core.aval import get_aval
from imprint._src.core.functions import check_function, copy_leaf, name_of, wraps
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import NotDifferentiableError
from imprint._src.interpreters.derivatives import check_argnums, is_one, jvp, vjp
from imprint._src.interpreters.vmap import vmap
from imprint._src.primitives.core_ops import add, full
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.indexing.slicing import slice_in_dim
from imprint._src.primitives.shape import broadcasted_iota, reshape
from imprint._src.tree import internal as tree

P = ParamSpec("P")


def jacfwd(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    holomorphic: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Callable[P, Any]:
    """Return the function that evaluates the Jacobian of `fun`, column by column.

    It takes one pass forward for each number in the arguments: for few arguments and many
    results.

    Args:
        fun: a function of arrays, with any tree of arrays as its result.
        argnums: which positional arguments to differentiate.
        has_aux: whether `fun` returns `(result, auxiliary data)`.
        holomorphic: whether `fun` is complex and promised to be holomorphic.

    Returns:
        A function with the arguments of `fun`. It returns a tree like the result, with a
        tree like the argument at each leaf (a tuple of them if `argnums` is a sequence),
        or `(Jacobian, aux)`.

    Raises:
        ArgumentError: `fun` is not a function, or `argnums` names no argument of the
            call.
        NotDifferentiableError: an argument or a result has no float dtype.

    References:
        JAX, `jax.jacfwd`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.jacfwd(lambda x: x**2)(np.array([1.0, 2.0]))
        Array([[2., 0.],
               [0., 4.]], dtype=float32)
    """
    check_function(fun, "jacfwd")
    name = f"jacfwd({name_of(fun)})"

    @wraps(fun)
    @filter_traceback
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        chosen, primals = _chosen(fun, argnums, args, kwargs, name)
        for x in tree.leaves(primals):
            _check(x, name, "input", holomorphic=holomorphic)

        def push(*tangents: Any) -> Any:
            out, tangent, *aux = jvp(chosen, primals, tangents, has_aux=has_aux)
            return out, tree.map(_or_zeros, tangent, out), *aux

        axes = (None, -1, None) if has_aux else (None, -1)
        out, columns, *aux = vmap(push, out_axes=axes)(*_basis(primals))
        if holomorphic:
            for y in tree.leaves(out):
                _check(y, name, "output", holomorphic=True)
        example = primals[0] if is_one(argnums) else primals

        def block(y: Any, column: Any) -> Any:
            return _split(column, get_aval(y).ndim, example, y)

        jacobian = tree.map(block, out, columns)
        return (jacobian, *aux) if has_aux else jacobian

    return jacobian_of


def jacrev(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    holomorphic: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    allow_int: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Callable[P, Any]:
    """Return the function that evaluates the Jacobian of `fun`, row by row.

    It takes one pass backward for each number in the result: for many arguments and few
    results.

    Args:
        fun: a function of arrays, with any tree of arrays as its result.
        argnums: which positional arguments to differentiate.
        has_aux: whether `fun` returns `(result, auxiliary data)`.
        holomorphic: whether `fun` is complex and promised to be holomorphic.
        allow_int: whether integer arguments are allowed; their part is zeros.

    Returns:
        As `jacfwd`.

    Raises:
        ArgumentError: `fun` is not a function, or `argnums` names no argument of the
            call.
        NotDifferentiableError: an argument or a result has no float dtype.

    References:
        JAX, `jax.jacrev`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.jacrev(lambda x: {"sum": x.sum()})(np.ones(3))
        {'sum': Array([1., 1., 1.], dtype=float32)}
    """
    check_function(fun, "jacrev")
    name = f"jacrev({name_of(fun)})"

    @wraps(fun)
    @filter_traceback
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        chosen, primals = _chosen(fun, argnums, args, kwargs, name)
        for x in tree.leaves(primals):
            if not (allow_int and dtypes.isdtype(get_aval(x).dtype, "integral")):
                _check(x, name, "input", holomorphic=holomorphic, is_pulled=True)
        out, pull, *aux = vjp(chosen, *primals, has_aux=has_aux)
        for y in tree.leaves(out):
            _check(y, name, "output", holomorphic=holomorphic)

        def pulled(cotangent: Any) -> Any:
            return tree.map(_or_zeros, pull(cotangent), primals)

        def block(x: Any, row: Any) -> Any:
            return _split(row, 0, out, x)

        blocks = tree.map(block, primals, vmap(pulled)(_basis(out)))
        given = primals
        if is_one(argnums):
            (given,), (blocks,) = primals, blocks
        jacobian = tree.transpose(tree.structure(given), tree.structure(out), blocks)
        return (jacobian, *aux) if has_aux else jacobian

    return jacobian_of


jacobian = jacrev
"""Another name of `jacrev`."""


def hessian(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    holomorphic: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Callable[P, Any]:
    """Return the function that evaluates the Hessian of `fun`: `jacfwd` of `jacrev`.

    Args:
        fun: a function of arrays, with any tree of arrays as its result.
        argnums: which positional arguments to differentiate.
        has_aux: whether `fun` returns `(result, auxiliary data)`.
        holomorphic: whether `fun` is complex and promised to be holomorphic.

    Returns:
        A function with the arguments of `fun`. It returns a tree like the result, with
        two trees like the arguments nested at each leaf, or `(Hessian, aux)`.

    Raises:
        ArgumentError: `fun` is not a function, or `argnums` names no argument of the
            call.
        NotDifferentiableError: an argument or a result has no float dtype.

    References:
        JAX, `jax.hessian`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
        Array([[4., 2.],
               [2., 0.]], dtype=float32)
    """
    check_function(fun, "hessian")
    rows = jacrev(fun, argnums, has_aux, holomorphic)
    return jacfwd(rows, argnums, has_aux, holomorphic)


# ---- arguments ----


def _chosen(
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    name: str,
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return `fun` as a function of some arguments, and these."""
    nums = check_argnums(argnums, len(args), name)
    transform = name.partition("(")[0]

    def chosen(*dynamic: Any) -> Any:
        whole = dict(enumerate(args)) | dict(zip(nums, dynamic, strict=True))
        return fun(*whole.values(), **kwargs)

    def owned(path: tree.KeyPath, x: Any) -> Any:
        text = tree.keystr(path).replace("[", "argument ", 1).replace("]", "", 1)
        return copy_leaf(x, transform, text)

    chosen.__name__ = name_of(fun)
    named = tree.map_with_path(owned, {num: args[num] for num in nums})
    return chosen, tuple([named[num] for num in nums])


def _check(
    x: Any, name: str, role: str, *, holomorphic: bool, is_pulled: bool = False
) -> None:
    aval = get_aval(x)
    right, kind = dtypes.is_floating, "float"
    if holomorphic:
        right, kind = dtypes.is_complex, "complex"
    elif is_pulled:  # a real function of complex numbers has gradients
        right, kind = dtypes.is_inexact, "float or complex"
    if not right(aval.dtype):
        option = ", holomorphic=True" if holomorphic else ""
        raise NotDifferentiableError(
            f"{name}{option}: expected {kind} {role}s, got {aval}. Convert it, choose "
            "other argnums, or pass holomorphic=True for a complex function that is "
            "holomorphic; for what is neither there are imprint.jvp and imprint.vjp."
        )


# ---- the standard basis ----


def _basis(pytree: Any) -> Any:
    """Return the tree with a new first axis, along which one number after another is 1."""
    leaves, treedef = tree.flatten(pytree)
    avals = [get_aval(x) for x in leaves]
    sizes = [aval.size for aval in avals]
    total, start = sum(sizes), 0
    vectors: list[Any] = []
    for aval, size in zip(avals, sizes, strict=True):
        place = add(broadcasted_iota("int32", (total, size), 1), np.int32(start))
        ones = eq(broadcasted_iota("int32", (total, size), 0), place)
        vector = convert_element_type(ones, aval.dtype)
        vectors.append(reshape(vector, (total, *aval.shape)))
        start += size
    return treedef.unflatten(vectors)


def _or_zeros(derivative: Any, x: Any) -> Any:
    """Return a derivative, or zeros like `x` if that has none: it holds integers."""
    if get_aval(derivative).dtype != dtypes.float0:
        return derivative
    aval = get_aval(x)
    return full(aval.shape, 0, aval.dtype)


def _split(x: Any, axis: int, pytree: Any, like: Any) -> Any:
    """Return the parts of `x`, whose `axis` runs over all numbers in a tree.

    They get the dtype and the weak type of `like`.
    """
    leaves, treedef = tree.flatten(pytree)
    shape, target = get_aval(x).shape, get_aval(like)
    parts: list[Any] = []
    start = 0
    for leaf in leaves:
        aval = get_aval(leaf)
        end = start + aval.size
        part = slice_in_dim(x, start, end, axis=axis)
        part = reshape(part, (*shape[:axis], *aval.shape, *shape[axis + 1 :]))
        parts.append(
            convert_element_type(part, target.dtype, weak_type=target.weak_type)
        )
        start = end
    return treedef.unflatten(parts)
