"""A small pretty-printer: documents that are laid out to a width.

A document is a string, a tuple of documents (one after the other), `Line` (a break: its
text when flat, else a new line), `Nest` (deeper indent) or `Group` (flat if it fits in
the line, broken otherwise). The layout is Wadler's.
"""

from typing import Any, Final, NamedTuple

Doc = Any
"""`str`, `Line`, `Nest`, `Group`, or a list of documents."""


class Line(NamedTuple):
    """A place where the line may break; `flat` is written where it does not."""

    flat: str = " "


class Nest(NamedTuple):
    """A document whose broken lines are indented by two more columns."""

    doc: Doc


class Group(NamedTuple):
    """A document that is written on one line if it fits."""

    doc: Doc


_INDENT: Final = 2


def layout(doc: Doc, width: int = 80) -> str:
    """Return the text of a document, in lines of `width` columns where possible."""
    out: list[str] = []
    column = 0
    agenda: list[tuple[int, bool, Doc]] = [(0, False, doc)]
    while agenda:
        indent, flat, doc = agenda.pop()
        if isinstance(doc, str):
            out.append(doc)
            column += len(doc)
        elif isinstance(doc, list):
            agenda.extend((indent, flat, part) for part in reversed(doc))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - documents nest
        elif isinstance(doc, Nest):
            agenda.append((indent + _INDENT, flat, doc.doc))
        elif isinstance(doc, Group):
            agenda.append((indent, flat or _fits(doc.doc, width - column), doc.doc))
        elif flat:
            out.append(doc.flat)
            column += len(doc.flat)
        else:
            out.append("\n" + " " * indent)
            column = indent
    return "".join(out)


def join(separator: list[Doc], docs: list[Doc]) -> list[Doc]:
    """Put a separator between documents."""
    out: list[Doc] = []
    for doc in docs:
        out += [*separator, doc] if out else [doc]
    return out


def _fits(doc: Doc, room: int) -> bool:
    agenda = [doc]
    while agenda and room >= 0:
        doc = agenda.pop()
        if isinstance(doc, str):
            room -= len(doc)
        elif isinstance(doc, list):
            agenda.extend(reversed(doc))  # pyright: ignore[reportUnknownArgumentType] - documents nest
        elif isinstance(doc, Line):
            room -= len(doc.flat)
        else:
            agenda.append(doc.doc)
    return room >= 0
