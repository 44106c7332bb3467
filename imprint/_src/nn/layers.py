"""Layers without a matrix, such as Sequential, Dropout and Embedding.

Each is called with one example and a keyword `key`, which most ignore, so that all fit
into `Sequential`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, overload

import imprint.numpy as np
from imprint import random
from imprint._src.core.array import Array
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.nn.state import StatefulLayer
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.primitives.barrier import stop_gradient
from imprint.module import Module, field, tree_inference

inference_mode = tree_inference
"""Return a model for inference, such as without dropout, under Equinox's name."""


class Identity(Module):
    """The layer that returns its input; accepts any arguments.

    Example:
        >>> from imprint import nn
        >>> nn.Identity(3, use_bias=False)(2.0)
        2.0
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Accept anything, so that it can replace any layer."""

    def __call__(self, x: Any, *, key: Any = None) -> Any:
        """Return `x`; `key` is not used."""
        del key
        return x


class Lambda(Module):
    """A function as a layer, for `Sequential`.

    Attributes:
        fn: the function; a tree with leaves if it is a module.

    Example:
        >>> from imprint import nn
        >>> nn.Lambda(nn.relu)(-1.0)
        Array(0., dtype=float32, weak_type=True)
    """

    fn: Callable[[Any], Any]

    def __call__(self, x: Any, *, key: Any = None) -> Any:
        """Apply the function to `x`; `key` is not used."""
        del key
        return self.fn(x)


_NO_STATE: Final = object()


class Sequential(StatefulLayer):
    """Layers in sequence.

    Attributes:
        layers: each is called with the result of the previous one and its own key.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> first, second = random.split(random.key(0))
        >>> model = nn.Sequential(
        ...     [
        ...         nn.Linear(2, 8, key=first),
        ...         nn.Lambda(nn.relu),
        ...         nn.Linear(8, 1, key=second),
        ...     ]
        ... )
        >>> model(np.ones(2)).shape, model[:2](np.ones(2)).shape
        ((1,), (8,))
    """

    layers: tuple[Callable[..., Any], ...]

    def __init__(self, layers: Sequence[Callable[..., Any]]) -> None:
        """Store the layers in order."""
        self.layers = tuple(layers)

    def is_stateful(self) -> bool:
        """Return whether a layer has state."""
        return any(map(_is_stateful, self.layers))

    def __call__(self, x: Any, state: Any = _NO_STATE, *, key: Any = None) -> Any:
        """Return the result of the last layer, and the next state if one is given.

        Args:
            x: the input of the first layer.
            state: the state of layers that have one.
            key: split into one for each layer.
        """
        count = len(self.layers)
        keys = [None] * count if key is None else random.split(key, count)
        for layer, own in zip(self.layers, keys, strict=True):
            if not _is_stateful(layer):
                x = layer(x, key=own)
                continue
            if state is _NO_STATE:
                raise ArgumentError(
                    f"Sequential: expected a state for {type(layer).__name__}, got none. "
                    "Make both with imprint.nn.make_with_state, and write "
                    "`x, state = model(x, state)`."
                )
            x, state = layer(x, state=state, key=own)
        return x if state is _NO_STATE else (x, state)

    @overload
    def __getitem__(self, i: int) -> Callable[..., Any]: ...
    @overload
    def __getitem__(self, i: slice) -> "Sequential": ...
    def __getitem__(self, i: int | slice) -> Any:
        """Return one layer, or some of them as another `Sequential`."""
        return Sequential(self.layers[i]) if isinstance(i, slice) else self.layers[i]

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)


def _is_stateful(layer: Any) -> bool:
    return isinstance(layer, StatefulLayer) and layer.is_stateful()


