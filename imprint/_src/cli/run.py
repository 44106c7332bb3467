"""`imprint run`: run a program, and report its compiles.

1. The program runs as in Python (`runpy`), with a `compile_log`.
2. At its end, also after an error, the table is printed on standard error (`report`), and
   written as JSON on request.
3. The exit status is the program's. If that is 0 and a function was recompiled more often
   than allowed, the status is 3.
"""

import importlib
import json
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import imprint
from imprint._src.cli.compile_log import CompileLog, Row
from imprint._src.cli.page import Recorder, page
from imprint._src.cli.report import count, print_report, short_place
from imprint._src.cli.runpy import run_program
from imprint._src.config import config
from imprint._src.jit.versions.version import OBSERVERS

RECOMPILED = 3
"""The exit status for too many recompiles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The program and the options of the report.

    Args:
        program: the script or `-m` and the module, then the program's own arguments.
        json: where to write the report as JSON: a file, `-` for standard output.
        html: the file to write the report as a page to.
        as_jax: whether `import jax` gives imprint.
        recompiles: the limit of recompiles for each function.
    """

    program: Sequence[str]
    json: str | None = None
    html: str | None = None
    as_jax: bool = False
    recompiles: int | None = None


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the words after `run` into options and the program with its arguments."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-m":
        at += 2 if words[at] in ("--fail-on-recompile", "--html") else 1
    return list(words[:at]), list(words[at:])


def usage_error(options: RunOptions) -> str:
    """Return the message of a usage error; empty if there is none."""
    program = options.program
    if program[:1] == ["-m"]:
        return "" if len(program) > 1 else "expected a module after -m"
    if not program:
        return "expected a script, or -m and a module"
    script = program[0]
    if options.json == "-" and script.endswith(".json"):
        return f"expected a script, got {script!r}; for a report, write --json={script}"
    if not Path(script).is_file():
        return f"expected a script, got {script!r}, which is no file"
    if options.json is not None and not Path(options.json).parent.is_dir():
        return f"expected --json=FILE in a directory that exists, got {options.json!r}"
    if options.html is not None and not Path(options.html).parent.is_dir():
        return f"expected --html FILE in a directory that exists, got {options.html!r}"
    return ""


def run(options: RunOptions) -> int:
    """Run a program, report, and return the exit status."""
    if options.as_jax:
        importlib.import_module("imprint.as_jax")
    log, process = CompileLog(), os.getpid()
    out, err = sys.stdout, sys.stderr  # the program may leave others there
    if options.json not in (None, "-"):  # the program may change the directory
        options = replace(options, json=os.path.abspath(options.json))
    if options.html is not None:
        options = replace(options, html=os.path.abspath(options.html))
    shown, recorder = config.show_progress, Recorder()
    OBSERVERS.append(log)
    try:
        is_default = "IMPRINT_SHOW_PROGRESS" not in os.environ
        config.update("show_progress", shown or is_default)
        with recorder if options.html is not None else nullcontext():
            status = run_program(options.program)
    finally:
        OBSERVERS.remove(log)
        config.update("show_progress", shown)
    if os.getpid() != process:  # a fork of the program: the report is its parent's
        return status
    rows = log.rows()
    with suppress(OSError, ValueError):  # the reader is gone
        out.flush()
    excess = _excess(rows, options.recompiles)
    with suppress(OSError, ValueError):
        print_report(rows, err)
        if excess:
            print(excess, file=err)
    if excess:
        status = status or RECOMPILED
    if options.json is not None:
        _write_json(options, rows, status, out)
    if options.html is not None:
        text = page(" ".join(options.program), rows, recorder.events)
        Path(options.html).write_text(text, "utf-8")
    return status


def _excess(rows: Sequence[Row], limit: int | None) -> str:
    if limit is None:
        return ""
    excess = ", ".join(
        f"{row.recompiles} of {row.function} ({short_place(row.defined)})"
        for row in rows
        if row.recompiles > limit and not row.is_library
    )
    if not excess:
        return ""
    return (
        f"imprint run: expected at most {count(limit, 'recompile')} of each function "
        f"(--fail-on-recompile), got {excess}. The table says why, and what to do."
    )


def _write_json(
    options: RunOptions, rows: Sequence[Row], status: int, out: TextIO
) -> None:
    data: dict[str, Any] = {
        "imprint": imprint.__version__,
        "program": list(options.program),
        "status": status,
        "functions": [row.as_dict() for row in rows],
    }
    if options.json == "-":
        with suppress(OSError, ValueError):
            print(json.dumps(data), file=out, flush=True)
    else:
        Path(str(options.json)).write_text(json.dumps(data, indent=2) + "\n", "utf-8")
