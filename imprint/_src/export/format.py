"""The bytes of an exported function.

They are a magic word with the version of the format, the length of a head in JSON, the
head, the module, the derivative if there is one (in the same form), and a digest of all
before it. The head has the fields that a caller needs. Nothing in it is run or imported.
"""

import json
import struct
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from imprint._src import dtypes
from imprint._src.core.aval import ShapedArray
from imprint._src.dynamic_shapes import SymbolicScope, symbolic_shape
from imprint._src.errors import ArgumentError
from imprint._src.export.trees import from_data, to_data
from imprint._src.jit.bucketing.sizes import scope_of
from imprint._src.tree import internal as tree

_MAGIC: Final = b"imprint.export "
_VERSION: Final = 1
_LENGTHS: Final = struct.Struct("<HQQQ")
_DIGEST: Final = 32


def to_bytes(exported: Any, vjp_order: int) -> bytes:
    """Return an `Exported` as bytes, with its first derivatives."""
    head = json.dumps(_head(exported)).encode()
    module: bytes = exported.mlir_module_serialized
    more = to_bytes(exported.vjp(), vjp_order - 1) if vjp_order > 0 else b""
    lengths = _LENGTHS.pack(_VERSION, len(head), len(module), len(more))
    written = b"".join((_MAGIC, lengths, head, module, more))
    return written + blake2b(written, digest_size=_DIGEST).digest()


class ExportedFields(NamedTuple):
    """The fields of an `Exported`, which imports this file."""

    fun_name: str
    in_tree: tree.TreeDef
    in_avals: tuple[ShapedArray, ...]
    out_tree: tree.TreeDef
    out_avals: tuple[ShapedArray, ...]
    platforms: tuple[str, ...]
    mlir_module_serialized: bytes
    derive: "Callable[[], ExportedFields] | None"
    module_kept_var_idx: tuple[int, ...]


def is_imprint_format(data: bytes) -> bool:
    """Return whether bytes begin like those of `to_bytes`."""
    return data.startswith(_MAGIC)


def from_bytes(data: bytes) -> ExportedFields:
    """Return the fields of an exported function; ArgumentError if bytes are damaged."""
    start = len(_MAGIC) + _LENGTHS.size
    if len(data) < start + _DIGEST:
        raise ArgumentError(
            "deserialize: expected the bytes that Exported.serialize returned, got "
            f"{len(data)} bytes of it. Copy all of them."
        )
    version, *lengths = _LENGTHS.unpack_from(data, len(_MAGIC))
    if version != _VERSION:
        raise ArgumentError(
            f"deserialize: expected version {_VERSION} of the format, got {version}. "
            "Serialize with this release of imprint, or load with the other."
        )
    written, digest = data[:-_DIGEST], data[-_DIGEST:]
    if (
        len(written) != start + sum(lengths)
        or blake2b(written, digest_size=_DIGEST).digest() != digest
    ):
        raise ArgumentError(
            "deserialize: expected bytes as they were serialized, got damaged ones: their "
            "digest is another. Copy them again."
        )
    parts: list[bytes] = []
    for length in lengths:
        parts.append(written[start : start + length])
        start += length
    return _fields(json.loads(parts[0]), parts[1], parts[2])


def _fields(head: dict[str, Any], module: bytes, more: bytes) -> ExportedFields:
    scope = SymbolicScope(head["constraints"])
    in_avals, out_avals = (
        tuple([_aval(each, scope) for each in head[key]])
        for key in ("in_avals", "out_avals")
    )
    in_tree, out_tree = (
        from_data("deserialize", head[key]) for key in ("in_tree", "out_tree")
    )
    return ExportedFields(
        fun_name=head["fun_name"],
        in_tree=in_tree,
        in_avals=in_avals,
        out_tree=out_tree,
        out_avals=out_avals,
        platforms=tuple(head["platforms"]),
        mlir_module_serialized=module,
        derive=partial(from_bytes, more) if more else None,
        module_kept_var_idx=tuple(head["kept"]),
    )


def _head(exported: Any) -> dict[str, Any]:
    who = f"serialize of {exported.fun_name}"
    scope = scope_of(who, exported.in_avals)

    def trees(treedef: tree.TreeDef) -> Any:
        return to_data(who, treedef)

    return {
        "fun_name": exported.fun_name,
        "platforms": exported.platforms,
        "kept": exported.module_kept_var_idx,
        "constraints": () if scope is None else scope.constraints,
        "in_tree": trees(exported.in_tree),
        "in_avals": _avals(exported.in_avals),
        "out_tree": trees(exported.out_tree),
        "out_avals": _avals(exported.out_avals),
    }


def _avals(avals: Sequence[ShapedArray]) -> list[Any]:
    return [
        [", ".join(map(str, aval.shape)), aval.dtype.name, aval.weak_type]
        for aval in avals
    ]


def _aval(data: Any, scope: SymbolicScope) -> ShapedArray:
    shape, dtype, weak = data
    sizes = symbolic_shape(shape, scope=scope)
    return ShapedArray(sizes, dtypes.as_dtype(dtype), weak_type=weak)
