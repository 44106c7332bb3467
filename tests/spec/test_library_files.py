"""A library's file whose code ran: its bytes count, whatever its times say."""

import os
import sys
import time
from types import ModuleType

import numpy as np
import pytest

import imprint
from imprint._src.core import user_code
from imprint._src.jit.manifest import environment
from imprint._src.jit.manifest.environment import changed_file, stamp_of
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
    """Return what begins a life that imports the library as its file is then."""

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
    """Let a file be older than what its times may hide."""
    os.utime(file, (1e9, 1e9))


@pytest.mark.parametrize("becomes", ["touched", "copied", "as it was"])
def test_a_file_of_the_same_bytes_is_as_it_was(begin, file, becomes):
    long_ago(file)
    assert reborn.traces(begin(), X)[1] == 1
    if becomes == "touched":
        os.utime(file)
    elif becomes == "copied":
        copy = file.with_suffix(".new")
        copy.write_bytes(file.read_bytes())
        copy.replace(file)
    assert reborn.traces(begin(), X)[1] == 0


def test_an_edit_that_has_the_old_length_and_time_is_seen(begin, file):
    """As an archive of another release puts it there, in which all has one time."""
    long_ago(file)
    assert float(reborn.traces(begin(), X)[0][0]) == 2
    file.write_text(file.read_text().replace("2", "3"))
    long_ago(file)
    fun = begin()
    assert imprint.cache.why(fun, X).disk == (
        f"The disk does not answer it: the file {file} changed."
    )
    result, count = reborn.traces(fun, X)
    assert (float(result[0]), count) == (3.0, 1)


def test_a_file_that_is_gone_is_another(begin, file):
    assert reborn.traces(begin(), X)[1] == 1
    fun = begin()
    file.unlink()
    assert reborn.traces(fun, X)[1] == 1


def test_what_was_installed_anew_while_the_process_ran_is_not_what_runs(begin, file):
    """As `%pip install -U` in a notebook, whose kernel goes on."""
    old = begin()
    file.write_text(file.read_text().replace("2", "3"))
    long_ago(file)
    assert float(old(X)[0]) == 2
    assert old.versions[0].restarts == (
        f"with a trace: E-RECORDER: the file {file} was written after this process began, "
        "so not all that it read is known"
    )
    result, count = reborn.traces(begin(), X)
    assert (float(result[0]), count) == (3.0, 1)


def test_the_bytes_of_an_old_file_are_read_once(file, monkeypatch):
    monkeypatch.setattr(
        "imprint._src.jit.manifest.environment.time.time_ns", lambda: 1 << 62
    )
    stamp = stamp_of(str(file))
    assert stamp_of(str(file), stamp) is stamp
    monkeypatch.setattr("builtins.open", None)
    assert stamp_of(str(file), stamp) is stamp
    assert not changed_file({str(file): [*stamp]})


def test_of_a_file_written_just_now_the_bytes_are_read(file):
    stamp = stamp_of(str(file))
    assert stamp.size == -1
    assert not changed_file({str(file): stamp})
    file.write_text(file.read_text().replace("2", "3"))
    assert changed_file({str(file): stamp}) == str(file)
