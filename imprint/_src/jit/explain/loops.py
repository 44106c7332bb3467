"""The Python loop around given equations.

A source has its code and instruction, and some (`called_source`) the sources of their
callers. The loop is the innermost one around all of them. It is found in the text of the
innermost function that called all of them.
"""

import ast
import linecache
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, cast

from imprint._src.diagnostics.source import Source


class SourceLoop(NamedTuple):
    """A `for`, a `while` or a comprehension."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}"


_LoopNode: TypeAlias = (
    ast.For | ast.AsyncFor | ast.While | ast.ListComp | ast.SetComp | ast.GeneratorExp
) | ast.DictComp
_LOOPS: Final = (
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ListComp,
    ast.SetComp,
    ast.GeneratorExp,
    ast.DictComp,
)
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def loop_around(sources: Sequence[Source]) -> SourceLoop | None:
    """Return the innermost loop around all sources.

    None if there is none, or the text of the program cannot be read.
    """
    places = {(id(s.code), s.offset): s for s in sources}.values()
    stacks = [(*s.callers, s) for s in sources if s.callers] or [(s,) for s in places]
    levels = list(_shared(stacks))
    for depth, shared in reversed([*enumerate(levels)]):
        code = shared[0].code
        outer = [level[0].code for level in levels[:depth]]
        if any(place.code in outer and place.code is not code for place in places):
            continue  # staged outside of this function
        own = [place for place in places if place.code is code]
        first, *others = [_loops_at(place) for place in (*shared, *own)]
        found = [x for x in first if all(x in other for other in others)]
        if found:
            return SourceLoop(code.co_filename, found[-1].lineno)
    return None


def _shared(stacks: Sequence[Sequence[Source]]) -> Iterator[list[Source]]:
    """Yield the sources at each depth, while all stacks are in the same function there."""
    for depth in range(min(map(len, stacks), default=0)):
        level = [stack[depth] for stack in stacks]
        if any(place.code is not level[0].code for place in level):
            return
        yield list({place.offset: place for place in level}.values())


def _loops_at(place: Source) -> list[_LoopNode]:
    """Return the loops of a function around a source, the outermost first."""
    line, _, column, _ = list(place.code.co_positions())[place.offset // 2]
    tree = _parsed(place.file)
    if tree is None or line is None or column is None:
        return []
    at = line, column
    loops: list[_LoopNode] = []
    node: ast.AST | None = tree
    while node is not None:
        if isinstance(node, _SCOPES):
            loops = []
        elif isinstance(node, _LOOPS) and any(_holds(part, at) for part in _body(node)):
            loops.append(node)
        node = next((n for n in ast.iter_child_nodes(node) if _holds(n, at)), None)
    return loops


def _body(loop: _LoopNode) -> list[ast.AST]:
    """Return the parts of a loop that each iteration executes."""
    if isinstance(loop, ast.For | ast.AsyncFor):
        return [*loop.body]
    if isinstance(loop, ast.While):
        return [loop.test, *loop.body]
    first, *rest = loop.generators
    inner: list[ast.AST] = [*first.ifs, *rest]
    if isinstance(loop, ast.DictComp):
        return [loop.key, loop.value, *inner]
    return [loop.elt, *inner]


def _holds(node: ast.AST, at: tuple[int, int]) -> bool:
    """Return whether a position is in the text of a node."""
    if not hasattr(node, "lineno"):  # such as a clause of a comprehension, of a match
        return any(_holds(part, at) for part in ast.iter_child_nodes(node))
    found = cast("ast.expr", node)
    end = found.end_lineno or 0, found.end_col_offset or 0
    return (found.lineno, found.col_offset) <= at < end


_trees: dict[str, tuple[list[str], ast.Module | None]] = {}


def _parsed(file: str) -> ast.Module | None:
    lines = linecache.getlines(file)
    known = _trees.get(file)
    if known is None or known[0] is not lines:
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError):
            tree = None
        _trees.clear()  # a program has few such files
        known = _trees[file] = lines, tree
    return known[1]
