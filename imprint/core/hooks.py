"""The two places where a lower floor reaches upward.

Operators on arrays and tracers (`x + y`) call `imprint.numpy`, and `bind` outside any
trace calls the eager interpreter. Both live on floors above `core`, so they are put
here once, when `imprint` is imported. There is no third.
"""

from collections.abc import Callable
from typing import Any

numpy: Any = None
"""The module `imprint.numpy`, which gives operators and array methods their meaning."""

eager: Callable[[Any, tuple[Any, ...], dict[str, Any]], tuple[Any, ...]]
"""`eager(primitive, operands, params)`: evaluate one primitive now."""


def install_numpy(module: Any) -> None:
    """Give operators on arrays and tracers their meaning."""
    global numpy
    numpy = module


def install_eager(
    process: Callable[[Any, tuple[Any, ...], dict[str, Any]], tuple[Any, ...]],
) -> None:
    """Give `bind` outside any trace its meaning."""
    global eager
    eager = process
