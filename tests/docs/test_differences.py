"""The tests that the page of differences names exist."""

import ast
import functools
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "reference" / "differences.md"
NAMED = sorted(set(re.findall(r"`(\S+?\.(?:py|txt)(?:::\w+)?)`", PAGE.read_text())))


@functools.cache
def functions_of(path):
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("named", NAMED)
def test_a_named_test_exists(named):
    path, _, function = named.partition("::")
    assert (TESTS / path).exists()
    assert not function or function in functions_of(path)


def test_every_row_names_a_test_or_says_when():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    for row in rows:
        cells = row.strip("|").split(" | ")
        if len(cells) == 4 and not cells[3].strip().startswith(("Test", "---")):
            last = cells[3].strip()
            assert last in ("issue 4", "later") or ".py::" in last or ".txt" in last
