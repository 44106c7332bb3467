"""What every test has in common: checks on, warnings as errors, the same draws each run.

Hypothesis is derandomized and keeps no database: a run on any machine draws the same
examples. Its budget is small because the laws run over every primitive; a wider search is
`HYPOTHESIS_PROFILE=wide`, by hand. Warnings are errors by pyproject.toml.
"""

import os
import platform
from importlib.metadata import version

import hypothesis
import pytest

from imprint.config import config

hypothesis.settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=25,
    print_blob=False,
    # The speed of drawing depends on the machine's load, and so would the verdict.
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "wide", parent=hypothesis.settings.get_profile("ci"), max_examples=1000
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the golden files with what comes, to be reviewed",
    )


@pytest.fixture(scope="session", autouse=True)
def _internal_checks():
    config.update("enable_checks", True)


def pytest_report_header():
    return f"imprint on CPython {platform.python_version()}, jaxlib {version('jaxlib')}"


def pytest_collection_modifyitems(items):
    # Parameters drawn from a set come in another order in each worker of xdist.
    items.sort(key=lambda item: (str(item.path), item.location[1], item.nodeid))
