"""Objects as HTML, as notebooks show them."""

from html.parser import HTMLParser

import numpy as onp
import pytest

import imprint
import imprint.numpy as np
from imprint._src.diagnostics import html


class Page(HTMLParser):
    """The texts of a page; raises if a tag is not closed, or is none of ours."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert tag in [
            "div",
            "b",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "details",
            "summary",
            "pre",
        ]
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def named(x, tag="<script>"):
    return np.sin(x) if tag else x


def test_each_object_shows_itself_and_escapes_what_users_wrote():
    named.__name__ = named.__qualname__ = "<b>&'\""
    f = imprint.jit(named, static_argnames="tag")
    x = onp.ones(3, "float32")
    f(x, tag="<script>")
    (version,) = f.versions
    lowered = f.lower(x, tag="<script>")
    counts = imprint.debug.counters()
    shown = (version, f.cache_info(), counts, lowered, lowered.compile())
    pages = [Page(each._repr_html_()).texts for each in shown]
    assert pages[0][0] == f"Version of {version}"
    assert "<script>" in pages[0][0]
    assert pages[0][1:7] == [
        "calls",
        "1",
        "bytes",
        f"{version.nbytes:,}",
        "origin",
        version.origin,
    ]
    assert str(version.jaxpr) in pages[0]
    assert version.stablehlo in pages[0]
    assert pages[1] == [
        "Cache",
        "hits",
        "0",
        "misses",
        "1",
        "versions",
        "1",
        "nbytes",
        str(version.nbytes),
    ]
    assert pages[2][1:3] == ["traces", str(counts.traces)]
    assert pages[3][0] == "Lowered <b>&'\""
    assert lowered.as_text() in pages[3]
    assert "temp_size_in_bytes" in pages[4]
    assert any("HloModule" in text for text in pages[4])


@pytest.mark.parametrize("text", ["<", ">", "&", '"', "'", "&lt;"])
def test_every_text_is_escaped(text):
    made = (
        html.fields(text, {text: text}),
        html.table([text], [[text]]),
        html.folded(text, text),
    )
    for each in made:
        assert set(Page(each).texts) == {text}
