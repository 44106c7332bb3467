"""Trees of arrays in files of the package `safetensors`, which other frameworks read.

A leaf has the name of its key path, with dots: `layers.0.weight`. The whole file is written
by the first process, so all arrays must be on the devices of each.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from imprint._src.array import host_of, to_array
from imprint._src.eager.device_put import device_put
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.tree import internal as tree

SUFFIX: Final = ".safetensors"
_NAMES: Final = {
    **{
        f"{kind}{bits}": f"{kind[0].upper()}{bits}"
        for kind in ("int", "uint")
        for bits in (8, 16, 32, 64)
    },
    **{f"float{bits}": f"F{bits}" for bits in (16, 32, 64)},
    "bool": "BOOL",
    "bfloat16": "BF16",
    "complex64": "C64",
}
"""The names of dtypes in a file."""


def save(path: Path, values: Any) -> None:
    """Write a tree of arrays to a file, which gets its name when it is whole.

    Raises:
        ArgumentError: there is something at `path`, two leaves have one name, or a dtype
            has none in such files.
        ImportError: safetensors is not installed.
    """
    _package()
    if path.exists():
        raise ArgumentError(
            f"save: expected a file that is not there yet, got {str(path)!r}. Save to "
            "another, or delete it first."
        )
    found: dict[str, Any] = {}
    for keys, leaf in tree.leaves_with_path(values):
        name, x = _name(keys), to_array(leaf)
        if name in found or x.dtype.name not in _NAMES:
            why = f"two called {name!r}" if name in found else f"{name!r} of {x.dtype}"
            raise ArgumentError(
                f"save: expected leaves of different names and of dtypes that "
                f"safetensors has, got {why}. Save to a folder instead."
            )
        found[name] = np.ascontiguousarray(host_of(x)).reshape(x.shape)
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        import_module("safetensors.numpy").save_file(found, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def load(path: Path, like: Any, shardings: Any) -> Any:
    """Read a tree of arrays from a file.

    Raises:
        ArgumentError: the file cannot be read, or has other leaves than `like`.
        ShapeError: a leaf has another shape or dtype than that of `like`.
        ImportError: safetensors is not installed.
    """
    package = _package()
    try:
        saved = dict(package.deserialize(path.read_bytes()))
    except (OSError, package.SafetensorError) as err:
        raise ArgumentError(
            f"load: expected a file that safetensors reads, got {str(path)!r}: {err}. "
            "Check the path."
        ) from err
    pairs = tree.leaves_with_path(like)
    names = [_name(keys) for keys, _ in pairs]
    other = sorted({*saved} ^ {*names})
    if other:
        raise ArgumentError(
            f"load: expected like to have the leaves of the file, got another tree: they "
            f"differ in {other[0]!r}. Give a tree of the same structure."
        )
    asked = tree.broadcast_prefix(shardings, like, lambda leaf: leaf is None)
    made = [
        _read(name, saved[name], leaf, want)
        for name, (_, leaf), want in zip(names, pairs, asked, strict=True)
    ]
    return tree.unflatten(tree.structure(like), made)


def _read(name: str, saved: dict[str, Any], like: Any, want: Any) -> Any:
    dtype, shape = np.dtype(like.dtype), tuple(saved["shape"])
    if saved["dtype"] != _NAMES.get(dtype.name) or shape != tuple(like.shape):
        raise ShapeError(
            f"load: expected {name} to be {saved['dtype']}{list(shape)}, as in the file, "
            f"got {dtype.name}{list(like.shape)} in like. Give arrays of the shapes and "
            "dtypes that were saved."
        )
    values = np.frombuffer(saved["data"], dtype).reshape(shape)
    return device_put(
        values, want if want is not None else getattr(like, "sharding", None)
    )


def _name(keys: tuple[Any, ...]) -> str:
    return tree.keystr(keys, simple=True, separator=".")


def _package() -> Any:
    try:
        return import_module("safetensors")
    except ImportError as err:
        raise ImportError(
            f"save and load: expected the package safetensors for a file that ends with "
            f"{SUFFIX}, got none. `pip install 'imprint[safetensors]'`."
        ) from err
