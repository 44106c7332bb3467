"""ufuncs: functions of elements that also reduce, accumulate and update.

An instance is called as the function that it holds: `__call__` is a slot, so a call finds
the function there, 40 ns later than by itself; operators on arrays ask for the function.
What the methods do is in `ufunc_methods`, which loads when one is asked for.
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
    """A function of elements, which is called with arrays, and its methods.

    `imprint.numpy.add` and others are ufuncs; `frompyfunc` makes one of a function of
    numbers.

    Attributes:
        nin: how many operands it takes.
        nout: how many results it gives.
        nargs: as many as `nin`, unless it was made with another number.
        identity: what reducing nothing gives; None if nothing can be reduced.

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
        """Make one; `frompyfunc` is the usual way.

        Args:
            func: a function of scalars.
            nin: how many operands it takes.
            nout: how many results it gives.
            name: that of `func`, unless given.
            nargs: as many as `nin`, unless given.
            identity: what reducing nothing gives, if there is such a value.
            call: the function for arrays, if `func` need not be mapped.
            reduce: the method, if there is a better way than one element after the other;
                the arguments are those of the method.
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
        """How many operands it takes."""
        return self._facts[1]

    @property
    def nout(self) -> int:
        """How many results it gives."""
        return self._facts[2]

    @property
    def nargs(self) -> int:
        """As many as `nin`, unless it was made with another number."""
        return self._facts[3]

    @property
    def identity(self) -> Any:
        """What reducing nothing gives; None if nothing can be reduced."""
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
        """Join the elements along an axis: `np.add.reduce` is `np.sum`.

        Args:
            a: an array.
            axis: the axis that disappears; None for all.
            dtype: the dtype of the result.
            out: None; arrays are immutable, so there is nothing to write into.
            keepdims: whether the axis stays, with length 1.
            initial: a value that takes part first, instead of the identity.
            where: which elements take part; needs `initial` if there is no identity.

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
        """Return what the prefixes of an axis are reduced to: `np.add`'s is `np.cumsum`.

        Args:
            a: an array.
            axis: the axis.
            dtype: the dtype of the result.
            out: None; arrays are immutable, so there is nothing to write into.

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
        """Reduce parts of an axis, each from an index to the next.

        Args:
            a: an array.
            indices: where the parts begin. Where an index is not less than the next, the
                part is that one element.
            axis: the axis.
            dtype: the dtype of the result.
            out: None; arrays are immutable, so there is nothing to write into.

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
        """Return an array in which the function was applied to some elements.

        Args:
            a: an array.
            indices: where, as in `a[indices]`; once for each time that a place is named.
            b: the second operands, for a function of two.
            inplace: False, for arrays are immutable.

        Example:
            >>> import imprint.numpy as np
            >>> np.add.at(np.zeros(3), np.array([0, 2, 2]), 1, inplace=False)
            Array([1., 0., 2.], dtype=float32)
        """
        values = () if b is None else (b,)
        return hooks.numpy.ufunc_methods.at(self, a, indices, *values, inplace=inplace)

    def outer(self, a: ArrayLike, b: ArrayLike, /) -> Array:
        """Apply the function to each pair of an element of `a` and one of `b`.

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
        if home.get(self.__qualname__) is self:  # pickled, as functions are, by name
            return self.__qualname__
        func, *counts, identity = self._facts
        return _made, (func, *counts, identity, self.__name__, self.own_methods)


def _made(*given: Any) -> Any:
    func, nin, nout, nargs, identity, name, own = given
    return ufunc(func, nin, nout, nargs=nargs, identity=identity, name=name, **own)


def frompyfunc(
    func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None
) -> ufunc[..., Any]:
    """Return the ufunc that applies a function of numbers to each element.

    Args:
        func: takes `nin` numbers and returns `nout`.
        nin: how many numbers it takes.
        nout: how many it returns.
        identity: what reducing nothing gives, if there is such a value.

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
        identity: what reducing nothing gives, if there is such a value.
        nin: how many operands it takes.
    """
    return lambda function: ufunc(function, nin, 1, identity=identity, call=function)


def refuse_options(name: str, out: object, where: object) -> None:
    """Raise NotImplementedError for what NumPy's ufuncs take besides their operands."""
    refuse_out(name, out)
    if where is not None:
        raise NotImplementedError(
            f"{name}: expected no where, got {shown(where)}: what it leaves out has no "
            f"value. Write imprint.numpy.where(mask, {name}(...), other)."
        )
