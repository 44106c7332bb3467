"""`python -m imprint.as_jax`: run a program with imprint in the place of JAX.

The program is a script, or `-m` and a module, with its own arguments. It runs in this process
as in Python itself, and the exit status is the program's.
"""

import sys
from collections.abc import Sequence
from typing import Final

USAGE: Final = (
    "usage: python -m imprint.as_jax SCRIPT [ARGUMENTS]\n"
    "       python -m imprint.as_jax -m MODULE [ARGUMENTS]"
)


def main(words: Sequence[str]) -> int:
    """Run the program that the words name; return its exit status."""
    from imprint._src.cli.runpy import run_program  # noqa: PLC0415 - after the finder

    if not words or words[0] in ("-h", "--help") or words == ["-m"]:
        print(USAGE, file=sys.stdout if words else sys.stderr)
        return 0 if words and words[0] != "-m" else 2
    return run_program(words)
