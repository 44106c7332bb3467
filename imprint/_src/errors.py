"""The exceptions of imprint.

Each class subclasses the builtin that a JAX or NumPy user would catch in its place;
where those libraries raise one of two builtins for the same mistake, it subclasses
both. A class docstring says when it is raised and how to react. A message says the
expectation, the actual value, and the remedy, in this order. `did_you_mean` is the last
part of a message about an unknown name.
"""

import re
import sys
from collections.abc import Iterable
from difflib import get_close_matches  # free: optree imports it too
from inspect import unwrap
from types import CodeType
from typing import Any, Final

__all__ = [
    "AbsentRuleError",
    "ArgumentError",
    "AxisError",
    "BackendError",
    "BackendWarning",
    "CaptureWarning",
    "CheckError",
    "CompileError",
    "ConcretizationError",
    "ConcretizationTypeError",
    "ConfigError",
    "DTypeError",
    "DeletedArrayError",
    "IndivisibleError",
    "InternalError",
    "NonConcreteBooleanIndexError",
    "NonConcreteSliceError",
    "NonFiniteError",
    "NotDifferentiableError",
    "PromotionError",
    "RecompileError",
    "RecompileWarning",
    "ShapeError",
    "StaleVersionError",
    "StoreWarning",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "TreeError",
    "UnboundAxisError",
    "UndefinedRuleError",
    "UnexpectedTracerError",
    "did_you_mean",
]

# ---- who was called ----


class _Called(Exception):  # noqa: N818 - no error by itself
    """An error whose message begins with the public function that the user called.

    Array functions call each other, and a fault is often found by an inner one.
    """

    def __init__(self, message: object = "", *more: object) -> None:
        text = _of_called(message) if isinstance(message, str) else message
        super().__init__(text, *more)


def _of_called(message: str) -> str:
    lead, _, rest = message.partition(": expected ")
    if message.startswith("expected "):
        lead, rest = "", message.removeprefix("expected ")
    if not rest or (lead and not _NAME.fullmatch(lead)):
        return message
    found = _called()
    if found is None:
        return message
    name, code, face = found
    if face.startswith("imprint.numpy"):
        rest = rest.replace(", or call imprint.numpy, which promotes", "")
    if lead.rpartition(".")[2] == name.rpartition(".")[2]:
        return f"{lead}: expected {rest}"
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    argument = f"{lead}: " if lead in arguments else ""
    return f"{name}: {argument}expected {rest}"


def _called() -> tuple[str, CodeType, str] | None:
    """Return the outermost public function of arrays, its code, and who offers it."""
    found = None
    frame = sys._getframe(3)  # pyright: ignore[reportPrivateUsage] - the one way to know
    while frame is not None:
        home: object = frame.f_globals.get("__name__")
        if not isinstance(home, str) or not home.startswith("imprint."):
            break
        code = frame.f_code
        if code.co_qualname == code.co_name:  # no method, and in no other function
            found = _public_name(home, code) or found
        frame = frame.f_back
    return found


def _public_name(home: str, code: CodeType) -> tuple[str, CodeType, str] | None:
    for face in _faces(home):
        name, held = code.co_name, vars(sys.modules.get(face, sys))
        value: Any = held.get(name)
        value = unwrap(value) if hasattr(value, "__wrapped__") else value
        above, _, own = face.rpartition(".")
        is_of_stats = above == _STATS and name[0] != "_"
        if getattr(value, "__code__", None) is code and (
            is_of_stats or name in held.get("__all__", ())
        ):
            prefix = _PREFIXES.get(face, f"{own}." if is_of_stats else "")
            return prefix + name, code, face
    return None


def _faces(home: str) -> list[str]:
    """Return the modules that may offer a name written in another, the nearest first."""
    if home.startswith(_BELOW_LAX):
        return ["imprint.lax"]
    parts = home.replace("._src.", ".").split(".")
    faces = [".".join(parts[:n]) for n in range(len(parts), 1, -1)]
    return faces if parts[1] in _OF_ARRAYS else []


_NAME: Final = re.compile(r"[A-Za-z_][\w.]*")
_BELOW_LAX: Final = ("imprint._src.primitives.", "imprint._src.control_flow.")
_OF_ARRAYS: Final = ("image", "lax", "nn", "numpy", "ops", "random", "scipy")
_STATS: Final = "imprint.scipy.stats"
_PREFIXES: Final = {
    "imprint.numpy.fft": "fft.",
    "imprint.numpy.linalg": "linalg.",
    "imprint.scipy.linalg": "scipy.linalg.",
}

