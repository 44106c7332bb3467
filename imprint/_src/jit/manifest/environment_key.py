"""The environment of a program, which must be the same in another process.

Python, NumPy, imprint's sources and its flags are in each key, with the engine and the
machine. Other libraries count by their distributions, which a manifest lists.
"""

import os
import sys
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, Final

import numpy as np

from imprint._src.config import Settings
from imprint._src.core.identity import module_name
from imprint._src.core.user_code import (
    entry,
    is_module,
    is_user_file,
    module_namespace,
)
from imprint._src.jit.manifest.file_digests import Stamps, stamp_of_code
from imprint._src.jit.manifest.not_cacheable import Refused, Why
from imprint._src.jit.manifest.shardings import plain_placement

_known: Final[Stamps] = {}


@cache
def environment_key() -> tuple[str, ...]:
    """Return what is the same for all programs of this process."""
    return (
        *("manifest 4", sys.version, f"optimize {sys.flags.optimize}"),
        *(f"numpy {np.__version__}", *_sources()),
    )


def _sources() -> list[str]:
    """Return when imprint's own files were written, and how long they are."""
    return sorted(_listed(str(Path(__file__).resolve().parents[3])))


def _listed(folder: str) -> list[str]:
    found: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                stat = entry.stat()
                found.append(f"{entry.path}: {stat.st_size} {stat.st_mtime_ns}")
            elif entry.name != "__pycache__" and entry.is_dir():
                found += _listed(entry.path)
    return found


def told(flags: Settings) -> list[Any]:
    """Return flags as plain data.

    Raises:
        Refused: one is of another process: a device, a mesh.
    """
    values = [getattr(flags, name) for name in Settings.__slots__]
    plain = bool, int, float, str
    return [x if type(x) in plain else plain_placement(x) for x in values]


def library_files(modules: set[str]) -> Stamps:
    """Return the files that tell whether libraries are as they are.

    A library counts with those that its modules name. Of a distribution it is `RECORD`;
    of a package without one, the files of the modules that are loaded.

    Args:
        modules: names of modules of libraries.

    Raises:
        Refused: a file was written since this process began, or is not there.
    """
    roots = {name.partition(".")[0] for name in modules}
    loaded: dict[str, list[Any]] = {}
    for name, module in (*sys.modules.items(),):
        if is_module(module):
            loaded.setdefault(name.partition(".")[0], []).append(module)
    queue = sorted(roots)
    files: set[str] = set()
    for root in queue:  # it grows
        if root in _COVERED or root in sys.stdlib_module_names:
            continue
        held = loaded.get(root, [])
        own = [f for f in map(_file_of, held) if f and not is_user_file(f)]
        record = next(filter(None, map(_record_of, own[:1])), None)
        files.update([record] if record else own)
        for module in held if own else ():
            for value in tuple(module_namespace(module).values()):
                name = _module_name(value)
                other = name.partition(".")[0]
                if other in loaded and other not in roots:
                    roots.add(other)
                    queue.append(other)
    found: Stamps = {}
    for file in sorted(files):
        try:
            found[file] = _known[file] = stamp_of_code(file, _known.get(file))
        except OSError:
            raise Refused(Why.VALUE, f"code of {file}, which is not there") from None
    return found


_COVERED: Final = ("imprint", "numpy", "jaxlib", "optree", "ml_dtypes")
"""Libraries whose releases are in each key."""


def _file_of(module: Any) -> str:
    file: Any = entry(module_namespace(module), "__file__")
    return file if type(file) is str else ""


def _module_name(value: Any) -> str:
    if is_module(value):
        return str(entry(module_namespace(value), "__name__"))
    if issubclass(type(value), type):
        return module_name(value)
    return str(value.__module__) if type(value) is FunctionType else ""


def _record_of(file: str) -> str | None:
    """Return the `RECORD` of the distribution of a file; None if there is none."""
    base, mark, inside = file.rpartition("-packages" + os.sep)
    folder = base + mark
    if not mark:
        return None
    root = inside.partition(os.sep)[0].partition(".")[0]
    return _records(folder).get(root.lower())


@cache
def _records(folder: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in os.listdir(folder):
        if name.endswith(".dist-info"):
            root = name.partition("-")[0].replace(".", "_").lower()
            found[root] = os.path.join(folder, name, "RECORD")
    return found
