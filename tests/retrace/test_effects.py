"""Containers that a trace writes to: the write is an effect, the rest is still guarded.

A dict that gained a key is guarded at its other keys, a list that grew at its first items.
A count of traces is no reason to trace.
"""

import collections
import enum
import operator
import sys
import types
import weakref
from functools import partial

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.compilation.counters import COUNTERS
from tests.lanes import exhaustive
from tests.units.modules import make_module

pytestmark = [
    pytest.mark.unaudited,  # they count traces, and compare with a fresh one themselves
]
X = inp.ones(4)
EQUAL_X = inp.ones(5)


class Holder:
    pass


GAINS = {
    "an item": "CFG['traced'] = True",
    "setdefault": "CFG.setdefault('n', 0)",
    "update": "CFG.update(a=1, b=2)",
    "a count": "CFG['n'] = CFG.get('n', 0) + 1",
    "a count that was there": "CFG['count'] += 1",
    "a key that is deleted": "CFG.pop('count', None)",
    "a key at the end": "CFG['count'] = CFG.pop('count', 0) + 1",
    "the first key at the end": "CFG['rate'] = CFG.pop('rate')",
    "a container": "CFG.setdefault('log', []).append(1)",
}
EDITS = {
    "another value": "CFG['rate'] = 5.0",
    "a new key": "CFG['bias'] = 1.0",
    "a key that is deleted": "del CFG['rate']",
    "all keys": "CFG.clear()",
    "another dict": "CFG = {'rate': 7.0}",
}


def cfg():
    return {"count": 0, "rate": 2.0, "other": (1, 2)}


def read(cfg, x):
    return x * cfg.get("rate", 1.0) + cfg.get("bias", 0.0)


def at_a_global(gain, **options):
    names = {"CFG": cfg(), "read": read}
    exec(f"def f(x):\n    {gain}\n    return read(CFG, x)", names)
    return imprint.jit(names["f"], **options), lambda text: exec(text, names)


def in_a_cell(gain, **options):
    names = {"read": read}
    text = f"""
def make(CFG):
    def f(x):
        {gain}
        return read(CFG, x)
    def edit(text):
        nonlocal CFG
        names = dict(CFG=CFG)
        exec(text, names)
        CFG = names["CFG"]
    return f, edit
"""
    exec(text, names)
    f, edit = names["make"](cfg())
    return imprint.jit(f, **options), edit


def in_a_list(gain, **options):
    gain = gain.replace("CFG", "ALL[0]")
    names = {"ALL": [cfg()], "read": read}
    exec(f"def f(x):\n    {gain}\n    return read(ALL[0], x)", names)
    edit = lambda text: exec(text.replace("CFG", "ALL[0]"), names)
    return imprint.jit(names["f"], **options), edit


def in_a_defaultdict(gain, **options):
    names = {"CFG": collections.defaultdict(int, cfg()), "read": read}
    exec(f"def f(x):\n    {gain}\n    return read(CFG, x)", names)
    return imprint.jit(names["f"], **options), lambda text: exec(text, names)


def in_an_attribute(gain, **options):
    gain = gain.replace("CFG", "HELD.cfg")
    names = {"HELD": Holder(), "read": read}
    names["HELD"].cfg = cfg()
    exec(f"def f(x):\n    {gain}\n    return read(HELD.cfg, x)", names)
    edit = lambda text: exec(text.replace("CFG", "HELD.cfg"), names)
    return imprint.jit(names["f"], **(options | {"strict": True})), edit


def in_a_static_argument(gain, **options):
    gain = gain.replace("CFG", "h.cfg")
    names = {"HELD": Holder(), "read": read}
    names["HELD"].cfg = cfg()
    exec(f"def f(x, h):\n    {gain}\n    return read(h.cfg, x)", names)
    edit = lambda text: exec(text.replace("CFG", "HELD.cfg"), names)
    f = imprint.jit(names["f"], static_argnums=1, **options)
    return lambda x: f(x, names["HELD"]), edit


PLACES = [
    *(at_a_global, in_a_cell, in_a_list, in_a_defaultdict, in_an_attribute),
    in_a_static_argument,
]


def traces_of(f, *args):
    before = COUNTERS.traces
    value = f(*args)
    return float(value[0]), COUNTERS.traces - before


