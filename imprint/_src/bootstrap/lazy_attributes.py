"""Names of a module whose file loads at their first use.

`import imprint.numpy` loads only the files that every program needs. A table of the
module lists the other names and their files. For type checkers they are also imports
under `TYPE_CHECKING`; a test compares the two.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from imprint._src.bootstrap import attribute_errors, lazy_modules, public_names


def load_lazily(
    home: str, files: Mapping[str, str], *, faces: str = "", but: str = ""
) -> None:
    """Make names of other files attributes of the module `home`, loaded at first use.

    For other names it raises an AttributeError with advice.

    Args:
        home: the name of the module, with its eager names defined.
        files: the names in each module, separated by spaces; empty or a dot for the
            module itself, by its last name.
        faces: public submodules of `home`, separated by spaces.
        but: names of `home` that are internal, separated by spaces.
    """
    held = vars(sys.modules[home])
    places = {
        file.rpartition(".")[2] if name == "." else name: (file, name)
        for file, names in files.items()
        for name in names.split() or ["."]
    }

    def __getattr__(name: str) -> Any:  # noqa: N807 - the module's own
        if name not in places:
            raise attribute_errors.error_of(home, name)
        file, asked = places[name]
        with lazy_modules.loading():
            module = import_module(file)
        held[name] = module if asked == "." else getattr(module, name)
        return held[name]

    held["__getattr__"] = __getattr__
    held["__all__"] = sorted(
        {*public_names.names_of(held), *places, *faces.split()} - {*but.split()}
    )
    public_names.set_public_names(home)


def list_lazily(home: str, listed: Callable[[], Any]) -> None:
    """Compute `ALL` of the module `home` at its first use, because many files load for it."""
    held = vars(sys.modules[home])

    def __getattr__(name: str) -> Any:  # noqa: N807 - the module's own
        if name == "ALL":
            return held.setdefault(name, listed())
        raise AttributeError(f"module {home!r} has no attribute {name!r}")

    held["__getattr__"] = __getattr__
