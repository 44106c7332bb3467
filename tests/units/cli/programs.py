"""Programs for `imprint run`, written to files and run in fresh processes."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}  # seen from any directory
COMMAND = "import sys, imprint.cli; sys.exit(imprint.cli.main())"


def write(path, program):
    path.write_text(textwrap.dedent(program), encoding="utf-8")
    return path


def imprint(*words, cwd):
    """Run the command in a fresh process; standard error is no terminal."""
    return python("-c", COMMAND, *words, cwd=cwd)


def python(*words, cwd):
    """Run Python in a fresh process."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=ENVIRONMENT,
    )
