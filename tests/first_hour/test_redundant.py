"""Ordinary programs have few redundant misses."""

import json
import subprocess
import sys

import pytest

import imprint
from tests.first_hour.misses import PARTS, count_misses
from tests.quick import as_for_users

LIMIT = 0.01
"""The share of misses that may be redundant."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", PARTS)
def test_few_misses_of_ordinary_programs_are_redundant(part):
    command = [sys.executable, "-W", "ignore", "-m", "tests.first_hour.misses", part]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=as_for_users()
    )
    assert done.returncode == 0, done.stderr
    count, needless = json.loads(done.stdout.splitlines()[-1])
    assert count > 20
    assert sum(needless.values()) <= LIMIT * count, needless


class Settings:
    scale = 2.0
    is_loud = 1


def test_a_redundant_miss_is_counted_by_its_function():
    @imprint.jit
    def uses(x):
        return x * Settings.scale if Settings.is_loud else x

    def program():
        uses(1.0)
        Settings.is_loud = 2
        uses(1.0)
        Settings.scale = 3.0
        uses(1.0)

    count, needless = count_misses(program)
    assert count == 3
    assert [(name.split()[0], times) for name, times in needless.items()] == [
        ("uses", 1)
    ]
