"""A primitive with an observable effect: `tell` appends its operand to `HEARD`.

It has no result. Its reference appends, and its lowering calls back: a function of this
file that the engine knows as a target. `ordered` is a param; ordered ones pass a token.
"""

import ctypes

from jaxlib import _jax

from imprint._src.core.padding import PerSize
from imprint._src.core.primitive import Absent, Effect, EffectfulPrimitive
from imprint._src.stablehlo import TOKEN

HEARD = []
TARGET = "imprint_tests_tell"
EFFECTS = {flag: Effect("tell", ordered=flag) for flag in (False, True)}


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
def _called_back(_, operands):
    HEARD.append(ctypes.cast(operands[0], ctypes.POINTER(ctypes.c_float))[0])


def _register():
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    pointer = ctypes.cast(_called_back, ctypes.c_void_p)
    capsule = new(pointer, b"xla._CUSTOM_CALL_TARGET", None)
    _jax.register_custom_call_target(TARGET, capsule, "Host")


_register()


def _reference(x, *, ordered):
    HEARD.append(float(x))
    return ()


def _lower(b, x, *, ordered):
    head = f"stablehlo.custom_call @{TARGET}"
    if ordered:
        token = b.tokens["tell"]
        text = f"{head}({x.name}, {token.name}) {{has_side_effect = true}}"
        b.tokens["tell"] = b.op(text, TOKEN, f"({x.type}, {TOKEN}) -> {TOKEN}")
    else:
        text = f"{head}({x.name}) {{has_side_effect = true}}"
        b.op(text, x.type, f"({x.type}) -> {x.type}")
    return ()


def _jvp(primals, tangents, *, ordered):
    return tell_p.bind_all(*primals, ordered=ordered), ()


tell_p = EffectfulPrimitive(
    name="tell",
    effects=lambda *, ordered: frozenset({EFFECTS[ordered]}),
    aval=lambda x, *, ordered: (),
    reference=_reference,
    lower=_lower,
    jvp=_jvp,
    transpose=Absent("tell: expected no cotangent: it has no result"),
    batch=Absent("tell: expected one number, got a batch of them"),
    pad=PerSize("it prints"),
    samples=Absent("it is of the tests"),
)


def tell(x, *, ordered=True):
    """Append the float32 number `x` to `HEARD` when the program runs."""
    tell_p.bind_all(x, ordered=ordered)
