"""Layers around models: WeightNorm, whose weight has a norm of its own, and Shared.

Both keep a model, and give it a part when they are called: a weight, or what two places
of the model have in common.
"""

from collections.abc import Callable
from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.errors import ArgumentError
from imprint._src.numpy.promotion import ArrayLike
from imprint.module import Module, field, filter_eval_shape, tree_at, tree_equal


class WeightNorm(Module):
    """A layer whose weight is a direction, which the layer holds, and a length.

    Attributes:
        layer: whose weight it is.
        g: the lengths, one for each place along `axis`.
        weight_name: the name of the weight.
        axis: along which lengths differ; None for one length.

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
        """Take the lengths of a layer's weight.

        Args:
            layer: such as `Linear` or `Conv2d`.
            weight_name: the name of the weight.
            axis: along which lengths differ; None for one length.
        """
        self.layer = layer
        self.weight_name = weight_name
        self.axis = axis
        self.g = self._length(getattr(layer, weight_name))

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Any:
        """Return what the layer makes of one example; `key` is not used."""
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
    """Stands where a part of a model was that another place holds."""

    def __repr__(self) -> str:
        return "SharedNode"


class Shared(Module):
    """A model in which some places hold what others do: it is kept, and learnt, once.

    Attributes:
        pytree: the model, with nothing in the places that take.
        where: returns the places that take.
        get: returns what they take.

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
        """Leave what places have in common in one of them.

        Args:
            pytree: the model.
            where: takes the model, and returns the place that takes, or a tuple of them.
            get: takes the model, and returns what it takes, or as many.

        Raises:
            ArgumentError: what they hold is not alike.
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
        """Return the model with all places filled."""
        return tree_at(self.where, self.pytree, self.get(self.pytree))
