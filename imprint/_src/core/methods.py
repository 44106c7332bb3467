"""Methods of arrays that bring elements in order or change them, and how a method calls its function.

A method means the function of `imprint.numpy` of its name, which loads when it is called.
The others are in `array`.
"""

from typing import Any

from imprint._src.bootstrap import hooks
from imprint._src.core.protocols import Protocols
from imprint._src.diagnostics.traceback_filter import fold


def method(name: str, self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of `imprint.numpy`; NumPy's `np.sum(x)` gets here too."""
    if kwargs.get("out", self) is None:
        del kwargs["out"]  # NumPy's functions pass it to the method
    try:
        return getattr(hooks.numpy, name)(self, *args, **kwargs)
    except Exception as err:
        fold(err)
        raise


class Ordered(Protocols):
    """What arrays and tracers have of sorting and searching, and of other values."""

    __slots__ = ()

    @property
    def at(self) -> Any:
        """Other values at an index: `x.at[i].set(v)`, `.add(v)` and so on, another array."""
        return hooks.numpy.At(self)

    def sort(self, *args: Any, **kwargs: Any) -> Any:
        """Sort along `axis`; see `imprint.numpy.sort`."""
        return method("sort", self, args, kwargs)

    def argsort(self, *args: Any, **kwargs: Any) -> Any:
        """Find the order along `axis`; see `imprint.numpy.argsort`."""
        return method("argsort", self, args, kwargs)

    def argpartition(self, *args: Any, **kwargs: Any) -> Any:
        """Find where the smallest are; see `imprint.numpy.argpartition`."""
        return method("argpartition", self, args, kwargs)

    def searchsorted(self, *args: Any, **kwargs: Any) -> Any:
        """Find where elements belong; see `imprint.numpy.searchsorted`."""
        return method("searchsorted", self, args, kwargs)

    def take(self, *args: Any, **kwargs: Any) -> Any:
        """Take elements along `axis`; see `imprint.numpy.take`."""
        return method("take", self, args, kwargs)

    def nonzero(self, *args: Any, **kwargs: Any) -> Any:
        """Find where elements are not zero; see `imprint.numpy.nonzero`."""
        return method("nonzero", self, args, kwargs)

    def choose(self, *args: Any, **kwargs: Any) -> Any:
        """Choose by the numbers that are the elements; see `imprint.numpy.choose`."""
        return method("choose", self, args, kwargs)

    def compress(self, condition: Any, *args: Any, **kwargs: Any) -> Any:
        """Keep slices for which a condition holds; see `imprint.numpy.compress`."""
        return method("compress", condition, (self, *args), kwargs)
