"""Layers with state: BatchNorm and SpectralNorm.

They are called with a state, and return their result and the next state; see `state`.
"""

import warnings
from collections.abc import Hashable, Sequence
from typing import Any

import imprint.numpy as np
from imprint import random
from imprint._src.core.array import Array
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.lax.collectives import pmean
from imprint._src.nn.state import State, StatefulLayer, StateIndex
from imprint._src.nn.wrappers import with_weight
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.primitives.barrier import stop_gradient
from imprint.module import field


class BatchNorm(StatefulLayer):
    """Batch normalization: mean 0 and variance 1 of each channel, weight and bias.

    The batch is a named axis of `imprint.vmap`. The state holds running statistics,
    which inference uses in place of the batch.

    Attributes:
        weight: one for each channel, initially ones; or None.
        bias: one for each channel, initially zeros; or None.
        ema_first_time_index: whether there was no batch yet, in mode "ema".
        ema_state_index: running mean and variance, in mode "ema".
        batch_counter: the number of batches, in mode "batch".
        batch_state_index: running mean and variance, in mode "batch".
        axis_name: the name of the batch axis.
        inference: whether to use running statistics in place of the batch.
        input_size: the number of channels.
        eps: added to the variance, against division by zero.
        channelwise_affine: whether there are weight and bias.
        momentum: the decay rate of the running values.
        mode: "batch" to normalize by the batch, "ema" by the running values.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> norm, state = nn.make_with_state(nn.BatchNorm)(1, "batch", mode="batch")
        >>> over_batch = imprint.vmap(norm, (0, None), (0, None), axis_name="batch")
        >>> x, state = over_batch(np.array([[1.0], [3.0]]), state)
        >>> x.ravel().round(2)
        Array([-1.,  1.], dtype=float32)
    """

    weight: Array | None
    bias: Array | None
    ema_first_time_index: StateIndex[Any] | None
    ema_state_index: StateIndex[Any] | None
    batch_counter: StateIndex[Any] | None
    batch_state_index: StateIndex[Any] | None
    axis_name: Hashable | Sequence[Hashable]
    inference: bool
    input_size: int = field(static=True)
    eps: float = field(static=True)
    channelwise_affine: bool = field(static=True)
    momentum: float = field(static=True)
    mode: str = field(static=True)

    def __init__(  # noqa: PLR0913, PLR0917 - Equinox's signature
        self,
        input_size: int,
        axis_name: Hashable | Sequence[Hashable],
        eps: float = 1e-5,
        channelwise_affine: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        momentum: float = 0.99,
        inference: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
        dtype: DTypeLike | None = None,
        mode: str = "legacy",
    ) -> None:
        """Create weight, bias and the initial state.

        Args:
            input_size: the number of channels.
            axis_name: the name of the batch axis, or several.
            eps: added to the variance, against division by zero.
            channelwise_affine: whether to multiply by a weight and add a bias.
            momentum: the decay rate of the running values.
            inference: whether to use running statistics in place of the batch.
            dtype: of weight, bias and running values; None for the default float.
            mode: "batch" or "ema"; "legacy" is "ema", with a warning.
        """
        if mode == "legacy":
            mode = "ema"
            warnings.warn(
                "BatchNorm: expected a mode, got none, so took 'ema', as Equinox does. "
                "Write mode='batch', which is faster, or mode='ema'.",
                stacklevel=2,
            )
        if mode not in ("ema", "batch"):
            raise ArgumentError(
                f"BatchNorm: expected mode 'batch' or 'ema', got {mode!r}."
            )
        shape = (input_size,)
        self.mode = mode
        self.weight = np.ones(shape, dtype) if channelwise_affine else None
        self.bias = np.zeros(shape, dtype) if channelwise_affine else None
        is_ema = mode == "ema"
        first = np.zeros(shape, dtype) if is_ema else np.ones(shape, dtype)
        running: StateIndex[Any] = StateIndex((np.zeros(shape, dtype), first))
        begins: StateIndex[Any] = StateIndex(
            np.ones((), bool) if is_ema else np.array(0)
        )
        self.ema_first_time_index = begins if is_ema else None
        self.ema_state_index = running if is_ema else None
        self.batch_counter = None if is_ema else begins
        self.batch_state_index = None if is_ema else running
        self.inference = inference
        self.axis_name = axis_name
        self.input_size = input_size
        self.eps = eps
        self.channelwise_affine = channelwise_affine
        self.momentum = momentum

    def __call__(
        self,
        x: ArrayLike,
        state: State,
        *,
        key: Any = None,
        inference: bool | None = None,
    ) -> tuple[Array, State]:
        """Return the normalized example, and the next state.

        Args:
            x: of shape `(channels, ...)`, one example of the batch.
            state: the running statistics.
            key: not used.
            inference: overrides the layer's setting.
        """
        del key
        x = as_array("BatchNorm", x)
        if not x.ndim or x.shape[0] != self.input_size:
            raise ShapeError(
                f"BatchNorm: expected one example of {self.input_size} channels, got "
                f"{x.aval}. For a batch write imprint.vmap(layer, (0, None), (0, None), "
                f"axis_name={self.axis_name!r})."
            )
        chosen = self.inference if inference is None else inference
        by = self._running if self.ema_state_index is not None else self._batch
        mean, variance, state = by(x, state, is_frozen=chosen)
        shape = (-1, *[1] * (x.ndim - 1))
        out = x - np.reshape(mean, shape)
        out = out / np.reshape(np.sqrt(variance + self.eps), shape)
        if self.weight is not None and self.bias is not None:
            out = out * np.reshape(self.weight, shape) + np.reshape(self.bias, shape)
        return out, state

    def _running(
        self, x: Array, state: State, *, is_frozen: bool
    ) -> tuple[Array, Array, State]:
        """Return the running mean and variance, this batch included."""
        assert self.ema_state_index is not None
        assert self.ema_first_time_index is not None
        before = state.get(self.ema_state_index)
        if is_frozen:
            return (*before, state)
        is_first = state.get(self.ema_first_time_index)
        state = state.set(self.ema_first_time_index, np.zeros((), bool))
        mean, variance = (
            np.where(is_first, new, (1 - self.momentum) * new + self.momentum * old)
            for new, old in zip(self._of_batch(x), before, strict=True)
        )
        return mean, variance, state.set(self.ema_state_index, (mean, variance))

    def _batch(
        self, x: Array, state: State, *, is_frozen: bool
    ) -> tuple[Array, Array, State]:
        """Return mean and variance of the batch, or the averages over all batches."""
        assert self.batch_state_index is not None
        assert self.batch_counter is not None
        counter = state.get(self.batch_counter)
        before = state.get(self.batch_state_index)
        if is_frozen:
            seen = np.where(counter == 0, 1, 1 - self.momentum**counter)
            mean, variance = (old / seen for old in before)
            return mean, variance, state
        now = self._of_batch(x)
        pairs = zip(before, now, strict=True)
        kept = [old * self.momentum + new * (1 - self.momentum) for old, new in pairs]
        state = state.set(self.batch_counter, counter + 1)
        return (*now, state.set(self.batch_state_index, tuple(kept)))

    def _of_batch(self, x: Array) -> tuple[Array, Array]:
        axes = tuple(range(1, x.ndim))
        name: Any = self.axis_name
        mean = pmean(np.mean(x, axis=axes), name)
        gap = x - np.reshape(mean, (-1, *[1] * len(axes)))
        variance = pmean(np.mean(gap * np.conj(gap), axis=axes), name)
        return mean, np.maximum(0.0, variance)


