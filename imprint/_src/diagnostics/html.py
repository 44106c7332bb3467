"""Pieces of HTML for notebooks and reports.

All texts are escaped here, so callers give plain texts. The standard module `html` is not
loaded: its table of entities takes 1 ms of each import.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

_ESCAPED: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"}
)


def escape(text: str) -> str:
    """Return a text as HTML."""
    return text.translate(_ESCAPED)


def fields(title: str, values: Mapping[str, object]) -> str:
    """Return a table of names and values under a title."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(str(value))}</td></tr>"
        for name, value in values.items()
    )
    return f"<div><b>{escape(title)}</b><table>{rows}</table></div>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with a head."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(x))}</td>" for x in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def folded(title: str, text: str) -> str:
    """Return a text that a click on its title shows."""
    return (
        f"<details><summary>{escape(title)}</summary>"
        f"<pre>{escape(text)}</pre></details>"
    )
