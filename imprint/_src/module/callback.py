"""`filter_pure_callback`: calls of Python functions with arbitrary arguments and results.

Arrays go through the program, as in `imprint.pure_callback`. All other arguments and
results are known while tracing and bypass the program.
"""

from collections.abc import Callable
from typing import Any

from imprint._src.callbacks import pure_callback
from imprint._src.errors import ArgumentError
from imprint._src.module.compare import tree_equal
from imprint._src.module.filters import combine, is_array, partition
from imprint._src.sharding.single import SingleDeviceSharding


def filter_pure_callback(
    callback: Callable[..., Any],
    *args: Any,
    result_shape_dtypes: Any,
    sharding: SingleDeviceSharding | None = None,
    vmap_method: str | None = None,
    vectorized: None = None,
    **kwargs: Any,
) -> Any:
    """Call a Python function that has no effect, with anything, when a program runs.

    Args:
        callback: takes and returns trees of anything.
        *args: its arguments.
        result_shape_dtypes: its result, with an `imprint.ShapeDtypeStruct` for each
            array.
        sharding: accepted as JAX does; a program has one device.
        vmap_method: how it is called under `vmap`, as for `imprint.pure_callback`.
        vectorized: JAX's older form of `vmap_method`; None.
        **kwargs: its keyword arguments.

    Returns:
        A tree like `result_shape_dtypes`, with arrays.

    Raises:
        ArgumentError: `vectorized` is given, or the function returns other values than
            `result_shape_dtypes` says.

    References:
        Equinox, `equinox.filter_pure_callback`.

    Example:
        >>> import imprint
        >>> def describe(x, name):
        ...     return {"mean": x.mean(), "name": name}
        >>> wanted = {"mean": imprint.ShapeDtypeStruct((), "float32"), "name": "x"}
        >>> @imprint.filter_jit
        ... def f(x):
        ...     return imprint.filter_pure_callback(
        ...         describe, x, "x", result_shape_dtypes=wanted
        ...     )
        >>> f(imprint.numpy.array([1.0, 3.0]))
        {'mean': Array(2., dtype=float32), 'name': 'x'}
    """
    if vectorized is not None:
        raise ArgumentError(
            f"filter_pure_callback: expected no vectorized, got {vectorized!r}. Pass "
            "vmap_method: 'sequential' is what False was, 'legacy_vectorized' True."
        )
    dynamic, static = partition((args, kwargs), is_array)
    structs, others = partition(result_shape_dtypes, _is_struct)

    def call(dynamic: Any) -> Any:
        own_args, own_kwargs = combine(dynamic, static)
        arrays, rest = partition(callback(*own_args, **own_kwargs), is_array)
        if not tree_equal(rest, others):
            raise ArgumentError(
                f"filter_pure_callback: expected {callback} to return {others} and "
                f"its arrays, as result_shape_dtypes says, got {rest}. Return what it "
                "says, or change it."
            )
        return arrays

    found = pure_callback(
        call, structs, dynamic, sharding=sharding, vmap_method=vmap_method
    )
    return combine(found, others)


def _is_struct(x: Any) -> bool:
    return hasattr(x, "shape") and hasattr(x, "dtype")
