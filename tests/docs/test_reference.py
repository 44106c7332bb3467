"""The generated pages of docs/reference agree with the package."""

import importlib

import pytest

from tests.docs import reference
from tests.docs.examples import ROOT

PAGES = {
    "api-index.md": reference.api_index_page,
    "unsupported.md": reference.unsupported_page,
    "names.md": reference.names_page,
}


@pytest.mark.parametrize("name", PAGES)
def test_the_page_agrees_with_the_package(name, request):
    path = ROOT / "docs" / "reference" / name
    text = PAGES[name]()
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert path.exists(), "run pytest tests/docs --update-golden and review it"
    assert path.read_text(encoding="utf-8") == text


def test_every_public_name_has_its_line():
    text = reference.api_index_page()
    for home in reference.HOMES:
        section = text.split(f"## {home}\n")[1].split("\n## ")[0]
        for name in reference.public_names(home):
            assert f"`{name}`" in section


def test_a_bar_in_a_summary_does_not_end_its_cell():
    assert list(reference.table("a", "b", [("`f`", "x | y")]))[2] == "| `f` | x \\| y |"


def test_names_of_an_earlier_section_are_only_listed():
    section = reference.api_index_section("imprint.module")
    assert "As in `imprint`: `AbstractClassVar`, " in section
    assert "| `Module` |" not in section
    assert "| `Module` |" in reference.api_index_section("imprint")


def test_names_of_dtypes_share_a_line():
    section = reference.api_index_section("imprint.numpy")
    assert "| `float32` |" not in section
    assert "Dtypes, which make an array of a value: `bfloat16`, `bool`, " in section
    assert "`half` (float16)" in section


@pytest.mark.parametrize("home", ["nn.initializers", "flatten_util", "stages"])
def test_a_section_lists_no_name_that_jax_lacks(home):
    of_jax = dir(importlib.import_module(f"jax.{home}"))
    assert set(reference.public_names(f"imprint.{home}")) <= set(of_jax)
