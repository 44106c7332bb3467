"""The environment of a trace: files, library versions, Python, NumPy and imprint itself.

Python, NumPy, imprint's sources and its settings are in each key. Other libraries count by
their distributions, which a manifest lists as files with digests. A file is read again
only if its length or times changed. Archives and installers restore the time of writing,
but cannot set the time of change. A file that was just written is compared by its bytes.
"""

import os
import sys
import time
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import zip_longest
from pathlib import Path
from types import FunctionType
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src.core import user_code
from imprint._src.core.identity import module_name
from imprint._src.core.user_code import (
    entry,
    is_module,
    is_user_file,
    module_namespace,
)
from imprint._src.jit.manifest.not_cacheable import DECLARED, NotCacheable, Reason


@cache
def environment_key() -> tuple[str, ...]:
    """Return the part of all keys that is constant in a process."""
    return (
        "manifest 6",
        sys.version,
        f"optimize {sys.flags.optimize}",
        f"numpy {np.__version__}",
        *_sources(str(Path(__file__).resolve().parents[3])),
    )


def _sources(folder: str) -> list[str]:
    """Return length and time of imprint's own files."""
    found: list[str] = []
    with os.scandir(folder) as entries:
        for each in entries:
            if each.name.endswith(".py"):
                stat = each.stat()
                found.append(f"{each.path}: {stat.st_size} {stat.st_mtime_ns}")
            elif each.name != "__pycache__" and each.is_dir():
                found += _sources(each.path)
    return sorted(found)


# ---- files ----


class Stamp(NamedTuple):
    """The state of a file.

    Args:
        digest: of its bytes.
        size: its length; -1 if it was just written, so length and times prove nothing.
        written: when its bytes were last written.
        changed: when its bytes or attributes last changed.
    """

    digest: str
    size: int
    written: int
    changed: int


Stamps = dict[str, Stamp]


def stamp_of(path: str, before: Stamp | None = None) -> Stamp:
    """Return the stamp of a file, the earlier one if that still holds; or OSError."""
    if before is not None:
        now = os.stat(path)  # a `Path` takes 5 times as long
        if before[1:] == (now.st_size, now.st_mtime_ns, now.st_ctime_ns):
            return before
    with open(path, "rb") as file:
        about = os.fstat(file.fileno())
        content = blake2b(digest_size=16)
        while part := file.read(1 << 20):
            content.update(part)
    latest = max(about.st_mtime_ns, about.st_ctime_ns)
    size = about.st_size if latest < time.time_ns() - _SETTLED else -1
    return Stamp(content.hexdigest(), size, about.st_mtime_ns, about.st_ctime_ns)


_SETTLED: Final = 2_000_000_000
"""Clocks of file systems are coarse: writes to a younger file may keep its time."""


def stamp_of_code(path: str, before: Stamp | None = None) -> Stamp:
    """Return the stamp of a file whose code runs here; OSError or NotCacheable."""
    stamp = stamp_of(path, before)
    if max(stamp.written, stamp.changed) > user_code.BEGAN:
        culprit = f"the file {path} was written after this process began"
        raise NotCacheable(Reason.RECORDER, culprit)
    return stamp


def changed_file(stamps: Mapping[str, Any]) -> str:
    """Return the first file that changed or is gone; "" if none did."""
    for path, plain in stamps.items():
        stamp = Stamp(*plain)
        try:
            if stamp_of(path, stamp).digest != stamp.digest:
                return path
        except OSError:
            return path
    return ""


# ---- libraries ----


def library_files(modules: set[str]) -> Stamps:
    """Return the files whose digests identify the versions of libraries.

    A library counts with the libraries that its modules name. The file of a distribution
    is its `RECORD`; of a package without one, the files of its loaded modules.

    Args:
        modules: names of modules of libraries.

    Raises:
        NotCacheable: a file was written since this process began, or is gone.
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
                other = _module_name(value).partition(".")[0]
                if other in loaded and other not in roots:
                    roots.add(other)
                    queue.append(other)
    found: Stamps = {}
    for file in sorted(files):
        try:
            found[file] = _known[file] = stamp_of_code(file, _known.get(file))
        except OSError:
            culprit = f"code of {file}, which is not there"
            raise NotCacheable(Reason.VALUE, culprit) from None
    return found


_known: Final[Stamps] = {}
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
    if not mark:
        return None
    root = inside.partition(os.sep)[0].partition(".")[0]
    return _records(base + mark).get(root.lower())


@cache
def _records(folder: str) -> dict[str, str]:
    found: dict[str, str] = {}
    try:
        names = os.listdir(folder)
    except OSError:  # it was imported from elsewhere, as from an archive
        return {}
    for name in names:
        if name.endswith(".dist-info"):
            root = name.partition("-")[0].replace(".", "_").lower()
            found[root] = os.path.join(folder, name, "RECORD")
    return found


# ---- declarations of the user ----


def declare_file(path: str) -> None:
    """Add a file that results are made from; OSError if it cannot be read."""
    DECLARED.files[path] = stamp_of(path)


def declared_files() -> Stamps:
    """Return the declared files as they are now; NotCacheable if one is gone."""
    files: Stamps = DECLARED.files
    for path, stamp in (*files.items(),):
        try:
            files[path] = stamp_of(path, stamp)
        except OSError:
            culprit = f"the file {path}, which is not there"
            raise NotCacheable(Reason.VALUE, culprit) from None
    return {**files}


def declarations_of(
    pure: set[str], own: Iterable[str], before: Stamps
) -> dict[str, Any]:
    """Return the declarations that a trace relies on, as plain data.

    Args:
        pure: the names of declared objects that its values contain.
        own: user files in C that define such objects.
        before: the declared files when it began.

    Raises:
        NotCacheable: a file changed meanwhile, or since this process began.
    """
    known = {**DECLARED.files, **before}
    files = declared_files()
    for path, stamp in known.items():
        if files[path].digest != stamp.digest:
            culprit = f"the file {path}, which was written while it was traced"
            raise NotCacheable(Reason.VALUE, culprit)
    files |= {path: stamp_of_code(path) for path in own}
    values = [*DECLARED.values.items()]
    return {"assumed": sorted(pure), "files": files, "values": values}


def adopt_files(plain: Mapping[str, Any]) -> None:
    """Declare the files of a manifest that is used."""
    stamps = {path: Stamp(*stamp) for path, stamp in plain["files"].items()}
    DECLARED.files.update(stamps)


def declaration_mismatch(plain: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return the first declaration that differs: its name, its text before and now."""
    for name in plain["assumed"]:
        if name not in DECLARED.names:
            return f"what is assumed of {name}", "", ""
    values = DECLARED.values.items()
    for was, now in zip_longest(plain["values"], values, fillvalue=("", "")):
        if was[0] != now[0]:
            return "the value that depends_on was given", was[1], now[1]
    then = plain["files"]
    missing = (path for path in DECLARED.files if path not in then)
    file = next(missing, "") or changed_file(then)
    return (f"the file {file}", "", "") if file else None
