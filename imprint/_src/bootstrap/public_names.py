"""Which names of a module are public: those that `dir` lists and a star import takes.

A module holds more than it offers: its submodules, and what its code is written with.
They stay attributes, as imports need them; nobody is offered them by completion.
"""

import sys
from types import ModuleType
from typing import Any


def offer_public(home: str, *, but: str = "") -> None:
    """Let `dir` of the module `home`, and a star import from it, give public names only.

    They are those of `__all__`. A module without one offers all that it holds but modules
    and names with an underscore in front, and gets an `__all__` of these.

    Args:
        home: the name of the module, which has all its names by now.
        but: a name that only imprint itself asks for.
    """
    held = vars(sys.modules[home])
    if "__all__" not in held:
        held["__all__"] = names_of(held, but)
    names: list[str] = held["__all__"]

    def __dir__() -> list[str]:  # noqa: N807 - the module's own
        return sorted(names)

    held["__dir__"] = __dir__


def names_of(held: dict[str, Any], *others: str) -> list[str]:
    """Return the names that a module holds, in order, but those of modules and others."""
    return sorted(
        name
        for name, value in held.items()
        if name[0] != "_" and name not in others and type(value) is not ModuleType
    )