# ---- tracing ----


class JAXTypeError(TypeError):
    """A wrong use of a traced value; JAX's base class, for `except`. A `TypeError`."""


class JAXIndexError(IndexError):
    """A wrong use of a traced index; JAX's base class, for `except`. An `IndexError`."""


class ConcretizationError(_Called, JAXTypeError):
    """A traced value was used where Python needs a concrete one. A `TypeError`.

    Raised by `if`, `while`, `and`, `in`, `min`, `int`, `float`, indexing a list, a key
    of a dict, a format and NumPy functions on a tracer. The message names the construct
    and its replacement. Or make the argument static (`static_argnums`).
    """


# JAX has a class for each conversion and users catch them by these names. One class
# serves: the remedy differs by message, never by handler.
ConcretizationTypeError = ConcretizationError
TracerBoolConversionError = ConcretizationError
TracerIntegerConversionError = ConcretizationError
TracerArrayConversionError = ConcretizationError


class NonConcreteBooleanIndexError(ConcretizationError, JAXIndexError):
    """A traced boolean mask was used as an index. An `IndexError`.

    The number of selected elements would be the shape of the result, which must be known
    while tracing. Use the three-argument `imprint.numpy.where`.
    """


class NonConcreteSliceError(ConcretizationError, JAXIndexError):
    """A slice begins, ends or steps by a traced value. An `IndexError`.

    The length of the result must be known while tracing. Where it is, use
    `imprint.lax.dynamic_slice`.
    """


class UnexpectedTracerError(JAXTypeError):
    """A tracer was used after the trace that made it had ended. A `TypeError`.

    It left the traced function by a side effect: a global, an attribute, a list. Return
    the value from the function instead. `check_tracer_leaks` finds where it left.
    """


class UnboundAxisError(NameError):
    """A collective names an axis that nothing maps here. A `NameError`.

    The message lists the names that are bound. Name the axis where it is mapped:
    `imprint.vmap(f, axis_name=...)`.
    """


# ---- arguments ----


class ArgumentError(_Called, TypeError, ValueError):
    """A call got a bad argument. A `TypeError` and a `ValueError`.

    Raised for a wrong number of arguments, a leaf that is no array or scalar, a static
    argument that cannot be hashed, and options that contradict each other. The message
    names the argument by its path.
    """


class ShapeError(_Called, TypeError, ValueError):
    """Shapes or axes do not fit the operation. A `TypeError` and a `ValueError`.

    The message shows the avals. Reshape, broadcast or choose another axis.
    """


class IndivisibleError(ShapeError):
    """A mesh cannot split an axis into equal parts. A `ShapeError` and `ValueError`.

    The message names the axis, its length and the mesh axes. Pad the array, or split
    another axis.
    """


class AxisError(ShapeError, IndexError):
    """An axis is out of range, or an index of `lax`. A `ShapeError` and `IndexError`.

    Count axes from 0, or from the end with negative numbers.
    """


class DTypeError(_Called, TypeError, ValueError):
    """A dtype does not fit the operation. A `TypeError` and a `ValueError`.

    Convert the operand with `.astype`, or choose an operation that takes its dtype.
    """


class PromotionError(DTypeError):
    """Operands have no common dtype. A `TypeError` and a `ValueError`.

    Raised for dtypes that never promote implicitly (`float8_*`, `int4`, …), and for every
    mixture under `numpy_dtype_promotion="strict"`. Convert one side with `.astype`.
    """


class TreeError(TypeError, ValueError):
    """Two pytrees differ in structure, or one is none. A `TypeError` and a `ValueError`.

    The message names the key path of the first difference, and both sides.
    """


# ---- transforms ----


class NotDifferentiableError(TypeError, ValueError):
    """A derivative that does not exist was requested. A `TypeError` and a `ValueError`.

    Raised for integer or boolean inputs of `grad`, for a result that is not a real
    scalar, and for reverse mode through a loop of unknown length.
    """


class UndefinedRuleError(AttributeError):
    """A function with a derivative of its own was called before that was defined.

    An `AttributeError`. Define the rule: `f.defjvp` of a `custom_jvp`, `f.defvjp` of a
    `custom_vjp`.
    """


class AbsentRuleError(NotImplementedError):
    """A primitive lacks the rule that a transform needs. A `NotImplementedError`.

    The primitive states why the rule cannot exist; the message repeats it.
    """


# ---- engine ----


class BackendError(RuntimeError):
    """No such backend or device, or it cannot be started. A `RuntimeError`.

    The message lists the ones that are available.
    """


