"""Callbacks: Python functions that run while a compiled program runs.

`pure_callback` is for functions without effects, `io_callback` for those with; `debug`
has those that print. Here their trees become flat: a primitive's callback takes and
returns arrays (`primitives.callbacks`). A callback gets imprint's arrays, which are on
the host already, and may call compiled functions. An exception that it raises reaches
the caller of the program unchanged. The program has ended when its call returns: so
effects of one call come before those of the next.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, final

import numpy as np

from imprint._src.array import from_host
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.functions import name_of
from imprint._src.core.primitive import Avals
from imprint._src.core.shape_struct import described
from imprint._src.errors import ArgumentError, DTypeError
from imprint._src.primitives.callbacks import (
    debug_callback_p,
    io_callback_p,
    pure_callback_p,
)
from imprint._src.sharding.single import SingleDeviceSharding
from imprint._src.tree import internal as tree

R = TypeVar("R")

_METHODS: Final = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
    None,
)


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: SingleDeviceSharding | None = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Call a Python function that has no effect, whenever the program needs its result.

    Its results must follow from its arguments alone: it is not called if nothing uses
    them, and perhaps once for two equal calls.

    Args:
        callback: takes trees of arrays; returns a tree like `result_shape_dtypes`.
        result_shape_dtypes: a tree of objects with a shape and a dtype, such as
            `imprint.ShapeDtypeStruct`.
        *args: its arguments: trees of arrays.
        sharding: accepted as JAX does; a program has one device.
        vmap_method: how it is called under `vmap`: "sequential" or
            "sequential_unrolled", for each element; "expand_dims" or "broadcast_all",
            once, with a leading axis more, which is 1 long or repeated for arguments
            that are not mapped; "legacy_vectorized", where these have no such axis.
        **kwargs: its keyword arguments: trees of arrays.

    Returns:
        A tree of arrays like `result_shape_dtypes`.

    Raises:
        ArgumentError: `vmap_method` or `sharding` is unknown.

    References:
        JAX, `jax.pure_callback`.

    Example:
        >>> import numpy
        >>> import imprint
        >>> import imprint.numpy as np
        >>> @imprint.jit
        ... def rank(x):
        ...     return imprint.pure_callback(
        ...         lambda x: numpy.argsort(x).astype("int32"), x, x
        ...     )
        >>> rank(np.array([30, 10, 20]))
        Array([1, 2, 0], dtype=int32)
    """
    _check_sharding("pure_callback", sharding)
    if vmap_method not in _METHODS:
        raise ArgumentError(
            f"pure_callback: expected vmap_method to be one of {_METHODS}, got "
            f"{vmap_method!r}."
        )
    return _returning(
        pure_callback_p,
        (callback, result_shape_dtypes, args, kwargs),
        vmap_method=vmap_method,
    )


