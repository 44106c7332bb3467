"""These tests also pass where there is no git: in an unpacked source distribution."""

import os
import shutil
import subprocess
import sys
import tomllib

import pytest

from tests.meta.sources import ROOT, committed_files

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SHIPPED = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]

# Leftovers of tools, with a path of the machine inside.
LEFT = (
    *(".git", ".venv-3.11/bin/pip", "env/lib/module.py", "build/lib/module.py"),
    *("old/imprint.egg-info/SOURCES.txt", "imprint/__pycache__/module.pyc"),
    *(".pytest_cache/README.md", ".import_linter_cache/data"),
)
MACHINE = "/" + "root/"


def leave(root):
    for name in LEFT:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(MACHINE)
    for name in (".venv-3.11", "env"):
        (root / name / "pyvenv.cfg").write_text(f"home = {MACHINE}")


@pytest.fixture
def unpacked(tmp_path):
    """A source distribution of hatchling, with leftovers of tools."""
    for path in committed_files():
        name = "/" + path.relative_to(ROOT).as_posix()
        shipped = name == "/pyproject.toml" or any(
            name == entry or name.startswith(entry + "/") for entry in SHIPPED
        )
        if shipped and path.is_file():
            copy = tmp_path / name[1:]
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    leave(tmp_path)
    return tmp_path


@pytest.mark.exhaustive
def test_the_meta_tests_pass_in_an_unpacked_source_distribution(unpacked):
    command = "-m pytest -q -p no:cacheprovider tests/meta"
    command += (
        " --ignore tests/meta/test_prose.py --ignore"  # 30 s, and git plays no part
    )
    done = subprocess.run(
        [sys.executable, *command.split(), "tests/meta/test_without_git.py"],
        cwd=unpacked,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_leftovers_of_tools_are_no_files_of_the_project(tmp_path):
    (tmp_path / "imprint").mkdir()
    written = [tmp_path / ".gitignore", tmp_path / "imprint" / "build.py"]
    for path in written:
        path.write_text("")
    leave(tmp_path)
    assert sorted(committed_files(tmp_path)) == sorted(written)
