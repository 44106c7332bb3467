"""Saving the leaves of a tree to a file, and loading them into a tree like it.

A leaf is written as one line of JSON, its description, and the bytes of its values. Only
numbers are saved, and no code in a file runs. Loaded leaves must have the paths, shapes,
dtypes and types of `like`, which may be abstract (`filter_eval_shape`). `records` handles
files and damage.
"""

import json
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.array import from_host
from imprint._src.core.array import NumberArray
from imprint._src.core.aval import NDArray, ShapedArray, shape_str
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.errors import ArgumentError, DTypeError
from imprint._src.module.filters import is_array
from imprint._src.module.npy_stream import MAGIC as NPY_MAGIC
from imprint._src.module.npy_stream import NpyReader, NpyWriter
from imprint._src.module.records import (
    LeafWriter,
    PathLike,
    Records,
    SupportsRead,
    SupportsWrite,
    file_name,
    reading,
    write_end,
    write_leaf,
    write_start,
    writing,
)
from imprint._src.tree import internal as tree

_Description: TypeAlias = dict[str, Any]

# ---- one leaf ----


def default_serialise_filter_spec(f: SupportsWrite, x: Any) -> None:
    """Write a leaf as `tree_serialise_leaves` does: arrays and numbers, nothing else.

    Args:
        f: the file that a `filter_spec` is given.
        x: the leaf.

    Returns:
        None; nothing is written for other leaves.

    Example:
        >>> from imprint.module import default_serialise_filter_spec, is_array
        >>> def only_arrays(f, x):
        ...     if is_array(x):
        ...         default_serialise_filter_spec(f, x)
    """
    if isinstance(f, NpyWriter):
        f.leaf(x)
        return
    where = getattr(f, "where", "default_serialise_filter_spec")
    described = _describe(x, where)
    if described is None:
        return
    f.write(json.dumps(described).encode() + b"\n")
    if is_array(x):
        host = np.ascontiguousarray(np.asarray(x))
        little = host.astype(host.dtype.newbyteorder("<"), copy=False)
        f.write(little.reshape(-1).view(np.uint8))


def default_deserialise_filter_spec(f: SupportsRead, x: Any) -> Any:
    """Read a leaf as `tree_deserialise_leaves` does.

    Args:
        f: the file that a `filter_spec` is given.
        x: the leaf of `like`, with the expected shape and dtype.

    Returns:
        The leaf that was saved, or `x` if it is no array and no number.

    Raises:
        ArgumentError: the saved leaf has another shape, dtype or type.

    Example:
        >>> from imprint.module import default_deserialise_filter_spec, is_array
        >>> def only_arrays(f, x):
        ...     return default_deserialise_filter_spec(f, x) if is_array(x) else x
    """
    if isinstance(f, NpyReader):
        return f.leaf(x)
    where = getattr(f, "where", "default_deserialise_filter_spec")
    line, _, values = f.read().partition(b"\n")
    saved = _parsed(line, where)
    expected = _describe(x, where)
    if _text(saved) != _text(expected):
        raise ArgumentError(
            f"{where}: expected {_text(expected)}, as in `like`, got {_text(saved)}. "
            "Pass a `like` with the leaves of what was saved."
        )
    if saved is None or expected is None:
        return x
    if "value" in saved:
        return type(x)(_PYTHON[saved["kind"]](saved["value"]))
    return _array(saved, values, x, where)


# ---- trees ----


def tree_serialise_leaves(
    path_or_file: PathLike | SupportsWrite,
    pytree: tree.PyTree,
    filter_spec: Any = default_serialise_filter_spec,
    is_leaf: tree.IsLeaf | None = None,
    *,
    format: Literal["imprint", "equinox"] = "imprint",  # noqa: A002 - the word for it
) -> None:
    """Save the arrays and numbers among the leaves of a tree.

    Args:
        path_or_file: where to, or a binary file. A file at this path is replaced when
            the new one is whole.
        pytree: any tree; leaves that are no arrays or numbers are left out.
        filter_spec: how to save a leaf: a function of a binary file and the leaf, or a
            prefix of the tree with such functions.
        is_leaf: as in `imprint.tree.flatten`.
        format: of the file; Equinox loads "equinox", which has no paths and no checksums.

    Returns:
        None; the file is whole.

    Raises:
        ArgumentError: the format is another, or a filter_spec is no function.

    References:
        Equinox, `equinox.tree_serialise_leaves`.

    Example:
        >>> import io
        >>> import imprint.numpy as inp
        >>> from imprint.module import tree_deserialise_leaves, tree_serialise_leaves
        >>> file = io.BytesIO()
        >>> tree_serialise_leaves(file, {"w": inp.ones(2), "n": 3})
        >>> _ = file.seek(0)
        >>> tree_deserialise_leaves(file, {"w": inp.zeros(2), "n": 0})
        {'n': 3, 'w': Array([1., 1.], dtype=float32)}
    """
    caller = "tree_serialise_leaves"
    named, specs, _ = _leaves(pytree, filter_spec, is_leaf, caller)
    if format not in FORMATS:
        raise ArgumentError(
            f"{caller}: expected format to be one of {', '.join(FORMATS)}, got {format!r}."
        )
    with writing(path_or_file) as file:
        if format == "equinox":
            stream = NpyWriter(file)
            for (path, leaf), write in zip(named, specs, strict=True):
                stream.where = _at(caller, path)
                _call(write, stream, leaf, stream.where)
            return
        write_start(file)
        for (path, leaf), write in zip(named, specs, strict=True):
            record = LeafWriter(_at(caller, path))
            _call(write, record, leaf, record.where)
            write_leaf(file, path, record.chunks)
        write_end(file, len(named))


