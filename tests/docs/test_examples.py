"""Every example of README, docs and docstrings runs and prints the shown text."""

import pytest

from tests.docs.examples import (
    ROOT,
    blocks,
    docstrings,
    is_first,
    pages,
    run_doctest,
    run_page,
    run_page_in_process,
)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_page_prints_the_text_that_it_shows(page):
    (run_page_in_process if is_first(page) else run_page)(page)


@pytest.mark.parametrize("example", docstrings(), ids=lambda example: example.name)
def test_docstring_prints_the_text_that_it_shows(example):
    run_doctest(example)


def test_a_page_with_another_output_is_caught(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 2\nprint(x)\n```\n\n```text\n3\n```\n")
    with pytest.raises(AssertionError, match=r"(?s)page\.md:2 printed\n2\n.*says\n3"):
        run_page(page)
    page.write_text("```python\nx = 2\n```\n\n```python\n>>> x\n3\n```\n")
    with pytest.raises(AssertionError, match="Expected:\n    3\nGot:\n    2"):
        run_page(page)


def test_output_belongs_to_the_block_right_before_it():
    text = "```python\na\n```\nwords\n```text\n1\n```\n```python\nb\n```\n```text\n2\n```\n"
    assert [block.output for block in blocks(text)] == [None, "2\n"]
