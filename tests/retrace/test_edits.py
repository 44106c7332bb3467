"""Each place where a value can be bound, with each way to change it.

The oracle of `test_soundness` combines these at random; here a failure has a name.
"""

import pytest

from tests.retrace.oracle.carriers import CARRIERS
from tests.retrace.oracle.holders import HASHED, HOLDERS
from tests.retrace.oracle.programs import HEAD, VALUES, Program, Step, filled
from tests.retrace.oracle.roots import NESTED, ROOTS
from tests.retrace.oracle.rules import COMING, RULES
from tests.retrace.oracle.statics import NODE_HOLDERS, NODES, STATIC_HOLDERS, STATICS
from tests.retrace.oracle.ways import KEEPERS, WAYS
from tests.retrace.oracle.world import run

KINDS = {
    "source": VALUES,
    "carrier": CARRIERS,
    "nested": NESTED,
    "root": ROOTS,
    "static": STATICS,
    "node": NODES,
    "holder": HOLDERS,
    "way": WAYS,
    "keeper": KEEPERS,
    "static holder": STATIC_HOLDERS,
    "node holder": NODE_HOLDERS,
}
pytestmark = [
    pytest.mark.unaudited,  # they compare with a fresh trace themselves
    pytest.mark.filterwarnings("ignore:.* was compiled 8 times"),
]
CASES = [(kind, name) for kind, pieces in KINDS.items() for name in pieces]


# Pieces around an object with an attribute, which is edited too; `read` is an object.
AROUND = ("way", "keeper", "static holder", "node holder")
OBJECTS = ("holder", "keeper", "static holder", "node holder")
RATE = "class Rate: w = 1\nG = Rate()\n"


def program_of(kind, piece, edit):
    """Return a program of one piece that is called, edited, called and re-created."""
    read = filled(piece.read, 0, 3, "G") + ".w" * (kind in OBJECTS)
    text = RATE if kind in AROUND else "G = 1\n"
    text = f"{HEAD}{text}{filled(piece.define, 0, 3, 'G')}\n"
    static = "S" if kind.split()[0] in ("static", "node") else None
    if kind != "root":
        text += f"def root(x{', n' if static else ''}):\n    return emit(x, {read})\n"
        read = "root"
    steps = Step(None, called=True), Step(filled(edit, 0, 11, "G"), called=True)
    steps = (*steps, Step(None, called=True))
    return Program(text, read, static, kind.startswith("node"), steps)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_each_edit_is_seen(kind, name, strict):
    if strict and name == "cached":
        pytest.skip("what a memo keeps is not seen, and written by the trace itself")
    piece = KINDS[kind][name]
    edits = (*piece.edits, *(piece.holes if strict else ()))
    if kind in AROUND:
        edits = (*edits, "G.w = 2", "Rate.w = 2", "G = Rate(); G.w = 3")
    for edit in edits:
        run(program_of(kind, piece, edit), strict=strict)


@pytest.mark.parametrize("name", HASHED)
def test_each_edit_of_a_static_argument_is_seen(name):
    holder, static = HOLDERS[name], STATIC_HOLDERS["itself"]
    for edit in holder.edits:
        program = program_of("static holder", static, edit)
        define = filled(holder.define, 0, 3), f"S = {filled(holder.read, 0, 3)}"
        text = program.text.replace("S = G\n", "\n".join(define) + "\n")
        run(program._replace(text=text), strict=False)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", COMING)
def test_values_read_by_a_rule_may_appear_and_disappear(name, rule):
    """Its derivative is kept with a program whose trace did not read this value."""
    define, read, edits, gone = COMING[name]
    piece = RULES[rule]
    text = f"{HEAD}{define}\n{filled(piece.define, 0, 3, read)}\ndef root(x):\n"
    text += f"    return emit(x, {filled(piece.read, 0, 3, read)})\n"
    steps = [Step(edit, called=True) for edit in (*edits, gone, edits[0])]
    run(Program(text, "root", None, False, tuple(steps)), strict=False)


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
def test_almost_equal_values_are_distinguished(old, new):
    for define, read in PLACES.values():
        text = f"{HEAD}{define.format(old)}\ndef root(x):\n    return emit(x, {read})\n"
        there = Step(define.format(new), called=True)
        back = Step(define.format(old), called=True)
        run(Program(text, "root", None, False, (there, back)), strict=False)


@pytest.mark.parametrize(("old", "new"), ALMOST)
def test_almost_equal_captures_are_distinguished(old, new):
    text = f"{HEAD}W = {old}\ndef make(a):\n    return lambda x: emit(x, a, repr(a))\n"
    steps = Step(f"W = {new}", called=False), Step(None, called=True)
    run(Program(text, "make(W)", None, False, steps), strict=False)
