"""Drawings: labelled digits as PNG; losses, costs and devices as text.

- `draw_digits`: a grid of images above their labels, held-out images in their order, then
  all with a wrong label. A right label is green; a wrong one is red, in a red frame, and
  shows the true label.
- `draw_curve`: losses over time, which runs to the right; a column is the mean of its
  steps. A dotted line is a loss to compare with.
- `draw_growth`: seconds over the length of a program, both axes logarithmic. A straight
  line is a power of the length.
- `draw_column`: cells below each other, such as the devices that have parts of a batch.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy

from examples.data import Numbers, extra

_SHOWN = 48
_DIGITS_A_ROW = 12
_IMAGE = 56  # pixels of the picture for an image of 8×8: a multiple of 8
_CELL_WIDTH, _CELL_HEIGHT = (
    _IMAGE + 20,
    _IMAGE + 40,
)  # of a cell: an image and its label
_MARGIN, _TITLE = 16, 36
_INK, _GREEN, _RED, _PAPER = "#222222", "#1b7a3d", "#c62828", "#ffffff"


def draw_digits(
    path: Path, images: Numbers, labels: Numbers, predicted: Numbers
) -> None:
    """Write the picture.

    Args:
        path: the PNG file.
        images: rows of 64 numbers between 0 and 1.
        labels: their digits.
        predicted: the predicted digits.
    """
    wrong = numpy.flatnonzero(labels != predicted)
    first = numpy.arange(min(_SHOWN, len(labels)))
    blocks = (
        (f"The first {len(first)} of {len(labels)} held-out images", first),
        (f"All that were labelled wrongly: {len(wrong)}", wrong),
    )
    height = sum(_block_height(len(chosen)) for _, chosen in blocks)
    size = (2 * _MARGIN + _DIGITS_A_ROW * _CELL_WIDTH, 2 * _MARGIN + height)
    canvas = extra("PIL.Image").new("RGB", size, _PAPER)
    pen = extra("PIL.ImageDraw").Draw(canvas)
    font = extra("PIL.ImageFont").load_default(18)
    top = _MARGIN
    for title, chosen in blocks:
        pen.text((_MARGIN, top), title, fill=_INK, font=font)
        for place, i in enumerate(chosen):
            row, column = divmod(place, _DIGITS_A_ROW)
            corner = (_MARGIN + column * _CELL_WIDTH, top + _TITLE + row * _CELL_HEIGHT)
            canvas.paste(_image(images[i]), corner)
            _label(pen, font, corner, (int(labels[i]), int(predicted[i])))
        top += _block_height(len(chosen))
    canvas.save(path, format="PNG")


def _block_height(count: int) -> int:
    return _TITLE + -(-count // _DIGITS_A_ROW) * _CELL_HEIGHT


def _image(pixels: Numbers) -> Any:
    """Return one digit, dark on light, enlarged without smoothing."""
    shades = (255 * (1 - pixels.reshape(8, 8))).astype(numpy.uint8)
    zoom = _IMAGE // 8
    return extra("PIL.Image").fromarray(shades.repeat(zoom, 0).repeat(zoom, 1))


def _label(pen: Any, font: Any, corner: tuple[int, int], pair: tuple[int, int]) -> None:
    (left, top), (label, predicted) = corner, pair
    right = label == predicted
    text = f"{predicted}" if right else f"{predicted}, is {label}"
    pen.rectangle(
        (left - 1, top - 1, left + _IMAGE, top + _IMAGE),
        outline="#cccccc" if right else _RED,
        width=1 if right else 3,
    )
    place = (left + _IMAGE // 2, top + _IMAGE + 5)
    pen.text(place, text, fill=_GREEN if right else _RED, font=font, anchor="ma")


# ---- losses ----

_CURVE_COLUMNS, _CURVE_ROWS = 72, 14


def draw_curve(losses: Sequence[float], compared: float) -> str:
    """Return the drawing.

    Args:
        losses: the loss of each step.
        compared: the loss of the dotted line.
    """
    columns = min(_CURVE_COLUMNS, len(losses))
    means = [float(part.mean()) for part in numpy.array_split(losses, columns)]
    top = max(*means, compared)
    rows = [
        ["."] * columns if row == _curve_row(compared, top) else [" "] * columns
        for row in range(_CURVE_ROWS)
    ]
    for column, mean in enumerate(means):
        rows[_curve_row(mean, top)][column] = "*"
    lines = [
        f"{top * (1 - row / (_CURVE_ROWS - 1)):5.2f} |{''.join(cells)}".rstrip()
        for row, cells in enumerate(rows)
    ]
    steps = str(len(losses)).rjust(columns - 1)
    return "\n".join([*lines, f"      +{'-' * columns}", f"step   1{steps}"])


def _curve_row(loss: float, top: float) -> int:
    """Return the row of a loss; the first is that of `top`, the last that of 0."""
    return round((1 - loss / top) * (_CURVE_ROWS - 1))


# ---- costs ----

_GROWTH_COLUMNS, _GROWTH_ROWS = 56, 17

Curve = Mapping[int, float]


def draw_growth(curves: Mapping[str, Curve]) -> str:
    """Return the drawing.

    Args:
        curves: the seconds for each length, by the letter that shows them; the last
            letter of a cell is shown.
    """
    lengths = [n for curve in curves.values() for n in curve]
    times = [s for curve in curves.values() for s in curve.values()]
    low = math.floor(math.log10(min(times)))
    high = max(math.ceil(math.log10(max(times))), low + 1)
    left, right = math.log(min(lengths)), math.log(max(lengths))
    cells = [[" "] * _GROWTH_COLUMNS for _ in range(_GROWTH_ROWS)]

    def column(n: int) -> int:
        return round(
            (math.log(n) - left) / ((right - left) or 1) * (_GROWTH_COLUMNS - 1)
        )

    def row(s: float) -> int:
        return round((high - math.log10(s)) / (high - low) * (_GROWTH_ROWS - 1))

    for letter, curve in curves.items():
        for n, s in curve.items():
            cells[row(s)][column(n)] = letter
    powers = {row(10.0**power): _seconds(power) for power in range(low, high + 1)}
    lines = [
        f"{powers.get(i, ''):>7} |{''.join(line)}".rstrip()
        for i, line in enumerate(cells)
    ]
    ruler = [" "] * (_GROWTH_COLUMNS + 4)
    for n in sorted({*lengths}):
        ruler[column(n) : column(n) + len(str(n))] = str(n)
    return "\n".join(
        [
            *lines,
            f"        +{'-' * _GROWTH_COLUMNS}",
            f"{'':9}{''.join(ruler).rstrip()}",
        ]
    )


def _seconds(power: int) -> str:
    unit, exponent = next(
        (unit, e)
        for unit, e in (("s", 0), ("ms", -3), ("µs", -6), ("ns", -9))
        if power >= e
    )
    return f"{10 ** (power - exponent)} {unit}"


# ---- devices ----


def draw_column(cells: Sequence[str]) -> str:
    """Return cells below each other, each in a frame."""
    width = max(map(len, cells)) + 2
    bar = "─" * width
    rows = f"\n├{bar}┤\n".join(f"│{cell.center(width)}│" for cell in cells)
    return f"┌{bar}┐\n{rows}\n└{bar}┘"
