"""The report of `imprint run`: a table of functions and the reasons of their versions.

A line is numbers and a text: a function with its sums, then each miss with its reason,
place and seconds, then the remedy. On a terminal rich draws the table, if it is installed;
otherwise it is plain text.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, TextIO

from imprint._src.cli.compile_log import Miss, Row, Seconds

_HEAD = (
    *("versions", "hits", "trace s", "lower s", "compile s", "load s"),
    "function, and why",
)
_LOAD = _HEAD.index("load s")  # left out if nothing was loaded
_NO_NUMBERS = ("",) * 6
_SHOWN = 12  # misses of a function


class _Line(NamedTuple):
    cells: tuple[str, ...]
    style: str

    def without(self, column: int) -> "_Line":
        """Return the line without a column."""
        cells = self.cells
        return self._replace(cells=(*cells[:column], *cells[column + 1 :]))


def print_report(rows: Sequence[Row], stream: TextIO) -> None:
    """Print the rows of a compile log as a table."""
    print(f"\n{_summary(rows)}", file=stream)
    if not rows:
        return
    alike = Counter(map(_title, rows))
    lines = [_Line(_HEAD, "dim")]
    for row in rows:
        title = _title(row)
        if alike[title] > 1 and row.jitted_at is not None:
            title += f", jitted at {short_place(row.jitted_at.where)}"
        lines += _lines(row, title)
    if not any(row.loaded for row in rows):
        lines = [line.without(_LOAD) for line in lines]
    if not (stream.isatty() and _draw(lines, stream)):
        _write(lines, stream)


def _summary(rows: Sequence[Row]) -> str:
    if not rows:
        return "imprint run: no jitted function was compiled."
    users = [row for row in rows if not row.is_library]
    own = [row for row in rows if row.is_library]
    recompiles = count(sum(row.recompiles for row in users), "recompile")
    needless = sum(row.needless for row in users)
    recompiles += f" ({needless:,} needless)" if needless else ""
    retraces = sum(row.retraces for row in users)
    recompiles += f", {count(retraces, 'retrace')}" if retraces else ""
    text = f"imprint run: {_made(users)}, {recompiles}, {_time(users)} to make them."
    return f"{text} Of imprint's own: {_made(own)}, {_time(own)}." if own else text


def _made(rows: Sequence[Row]) -> str:
    versions = sum(row.versions for row in rows)
    loaded = sum(row.loaded for row in rows)
    origin = f" ({loaded:,} loaded from the disk)" if loaded else ""
    return f"{count(len(rows), 'function')}, {count(versions, 'version')}{origin}"


def _time(rows: Sequence[Row]) -> str:
    return f"{sum(row.total for row in rows):.2f} s"


def count(n: int, what: str) -> str:
    """Return a number of things: `1 version`, `2 versions`."""
    return f"{n:,} {what}{'s' * (n != 1)}"


# ---- lines ----


def _title(row: Row) -> str:
    if row.is_library:
        return f"{row.function} (imprint's own)"
    return (
        f"{row.function} ({short_place(row.defined)})" if row.defined else row.function
    )


def _lines(row: Row, title: str) -> Iterator[_Line]:
    numbers = f"{row.versions:,}", f"{row.hits:,}", *_seconds(row.costs)
    if row.is_library:  # users cannot change it
        yield _Line((*numbers, title), "")
        return
    yield _Line((*numbers, title), "bold")
    order = sorted(range(len(row.misses)), key=lambda i: -sum(row.misses[i].costs))
    shown: set[str] = set()
    for i in sorted(order[:_SHOWN]):
        yield from _miss_lines(row.misses[i], shown)
    rest = len(order[_SHOWN:])
    if rest:
        more = f"  and {rest:,} more, which took less; --json lists all"
        yield _Line((*_NO_NUMBERS, more), "dim")


def _miss_lines(miss: Miss, shown: set[str]) -> Iterator[_Line]:
    """Yield the lines of a miss, without remedies that were shown before."""
    at = f", at {miss.why.site}" if miss.why.site is not None else ""
    ending = ""
    if miss.is_recompile and miss.why.is_needless:
        ending = ", needless: it is the same program"
    if miss.why.hit:
        ending = ", traced again: it is not read"
    else:
        ending += _ORIGINS.get(miss.why.origin, "")
    text = f"  {miss.reason}{at}{ending}"
    yield _Line(("", "", *_seconds(miss.costs), text), "")
    for remedy in (*miss.remedies, *filter(None, [miss.why.advice])):
        if remedy in shown:
            continue
        shown.add(remedy)
        yield _Line((*_NO_NUMBERS, f"    {remedy}"), "dim")


_ORIGINS = {
    "disk": ", loaded from the disk",
    "memory": ", its program was in memory",
}


def _seconds(costs: Seconds) -> tuple[str, ...]:
    return tuple(f"{seconds:.3f}" for seconds in costs)


def short_place(place: str) -> str:
    """Return `/path/file.py:12` relative to the present directory, if it is inside."""
    try:
        folder = Path.cwd()
        return (
            place if folder == folder.parent else str(Path(place).relative_to(folder))
        )
    except (ValueError, OSError):  # elsewhere, or the present one is gone
        return place


# ---- output ----


def _write(lines: Sequence[_Line], stream: TextIO) -> None:
    """Write the lines as plain text, numbers under each other."""
    table = [line.cells for line in lines]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        numbers = [cell.rjust(n) for cell, n in zip(cells, widths, strict=True)]
        print("  ".join([*numbers[:-1], cells[-1]]), file=stream)


def _draw(lines: Sequence[_Line], stream: TextIO) -> bool:
    """Draw the lines with rich; return False if it is not installed."""
    try:  # 60 ms, and an extra: loaded for a terminal only
        console = import_module("rich.console").Console(file=stream)
        table = import_module("rich.table").Table(box=None, pad_edge=False)
        text = import_module("rich.text").Text
    except ImportError:
        return False
    head, *rest = lines
    for name in head.cells[:-1]:
        table.add_column(name, justify="right", no_wrap=True, header_style=head.style)
    table.add_column(head.cells[-1], overflow="fold", header_style=head.style)
    for line in rest:
        table.add_row(*[text(cell) for cell in line.cells], style=line.style)
    console.print(table)
    return True
