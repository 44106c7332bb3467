"""Files of libraries whose code ran are compared by content, not by time."""

import os
import shutil
import sys
import time
from types import ModuleType

import numpy as np
import pytest

from imprint._src.core import user_code
from imprint._src.jit.manifest import environment
from tests.spec import reborn

X = np.ones(3, np.float32)
MAIN = """
import imprint, a_library
f = imprint.jit(lambda x: a_library.scaled(x))
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "lib" / "python3" / "site-packages" / "a_library.py"
    path.parent.mkdir(parents=True)
    path.write_text("def scaled(x):\n    return x * 2\n")
    return path


@pytest.fixture
def begin(file, tmp_path, imprint_store, monkeypatch):
    """Return a function that begins a life and imports the library as its file is then."""

    def life():
        monkeypatch.setattr(environment, "_known", {})
        monkeypatch.setattr(user_code, "BEGAN", time.time_ns())
        library = ModuleType("a_library")
        library.__file__ = str(file)
        exec(compile(file.read_text(), str(file), "exec"), vars(library))
        monkeypatch.setitem(sys.modules, "a_library", library)
        return reborn.begin({"main": MAIN}, tmp_path).main.f

    return life


def long_ago(file):
    """Make a file older than the resolution of its times."""
    os.utime(file, (1e9, 1e9))


def test_a_file_of_equal_bytes_is_unchanged(begin, file):
    long_ago(file)
    assert reborn.traces(begin(), X)[1] == 1
    assert reborn.traces(begin(), X)[1] == 0


def test_a_deleted_file_causes_a_trace(begin, file):
    assert reborn.traces(begin(), X)[1] == 1
    fun = begin()
    file.unlink()
    assert reborn.traces(fun, X)[1] == 1


def test_a_library_of_no_folder_is_only_traced(begin, file):
    fun = begin()
    shutil.rmtree(file.parent)  # as if it had been imported from an archive
    assert reborn.traces(fun, X)[1] == 1
