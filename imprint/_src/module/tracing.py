"""Traces of functions of models: shapes, jaxprs, and closure conversion.

Each function traces the arrays in the arguments and closes over the rest, so arguments and
results may be anything. `filter_closure_convert` returns a callable whose children are the
captured arrays, including scalars and tracers: captured values can then be passed, mapped
and differentiated as arguments.
"""

import itertools
from collections.abc import Callable
from typing import Any, Final, final

from imprint._src.core.aval import get_aval
from imprint._src.core.functions import as_result, check_function, name_of, wraps
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr, eval_jaxpr
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError
from imprint._src.interpreters.trace_to_jaxpr import lift_scalars
from imprint._src.jit.make_jaxpr import eval_shape, make_jaxpr
from imprint._src.module.compare import tree_equal
from imprint._src.module.fields import field
from imprint._src.module.filters import combine, is_array, partition
from imprint._src.module.module import Module
from imprint._src.tree import internal as tree


@filter_traceback
def filter_eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the result of a call with a `ShapeDtypeStruct` for each array.

    Nothing is computed: this makes a model without its memory, to load values into.

    Args:
        fun: a function of any arguments, with any result.
        args: its arguments; a `ShapeDtypeStruct` replaces an array.
        kwargs: its keyword arguments.

    Returns:
        The result, with anything but arrays as it is.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint.module import filter_eval_shape
        >>> filter_eval_shape(lambda x, name: (x @ x, name), inp.ones((2, 2)), "square")
        (ShapeDtypeStruct(shape=(2, 2), dtype=float32), 'square')
    """
    check_function(fun, "filter_eval_shape")
    flat = _FlatModuleFunction(fun, (fun, args, kwargs))
    shapes = eval_shape(flat.run, *flat.leaves)
    return flat.result(shapes)


def filter_make_jaxpr(
    fun: Callable[..., Any],
) -> Callable[..., tuple[ClosedJaxpr, Any, Any]]:
    """Return the function that traces `fun` and returns its program.

    Args:
        fun: a function of any arguments, with any result.

    Returns:
        A function of the same arguments that returns the jaxpr, the result with a
        `ShapeDtypeStruct` for each array and None elsewhere, and the result with None
        for each array. A `ShapeDtypeStruct` as an argument stands for an array.

    References:
        Equinox, `equinox.filter_make_jaxpr`.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint.module import filter_make_jaxpr
        >>> jaxpr, shapes, rest = filter_make_jaxpr(lambda x, n: (x**n, n))(
        ...     inp.ones(2), 2
        ... )
        >>> print(jaxpr, shapes, rest)
        { lambda ; a:f32[2]. let b:f32[2] = integer_pow[y=2] a in (b,) } ...
    """
    check_function(fun, "filter_make_jaxpr")

    @wraps(fun)
    @filter_traceback
    def traced(*args: Any, **kwargs: Any) -> tuple[ClosedJaxpr, Any, Any]:
        flat = _FlatModuleFunction(fun, (fun, args, kwargs))
        jaxpr, shapes = make_jaxpr(flat.run, return_shape=True)(*flat.leaves)
        arrays, others = flat.parts(shapes)
        return jaxpr, arrays, others

    return traced


@filter_traceback
def filter_closure_convert(
    fn: Callable[..., Any], *args: Any, **kwargs: Any
) -> Callable[..., Any]:
    """Trace a function once, and return a callable whose children are its captured arrays.

    Args:
        fn: a function of any arguments, with any result.
        args: arguments like those of later calls; a `ShapeDtypeStruct` replaces an
            array.
        kwargs: likewise, by keyword.

    Returns:
        A module that computes the same for arrays of the same shapes and dtypes and other
        arguments that are equal. Its leaves are the arrays that `fn` closed over.

    References:
        Equinox, `equinox.filter_closure_convert`.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint import tree
        >>> from imprint.module import filter_closure_convert
        >>> scale = inp.array([2.0, 3.0])
        >>> scaled = filter_closure_convert(lambda x: scale * x, inp.ones(2))
        >>> print(tree.leaves(scaled), scaled(inp.ones(2)))
        [Array([2., 3.], dtype=float32)] [2. 3.]
    """
    check_function(fn, "filter_closure_convert")
    flat = _FlatModuleFunction(fn, (None, args, kwargs))
    closed = lift_scalars(make_jaxpr(flat.run)(*flat.leaves))
    return _ConvertedFunction(
        list(closed.consts), _ConvertedProgram(closed.jaxpr, flat)
    )


# ---- functions of flat arrays ----


@final
class _FlatModuleFunction:
    """A call as a function of its arrays, with its other arguments and results."""

    def __init__(self, fun: Callable[..., Any], call: Any) -> None:
        self._fun = fun
        arrays, self.rest = partition(call, _is_abstract)
        self.leaves, self.treedef = tree.flatten(arrays)
        self._found: list[Any] = []

        def run(*xs: Any) -> list[Any]:
            model, args, kwargs = combine(self.treedef.unflatten(xs), self.rest)
            out = (fun if model is None else model)(*args, **kwargs)
            outs, others = partition(out, is_array)
            leaves, out_tree = tree.flatten(outs)
            self._found[:] = [out_tree, others]
            return leaves

        run.__name__ = name_of(fun)
        self.run = run

    def result(self, leaves: list[Any]) -> Any:
        """Return the result of the call, with these for its arrays."""
        return combine(*self.parts(leaves))

    def parts(self, leaves: list[Any]) -> tuple[Any, Any]:
        """Return the arrays of the result and the rest, None where the other has it."""
        out_tree, others = self._found
        return out_tree.unflatten(leaves), others


def _is_abstract(x: Any) -> bool:
    return isinstance(x, ShapeDtypeStruct) or is_array(x)


# ---- converted closures ----


@final
class _ConvertedProgram:
    """The jaxpr of a converted closure, and the arguments that it accepts."""

    __slots__ = ("_avals", "_flat", "_number", "jaxpr")

    def __init__(self, jaxpr: Jaxpr, flat: _FlatModuleFunction) -> None:
        self.jaxpr = jaxpr
        self._flat = flat
        self._avals = [get_aval(x).unplaced().strong() for x in flat.leaves]
        self._number = next(_numbers)

    def __imprint_token__(self) -> int:
        """Return a number that is unique to this program."""
        return self._number

    def __repr__(self) -> str:
        return str(self.jaxpr)

    def arguments(self, args: Any, kwargs: Any) -> list[Any]:
        """Return the arrays of a call.

        Raises:
            ArgumentError: the call is not like the one that was traced.
        """
        name = self.jaxpr.name
        arrays, rest = partition((None, args, kwargs), is_array)
        leaves, treedef = tree.flatten(arrays)
        tree.check_structure(self._flat.treedef, treedef, name)
        for path, x, aval in zip(treedef.paths(), leaves, self._avals, strict=True):
            came = get_aval(x).unplaced().strong()
            if came is not aval:
                raise ArgumentError(
                    f"{name}: expected {aval} as {_argument(path)}, as when it was "
                    f"converted, got {came}. Convert it again for other arrays."
                )
        if tree_equal(rest, self._flat.rest, typematch=True) is not True:
            raise ArgumentError(
                f"{name}: expected what is no array as when it was converted, "
                f"{self._flat.rest[1:]}, got {rest[1:]}. Convert it again for other "
                "values."
            )
        return leaves

    def result(self, outs: list[Any]) -> Any:
        """Return the result of a call whose arrays are these."""
        return self._flat.result([as_result(x) for x in outs])


_numbers: Final = itertools.count()


class _ConvertedFunction(Module):
    """A traced function; its children are its captured arrays."""

    consts: list[Any]
    program: _ConvertedProgram = field(static=True)

    @filter_traceback
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        arrays = self.program.arguments(args, kwargs)
        return self.program.result(eval_jaxpr(self.program.jaxpr, self.consts, *arrays))


def _argument(path: tree.KeyPath) -> str:
    _, first, *rest = path
    name = getattr(first, "idx", None)
    name = getattr(first, "key", None) if name is None else name
    return f"argument {name}{tree.keystr(tuple(rest))}"
