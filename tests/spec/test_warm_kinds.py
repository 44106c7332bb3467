"""A program that compiles in every way, run in fresh processes: cold, warm, and edited."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (Path(__file__).parent / "kinds.py").read_text()
NAMES = [part.partition("(")[0] for part in TEXT.split("@case\ndef ")[1:]]


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """Return how often each case traced and compiled, in each life of the program."""
    folder = tmp_path_factory.mktemp("kinds")
    given = {k: v for k, v in os.environ.items() if not k.startswith("IMPRINT")}
    given |= {"PYTHONPATH": str(ROOT), "IMPRINT_CACHE_DIR": str(folder / "store")}
    script = folder / "kinds.py"

    @cache
    def life(text):
        script.write_text(text)
        command = [sys.executable, "-W", "error", script]
        done = subprocess.run(command, capture_output=True, text=True, env=given)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    edited = TEXT.replace("RATE = 2.0", "RATE = 4.0")
    assert edited != TEXT
    return {"cold": life(TEXT), "warm": life(TEXT + "\n"), "edited": life(edited)}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_starts_warm_until_it_is_edited(counts, name):
    assert counts["cold"][name] == [1, 1]
    assert counts["warm"][name] == [0, 0]
    assert counts["edited"][name][0] == 1
