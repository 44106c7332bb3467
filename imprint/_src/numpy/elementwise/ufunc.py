"""ufuncs: elementwise functions with methods such as `reduce` and `at`.

An instance holds a function, which `__call__`, a slot, returns: a call takes 40 ns
longer than a call of the function itself. Operators on arrays use the function. The
methods are implemented in `ufunc_methods`, which loads on first use.
"""

import sys
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, Final, Generic, ParamSpec, TypeVar

from imprint._src.bootstrap import hooks
from imprint._src.core.array import Array
from imprint._src.core.array_interop import shown
from imprint._src.core.functions import name_of
from imprint._src.dtypes import DTypeLike
from imprint._src.numpy.promotion import ArrayLike, refuse_out
from imprint._src.primitives.axes import whole

P = ParamSpec("P")
R = TypeVar("R")
Method = Callable[..., Array]
Axis = int | Sequence[int] | None


class ufunc(Generic[P, R]):  # noqa: N801 - NumPy's name
    """An elementwise function of arrays, and its methods.

    `imprint.numpy.add` and others are ufuncs; `frompyfunc` creates one from a function
    of numbers.

    Attributes:
        nin: the number of operands.
        nout: the number of results.
        nargs: as `nin`, unless given.
        identity: the result of an empty reduction; None if there is none.

    Example:
        >>> import imprint.numpy as np
        >>> np.add.reduce(np.array([[1, 2], [3, 4]]), axis=1)
        Array([3, 7], dtype=int32)
    """

    __slots__ = ("__call__", "__dict__", "__weakref__", "_facts")
    __call__: Callable[P, R]

    def __init__(  # noqa: PLR0913 - JAX's signature
        self,
        func: Callable[P, R],
        /,
        nin: int,
        nout: int,
        *,
        name: str | None = None,
        nargs: int | None = None,
        identity: Any = None,
        call: Callable[P, R] | None = None,
        reduce: Method | None = None,
        accumulate: Method | None = None,
        at: Method | None = None,
        reduceat: Method | None = None,
    ) -> None:
        """Create a ufunc; `frompyfunc` is the usual way.

        Args:
            func: a function of scalars.
            nin: the number of operands.
            nout: the number of results.
            name: that of `func`, unless given.
            nargs: as many as `nin`, unless given.
            identity: the result of an empty reduction, if there is one.
            call: the function of arrays, if `func` need not be mapped.
            reduce: the method, if there is a better one than a loop over elements; it
                takes the method's arguments.
            accumulate: likewise.
            at: likewise.
            reduceat: likewise.
        """
        update_wrapper(self, func)
        self.__name__: str = name or name_of(func)
        self.__qualname__: str = getattr(func, "__qualname__", self.__name__)
        counts = whole("ufunc", "nin", nin), whole("ufunc", "nout", nout)
        of_all = whole("ufunc", "nargs", nargs or nin)
        self._facts: Final[tuple[Any, ...]] = (func, *counts, of_all, identity)
        given = {
            "reduce": reduce,
            "accumulate": accumulate,
            "at": at,
            "reduceat": reduceat,
        }
        self.own_methods: Final = {k: f for k, f in given.items() if f is not None}
        mapped: Any = hooks.numpy.ufunc_methods.elementwise if call is None else None
        self.__call__ = call or mapped(func, self.__name__)

    @property
    def nin(self) -> int:
        """The number of operands."""
        return self._facts[1]

    @property
    def nout(self) -> int:
        """The number of results."""
        return self._facts[2]

    @property
    def nargs(self) -> int:
        """As `nin`, unless given."""
        return self._facts[3]

    @property
    def identity(self) -> Any:
        """The result of an empty reduction; None if there is none."""
        return self._facts[4]

    def reduce(  # noqa: PLR0913, PLR0917 - NumPy's signature
        self,
        a: ArrayLike,
        axis: Axis = 0,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Array:
        """Reduce along an axis: `np.add.reduce` is `np.sum`.

        Args:
            a: an array.
            axis: the axis to reduce; None for all.
            dtype: the dtype of the result.
            out: must be None; arrays are immutable.
            keepdims: whether to keep the reduced axis with length 1.
            initial: the initial value, instead of the identity.
            where: mask of the elements to include; needs `initial` if there is no
                identity.

        Returns:
            The reduced array.

        Example:
            >>> import imprint.numpy as np
            >>> np.bitwise_or.reduce(np.array([[1, 2, 3], [4, 5, 6]]), axis=1)
            Array([3, 7], dtype=int32)
        """
        given = {"axis": axis, "dtype": dtype, "keepdims": keepdims}
        given |= {"initial": initial, "where": where}
        return hooks.numpy.ufunc_methods.reduce(self, a, out, given)

    def accumulate(
        self,
        a: ArrayLike,
        axis: int = 0,
        dtype: DTypeLike | None = None,
        out: None = None,
    ) -> Array:
        """Reduce each prefix of an axis: `np.add.accumulate` is `np.cumsum`.

        Args:
            a: an array.
            axis: the axis.
            dtype: the dtype of the result.
            out: must be None; arrays are immutable.

        Returns:
            An array of the shape of `a`.

        Example:
            >>> import imprint.numpy as np
            >>> np.maximum.accumulate(np.array([1, 3, 2, 5]))
            Array([1, 3, 3, 5], dtype=int32)
        """
        given = {"axis": axis, "dtype": dtype}
        return hooks.numpy.ufunc_methods.accumulate(self, a, out, given)

    def reduceat(
        self,
        a: ArrayLike,
        indices: ArrayLike,
        axis: int = 0,
        dtype: DTypeLike | None = None,
        out: None = None,
    ) -> Array:
        """Reduce slices of an axis, each from one index to the next.

        Args:
            a: an array.
            indices: the starts of the slices. If an index is not less than the next,
                its slice is that one element.
            axis: the axis.
            dtype: the dtype of the result.
            out: must be None; arrays are immutable.

        Returns:
            An array whose axis has as many elements as `indices`.

        Example:
            >>> import imprint.numpy as np
            >>> np.add.reduceat(np.arange(1, 9), np.array([0, 2, 5]))
            Array([ 3, 12, 21], dtype=int32)
        """
        given = {"axis": axis, "dtype": dtype}
        return hooks.numpy.ufunc_methods.reduceat(self, a, indices, out, given)

    def at(
        self,
        a: ArrayLike,
        indices: Any,
        b: ArrayLike | None = None,
        /,
        *,
        inplace: bool = True,
    ) -> Array:
        """Return an array with the function applied at some elements.

        Args:
            a: an array.
            indices: as in `a[indices]`; repeated indices apply it repeatedly.
            b: the second operands, for a function of two.
            inplace: must be False; arrays are immutable.

        Returns:
            An array of the shape of `a`.

        Example:
            >>> import imprint.numpy as np
            >>> np.add.at(np.zeros(3), np.array([0, 2, 2]), 1, inplace=False)
            Array([1., 0., 2.], dtype=float32)
        """
        values = () if b is None else (b,)
        return hooks.numpy.ufunc_methods.at(self, a, indices, *values, inplace=inplace)

    def outer(self, a: ArrayLike, b: ArrayLike, /) -> Array:
        """Apply the function to all pairs of an element of `a` and one of `b`.

        Args:
            a: an array or number.
            b: an array or number.

        Returns:
            An array whose shape is that of `a`, followed by that of `b`.

        Example:
            >>> import imprint.numpy as np
            >>> np.multiply.outer(np.arange(3), np.arange(2))
            Array([[0, 0],
                   [0, 1],
                   [0, 2]], dtype=int32)
        """
        return hooks.numpy.ufunc_methods.outer(self, a, b)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ufunc):
            return NotImplemented
        return (self.__name__, self._facts) == (other.__name__, other._facts)

    def __hash__(self) -> int:
        return hash((self.__name__, self._facts))

    def __imprint_token__(self) -> Any:
        return self.__name__, self._facts

    def __repr__(self) -> str:
        return f"<imprint.numpy.ufunc {self.__name__!r}>"

    def __reduce__(self) -> Any:
        home = vars(sys.modules.get(self.__module__, object))
        if home.get(self.__qualname__) is self:  # pickled by name, as functions are
            return self.__qualname__
        func, *counts, identity = self._facts
        return _rebuild, (func, *counts, identity, self.__name__, self.own_methods)


