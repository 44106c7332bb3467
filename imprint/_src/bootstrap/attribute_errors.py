"""Errors of attributes that JAX or a similar library has and imprint lacks.

Python would suggest the most similar name (`sort`: "Did you mean: 'sqrt'?").
`explain_missing` for a module, and `unsupported_methods` for arrays, give the advice of
`diagnostics.unsupported` instead, which is imported only then. Both work at run time
alone: type checkers still report a missing name. A misspelt name keeps Python's own
message.
"""

import sys
from importlib import import_module
from opcode import opmap
from typing import Any, Final, NoReturn


def explain_missing(home: str) -> None:
    """Make the module `home` explain JAX names that it lacks."""

    def __getattr__(name: str) -> NoReturn:  # noqa: N807 - the module's own
        raise error_of(home, name)

    vars(sys.modules[home])["__getattr__"] = __getattr__


def error_of(home: str, name: str) -> AttributeError | ImportError:
    """Return the error of a name that a module has not; for its `__getattr__` to raise.

    The statement `from home import name` says "cannot import name" of each AttributeError,
    so it gets an ImportError, which passes.
    """
    if name[0] != "_":
        said = import_module("imprint._src.diagnostics.unsupported").advice(home, name)
        if said is not None:
            error = _absent(home, name, *said)
            asking = sys._getframe(1).f_back  # pyright: ignore[reportPrivateUsage] - the one way to know
            if asking and asking.f_code.co_code[asking.f_lasti] == _IMPORT_FROM:
                return ImportError(str(error), name=name)
            return error
    return AttributeError(f"module {home!r} has no attribute {name!r}")


_IMPORT_FROM: Final = opmap["IMPORT_FROM"]


def _absent(home: str, name: str, library: str, said: str) -> AttributeError:
    # With a name and without an object, Python has nothing to offer another name from.
    yet = "" if library == "NumPy" else " yet"
    text = f"{home}.{name} is not there{yet} ({library} has it). {said}"
    return AttributeError(text, name=name)


class UnsupportedMethod:
    """A method of JAX arrays; access raises an AttributeError with advice."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name: str = name

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        library, said = import_module("imprint._src.diagnostics.unsupported").advice(
            "Array", self.name
        )
        raise _absent("Array", self.name, library, said)


def unsupported_methods(cls: type, names: str) -> None:
    """Make instances of `cls` explain methods that they lack."""
    for name in names.split():
        setattr(cls, name, UnsupportedMethod(name))