class SpectralNorm(StatefulLayer):
    """Spectral normalization: a weight divided by its largest singular value.

    The singular vectors are the state; each call in training improves them.

    Attributes:
        layer: the layer with the weight.
        weight_name: the name of the weight.
        uv_index: the singular vectors of the largest singular value.
        num_power_iterations: the number of power iterations in each call.
        eps: the minimum length of a vector, against division by zero.
        inference: whether to leave the state unchanged.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> linear = nn.Linear(3, 2, key=random.key(0))
        >>> make = nn.make_with_state(nn.SpectralNorm)
        >>> layer, state = make(linear, "weight", key=random.key(1))
        >>> y, state = layer(np.ones(3), state)
        >>> y.shape
        (2,)
    """

    layer: Any
    weight_name: str = field(static=True)
    uv_index: StateIndex[Any]
    num_power_iterations: int = field(static=True)
    eps: float = field(static=True)
    inference: bool

    def __init__(
        self,
        layer: Any,
        weight_name: str,
        num_power_iterations: int = 1,
        eps: float = 1e-12,
        inference: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
        *,
        key: Any,
    ) -> None:
        """Initialize the singular vectors of a layer's weight.

        Args:
            layer: such as `Linear` or `Conv2d`.
            weight_name: the name of the weight.
            num_power_iterations: the number of power iterations in each call.
            eps: the minimum length of a vector, against division by zero.
            inference: whether to leave the state unchanged.
            key: the key of the initial vectors.
        """
        self.layer = layer
        self.weight_name = weight_name
        self.num_power_iterations = num_power_iterations
        self.eps = eps
        self.inference = inference
        weight = getattr(layer, weight_name)
        if weight.ndim < 2:
            raise ShapeError(
                "SpectralNorm: expected a weight of at least two axes, got "
                f"{weight.aval}. Name another with weight_name."
            )
        matrix = np.reshape(weight, (weight.shape[0], -1))
        keys = random.split(key)
        vectors = tuple(
            random.normal(k, (n,), matrix.dtype)
            for k, n in zip(keys, matrix.shape, strict=True)
        )
        for _ in range(15):
            vectors = self._nearer(matrix, vectors[1])
        self.uv_index = StateIndex(vectors)

    def __call__(
        self,
        x: ArrayLike,
        state: State,
        *,
        key: Any = None,
        inference: bool | None = None,
    ) -> tuple[Any, State]:
        """Return the layer's result for one example, and the next state.

        Args:
            x: the input of the layer.
            state: the current singular vectors.
            key: not used.
            inference: overrides the layer's setting.
        """
        del key
        weight = getattr(self.layer, self.weight_name)
        matrix = np.reshape(weight, (weight.shape[0], -1))
        u, v = state.get(self.uv_index)
        if not (self.inference if inference is None else inference):
            for _ in range(self.num_power_iterations):
                u, v = self._nearer(stop_gradient(matrix), v)
            state = state.set(self.uv_index, (u, v))
        largest = np.einsum("i,ij,j->", u, matrix, v)
        scaled = np.reshape(matrix / largest, weight.shape)
        return with_weight(self.layer, self.weight_name, scaled)(x), state

    def _nearer(self, matrix: Array, v: Array) -> tuple[Array, Array]:
        """Return better estimates of the singular vectors."""
        u = self._unit(matrix @ v)
        return u, self._unit(matrix.T @ u)

    def _unit(self, x: Array) -> Array:
        return x / np.maximum(self.eps, np.sqrt(np.sum(np.square(x))))
