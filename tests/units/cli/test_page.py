"""The page of `imprint run --html`."""

import re
import shutil
import subprocess
import time
from html.parser import HTMLParser

import numpy as onp
import pytest

import imprint
import imprint.numpy as np
from imprint._src.cli import page as pages
from imprint._src.cli.compile_log import CompileLog
from imprint._src.jit.dispatch import Jitted
from imprint._src.jit.versions.version import OBSERVERS
from imprint.cli import main
from tests.units.cli.programs import write

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
PROGRAM = """
    import imprint
    import imprint.numpy as np

    @imprint.jit(static_argnames="text")
    def f(x, text):
        return np.sin(x)

    f(np.ones(2), text="<script>alert(1)</script>")
    f(np.ones(3), text="<script>alert(1)</script>")
"""


class Document(HTMLParser):
    """The cells of the tables, the folded texts by title, and the bars of a page."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.folded, self.bars, self.titles = [], [], [], []
        self.tags, self.open, self.text = set(), [], ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.text = ""
        if tag not in ("meta", "rect"):
            self.open.append(tag)
        if tag == "rect":
            self.open.append(tag)
            self.bars.append(dict(attrs)["class"])
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "td":
            self.rows[-1].append(self.text)
        if tag in ("summary", "pre"):
            self.folded.append((tag, self.text))
        if tag == "title":
            self.titles.append(self.text)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def made():
    """The page of a few calls, and the versions that they made."""

    @imprint.jit
    def f(x):
        y = np.sin(x)
        return y * 2 + np.asarray(float("1"))

    log = CompileLog()
    OBSERVERS.append(log)
    try:
        with pages.Recorder() as recorder:
            for n in (2, 3, 3):
                f(onp.ones(n, "float32"))
    finally:
        OBSERVERS.remove(log)
    rows = [row for row in log.rows() if row.function == "f"]
    text = pages.page("a <b> program", rows, recorder.events)
    return Document(text), sorted(f.versions, key=str), text


def test_it_needs_no_network_and_runs_no_script(made):
    document, _, text = made
    assert not document.tags & {"script", "link", "img", "iframe", "object"}
    assert not re.search(r"https?:|url\(|@import|\bon\w+=", text)
    assert document.titles[0] == "a <b> program"


def test_versions_have_hits_bytes_origin_and_seconds(made):
    document, versions, _ = made
    cells = {row[0]: row for row in document.rows if len(row) == 9}
    for version, hits in zip(versions, ("0", "1"), strict=True):
        row = cells[str(version)]
        assert row[2:5] == [hits, f"{version.nbytes:,}", version.origin]
        assert row[5:8] == [f"{seconds:.3f}" for seconds in version.costs]
        assert row[8] == f"starts {version.restarts}"


def test_each_miss_is_a_difference_with_its_remedy(made):
    document, _, _ = made
    first, second = (row for row in document.rows if len(row) == 5)
    assert first[1] == "first call"
    assert second[1] == "x.shape[0]: 2 → 3"
    assert second[2].startswith("Pad axis 0 of x")
    assert "test_page.py" in second[3]


def test_programs_are_grouped_by_source_line(made):
    document, versions, _ = made
    folded = document.folded
    (at,) = (
        i for i, part in enumerate(folded) if part == ("summary", str(versions[0]))
    )
    titles = [text for tag, text in folded[at:] if tag == "summary"]
    line = next(title for title in titles if title.endswith("np.sin(x)"))
    assert line.startswith("test_page.py:")
    assert folded[folded.index(("summary", line)) + 1][1].strip() == "b:f32[2] = sin a"
    text = "\n".join(text for tag, text in folded if tag == "pre")
    assert versions[0].stablehlo in text
    assert str(versions[0].jaxpr) in text
    module = [title for title in titles if title.startswith("StableHLO of ")]
    assert any("test_page.py" in title for title in module)


def test_the_timeline_has_the_steps_of_each_version(made):
    document, _, _ = made
    assert {"trace", "lower"} <= {*document.bars}
    assert any(title.startswith("f: trace, ") for title in document.titles)


def test_a_slow_call_that_made_no_version_is_a_bar():
    @imprint.jit
    def f(x):
        return imprint.pure_callback(lambda x: time.sleep(0.02) or x, x, x)

    before = Jitted.__call__
    f(1.0)
    with pages.Recorder() as recorder:
        f(1.0)
    (event,) = recorder.events
    assert (event.kind, event.name) == ("call", f.__name__)
    assert 0.02 <= event.seconds < 5
    assert Jitted.__call__ is before


def test_the_command_writes_the_page(tmp_path, capfd):
    script = write(tmp_path / "program.py", PROGRAM)
    file = tmp_path / "report.html"
    assert main(["run", "--html", str(file), str(script)]) == 0
    text = file.read_text()
    assert "&lt;script&gt;alert(1)" in text
    assert "<script" not in text
    with pytest.raises(SystemExit):
        main(["run", "--html", str(tmp_path / "no" / "x.html"), str(script)])
    assert "expected --html FILE in a directory that exists" in capfd.readouterr().err


@pytest.mark.exhaustive
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_a_browser_shows_it_and_unfolds_a_program(made, tmp_path):
    _, versions, text = made
    click = "<script>document.querySelector('details > summary').click()</script>"
    file = tmp_path / "report.html"
    file.write_text(text.replace("</body>", f"{click}</body>"))

    def browse(*options):
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", *options]
        done = subprocess.run(
            [*command, file.as_uri()], capture_output=True, timeout=60
        )
        return done.stdout.decode()

    dom = browse("--virtual-time-budget=1000", "--dump-dom")
    assert dom.count('<details open="">') == 1
    assert any(f"<summary>{version}</summary>" in dom for version in versions)
    picture = tmp_path / "report.png"
    browse("--window-size=1200,1600", f"--screenshot={picture}")
    assert picture.stat().st_size > 10_000
