"""Layouts: the order of the elements of an array in the memory of a device.

The compiler chooses it; `Compiled.input_formats` and `output_formats` say what it chose.
"""

from dataclasses import dataclass, replace
from typing import Any, final


@final
@dataclass(frozen=True)
class DeviceLocalLayout:
    """The order of the elements of an array in memory.

    Args:
        major_to_minor: the axes, the one that varies slowest first.
        tiling: the sizes of tiles, of which CPUs have none.
        sub_byte_element_size_in_bits: the bits of an element that is narrower than a
            byte; 0 for others.

    Example:
        >>> from imprint.experimental.layout import Layout
        >>> Layout((0, 1)).update(major_to_minor=(1, 0))
        DeviceLocalLayout(major_to_minor=(1, 0), tiling=None, sub_byte_element_size_in_bits=0)
    """

    major_to_minor: tuple[int, ...]
    tiling: tuple[tuple[int, ...], ...] | None = None
    sub_byte_element_size_in_bits: int = 0

    def update(self, **changes: Any) -> "DeviceLocalLayout":
        """Return the layout with some of its fields changed."""
        return replace(self, **changes)


@final
@dataclass(frozen=True)
class Format:
    """Where an array is: its layout in memory, and its sharding over devices.

    Args:
        layout: the order of its elements.
        sharding: the devices.
    """

    layout: DeviceLocalLayout | None = None
    sharding: Any = None