@pytest.mark.parametrize("strict", [False, *exhaustive(True)])
@pytest.mark.parametrize("gain", GAINS.values(), ids=GAINS)
@pytest.mark.parametrize("place", PLACES)
def test_a_write_by_the_trace_into_a_dict_causes_no_trace(place, gain, strict):
    f, _ = place(gain, strict=strict)
    for x in (X, EQUAL_X):
        assert traces_of(f, x) == (2.0, 1)
    for _ in range(3):  # each may be traced once more, for the first write of the other
        f(X), f(EQUAL_X)
    for _ in range(3):
        assert traces_of(f, X) == traces_of(f, EQUAL_X) == (2.0, 0)


@pytest.mark.parametrize("strict", [False, *exhaustive(True)])
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("gain", GAINS.values(), ids=GAINS)
@pytest.mark.parametrize("place", PLACES)
def test_other_keys_of_a_dict_that_the_trace_wrote_are_guarded(
    place, gain, edit, strict
):
    if "'rate'" in gain and edit in (EDITS["a key that is deleted"], EDITS["all keys"]):
        pytest.skip("then there is no rate to move")
    if "'count'] +=" in gain and edit in (EDITS["all keys"], EDITS["another dict"]):
        pytest.skip("then there is no count")
    f, change = place(gain, strict=strict)
    f(X), f(X)
    change(edit)
    expected, fresh = place(gain)
    fresh(edit)
    assert float(f(X)[0]) == float(expected(X)[0])


