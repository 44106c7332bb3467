"""Each package says in its docstring which question each of its files answers.

A line is "- `name`: the question?"; it may go on, indented by two. The lines of a package
name its files and its sub-packages, each once, and nothing else; so
`imprint/_src/__init__.py` is the map of the implementation. `imprint/__init__.py` lists
the public modules the same way.
"""

import ast
import re

import pytest

from tests.meta.sources import PACKAGE

LINE = re.compile(r"^- `(\w+)`: (.+(?:\n  \S.*)*)", re.MULTILINE)
PACKAGES = [
    source
    for source in PACKAGE
    if source.path.name == "__init__.py" and "_src/" in str(source)
]
PUBLIC = next(source for source in PACKAGE if str(source) == "imprint/__init__.py")


def questions(source):
    """Return the (name, question) pairs of a package's docstring."""
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
    named = [name for name, _ in questions(package)]
    assert sorted(named) == sorted(parts(package))


def test_the_public_package_names_each_public_module():
    named = [name for name, _ in questions(PUBLIC)]
    assert sorted(named) == sorted({*parts(PUBLIC)} - {"_src"})


def test_the_top_level_has_few_entries_and_one_that_is_private():
    entries = {path.name for path in PUBLIC.path.parent.iterdir()} - {"__pycache__"}
    assert len(entries) <= 36
    assert {name for name in entries if name[0] == "_"} == {"__init__.py", "_src"}


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_a_file_answers_a_question_that_no_neighbour_answers(package):
    asked = [question for _, question in questions(package)]
    assert not [question for question in asked if not question.endswith("?")]
    assert len(set(asked)) == len(asked)


def test_a_question_may_go_on_in_the_next_line():
    text = (
        "Words.\n\n- `one`: why\n  not?\n- `two`: when?\n\nMore `words`: and so on.\n"
    )
    found = [(name, " ".join(words.split())) for name, words in LINE.findall(text)]
    assert found == [("one", "why not?"), ("two", "when?")]
