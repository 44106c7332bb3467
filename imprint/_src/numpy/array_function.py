"""NumPy's own functions and ufuncs on arrays and tracers.

A NumPy function that `imprint.numpy` also has is dispatched to it, so code that says
`import numpy as np` can be traced. Arguments follow NumPy's names and defaults; lists
next to arrays become arrays. Any other function needs concrete values: NumPy computes
with those of concrete arrays, and a tracer raises. Writing into an array raises, and
the error shows how to get a new one.
"""

import inspect
from functools import cache
from typing import Any, Final, NamedTuple, cast

import numpy as np

from imprint._src.bootstrap import hooks
from imprint._src.core.array import Array
from imprint._src.core.trace import Tracer
from imprint._src.dtypes import as_dtype
from imprint._src.errors import ArgumentError
from imprint._src.numpy.elementwise import ufunc as ufuncs
from imprint._src.numpy.promotion import as_array, is_operand
from imprint._src.tree import internal as tree

# ---- ufuncs ----


def numpy_ufunc(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Apply a NumPy ufunc, or one of its methods, to arrays."""
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    out = kwargs.get("out", ())
    if method == "at":
        out = inputs[:1]
    _refuse_writing(name, out, (inputs, kwargs), is_masked="where" in kwargs)
    given = {k: x for k, x in kwargs.items() if x is not None or k == "axis"}
    if "out" not in given and _is_numpys(ufunc):
        function = getattr(hooks.numpy, ufunc.__name__, None)
        operands = [_with_arrays(x) for x in inputs]
        if function is not None:
            apply: Any = _METHODS.get(method, _not_here)
            result: Any = apply(ufunc, function, operands, given)
            if result is not NotImplemented:
                return result
    return getattr(ufunc, method)(*_values(inputs), **_values(kwargs))


def _is_numpys(ufunc: np.ufunc) -> bool:
    """Return whether a ufunc is one of NumPy's, not SciPy's of the same name."""
    return ufunc in _UFUNCS


_UFUNCS: Final = frozenset(x for x in vars(np).values() if isinstance(x, np.ufunc))


def _not_here(*_: Any) -> Any:
    return NotImplemented


def _call(
    ufunc: np.ufunc, function: Any, operands: list[Any], kwargs: dict[str, Any]
) -> Any:
    if kwargs.get("where", True) is not True:
        _check_known(ufunc.__name__, (operands, kwargs))
    if kwargs.keys() - {"dtype", "casting", "order", "subok"}:
        return NotImplemented
    if not all(map(is_operand, operands)):
        return NotImplemented
    if "dtype" not in kwargs:
        return function(*operands)
    dtype = as_dtype(kwargs["dtype"])
    result = function(*(as_array(ufunc.__name__, x).astype(dtype) for x in operands))
    return result if getattr(result, "dtype", None) == dtype else NotImplemented


def _check_known(name: str, given: Any) -> None:
    """Raise if `where` would leave elements of a traced result undefined."""
    traced = next((x for x in tree.leaves(given) if isinstance(x, Tracer)), None)
    if traced is not None:
        raise ArgumentError(
            f"numpy.{name}: expected no `where`, got one for {traced.aval}: what it leaves "
            "out has no value. Write imprint.numpy.where(mask, value, other), where value "
            f"is what numpy.{name} gives."
        )


def _method(method: str, *names: str) -> Any:
    """Return the function that calls a ufunc method with arguments of these names."""

    def call(
        ufunc: np.ufunc, function: Any, operands: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        f = _universal(ufunc, function, operands)
        if f is None:
            return NotImplemented
        first = _FIRST[method]
        rest = operands[first:]
        named = zip(names[: len(rest)], rest, strict=True)
        by_position = {k: x for k, x in named if x is not None or k == "axis"}
        return getattr(f, method)(*operands[:first], **by_position, **kwargs)

    return call


def _universal(ufunc: np.ufunc, function: Any, operands: list[Any]) -> Any:
    """Return our ufunc of that name; None if NumPy's serves."""
    if isinstance(function, ufuncs.ufunc):
        return cast("Any", function)
    if not any(isinstance(x, Tracer) for x in operands):
        return None
    made: Any = ufuncs.ufunc
    facts = {"name": ufunc.__name__, "identity": ufunc.identity}
    return made(function, ufunc.nin, ufunc.nout, call=function, **facts)


def _outer(
    ufunc: np.ufunc, function: Any, operands: list[Any], kwargs: dict[str, Any]
) -> Any:
    x, y = (as_array(f"{ufunc.__name__}.outer", operand) for operand in operands)
    x = hooks.numpy.expand_dims(x, tuple(range(x.ndim, x.ndim + y.ndim)))
    return _call(ufunc, function, [x, y], kwargs)


_FIRST: Final = {"reduce": 1, "accumulate": 1, "reduceat": 2}
"""The number of arrays that a method takes."""
_METHODS: Final[dict[str, Any]] = {
    "__call__": _call,
    "reduce": _method("reduce", "axis", "dtype", "out", "keepdims"),
    "accumulate": _method("accumulate", "axis", "dtype"),
    "reduceat": _method("reduceat", "axis", "dtype"),
    "outer": _outer,
}

# ---- functions ----


def numpy_function(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Apply a NumPy function that is not a ufunc to arrays."""
    name = _name(func)
    function = _named(name)
    if function is func:  # NumPy's own serves: it prints, or writes a file
        return func._implementation(*args, **kwargs)
    if function is not None and not kwargs and _are_same(_plan(func, function), args):
        return function(*args)
    bound = _signature(func).bind(*args, **kwargs).arguments
    written = bound.get(_WRITTEN.get(name, "out"))
    if written is not None:
        _refuse_writing(name, written, (args, kwargs))
    elif function is not None:
        call = _translated(_plan(func, function), bound)
        if call is not None:
            return function(*call[0], **call[1])
    return func(*_values(args), **_values(kwargs))


def _are_same(plan: "_ArgumentMap", args: tuple[Any, ...]) -> bool:
    """Return whether our function takes positional arguments as NumPy's does."""
    lists = (list, tuple)
    return len(args) <= plan.same and not any(isinstance(x, lists) for x in args)


@cache
def _name(func: Any) -> str:
    return f"{func.__module__}.{func.__name__}".removeprefix("numpy.")


def _named(name: str) -> Any:
    """Return the function of `imprint.numpy` of a dotted name, or None."""
    found = hooks.numpy
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


class _ArgumentMap(NamedTuple):
    """How arguments of a NumPy function map to those of ours.

    Attributes:
        same: the number of leading parameters that are the same.
        first: the positional parameters.
        star: the name of the `*args` parameter, if there is one.
        named: the keyword parameters: ours by NumPy's.
        rest: the name of the `**kwargs` parameter.
        defaults: NumPy's.
        is_nested: whether lists of lists are passed on unchanged.
    """

    same: int
    first: tuple[str, ...]
    star: str | None
    named: dict[str, str]
    rest: str | None
    defaults: dict[str, Any]
    is_nested: bool


@cache
def _signature(func: Any) -> inspect.Signature:
    return inspect.signature(func)


@cache
def _plan(func: Any, function: Any) -> _ArgumentMap:
    """Map NumPy's parameters to ours by name."""
    theirs = _signature(func).parameters
    ours = inspect.signature(function).parameters
    positional = [p.name for p in ours.values() if p.kind in _POSITIONAL]
    only = sum(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in ours.values())
    kinds = [p.kind for p in theirs.values()]
    before = inspect.Parameter.VAR_POSITIONAL  # parameters before it are positional
    only = max(only, kinds.index(before) if before in kinds else 0)
    first: list[str] = []
    named: dict[str, str] = {}
    star = rest = None
    for i, parameter in enumerate(theirs.values()):
        name = _RENAMED.get(parameter.name, parameter.name)
        another = name not in ours and i < len(positional)
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            star = name
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            rest = name
        elif i < only or (another and positional[i] not in theirs):
            first.append(parameter.name)
        elif name in ours:
            named[parameter.name] = name
    alone = {*_NUMPYS_ALONE, _WRITTEN.get(_name(func))}
    at = [i for i, name in enumerate(theirs) if name in alone]
    taken = [*first, *named.values()]
    same = 0
    while same < min(len(positional), *at, len(theirs)) and (
        positional[same] == taken[same] or same < len(first)
    ):
        same += 1
    defaults = {p.name: p.default for p in theirs.values()}
    is_nested = _name(func) == "block"
    return _ArgumentMap(same, tuple(first), star, named, rest, defaults, is_nested)


def _translated(
    plan: _ArgumentMap, bound: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """Return the arguments for ours; None if one has no meaning there."""
    args = [_operand(name, bound[name]) for name in plan.first if name in bound]
    kwargs: dict[str, Any] = {}
    for name, value in bound.items():
        if name in _MEANINGLESS:
            continue
        if name in plan.named and value is not plan.defaults[name]:
            given = value if plan.is_nested else _operand(name, value)
            kwargs[plan.named[name]] = given
        elif name == plan.star:
            args += map(_with_arrays, value) if name in _STARS else value
        elif name == plan.rest:
            kwargs.update(value)
        elif not (
            name in plan.first or value is plan.defaults[name] or name in _NUMPYS_ALONE
        ):
            return None
    return args, kwargs


def _operand(name: str, value: Any) -> Any:
    """Return an argument; lists that stand for arrays become arrays."""
    if name in _SEQUENCES and isinstance(value, list | tuple):
        return [_with_arrays(x) for x in cast("list[Any]", value)]
    return _with_arrays(value) if name in _ARRAYS else value


def _with_arrays(x: Any) -> Any:
    return hooks.numpy.asarray(x) if isinstance(x, list | tuple) else x


_POSITIONAL: Final = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)
_RENAMED: Final = {"a_min": "min", "a_max": "max"}
_MEANINGLESS: Final = frozenset(("casting", "kind", "overwrite_input", "subok"))
"""Parameters that choose how NumPy computes, not the result."""
_NUMPYS_ALONE: Final = _MEANINGLESS | {"mode", "order", "out"}
"""Parameters that are not passed by position."""
_STARS: Final = frozenset(("arys", "varargs", "xi"))
_SEQUENCES: Final = frozenset(("arrays", "tup", "condlist", "choicelist", "choices"))
_ARRAYS: Final = frozenset(
    (
        *("A", "B", "a", "a1", "a2", "ar", "ar1", "ar2", "arr", "array", "ary", "b"),
        *(
            "aweights",
            "bins",
            "condition",
            "element",
            "f",
            "fp",
            "fweights",
            "filt",
            "m",
        ),
        *(
            "p",
            "q",
            "r",
            "test_elements",
            "u",
            "v",
            "values",
            "weights",
            "x",
            "x1",
            "x2",
        ),
        *("xp", "y", "z"),
    )
)
_WRITTEN: Final = {
    "copyto": "dst",
    "put": "a",
    "place": "arr",
    "putmask": "a",
    "put_along_axis": "arr",
    "fill_diagonal": "a",
}
"""Functions that write into an argument, besides those with an `out`."""

# ---- functions that need concrete values ----


def _values(given: Any) -> Any:
    """Return arguments with arrays replaced by NumPy arrays."""
    return tree.map(_value, given, is_leaf=_is_array)


def _is_array(x: Any) -> bool:
    return isinstance(x, Array)


def _value(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, Array) else x


def _refuse_writing(
    name: str, out: Any, given: Any, *, is_masked: bool = False
) -> None:
    """Raise if an array or a tracer would be written into, or from."""
    outs = cast("tuple[Any, ...]", out if type(out) is tuple else (out,))
    into = [x for x in outs if x is not None]
    if not into:
        return
    array = next((x for x in into if isinstance(x, Array)), None)
    traced = next((x for x in tree.leaves(given) if isinstance(x, Tracer)), None)
    if array is not None:
        came = f"an array of imprint, {array.aval}: arrays are immutable"
    elif traced is not None:
        came = f"a NumPy array, which holds no traced value, for {traced.aval}"
    else:
        return
    remedy = _MASKED.format(name) if is_masked else _FUNCTIONAL.get(name, _USE_RESULT)
    raise ArgumentError(
        f"numpy.{name}: expected nothing to write into, got {came}. {remedy}"
    )


_USE_RESULT: Final = (
    "Leave `out` away and use the result; for `a += x` write `a = a + x`."
)
_MASKED: Final = (
    "Write imprint.numpy.where(mask, value, out), where value is what numpy.{} gives."
)
_AT: Final = "Write a = imprint.numpy.asarray(a).at[index].{}(x)."
_IN_PLACE: Final = "Write a = imprint.numpy.{}, inplace=False)."
_FUNCTIONAL: Final = {
    "copyto": "Write a = imprint.numpy.where(mask, value, a), or a = value.",
    "putmask": "Write a = imprint.numpy.where(mask, values, a).",
    "put": _IN_PLACE.format("put(a, indices, values"),
    "place": _IN_PLACE.format("place(a, mask, values"),
    "put_along_axis": _IN_PLACE.format("put_along_axis(a, indices, values, axis"),
    "fill_diagonal": _IN_PLACE.format("fill_diagonal(a, value"),
    "maximum.at": _AT.format("max"),
    "minimum.at": _AT.format("min"),
    "true_divide.at": _AT.format("divide"),
    **{
        f"{name}.at": _AT.format(name)
        for name in ("add", "divide", "multiply", "power", "subtract")
    },
}
