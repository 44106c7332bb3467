"""`python -m imprint.as_jax`: run a program with imprint in the place of JAX.

The program is a script, or `-m` and a module, with its own arguments. It runs in this process
as in Python itself, and the exit status is the program's.
"""

import sys
from collections.abc import Sequence
from typing import Final

from imprint._src.cli.run import RunOptions, usage_error
from imprint._src.cli.runpy import run_program

USAGE: Final = (
    "usage: python -m imprint.as_jax SCRIPT [ARGUMENTS]\n"
    "       python -m imprint.as_jax -m MODULE [ARGUMENTS]"
)


def main(words: Sequence[str]) -> int:
    """Run the program that the words name; return its exit status."""
    if words[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    wrong = usage_error(RunOptions(program=words))
    if wrong:
        print(f"{USAGE}\npython -m imprint.as_jax: {wrong}", file=sys.stderr)
        return 2
    return run_program(words)
