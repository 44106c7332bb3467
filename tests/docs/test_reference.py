"""The written pages of docs/reference are what the package says now."""

import pytest

from tests.docs import reference
from tests.docs.examples import ROOT

PAGES = {
    "what-is-here.md": reference.here_page,
    "absent.md": reference.absent_page,
}


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_what_the_package_says(name, request):
    path = ROOT / "docs" / "reference" / name
    text = PAGES[name]()
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert path.exists(), "run pytest tests/docs --update-golden and review it"
    assert path.read_text(encoding="utf-8") == text


def test_every_public_name_has_its_line():
    text = reference.here_page()
    for home in reference.HOMES:
        section = text.split(f"## {home}\n")[1].split("\n## ")[0]
        for name in reference.public_names(home):
            assert f"`{name}`" in section


def test_a_bar_in_a_summary_does_not_end_its_cell():
    assert list(reference.table("a", "b", [("`f`", "x | y")]))[2] == "| `f` | x \\| y |"
