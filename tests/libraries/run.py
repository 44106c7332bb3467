"""Published libraries on JAX and on `imprint.as_jax`, exercised by their own suites.

`make test-libraries ARGS="NAME..."` runs each suite twice, each file in a fresh process,
and prints which of the tests that pass on JAX fail on imprint, and a table. `--write` puts
its rows on the page of documentation, in the place of those of the same libraries. `short`
runs the programs of this folder on imprint alone, `JOBS` files at a time; it fails if one of
them does.
"""

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

from tests.libraries.suites import SUITES, Suite

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FETCHED = Path(sys.prefix) / "sdists"
PAGE = ROOT / "docs" / "how-to" / "run-jax-programs.md"
SECONDS = 1800  # for one file
KNOWN = ("::test_no_inline",)
"""Programs that do not work: the page says why."""
HEAD = (
    "| Library | Version | Suite | Tests | Pass on imprint | % |",
    "| --- | --- | --- | ---: | ---: | ---: |",
)


def files_of(suite: Suite) -> Iterator[tuple[Path, Path]]:
    """Yield the folder and the path of each file of tests of a library."""
    home = HERE / "programs" if suite.programs else fetched(suite.name)
    for pattern in suite.files:
        for file in sorted(home.glob(pattern.removeprefix("programs/"))):
            if not any(word in str(file) for word in suite.left_out):
                yield home, file


def fetched(name: str) -> Path:
    """Return the folder of the library's source distribution; download it once."""
    folder = FETCHED / f"{name}-{version(name)}"
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        with tempfile.TemporaryDirectory() as target:
            words = ["--no-binary", name, "--dest", target, f"{name}=={version(name)}"]
            subprocess.run([*pip, *words], check=True)
            with tarfile.open(next(Path(target).glob("*.tar.gz"))) as archive:
                archive.extractall(FETCHED, filter="data")
    return folder


def outcomes(suite: Suite, home: Path, file: Path, *, as_jax: bool) -> dict[str, str]:
    """Run one file in a fresh process; return the outcome of each test by its name."""
    with tempfile.TemporaryDirectory() as scratch:
        report, ini = Path(scratch, "report.xml"), Path(scratch, "pytest.ini")
        ini.write_text("[pytest]\n", encoding="utf-8")
        words = [
            *("-c", str(ini), "--rootdir", str(home), "--confcutdir", str(home)),
            *("-q", "-p", "no:cacheprovider", "-p", "pytest_timeout", "--timeout=300"),
            *(["-p", "imprint.as_jax"] if as_jax else []),
            *("-k", " and ".join(f"not {name}" for name in suite.deselected)),
            *(f"--junitxml={report}", str(file)),
        ]
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "JAX_PLATFORMS": "cpu",
            "EINOPS_TEST_BACKENDS": "numpy,jax",
        }
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [sys.executable, "-m", "pytest", *words],
                cwd=scratch,
                env=environment,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        return read(report) if report.exists() else {}


def read(report: Path) -> dict[str, str]:
    """Return the outcome of each test in a report of pytest."""
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = [child.tag for child in case if child.tag != "properties"]
        name = f"{case.get('classname')}::{case.get('name')}"
        found[name] = next(
            (k for k in kinds if k in ("failure", "error", "skipped")), "passed"
        )
    return found


def compare(suite: Suite) -> tuple[int, int]:
    """Return how many tests pass on JAX, and how many of these on imprint."""
    theirs, ours = 0, 0
    for home, file in files_of(suite):
        expected = outcomes(suite, home, file, as_jax=False)
        passed = {name for name, outcome in expected.items() if outcome == "passed"}
        got = outcomes(suite, home, file, as_jax=True) if passed else {}
        failed = sorted(name for name in passed if got.get(name) != "passed")
        theirs += len(passed)
        ours += len(passed) - len(failed)
        print(f"{file.name}: {len(passed) - len(failed)} of {len(passed)}", flush=True)
        for name in failed:
            print(f"  {got.get(name, 'did not run')}: {name}", flush=True)
    return theirs, ours


def row(suite: Suite, theirs: int, ours: int) -> str:
    """Return the library's row of the table."""
    share = 100 * ours / theirs if theirs else 0.0
    kind = "programs of its documentation" if suite.programs else "its own"
    return (
        f"| {suite.name} | {version(suite.name)} | {kind} | {theirs} | {ours} "
        f"| {share:.1f} |"
    )


def write(rows: Sequence[str]) -> None:
    """Replace the rows of the same libraries on the page."""
    text = PAGE.read_text(encoding="utf-8")
    for new in rows:
        name = new.split("|")[1]
        text = re.sub(
            rf"^\|{name}\|.*$", lambda _, new=new: new, text, flags=re.MULTILINE
        )
    PAGE.write_text(text, encoding="utf-8")


def short() -> int:
    """Run the programs on imprint; return the exit status."""
    suites = [suite for suite in SUITES if suite.programs]
    files = [(suite, *at) for suite in suites for at in files_of(suite)]
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as pool:
        every = pool.map(lambda at: outcomes(*at, as_jax=True), files)
        reports = list(zip(suites, every, strict=True))
    passed, count, wrong = 0, 0, False
    for suite, found in reports:
        failed = [name for name, how in found.items() if how != "passed"]
        print(f"{suite.name}: {len(found) - len(failed)} of {len(found)}", *failed)
        wrong |= not found or any(not name.endswith(KNOWN) for name in failed)
        passed, count = passed + len(found) - len(failed), count + len(found)
    print(f"{passed} of {count} programs of {len(suites)} libraries passed as-jax")
    return int(wrong)


def main(words: Sequence[str]) -> int:
    """Run the suites that the words name, all otherwise; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true", help="write the page's table")
    given = parser.parse_args(words)
    if given.names == ["short"]:
        return short()
    chosen = [s for s in SUITES if not given.names or s.name in given.names]
    rows = [row(suite, *compare(suite)) for suite in chosen]
    print("\n".join([*HEAD, *rows]))
    if given.write:
        write(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
