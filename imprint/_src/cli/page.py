"""`imprint run --html`: the report as one page, without a script or a network.

1. `Recorder` notes when functions were traced, compiled and loaded, and calls that took long
   though they needed neither. It changes `Jitted.__call__` while the program runs.
2. The page is `page.html` with a timeline, the versions, the misses, and their programs:
   equations and StableHLO by the lines of user code that made them. Texts are escaped.
"""

import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Any, Final, NamedTuple, final

from imprint._src.cli.compile_log import Row
from imprint._src.cli.report import count, short_place
from imprint._src.core.pretty import format_eqn
from imprint._src.core.trace import current_trace
from imprint._src.diagnostics.html import escape, folded
from imprint._src.jit.dispatch import Jitted
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.versions.version import OBSERVERS, Version, VersionCosts

_SLOW: Final = 0.01
"""Seconds from which on a call is shown."""
_EVENTS: Final = 2_000
_PLACE: Final = re.compile(r'^(#loc\d+) = loc\("?(.+?)"?\)$', re.MULTILINE)
_MARK: Final = re.compile(r" loc\((#loc\d+)\)$")

# ---- 1. the recorder ----


class Event(NamedTuple):
    """A bar of the timeline.

    Args:
        kind: "trace", "lower", "compile", "load" or "call".
        name: of the function.
        start: seconds since the program began.
        seconds: its length.
    """

    kind: str
    name: str
    start: float
    seconds: float


@final
class Recorder:
    """An `Observer` that notes when versions were made, and slow calls."""

    def __init__(self) -> None:
        self.events: deque[Event] = deque(maxlen=_EVENTS)
        self._began = time.perf_counter()
        self._made = 0.0
        self._call: Callable[..., Any] = Jitted.__call__

    def __enter__(self) -> "Recorder":
        call, recorder = self._call, self

        def timed(self: Jitted, *args: Any, **kwargs: Any) -> Any:
            if current_trace() is not None:
                return call(self, *args, **kwargs)
            made, start = recorder._made, time.perf_counter()
            try:
                return call(self, *args, **kwargs)
            finally:
                recorder._note_call(self, start, recorder._made - made)

        setattr(Jitted, "__call__", timed)  # noqa: B010 - a method for a while
        OBSERVERS.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        OBSERVERS.remove(self)
        setattr(Jitted, "__call__", self._call)  # noqa: B010 - it was there

    def _note_call(self, function: Jitted, start: float, made: float) -> None:
        seconds = time.perf_counter() - start
        if seconds - made > _SLOW:
            name = str(function.__name__)
            at = start - self._began + made
            self.events.append(Event("call", name, at, seconds - made))

    def missed(self, miss: Explanation) -> None:
        """Note nothing: the compilation is still to come."""

    def failed(self, miss: Explanation) -> None:
        """Note nothing: the user sees the error."""

    def compiled(self, miss: Explanation, costs: VersionCosts) -> None:
        """Note the steps of a version, which ended just now."""
        at = time.perf_counter() - self._began - costs.total
        self._made += costs.total
        is_loaded = not (costs.trace or costs.lower)
        for kind, seconds in costs._asdict().items():
            shown = "load" if is_loaded and kind == "compile" else kind
            if seconds:
                self.events.append(Event(shown, miss.function, at, seconds))
            at += seconds


# ---- 2. the page ----


def page(title: str, rows: Sequence[Row], events: Sequence[Event]) -> str:
    """Return the report.

    Args:
        title: the program.
        rows: the functions that were compiled.
        events: the bars of the timeline.
    """
    versions = [(row, version) for row in rows for version in _alive(row)]
    made = sum(row.versions for row in rows)
    summary = f"{count(len(rows), 'function')}, {count(made, 'version')}"
    return Template(
        Path(__file__).with_name("page.html").read_text("utf-8")
    ).substitute(
        title=escape(title),
        summary=escape(f"{summary}, {count(len(versions), 'version')} at the end."),
        timeline=_timeline(events),
        versions=_versions(versions),
        misses=_misses(rows),
        programs="".join(_program(version) for _, version in versions),
    )


