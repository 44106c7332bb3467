"""A picture of labelled digits: a grid, each image above its label, written as PNG.

First come held-out images in their order, then all that were labelled wrongly. A right
label is green; a wrong one is red, in a red frame, and says what it should be.
"""

from pathlib import Path
from typing import Any

import numpy

from imprint._src.cli.extras import extra

Numbers = numpy.ndarray[Any, Any]

_SHOWN = 48
_COLUMNS = 12
_IMAGE = 56  # pixels of the picture for an image of 8×8: a multiple of 8
_WIDTH, _HEIGHT = _IMAGE + 20, _IMAGE + 40  # of a cell: an image and its label
_MARGIN, _TITLE = 16, 36
_INK, _GREEN, _RED, _PAPER = "#222222", "#1b7a3d", "#c62828", "#ffffff"


def draw(path: Path, images: Numbers, labels: Numbers, predicted: Numbers) -> None:
    """Write the picture.

    Args:
        path: the PNG file.
        images: rows of 64 numbers between 0 and 1.
        labels: what the images show.
        predicted: what they were taken for.
    """
    wrong = numpy.flatnonzero(labels != predicted)
    first = numpy.arange(min(_SHOWN, len(labels)))
    blocks = (
        (f"The first {len(first)} of {len(labels)} held-out images", first),
        (f"All that were labelled wrongly: {len(wrong)}", wrong),
    )
    height = sum(_block_height(len(chosen)) for _, chosen in blocks)
    size = (2 * _MARGIN + _COLUMNS * _WIDTH, 2 * _MARGIN + height)
    canvas = extra("PIL.Image").new("RGB", size, _PAPER)
    pen = extra("PIL.ImageDraw").Draw(canvas)
    font = extra("PIL.ImageFont").load_default(18)
    top = _MARGIN
    for title, chosen in blocks:
        pen.text((_MARGIN, top), title, fill=_INK, font=font)
        for place, i in enumerate(chosen):
            row, column = divmod(place, _COLUMNS)
            corner = (_MARGIN + column * _WIDTH, top + _TITLE + row * _HEIGHT)
            canvas.paste(_image(images[i]), corner)
            _label(pen, font, corner, (int(labels[i]), int(predicted[i])))
        top += _block_height(len(chosen))
    canvas.save(path, format="PNG")


def _block_height(count: int) -> int:
    return _TITLE + -(-count // _COLUMNS) * _HEIGHT


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
