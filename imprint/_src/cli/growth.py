"""A picture of growth, drawn with letters: both axes are logarithmic.

The length of a program runs to the right, seconds upwards. A straight line is a power of
the length: one step up for one to the right is the length itself.
"""

import math
from collections.abc import Mapping

_COLUMNS, _ROWS = 56, 17

Curve = Mapping[int, float]


def draw_growth(curves: Mapping[str, Curve]) -> str:
    """Return the drawing.

    Args:
        curves: the seconds for each length, by the letter that shows them; where two
            meet, the last is shown.
    """
    lengths = [n for curve in curves.values() for n in curve]
    times = [s for curve in curves.values() for s in curve.values()]
    low = math.floor(math.log10(min(times)))
    high = max(math.ceil(math.log10(max(times))), low + 1)
    left, right = math.log(min(lengths)), math.log(max(lengths))
    cells = [[" "] * _COLUMNS for _ in range(_ROWS)]

    def column(n: int) -> int:
        return round((math.log(n) - left) / ((right - left) or 1) * (_COLUMNS - 1))

    def row(s: float) -> int:
        return round((high - math.log10(s)) / (high - low) * (_ROWS - 1))

    for letter, curve in curves.items():
        for n, s in curve.items():
            cells[row(s)][column(n)] = letter
    powers = {row(10.0**power): _seconds(power) for power in range(low, high + 1)}
    lines = [
        f"{powers.get(i, ''):>7} |{''.join(line)}".rstrip()
        for i, line in enumerate(cells)
    ]
    ruler = [" "] * (_COLUMNS + 4)
    for n in sorted({*lengths}):
        ruler[column(n) : column(n) + len(str(n))] = str(n)
    return "\n".join(
        [*lines, f"        +{'-' * _COLUMNS}", f"{'':9}{''.join(ruler).rstrip()}"]
    )


def _seconds(power: int) -> str:
    unit, exponent = next(
        (unit, e)
        for unit, e in (("s", 0), ("ms", -3), ("µs", -6), ("ns", -9))
        if power >= e
    )
    return f"{10 ** (power - exponent)} {unit}"
