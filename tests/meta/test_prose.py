"""Plain English: no private words in prose, and few of the words that make it hard to read.

The words and the figures are in `benchmarks/prose.py`; `python -m benchmarks.prose` prints
the figures of each package. A quoted name, such as `Absent`, is no prose.
"""

import ast
from collections import defaultdict

import pytest

from benchmarks.prose import (
    OUTSIDE,
    PAGES,
    PRIVATE,
    ROOT,
    TELL,
    Figures,
    docstrings_and_comments,
    figures,
    files,
    page_prose,
    private_words,
    prose,
)
from tests.meta.sources import PACKAGE

AREAS = ("imprint", *OUTSIDE)
LIMITS = {
    "`what` in 10,000 words": (15, lambda f: f.per_10000("what")),
    "`tell`, `told` in 10,000 words": (1, lambda f: f.per_10000(*TELL)),
    "sentences of 1,000 that begin with `What`": (1, Figures.what_sentences_per_1000),
}

# Names of classes that two files have for different things, and why no other name is right.
TWICE = {
    "Partial": "a callable of `tree_util`, and the one of Equinox, which is a module",
}
MOST_TWICE = 10


def private_words_of(*paths):
    return [word for path in files(*paths) for word in private_words(path)]


@pytest.mark.parametrize("area", AREAS)
def test_docstrings_comments_and_names_of_tests_have_no_private_words(area):
    assert private_words_of(ROOT / area) == []


def test_pages_have_no_private_words():
    assert private_words_of(*PAGES) == []


@pytest.mark.parametrize("limit", LIMITS)
def test_the_package_is_within_the_limit(limit):
    most, figure = LIMITS[limit]
    assert figure(figures(ROOT / "imprint")) <= most, "python -m benchmarks.prose"


def test_a_class_name_means_one_class():
    places = defaultdict(list)
    for source in PACKAGE:
        for node in source.nodes(ast.ClassDef):
            places[node.name].append(source.at(node))
    twice = {name: at for name, at in places.items() if len(at) > 1}
    assert {name: at for name, at in twice.items() if name not in TWICE} == {}
    assert sorted(set(TWICE) - set(twice)) == [], "take the name off TWICE"
    assert len(TWICE) <= MOST_TWICE


def test_private_words_are_found_with_their_line(monkeypatch, tmp_path):
    monkeypatch.setattr("benchmarks.prose.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("Words.\n\n```python\nanew = 1\n```\n\nMade\nanew, not `anew`.\n")
    assert list(private_words(page)) == ["page.md:8: `anew`; write: again, re-created"]


def test_each_private_word_has_a_substitute_without_private_words(
    monkeypatch, tmp_path
):
    monkeypatch.setattr("benchmarks.prose.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("\n".join(private.instead for private in PRIVATE))
    assert list(private_words(page)) == []


def test_prose_of_a_source_is_docstrings_and_comments():
    source = '"""One."""\nx = "no"  # two\n\ndef f():\n    """Three."""\n'
    found = [(1, "One."), (2, "two"), (5, "Three.")]
    assert sorted(docstrings_and_comments(source)) == found


def test_names_of_tests_are_prose(monkeypatch, tmp_path):
    monkeypatch.setattr("benchmarks.prose.ROOT", tmp_path)
    path = tmp_path / "tests" / "test_x.py"
    path.parent.mkdir()
    path.write_text("def test_it_is_plain(): pass\n\ndef helper(): pass\n")
    assert list(prose(path)) == [(1, "test it is plain")]


def test_prose_of_a_page_has_no_code():
    assert list(page_prose("Words.\n\n```python\ncode\n```\n\nMore\nwords.\n")) == [
        (1, "Words.\n"),
        (7, "More\nwords.\n"),
    ]


def test_figures_are_rates():
    found = Figures.of(["What is it? It is what it is.", "- What: one."])
    assert found.words.total() == 10
    assert found.per_10000("what") == 3000
    assert found.what_sentences_per_1000() == 500
