"""Modules that run on first use: once, as a whole, and in any thread."""

import subprocess
import sys
import threading
import types

import pytest

from imprint._src.bootstrap import lazy_modules
from tests.meta.sources import ROOT


@pytest.fixture
def late(tmp_path, monkeypatch):
    """Return a factory of packages with one lazy module of a given text."""

    def make(text):
        folder = tmp_path / "lately"
        folder.mkdir()
        (folder / "__init__.py").write_text("ASKED = []\n")
        (folder / "part.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(lazy_modules, "_LAZY", ("lately.",))
        from lately import part  # noqa: PLC0415

        return part

    yield make
    for name in ("lately", "lately.part"):
        sys.modules.pop(name, None)


TEXT = """
import lately
lately.ASKED.append(1)
ONE = 1
def plus(x):
    return x + ONE
"""


def test_a_module_runs_when_a_name_is_read(late):
    part = late(TEXT)
    asked = sys.modules["lately"].ASKED
    assert part.__name__ == "lately.part"
    assert part.__file__.endswith("part.py")
    assert asked == []
    assert part.plus(1) == 2
    assert asked == [1]
    assert type(part) is types.ModuleType
    assert part.__loader__ is part.__spec__.loader
    assert "importing" not in type(part.__loader__).__module__


def test_it_runs_once_when_threads_read_it_at_once(late):
    part = late("import time\ntime.sleep(0.05)\n" + TEXT + "time.sleep(0.05)\nLAST = 2")
    found = []
    threads = [
        threading.Thread(target=lambda: found.append((part.plus(1), part.LAST)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(2, 2)] * 8
    assert sys.modules["lately"].ASKED == [1]


def test_a_module_that_reads_itself_while_loading_sees_its_names_so_far(late):
    part = late("ONE = 1\nfrom lately import part\nTWO = part.ONE + 1\n")
    assert part.TWO == 2


def test_one_that_fails_runs_again(late):
    part = late("import lately\nlately.ASKED.append(1)\nassert len(lately.ASKED) > 1")
    with pytest.raises(AssertionError):
        _ = part.name
    with pytest.raises(AttributeError, match=r"module 'lately\.part' has no attribute"):
        _ = part.name
    assert sys.modules["lately"].ASKED == [1, 1]


def test_dir_and_star_imports_load_it(late):
    part = late(TEXT)
    assert "plus" in dir(part)


def test_a_star_import_loads_it(late):
    late(TEXT)
    names = {}
    exec("from lately.part import *", names)
    assert names["ONE"] == 1


@pytest.mark.slow
def test_each_module_can_be_the_first():
    """Modules load in any order: each one loads first in a fresh process."""
    names = sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "imprint").rglob("*.py")
        if path.name != "__init__.py"
        and ".".join(path.relative_to(ROOT).parts).startswith(lazy_modules._LAZY)
    )
    assert len(names) > 60
    program = f"""
import importlib, os
import imprint
for name in {names}:
    child = os.fork()
    if not child:
        dir(importlib.import_module(name))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
"""
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