class Dropout(Module):
    """Dropout: in training, an element becomes `x / (1 - p)`, or 0 with probability p.

    Attributes:
        p: the probability of a zero.
        inference: whether to return the input as it is.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> layer = nn.Dropout(0.5)
        >>> layer(np.ones(6), key=random.key(0))
        Array([0., 0., 2., 2., 0., 2.], dtype=float32)
        >>> nn.inference_mode(layer)(np.ones(3))
        Array([1., 1., 1.], dtype=float32)
    """

    p: float | Array
    inference: bool

    def __init__(
        self,
        p: float | Array = 0.5,
        inference: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
    ) -> None:
        """Set the probability of a zero, and whether dropout is disabled."""
        self.p = p
        self.inference = inference

    def __call__(
        self, x: ArrayLike, *, key: Any = None, inference: bool | None = None
    ) -> Array:
        """Return the input with random zeros.

        Args:
            x: any array.
            key: the key of the zeros; unused if there are none.
            inference: overrides the layer's setting.
        """
        x = as_array("Dropout", x)
        chosen = self.inference if inference is None else inference
        if chosen or (isinstance(self.p, int | float) and self.p == 0):
            return x
        if key is None:
            raise ArgumentError(
                "Dropout: expected a key while training, got None. Pass "
                "key=imprint.random.key(seed), or inference=True for no zeros."
            )
        keep = 1 - stop_gradient(self.p)
        return np.where(random.bernoulli(key, keep, x.shape), x / keep, 0)


class Embedding(Module):
    """A table of vectors, indexed by integers.

    Attributes:
        num_embeddings: the number of vectors.
        embedding_size: the length of a vector.
        weight: the vectors, of shape `(num_embeddings, embedding_size)`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> words = nn.Embedding(100, 8, key=random.key(0))
        >>> words(3).shape, imprint.vmap(words)(np.array([3, 1, 4])).shape
        ((8,), (3, 8))
    """

    num_embeddings: int = field(static=True)
    embedding_size: int = field(static=True)
    weight: Array

    def __init__(
        self,
        num_embeddings: int | None = None,
        embedding_size: int | None = None,
        weight: ArrayLike | None = None,
        dtype: DTypeLike | None = None,
        *,
        key: Any = None,
    ) -> None:
        """Initialize the vectors, or use the given ones.

        Args:
            num_embeddings: the number of vectors.
            embedding_size: the length of a vector.
            weight: the vectors; the two sizes may then be omitted.
            dtype: of initial vectors; None for the default float.
            key: the key of the initial vectors.
        """
        if weight is not None:
            table = as_array("Embedding", weight)
            said = (num_embeddings, embedding_size)
            if table.ndim != 2 or any(
                number not in (None, length)
                for number, length in zip(said, table.shape, strict=True)
            ):
                raise ShapeError(
                    f"Embedding: expected a weight of shape {said}, got {table.aval}. "
                    f"A row is a vector; leave out the numbers to take them from it."
                )
        elif num_embeddings is None or embedding_size is None or key is None:
            raise ArgumentError(
                "Embedding: expected num_embeddings, embedding_size and a key, or a "
                "weight, got neither. Write Embedding(100, 8, key=key)."
            )
        else:
            table = random.normal(key, (num_embeddings, embedding_size), dtype)
        self.num_embeddings, self.embedding_size = table.shape
        self.weight = table

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Array:
        """Return vector number `x`; `key` is not used."""
        index = as_array("Embedding", x)
        if index.ndim or not np.issubdtype(index.dtype, np.integer):
            raise ArgumentError(
                f"Embedding: expected an integer of rank 0, got {index.aval}. Of "
                f"several write imprint.vmap(layer)(x)."
            )
        return self.weight[index]


class PReLU(Module):
    """A leaky ReLU whose slope below 0 is a parameter.

    Attributes:
        negative_slope: the slope.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.PReLU(0.5)(np.array([-2.0, 2.0]))
        Array([-1.,  2.], dtype=float32)
    """

    negative_slope: Array

    def __init__(self, init_alpha: ArrayLike = 0.25) -> None:
        """Set the initial slope."""
        self.negative_slope = np.asarray(init_alpha)

    def __call__(self, x: ArrayLike) -> Array:
        """Return the activation."""
        x = as_array("PReLU", x)
        return np.where(x >= 0, x, self.negative_slope * x)
