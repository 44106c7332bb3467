"""Modules of imprint that run at their first use.

A warm start traces nothing, so it would load a third of imprint in vain, 30 ms. A
module of the packages in `_LAZY` is found by `from package import module` and runs at
the first `module.name`; `from package.module import name` runs it at once. Before
Python 3.12 `importlib.util.LazyLoader` lets two threads run a module twice, and it
takes 4 ms to import. A thread waits for another one that runs the module; imports have
no cycles, so threads do not wait for each other.
"""

import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock, get_ident
from types import ModuleType
from typing import Any, Final, cast, final

_LAZY: Final = (
    *(
        "imprint._src.control_flow.",
        "imprint._src.jit.explain.",
        "imprint._src.passes.",
        "imprint._src.jit.guards.",
    ),
    *("imprint._src.stablehlo.", "imprint._src.interpreters."),
)

LOADING: Final[set[int]] = set()
"""The threads that run a module of imprint; such calls are not part of a trace."""


@final
class _Finder:
    """Finds the modules that run later."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(_LAZY):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec and spec.loader and spec.parent != name:  # a package runs at once
            spec.loader = cast("Any", _LazyLoader(spec.loader))
        return spec


@final
class _LazyLoader:
    """Leaves it to a module to run itself."""

    def __init__(self, loader: Any) -> None:  # `importlib.abc` takes 4 ms
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _LazyModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        spec: Any = module.__spec__
        spec.loader = module.__loader__ = self._loader
        vars(module)["__lock__"] = RLock()


class _LazyModule(ModuleType):
    """A module that has not run; its import attributes are available."""

    def __getattribute__(self, name: str) -> Any:
        if name[:2] != "__" or name == "__all__":
            _run(self)
        return ModuleType.__getattribute__(self, name)

    def __dir__(self) -> Iterable[str]:
        _run(self)
        return ModuleType.__dir__(self)


def _run(module: ModuleType) -> None:
    """Run a module, if it has not run, and does not; then it is like any other."""
    held = module.__dict__
    with held["__lock__"]:
        if type(module) is ModuleType or "__runs__" in held:
            return
        held["__runs__"] = True
        try:
            with loading():
                held["__spec__"].loader.exec_module(module)
        finally:
            del held["__runs__"]
        module.__class__ = ModuleType


@contextmanager
def loading() -> Generator[None]:
    """Say that this thread runs a module of imprint's, however deep in a trace."""
    thread, is_outer = get_ident(), get_ident() not in LOADING
    LOADING.add(thread)
    try:
        yield
    finally:
        if is_outer:
            LOADING.discard(thread)


sys.meta_path.insert(0, _Finder())
