"""The docstring of each package lists its files.

A line is "- `name`: a noun phrase"; it may go on, indented by two. The lines of a package
name its files and its sub-packages, each once, and nothing else; so
`imprint/_src/__init__.py` is the map of the implementation. `imprint/__init__.py` lists
the public modules the same way.
"""

import ast
import re

import pytest

from tests.meta.sources import EXAMPLES, PACKAGE

LINE = re.compile(r"^- `(\w+)`: (.+(?:\n  \S.*)*)", re.MULTILINE)
PACKAGES = [
    source
    for source in [*EXAMPLES, *PACKAGE]
    if source.path.name == "__init__.py"
    and str(source).startswith(("examples/", "imprint/_src/"))
]
PUBLIC = next(source for source in PACKAGE if str(source) == "imprint/__init__.py")
PRIVATE = {"__main__", "_src"}


def entries(source):
    """Return the (name, text) pairs of a package's docstring."""
    docstring = ast.get_docstring(source.tree)
    return [(name, " ".join(text.split())) for name, text in LINE.findall(docstring)]


def parts(package):
    """Return the names of the files and of the sub-packages of a package."""
    for path in package.path.parent.iterdir():
        if path.suffix == ".py" and path.name != "__init__.py":
            yield path.stem
        elif (path / "__init__.py").exists():
            yield path.name


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_a_package_names_each_of_its_files_and_no_other(package):
    named = [name for name, _ in entries(package)]
    assert sorted(named) == sorted(parts(package))


def test_the_public_package_names_each_public_module():
    named = [name for name, _ in entries(PUBLIC)]
    assert sorted(named) == sorted({*parts(PUBLIC)} - PRIVATE)


def test_the_top_level_has_few_entries_and_one_that_is_private():
    top = PUBLIC.path.parent
    names = {path.name for path in top.iterdir() if path.is_file()}
    names |= {path.parent.name for path in top.glob("*/__init__.py")}
    assert len(names) <= 36
    assert {name for name in names if name[0] == "_"} == {
        "__init__.py",
        "__main__.py",
        "_src",
    }


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_no_two_files_of_a_package_have_the_same_line(package):
    lines = [text for _, text in entries(package)]
    assert len(set(lines)) == len(lines)


def test_a_line_may_go_on_in_the_next_line():
    text = (
        "Words.\n\n- `one`: why\n  not?\n- `two`: when?\n\nMore `words`: and so on.\n"
    )
    found = [(name, " ".join(words.split())) for name, words in LINE.findall(text)]
    assert found == [("one", "why not?"), ("two", "when?")]
