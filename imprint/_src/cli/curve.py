"""A curve of losses, drawn with letters: time runs to the right, the loss downwards.

A column is the mean of the losses of its steps. A dotted line shows another loss, to
compare with.
"""

from collections.abc import Sequence

import numpy

_COLUMNS, _ROWS = 72, 14


def draw_curve(losses: Sequence[float], compared: float) -> str:
    """Return the drawing.

    Args:
        losses: the loss of each step.
        compared: the loss that the dotted line shows.
    """
    columns = min(_COLUMNS, len(losses))
    means = [float(part.mean()) for part in numpy.array_split(losses, columns)]
    top = max(*means, compared)
    rows = [
        ["."] * columns if row == _row(compared, top) else [" "] * columns
        for row in range(_ROWS)
    ]
    for column, mean in enumerate(means):
        rows[_row(mean, top)][column] = "*"
    lines = [
        f"{top * (1 - row / (_ROWS - 1)):5.2f} |{''.join(cells)}".rstrip()
        for row, cells in enumerate(rows)
    ]
    steps = str(len(losses)).rjust(columns - 1)
    return "\n".join([*lines, f"      +{'-' * columns}", f"step   1{steps}"])


def _row(loss: float, top: float) -> int:
    """Return the row of a loss; the first is that of `top`, the last that of 0."""
    return round((1 - loss / top) * (_ROWS - 1))