def _alive(row: Row) -> Iterator[Version]:
    for known in row.calls:
        version = known()
        if version is not None:
            yield version


def _timeline(events: Sequence[Event]) -> str:
    if not events:
        return "<p>Nothing was compiled.</p>"
    end = max(e.start + e.seconds for e in events) or 1.0
    names = list(dict.fromkeys(e.name for e in events))
    lines = [
        f'<text x="0" y="{20 * i + 9}">{escape(name)}</text>'
        for i, name in enumerate(names)
    ]
    lines += [
        f'<rect class="{e.kind}" x="{1000 * e.start / end:.2f}" '
        f'y="{20 * names.index(e.name) + 11}" height="7" '
        f'width="{max(1000 * e.seconds / end, 1):.2f}"><title>'
        f"{escape(f'{e.name}: {e.kind}, {e.seconds:.4f} s, at {e.start:.3f} s')}"
        "</title></rect>"
        for e in events
    ]
    keys = "".join(
        f'<span><svg viewBox="0 0 1 1"><rect class="{kind}" width="1" height="1"/></svg> '
        f"{text}</span>"
        for kind, text in _KINDS.items()
    )
    return (
        f'<p class="legend">{keys}0 to {end:.2f} s</p>'
        f'<svg viewBox="0 0 1000 {20 * len(names) + 2}" role="img">{"".join(lines)}</svg>'
    )


_KINDS: Final = {
    "trace": "trace",
    "lower": "lower",
    "compile": "compile",
    "load": "load from the disk",
    "call": f"call of {_SLOW * 1000:.0f} ms or more",
}


def _table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Return a table; numbers are aligned to the right."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    is_number = text[:1].isdigit() and text.replace(",", "").replace(".", "").isdigit()
    return f"<td{' class=n' if is_number else ''}>{escape(text)}</td>"


def _versions(versions: Sequence[tuple[Row, Version]]) -> str:
    head = ("version", "defined", "hits", "bytes", "origin", "trace s", "lower s")
    return _table(
        (*head, "compile s", "the next process"),
        (
            (
                str(version),
                short_place(row.defined),
                f"{max(version.calls - 1, 0):,}",
                f"{version.nbytes:,}",
                version.origin,
                *(f"{seconds:.3f}" for seconds in version.costs),
                f"starts {version.restarts}",
            )
            for row, version in versions
        ),
    )


def _misses(rows: Sequence[Row]) -> str:
    return _table(
        ("function", "difference", "remedy", "called at", "seconds"),
        (
            (
                row.function,
                miss.reason,
                " ".join(filter(None, (*miss.remedies, miss.why.advice))),
                "" if miss.why.site is None else str(miss.why.site),
                f"{miss.spent.total:.3f}",
            )
            for row in rows
            for miss in row.misses
        ),
    )


def _program(version: Version) -> str:
    if not version.texts():
        text = "It was loaded from the disk, and not traced in this process."
        return folded(str(version), text)
    jaxpr = version.jaxpr.jaxpr
    equations: dict[str, list[str]] = {}
    for eqn in jaxpr.eqns:
        source = eqn.source
        line = "imprint" if source is None else f"{source}  {source.expression}"
        equations.setdefault(line, []).append(format_eqn(jaxpr, eqn))
    lines = [folded(line, "\n".join(texts)) for line, texts in equations.items()]
    module = _by_place(version.program.module.text)
    lines += [folded(f"StableHLO of {line}", text) for line, text in module.items()]
    lines.append(folded("the whole jaxpr", str(version.jaxpr)))
    lines.append(folded("the whole StableHLO", version.stablehlo))
    return (
        f"<details><summary>{escape(str(version))}</summary>{''.join(lines)}</details>"
    )


def _by_place(text: str) -> dict[str, str]:
    """Return the operations of a module by the place in user code that made them."""
    places = dict(_PLACE.findall(text))
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        mark = _MARK.search(line)
        if mark is not None:
            place = places.get(mark[1], mark[1])
            found.setdefault(place, []).append(line[: mark.start()].strip())
    return {place: "\n".join(lines) for place, lines in found.items()}
