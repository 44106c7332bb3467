"""The modules under the name `jax`, made from the table at their first import.

The finder comes first in `sys.meta_path`, so it also hides an installed JAX. An attribute of a
module is looked up in the table at its first use.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

from imprint._src.as_jax.names import NAMES, SOURCES, VERSION
from imprint._src.core.user_code import adopt_no_packages

PAGE: Final = "docs/how-to/run-jax-programs.md"


class JaxModule(ModuleType):
    """A module of JAX's name whose attributes are imprint's objects."""

    def __getattr__(self, name: str) -> Any:
        value = find(self.__name__, name)
        if not name.startswith("__"):
            setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        names = {*vars(self), *NAMES.get(self.__name__, ())}
        for source in SOURCES.get(self.__name__, "").split():
            names.update(dir(load(source)))
        inner = self.__name__ + "."
        names.update(
            each.removeprefix(inner) for each in SOURCES if each.startswith(inner)
        )
        return sorted(name for name in names if "." not in name)


class Finder(Loader):
    """Finds the modules of the table, in place of an installed JAX."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of the table, and None for other names."""
        if name.partition(".")[0] != "jax":
            return None
        if name in SOURCES:
            return ModuleSpec(name, self, is_package=True)
        raise ModuleNotFoundError(absent(name), name=name)

    def create_module(self, spec: ModuleSpec) -> JaxModule:
        """Return a new module, without attributes."""
        return JaxModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Set the attributes that a module has from the start.

        Its file is this one: code that names its attributes depends on the library imprint.
        """
        vars(module)["__file__"] = __file__
        if module.__name__ in ("jax", "jax.version"):
            vars(module)["__version__"] = VERSION
            vars(module)["__version_info__"] = tuple(map(int, VERSION.split(".")))


def install() -> None:
    """Make `import jax` give imprint, in this process, from now on.

    Raises:
      ImportError: If JAX is imported already.
    """
    if any(isinstance(each, Finder) for each in sys.meta_path):
        return
    if "jax" in sys.modules:
        raise ImportError(
            "expected imprint.as_jax to be imported before JAX, and the real jax is "
            f"imported already ({sys.modules['jax'].__file__}). Make `import "
            "imprint.as_jax` the first line of the program, or run it by `python -m "
            "imprint.as_jax`."
        )
    adopt_no_packages()
    sys.meta_path.insert(0, Finder())


def load(place: str) -> Any:
    """Return the object at `module:attribute`, or the module."""
    module, _, attribute = place.partition(":")
    value = importlib.import_module(module)
    for part in attribute.split(".") if attribute else ():
        value = getattr(value, part)
    return value


def absent(name: str, why: str = "") -> str:
    """Return the message of the use of a name that imprint lacks."""
    text = f"{name} is missing: imprint, which stands in for JAX, does not have it"
    return f"{text}. {why or f'See {PAGE}.'}"


def find(home: str, name: str) -> Any:
    """Return the object of a module of JAX's name.

    Args:
        home: the module, such as `jax.numpy`.
        name: of the object.

    Raises:
        AttributeError: imprint lacks it.
    """
    full = f"{home}.{name}"
    place = NAMES.get(home, {}).get(name)
    if place:
        return load(place)
    if full in SOURCES:
        return importlib.import_module(full)
    why = ""
    for source in SOURCES.get(home, "").split():
        try:
            return getattr(load(source), name)
        except (AttributeError, ImportError) as err:
            why = str(err) if " has it)" in str(err) else why
    raise AttributeError(absent(full, why), name=name, obj=None)
