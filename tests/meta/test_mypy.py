"""mypy agrees with pyright about the programs of `tests/typing`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "tests" / "typing").glob("*.py"))
ERROR = re.compile(r"(.+?):(\d+): error: (.*)")
KNOWN = re.compile(r'Expression is of type ".*\bAny\b.*", not')
"""Its type for the result of a function that is given a lambda."""
UNSEEN = "power("
"""A call of `partial(imprint.jit, …)(f)`, whose arguments mypy does not know."""


@pytest.mark.exhaustive
def test_mypy_finds_the_mistakes_and_no_other():
    options = ["--cache-dir", os.devnull, "--follow-imports=silent"]
    command = [sys.executable, "-m", "mypy", *options, *map(str, FILES)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    found = [
        match.groups() for match in map(ERROR.match, done.stdout.splitlines()) if match
    ]
    assert found, done.stdout + done.stderr
    expected = {
        (file.name, number): line
        for file in FILES
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if "pyright: ignore" in line
    }
    other = [
        (file, number, text)
        for file, number, text in found
        if (Path(file).name, int(number)) not in expected and not KNOWN.match(text)
    ]
    assert not other
    seen = {(Path(file).name, int(number)) for file, number, _ in found}
    missed = [
        expected[at] for at in expected.keys() - seen if UNSEEN not in expected[at]
    ]
    assert not missed
