"""Trees of arrays in files, which any layout reads back.

The implementation needs arrays, which are on a higher floor, so it loads at the first
call: `imprint._src.eager.checkpointing`.
"""

from importlib import import_module
from pathlib import Path
from typing import Any


def save(path: str | Path, values: Any) -> None:
    """Write a tree of arrays to a folder, each device's part as a file.

    A path that ends with `.safetensors` is a single file instead, which other frameworks
    read: a leaf has its key path as its name, `layers.0.weight`. It needs the package
    safetensors.

    Of several processes all call it, with a path to one folder, and each writes the parts
    of its devices.

    Args:
        path: the folder or file, which must not be there yet.
        values: a tree of arrays and numbers.

    Returns:
        None, when the folder is whole.

    Raises:
        ArgumentError: there is something at `path`, or another process failed.
        TimeoutError: some process did not call it in time.

    Example:
        >>> import imprint, tempfile
        >>> folder = tempfile.mkdtemp() + "/step-1"
        >>> imprint.sharding.save(folder, {"w": imprint.numpy.ones(3)})
        >>> imprint.sharding.load(folder, {"w": imprint.numpy.zeros(3)})
        {'w': Array([1., 1., 1.], dtype=float32)}
    """
    import_module("imprint._src.eager.checkpointing").save(path, values)


def load(path: str | Path, like: Any, shardings: Any = None) -> Any:
    """Read a tree of arrays that `save` wrote, in any layout.

    Args:
        path: the folder, or a file that ends with `.safetensors`.
        like: a tree of the structure, shapes and dtypes of the one that was saved; of
            arrays, or of `imprint.ShapeDtypeStruct`.
        shardings: how the arrays are to be spread: a sharding, a device, or a tree of
            them, of which each leaf is for a part of `like`; by default as those of
            `like`.

    Returns:
        A tree like `like`, of arrays.

    Raises:
        ArgumentError: there is no saved tree, it has other leaves, or a file is damaged.
        ShapeError: a leaf has another shape or dtype than that of `like`.

    Example:
        >>> import imprint, tempfile
        >>> folder = tempfile.mkdtemp() + "/step-1"
        >>> imprint.sharding.save(folder, imprint.numpy.arange(3))
        >>> over = imprint.NamedSharding(
        ...     imprint.make_mesh((1,), ("d",)), imprint.P("d")
        ... )
        >>> imprint.sharding.load(folder, imprint.ShapeDtypeStruct((3,), "int32"), over)
        Array([0, 1, 2], dtype=int32)
    """
    return import_module("imprint._src.eager.checkpointing").load(path, like, shardings)