def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: SingleDeviceSharding | None = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function that has effects, once each time the program comes there.

    Args:
        callback: takes trees of arrays; returns a tree like `result_shape_dtypes`.
        result_shape_dtypes: a tree of objects with a shape and a dtype, such as
            `imprint.ShapeDtypeStruct`; None if it returns nothing.
        *args: its arguments: trees of arrays.
        sharding: accepted as JAX does; a program has one device.
        ordered: whether it keeps the order of the program among ordered callbacks.
        **kwargs: its keyword arguments: trees of arrays.

    Returns:
        The result, a tree of arrays like `result_shape_dtypes`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint.experimental import io_callback
        >>> seen = []
        >>> @imprint.jit
        ... def f(x):
        ...     io_callback(lambda x: seen.append(float(x)), None, x, ordered=True)
        ...     return x + 1
        >>> f(1.0), seen
        (Array(2., dtype=float32, weak_type=True), [1.0])
    """
    _check_sharding("io_callback", sharding)
    return _returning(
        io_callback_p, (callback, result_shape_dtypes, args, kwargs), ordered=ordered
    )


def effects_barrier() -> None:
    """Return when the effects of all programs that this thread called have happened.

    A call of a program with callbacks returns when it has ended, so there is nothing to
    wait for.

    Example:
        >>> import imprint
        >>> imprint.jit(lambda x: imprint.debug.print("x = {}", x))(1.0)
        x = 1.0
        >>> imprint.effects_barrier()
    """


def tell(
    callback: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    ordered: bool,
) -> None:
    """Call a Python function for its effect; leaves that are no arrays may be anything."""
    flat, arrays = flattened(callback, args, kwargs, ignores_result=True)
    debug_callback_p.bind_all(*arrays, callback=flat, ordered=ordered)


def flattened(
    callback: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    ignores_result: bool = False,
) -> "tuple[TreeCallback, list[Any]]":
    """Return a Python function as a function of flat arrays, and its array arguments.

    Args:
        callback: the function.
        args: its arguments; leaves that are no arrays may be anything.
        kwargs: its keyword arguments, likewise.
        ignores_result: whether its result is dropped.
    """
    leaves, treedef = tree.flatten((args, kwargs))
    static = {i: x for i, x in enumerate(leaves) if not _has_aval(x)}
    arrays = [x for i, x in enumerate(leaves) if i not in static]
    return TreeCallback(
        callback, treedef, static, ignores_result=ignores_result
    ), arrays


@final
class TreeCallback:
    """A function of trees as a function of flat arrays.

    Args:
        function: the user function.
        treedef: of its arguments and keyword arguments.
        static: the leaves of these that are no arrays, by place.
        ignores_result: whether its result is dropped.
    """

    __slots__ = ("function", "ignores_result", "static", "treedef")

    def __init__(
        self,
        function: Callable[..., Any],
        treedef: tree.TreeDef,
        static: dict[int, Any],
        *,
        ignores_result: bool = False,
    ) -> None:
        self.function: Callable[..., Any] = function
        self.treedef: tree.TreeDef = treedef
        self.static: dict[int, Any] = static
        self.ignores_result: bool = ignores_result

    def __call__(self, *arrays: Any) -> Sequence[Any]:
        """Call the function; return the leaves of its result."""
        given = map(_array, arrays)
        static = self.static
        leaves = [
            static[i] if i in static else next(given)
            for i in range(self.treedef.num_leaves)
        ]
        args, kwargs = self.treedef.unflatten(leaves)
        result = self.function(*args, **kwargs)
        return () if self.ignores_result else tree.leaves(result)

    def __imprint_token__(self) -> Any:
        """Return its token in a comparison of programs."""
        static = (*self.static.items(),)
        return "callback", self.function, self.treedef, static, self.ignores_result

    def __repr__(self) -> str:
        return name_of(self.function)


def _array(x: Any) -> Any:
    values = np.asarray(x)
    return from_host(ShapedArray(values.shape, values.dtype), values)


def _returning(primitive: Any, call: tuple[Any, ...], **params: Any) -> Any:
    """Bind a callback that has results, and put their tree together."""
    callback, result_shape_dtypes, args, kwargs = call
    if not callable(callback):
        raise ArgumentError(
            f"{primitive}: expected a function as callback, got {callback!r}."
        )
    structs, out_tree = tree.flatten(result_shape_dtypes)
    results: Avals = tuple(_result(primitive, struct) for struct in structs)
    leaves, treedef = tree.flatten((args, kwargs))
    flat = TreeCallback(callback, treedef, {})
    outs = primitive.bind_all(*leaves, callback=flat, results=results, **params)
    return out_tree.unflatten(outs)


def _result(primitive: Any, struct: Any) -> ShapedArray:
    """Return the aval that a result must have."""
    if not (hasattr(struct, "shape") and hasattr(struct, "dtype")):
        raise ArgumentError(
            f"{primitive}: expected a shape and a dtype in each leaf of "
            f"result_shape_dtypes, got {struct!r}. Write imprint.ShapeDtypeStruct."
        )
    aval = get_aval(described(struct))
    if aval.dtype != np.dtype(struct.dtype):
        raise DTypeError(
            f"{primitive}: expected dtypes of 32 bits in result_shape_dtypes, got "
            f"{np.dtype(struct.dtype)}. Name another, or turn on imprint.enable_x64."
        )
    return ShapedArray(aval.shape, aval.dtype)


def _check_sharding(name: str, sharding: object) -> None:
    if not (sharding is None or isinstance(sharding, SingleDeviceSharding)):
        raise ArgumentError(
            f"{name}: expected a SingleDeviceSharding as sharding, got {sharding!r}. "
            "Leave it out: a program has one device."
        )


def _has_aval(x: Any) -> bool:
    try:
        get_aval(x)
    except TypeError:
        return False
    return True
