"""`imprint run`: run a program and tell what its jitted functions compiled, and why.

1. The program runs as Python would run it (`launch`), while a `ledger` is kept.
2. However it ends, the table of the ledger is printed on standard error (`report`), and
   written as JSON if that was asked for.
3. The exit status is the program's. If that is 0 and a function was recompiled more
   often than it may, the status is 3.
"""

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import imprint
from imprint._src.cli.launch import launch
from imprint._src.cli.ledger import Ledger, Row
from imprint._src.cli.report import count, print_report, short_place
from imprint._src.jit.versions.version import OBSERVERS

RECOMPILED = 3
"""The exit status for too many recompiles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What to run and how to report.

    Args:
        program: the script or `-m` and the module, then the program's own arguments.
        json: where to write the report as JSON: a file, `-` for standard output.
        recompiles: how often each function may be recompiled.
    """

    program: Sequence[str]
    json: str | None = None
    recompiles: int | None = None


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the words after `run` before the program: what follows is its own."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-m":
        at += 2 if words[at] == "--fail-on-recompile" else 1
    return list(words[:at]), list(words[at:])


def mistake(asked: Run) -> str:
    """Return what is wrong with what was asked; nothing if it can be run."""
    program = asked.program
    if program[:1] == ["-m"]:
        return "" if len(program) > 1 else "expected a module after -m"
    if not program:
        return "expected a script, or -m and a module"
    script = program[0]
    if asked.json == "-" and script.endswith(".json"):
        return f"expected a script, got {script!r}; for a report, write --json={script}"
    if not Path(script).is_file():
        return f"expected a script, got {script!r}, which is no file"
    if asked.json is not None and not Path(asked.json).parent.is_dir():
        return f"expected --json=FILE in a directory that exists, got {asked.json!r}"
    return ""


def run(asked: Run) -> int:
    """Run a program, report, and return the exit status."""
    ledger, process = Ledger(), os.getpid()
    out, err = sys.stdout, sys.stderr  # the program may leave others there
    OBSERVERS.append(ledger)
    try:
        status = launch(asked.program)
    finally:
        OBSERVERS.remove(ledger)
    if os.getpid() != process:  # a fork of the program: the report is its parent's
        return status
    rows = ledger.rows()
    with suppress(OSError, ValueError):  # nobody reads it any more
        out.flush()
    print_report(rows, err)
    excess = _excess(rows, asked.recompiles)
    if excess:
        print(excess, file=err)
        status = status or RECOMPILED
    if asked.json is not None:
        _write_json(asked, rows, status, out)
    return status


def _excess(rows: Sequence[Row], limit: int | None) -> str:
    if limit is None:
        return ""
    told = ", ".join(
        f"{row.recompiles} of {row.function} ({short_place(row.defined)})"
        for row in rows
        if row.recompiles > limit and not row.is_library
    )
    if not told:
        return ""
    return (
        f"imprint run: expected at most {count(limit, 'recompile')} of each function "
        f"(--fail-on-recompile), got {told}. The table says why, and what to do."
    )


def _write_json(asked: Run, rows: Sequence[Row], status: int, out: TextIO) -> None:
    data: dict[str, Any] = {
        "imprint": imprint.__version__,
        "program": list(asked.program),
        "status": status,
        "functions": [row.as_dict() for row in rows],
    }
    if asked.json == "-":
        print(json.dumps(data), file=out, flush=True)
    else:
        Path(str(asked.json)).write_text(json.dumps(data, indent=2) + "\n", "utf-8")
