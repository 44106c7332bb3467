"""Errors that `Module` raises.

Each message names the class and the field, and shows the missing line or the right call.
Errors of a frozen dataclass have its type, `dataclasses.FrozenInstanceError`.
"""

import dataclasses
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from imprint._src.core.array import Array
from imprint._src.errors import ArgumentError
from imprint._src.module.fields import Declaration
from imprint._src.module.methods import BoundMethod
from imprint._src.module.show import show_array
from imprint._src.tree import internal as tree


def assignment(module: Any, name: str) -> dataclasses.FrozenInstanceError:
    """Return the error of an assignment after `__init__`."""
    cls: Any = module.__class__
    if name not in cls.__declaration__.names:
        remedy = "Declare it as a field, and assign it in __init__."
    else:
        remedy = (
            f"Make a changed copy: imprint.tree_at(lambda m: m.{name}, module, value), "
            f"or imprint.replace(module, {name}=value)."
        )
    return dataclasses.FrozenInstanceError(
        f"{cls.__name__}.{name}: expected no assignment after __init__, for a module is "
        f"frozen then, got `module.{name} = ...`. {remedy}"
    )


def undeclared_field(
    module: Any, name: str, value: Any
) -> dataclasses.FrozenInstanceError:
    """Return the error of an assignment to an undeclared field."""
    cls: Any = module.__class__
    annotation, source = _annotation(value)
    bases = ", ".join([base.__name__ for base in cls.__bases__])
    where = f" ({source})" if source else ""
    return dataclasses.FrozenInstanceError(
        f"{cls.__name__}.{name}: expected every attribute to be declared as a field, got "
        f"`self.{name} = ...` in __init__ without a declaration. Add its line{where}:\n\n"
        f"    class {cls.__name__}({bases}):\n        {name}: {annotation}\n"
    )


def own_method(module: Any, name: str, method: BoundMethod) -> ArgumentError:
    """Return the error of a field that holds a method of its own module."""
    cls = type(module).__name__
    return ArgumentError(
        f"{cls}.{name}: expected a value that does not hold the module itself, got its "
        f"method {method.__name__}. Make {name} a property that returns self."
        f"{method.__name__}, which is no field and needs no declaration."
    )


def missing_fields(module: Any, declared: Declaration) -> ArgumentError:
    """Return the error of an `__init__` that sets no value for some fields."""
    cls = type(module).__name__
    missing = [repr(n) for n in declared.order if n not in vars(module)]
    return ArgumentError(
        f"{cls}.__init__: expected a value for each field, got none for "
        f"{_listed(missing)}. Assign to self in __init__, or give a default where the "
        "field is declared."
    )


def abstract_class(cls: Any, declared: Declaration) -> ArgumentError:
    """Return the error of an instance of an abstract class."""
    names = [f"{kind} {name!r}" for name, kind in declared.abstract]
    names += [f"method {name!r}" for name in sorted(cls.__abstractmethods__)]
    return ArgumentError(
        f"{cls.__name__}: expected a class that gives all that its bases left abstract, "
        f"got one without {_listed(names)}. Make an instance of a subclass that does."
    )


def check_static(module: Any, name: str, value: Any) -> None:
    """Raise ArgumentError if the value of a static field holds an array."""
    for path, leaf in tree.leaves_with_path(value):
        if isinstance(leaf, _ARRAYS):
            place = f"{type(module).__name__}.{name}{tree.keystr(path)}"
            raise ArgumentError(
                f"{place}: expected no array in a static field, for static values are "
                f"compared by each call, got {show_array(leaf)}. Leave static=True "
                f"out of the declaration of {name}: arrays are traced, as children."
            )


_ARRAYS: Final[Any] = (Array, np.ndarray)


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _annotation(value: Any) -> tuple[str, str]:
    """Return an annotation for a field with this value, and its import."""
    kind: Any = value.__class__
    if isinstance(value, Array):
        return "imprint.Array", ""
    if isinstance(value, np.ndarray):
        return "numpy.ndarray", ""
    if value is None:
        return "Any", "from typing import Any"
    if callable(value) and not hasattr(kind, "__declaration__"):
        return "Callable", "from collections.abc import Callable"
    return str(kind.__name__), ""
