"""Each place where a value can stand, and each way to change it, one by one.

The oracle of `test_soundness` puts these together at random; here a failure has a name.
"""

import pytest

from tests.retrace.oracle.carriers import CARRIERS
from tests.retrace.oracle.containers import CONTAINERS
from tests.retrace.oracle.programs import HEAD, Program, Step, filled
from tests.retrace.oracle.roots import NESTED, ROOTS, STATICS
from tests.retrace.oracle.sources import SOURCES
from tests.retrace.oracle.world import run

KINDS = {
    "source": {**SOURCES, **CONTAINERS},
    "carrier": CARRIERS,
    "nested": NESTED,
    "root": ROOTS,
    "static": STATICS,
}
pytestmark = [
    pytest.mark.usefixtures("kept_executables"),
    pytest.mark.filterwarnings("ignore:.* was compiled 8 times"),
]
CASES = [(kind, name) for kind, pieces in KINDS.items() for name in pieces]


def program_of(kind, piece, edit):
    """Return a program of one piece that is called, edited, called and made anew."""
    read = filled(piece.read, 0, 3, "G")
    text = f"{HEAD}G = 1\n{filled(piece.define, 0, 3, 'G')}\n"
    static = "S" if kind == "static" else None
    if kind != "root":
        text += f"def root(x{', n' if static else ''}):\n    return emit(x, {read})\n"
        read = "root"
    steps = Step(None, called=True), Step(filled(edit, 0, 11, "G"), called=True)
    return Program(text, read, static, (*steps, Step(None, called=True)))


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_each_edit_is_seen(kind, name, strict):
    piece = KINDS[kind][name]
    for edit in (*piece.edits, *(piece.holes if strict else ())):
        run(program_of(kind, piece, edit), strict=strict)
