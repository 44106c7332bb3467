"""The inspection functions of the array API standard.

https://data-apis.org/array-api/2024.12/API_specification/inspection.html
"""

from typing import Any, Final, final

from imprint._src import dtypes, runtime
from imprint._src.core.array import API_VERSIONS
from imprint._src.core.aval import DType
from imprint._src.errors import ArgumentError
from imprint._src.numpy.datatypes import bool_

bool: Final = bool_
"""The standard's name for `bool_`."""

__array_api_version__: Final = API_VERSIONS[-1]
"""The version of the array API standard that `imprint.numpy` follows."""

_KINDS: Final[dict[str, tuple[str, ...]]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "integral": ("signed integer", "unsigned integer"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
    "numeric": ("integral", "real floating", "complex floating"),
}
_ALL: Final = ("bool", "numeric")


@final
class ArrayNamespaceInfo:
    """Capabilities, devices and dtypes of `imprint.numpy`."""

    def capabilities(self) -> dict[str, Any]:
        """Return which optional parts of the standard are supported."""
        return {
            "boolean indexing": False,
            "data-dependent shapes": False,
            "max dimensions": 64,
        }

    def default_device(self) -> runtime.Device:
        """Return the default device."""
        return runtime.default_device()

    def devices(self) -> list[runtime.Device]:
        """Return the devices."""
        return list(runtime.devices())

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """Return the default dtype of each kind of Python number."""
        return {
            "real floating": dtypes.default_float(),
            "complex floating": dtypes.default_complex(),
            "integral": dtypes.default_int(),
            "indexing": dtypes.default_int(),
        }

    def dtypes(
        self, *, device: Any = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """Return the dtypes of one kind or several, by name; all if None."""
        kinds = _ALL if kind is None else (kind,) if isinstance(kind, str) else kind
        wanted = [dtypes.as_dtype(name) for name in _names(kinds)]
        return {d.name: d for d in wanted if dtypes.canonicalize(d) == d}


def _names(kinds: tuple[str, ...]) -> list[str]:
    names: list[str] = []
    for kind in kinds:
        if kind not in _KINDS:
            raise ArgumentError(
                f"dtypes: expected kinds among {list(_KINDS)}, got {kind!r}. "
                "Write one of them."
            )
        parts = _KINDS[kind]
        names += _names(parts) if parts[0] in _KINDS and parts != ("bool",) else parts
    return names


def __array_namespace_info__() -> ArrayNamespaceInfo:  # noqa: N807 - the standard's name
    """Return the capabilities of `imprint.numpy`, as the standard defines.

    Example:
        >>> import imprint.numpy as np
        >>> np.__array_namespace_info__().dtypes(kind="complex floating")
        {'complex64': dtype('complex64')}
    """
    return ArrayNamespaceInfo()
