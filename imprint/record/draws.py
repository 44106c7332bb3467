"""Draws: did NumPy's global generator give numbers while a function was traced?

They would be constants of its program. The state of the generator is read, at 30 µs, only
where the code of the function mentions `random`; what other functions draw goes unseen.
"""

import sys
from types import CodeType
from typing import Any

from imprint.record.bytecode import inner_codes

State = tuple[Any, ...]


def state_of_draws(fun: Any) -> State | None:
    """Return the state of NumPy's generator; None if a function mentions no `random`.

    While nobody has loaded `numpy.random` there is no generator, and its state is ().
    """
    code = getattr(getattr(fun, "__func__", fun), "__code__", None)
    if not isinstance(code, CodeType) or not _mentions_random(code):
        return None
    random = sys.modules.get("numpy.random")
    if random is None:
        return ()
    kept: Any = random.get_state(legacy=False)
    state = kept["state"]
    inner = [v.tobytes() if hasattr(v, "tobytes") else v for v in state.values()]
    return kept["bit_generator"], *inner, kept["has_gauss"]


def _mentions_random(code: CodeType) -> bool:
    return "random" in code.co_names or any(map(_mentions_random, inner_codes(code)))