def _rebuild(*given: Any) -> Any:
    func, nin, nout, nargs, identity, name, own = given
    return ufunc(func, nin, nout, nargs=nargs, identity=identity, name=name, **own)


def frompyfunc(
    func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None
) -> ufunc[..., Any]:
    """Create the ufunc that applies a function of numbers to each element.

    Args:
        func: takes `nin` numbers and returns `nout`.
        nin: the number of operands.
        nout: the number of results.
        identity: the result of an empty reduction, if there is one.

    Returns:
        The ufunc, which takes arrays that broadcast together.

    References:
        NumPy, `numpy.frompyfunc`.

    Example:
        >>> import imprint.numpy as np
        >>> larger = np.frompyfunc(lambda x, y: np.where(x > y, x, y), 2, 1)
        >>> larger.outer(np.arange(3), np.arange(2))
        Array([[0, 1],
               [1, 1],
               [2, 2]], dtype=int32)
        >>> larger.reduce(np.array([3, 1, 4, 1]))
        Array(4, dtype=int32)
    """
    return ufunc(func, nin, nout, identity=identity)


def universal(
    *, identity: Any = None, nin: int = 2
) -> Callable[[Callable[P, R]], ufunc[P, R]]:
    """Return a decorator that makes a ufunc of a function of arrays.

    Args:
        identity: the result of an empty reduction, if there is one.
        nin: the number of operands.

    Returns:
        The decorator.
    """
    return lambda function: ufunc(function, nin, 1, identity=identity, call=function)


def refuse_options(name: str, out: object, where: object) -> None:
    """Raise NotImplementedError for NumPy's other ufunc arguments."""
    refuse_out(name, out)
    if where is not None:
        raise NotImplementedError(
            f"{name}: expected no where, got {shown(where)}: what it leaves out has no "
            f"value. Write imprint.numpy.where(mask, {name}(...), other)."
        )
