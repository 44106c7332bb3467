"""Pictures of shardings.

A picture is a grid: a cell is a part of the array and lists its devices. IPython shows it
as a drawing in a notebook and as text in a terminal. Arrays of one axis are one row.
"""

import sys
from collections.abc import Sequence
from typing import Any

from imprint._src.array import ArrayImpl
from imprint._src.errors import ArgumentError
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.single import SingleDeviceSharding


def visualize_sharding(shape: Sequence[int], sharding: Any) -> None:
    """Show which devices have which part of an array of one or two axes.

    Args:
        shape: the shape of the array.
        sharding: its sharding.

    Returns:
        None; the picture is printed.

    Raises:
        ArgumentError: the array has another rank, or `sharding` is none.
        ShapeError: an array of this shape cannot be spread like this.

    Example:
        >>> import imprint
        >>> rows = imprint.NamedSharding(
        ...     imprint.make_mesh((1,), ("d",)), imprint.P("d")
        ... )
        >>> imprint.debug.visualize_sharding((4, 2), rows)
        ┌───────┐
        │ cpu:0 │
        └───────┘
    """
    _show(_grid("visualize_sharding", tuple(shape), sharding))


def visualize_array_sharding(arr: ArrayImpl) -> None:
    """Show which devices have which part of an array.

    Args:
        arr: the array, of one or two axes.

    Returns:
        None; the picture is printed.

    Raises:
        ArgumentError: the array has another rank, or is traced.

    Example:
        >>> import imprint
        >>> imprint.debug.visualize_array_sharding(imprint.numpy.ones(3))
        ┌───────┐
        │ cpu:0 │
        └───────┘
    """
    if type(arr) is not ArrayImpl:
        raise ArgumentError(
            f"visualize_array_sharding: expected an array with values, got {arr!r}. Ask "
            "the result of the compiled function."
        )
    _show(_grid("visualize_array_sharding", arr.shape, arr.sharding))


def _show(grid: list[list[str]]) -> None:
    shell: Any = sys.modules.get("IPython")
    running: Any = None if shell is None else shell.get_ipython()
    if running is None:
        sys.stdout.write(table(grid) + "\n")
    else:
        shown = {"text/plain": table(grid), "image/svg+xml": picture(grid)}
        running.display_pub.publish(shown)


def _grid(name: str, shape: tuple[int, ...], sharding: Any) -> list[list[str]]:
    """Return the names of the devices that have each part, row by row."""
    if len(shape) not in {1, 2}:
        raise ArgumentError(
            f"{name}: expected an array of one or two axes, got the shape {shape}. Look "
            "at x.addressable_shards, or at two axes of it."
        )
    if not isinstance(sharding, NamedSharding | SingleDeviceSharding):
        raise ArgumentError(
            f"{name}: expected a sharding, got {sharding!r}. Write x.sharding."
        )
    parts = sharding.devices_indices_map(shape)
    cells: dict[tuple[int, ...], list[Any]] = {}
    for device, index in parts.items():
        starts = [s.indices(n)[0] for s, n in zip(index, shape, strict=True)]
        cells.setdefault(tuple([0] * (2 - len(starts)) + starts), []).append(device)
    rows, columns = ([*dict.fromkeys(sorted(at[i] for at in cells))] for i in (0, 1))
    return [[_named(cells[row, column]) for column in columns] for row in rows]


def _named(devices: Sequence[Any]) -> str:
    return f"{devices[0].platform}:{','.join(str(device.id) for device in devices)}"


def table(grid: Sequence[Sequence[str]]) -> str:
    """Return a grid as lines of text."""
    width = max(len(cell) for row in grid for cell in row) + 2
    bar = "─" * width

    def line(left: str, middle: str, right: str) -> str:
        return left + middle.join([bar] * len(grid[0])) + right

    rows = ["│" + "│".join(cell.center(width) for cell in row) + "│" for row in grid]
    return "\n".join(
        [
            line("┌", "┬", "┐"),
            f"\n{line('├', '┼', '┤')}\n".join(rows),
            line("└", "┴", "┘"),
        ]
    )


def picture(grid: Sequence[Sequence[str]]) -> str:
    """Return a grid as SVG, with a colour for each set of devices."""
    from html import escape  # noqa: PLC0415 - 3 ms of an import, and few draw

    names = [*dict.fromkeys(cell for row in grid for cell in row)]
    width, height = 110, 40
    cells = [
        f'<rect x="{x * width}" y="{y * height}" width="{width}" height="{height}" '
        f'fill="hsl({360 * names.index(cell) // len(names)},60%,80%)" stroke="#555"/>'
        f'<text x="{x * width + width // 2}" y="{y * height + height // 2 + 5}" '
        f'text-anchor="middle" font-size="13">{escape(cell)}</text>'
        for y, row in enumerate(grid)
        for x, cell in enumerate(row)
    ]
    size = f'width="{width * len(grid[0])}" height="{height * len(grid)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(cells)}</svg>'
