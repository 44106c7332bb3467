"""`ShapeDtypeStruct`: a shape and a dtype in the place of an array.

It has an aval and nothing else. Functions that only trace (`lower`, `eval_shape`,
`make_jaxpr`) take it as an argument, and describe their results by it.
"""

from functools import partial
from typing import Any, Self, final

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape, ShapedArray
from imprint._src.errors import ArgumentError
from imprint._src.sharding.single import Sharding


@final
class ShapeDtypeStruct:
    """Stands for an array where only its shape and dtype matter.

    Args:
        shape: the length of each axis.
        dtype: the dtype of the elements; that of keys gives keys without values.
        weak_type: whether promotion prefers the other operand's dtype.
        sharding: where the array is committed to be; None if it follows others.

    Example:
        >>> import imprint
        >>> imprint.ShapeDtypeStruct((2, 3), "float32")
        ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("aval",)

    def __new__(
        cls,
        shape: Any,
        dtype: Any,
        *,
        weak_type: bool = False,
        sharding: Sharding | None = None,
    ) -> Any:
        """Return the struct; for a key dtype, the keys that it stands for."""
        of_words = getattr(dtype, "of_words", None)
        if of_words is None:
            return super().__new__(cls)
        lengths = (*dims.as_shape(shape), dtype.words)
        return of_words(cls(lengths, dtypes.uint32, sharding=sharding))

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        *,
        weak_type: bool = False,
        sharding: Sharding | None = None,
    ) -> None:
        if dtype is None:
            raise ArgumentError(
                "ShapeDtypeStruct: expected a dtype, got None. Name one, such as "
                "'float32'."
            )
        lengths = dims.as_shape(shape)
        self.aval: ShapedArray = ShapedArray(
            lengths, dtypes.canonicalize(dtype), weak_type, sharding
        )

    @classmethod
    def of(cls, aval: ShapedArray) -> Self:
        """Return the struct of an aval."""
        return cls(aval.shape, aval.dtype, weak_type=aval.weak_type)

    @property
    def shape(self) -> Shape:
        """The length of each axis."""
        return self.aval.shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        """Whether promotion prefers the other operand's dtype."""
        return self.aval.weak_type

    @property
    def sharding(self) -> Sharding | None:
        """Where the array is committed to be."""
        placement = self.aval.sharding
        return placement if isinstance(placement, Sharding) else None

    def update(self, **changes: Any) -> Any:
        """Return the struct with other values for some of the arguments.

        Example:
            >>> import imprint
            >>> imprint.ShapeDtypeStruct((2, 3), "float32").update(shape=(4,))
            ShapeDtypeStruct(shape=(4,), dtype=float32)
        """
        return ShapeDtypeStruct(**(self._arguments() | changes))

    def _arguments(self) -> dict[str, Any]:
        names = "shape", "dtype", "weak_type", "sharding"
        return {name: getattr(self, name) for name in names}

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(ShapeDtypeStruct, **self._arguments()), ()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(
                f"len() needs a shape with an axis, got {self}. Use `.size` for the "
                "number of elements."
            )
        return dims.concrete(self.shape[0], "len()")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self.aval is other.aval

    def __hash__(self) -> int:
        return hash(self.aval)

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        place = "" if self.sharding is None else f", sharding={self.sharding}"
        shown = f"shape={self.shape}, dtype={self.dtype.name}{weak}{place}"
        return f"ShapeDtypeStruct({shown})"


def described(x: Any) -> Any:
    """Return the struct of an object that has a shape and a dtype but is no array."""
    if hasattr(x, "aval") or issubclass(type(x), np.ndarray | np.generic):
        return x
    try:
        weak = bool(getattr(x, "weak_type", False))
        return ShapeDtypeStruct(x.shape, x.dtype, weak_type=weak)
    except (AttributeError, TypeError, ValueError):
        return x
