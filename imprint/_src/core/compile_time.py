"""Compile-time evaluation: computing while a function is traced, not in the program.

Under a trace every operation becomes an equation, also one whose operands are known. In
`ensure_compile_time_eval` those are computed now, so their results are concrete: they can
be branched on, and be sizes. What has a tracer among its operands is traced as before.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, final

from imprint._src.core.trace import Trace, Tracer, current_trace, process_under, tracing


@contextmanager
def ensure_compile_time_eval() -> Generator[None]:
    """Compute at once, inside the `with` block, what depends on no tracer.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> @imprint.jit
        ... def first(x):
        ...     with imprint.ensure_compile_time_eval():
        ...         count = int(np.sqrt(np.array(4.0)))
        ...     return x[:count]
        >>> first(np.arange(5))
        Array([0, 1], dtype=int32)
    """
    outer = current_trace()
    with tracing(None if outer is None else _CompileTime(outer)):
        yield


@final
class _CompileTime(Trace):
    """Evaluates what is known, and leaves the rest to the trace around it."""

    __slots__ = ("_outer",)

    def __init__(self, outer: Trace) -> None:
        super().__init__()
        self._outer = outer

    def process(
        self, primitive: Any, operands: tuple[Any, ...], params: dict[str, Any]
    ) -> tuple[Any, ...]:
        known = not any(isinstance(x, Tracer) for x in operands)
        known = known and not primitive.axis_names_of(params)
        trace = None if known else self._outer
        return process_under(trace, primitive, operands, params)

    def describe(self) -> str:
        return self._outer.describe()

    def static_advice(self) -> str:
        return self._outer.static_advice()
