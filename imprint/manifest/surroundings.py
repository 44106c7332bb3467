"""Surroundings: what is around a program, and must be the same in another process.

Python, NumPy, imprint's own sources and its flags are a part of each key, beside the engine
and the machine. Of other libraries the files count whose code ran.
"""

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from imprint.config import Settings
from imprint.core.libraries import (
    entry,
    is_module,
    is_own_file,
    is_user_file,
    module_namespace,
)
from imprint.manifest.placed import plain_placement
from imprint.manifest.refused import Refused, Why
from imprint.manifest.stamps import Stamps, stamp_of_code
from imprint.record.library_values import ENGINE

_known: Final[Stamps] = {}


@cache
def surroundings() -> tuple[str, ...]:
    """Return what is the same for all programs of this process."""
    return (
        *("manifest 3", sys.version, f"optimize {sys.flags.optimize}"),
        *(f"numpy {np.__version__}", *_sources()),
    )


def _sources() -> list[str]:
    """Return when imprint's own files were written, and how long they are."""
    return sorted(_listed(str(Path(__file__).resolve().parent.parent)))


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


def stamps(files: frozenset[str]) -> Stamps:
    """Return the stamps of the files of libraries whose code ran.

    Of a package all modules count that are there: one may have had what it gives worked
    out by another one when that was imported.

    Raises:
        Refused: there is no such file, or it was written since.
    """
    found: Stamps = {}
    for name in sorted(files | _beside(files)):
        if is_own_file(name) or _is_of_python(name):
            continue
        if is_user_file(name) or not os.path.isabs(name):
            raise Refused(Why.VALUE, f"code of {name}")
        try:
            found[name] = _known[name] = stamp_of_code(name, _known.get(name))
        except OSError:
            raise Refused(Why.VALUE, f"code of {name}, which is not there") from None
    return found


def _beside(files: frozenset[str]) -> frozenset[str]:
    """Return the files in Python of the packages of which some code ran."""
    held: list[tuple[str, str]] = []
    for name, module in (*sys.modules.items(),):
        file: Any = (
            entry(module_namespace(module), "__file__") if is_module(module) else 0
        )
        if type(file) is str and file.endswith(".py") and not is_user_file(file):
            held.append((name.partition(".")[0], file))
    roots = {root for root, file in held if file in files}
    roots -= {*ENGINE}
    return frozenset(file for root, file in held if root in roots)


def _is_of_python(name: str) -> bool:
    """Tell whether `sys.version` tells of a file, or it is a text of a library's."""
    return name.startswith("<") or (
        name.startswith(_STANDARD) and "-packages" not in name
    )


_STANDARD: Final = os.path.join(Path(os.__file__).parent, "")