GROWS = {
    "list": ("[1.0, 2.0]", "L.append(9.0)", ("L[0] = 5.0", "L.clear()", "del L[0]")),
    "list that gets more": ("[]", "L.extend([x, x])", ("L = [1.0]",)),
    "deque": (
        "collections.deque([1.0, 2.0])",
        "L.append(9.0)",
        ("L[0] = 5.0", "L.appendleft(4.0)", "L.clear()"),
    ),
    "set": ("{1.0, 2.0}", "L.add(9.0)", ("L.add(5.0)", "L.discard(1.0)", "L.clear()")),
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", GROWS)
def test_items_older_than_the_trace_are_guarded(name, strict):
    made, grow, edits = GROWS[name]
    for edit in edits:
        names = {"collections": collections}
        exec(
            f"L = {made}\ndef f(x):\n"
            "    s = sum(v for v in L if isinstance(v, float) and v != 9)\n"
            f"    {grow}\n    return x * s",
            names,
        )
        f = imprint.jit(names["f"], strict=strict)
        f(X), f(EQUAL_X)
        for _ in range(3):
            assert traces_of(f, X)[1] == traces_of(f, EQUAL_X)[1] == 0
        exec(edit, names)
        expected = float(names["f"](X)[0])
        assert traces_of(f, X) == (expected, 1), edit
        assert traces_of(f, X) == (expected, 0), edit


MEMOS = {
    "in": "if {k} not in MEMO: MEMO[{k}] = W * 2.0\n    r = MEMO[{k}]",
    "get": "r = MEMO.get({k})\n    if r is None: r = MEMO[{k}] = W * 2.0",
    "setdefault": "r = MEMO.setdefault({k}, W * 2.0)",
    "a function that is kept": (
        "if {k} not in MEMO: MEMO[{k}] = work()\n    r = MEMO[{k}]"
    ),
    "a list": "if {k} not in MEMO: MEMO[{k}] = [W * 2.0]\n    r = MEMO[{k}][0]",
}
Mode = enum.Enum("Mode", "A B")
KEYS = {"Holder": Holder, "Mode": Mode}
MEMO_EDITS = (
    "MEMO[{k}] = {new}",
    "MEMO.clear(); W = 4.0; work = lambda: 8.0",
    "MEMO.update({{{k}: {new}}})",
    "MEMO = {{{k}: {new}}}",
    "MEMO.pop({k}); W, work = 9.0, lambda: 3.0",
)


def as_global_memo(text):
    names = {"W": 1.0, "MEMO": {}, "work": lambda: 2.0, **KEYS}
    exec(f"def f(x):\n    {text}\n    return x * r", names)
    return imprint.jit(names["f"]), names["f"], lambda edit: exec(edit, names)


def as_captured_memo(text):
    names = {"W": 1.0, "work": lambda: 2.0, "MEMO": {}, **KEYS}
    exec(
        f"def make(MEMO):\n  def f(x):\n    {text}\n    return x * r\n  return f",
        names,
    )
    f = names["make"](names["MEMO"])
    return imprint.jit(f), f, lambda edit: exec(edit, names)


def as_memo_of_an_object(text):
    text = text.replace("MEMO", "h.memo")
    names = {"W": 1.0, "h": Holder(), "work": lambda: 2.0, **KEYS}
    names["h"].memo = {}
    exec(f"def f(x):\n    {text}\n    return x * r", names)
    edit = lambda each: exec(each.replace("MEMO", "h.memo"), names)
    return imprint.jit(names["f"]), names["f"], edit


@pytest.mark.parametrize("text", MEMOS.values(), ids=MEMOS)
@pytest.mark.parametrize(
    "made", [as_global_memo, as_captured_memo, as_memo_of_an_object]
)
@pytest.mark.parametrize(
    "key", ["4", "'a'", "(1, Holder)", *exhaustive("None", "2.5", "Mode.A", "len")]
)
def test_a_memo_under_a_key_is_guarded(made, text, key):
    for edit in MEMO_EDITS:
        if made is as_captured_memo and edit.startswith("MEMO = "):
            continue  # it is another dict, which no function captured
        f, plain, run = made(text.format(k=key))
        assert traces_of(f, X) == (2.0, 1)
        assert traces_of(f, EQUAL_X) == (2.0, 1)
        assert traces_of(f, X) == traces_of(f, EQUAL_X) == (2.0, 0)
        run(edit.format(k=key, new="[7.0]" if "[W" in text else "7.0"))
        for x in X, EQUAL_X:
            value = float(f(x)[0])
            assert value == float(plain(x)[0]) != 2.0, edit
            assert traces_of(f, x) == (value, 0), edit


SINGLETONS = {
    "of a metaclass": """
class Once(type):
    made = {}
    def __call__(cls):
        if cls not in Once.made: Once.made[cls] = super().__call__()
        return Once.made[cls]
class C(metaclass=Once):
    rate = 2.0
    def __init__(self): self.own = 1.0
made = Once.made
""",
    "of a decorator": """
def once(cls):
    def get():
        if cls not in made: made[cls] = cls()
        return made[cls]
    return get
made = {}
@once
class C:
    rate = 2.0
    def __init__(self): self.own = 1.0
""",
}


@pytest.mark.parametrize("text", SINGLETONS.values(), ids=SINGLETONS)
def test_an_object_that_a_trace_made_once_is_watched(text):
    names = {}
    exec(text + "def f(x): return x * C().rate * C().own", names)
    f = imprint.jit(names["f"])
    assert traces_of(f, X) == (2.0, 1)
    assert traces_of(f, X) == (2.0, 0)
    for edit, value in [
        ("C().own = 3.0", 6.0),
        ("type(C()).rate = 4.0", 12.0),
        ("(cls,) = made; made[cls] = cls.__new__(cls); C().own = 5.0", 20.0),
        ("made.clear()", 4.0),
    ]:
        exec(edit, names)
        assert traces_of(f, X)[0] == value
        assert traces_of(f, X) == (value, 0)


LAZY = {
    "function": ("double", "triple", "V(1.0)"),
    "lambda": ("(lambda v: v * 2.0)", "triple", "V(1.0)"),
    "closure": ("make(2.0)", "make(3.0)", "V(1.0)"),
    "class": ("C", "D", "V.w"),
    "module": ("collections", "enum", "len(V.__name__) / 5.5"),
    "nested list": ("[[2.0], []]", "[[3.0], []]", "V[0][0]"),
    "nested dict": ("{'a': {'b': 2.0}}", "{'a': {'b': 3.0}}", "V['a']['b']"),
    "tuple of tuples": ("((2.0,), 1)", "((3.0,), 1)", "V[0][0]"),
    "named tuple": ("P(2.0)", "P(3.0)", "V.w"),
    "namespace": ("N(w=2.0)", "N(w=3.0)", "V.w"),
    "dtype": ("np.dtype('i2')", "np.dtype('i8')", "V.itemsize"),
    "number of NumPy": ("np.float32(2)", "np.float32(3)", "V"),
    "arrays": ("[np.full(2, 2.0)]", "[np.full(2, 3.0)]", "V[0][0]"),
    "dict of functions": ("{'a': double}", "{'a': triple}", "V['a'](1.0)"),
    "partials": ("[partial(mul, 2.0)]", "[partial(mul, 3.0)]", "V[0](1.0)"),
    "empty list": ("[]", "[4.0]", "(2.0 + sum(V))"),
    "empty dict": ("{}", "dict(a=4.0)", "(2.0 + sum(V.values()))"),
    "range": ("range(2)", "range(3)", "len(V)"),
    "slice": ("slice(0, 2)", "slice(0, 3)", "V.stop"),
    "many": ("[*range(300)][1:]", "[5] * 300", "(V[0] + 1)"),
}
PLACES_OF_LAZY = {
    "attribute": ("o.v", "if o.v is None: o.v ="),
    "global": ("v", "if v is None: v ="),
    "key": ("d['k' * 1]", "if not d.get('k' * 1): d['k' * 1] ="),
}


LAZY_CASES = [
    pytest.param(*value, *place, id=f"{name}-{of}")
    for name, value in LAZY.items()
    for of, place in PLACES_OF_LAZY.items()
    # A second trace writes an empty one again, as it is false: an effect.
    if (name, of) not in {("empty list", "key"), ("empty dict", "key")}
]


@pytest.mark.parametrize(("made", "other", "read", "where", "put"), LAZY_CASES)
def test_a_memo_of_any_type_is_guarded(made, other, read, where, put):
    names = {
        "collections": collections,
        "enum": enum,
        "np": np,
        "partial": partial,
        "mul": operator.mul,
        "N": types.SimpleNamespace,
        "v": None,
        "d": {},
        "P": collections.namedtuple("P", "w"),
        "o": Holder(),
    }
    names["o"].v = None
    exec(
        "def double(v): return v * 2.0\n"
        "def triple(v): return v * 3.0\n"
        "def make(k): return lambda v: v * k\n"
        "class C: w = 2.0\n"
        "class D: w = 3.0\n"
        f"def f(x):\n    global v\n    {put} {made}\n"
        f"    return x * {read.replace('V', where)}",
        names,
    )
    f = imprint.jit(names["f"])
    assert traces_of(f, X) == (2.0, 1)
    assert traces_of(f, EQUAL_X) == (2.0, 1)
    assert traces_of(f, X) == traces_of(f, EQUAL_X) == (2.0, 0)
    exec(f"{where} = {other}", names)
    expected = float(names["f"](X)[0])
    assert expected != 2.0
    for x in X, EQUAL_X:
        assert traces_of(f, x)[0] == expected
        assert traces_of(f, x) == (expected, 0)


def test_a_stored_value_with_tracers_or_objects_is_an_effect():
    names = {"o": Holder(), "Holder": Holder}
    exec(
        "def f(x):\n"
        "    o.tracers = [[x], {'a': (x,)}, lambda: x]\n"
        "    o.things = [Holder(), {'a': Holder()}]\n"
        "    o.objects = (__import__('numpy').array([Holder()], object),)\n"
        "    return x * 2.0",
        names,
    )
    f = imprint.jit(names["f"])
    assert traces_of(f, X) == (2.0, 1)
    for name in ("tracers", "things", "objects"):
        setattr(names["o"], name, 5)
    assert traces_of(f, X) == (2.0, 0)


def test_a_key_that_later_traces_write_too_is_an_effect():
    names = {"LAST": {}}
    exec(
        "def f(x):\n    LAST.update({0: len(LAST) + x.shape[0]})\n    return x * 2",
        names,
    )
    f = imprint.jit(names["f"])
    for n in range(1, 5):
        f(inp.ones(n))
    f(inp.ones(1))  # maybe traced once more: its first write was no effect yet
    names["LAST"][0] = "another"
    for n in range(1, 5):
        assert traces_of(f, inp.ones(n)) == (2.0, 0)


def test_one_version_for_each_shape_in_a_log():
    """Items that the trace of one version appends are no input of the others."""
    text = """
def make(log, seen, counts):
    def f(x):
        log.append(x.shape)
        seen.add(x.shape)
        counts[x.shape] = counts.get(x.shape, 0) + 1
        return x
    return f
log, seen, counts = [], set(), {}
def g(x):
    log.append(x.shape)
    seen.add(x.shape)
    counts[x.shape] = counts.get(x.shape, 0) + 1
    return x
"""
    names = {}
    exec(text, names)
    state = [], set(), {}
    for fun, counts in (
        (names["make"](*state), state[2]),
        (names["g"], names["counts"]),
    ):
        compiled = imprint.jit(fun)
        for _ in range(3):
            for n in range(1, 6):
                compiled(inp.ones(n))
        assert counts == dict.fromkeys([(n,) for n in range(1, 6)], 1)


@pytest.mark.parametrize("place", [at_a_global, in_a_cell])
@pytest.mark.parametrize("first", [True, False])
def test_a_dict_that_a_nested_function_writes_is_guarded_outside(place, first):
    inner, edit = place("CFG['traced'] = True")
    names = {"inner": inner}
    exec("def outer(x):\n    return inner(x) * 1.0", names)
    outer = imprint.jit(names["outer"])
    if first:
        inner(X)
    assert outer(X)[0] == 2.0
    for rate in (5.0, 6.0, 7.0):
        edit(f"CFG['rate'] = {rate}")
        assert outer(X)[0] == rate
        assert traces_of(outer, X) == (rate, 0)


def test_a_nested_function_that_was_traced_before_is_watched_in_each_version():
    cfg = {"rate": 2.0}
    names = {"jit": imprint.jit}
    exec(
        "def make(cfg):\n"
        "    @jit\n"
        "    def inner(x):\n"
        "        cfg['traced'] = True\n"
        "        return x * cfg['rate']\n"
        "    return inner\n"
        "@jit\n"
        "def outer(x):\n    return inner(x) * 1.0",
        names,
    )
    names["inner"] = names["make"](cfg)
    names["inner"](X)
    for rate in (2.0, 5.0, 6.0):
        cfg["rate"] = rate
        assert names["outer"](X)[0] == rate
    for version in names["outer"].versions:
        assert any("closure variable cfg" in place for place in version.watched)


@pytest.mark.parametrize("place", [at_a_global, in_a_cell])
def test_a_dict_whose_first_key_each_trace_moves_to_the_end(place):
    f, edit = place("k = next(iter(CFG)); CFG[k] = CFG.pop(k)")
    f(X), f(X)
    assert traces_of(f, X) == (2.0, 0)
    assert traces_of(f, EQUAL_X) == (2.0, 1)
    assert traces_of(f, X) == (2.0, 0)
    edit("CFG['bias'] = 1.0")
    assert f(X)[0] == 3.0


@pytest.mark.parametrize("edit", ["CFG['rate'] = 5.0", "CFG = {'rate': 5.0}"])
def test_an_outer_write_into_a_dict_that_the_inner_trace_read(edit):
    names = {"CFG": cfg(), "jit": imprint.jit}
    exec(
        "inner = jit(lambda x: x * CFG['rate'])\n"
        "SAME = CFG\n"
        "def f(x):\n    y = inner(x)\n    SAME['n'] = SAME.get('n', 0) + 1\n    return y",
        names,
    )
    outer = imprint.jit(names["f"])
    names["inner"](X)
    assert traces_of(outer, X)[0] == 2.0
    assert traces_of(outer, X) == (2.0, 0)
    exec(edit, names)
    assert outer(X)[0] == 5.0


def test_the_order_of_the_other_keys_is_guarded():
    names = {"CFG": {"a": 0.0}}
    exec(
        "ALL = [CFG]\ndef f(x):\n    ALL[0]['n'] = 1\n"
        "    return x + next(v for k, v in CFG.items() if k != 'n')",
        names,
    )
    f = imprint.jit(names["f"])
    f(X)
    names["CFG"]["b"] = 3.0
    assert f(X)[0] == 1.0
    names["CFG"]["a"] = names["CFG"].pop("a")
    assert f(X)[0] == 4.0


def test_objects_that_a_trace_left_in_a_container_are_not_kept_alive():
    alive = []

    class Thing:
        def __init__(self):
            alive.append(weakref.ref(self))

    names = {"LOG": [], "TABLE": {}, "Thing": Thing}
    exec(
        "def f(x):\n    LOG.append((Thing(),))\n    TABLE['a'] = (Thing(),)\n    return x",
        names,
    )
    f = imprint.jit(names["f"])
    f(X), f(X)
    names["LOG"].clear()
    names["TABLE"].clear()
    assert [ref() for ref in alive] == [None, None]
    assert traces_of(f, X) == (1.0, 0)


def test_a_log_written_by_a_method_of_another_name_is_an_effect():
    log = []
    names = {"put": log.append, "log": log, "imprint": imprint}
    exec("f = imprint.jit(lambda x: x * 2 + 0 * len(log) + (put(1) or 0))", names)
    for _ in range(3):
        names["f"](X)
    assert log == [1]


APPENDS_INSIDE = """
import imprint
kept = [2.0, 1.0]
def total():
    kept.append(None)
    return sum(x for x in kept if x is not None)
inner = imprint.jit(lambda y: y * total())
def make():
    return imprint.jit(lambda x: inner(x))
"""


def test_a_list_that_a_nested_function_appends_to_stays_guarded():
    """A re-created function has no effects until it takes those of the inner trace."""
    module = make_module("appends_inside", APPENDS_INSIDE)
    kept, compiled = module.kept, module.make()
    try:
        for place, value, is_new in (
            *((1, 1.0, False), (1, 2.5, False), (1, 2.5, True), (0, 5.0, False)),
            *((0, 6.0, True), (0, 7.0, False)),
        ):
            kept[place] = value
            compiled = module.make() if is_new else compiled
            for _ in range(3):
                assert compiled(1.0) == sum(x for x in kept if x is not None)
    finally:
        del sys.modules["appends_inside"]
