"""The sources of imprint as the meta tests read them: path, text, syntax tree."""

import ast
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


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


def committed_files():
    """Return the paths that git tracks, or every file where there is no git."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listing.returncode:
        return [path for path in ROOT.rglob("*") if path.is_file()]
    return [ROOT / name for name in listing.stdout.split("\0") if name]
