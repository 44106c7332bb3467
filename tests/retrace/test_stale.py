"""A cache hit gives the result of a fresh trace: one scenario for each way to fail.

The scenarios are the functions of the modules of `tests/retrace/stale`; `scenario.play`
runs one. Here a failure has a name; the oracle of `test_soundness` combines such pieces.
"""

import importlib
import inspect
import pathlib

import pytest

from tests.retrace.scenario import play

PACKAGE = pathlib.Path(__file__).parent / "stale"
MODULES = sorted(file.stem for file in PACKAGE.glob("*.py"))
pytestmark = [
    pytest.mark.unaudited,  # they count traces, and compare with a fresh one themselves
]


def cases():
    """Yield the cases of all modules."""
    for name in MODULES:
        module = importlib.import_module(f"tests.retrace.stale.{name}")
        for scenario in filter(inspect.isgeneratorfunction, vars(module).values()):
            for kind in getattr(scenario, "kinds", [None]):
                case = "-".join([name, scenario.__name__, *([kind] if kind else [])])
                yield pytest.param(scenario, kind, id=case)


@pytest.mark.parametrize(("scenario", "kind"), list(cases()))
def test_an_edit_is_seen(scenario, kind):
    play(scenario, kind)
