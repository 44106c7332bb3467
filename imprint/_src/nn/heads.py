"""Multi-head attention, and rotary position embeddings for its heads.

Both take one sequence of shape `(length, size)`. The initial projections for a key are
Equinox's.
"""

import math
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy

import imprint.numpy as np
from imprint import random
from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.interpreters.vmap import vmap
from imprint._src.nn.functions import softmax
from imprint._src.nn.layers import Dropout
from imprint._src.nn.linear import Linear
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint.module import Module, field

ProcessHeads: TypeAlias = Callable[[Any, Any, Any], tuple[Any, Any, Any]]


class MultiheadAttention(Module):
    """Multi-head attention: in each head, queries attend to values by their keys.

    Attributes:
        query_proj: the projection to the queries of all heads.
        key_proj: the projection to the keys.
        value_proj: the projection to the values.
        output_proj: the projection of the joined heads.
        dropout: the dropout of attention weights.
        num_heads: the number of heads.
        query_size: the size of the input queries.
        key_size: the size of the keys.
        value_size: the size of the values.
        output_size: the size of the result.
        qk_size: the size of queries and keys in a head.
        vo_size: the size of values in a head.
        use_query_bias: whether the queries have a bias.
        use_key_bias: whether the keys have a bias.
        use_value_bias: whether the values have a bias.
        use_output_bias: whether the result has a bias.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> layer = nn.MultiheadAttention(2, query_size=8, key=random.key(0))
        >>> x = np.ones((5, 8))
        >>> layer(x, x, x, mask=np.tri(5, dtype=bool)).shape
        (5, 8)
    """

    query_proj: Linear
    key_proj: Linear
    value_proj: Linear
    output_proj: Linear
    dropout: Dropout
    num_heads: int = field(static=True)
    query_size: int = field(static=True)
    key_size: int = field(static=True)
    value_size: int = field(static=True)
    output_size: int = field(static=True)
    qk_size: int = field(static=True)
    vo_size: int = field(static=True)
    use_query_bias: bool = field(static=True)
    use_key_bias: bool = field(static=True)
    use_value_bias: bool = field(static=True)
    use_output_bias: bool = field(static=True)

    def __init__(  # noqa: PLR0913, PLR0917 - Equinox's signature
        self,
        num_heads: int,
        query_size: int,
        key_size: int | None = None,
        value_size: int | None = None,
        output_size: int | None = None,
        qk_size: int | None = None,
        vo_size: int | None = None,
        use_query_bias: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
        use_key_bias: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
        use_value_bias: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
        use_output_bias: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
        dropout_p: float = 0.0,
        inference: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
        dtype: DTypeLike | None = None,
        *,
        key: Any,
    ) -> None:
        """Initialize the projections.

        Args:
            num_heads: the number of heads.
            query_size: the size of the input queries.
            key_size: the size of the keys; None for that of the queries.
            value_size: the size of the values; None for that of the queries.
            output_size: the size of the result; None for that of the queries.
            qk_size: the size of queries and keys in a head; None for an even share.
            vo_size: the size of values in a head; None for an even share.
            use_query_bias: whether to add a bias to queries.
            use_key_bias: whether to add a bias to keys.
            use_value_bias: whether to add a bias to values.
            use_output_bias: whether to add a bias to the result.
            dropout_p: the dropout probability of a weight.
            inference: whether to disable dropout.
            dtype: of the projections; None for the default float.
            key: the key of the initial projections.
        """
        share = query_size // num_heads
        self.num_heads = num_heads
        self.query_size = query_size
        self.key_size = query_size if key_size is None else key_size
        self.value_size = query_size if value_size is None else value_size
        self.output_size = query_size if output_size is None else output_size
        self.qk_size = share if qk_size is None else qk_size
        self.vo_size = share if vo_size is None else vo_size
        self.use_query_bias = use_query_bias
        self.use_key_bias = use_key_bias
        self.use_value_bias = use_value_bias
        self.use_output_bias = use_output_bias
        self.dropout = Dropout(dropout_p, inference)
        each, values = num_heads * self.qk_size, num_heads * self.vo_size
        keys = random.split(key, 4)
        self.query_proj = Linear(query_size, each, use_query_bias, dtype, key=keys[0])
        self.key_proj = Linear(self.key_size, each, use_key_bias, dtype, key=keys[1])
        self.value_proj = Linear(
            self.value_size, values, use_value_bias, dtype, key=keys[2]
        )
        self.output_proj = Linear(
            values, self.output_size, use_output_bias, dtype, key=keys[3]
        )

    def __call__(  # noqa: PLR0913 - Equinox's signature
        self,
        query: ArrayLike,
        key_: ArrayLike,
        value: ArrayLike,
        mask: ArrayLike | None = None,
        *,
        key: Any = None,
        inference: bool | None = None,
        process_heads: ProcessHeads | None = None,
    ) -> Array:
        """Return the result for one sequence of queries.

        Args:
            query: of shape `(queries, query_size)`.
            key_: of shape `(keys, key_size)`.
            value: of shape `(keys, value_size)`.
            mask: the keys that a query may match, of shape `(queries, keys)`, or with a
                leading axis of heads.
            key: the key of the dropout.
            inference: overrides the layer's setting.
            process_heads: a function from queries, keys and values of shape `(length,
                num_heads, size)` to new ones of these shapes.
        """
        rows = [as_array("MultiheadAttention", x) for x in (query, key_, value)]
        sizes = self.query_size, self.key_size, self.value_size
        fits = [
            x.ndim == 2 and x.shape[1] == n for x, n in zip(rows, sizes, strict=True)
        ]
        if not all(fits) or rows[1].shape[0] != rows[2].shape[0]:
            came = ", ".join(str(x.aval) for x in rows)
            raise ShapeError(
                "MultiheadAttention: expected a sequence of queries, and as many keys as "
                f"values, of sizes {sizes}, got {came}. For a batch write imprint.vmap."
            )
        projections = self.query_proj, self.key_proj, self.value_proj
        heads = [
            np.reshape(vmap(project)(x), (x.shape[0], self.num_heads, -1))
            for project, x in zip(projections, rows, strict=True)
        ]
        if process_heads is not None:
            heads = _processed(heads, process_heads)
        weights = self._weights(heads[0], heads[1], mask)
        if key is None:
            weights = self.dropout(weights, inference=inference)
        else:
            keys = random.split(key, self.num_heads)

            def left_out(x: Array, k: Any) -> Array:
                return self.dropout(x, key=k, inference=inference)

            weights = vmap(left_out)(weights, keys)
        taken = np.einsum("hsS,Shd->shd", weights, heads[2])
        return vmap(self.output_proj)(np.reshape(taken, (taken.shape[0], -1)))

    def _weights(self, query: Array, key: Array, mask: ArrayLike | None) -> Array:
        """Return the attention weights for each head."""
        query = query / math.sqrt(self.qk_size)
        logits = np.einsum("shd,Shd->hsS", query, key)
        if mask is not None:
            allowed = as_array("MultiheadAttention", mask)
            if allowed.shape not in (logits.shape, logits.shape[1:]):
                raise ShapeError(
                    "MultiheadAttention: expected a mask for queries and keys, of shape "
                    f"{logits.shape[1:]}, or with heads in front, {logits.shape}, got "
                    f"{allowed.aval}."
                )
            lowest = cast("Any", np.finfo(logits.dtype)).min
            logits = np.where(allowed, logits, lowest)
        wide = dtypes.promote_types(logits.dtype, "float32")
        return np.astype(softmax(np.astype(logits, wide)), logits.dtype)


