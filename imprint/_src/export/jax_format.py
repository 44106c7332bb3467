"""The bytes of `jax.export`, written and read.

They are a flatbuffer: tables whose fields have numbers, in the order of JAX's schema. Weak
types and the constraints of names are not in it. It needs the package flatbuffers (`pip
install imprint[export]`), which is imported on its first use.
"""

import base64
import struct
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src import dtypes
from imprint._src.core.aval import ShapedArray
from imprint._src.dynamic_shapes import SymbolicScope, symbolic_shape
from imprint._src.errors import ArgumentError
from imprint._src.export.format import ExportedFields
from imprint._src.export.trees import Data, from_data, to_data

_CALLING_CONVENTION: Final = 10
_SERIALIZATION: Final = 3  # every release of JAX writes this number
_KINDS: Final = ("leaf", "none", "tuple", "list", "dict", "node")
_DTYPES: Final = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "bfloat16", "int4"),
    *("uint4", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float0", "float8_e4m3", "float8_e3m4"),
    *("float8_e8m0fnu", "float4_e2m1fn"),
)
_DAMAGE: Final = (struct.error, IndexError, TypeError, ValueError, UnicodeDecodeError)


class _Field:
    """The numbers of the fields of the tables."""

    VERSION, NAME, IN_TREE, IN_AVALS, OUT_TREE, OUT_AVALS = range(6)
    IN_SHARDINGS, OUT_SHARDINGS, PLATFORMS, ORDERED, UNORDERED = range(7, 12)
    MODULE, CONVENTION, KEPT, HAS_NAMES, VJP, DEVICES = range(13, 19)
    AVALS, IN_INDICES, OUT_INDICES, IN_PLACES, OUT_PLACES = 19, 22, 23, 24, 25
    EXPORTED = 26  # their number

    KIND, CHILDREN, NAMES, CLASS, STATIC = range(5)  # of a tree
    SHAPE, DTYPE = 1, 2  # of an aval; its kind is 0


def _flatbuffers(name: str = "") -> Any:
    try:
        return import_module(f"flatbuffers{name}")
    except ImportError as err:
        raise ArgumentError(
            "exchange with jax.export: expected the package flatbuffers, got none. "
            "Install it: pip install 'imprint[export]'."
        ) from err


# ---- for jax ----


def to_jax_bytes(exported: Any, vjp_order: int) -> bytearray:
    """Return an `Exported` as bytes that `jax.export.deserialize` takes."""
    writer = _FlatbufferWriter(_flatbuffers().Builder(1024))
    writer.builder.Finish(writer.exported(exported, vjp_order))
    return writer.builder.Output()


