import builtins
import math
import sys

import pytest

import imprint
from tests.sharing import shared_executables


@pytest.fixture(autouse=True, scope="module")
def _shared_executables():
    with shared_executables():
        yield


@pytest.fixture(autouse=True)
def _restored(monkeypatch):
    """Start without versions; restore the modules that programs edit."""
    imprint.clear_caches()
    before = set(sys.modules)
    monkeypatch.setattr(builtins, "round", round)
    monkeypatch.setattr(math, "tau", math.tau)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("guards_"):
            del sys.modules[name]
