"""Functions applied along axes: vectorize, apply_along_axis and others.

Functions are mapped by `vmap`, so they are called once, on tracers, not once for each
element: the result is one program. Axes of length 1 are removed instead of mapped, and
restored at the end, so nothing is broadcast early.
"""

import operator
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias, cast

from imprint._src.core.array import Array
from imprint._src.core.aval import Shape, get_aval
from imprint._src.core.dims import Dim, broadcast_shapes, is_same
from imprint._src.core.functions import check_function, wraps
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.interpreters.vmap import vmap
from imprint._src.numpy.creation import asarray
from imprint._src.numpy.promotion import ArrayLike, as_array, check_ranks
from imprint._src.numpy.ranges import arange
from imprint._src.numpy.shapes.reshape import ShapeLike, expand_dims, shape_of, squeeze
from imprint._src.primitives.axes import canonical_axis
from imprint._src.tree import internal as tree

Core: TypeAlias = tuple[str, ...]
"""The names of the core axes of an argument."""


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any
) -> Any:
    """Apply a function of a vector to each vector along an axis.

    Args:
        func1d: a function of a vector; the axes of its result replace the axis.
        axis: the axis.
        arr: an array.
        args: further arguments of the function.
        kwargs: keyword arguments of the function.

    Returns:
        The results, an array or a pytree of arrays; their axes stand in place of the
        axis.

    References:
        NumPy, `numpy.apply_along_axis`.

    Example:
        >>> import imprint.numpy as np
        >>> np.apply_along_axis(np.sum, 1, np.array([[1, 2], [3, 4]]))
        Array([3, 7], dtype=int32)
    """
    x = as_array("apply_along_axis", arr)
    at = canonical_axis("apply_along_axis", axis, x.ndim)

    def mapped(row: Any) -> Any:
        return func1d(row, *args, **kwargs)

    for behind in range(1, x.ndim - at):
        mapped = vmap(mapped, in_axes=behind, out_axes=-1)
    for _ in range(at):
        mapped = vmap(mapped)
    return mapped(x)


def apply_over_axes(
    func: Callable[[Array, int], Array], a: ArrayLike, axes: Sequence[int]
) -> Array:
    """Apply a function of an array and an axis for several axes in turn.

    Args:
        func: a function of an array and an axis; an axis that it removes is restored
            with length 1.
        a: an array.
        axes: the axes.

    Returns:
        An array of as many axes as `a`.

    Raises:
        ShapeError: a result has neither as many axes, nor one fewer.

    References:
        NumPy, `numpy.apply_over_axes`.

    Example:
        >>> import imprint.numpy as np
        >>> np.apply_over_axes(np.sum, np.ones((2, 3)), (0, 1))
        Array([[6.]], dtype=float32)
    """
    x = as_array("apply_over_axes", a)
    for axis in axes:
        result = func(x, axis)
        if result.ndim not in (x.ndim - 1, x.ndim):
            raise ShapeError(
                f"apply_over_axes: expected a function that keeps axis {axis} or drops "
                f"it, got {result.aval} for {x.aval}. Reduce along the axis it is given."
            )
        x = result if result.ndim == x.ndim else expand_dims(result, axis)
    return x


def fromfunction(
    function: Callable[..., Any],
    shape: ShapeLike,
    *,
    dtype: DTypeLike = float,
    **kwargs: Any,
) -> Any:
    """Return an array whose elements are a function of their indices.

    Args:
        function: a function of one number for each axis.
        shape: of the array.
        dtype: the dtype of the function's arguments.
        kwargs: keyword arguments of the function.

    Returns:
        The results, an array or a pytree of arrays, of this shape, followed by the axes
        of one result.

    References:
        NumPy, `numpy.fromfunction`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype=int)
        Array([[ 0,  1,  2],
               [10, 11, 12]], dtype=int32)
    """
    lengths = shape_of("fromfunction", shape)
    axes = [arange(n, dtype=dtype) for n in lengths]

    def mapped(*positions: Any) -> Any:
        return function(*positions, **kwargs)

    for at in reversed(range(len(lengths))):
        in_axes = tuple(0 if i == at else None for i in range(len(lengths)))
        mapped = vmap(mapped, in_axes=in_axes)
    return mapped(*axes)


