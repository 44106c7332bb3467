"""Trees of arrays on the disk, of which each part is a file of its own.

A saved tree is a folder: `manifest.json` says the path, shape and dtype of each leaf, and
which file holds which part of it; a file is the bytes of a part. Plain files, because any
program can read them, and nothing is needed to. A tree is read in any layout: each device
reads what its part overlaps with, so nobody holds a whole array. The folder gets its name
when all is written.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from imprint import tree
from imprint.array import ArrayImpl, from_host, host_of, shards_of, to_array
from imprint.core.aval import ShapedArray, get_aval
from imprint.errors import ArgumentError, ShapeError
from imprint.placement import device_put
from imprint.sharding.context import resolved
from imprint.sharding.named import Index, NamedSharding
from imprint.shards import make_array_from_callback

_FORMAT: Final = 1


def save(path: str | Path, values: Any) -> None:
    """Write a tree of arrays to a folder; see `imprint.sharding.save`."""
    target = Path(path)
    if target.exists():
        raise ArgumentError(
            f"save: expected a folder that is not there yet, got {str(target)!r}. Save to "
            "another, or delete it first."
        )
    making = target.with_name(f"{target.name}.part")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    leaves = [
        _written(making, number, tree.keystr(keys), to_array(leaf))
        for number, (keys, leaf) in enumerate(tree.leaves_with_path(values))
    ]
    manifest = {"format": _FORMAT, "leaves": leaves}
    (making / "manifest.json").write_text(json.dumps(manifest, indent=1))
    making.rename(target)


def _written(folder: Path, number: int, name: str, x: ArrayImpl) -> dict[str, Any]:
    """Write the parts of a leaf; return what the manifest says of it."""
    parts: list[dict[str, Any]] = []
    for shard in shards_of(x):
        if shard.replica_id:
            continue
        file = f"{number}.{len(parts)}.bin"
        own = np.ascontiguousarray(host_of(shard.data))
        (folder / file).write_bytes(own.tobytes())
        parts.append({"file": file, "index": _bounds(shard.index, x.shape)})
    weak = x.aval.weak_type
    about = {"shape": list(x.shape), "dtype": x.dtype.name, "weak_type": weak}
    return {"name": name, **about, "parts": parts}


def load(path: str | Path, like: Any, shardings: Any = None) -> Any:
    """Read a tree of arrays that `save` wrote; see `imprint.sharding.load`."""
    folder = Path(path)
    saved = _manifest(folder)
    pairs = tree.leaves_with_path(like)
    names = [tree.keystr(keys) for keys, _ in pairs]
    if [*saved] != names:
        other = [*({*saved} ^ {*names})] or names
        raise ArgumentError(
            f"load: expected like to have the leaves that were saved, got another tree: "
            f"they differ in {sorted(other)[0] or 'the root'!r}. Give a tree of the same structure."
        )
    asked = tree.broadcast_prefix(shardings, like, lambda leaf: leaf is None)
    made = [
        _read(folder, saved[name], get_aval(leaf), want)
        for name, (_, leaf), want in zip(names, pairs, asked, strict=True)
    ]
    return tree.unflatten(tree.structure(like), made)


def _manifest(folder: Path) -> dict[str, dict[str, Any]]:
    try:
        found = json.loads((folder / "manifest.json").read_text())
        assert found["format"] == _FORMAT
        return {leaf["name"]: leaf for leaf in found["leaves"]}
    except (OSError, ValueError, KeyError, AssertionError) as err:
        raise ArgumentError(
            f"load: expected a folder that imprint.sharding.save wrote, got "
            f"{str(folder)!r} without a manifest that can be read. Check the path."
        ) from err


def _read(folder: Path, saved: dict[str, Any], like: ShapedArray, want: Any) -> Any:
    """Read a leaf, spread as is wanted, or as that which it is like."""
    shape, dtype = tuple(saved["shape"]), np.dtype(like.dtype)
    if shape != like.shape or saved["dtype"] != dtype.name:
        raise ShapeError(
            f"load: expected{saved['name'] and ' ' + saved['name']} to be "
            f"{saved['dtype']}{list(shape)}, as it was saved, got {like}. Give arrays of "
            "the shapes and dtypes that were saved."
        )
    over = resolved("load", want if want is not None else like.sharding)

    def part(index: Index) -> Any:
        return _assembled(folder, saved, _bounds(index, shape), dtype)

    if isinstance(over, NamedSharding):
        return make_array_from_callback(shape, over, part, dtype)
    whole = part(tuple([slice(None)] * len(shape)))
    made = from_host(ShapedArray(shape, dtype, saved["weak_type"]), whole)
    return made if want is None else device_put(made, want)


def _assembled(
    folder: Path, saved: dict[str, Any], bounds: list[list[int]], dtype: Any
) -> Any:
    """Return a part of a leaf, put together of the files that overlap with it."""
    values = np.empty([stop - start for start, stop in bounds], dtype)
    for part in saved["parts"]:
        held: list[list[int]] = part["index"]
        both = [
            (max(a, c), min(b, d)) for (a, b), (c, d) in zip(bounds, held, strict=True)
        ]
        if any(start >= stop for start, stop in both):
            continue
        inside = tuple(
            [slice(s - c, e - c) for (s, e), (c, _) in zip(both, held, strict=True)]
        )
        place = tuple(
            [slice(s - a, e - a) for (s, e), (a, _) in zip(both, bounds, strict=True)]
        )
        file = folder / part["file"]
        sizes = [stop - start for start, stop in held]
        values[place] = _file(file, sizes, dtype)[inside]
    return values


def _file(file: Path, sizes: Sequence[int], dtype: Any) -> Any:
    wanted = int(np.prod(sizes)) * dtype.itemsize
    size = file.stat().st_size if file.exists() else -1
    if size != wanted:
        raise ArgumentError(
            f"load: expected {wanted} bytes in {str(file)!r}, got "
            f"{'no such file' if size < 0 else size}. The saved tree is damaged: load "
            "another."
        )
    return np.memmap(file, np.uint8, "r").view(dtype).reshape(sizes)


def _bounds(index: Index, shape: Sequence[int]) -> list[list[int]]:
    return [list(s.indices(n)[:2]) for s, n in zip(index, shape, strict=True)]