class CompileError(RuntimeError):
    """XLA refused the program or an option for compiling it. A `RuntimeError`.

    Check `compiler_options` first: everything else in the program was written by us.
    """


class RecompileError(RuntimeError):
    """A function needs more versions than it was allowed. A `RuntimeError`.

    Raised inside `max_compiles`, and where `max_versions` is reached and
    `on_limit="error"`. The message names the function and what differs; `explanation` is
    the `Explanation` of the call, or None. It is left out of a pickle, as it holds code.
    """

    def __init__(self, message: str, *, explanation: Any = None) -> None:
        super().__init__(message)
        self.explanation = explanation

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, {**vars(self), "explanation": None}


class StaleVersionError(RuntimeError):
    """A cached version differs from a fresh trace. A `RuntimeError`.

    Raised while `audit` is on. The message shows where the two programs differ, and the
    dependency that the version misses; `cached` and `fresh` are the texts of both
    jaxprs, the second None if the fresh trace failed. The version is gone, so the next
    call is right.
    """

    def __init__(
        self, message: str, *, cached: str = "", fresh: str | None = None
    ) -> None:
        super().__init__(message)
        self.cached: str = cached
        self.fresh: str | None = fresh


class BackendWarning(UserWarning):
    """A GPU of this machine computes nothing, as its plug-in is missing. A `UserWarning`.

    Or it is another release's. The message has the command that installs the right one.
    Given once a process, when the CPU starts and no device is named; where warnings are
    errors it is logged instead.
    """


class CaptureWarning(UserWarning):
    """A compiled function captured a value instead of taking it. A `UserWarning`.

    A large array is copied when the function is traced, and later writes into it are
    not seen. Or the names of a function reach more values than are tracked. Pass the
    value, or the part that you need, as an argument. Given once a function and value.
    """


class RecompileWarning(UserWarning):
    """One function was compiled many times for the same reason. A `UserWarning`.

    The message names the value that keeps changing and the edit that stops it. It is
    given once a function, after its eighth compilation.
    """


class StoreWarning(UserWarning):
    """Compiled programs cannot be kept on the disk, or not be read. A `UserWarning`.

    The call still works: the program is compiled. The message names the file or folder,
    the fault, and the remedy. Given once a process and kind of trouble; where warnings
    are errors it is logged instead.
    """


class DeletedArrayError(RuntimeError):
    """An array was used after its buffer was deleted or donated. A `RuntimeError`.

    Use the result of the call that took the buffer, or do not donate the argument.
    """


class NonFiniteError(FloatingPointError):
    """`debug_nans` or `debug_infs` found a NaN or an infinity. A `FloatingPointError`.

    The message names the operation that made it first. Both flags are off by default.
    """


class CheckError(RuntimeError, ValueError):
    """A check failed while a program ran. A `RuntimeError`, a `ValueError`.

    The message is the user's; a note has the location of the check.
    """


class KeyReuseError(RuntimeError):
    """A key of `imprint.random` is used twice, with `debug_key_reuse`. A `RuntimeError`.

    The message names both lines. Split the key first, or pass a clone of it.
    """


# ---- config ----


class ConfigError(ValueError, AttributeError):
    """A flag does not exist, or not with that value. A `ValueError`, an `AttributeError`.

    The message lists the values that the flag takes, and names the environment variable
    if the value came from one.
    """


# ---- our own fault ----


class InternalError(RuntimeError):
    """imprint broke one of its own invariants. A `RuntimeError`.

    It is a bug of imprint and never of the caller. Please report it with the jaxpr that
    the error shows.
    """

    def __init__(self, message: str, *, jaxpr: object = None) -> None:
        super().__init__(message)
        self.jaxpr: str | None = None if jaxpr is None else str(jaxpr)
        self.add_note("This is a bug in imprint. Please report it with this traceback.")
        if self.jaxpr is not None:
            self.add_note(f"It happened in this jaxpr:\n{self.jaxpr}")


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the choice nearest to `name`, or "" if none is near.

    The leading space lets a message append it without asking whether there is one.

    Args:
        name: the name that is unknown.
        choices: the names that are known.

    Returns:
        The question, with a leading space, or "".
    """
    nearest = get_close_matches(name, list(choices), n=1, cutoff=0.6)
    return f" Did you mean {nearest[0]!r}?" if nearest else ""


# Tracebacks name the place to import from.
for _name in __all__:
    globals()[_name].__module__ = "imprint.errors"
