"""`jax.experimental.sparse.BCOO`: sparse arrays by the coordinates of their elements.

A sparse array is a pytree of its elements and their coordinates. Products gather and scatter
rows, so they have derivatives, and are batched and compiled like other functions.
"""

# Strict types would be Any in each place: trees and layers of any kind.
# pyright: basic

from typing import Any, Self

import numpy as onp

import imprint.numpy as np
from imprint import tree_util


class BCOO:
    """A sparse array: `data[k]` is the element at `indices[k]`; repeated ones add up.

    Args:
      args: `data` of shape [nse] and `indices` of shape [nse, ndim], integers.
      shape: The shape of the array.
    """

    def __init__(
        self, args: tuple[Any, Any], *, shape: tuple[int, ...], **_: Any
    ) -> None:
        self.data, self.indices = args
        self.shape = tuple(shape)

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None) -> Self:
        """Return the sparse form of a dense array; `nse` elements, all nonzero by default."""
        mat = np.asarray(mat)
        count = int(np.count_nonzero(mat)) if nse is None else nse
        indices = np.stack(np.nonzero(mat, size=count, fill_value=0), axis=-1)
        found = mat[tuple(indices.T)]
        kept = np.arange(count) < np.count_nonzero(mat)
        return cls((np.where(kept, found, 0), indices), shape=mat.shape)

    @classmethod
    def from_scipy_sparse(cls, mat: Any, **_: Any) -> Self:
        """Return the array of a sparse matrix of SciPy."""
        coo = mat.tocoo()
        indices = onp.column_stack((coo.row, coo.col)).astype(onp.int32)
        return cls((np.asarray(coo.data), np.asarray(indices)), shape=coo.shape)

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def nse(self) -> int:
        """The number of stored elements."""
        return self.data.shape[0]

    @property
    def T(self) -> "BCOO":  # noqa: N802 - NumPy's name
        """The transpose."""
        return BCOO((self.data, self.indices[:, ::-1]), shape=self.shape[::-1])

    def transpose(self) -> "BCOO":
        """Return the transpose."""
        return self.T

    def todense(self) -> Any:
        """Return the dense array."""
        zeros = np.zeros(self.shape, self.dtype)
        return zeros.at[tuple(self.indices.T)].add(self.data)

    def sum(self) -> Any:
        """Return the sum of the elements."""
        return self.data.sum()

    def __matmul__(self, other: Any) -> Any:
        if self.ndim != 2:
            raise NotImplementedError(
                f"BCOO: expected a matrix, got shape {self.shape}. Multiply what "
                "`todense()` returns."
            )
        other = other.todense() if isinstance(other, BCOO) else np.asarray(other)
        rows, columns = self.indices[:, 0], self.indices[:, 1]
        data = self.data.reshape((-1,) + (1,) * (other.ndim - 1))
        out = np.zeros((self.shape[0], *other.shape[1:]), np.result_type(data, other))
        return out.at[rows].add(data * other[columns])

    def __rmatmul__(self, other: Any) -> Any:
        return (self.T @ np.asarray(other).T).T

    def __mul__(self, other: Any) -> "BCOO":
        scale = np.asarray(other)
        factor = scale if scale.ndim == 0 else scale[tuple(self.indices.T)]
        return BCOO((self.data * factor, self.indices), shape=self.shape)

    __rmul__ = __mul__

    def __neg__(self) -> "BCOO":
        return BCOO((-self.data, self.indices), shape=self.shape)

    def __repr__(self) -> str:
        return f"BCOO({self.dtype}{list(self.shape)}, nse={self.nse})"


tree_util.register_pytree_node(
    BCOO,
    lambda x: ((x.data, x.indices), x.shape),
    lambda shape, children: BCOO(tuple(children), shape=shape),
)
