"""The documentation site in a browser: it builds, and five pages are rendered."""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading

import pytest

from tests.docs.examples import ROOT

BROWSER = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
# Pages, each with a text that only a script or a rendered signature puts there.
PAGES = {
    "": "imprint's documentation",
    "explanation/when-does-jit-retrace/": "When does jit retrace?",
    "how-to/custom-derivatives/": "custom_vjp",
    "explanation/performance/": "pictures/bars.svg",
    "reference/api/imprint.numpy/": 'id="imprint.numpy.where"',
}
pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
]
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--window-size=1300,900"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, env=environment, check=True)
    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(folder)
    )
    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_rendered(page, site, tmp_path):
    command = [BROWSER, *FLAGS, f"--user-data-dir={tmp_path}"]
    picture = tmp_path / "page.png"
    shown = [*command, f"--screenshot={picture}", f"{site}/{page}"]
    subprocess.run(shown, check=True, timeout=120, capture_output=True)
    assert picture.stat().st_size > 20_000
    dumped = [*command, "--dump-dom", f"{site}/{page}"]
    text = subprocess.run(
        dumped, check=True, timeout=120, capture_output=True, text=True
    ).stdout
    assert PAGES[page] in text
    assert "md-search" in text
