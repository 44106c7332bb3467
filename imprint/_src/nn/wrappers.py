"""Wrappers of models: WeightNorm and Shared.

Both hold a model and set a part of it for each call: a weight, or parts that are
shared.
"""

from collections.abc import Callable
from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.errors import ArgumentError
from imprint._src.numpy.promotion import ArrayLike
from imprint.module import Module, field, filter_eval_shape, tree_at, tree_equal


class WeightNorm(Module):
    """Weight normalization: a weight as a direction, in the layer, and a length.

    Attributes:
        layer: the layer with the weight.
        g: the lengths, one for each index along `axis`.
        weight_name: the name of the weight.
        axis: the axis along which lengths differ; None for one length.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> linear = nn.Linear(3, 2, key=random.key(0))
        >>> layer = nn.WeightNorm(linear)
        >>> layer.g.shape, bool(np.allclose(layer(np.ones(3)), linear(np.ones(3))))
        ((2, 1), True)
    """

    layer: Any
    g: Array
    weight_name: str = field(static=True)
    axis: int | None = field(static=True)

    def __init__(
        self, layer: Any, weight_name: str = "weight", axis: int | None = 0
    ) -> None:
        """Extract the lengths of a layer's weight.

        Args:
            layer: such as `Linear` or `Conv2d`.
            weight_name: the name of the weight.
            axis: the axis along which lengths differ; None for one length.
        """
        self.layer = layer
        self.weight_name = weight_name
        self.axis = axis
        self.g = self._length(getattr(layer, weight_name))

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Any:
        """Return the layer's result for one example; `key` is not used."""
        del key
        weight = getattr(self.layer, self.weight_name)
        return with_weight(
            self.layer, self.weight_name, weight * self.g / self._length(weight)
        )(x)

    def _length(self, weight: Array) -> Array:
        axis = None if self.axis is None else self.axis % weight.ndim
        others = tuple(i for i in range(weight.ndim) if i != axis)
        return np.sqrt(np.sum(np.square(np.abs(weight)), axis=others, keepdims=True))


def with_weight(layer: Any, name: str, weight: Array) -> Any:
    """Return a layer with another weight."""
    return tree_at(lambda model: getattr(model, name), layer, weight)


class _SharedNode:
    """The placeholder of a part of a model that is shared from another."""

    def __repr__(self) -> str:
        return "SharedNode"


class Shared(Module):
    """A model with shared parts, which are stored and trained once.

    Attributes:
        pytree: the model, with placeholders in the target positions.
        where: returns the target positions.
        get: returns the shared parts.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> keys = random.split(random.key(0))
        >>> model = (nn.Embedding(5, 3, key=keys[0]), nn.Linear(3, 5, key=keys[1]))
        >>> where, get = lambda m: m[1].weight, lambda m: m[0].weight
        >>> embed, last = nn.Shared(model, where, get)()
        >>> last.weight is embed.weight
        True
    """

    pytree: Any
    where: Callable[[Any], Any]
    get: Callable[[Any], Any]

    def __init__(
        self, pytree: Any, where: Callable[[Any], Any], get: Callable[[Any], Any]
    ) -> None:
        """Replace shared parts by placeholders, except for one.

        Args:
            pytree: the model.
            where: a function from the model to the target position, or a tuple of them.
            get: a function from the model to the shared part, or as many.

        Raises:
            ArgumentError: the parts do not match.
        """
        source = filter_eval_shape(get, pytree)
        target = filter_eval_shape(where, pytree)
        if tree_equal(source, target) is not True:
            raise ArgumentError(
                "Shared: expected places that hold the same structure, shapes and "
                f"dtypes, got {source} and {target}."
            )
        self.pytree = tree_at(where, pytree, replace_fn=lambda _: _SharedNode())
        self.where = where
        self.get = get

    def __call__(self) -> Any:
        """Return the model with all shared parts in place."""
        return tree_at(self.where, self.pytree, self.get(self.pytree))
