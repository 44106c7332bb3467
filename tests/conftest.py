"""Settings of all tests: checks on, warnings as errors, the same draws each run.

Golden files are texts that are reviewed like code: `golden(name, text)` compares with
tests/golden/<name>; `pytest --update-golden` rewrites the files instead. Paths of this
checkout, addresses and the engine's version are taken out of the text.

Hypothesis is derandomized and keeps no database: a run on any machine draws the same
examples, in whatever order the tests come. Its budget is small because the laws run over
every primitive; a wider search is `HYPOTHESIS_PROFILE=wide`, by hand. Warnings are errors
by pyproject.toml.
"""

import gc
import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

from imprint._src.config import config
from imprint.errors import CompileError
from tests.lanes import HALVES, is_in_half, is_sampled_out
from tests.quick import hasten
from tests.ranks import refuse_own_promotion

hypothesis.settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=25,
    print_blob=False,
    # It takes ten times as long as to find a small example, and says little about programs.
    phases=[
        phase for phase in hypothesis.Phase if phase is not hypothesis.Phase.explain
    ],
    # The speed of drawing depends on the machine's load, and so would the verdict.
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "wide", parent=hypothesis.settings.get_profile("ci"), max_examples=1000
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# It also draws numbers that it finds in the source of each module that is loaded by then:
# seconds to parse, and other draws wherever the tests before it loaded others.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants

# No test sees programs of another run; the store is off in processes of tests, too.
os.environ["IMPRINT_CACHE"] = "off"

TESTS = Path(__file__).parent
RAN = pytest.StashKey[int]()  # how many tests, in this process
THAWED = pytest.StashKey[bool]()  # whether the heap is, since
BETWEEN_FREEZES = 50  # tests


def pytest_make_parametrize_id(val):
    """Name callables by their name: an address differs between workers."""
    if callable(val) and not isinstance(val, type):
        return getattr(val, "__qualname__", type(val).__qualname__)
    return None


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the golden files with what comes, to be reviewed",
    )
    parser.addoption(
        "--half",
        choices=HALVES,
        help="run every other test of each family, or the others",
    )
    parser.addoption(
        "--optimized",
        action="store_true",
        help="compile as for users; without, XLA optimizes less, in half the time",
    )


def pytest_configure(config):
    if not config.getoption("--optimized"):
        hasten()
    thaw = gc.unfreeze

    def unfreeze():
        thaw()
        config.stash[THAWED] = True

    gc.unfreeze = unfreeze  # to count frozen objects takes as long as to collect them
    config.stash[THAWED] = False


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage while tests are collected: a third of that time, and none is there."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Skip tests of computations that only the CPU has on a GPU."""
    try:
        return (yield)
    except CompileError as err:
        if config.default_device is None or "which only the CPU has" not in str(err):
            raise
        pytest.skip(str(err))


@pytest.fixture(autouse=True)
def _young_heap(request):
    """Let the garbage collector see only the objects of the last tests.

    Else each test that collects walks over the millions of objects that the tests before
    it, and JAX, left in the process. Every few tests, the remaining objects are frozen. A test in which
    a tracer leaks has all of them searched again; its own stay, too, as to collect them
    would take seconds.
    """
    counts = request.config.stash
    counts[RAN] = counts.get(RAN, -1) + 1
    is_due = counts[RAN] % BETWEEN_FREEZES == 0
    if is_due and not counts[THAWED]:
        gc.collect()
    if is_due or counts[THAWED]:
        gc.freeze()
        counts[THAWED] = False


@pytest.fixture
def golden(request):
    def check(name, text):
        text = re.sub(rf"{re.escape(str(TESTS))}/(\w+/)?", "", text).rstrip() + "\n"
        text = re.sub(r" at 0x[0-9a-f]+", " at 0x…", text)
        text = re.sub(r"jaxlib [0-9.]+[0-9]", "jaxlib …", text)
        path = TESTS / "golden" / name
        if request.config.getoption("--update-golden"):
            path.write_text(text)
        assert path.exists(), f"no {name}: run pytest --update-golden and review it"
        assert text == path.read_text()

    return check


@pytest.fixture(scope="session", autouse=True)
def _internal_checks():
    config.update("enable_checks", True)
    refuse_own_promotion()


@pytest.fixture(autouse=True)
def _audited_or_not(request):
    """Leave out tests that show the findings of an audit, or that count its traces."""
    share = config.audit
    if not share or not request.node.get_closest_marker("unaudited"):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("IMPRINT_AUDIT", raising=False)  # for processes that it starts
        config.update("audit", 0.0)  # for each of its threads, as no `with` would
        yield
    config.update("audit", share)


def pytest_report_header():
    engine = f"jaxlib {version('jaxlib')} {os.environ.get('XLA_FLAGS', '')}".rstrip()
    return f"imprint on CPython {platform.python_version()}, {engine}"


def pytest_itemcollected(item):
    """Leave out of the fast lane the cases that were not drawn for it."""
    if is_sampled_out(item):
        item.add_marker("exhaustive")


def pytest_collection_modifyitems(config, items):
    """Run long tests first, so that the workers of xdist end together.

    The rest is the order of the files. It is the same in each worker, where parameters
    drawn from a set come in another order.
    """

    lines = {}  # of each function with many cases

    def place(item):
        long = any(item.get_closest_marker(name) for name in ("slow", "exhaustive"))
        function = item.parent.nodeid, getattr(item, "originalname", item.name)
        if function not in lines:
            lines[function] = item.location[1]
        return not long, str(item.path), lines[function], item.nodeid

    items.sort(key=place)
    half = config.getoption("--half")
    if half is not None:
        rest = [item for item in items if not is_in_half(item, half)]
        items[:] = [item for item in items if is_in_half(item, half)]
        config.hook.pytest_deselected(items=rest)
