"""A check in all tests: functions of imprint promote no ranks of their own.

Under `numpy_rank_promotion="raise"` a function may refuse only what its caller passed. So
whenever operands have different ranks, whatever the flag, the function that refuses them
must be the one that code outside of imprint called.
"""

import sys
from pathlib import Path

import imprint
from imprint._src.core.aval import get_aval
from imprint._src.numpy import promotion

ROOT = str(Path(imprint.__file__).parent) + "/"
SOURCES = f"{ROOT}_src/"
# Files through which a call of the user passes on its way to a function.
BETWEEN = tuple(
    SOURCES + name
    for name in (
        "bootstrap/",
        "core/",
        "custom_derivatives/",
        "diagnostics/",
        "eager/",
        "interpreters/",
        "jit/",
        "numpy/array_function.py",
        "numpy/elementwise/ufunc.py",
        "numpy/keys.py",
        "primitives/copying.py",
        "random/key_array.py",
    )
)


def refuse_own_promotion():
    """Let each promotion of ranks inside of imprint raise AssertionError."""
    inner = promotion._on_rank_promotion

    def on_rank_promotion(name, args):
        called = _called_by_user()
        shapes = [get_aval(x).shape for x in args]
        assert called.startswith(name.split(".")[-1]), (
            f"{called} calls {name} of {shapes}: a function promotes no ranks of its own"
        )
        inner(name, args)

    promotion._on_rank_promotion = on_rank_promotion


def _called_by_user():
    """Return the name of the function that code outside of imprint called."""
    frame, name = sys._getframe(2), "nothing"
    while frame is not None and frame.f_code.co_filename.startswith(ROOT):
        if not frame.f_code.co_filename.startswith(BETWEEN):
            name = frame.f_code.co_name
        frame = frame.f_back
    return "vectorized" if name == "call" else name  # of a ufunc that maps a function
