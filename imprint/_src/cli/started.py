"""`imprint cache why`: run a program, and tell of each function how it started.

The program runs as ever, with the store in use. Of each version that it made, one line
says that it started warm, or what is the first difference between what the disk had and
now; and if it is not kept, what keeps it from being kept, and what to do about it.
"""

import sys
from collections.abc import Sequence

from imprint._src.cli.launch import launch
from imprint._src.jit.load_from_disk import STARTS, VersionStart


def why(program: Sequence[str]) -> int:
    """Run a program, and say of each function why it was traced, if it was."""
    lines: dict[str, int] = {}
    err = sys.stderr  # the program may leave another there

    def note(start: VersionStart) -> None:
        line = f"{start.version}: {_told(start)}"
        lines[line] = lines.get(line, 0) + 1

    STARTS.append(note)
    try:
        status = launch(program)
    finally:
        STARTS.remove(note)
    for line, count in lines.items():
        print(line if count == 1 else f"{line} ({count} times)", file=err)
    if not lines:
        print("nothing was compiled", file=err)
    return status


def _told(start: VersionStart) -> str:
    reason = start.version.trace_reason
    if not start.why:
        return "started warm"
    if not reason:
        return f"was traced: {start.why}; the next process starts warm"
    return f"is traced each time: {reason}"
