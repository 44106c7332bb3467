"""Figures of plain English: how often prose uses the words that make it hard to read.

`python -m benchmarks.prose` prints a row for each package of `imprint/_src`, then one for
`imprint`, `examples`, `tests`, `benchmarks` and the pages. A row has the count of words, then per
10,000 words how often `what`, `tell` and `one` occur, then per 1,000 sentences how many
begin with `What`. `tests/meta/test_prose.py` checks the limits and rejects `PRIVATE`.
"""

import ast
import functools
import inspect
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
# Quoted code, and the names of arguments in docstrings.
CODE = re.compile(r"`[^`]*`|^ *\*{0,2}\w+: ", re.MULTILINE)
WORD = re.compile(r"[A-Za-z']+")
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+")
TELL = ("tell", "tells", "told", "telling")


class Private(NamedTuple):
    """A word that prose does not use, and the words to use instead."""

    pattern: str
    instead: str

    def matches(self, text: str) -> bool:
        return bool(re.fullmatch(self.pattern, text, re.IGNORECASE))


PRIVATE = (
    Private("anew", "again, re-created"),
    Private("apart", "separate, except, distinguished"),
    Private("as good as", "equal to, equivalent to"),
    Private("beside", "during, next to, besides"),
    Private("dear|dearer|dearly", "expensive, costly"),
    Private("deaf|heard|hears?|unheard", "observe, missed, unobserved"),
    Private("kinds? of (?:a )?calls?", "call signature"),
    Private("lead to|leads to|led to", "reach, cause"),
    Private("meet|meets|met", "visit, reach, use"),
    Private("needless|needlessly", "redundant"),
    Private("nobody", "no one, no caller, no code"),
    Private("of (?:the|a) users?'s?", "user code, the user"),
    Private("of a library's", "library code"),
    Private("so it is with", "the same holds for"),
    Private("tell whether|tells whether", "return whether"),
    Private("whoever", "the caller, the user"),
    Private("worked out|works out|work out", "computed, dynamic, inferred"),
)
ANY_PRIVATE = re.compile(
    rf"\b(?:{'|'.join(p.pattern for p in PRIVATE)})\b".replace(" ", r"\s+"),
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Figures:
    """Counts of words and sentences in prose, and their rates."""

    words: Counter[str]
    sentences: int
    what_sentences: int

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Figures":
        words: Counter[str] = Counter()
        sentences = what_sentences = 0
        for text in texts:
            words.update(word.lower() for word in WORD.findall(text))
            parts = SENTENCE_END.split(text)
            sentences += len(parts)
            what_sentences += sum(p.lstrip("- *`").startswith("What") for p in parts)
        return cls(words, sentences, what_sentences)

    def per_10000(self, *words: str) -> float:
        return sum(self.words[w] for w in words) * 1e4 / max(self.words.total(), 1)

    def what_sentences_per_1000(self) -> float:
        return self.what_sentences * 1e3 / max(self.sentences, 1)


def docstrings_and_comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of a Python source, each with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = node.value.value
            if isinstance(text, str):
                yield node.lineno, inspect.cleandoc(text)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def test_names(source: str) -> Iterator[tuple[int, str]]:
    """Yield the names of the tests in a Python source as words, each with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DEFINITIONS) and node.name.lower().startswith("test"):
            yield node.lineno, node.name.replace("_", " ")


def page_prose(page: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a page outside its code blocks, each with its line."""
    page = FENCE.sub(lambda block: "\n" * block[0].count("\n"), page)
    for paragraph in re.finditer(r"(?:.+\n?)+", page):
        yield page.count("\n", 0, paragraph.start()) + 1, paragraph[0]


@functools.cache
def prose(path: Path) -> tuple[tuple[int, str], ...]:
    """Return the prose of a file, each text with its line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return tuple(page_prose(text))
    names = test_names(text) if path.is_relative_to(ROOT / "tests") else ()
    return (*docstrings_and_comments(text), *names)


def private_words(path: Path) -> Iterator[str]:
    """Yield a line for each private word of a file: its place, the word, its substitute."""
    for line, text in prose(path):
        plain = CODE.sub(lambda code: "\n" * code[0].count("\n") or " ", text)
        for hit in ANY_PRIVATE.finditer(plain):
            at = line + plain.count("\n", 0, hit.start())
            found = " ".join(hit[0].split())
            instead = next(p.instead for p in PRIVATE if p.matches(found))
            yield f"{path.relative_to(ROOT).as_posix()}:{at}: `{found}`; write: {instead}"


@functools.cache
def figures(*paths: Path) -> Figures:
    """Return the figures of files, and of all files in folders."""
    return Figures.of(text for path in files(*paths) for _, text in prose(path))


def files(*paths: Path) -> list[Path]:
    """Return the Python files and pages among paths and below folders."""
    found = (
        path.rglob("*") if path.is_dir() else [path] for path in paths if path.exists()
    )
    return sorted(p for group in found for p in group if p.suffix in (".py", ".md"))


OUTSIDE = ("examples", "tests", "benchmarks")
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs", ROOT / "changes")


def main() -> None:
    """Print the table."""
    print(f"{'':24}{'words':>8}{'what':>8}{'tell':>8}{'one':>8}{'What …':>8}")
    packages = sorted(p for p in (ROOT / "imprint/_src").iterdir() if p.name[0] != "_")
    rows = [(path.name, (path,)) for path in packages]
    rows += [(name, (ROOT / name,)) for name in ("imprint", *OUTSIDE)]
    for name, paths in [*rows, ("pages", PAGES)]:
        row = figures(*paths)
        if not row.words:
            continue
        cells = [row.per_10000("what"), row.per_10000(*TELL), row.per_10000("one")]
        cells += [row.what_sentences_per_1000()]
        print(f"{name:24}{row.words.total():8}", *(f"{c:7.1f}" for c in cells))


if __name__ == "__main__":
    main()
