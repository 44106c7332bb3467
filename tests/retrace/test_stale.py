"""A cache hit gives the result of a fresh trace: one scenario for each way to fail.

The scenarios are texts, in `tests/retrace/stale`; `scenario` there runs one. Here a failure
has a name; the oracle of `test_soundness` combines such pieces.
"""

import pytest

from tests.retrace.stale.branches import BRANCHES
from tests.retrace.stale.dicts import DICTS
from tests.retrace.stale.equals import EQUALS, THROUGH_C
from tests.retrace.stale.existence import EXISTENCE
from tests.retrace.stale.forms import FORMS
from tests.retrace.stale.functions import FUNCTIONS
from tests.retrace.stale.given import GIVEN, HELD
from tests.retrace.stale.holders import HOLDERS
from tests.retrace.stale.inherited import INHERITED
from tests.retrace.stale.instances import INSTANCES, STATICS
from tests.retrace.stale.kept import KEPT
from tests.retrace.stale.libraries import LIBRARIES, OBSERVED
from tests.retrace.stale.modules import MODULES, NAMES
from tests.retrace.stale.nested import NESTED
from tests.retrace.stale.parameters import PARAMETERS
from tests.retrace.stale.scenario import play
from tests.retrace.stale.specials import MISSED, SPECIALS
from tests.retrace.stale.subclasses import SUBCLASSES
from tests.retrace.stale.taken import TAKEN
from tests.retrace.stale.trees import TREES
from tests.retrace.stale.wrapped import WRAPPED

KINDS = {
    "nested": NESTED,
    "branches": BRANCHES,
    "parameters": PARAMETERS,
    "trees": TREES,
    "forms": FORMS,
    "holders": HOLDERS,
    "modules": MODULES,
    "dicts": DICTS,
    "names": NAMES,
    "instances": INSTANCES,
    "statics": STATICS,
    "functions": FUNCTIONS,
    "specials": SPECIALS,
    "taken": TAKEN,
    "equals": EQUALS,
    "through C": THROUGH_C,
    "missed": MISSED,
    "libraries": LIBRARIES,
    "observed": OBSERVED,
    "existence": EXISTENCE,
    "given": GIVEN,
    "held": HELD,
    "kept": KEPT,
    "inherited": INHERITED,
    "subclasses": SUBCLASSES,
    "wrapped": WRAPPED,
}
pytestmark = [
    pytest.mark.unaudited,  # they count traces, and compare with a fresh one themselves
]


def scenarios():
    """Return the cases of all kinds."""
    return [
        pytest.param(text, id=f"{kind}: {name}")
        for kind, texts in KINDS.items()
        for name, text in texts.items()
    ]


@pytest.mark.parametrize("text", scenarios())
def test_an_edit_is_seen(text):
    play(text)
