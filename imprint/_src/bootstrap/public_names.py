"""The public names of a module: those that `dir` lists and a star import takes.

A module also holds its submodules and its imports. They stay attributes, because
imports need them, but completion does not list them.
"""

import sys
from types import ModuleType
from typing import Any


def set_public_names(home: str, *, but: str = "") -> None:
    """Restrict `dir` and star imports of the module `home` to its public names.

    They are those of `__all__`. Without one, it becomes the list of all names except
    modules and names with an underscore in front.

    Args:
        home: the name of the module, with all names defined.
        but: an internal name.
    """
    held = vars(sys.modules[home])
    if "__all__" not in held:
        held["__all__"] = names_of(held, but)
    names: list[str] = held["__all__"]

    def __dir__() -> list[str]:  # noqa: N807 - the module's own
        return sorted(names)

    held["__dir__"] = __dir__


def names_of(held: dict[str, Any], *others: str) -> list[str]:
    """Return the public names of a module, sorted, without modules and `others`."""
    return sorted(
        name
        for name, value in held.items()
        if name[0] != "_" and name not in others and type(value) is not ModuleType
    )
