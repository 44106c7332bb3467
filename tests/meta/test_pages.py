"""Files that a page names, and pages that it links to, exist."""

import re

import pytest

from tests.meta.sources import ROOT, committed_files

PAGES = [
    path
    for path in sorted(committed_files())
    if path.suffix == ".md" and path.is_file()
]
FILE = re.compile(
    r"`((?:examples|imprint|tests|benchmarks|docs|changes|\.ci)/[\w./-]*)"
)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def named_by(page):
    """Return the paths that a page names, from the root of the project."""
    text = page.read_text(encoding="utf-8")
    links = ((page.parent / link).resolve() for link in LINK.findall(text))
    return {*FILE.findall(text), *(link.relative_to(ROOT).as_posix() for link in links)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_file_that_a_page_names_exists(page):
    missing = {name for name in named_by(page) if not (ROOT / name).exists()}
    assert not missing


def test_files_and_links_are_seen():
    text = "`imprint/_src/core/jaxpr.py::Var`, [this](../x.md#part), [that](https://a.org/y.md)"
    assert FILE.findall(text) == ["imprint/_src/core/jaxpr.py"]
    assert LINK.findall(text) == ["../x.md"]
