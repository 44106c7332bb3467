"""The sources of imprint as the meta tests read them: path, text, syntax tree."""

import ast
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Leftovers of git and tools; virtual environments are found by their pyvenv.cfg.
LEFT = re.compile(r"\.(git|asv|hypothesis|.*cache)|__pycache__|.*\.egg-info|build|dist")


@dataclass(frozen=True)
class Source:
    path: Path

    def __str__(self):
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def text(self):
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def lines(self):
        return self.text.splitlines()

    @cached_property
    def tree(self):
        return ast.parse(self.text, str(self))

    def nodes(self, *kinds):
        return (node for node in ast.walk(self.tree) if isinstance(node, kinds))

    def at(self, node):
        return f"{self}:{node.lineno}"


PACKAGE = [Source(path) for path in sorted((ROOT / "imprint").rglob("*.py"))]
EXAMPLES = [Source(path) for path in sorted((ROOT / "examples").rglob("*.py"))]


def every_source(check):
    """Make one test of a check of each file: thousands of tests would cost too much."""

    @wraps(check)
    def test():
        failed = []
        for source in [*PACKAGE, *EXAMPLES]:
            try:
                check(source)
            except AssertionError as err:
                failed.append(f"{source}: {err}")
        assert not failed, "\n".join(failed)

    del test.__wrapped__  # pytest takes its parameters for fixtures
    return test


def committed_files(root=ROOT):
    """Return the files that git tracks; without git, all that no tool has left there."""
    if (root / ".git").exists() and shutil.which("git"):
        command = ["git", "ls-files", "-z"]
        listed = subprocess.run(command, cwd=root, capture_output=True, check=False)
        if listed.returncode == 0:
            names = listed.stdout.split(b"\0")
            return [root / os.fsdecode(name) for name in names if name]
    return list(_written_files(root))


def _written_files(folder):
    for path in folder.iterdir():
        if LEFT.fullmatch(path.name) or (path / "pyvenv.cfg").exists():
            continue
        if path.is_dir():
            yield from _written_files(path)
        else:
            yield path
