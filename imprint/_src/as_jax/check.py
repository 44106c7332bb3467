"""`imprint check`: the names of JAX that a program uses and imprint lacks.

Sources are read, and nothing of the program runs. A name is an import, or attributes of an
imported name: `jnp.fft.rfft` after `import jax.numpy as jnp`. Names under `if TYPE_CHECKING`
do not run, and those under `try` with a handler of ImportError or AttributeError are
optional: they are left out.
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from imprint._src.as_jax.modules import absent, find
from imprint._src.as_jax.names import SOURCES
from imprint._src.core.user_code import is_user_file


@dataclass(frozen=True, slots=True, order=True)
class Use:
    """The use of a name of JAX.

    Args:
        file: the source.
        line: where it is used, from 1.
        name: the full name, such as `jax.numpy.sin`.
    """

    file: str
    line: int
    name: str


def check(program: Sequence[str], *, deep: bool = False) -> int:
    """Print the names that a program uses and imprint lacks; return the exit status.

    Args:
        program: a script, or `-m` and a module.
        deep: whether to read installed packages that it imports, too.

    Returns:
        0 if there are none, 1 otherwise.
    """
    reader = Reader(deep=deep)
    reader.read_program(program)
    lacking = {
        name: why for name in {x.name for x in reader.uses} if (why := lacks(name))
    }
    found = sorted({use for use in reader.uses if use.name in lacking})
    for use in found:
        print(f"{_short(use.file)}:{use.line}: {lacking[use.name]}")
    for file, why in reader.unread.items():
        print(f"{_short(file)}: was not read: {why}")
    total = len({use.name for use in reader.uses})
    end = f"{len(lacking)} missing" if lacking else "all are there"
    print(f"Names of JAX: {total}, in {reader.count} files; {end}.")
    return int(bool(lacking))


def lacks(name: str) -> str:
    """Return why imprint lacks a name of JAX; empty if it has it."""
    home, *parts = name.split(".")
    value: Any = None
    for part in parts:
        full = f"{home}.{part}"
        if value is None and full in SOURCES:
            home = full
            continue
        if value is not None and not isinstance(value, ModuleType):
            return ""  # an attribute of an object
        try:
            value = find(home, part) if value is None else getattr(value, part)
        except (AttributeError, ImportError) as err:
            return str(err) if full in str(err) else absent(full)
        home = full
    return ""


class Reader:
    """Reads a program, and the modules that it imports, each once.

    Args:
        deep: whether to read installed packages.

    Attributes:
        uses: the names of JAX.
        unread: the files that could not be read, with the reason.
        count: how many files were read.
    """

    def __init__(self, *, deep: bool) -> None:
        self.uses: set[Use] = set()
        self.unread: dict[str, str] = {}
        self.count: int = 0
        self._deep = deep
        self._known: set[str] = set()
        self._path: list[str] = sys.path

    def read_program(self, program: Sequence[str]) -> None:
        """Read a script, or `-m` and a module, and what it imports."""
        if program[0] == "-m":
            self._read_module(program[1])
            self._read_module(f"{program[1]}.__main__")
        else:
            self._path = [str(Path(program[0]).resolve().parent), *sys.path]
            self._read(Path(program[0]), "", is_package=False)

    def _read(self, file: Path, package: str, *, is_package: bool) -> None:
        try:
            body = ast.parse(file.read_bytes(), str(file))
        except (OSError, SyntaxError, ValueError) as err:
            self.unread[str(file)] = str(err)
            return
        self.count += 1
        names = _Names(package if is_package else package.rpartition(".")[0])
        names.visit(body)
        self.uses.update(Use(str(file), line, name) for line, name in names.used)
        for module in names.modules:
            self._read_module(module)

    def _read_module(self, name: str) -> None:
        """Read a module and the packages around it, unless they are left out."""
        parts = name.split(".")
        if parts[0] in (*sys.stdlib_module_names, "jax", "jaxlib", "numpy", "imprint"):
            return
        path: Sequence[str] | None = self._path
        for i in range(len(parts)):
            full = ".".join(parts[: i + 1])
            spec = PathFinder.find_spec(full, path)
            if spec is None:
                return
            path = spec.submodule_search_locations
            self._read_spec(spec)
            if path is None:
                return

    def _read_spec(self, spec: ModuleSpec) -> None:
        origin = spec.origin
        if spec.name in self._known or origin is None or not origin.endswith(".py"):
            return
        self._known.add(spec.name)
        if self._deep or is_user_file(origin):
            is_package = spec.submodule_search_locations is not None
            self._read(Path(origin), spec.name, is_package=is_package)


class _Names(ast.NodeVisitor):
    """The imports of a source, and its uses of names of JAX."""

    def __init__(self, package: str) -> None:
        self.used: set[tuple[int, str]] = set()
        self.modules: dict[str, None] = {}
        self._package = package
        self._aliases: dict[str, str] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self._imported(node, each.name)
            if _is_of_jax(each.name):
                bound = each.name if each.asname else "jax"
                self._aliases[each.asname or "jax"] = bound

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        parents = self._package.split(".")
        kept = parents[: len(parents) - node.level + 1] if node.level else []
        home = ".".join([*kept, *filter(None, [node.module])])
        self.modules[home] = None
        for each in node.names:
            if each.name == "*":
                continue
            full = f"{home}.{each.name}"
            self._imported(node, full)
            if _is_of_jax(home):
                self._aliases[each.asname or each.name] = full

    def visit_Attribute(self, node: ast.Attribute) -> None:
        names = [*_chain(node)]
        if names and names[0] in self._aliases:
            full = ".".join([self._aliases[names[0]], *names[1:]])
            self.used.add((node.lineno, full))
        else:
            self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        named = ast.unparse(node.test)
        if named in ("TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING"):
            for each in node.orelse:
                self.visit(each)
        else:
            self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        if any(_catches_absence(handler.type) for handler in node.handlers):
            used = self.used.copy()
            for each in node.body:
                self.visit(each)
            self.used = used
            for each in (*node.handlers, *node.orelse, *node.finalbody):
                self.visit(each)
        else:
            self.generic_visit(node)

    def _imported(self, node: ast.stmt, name: str) -> None:
        if _is_of_jax(name):
            self.used.add((node.lineno, name))
        else:
            self.modules[name] = None


_ABSENCE: Final = ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception")


def _catches_absence(caught: ast.expr | None) -> bool:
    return caught is None or any(name in ast.unparse(caught) for name in _ABSENCE)


def _is_of_jax(name: str) -> bool:
    return name == "jax" or name.startswith("jax.")


def _chain(node: ast.expr) -> Iterator[str]:
    """Yield the names of `a.b.c`; nothing if it does not begin with a name."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        inner = [*_chain(node.value)]
        if inner:
            yield from (*inner, node.attr)


def _short(file: str) -> str:
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file