def tree_deserialise_leaves(
    path_or_file: PathLike | SupportsRead,
    like: tree.PyTree,
    filter_spec: Any = default_deserialise_filter_spec,
    is_leaf: tree.IsLeaf | None = None,
) -> tree.PyTree:
    """Load the leaves of a tree.

    Args:
        path_or_file: where from, or a binary file; Equinox may have written it.
        like: a tree of the structure of the one that was saved, with leaves of the same
            shapes, dtypes and types; a `ShapeDtypeStruct` stands for an array.
        filter_spec: how to load a leaf: a function of a binary file and the leaf of
            `like` that returns the leaf, or a prefix of the tree with such functions.
        is_leaf: as in `imprint.tree.flatten`.

    Returns:
        A tree like `like`, with the saved leaves; other leaves are those of `like`.

    Raises:
        ArgumentError: the file is damaged or of another kind, or a leaf does not fit.
        TreeError: the file has other leaves than `like`.

    References:
        Equinox, `equinox.tree_deserialise_leaves`.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint.module import filter_eval_shape, tree_deserialise_leaves
        >>> like = filter_eval_shape(lambda: {"w": inp.ones(2)})
        >>> tree_deserialise_leaves("model.bin", like)  # doctest: +SKIP
    """
    caller = "tree_deserialise_leaves"
    named, specs, treedef = _leaves(like, filter_spec, is_leaf, caller)
    found: list[Any] = []
    with reading(path_or_file) as file:
        name = file_name(file, caller)
        head = file.read(len(NPY_MAGIC))
        stream = NpyReader(head, file, name)
        if head == NPY_MAGIC:
            for (path, leaf), read in zip(named, specs, strict=True):
                stream.where = _at(name, path)
                found.append(_call(read, stream, leaf, stream.where))
            if file is not path_or_file:  # else more may follow
                stream.end()
            return treedef.unflatten(found)
        records = Records(stream, name)
        for (path, leaf), read in zip(named, specs, strict=True):
            record = records.leaf(path)
            found.append(_call(read, record, leaf, record.where))
        records.end()
    return treedef.unflatten(found)


FORMATS: Final = ("imprint", "equinox")


def _at(name: str, path: str) -> str:
    return f"{name}: leaf {path or 'at the root'}"


def _leaves(
    pytree: Any, spec: Any, is_leaf: tree.IsLeaf | None, caller: str
) -> tuple[list[tuple[str, Any]], list[Any], tree.TreeDef]:
    """Return leaves with their paths, the function for each, and the structure."""
    leaves, treedef = tree.flatten(pytree, is_leaf)
    specs = tree.flatten_axes(spec, treedef, f"{caller} filter_spec")
    for one in specs:
        if not callable(one):
            raise ArgumentError(
                f"{caller}: expected functions of a file and a leaf in filter_spec, got "
                f"{type(one).__name__} {one!r}. Leave it out to use the default."
            )
    paths = map(tree.keystr, treedef.paths())
    return list(zip(paths, leaves, strict=True)), specs, treedef


def _call(spec: Callable[..., Any], file: Any, leaf: Any, where: str) -> Any:
    try:
        return spec(file, leaf)
    except Exception as err:
        if not str(err).startswith(where):
            err.add_note(where)
        raise


# ---- descriptions of leaves ----

_DTYPES: Final = {dtype.name: dtype for dtype in dtypes.ALL}
_NUMBERS: Final = (bool, int, float, complex)
_PYTHON: Final[dict[str, Callable[[str], Any]]] = {
    "bool": "True".__eq__,
    "int": int,
    "float": float,
    "complex": complex,
}
"""From the name of a type to the inverse of its `repr`."""


def _describe(x: Any, where: str) -> _Description | None:
    """Return the description of a leaf; None if it is not saved.

    Raises:
        DTypeError: it is an array of something else than numbers.
    """
    if isinstance(x, ShapeDtypeStruct) or is_array(x):
        if x.dtype.name not in _DTYPES:
            raise DTypeError(
                f"{where}: expected an array of numbers, got one of dtype {x.dtype}. "
                "Convert it, or save it with a filter_spec of your own."
            )
        weak = isinstance(x, NumberArray) and x.weak_type
        shape = list(cast("tuple[int, ...]", x.shape))
        return {"dtype": x.dtype.name, "shape": shape, "weak_type": weak}
    number: Any = next((kind for kind in _NUMBERS if isinstance(x, kind)), None)
    if number is None:
        return None
    return {"kind": number.__name__, "value": number.__repr__(x)}


def _parsed(line: bytes, where: str) -> _Description | None:
    if not line:
        return None
    try:
        return json.loads(line)
    except ValueError:
        raise ArgumentError(
            f"{where}: expected a leaf written by default_serialise_filter_spec, got "
            f"{line[:20]!r}. Load it with the inverse of the filter_spec that saved it."
        ) from None


def _text(described: _Description | None) -> str:
    if described is None:
        return "nothing saved"
    if "value" in described:
        return f"a Python {described['kind']}"
    return f"{described['dtype']}{shape_str(described['shape'])}"


def _array(saved: _Description, values: bytes, like: Any, where: str) -> Any:
    dtype, shape = _DTYPES[saved["dtype"]], tuple(saved["shape"])
    little = np.frombuffer(values, dtype.newbyteorder("<"))
    if little.size != int(np.prod(shape)):
        raise ArgumentError(
            f"{where}: expected the values of {_text(saved)}, got {len(values)} bytes. "
            "Load another copy of the file, or save it again."
        )
    host: NDArray = little.astype(dtype, copy=False).reshape(shape)
    if isinstance(like, np.generic):
        return host[()]
    if isinstance(like, np.ndarray):
        return host.copy()  # the owner may write
    return from_host(ShapedArray(shape, dtype, saved["weak_type"]), host)