class _FlatbufferWriter(NamedTuple):
    """A writer of tables, from the leaves to the root; each method returns an offset."""

    builder: Any

    def exported(self, exported: Any, vjp_order: int) -> int:
        who = f"to_jax of {exported.fun_name}"
        every = (*exported.in_avals, *exported.out_avals)
        if vjp_order and not all(dtypes.is_inexact(aval.dtype) for aval in every):
            raise ArgumentError(
                f"{who}: expected arguments and results that are all floats or complex "
                f"numbers for vjp_order={vjp_order}, got {exported}. Leave the derivative "
                "out, or close over what has none."
            )
        takes, gives = len(exported.in_avals), len(exported.out_avals)
        fields = {
            _Field.NAME: self.text(exported.fun_name),
            _Field.IN_TREE: self.tree(who, to_data(who, exported.in_tree)),
            _Field.IN_AVALS: self.vector([*map(self.aval, exported.in_avals)]),
            _Field.OUT_TREE: self.tree(who, to_data(who, exported.out_tree)),
            _Field.OUT_AVALS: self.vector([*map(self.aval, exported.out_avals)]),
            _Field.IN_SHARDINGS: self.vector([self.table(1, {}) for _ in range(takes)]),
            _Field.OUT_SHARDINGS: self.vector(
                [self.table(1, {}) for _ in range(gives)]
            ),
            _Field.PLATFORMS: self.vector([*map(self.text, exported.platforms)]),
            _Field.ORDERED: self.vector([]),
            _Field.UNORDERED: self.vector([]),
            _Field.MODULE: self.builder.CreateByteVector(
                exported.mlir_module_serialized
            ),
            _Field.KEPT: self.numbers(exported.module_kept_var_idx, np.uint16),
            _Field.AVALS: self.vector([*map(self.aval, every)]),
            _Field.IN_INDICES: self.numbers(range(takes), np.uint32),
            _Field.OUT_INDICES: self.numbers(range(takes, takes + gives), np.uint32),
            _Field.IN_PLACES: self.numbers([0] * takes, np.uint32),
            _Field.OUT_PLACES: self.numbers([0] * gives, np.uint32),
        }
        if vjp_order:
            fields[_Field.VJP] = self.exported(exported.vjp(), vjp_order - 1)
        b = self.builder
        b.StartObject(_Field.EXPORTED)
        b.PrependUint16Slot(_Field.VERSION, _SERIALIZATION, 0)
        b.PrependUint16Slot(_Field.CONVENTION, _CALLING_CONVENTION, 0)
        b.PrependBoolSlot(_Field.HAS_NAMES, exported.uses_global_constants, 0)
        b.PrependUint32Slot(_Field.DEVICES, exported.nr_devices, 0)
        return self._end(fields)

    def tree(self, who: str, data: Data) -> int:
        """Write a structure."""
        if data == "*" or data is None:
            return self.table(5, {}, kind=1 if data is None else 0)
        kind, children, *more = data
        fields = {_Field.CHILDREN: self.vector([self.tree(who, x) for x in children])}
        if kind == "dict":
            if not all(isinstance(key, str) for key in more[0]):
                raise ArgumentError(
                    f"{who}: expected dicts whose keys are texts, got keys {more[0]}. JAX "
                    "exports no others."
                )
            fields[_Field.NAMES] = self.vector([*map(self.text, more[0])])
        elif kind == "node":
            fields[_Field.CLASS] = self.text(more[0])
            static = base64.b64decode(more[1])
            fields[_Field.STATIC] = self.builder.CreateByteVector(static)
        elif kind not in _KINDS:
            raise ArgumentError(
                f"{who}: expected trees that JAX exports, got {kind}. Take a dict."
            )
        return self.table(5, fields, kind=_KINDS.index(kind))

    def aval(self, aval: ShapedArray) -> int:
        """Write a shape and a dtype."""
        fields = {_Field.SHAPE: self.vector([self.text(str(n)) for n in aval.shape])}
        self.builder.StartObject(4)
        self.builder.PrependInt8Slot(_Field.DTYPE, _DTYPES.index(aval.dtype.name), 0)
        return self._end(fields)

    def table(self, count: int, fields: dict[int, int], kind: int = 0) -> int:
        """Write a table whose first field is its kind."""
        self.builder.StartObject(count)
        self.builder.PrependInt8Slot(_Field.KIND, kind, 0)
        return self._end(fields)

    def _end(self, fields: dict[int, int]) -> int:
        for field, offset in fields.items():
            self.builder.PrependUOffsetTRelativeSlot(field, offset, 0)
        return self.builder.EndObject()

    def vector(self, offsets: Sequence[int]) -> int:
        """Write a vector of objects at offsets."""
        self.builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return self.builder.EndVector()

    def numbers(self, numbers: Sequence[int], dtype: Any) -> int:
        """Write a vector of numbers."""
        return self.builder.CreateNumpyVector(np.array([*numbers], dtype))

    def text(self, text: str) -> int:
        """Write a text."""
        return self.builder.CreateString(text)


# ---- from jax ----


def from_jax_bytes(data: bytes) -> ExportedFields:
    """Return the fields of an exported function of JAX.

    Raises:
        ArgumentError: the bytes are something else, or the function has several devices
            or platforms, effects, or keys.
    """
    try:
        start = _flatbuffers(".encode").Get(_flatbuffers(".packer").uoffset, data, 0)
        return _fields(_FlatbufferTable(_flatbuffers(".table").Table(data, start)))
    except _DAMAGE as err:
        if isinstance(err, ArgumentError):
            raise
        raise ArgumentError(
            "deserialize: expected the bytes that Exported.serialize of imprint or JAX "
            f"returned, got {len(data)} others. Serialize the function again."
        ) from err


