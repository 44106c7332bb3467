"""The pytest plugin: limits and a report of compiles, tracebacks, and no store.

It is outside of the package, since pytest loads every plugin at its start. It imports
imprint only when a test or an option needs it: other test runs stay fast, and coverage
measures imprint's import. The `user_properties` of pytest's reports carry the report, so it
also works with xdist.
"""

import json
import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

_KEY = "imprint_compiles"
_MARK = "pytest.mark.max_compiles"
_SHOWN = 20


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--imprint-compiles`."""
    parser.getgroup("imprint").addoption(
        "--imprint-compiles",
        action="store_true",
        help="list the versions that each test compiled, with seconds and reasons",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, turn the store off, and start the report if it is asked for."""
    if "IMPRINT_CACHE" not in os.environ:
        os.environ["IMPRINT_CACHE"] = "off"  # for processes that tests start, too
        config.add_cleanup(_store_as_before)
    config.addinivalue_line(
        "markers",
        "max_compiles(n): the call of the test, without its fixtures, may make at most n "
        "new versions of functions jitted by imprint, in all threads",
    )
    if config.getoption("--imprint-compiles"):
        config.pluginmanager.register(_Report(config), "imprint-compiles")


def _store_as_before() -> None:
    os.environ.pop("IMPRINT_CACHE", None)


# ---- limits, and the store ----


@pytest.fixture(scope="session")
def max_compiles() -> Callable[[int], Any]:
    """Give the function `imprint.testing.max_compiles`."""
    from imprint.testing import max_compiles  # noqa: PLC0415 - see the header

    return max_compiles


@pytest.fixture
def imprint_store(tmp_path: Path) -> Generator[Path]:
    """Give the folder of an empty store, which is in use during the test."""
    from imprint.testing import empty_store  # noqa: PLC0415 - see the header

    with empty_store(tmp_path / "imprint-store") as folder:
        yield folder


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[
    None, pytest.CollectReport, pytest.CollectReport
]:
    """Refuse markers without a sensible number, in a way that xdist's workers can."""
    report = yield
    try:
        for node in report.result or ():
            if isinstance(node, pytest.Item):
                _limit_of(node)
    except pytest.UsageError as err:
        report.outcome, report.longrepr, report.result = "failed", str(err), []
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Limit the call of a test that has the marker."""
    n = _limit_of(item)
    if n is None:
        return (yield)
    from imprint._src.testing.compiles import Limit  # noqa: PLC0415 - see the header

    with Limit(n, _MARK, f"the call of {item.name}"):
        return (yield)


def _limit_of(item: pytest.Item) -> int | None:
    """Return the number of the marker that is closest to a test, if there is one."""
    mark = item.get_closest_marker("max_compiles")
    if mark is None:
        return None
    given = [*mark.args, *mark.kwargs.values()]
    if len(given) == 1 and {*mark.kwargs} <= {"n"}:
        n = given[0]
        if type(n) is int and n >= 0:
            return n
    words = [*map(repr, mark.args), *(f"{k}={v!r}" for k, v in mark.kwargs.items())]
    raise pytest.UsageError(
        f"{item.nodeid}: expected @{_MARK}(n) with the number of compiles to allow, an "
        f"integer of at least 0, got @{_MARK}({', '.join(words)}). Write @{_MARK}(1) for "
        "a test that compiles one version."
    )


# ---- tracebacks ----


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Leave imprint's frames out of the traceback of a failure; `--full-trace` has them."""
    folding = sys.modules.get("imprint._src.diagnostics.traceback_filter")
    if folding and call.excinfo and not item.config.getoption("fulltrace"):
        folding.unlink(call.excinfo.value)


# ---- the report ----


class _Report:
    """Notes the compiles of each phase of a test, and lists those of all tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._phase: list[dict[str, Any]] = []
        self._tests: dict[str, list[dict[str, Any]]] = {}
        self._observers: list[Any] | None = None

    # As an observer of imprint's misses.

    def missed(self, miss: Any) -> None:
        """Wait for the version."""

    def failed(self, miss: Any) -> None:
        """Count no version that could not be made."""

    def compiled(self, miss: Any, costs: Any) -> None:
        """Note a version."""
        self._phase.append(
            {
                "reason": str(miss).rstrip() if miss.differences else "",
                "trace": costs.trace,
                "lower": costs.lower,
                "compile": costs.compile,
            }
        )

    # As a plugin of pytest.

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Begin to observe with the first test; the controller of xdist has none."""
        if self._observers is None:
            from imprint._src.jit.versions.version import OBSERVERS  # noqa: PLC0415 - see above

            self._observers = OBSERVERS
            self._observers.append(self)

    def pytest_unconfigure(self) -> None:
        """Observe no more."""
        if self._observers is not None:
            self._observers.remove(self)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Give the compiles of a phase to its report."""
        report = yield
        if self._phase:
            report.user_properties.append((_KEY, json.dumps(self._phase)))
            self._phase.clear()
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather the compiles of a test from the reports of its phases."""
        for key, value in report.user_properties:
            if key == _KEY:
                compiles = self._tests.setdefault(report.nodeid, [])
                compiles += json.loads(str(value))

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Print the table, the slowest tests first."""
        terminalreporter.section("imprint: compiles per test")
        ranked = sorted(self._tests.items(), key=lambda test: -_seconds(test[1]))
        shown = len(ranked) if self._config.get_verbosity() > 0 else _SHOWN
        if not ranked:
            terminalreporter.line("no test compiled a version")
            return
        terminalreporter.line(_HEAD)
        for name, compiles in ranked[:shown]:
            terminalreporter.line(_row(compiles, name))
            for reason in dict.fromkeys(c["reason"] for c in compiles if c["reason"]):
                terminalreporter.line(f"          {reason}")
        rest = [c for _, compiles in ranked[shown:] for c in compiles]
        if rest:
            terminalreporter.line(_row(rest, f"{len(ranked) - shown} more tests (-v)"))
        total = [c for _, compiles in ranked for c in compiles]
        terminalreporter.line(_row(total, "in all"))


_PARTS = ("trace", "lower", "compile")
_HEAD = "compiles  " + "".join(f"{part + ' s':>11}" for part in _PARTS) + "  test"


def _row(compiles: list[dict[str, Any]], name: str) -> str:
    seconds = "".join(f"{sum(c[part] for c in compiles):11.3f}" for part in _PARTS)
    return f"{len(compiles):8}  {seconds}  {name}"


def _seconds(compiles: list[dict[str, Any]]) -> float:
    return sum(c[part] for c in compiles for part in _PARTS)
