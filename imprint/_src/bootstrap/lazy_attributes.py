"""Names of a module that load the file they are written in when they are asked for.

`import imprint.numpy` takes as long as what every program needs. Which other names there
are, and in which file, stands in a table of the module, and for type checkers once more,
as imports under `TYPE_CHECKING`: a test holds them together.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from imprint._src.bootstrap import attribute_errors, lazy_modules, public_names


def load_lazily(
    home: str, files: Mapping[str, str], *, faces: str = "", but: str = ""
) -> None:
    """Offer what the module `home` holds, and the names that other files hold for it.

    What it has neither way is an AttributeError that says what to write instead.

    Args:
        home: the name of the module, which has all that loads with it by now.
        files: the names that each module holds, with a space between; none or a dot, where
            the module itself is asked for, by its last name.
        faces: which modules that `home` holds are offered too, with a space between.
        but: names of `home` that only imprint itself asks for, with a space between.
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
    public_names.offer_public(home)


def list_lazily(home: str, listed: Callable[[], Any]) -> None:
    """Let `ALL` of the module `home`, for which many files load, be listed when asked for."""
    held = vars(sys.modules[home])

    def __getattr__(name: str) -> Any:  # noqa: N807 - the module's own
        if name == "ALL":
            return held.setdefault(name, listed())
        raise AttributeError(f"module {home!r} has no attribute {name!r}")

    held["__getattr__"] = __getattr__