class _FlatbufferTable(NamedTuple):
    """A table, whose fields are read by number."""

    table: Any

    def number(self, field: int, name: str, default: int = 0) -> int:
        """Return a number; `name` is that of its type in flatbuffers."""
        flags = getattr(_flatbuffers(".number_types"), f"{name}Flags")
        return self.table.GetSlot(4 + 2 * field, default, flags)

    def at(self, field: int, read: Callable[[int], Any]) -> Any:
        """Return the value of a field, read at its position; None if there is none."""
        offset = self.table.Offset(4 + 2 * field)
        return read(offset) if offset else None

    def table_in(self, field: int) -> "_FlatbufferTable | None":
        """Return a table."""
        return self.at(field, lambda o: self._at(o + self.table.Pos))

    def text(self, field: int) -> str:
        """Return a text."""
        found = self.at(field, lambda o: self.table.String(o + self.table.Pos))
        return (found or b"").decode()

    def tables(self, field: int) -> list["_FlatbufferTable"]:
        """Return the tables of a vector."""
        return [*map(self._at, self._places(field))]

    def texts(self, field: int) -> list[str]:
        """Return the texts of a vector."""
        return [self.table.String(at).decode() for at in self._places(field)]

    def numbers(self, field: int, dtype: Any) -> np.ndarray[Any, Any]:
        """Return the numbers of a vector."""

        def read(offset: int) -> Any:
            start, count = self.table.Vector(offset), self.table.VectorLen(offset)
            return np.frombuffer(self.table.Bytes, dtype, count, start)

        found = self.at(field, read)
        return np.zeros(0, dtype) if found is None else found

    def _places(self, field: int) -> Iterator[int]:
        count = self.at(field, self.table.VectorLen) or 0
        start = self.at(field, self.table.Vector) or 0
        return iter(range(start, start + 4 * count, 4))

    def _at(self, position: int) -> "_FlatbufferTable":
        made = _flatbuffers(".table").Table(
            self.table.Bytes, self.table.Indirect(position)
        )
        return _FlatbufferTable(made)


def _fields(root: _FlatbufferTable) -> ExportedFields:
    module = root.numbers(_Field.MODULE, np.uint8).tobytes()
    if not module:
        raise ValueError("no module")
    name = root.text(_Field.NAME)
    platforms = tuple(root.texts(_Field.PLATFORMS))
    known = {
        "one device": root.number(_Field.DEVICES, "Uint32", 1) == 1,
        "one platform": len(platforms) == 1,
        "no effects": not root.tables(_Field.ORDERED)
        and not root.tables(_Field.UNORDERED),
    }
    for wanted, holds in known.items():
        if not holds:
            raise ArgumentError(
                f"deserialize of {name}: expected a function that JAX exported with "
                f"{wanted}, got one with others. Export it so."
            )
    scope = SymbolicScope()
    every = [_aval(table, scope) for table in root.tables(_Field.AVALS)]

    def avals(field: int, indices: int) -> tuple[ShapedArray | None, ...]:
        found = root.numbers(indices, np.uint32)
        if len(found):
            return tuple([every[int(i)] for i in found])
        return tuple(_aval(table, scope) for table in root.tables(field))

    takes = avals(_Field.IN_AVALS, _Field.IN_INDICES)
    gives = avals(_Field.OUT_AVALS, _Field.OUT_INDICES)
    in_avals, out_avals = (
        tuple(aval for aval in each if aval is not None) for each in (takes, gives)
    )
    if len(in_avals) < len(takes) or len(out_avals) < len(gives):
        raise ArgumentError(
            f"deserialize of {name}: expected arrays of numbers, got keys or float0. "
            "Export it for jax.random.key_data, and without the derivative of integers."
        )
    vjp = root.table_in(_Field.VJP)
    has_vjp = all(dtypes.is_inexact(a.dtype) for a in (*in_avals, *out_avals))
    trees = [root.table_in(field) for field in (_Field.IN_TREE, _Field.OUT_TREE)]
    in_tree, out_tree = (from_data("deserialize", _tree(each)) for each in trees)
    return ExportedFields(
        fun_name=name,
        in_tree=in_tree,
        in_avals=in_avals,
        out_tree=out_tree,
        out_avals=out_avals,
        platforms=platforms,
        mlir_module_serialized=module,
        derive=(lambda: _fields(vjp)) if vjp is not None and has_vjp else None,
        module_kept_var_idx=tuple(root.numbers(_Field.KEPT, np.uint16).tolist()),
    )


def _tree(table: _FlatbufferTable | None) -> Data:
    if table is None:
        raise ValueError("no tree")
    kind = _KINDS[table.number(_Field.KIND, "Int8")]
    if kind in ("leaf", "none"):
        return "*" if kind == "leaf" else None
    children = [*map(_tree, table.tables(_Field.CHILDREN))]
    if kind == "dict":
        return [kind, children, table.texts(_Field.NAMES)]
    if kind == "node":
        static = base64.b64encode(table.numbers(_Field.STATIC, np.uint8).tobytes())
        return [kind, children, table.text(_Field.CLASS), static.decode()]
    return [kind, children]


def _aval(table: _FlatbufferTable, scope: SymbolicScope) -> ShapedArray | None:
    """Return an aval; None if it is no array of numbers."""
    kind = table.number(_Field.DTYPE, "Int8")
    if kind >= len(_DTYPES) or _DTYPES[kind] == "float0":
        return None
    shape = symbolic_shape(", ".join(table.texts(_Field.SHAPE)), scope=scope)
    return ShapedArray(shape, dtypes.as_dtype(_DTYPES[kind]))
