"""Recurrent cells: one step of a GRU or an LSTM.

A cell computes its gates by one matrix each for the input and the state; the rows are
the gates in Equinox's order. The initial weights for a key are Equinox's too.
"""

import math
from typing import Any

import imprint.numpy as np
from imprint import random
from imprint._src.core.array import Array
from imprint._src.dtypes import DTypeLike
from imprint._src.nn.activations import sigmoid
from imprint._src.nn.linear import draw_within
from imprint._src.numpy.promotion import ArrayLike
from imprint.module import Module, field


class GRUCell(Module):
    """One step of a gated recurrent unit (Cho et al., 2014).

    Attributes:
        weight_ih: of shape `(3 * hidden_size, input_size)`: reset, update, new.
        weight_hh: of shape `(3 * hidden_size, hidden_size)`.
        bias: of shape `(3 * hidden_size,)`, or None.
        bias_n: of shape `(hidden_size,)`, for the state's part of the new gate; or
            None.
        input_size: the length of the input.
        hidden_size: the length of the state.
        use_bias: whether there are biases.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> cell = nn.GRUCell(2, 3, key=random.key(0))
        >>> hidden = np.zeros(3)
        >>> for x in np.ones((4, 2)):
        ...     hidden = cell(x, hidden)
        >>> hidden.shape
        (3,)
    """

    weight_ih: Array
    weight_hh: Array
    bias: Array | None
    bias_n: Array | None
    input_size: int = field(static=True)
    hidden_size: int = field(static=True)
    use_bias: bool = field(static=True)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        use_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        dtype: DTypeLike | None = None,
        *,
        key: Any,
    ) -> None:
        """Initialize the weights.

        Args:
            input_size: the length of the input.
            hidden_size: the length of the state.
            use_bias: whether to add biases.
            dtype: of weights and biases; None for the default float.
            key: the key of the initial weights.
        """
        keys = random.split(key, 4)
        rows = 3 * hidden_size
        shapes = [(rows, input_size), (rows, hidden_size), (rows,), (hidden_size,)]
        drawn = _draw(keys, shapes, hidden_size, dtype, use_bias=use_bias)
        self.weight_ih, self.weight_hh, self.bias, self.bias_n = drawn
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.use_bias = use_bias

    def __call__(self, input: ArrayLike, hidden: Array, *, key: Any = None) -> Array:  # noqa: A002 - Equinox's name
        """Return the next state.

        Args:
            input: of shape `(input_size,)`.
            hidden: the state, of shape `(hidden_size,)`.
            key: not used.
        """
        del key
        gates: Any = np.matmul(self.weight_ih, input)
        gates = gates if self.bias is None else gates + self.bias
        reset_x, update_x, new_x = np.split(gates, 3)
        reset_h, update_h, new_h = np.split(np.matmul(self.weight_hh, hidden), 3)
        new_h = new_h if self.bias_n is None else new_h + self.bias_n
        update = sigmoid(update_x + update_h)
        new = np.tanh(new_x + sigmoid(reset_x + reset_h) * new_h)
        return new + update * (hidden - new)


class LSTMCell(Module):
    """One step of a long short-term memory (Hochreiter and Schmidhuber, 1997).

    Attributes:
        weight_ih: of shape `(4 * hidden_size, input_size)`: input, forget, new, output.
        weight_hh: of shape `(4 * hidden_size, hidden_size)`.
        bias: of shape `(4 * hidden_size,)`, or None.
        input_size: the length of the input.
        hidden_size: the length of the state and of the memory.
        use_bias: whether there is a bias.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> cell = nn.LSTMCell(2, 3, key=random.key(0))
        >>> hidden, memory = cell(np.ones(2), (np.zeros(3), np.zeros(3)))
        >>> hidden.shape, memory.shape
        ((3,), (3,))
    """

    weight_ih: Array
    weight_hh: Array
    bias: Array | None
    input_size: int = field(static=True)
    hidden_size: int = field(static=True)
    use_bias: bool = field(static=True)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        use_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        dtype: DTypeLike | None = None,
        *,
        key: Any,
    ) -> None:
        """Initialize the weights.

        Args:
            input_size: the length of the input.
            hidden_size: the length of the state and of the memory.
            use_bias: whether to add a bias.
            dtype: of weights and bias; None for the default float.
            key: the key of the initial weights.
        """
        keys = random.split(key, 3)
        rows = 4 * hidden_size
        shapes = [(rows, input_size), (rows, hidden_size), (rows,)]
        drawn = _draw(keys, shapes, hidden_size, dtype, use_bias=use_bias)
        self.weight_ih, self.weight_hh, self.bias = drawn
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.use_bias = use_bias

    def __call__(
        self,
        input: ArrayLike,  # noqa: A002 - Equinox's name
        hidden: tuple[Array, Array],
        *,
        key: Any = None,
    ) -> tuple[Array, Array]:
        """Return the next state and memory.

        Args:
            input: of shape `(input_size,)`.
            hidden: the state and the memory, each of shape `(hidden_size,)`.
            key: not used.
        """
        del key
        state, memory = hidden
        gates: Any = np.matmul(self.weight_ih, input) + np.matmul(self.weight_hh, state)
        gates = gates if self.bias is None else gates + self.bias
        enter, forget, new, leave = np.split(gates, 4)
        memory = sigmoid(forget) * memory + sigmoid(enter) * np.tanh(new)
        return sigmoid(leave) * np.tanh(memory), memory


def _draw(
    keys: Any,
    shapes: list[Any],
    hidden_size: int,
    dtype: DTypeLike | None,
    *,
    use_bias: bool,
) -> list[Any]:
    """Return the arrays of a cell for each key: matrices, then biases."""
    limit = math.sqrt(1 / hidden_size)
    return [
        draw_within(key, limit, shape, dtype) if use_bias or len(shape) == 2 else None
        for key, shape in zip(keys, shapes, strict=True)
    ]
