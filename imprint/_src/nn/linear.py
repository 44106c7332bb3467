"""Linear layers: `Linear`, and `MLP`, which stacks them with activations between.

A layer takes one example. Weights and biases are uniform between ± 1 / sqrt of the
number of inputs; for the same key they are Equinox's.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import imprint.numpy as np
from imprint import random
from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import Shape
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ShapeError
from imprint._src.interpreters.vmap import vmap
from imprint._src.nn.activations import identity, relu
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.tree import internal as tree
from imprint.module import Module, combine, field, is_array, partition

Size: TypeAlias = int | Literal["scalar"]
"""The length of a vector; "scalar" for a number in place of a vector."""
Activation: TypeAlias = Callable[[Any], Any]


class Linear(Module):
    """A matrix and a bias: `weight @ x + bias`.

    Attributes:
        weight: of shape `(out_features, in_features)`.
        bias: of shape `(out_features,)`, or None.
        in_features: the length of the input.
        out_features: the length of the result.
        use_bias: whether there is a bias.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> layer = nn.Linear(3, 2, key=random.key(0))
        >>> layer.weight.shape, layer.bias.shape
        ((2, 3), (2,))
        >>> layer(np.ones(3)).shape, imprint.vmap(layer)(np.ones((8, 3))).shape
        ((2,), (8, 2))
    """

    weight: Array
    bias: Array | None
    in_features: Size = field(static=True)
    out_features: Size = field(static=True)
    use_bias: bool = field(static=True)

    def __init__(
        self,
        in_features: Size,
        out_features: Size,
        use_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        dtype: DTypeLike | None = None,
        *,
        key: Any,
    ) -> None:
        """Initialize the weights.

        Args:
            in_features: the length of the input; "scalar" for a number.
            out_features: the length of the result; "scalar" for a number.
            use_bias: whether to add a bias.
            dtype: of weight and bias; None for the default float.
            key: the key of the initial weights.
        """
        weight_key, bias_key = random.split(key)
        ins, outs = _length(in_features), _length(out_features)
        limit = 1 / math.sqrt(ins) if ins else 1.0
        self.weight = draw_within(weight_key, limit, (outs, ins), dtype)
        self.bias = draw_within(bias_key, limit, (outs,), dtype) if use_bias else None
        self.in_features = in_features
        self.out_features = out_features
        self.use_bias = use_bias

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Array:
        """Return the result for one example; `key` is not used."""
        del key
        x = as_array("Linear", x)
        wanted = () if self.in_features == "scalar" else (self.in_features,)
        if x.shape != wanted:
            raise ShapeError(
                f"Linear: expected one example of shape {wanted}, got {x.aval}. "
                "For a batch write imprint.vmap(layer)(x)."
            )
        y = np.matmul(self.weight, np.reshape(x, (-1,)) if x.ndim == 0 else x)
        y = y if self.bias is None else y + self.bias
        return np.squeeze(y) if self.out_features == "scalar" else y


def _length(size: Size) -> int:
    return 1 if size == "scalar" else size


def draw_within(key: Any, limit: float, shape: Shape, dtype: DTypeLike | None) -> Array:
    """Return uniform numbers between ± a limit; complex ones in both parts."""
    wanted = dtypes.default_float() if dtype is None else dtypes.requested(dtype, "nn")
    if dtypes.is_complex(wanted):
        part = dtypes.real_part_dtype(wanted)
        real, imaginary = (
            draw_within(k, limit, shape, part) for k in random.split(key)
        )
        return np.astype(real, wanted) + 1j * np.astype(imaginary, wanted)
    return random.uniform(key, shape, wanted, -limit, limit)


class MLP(Module):
    """A stack of linear layers with an activation after each but the last.

    An activation is called with the whole vector. If it has parameters, such as
    `PReLU`, each unit of each layer gets its own.

    Attributes:
        layers: the linear layers.
        activation: between layers; its arrays have leading axes `(depth, width_size)`.
        final_activation: after the last; its arrays have a leading axis `out_size`.
        use_bias: whether the layers but the last have a bias.
        use_final_bias: whether the last layer has a bias.
        in_size: the length of the input.
        out_size: the length of the result.
        width_size: the length between layers.
        depth: the number of layers but the last.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> model = nn.MLP(2, "scalar", width_size=8, depth=2, key=random.key(0))
        >>> [layer.weight.shape for layer in model.layers]
        [(8, 2), (8, 8), (1, 8)]
        >>> imprint.vmap(model)(np.ones((5, 2))).shape
        (5,)
    """

    layers: tuple[Linear, ...]
    activation: Activation
    final_activation: Activation
    use_bias: bool = field(static=True)
    use_final_bias: bool = field(static=True)
    in_size: Size = field(static=True)
    out_size: Size = field(static=True)
    width_size: int = field(static=True)
    depth: int = field(static=True)

    def __init__(  # noqa: PLR0913, PLR0917 - Equinox's signature
        self,
        in_size: Size,
        out_size: Size,
        width_size: int,
        depth: int,
        activation: Activation = relu,
        final_activation: Activation = identity,
        use_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        use_final_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        dtype: DTypeLike | None = None,
        *,
        key: Any,
    ) -> None:
        """Initialize the weights.

        Args:
            in_size: the length of the input; "scalar" for a number.
            out_size: the length of the result; "scalar" for a number.
            width_size: the length between layers.
            depth: the number of layers but the last; 0 for a single linear layer.
            activation: a function, after each layer but the last.
            final_activation: a function, after the last.
            use_bias: whether the layers but the last have a bias.
            use_final_bias: whether the last layer has a bias.
            dtype: of weights and biases; None for the default float.
            key: the key of the initial weights.
        """
        sizes: list[Size] = [in_size, *[width_size] * depth, out_size]
        biases = [use_bias] * depth + [use_final_bias]
        keys = random.split(key, depth + 1)
        self.layers = tuple(
            Linear(ins, outs, bias, dtype, key=k)
            for ins, outs, bias, k in zip(
                sizes[:-1], sizes[1:], biases, keys, strict=True
            )
        )
        units = () if out_size == "scalar" else (out_size,)
        self.activation = _for_each(activation, (depth, width_size))
        self.final_activation = _for_each(final_activation, units)
        self.use_bias = use_bias
        self.use_final_bias = use_final_bias
        self.in_size = in_size
        self.out_size = out_size
        self.width_size = width_size
        self.depth = depth

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Array:
        """Return the result for one example; `key` is not used."""
        del key
        *hidden, last = self.layers
        for i, layer in enumerate(hidden):
            activation = _map_arrays(lambda a, i=i: a[i], self.activation)
            x = _apply(activation, layer(x))
        return _apply(self.final_activation, last(x))


def _for_each(activation: Activation, units: Shape) -> Activation:
    """Return an activation with a copy of its arrays for each unit."""
    return _map_arrays(lambda a: np.broadcast_to(a, (*units, *a.shape)), activation)


def _map_arrays(function: Callable[[Any], Any], activation: Activation) -> Any:
    def change(leaf: Any) -> Any:
        return function(leaf) if is_array(leaf) else leaf

    return tree.map(change, activation)


def _apply(activation: Activation, x: Array) -> Any:
    """Call an activation, with each unit's arrays on that unit."""
    arrays, rest = partition(activation, is_array)
    if x.ndim == 0 or not tree.leaves(arrays):
        return activation(x)

    def unit(own: Any, x: Any) -> Any:
        return combine(own, rest)(x)

    return vmap(unit)(arrays, x)