# ---- vectorize ----


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Collection[int | str] = frozenset(),
    signature: str | None = None,
) -> Callable[..., Any]:
    """Return a function of arrays that broadcasts and maps `pyfunc`, like a ufunc.

    Args:
        pyfunc: a function of scalars, or of the core axes of `signature`.
        excluded: positions and names of arguments that are passed unchanged; None
            always is.
        signature: the core axes of arguments and results, which come last, such as
            "(n,k),(k)->(n)".

    Returns:
        A function of arrays; its results have the broadcast shape of the arguments,
        followed by the core axes.

    Raises:
        ArgumentError: `excluded` has a negative position, or the signature cannot be
            parsed.

    References:
        NumPy, `numpy.vectorize`.

    Example:
        >>> import imprint.numpy as np
        >>> dot = np.vectorize(np.dot, signature="(n),(n)->()")
        >>> dot(np.ones((2, 3)), np.arange(3))
        Array([3., 3.], dtype=float32)
    """
    check_function(pyfunc, "vectorize")
    if any(not isinstance(e, str) and operator.index(e) < 0 for e in excluded):
        raise ArgumentError(
            "vectorize: expected positions from 0 on and names for excluded, got "
            f"{excluded!r}. Count positions from the front."
        )
    cores = None if signature is None else _parsed(signature)

    @wraps(pyfunc)
    def vectorized(*args: Any, **kwargs: Any) -> Any:
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        places = [key for key in given if key not in excluded]
        takes = _argument_cores(cores, places)
        mapped = [key for key in places if given[key] is not None or takes[key]]
        values = [asarray(given[key]) for key in mapped]

        def apply(*parts: Any) -> Any:
            full = given | dict(zip(mapped, parts, strict=True))
            call = [full[i] for i in range(len(args))]
            return pyfunc(*call, **{key: full[key] for key in kwargs})

        inputs = [takes[key] for key in mapped]
        if cores is None:
            return _mapped(apply, values, inputs)
        return _mapped(_checked(apply, inputs, cores[1]), values, inputs)

    return vectorized


def _parsed(signature: str) -> tuple[list[Core], list[Core]]:
    """Return the core axes of arguments and results."""
    axes = r"\((?:\w+(?:,\w+)*)?\)"
    text = re.sub(r"\s", "", signature)
    if not re.fullmatch(f"(?:{axes}(?:,{axes})*)?->{axes}(?:,{axes})*", text):
        raise ArgumentError(
            "vectorize: expected a signature such as '(n,k),(k)->(n)', got "
            f"{signature!r}. Write the named axes of each argument and result."
        )
    given, returned = (
        [tuple(re.findall(r"\w+", one)) for one in re.findall(axes, side)]
        for side in text.split("->")
    )
    return given, returned


def _argument_cores(
    cores: tuple[list[Core], list[Core]] | None, places: list[Any]
) -> Any:
    """Return the core axes of each argument, by position or name."""
    if cores is None:
        return dict.fromkeys(places, ())
    if len(places) != len(cores[0]) or any(isinstance(key, str) for key in places):
        raise ArgumentError(
            f"vectorize: expected {len(cores[0])} positional arguments by the "
            f"signature, got {places}. Exclude the names of the others."
        )
    return dict(zip(places, cores[0], strict=True))


def _checked(
    apply: Callable[..., Any], takes: list[Core], gives: list[Core]
) -> Callable[..., Any]:
    """Return a function that checks its arrays against the signature."""

    def checked(*parts: Any) -> Any:
        sizes: dict[str, Dim] = {}
        for x, core in zip(parts, takes, strict=True):
            _check_core(x, core, sizes, "an argument")
        result = apply(*parts)
        is_tuple = isinstance(result, tuple)
        results: tuple[Any, ...] = cast("Any", result) if is_tuple else (result,)
        if len(results) != len(gives):
            raise ArgumentError(
                f"vectorize: expected {len(gives)} results by the signature, got "
                f"{len(results)}. Return a tuple of as many."
            )
        for x, core in zip(results, gives, strict=True):
            _check_core(x, core, sizes, "a result")
        return result

    return checked


def _check_core(x: Any, core: Core, sizes: dict[str, Dim], role: str) -> None:
    shape = get_aval(x).shape
    fits = len(shape) == len(core) and all(
        is_same(sizes.setdefault(name, n), n)
        for name, n in zip(core, shape, strict=True)
    )
    if not fits:
        raise ShapeError(
            f"vectorize: expected {role} with the axes ({', '.join(core)}) where "
            f"{sizes}, got {get_aval(x)}. The signature names the last axes."
        )


def _mapped(apply: Callable[..., Any], values: list[Array], inputs: list[Core]) -> Any:
    """Apply a function to arrays, mapped over the axes before the core axes."""
    outer = [_outer(x, core) for x, core in zip(values, inputs, strict=True)]
    check_ranks("vectorize", values, [len(core) for core in inputs])
    shape = broadcast_shapes(outer)
    if shape is None:
        raise ShapeError(
            "vectorize: expected shapes that broadcast together before the core axes, "
            f"got {' and '.join(str(x.aval) for x in values)}. Insert axes of length 1."
        )
    filled = [(1,) * (len(shape) - len(own)) + own for own in outer]
    single: list[int] = []
    for axis in reversed(range(len(shape))):
        axes = tuple(None if is_same(own[axis], 1) else 0 for own in filled)
        if any(at is not None for at in axes):
            apply = vmap(apply, in_axes=axes)
        else:
            single.append(axis)
    parts = [
        squeeze(x, tuple(i for i, n in enumerate(own) if is_same(n, 1)))
        for x, own in zip(values, outer, strict=True)
    ]
    result = apply(*parts)
    if not single:
        return result

    def whole(x: Any) -> Array:
        return expand_dims(x, single)

    return tree.map(whole, result)


def _outer(x: Array, core: Core) -> Shape:
    rank = x.ndim - len(core)
    if rank < 0:
        raise ShapeError(
            f"vectorize: expected an argument with the axes ({', '.join(core)}), got "
            f"{x.aval}. The signature names the last axes."
        )
    return x.shape[:rank]
