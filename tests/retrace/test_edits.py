"""Each place where a value can stand, and each way to change it, one by one.

The oracle of `test_soundness` puts these together at random; here a failure has a name.
"""

import pytest

from tests.retrace.oracle.carriers import CARRIERS
from tests.retrace.oracle.containers import CONTAINERS
from tests.retrace.oracle.programs import HEAD, Program, Step, filled
from tests.retrace.oracle.roots import NESTED, NODES, ROOTS, STATICS
from tests.retrace.oracle.sources import SOURCES
from tests.retrace.oracle.world import run

KINDS = {
    "source": {**SOURCES, **CONTAINERS},
    "carrier": CARRIERS,
    "nested": NESTED,
    "root": ROOTS,
    "static": STATICS,
    "node": NODES,
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
    static = "S" if kind in ("static", "node") else None
    if kind != "root":
        text += f"def root(x{', n' if static else ''}):\n    return emit(x, {read})\n"
        read = "root"
    steps = Step(None, called=True), Step(filled(edit, 0, 11, "G"), called=True)
    steps = (*steps, Step(None, called=True))
    return Program(text, read, static, kind == "node", steps)


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_each_edit_is_seen(kind, name, strict):
    piece = KINDS[kind][name]
    for edit in (*piece.edits, *(piece.holes if strict else ())):
        run(program_of(kind, piece, edit), strict=strict)


ALMOST = [
    *(("1", "True"), ("1", "1.0"), ("0.0", "-0.0"), ("0", "False"), ("'a'", "b'a'")),
    *(("0.0", "0j"), ("0j", "-0j"), ("float('nan')", "0.0"), ("(1,)", "(True,)")),
    *(("np.float32(1)", "np.float64(1)"), ("(1, 2)", "[1, 2]"), ("None", "()")),
    *(("{1: 2}", "{True: 2}"), ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}")),
]
PLACES = {
    "global": ("V = {}", "V"),
    "item": ("V = [1, ({},)]", "repr(V)"),
    "cell": ("make = lambda a: lambda: a\nv = make({})", "v()"),
    "default": ("def v(a={}): return a", "v()"),
    "partial": ("v = functools.partial(lambda a: a, {})", "v()"),
    "class": ("class V:\n    a = {}", "V.a"),
}


@pytest.mark.parametrize(("old", "new"), ALMOST)
def test_values_that_are_almost_equal_are_told_apart(old, new):
    for define, read in PLACES.values():
        text = f"{HEAD}{define.format(old)}\ndef root(x):\n    return emit(x, {read})\n"
        there = Step(define.format(new), called=True)
        back = Step(define.format(old), called=True)
        run(Program(text, "root", None, False, (there, back)), strict=False)


@pytest.mark.parametrize(("old", "new"), ALMOST)
def test_captured_values_that_are_almost_equal_are_told_apart(old, new):
    text = f"{HEAD}W = {old}\ndef make(a):\n    return lambda x: emit(x, a, repr(a))\n"
    steps = Step(f"W = {new}", called=False), Step(None, called=True)
    run(Program(text, "make(W)", None, False, steps), strict=False)
