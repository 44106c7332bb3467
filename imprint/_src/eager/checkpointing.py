"""Trees of arrays in files: each part of an array is a file.

A saved tree is a folder. `manifest.json` has the path, shape and dtype of each leaf,
and the file of each part; a file is the bytes of a part, which any program can read. A
tree is read in any layout: each device reads the files that overlap its part, so no
process holds a whole array. The folder gets its name when all is written. Each process
writes the parts of its devices, into one shared folder; data that every process has is
written by the first.
"""

import json
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from imprint._src import runtime
from imprint._src.array import from_host, host_of, shards_of, to_array
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.eager import safetensors_files
from imprint._src.eager.device_put import device_put
from imprint._src.eager.make_array import make_array_from_callback
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.sharding.context import resolve_sharding
from imprint._src.sharding.named import Index, NamedSharding
from imprint._src.tree import internal as tree

_FORMAT: Final = 1
_WAIT: Final = 300.0
"""How many seconds a process waits for the others to write theirs."""


def save(path: str | Path, values: Any) -> None:
    """Write a tree of arrays to a folder; see `imprint.sharding.save`."""
    target = Path(path)
    if target.suffix == safetensors_files.SUFFIX:
        with _step("to write"):
            if runtime.process_index() == 0:
                safetensors_files.save(target, values)
        return
    making = target.with_name(f"{target.name}.part")
    is_first = runtime.process_index() == 0
    pairs = tree.leaves_with_path(values)
    with _step("to begin"):
        leaves = [_Leaf(i, keys, leaf) for i, (keys, leaf) in enumerate(pairs)]
        if is_first:
            _begin(target, making)
    with _step("to write"):
        _check_seen(making)
        for leaf in leaves:
            leaf.write(making, is_first=is_first)
    with _step("to end"):
        if is_first:
            manifest = {"format": _FORMAT, "leaves": [leaf.about for leaf in leaves]}
            (making / "manifest.json").write_text(json.dumps(manifest, indent=1))
            making.rename(target)


@contextmanager
def _step(what: str) -> Generator[None]:
    """Wait at the end until all processes come there; raise in each if one failed."""
    failed: Exception | None = None
    try:
        yield
    except Exception as err:
        failed = err
    processes = runtime.joined()
    if processes is not None:
        said = str(failed or "").encode()
        for i, text in enumerate(processes.exchange(f"save, {what}", said, _WAIT)):
            if text and failed is None:
                raise ArgumentError(f"in process {i}: {text.decode()}")
    if failed is not None:
        raise failed


def _begin(target: Path, making: Path) -> None:
    if target.exists():
        raise ArgumentError(
            f"save: expected a folder that is not there yet, got {str(target)!r}. Save to "
            "another, or delete it first."
        )
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)


def _check_seen(making: Path) -> None:
    if not making.is_dir():
        raise ArgumentError(
            f"save: expected a folder that all processes see, got {str(making)!r}, which "
            f"process {runtime.process_index()} does not. Save where they share the files."
        )


@final
class _Leaf:
    """A leaf that is saved.

    Args:
        number: its index among the leaves.
        keys: its path.
        leaf: the array or number.
    """

    def __init__(self, number: int, keys: tuple[Any, ...], leaf: Any) -> None:
        x = to_array(leaf)
        self._is_mine: Final = x.is_fully_addressable
        shards = [s for s in shards_of(x, everywhere=True) if not s.replica_id]
        self._files: Final = {f"{number}.{i}.bin": s for i, s in enumerate(shards)}
        self.about: Final = {
            "name": tree.keystr(keys),
            "shape": list(x.shape),
            "dtype": x.dtype.name,
            "weak_type": x.aval.weak_type,
            "parts": [
                {"file": file, "index": _bounds(shard.index, x.shape)}
                for file, shard in self._files.items()
            ],
        }

    def write(self, folder: Path, *, is_first: bool) -> None:
        """Write the parts of this process; the first process writes the shared data."""
        if self._is_mine and not is_first:
            return
        for file, shard in self._files.items():
            if shard.data is not None:
                own = np.ascontiguousarray(host_of(shard.data))
                (folder / file).write_bytes(own.tobytes())


def load(path: str | Path, like: Any, shardings: Any = None) -> Any:
    """Read a tree of arrays that `save` wrote; see `imprint.sharding.load`."""
    folder = Path(path)
    if folder.suffix == safetensors_files.SUFFIX:
        return safetensors_files.load(folder, like, shardings)
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
    over = resolve_sharding("load", want if want is not None else like.sharding)

    def part(index: Index) -> Any:
        return _assembled(folder, saved, _bounds(index, shape), dtype)

    if isinstance(over, NamedSharding):
        over.check_shape(f"load: {saved['name']}" if saved["name"] else "load", shape)
        return make_array_from_callback(shape, over, part, dtype)
    whole = part(tuple([slice(None)] * len(shape)))
    made = from_host(ShapedArray(shape, dtype, saved["weak_type"]), whole)
    return made if want is None else device_put(made, want)


def _assembled(
    folder: Path, saved: dict[str, Any], bounds: list[list[int]], dtype: Any
) -> Any:
    """Return a part of a leaf, assembled from the files that overlap it."""
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