def _processed(heads: list[Array], process: ProcessHeads) -> list[Array]:
    found = list(process(*heads))
    if [x.shape for x in found] != [x.shape for x in heads]:
        came = ", ".join(str(x.aval) for x in found)
        raise ShapeError(
            "MultiheadAttention: expected process_heads to keep the shapes of queries, "
            f"keys and values, {', '.join(str(x.shape) for x in heads)}, got {came}."
        )
    return found


class RotaryPositionalEmbedding(Module):
    """Rotates pairs of elements by angles that grow with the position.

    Attributes:
        embedding_size: the size of each element of the sequence; even.
        theta: the base of the geometric progression of frequencies.
        dtype: of the cosines and sines.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.RotaryPositionalEmbedding(2)(np.array([[1.0, 0.0], [1.0, 0.0]])).round(2)
        Array([[1.  , 0.  ],
               [0.54, 0.84]], dtype=float32)
    """

    embedding_size: int = field(static=True)
    theta: float = field(static=True, default=10_000.0)
    dtype: Any = field(static=True, default_factory=dtypes.default_float)

    def __check_init__(self) -> None:
        """Check the size."""
        if self.embedding_size < 0 or self.embedding_size % 2:
            raise ArgumentError(
                "RotaryPositionalEmbedding: expected an even embedding_size, got "
                f"{self.embedding_size}."
            )

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Array:
        """Return a sequence of shape `(length, embedding_size)`; `key` is not used."""
        del key
        x = as_array("RotaryPositionalEmbedding", x)
        size = self.embedding_size
        if x.ndim != 2 or x.shape[1] != size:
            raise ShapeError(
                "RotaryPositionalEmbedding: expected one sequence of shape (length, "
                f"{size}), got {x.aval}. For heads, or a batch, write imprint.vmap."
            )
        wide = dtypes.default_float()
        speeds = 1.0 / self.theta ** (numpy.arange(0, size, 2) / max(size, 1))
        angles = (
            np.astype(np.arange(x.shape[0]), wide)[:, None] * speeds.astype(wide)[None]
        )
        turned = np.concatenate([-x[:, size // 2 :], x[:, : size // 2]], axis=1)
        cosines, sines = (
            np.tile(np.astype(function(angles), self.dtype), (1, 2))
            for function in (np.cos, np.sin)
        )
        return np.astype(x * cosines + turned * sines, x.dtype)
