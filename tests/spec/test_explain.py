"""Why a call compiled: the nearest version, the differences, the remedies."""

import copy
import logging
import re
import socket
from collections import OrderedDict, defaultdict, deque, namedtuple
from types import SimpleNamespace

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.explain import comparison


@imprint.jit(static_argnames="n")
def step(batch, n=2):
    return batch["mask"].sum() * n


def batch(*shape, dtype="float32", x=1.0):
    return {"mask": inp.ones(shape, dtype), "x": x}


MISSES = {
    "batch['mask'].shape[1]: 128 → 131": lambda: step.explain(batch(32, 131)),
    "batch['mask'].shape: (32, 128) → (128,)": lambda: step.explain(batch(128)),
    "batch['mask'].dtype: float32 → int32": lambda: step.explain(
        batch(32, 128, dtype="int32")
    ),
    "static n: 2 → 3": lambda: step.explain(batch(32, 128), n=3),
    "batch['x']: ~float32[] → absent": lambda: step.explain(
        {"mask": inp.ones((32, 128))}
    ),
    "batch['x']: a Python number → an array": (
        lambda: step.explain(batch(32, 128, x=inp.ones(())))
    ),
}


@pytest.mark.parametrize("difference", MISSES)
def test_a_difference_is_named(difference):
    step(batch(32, 128))
    before = COUNTERS.compiles, COUNTERS.traces
    explanation = MISSES[difference]()
    assert (COUNTERS.compiles, COUNTERS.traces) == before
    assert not explanation.hit
    assert [str(d) for d in explanation.differences] == [difference]
    assert difference in str(explanation)
    assert explanation.differences[0].remedy in str(explanation)
    assert explanation.as_dict()["differences"][0]["slot"] in difference


Pair = namedtuple("Pair", ["a", "b"])

STRUCTURES = {
    "x: list → tuple": ([1.0], (1.0,)),
    "x: list → Pair": ([1.0, 2.0], Pair(1.0, 2.0)),
    "x: Pair → another Pair": (
        Pair(1.0, 2.0),
        namedtuple("Pair", ["a", "b"])(1.0, 2.0),
    ),
    "x: ~float32[] → None": (1.0, None),
    "x['b']: None → ~float32[]": ({"a": 1.0, "b": None}, {"a": 1.0, "b": 1.0}),
    "x['b']: absent → None": ({"a": 1.0}, {"a": 1.0, "b": None}),
    "x['a'][0]: dict → ~float32[]": ({"a": [{"c": 1.0}]}, {"a": [1.0]}),
    "x[1][0]: ~float32[] → list": ([1.0, [1.0]], [1.0, [[2.0, 3.0, 4.0]]]),
    "x: list of 2 → list of 1": ([1.0, 2.0], [1.0]),
    "x: tuple of 2 → tuple of 40": ((1.0,) * 2, (1.0,) * 40),
    "x['b']: absent → ~float32[]": ({"a": 1.0}, {"a": 1.0, "b": 2.0}),
    "x['b']: absent → dict": ({"a": 1.0}, {"a": 1.0, "b": {"c": 1.0, "d": 2.0}}),
    "x: dict of 1 → dict of 3, with 'b', 'c', 'd', without 'a'": (
        {"a": 1.0},
        {"b": 1.0, "c": 1.0, "d": 1.0},
    ),
    "x[0]: list → tuple": ([[1.0] * 2000], [(1.0,) * 2000]),
    "x['a']: list → tuple": ({"a": [{"w": 1.0}]}, {"a": ({"w": 1},)}),
}


class Dense(imprint.Module):
    w: object
    width: int = imprint.field(static=True)


class Deep(imprint.Module):
    layers: list
    depth: int = imprint.field(static=True)


@imprint.tree.register_static
class Unit(str):
    pass


class Rate:
    """Compares by `==`, over its attributes."""

    def __init__(self, rate):
        self.rate = rate

    def __eq__(self, other):
        return type(other) is Rate and self.rate == other.rate

    def __hash__(self):
        return hash(self.rate)


def relu(x):
    return inp.maximum(x, 0)


def tanh(x):
    return inp.tanh(x)


def deep(*widths):
    return Deep([Dense(inp.ones(n), n) for n in widths], len(widths))


FIELDS = {
    "x.width: 3 → 5": (Dense(1.0, 3), Dense(1.0, 5)),
    "x[1].width: 3 → 'a'": ([1.0, Dense(1.0, 3)], [1.0, Dense(1.0, "a")]),
    "x.width[1]: 1 → 1.0": (Dense(1.0, (1, 1)), Dense(1.0, (1, 1.0))),
    "x.width: builtin function max → builtin function min": (
        Dense(1.0, max),
        Dense(1.0, min),
    ),
    "static data of x['u'][0]: 'm' → 'km'": ({"u": Unit("m")}, {"u": Unit("km")}),
    "x.depth: 1 → 2; x.layers: list of 1 → list of 2": (deep(3), deep(3, 3)),
    "x.layers[0].width: 2 → 3; x.layers[0].w.shape[0]: 2 → 3": (deep(2), deep(3)),
    "x.width.rate: 0.1 → 0.2": (Dense(1.0, Rate(0.1)), Dense(1.0, Rate(0.2))),
    "x.width.rate: 'a' → 'b'": (Dense(1.0, Rate("a")), Dense(1.0, Rate("b"))),
    "x.width: <jitted> relu → <jitted> tanh": (
        Dense(1.0, imprint.jit(relu)),
        Dense(1.0, imprint.jit(tanh)),
    ),
    "x: keys 'a', 'b' → keys 'b', 'a'": (
        OrderedDict(a=inp.ones(2), b=inp.ones(2)),
        OrderedDict(b=inp.ones(2), a=inp.ones(2)),
    ),
    "x.default_factory: class int → class float": (
        defaultdict(int, a=1.0),
        defaultdict(float, a=1.0),
    ),
    "x.maxlen: 3 → 4": (deque([1.0], 3), deque([1.0], 4)),
}


@pytest.mark.parametrize("jit", [imprint.jit, imprint.filter_jit])
@pytest.mark.parametrize("shown", FIELDS)
def test_a_static_field_is_named_by_its_place(shown, jit):
    before, after = FIELDS[shown]
    f = jit(lambda x: 0)
    f(before)
    found = f.explain(after).differences
    text = re.sub(r"function (\w+) at \S+", r"<jitted> \1", "; ".join(map(str, found)))
    assert text == shown
    if found[0].kind == "static":  # consequences of the field have its remedy
        is_number = re.fullmatch(r"[\d.]+ → [\d.]+", f"{found[0].old} → {found[0].new}")
        other = ", or make it an array if no shape depends on it" if is_number else ""
        assert {d.remedy for d in found} == {
            f"Each value of {found[0].slot} compiles, as it is static: "
            f"pass the same few{other}."
        }


def test_an_attribute_of_a_static_object_is_named_with_a_remedy():
    cases = {
        "cfg.rate": (Rate(0.1), Rate(0.2)),
        "cfg[0].rate": ((Rate(0.1), 2), (Rate(0.2), 2)),
    }
    for path, (old, new) in cases.items():
        f = imprint.jit(lambda x, cfg: x, static_argnames="cfg")
        f.clear_cache()
        f(1.0, cfg=old)
        (difference,) = f.explain(1.0, cfg=new).differences
        assert str(difference) == f"static {path}: 0.1 → 0.2"
        assert difference.remedy == (
            f"Each value of {path} compiles: pass it as an array if the program does "
            "not depend on it."
        )


def test_a_redefined_class_is_named():
    def made():
        class Layer(imprint.Module):
            w: object

        return Layer(inp.ones(3))

    f = imprint.jit(lambda net: net.w)
    f(made())
    (difference,) = f.explain(made()).differences
    assert str(difference) == "net: Layer → another Layer"
    assert difference.remedy == (
        "The class Layer was defined again, and each class is compiled separately: make net "
        "of the same class."
    )


@pytest.mark.parametrize(
    ("made", "edit", "shown"),
    [
        ({"rate": 2.0}, "G['rate'] = 5.0", "global G['rate'] in ?: 2.0 → 5.0"),
        ({"rate": 2.0}, "G['b'] = 1", "global G['b'] in ?: <absent> → 1"),
        ([1, [2]], "G[1][0] = 3", "global G[1][0] in ?: 2 → 3"),
        ([1], "G = 3", "global G in ?: [1] → 3"),
        ([1], "del G", "global G in ?: [1] → <not defined>"),
    ],
)
@pytest.mark.parametrize("writes", [False, True])
def test_a_change_inside_a_container_is_named(made, edit, shown, writes):
    names = {"G": copy.deepcopy(made)}
    exec("def f(x):\n    return len(G) * x\ndef g(x):\n    return x", names)
    if writes and isinstance(made, dict):
        exec("def f(x):\n    G['n'] = G.get('n', 0) + 1\n    return x, len(G)", names)
        shown = shown.replace("2.0}", "2.0, <what the trace wrote>}")
        shown = shown.replace("1}", "1, <what the trace wrote>}")
    f = imprint.jit(names["f"])
    f(1.0)
    exec(edit, names)
    assert [str(d) for d in f.explain(1.0).differences] == [shown]


@pytest.mark.parametrize(
    ("made", "edit", "shown"),
    [
        ({"rate": 2.0}, "G = {}", "G['rate'] in ?: 2.0 → <absent>"),
        ({"rate": 2.0}, "G = {'b': 1}", "G in ?: {'rate': 2.0} → {'b': 1}"),
        (
            dict.fromkeys(range(30), 0),
            "G |= dict.fromkeys(range(30, 40), 0)",
            "G in ?: … 27: 0, 28: 0, 29: 0} → … 27: 0, 28: 0, 29: 0, 30: 0, 31: 0, 32: …",
        ),
        (
            [0] * 30,
            "G.append(1)",
            "G in ?: … 0, 0, 0, 0, 0, 0, 0] → … 0, 0, 0, 0, 0, 0, 0, 1]",
        ),
        ("a" * 80, "G = G[:-1] + 'b'", f"G in ?: …'{'a' * 21}' → …'{'a' * 20}b'"),
    ],
)
def test_the_first_difference_of_a_long_value_is_named(made, edit, shown):
    names = {"G": copy.deepcopy(made)}
    exec("def f(x):\n    return len(G) * x", names)
    f = imprint.jit(names["f"])
    f(1.0)
    exec(edit, names)
    assert [str(d) for d in f.explain(1.0).differences] == [f"global {shown}"]


def test_the_remedy_for_parts_of_one_object_is_given_once():
    settings = SimpleNamespace()
    settings.rates = [1.0, 2.0, 3.0]
    f = imprint.jit(lambda x: x * sum(settings.rates))
    f(1.0)
    settings.rates[:] = 4.0, 5.0, 6.0
    text = str(f.explain(1.0))
    assert "settings.rates[0]: 1.0 → 4.0; settings.rates[1]: 2.0 → 5.0; " in text
    assert text.count("A version is kept for each value") == 1


def test_one_change_of_many_arrays_is_listed_once():
    f = imprint.jit(lambda x, y: 0)
    f(leaves(2), 1.0)
    changed = {name: w.astype("int32") for name, w in leaves(2).items()}
    text = str(f.explain(changed, 1.0))
    assert "x['w0'].dtype, x['w1'].dtype, x['w10'].dtype and 197 more: float32" in text
    assert text.count("Convert") == 1


def test_the_version_of_the_same_classes_is_nearer_than_one_of_fewer_differences():
    f = imprint.jit(lambda x: 0)
    f(deep(2, 2))
    f(1.0)
    assert f.explain(deep(3, 3, 3)).nearest == 0


@pytest.mark.parametrize("difference", STRUCTURES)
def test_a_container_of_another_kind_is_named(difference):
    before, after = STRUCTURES[difference]
    f = imprint.jit(lambda x: 0)
    f(before)
    (found,) = f.explain(after).differences
    assert str(found) == difference
    if "None" in difference:
        assert found.remedy.startswith("None is compiled separately: pass x")


def test_strict_names_a_write_into_an_object():
    namespace = {"G": Box(1.0)}
    exec("def f(x):\n    return x * G.n\n", namespace)
    f = imprint.jit(namespace["f"], strict=True)
    f(1.0)
    namespace["G"].n = 2.0
    differences = f.explain(1.0).differences
    assert "G.n: 1.0 → 2.0" in map(str, differences)
    assert {(found.old, found.new) for found in differences} == {("1.0", "2.0")}


def test_a_changed_attribute_that_was_read_is_named():
    namespace = {"G": Box(1.0)}
    exec("def f(x):\n    return x * G.n\n", namespace)
    f = imprint.jit(namespace["f"])
    f(1.0)
    namespace["G"].n = 2.0
    namespace["G"].other = 2.0
    assert [*map(str, f.explain(1.0).differences)] == ["G.n: 1.0 → 2.0"]


def test_a_version_of_the_same_structure_is_nearest():
    f = imprint.jit(lambda x: 0)
    f([inp.ones(1), inp.ones(1)])
    f(1.0)
    assert f.explain([inp.ones(2), inp.ones(2)]).nearest == 0


REMEDIES = {
    "Convert x with `.astype('float32')` before the call.": (
        inp.ones(2),
        inp.arange(2),
    ),
    "Pass x always as an array: `np.array(x, 'float32')`.": (inp.float32(1), 1),
    "Pass x always as float: `float(x)`.": (1.0, 1),
    "Pass x always as int: `int(x)`.": (1, True),
}


@pytest.mark.parametrize("remedy", REMEDIES)
def test_the_remedy_for_a_dtype_is_one_that_can_be_typed(remedy):
    before, after = REMEDIES[remedy]
    f = imprint.jit(lambda x: x)
    f(before)
    (found,) = f.explain(after).differences
    assert found.remedy == remedy


class Box:
    def __init__(self, n):
        self.n = n


STATIC_REMEDIES = {
    "Each value of n compiles: pass it as an array if the program does not depend on it.": (
        2,
        3,
    ),
    "Each value of n compiles: pass the same few.": ("relu", "tanh"),
    "Each value of n compiles: pass the same few. ": ("a" * 99 + "b", "a" * 99 + "c"),
    "Each value of n compiles: pass the same few.  ": (
        lambda x: -x * 3,
        lambda x: x * 3,
    ),
    "Pass the same n, or give its class `==`: a frozen dataclass has it.": (
        Box(1),
        Box(1),
    ),
}


@pytest.mark.parametrize("remedy", STATIC_REMEDIES)
def test_the_remedy_for_a_static_value_is_one_that_helps(remedy):
    before, after = STATIC_REMEDIES[remedy]
    f = imprint.jit(lambda x, n: x, static_argnames="n")
    f(1.0, before)
    (found,) = f.explain(1.0, after).differences
    assert found.remedy == remedy.rstrip()


def test_a_hit_shows_the_costs_of_each_granularity():
    inner = imprint.jit(lambda x: inp.sin(x) * 2 + 1)
    outer = imprint.jit(lambda x: inner(inner(inner(x))) + 1)
    assert str(outer.explain(1.0)).endswith("it has no version yet.")
    outer(1.0)
    explanation = outer.explain(2.0)
    assert explanation.hit
    for words in (
        "outside only: 10 equations in 1 program",
        "Inside only: 3 equations in 1 program",
        "4 dispatches a call",
        "Both: 4 equations in 1 program",
    ):
        assert words in explanation.advice


def test_a_rebound_global_is_named():
    namespace = {"G": 2.0}
    exec("def f(x):\n    return x * G\n", namespace)
    f = imprint.jit(namespace["f"])
    f(1.0)
    namespace["G"] = 5.0
    (difference,) = f.explain(1.0).differences
    assert (difference.kind, difference.old, difference.new) == ("global", "2.0", "5.0")
    f(1.0)
    assert f.last_miss.differences == (difference,)
    assert f.last_miss.seconds > 0


class Silent:
    def __repr__(self):
        raise RuntimeError("a call that misses must not print what changed")


def helper(x):
    return x


SHOWN = {
    "an object without repr": (
        Silent(),
        Silent(),
        ("Silent object", "another Silent object"),
    ),
    "a function": (
        helper,
        len,
        (
            f"function helper at test_explain.py:{helper.__code__.co_firstlineno}",
            "builtin function len",
        ),
    ),
    "a class": (int, str, ("class int", "class str")),
    "an array": (
        inp.ones(3),
        np.ones((2, 3)),
        ("array of float32[3]", "array of float64[2, 3]"),
    ),
    "a long list": ([1], [1] * 3_000_000, ("[1]", "list of 3,000,000")),
    "an enum": (
        socket.AF_INET,
        socket.AF_INET6,
        ("AddressFamily.AF_INET", "AddressFamily.AF_INET6"),
    ),
}


@pytest.mark.parametrize("value", SHOWN)
def test_the_old_and_new_value_of_a_global_are_short(value):
    before, after, words = SHOWN[value]
    namespace = {"G": before}
    exec("def f(x):\n    G\n    return x\n", namespace)
    f = imprint.jit(namespace["f"])
    f(1.0)
    namespace["G"] = after
    (difference,) = f.explain(1.0).differences
    assert (difference.old, difference.new) == words
    assert f(1.0) == 1.0


def test_a_flag_is_named():
    f = imprint.jit(lambda x: x + 1)
    f(inp.ones(3, "int32"))
    with imprint.debug_nans(True):
        (difference,) = f.explain(inp.ones(3, "int32")).differences
    assert str(difference) == "config debug_nans: False → True"


def test_cache_info_has_versions_and_hits():
    f = imprint.jit(lambda x: x + 1)
    for x in (1.0, 2.0, 1, 2, 3):
        f(x)
    info = f.cache_info()
    assert (info.hits, info.misses, info.versions) == (3, 2, 2)
    assert info.nbytes > 0
    assert [v.hits for v in f.versions] == [2, 3]


def test_misses_can_be_logged_as_they_happen(caplog):
    f = imprint.jit(lambda x: x + 1)
    f(1.0)
    with imprint.explain_misses(), caplog.at_level(logging.WARNING, "imprint"):
        f(1)
        f(2)
    f(inp.ones(2))
    (message,) = caplog.messages
    assert "x.dtype: float32 → int32" in message


# ---- when a miss is explained ----


@pytest.fixture
def counts(monkeypatch):
    """Count comparisons with versions, and trees whose leaves are named."""
    found = {"compared": 0, "named": 0}

    def counted(what, function):
        def count(*args):
            found[what] += 1
            return function(*args)

        return count

    nearest = counted("compared", comparison.nearest_of)
    monkeypatch.setattr(comparison, "nearest_of", nearest)
    paths = counted("named", imprint.tree.TreeDef.paths)
    monkeypatch.setattr(imprint.tree.TreeDef, "paths", paths)
    return found


def leaves(first):
    return {f"w{i}": inp.ones(2 if i else first) for i in range(200)}


def test_a_miss_compares_nothing_until_its_explanation_is_read(counts):
    f = imprint.jit(lambda x: x["w0"])
    for n in range(1, 8):  # the eighth warns
        f(leaves(n))
    assert counts == {"compared": 0, "named": 0}
    (difference,) = f.last_miss.differences
    assert str(difference) == "x['w0'].shape[0]: 6 → 7"
    assert counts == {"compared": 1, "named": 1}
    assert f.last_miss.nearest == 5
    assert counts == {"compared": 1, "named": 1}


def test_the_eighth_version_compares_each_miss_once(counts):
    f = imprint.jit(lambda x: x["w1"])
    for n in range(1, 8):
        f(leaves(n))
    with pytest.warns(imprint.errors.RecompileWarning, match="7 of them because of"):
        f(leaves(8))
    assert counts == {"compared": 7, "named": 7}
    f(leaves(9))
    f(leaves(10))
    assert counts == {"compared": 7, "named": 7}


def test_later_versions_are_no_part_of_an_explanation():
    f = imprint.jit(lambda x: x.sum() - 1)
    f(inp.ones((2, 2)))
    f(inp.ones((5, 5)))
    miss = f.last_miss
    f(inp.ones((5, 2)))
    assert (miss.versions, miss.nearest) == (1, 0)
    shown = [str(d) for d in miss.differences]
    assert shown == ["x.shape[0]: 2 → 5", "x.shape[1]: 2 → 5"]


def test_dropped_versions_remain_in_an_explanation():
    f = imprint.jit(lambda x, n: x.sum() - n, static_argnames="n")
    f(1.0, 2)
    f(1.0, 3)
    miss = f.last_miss
    f.clear_cache()
    assert [str(d) for d in miss.differences] == ["static n: 2 → 3"]


def test_the_version_with_the_fewest_changes_is_nearest():
    namespace = {"G": 1.0, "H": 1.0}
    exec("def f(x):\n    return x * G * H\n", namespace)
    f = imprint.jit(namespace["f"])
    for namespace["G"], namespace["H"] in (1.0, 1.0), (2.0, 2.0):
        f(1.0)
    namespace["G"] = 3.0
    explanation = f.explain(1.0)
    assert [str(d) for d in explanation.differences] == [
        f"global G in {namespace.get('__name__', '?')}: 2.0 → 3.0"
    ]
    assert f.versions[explanation.nearest].hits == 1


def test_the_version_with_the_fewest_static_changes_is_nearest():
    f = imprint.jit(lambda x, n, m: 0, static_argnames=("n", "m"))
    f(1.0, 2, 2)
    f(1.0, 3, 3)
    explanation = f.explain(1.0, 2, 4)
    assert explanation.nearest == 0
    assert [str(d) for d in explanation.differences] == ["static m: 2 → 4"]


@pytest.mark.parametrize("jit", [imprint.jit, imprint.filter_jit])
def test_an_argument_is_compared_with_its_default(jit):
    f = jit(lambda x, mask=None, *, scale=2.5: 0)
    x = inp.ones(3)
    f(x)
    shown = [str(d) for d in f.explain(x, x, scale=x).differences]
    assert shown == ["mask: None → float32[3]", "scale: its default 2.5 → float32[3]"]
    f(x, x, scale=x)
    shown = [str(d) for d in f.explain(x, None, scale=x).differences]
    assert shown == ["mask: float32[3] → None"]


def test_of_equally_near_versions_the_newest_is_nearest():
    f = imprint.jit(lambda x: 0)
    f(inp.ones(2))
    f(inp.ones(3))
    f([inp.ones(3)])
    assert f.explain(inp.ones(4)).nearest == 1


# ---- where nothing compiles ----


def test_with_jit_disabled_nothing_compiles():
    f = imprint.jit(lambda x: x + 11.25)
    f(1.0)
    with imprint.disable_jit():
        explanation = f.explain(1.0)
        assert f(1.0) == 12.25
    assert not explanation.hit
    assert explanation.versions == 1
    assert "runs as Python: jit is disabled." in str(explanation)
    assert "compiles" not in str(explanation)
    assert f.explain(1.0).hit


def test_a_flag_is_named_with_its_setter(monkeypatch):
    f = imprint.jit(lambda x: x + 12.75)
    f(inp.ones(3, "int32"))
    with imprint.debug_infs(True):
        inside = f.explain(inp.ones(3, "int32"))
        f(inp.ones(3, "int32"))
        miss = f.last_miss
    for explanation in inside, miss:  # the `with` was left by now
        assert explanation.differences[0].remedy.endswith(
            "a `with imprint.debug_infs(...)` changed it."
        )


def test_a_method_of_another_object_is_named():
    class Model:
        def __init__(self, rate):
            self.rate = rate

        def step(self, x):
            return x * self.rate

    first, second = Model(1.0), Model(2.0)
    imprint.jit(first.step)(1.0)
    explanation = imprint.jit(second.step).explain(1.0)
    assert not explanation.hit
    assert "self" in str(explanation.differences[0])


def test_a_function_without_a_version_has_nothing_to_compare():
    explanation = imprint.jit(lambda x: x + 12.5).explain(1.0)
    assert explanation.differences == ()
    assert explanation.defined.startswith(__file__ + ":")
    assert str(explanation).endswith("compiles: it has no version yet.")


# ---- versions that were dropped ----


def test_a_dropped_version_is_named_with_its_cause():
    f = imprint.jit(lambda x: x + 1.75, max_versions=1)
    f(1)
    with pytest.warns(UserWarning, match="The oldest version was dropped"):
        f(1.0)
    assert str(f.explain(1)).endswith(
        "compiles: the version for this call was dropped by max_versions=1. "
        "Raise the limit, or pin() the versions that are needed again."
    )
    f.versions[0].evict()
    (gone,) = f.explain(1.0).differences
    assert (gone.kind, gone.new) == ("evicted", "was dropped by evict()")


def test_a_version_that_was_made_again_is_not_called_dropped():
    namespace = {"G": 2.0}
    exec("def f(x):\n    return x * G\n", namespace)
    f = imprint.jit(namespace["f"])
    f(1.0)
    f.versions[0].evict()
    f(1.0)
    namespace["G"] = 5.0
    assert [d.kind for d in f.explain(1.0).differences] == ["global"]
    f.versions[0].evict()
    f.clear_cache()
    assert "compiles: its versions were dropped." in str(f.explain(1.0))


def test_a_version_over_the_byte_budget_is_named():
    f = imprint.jit(lambda x: x + 2.75)
    f(1)
    before = imprint.cache.limit()
    imprint.cache.limit(bytes=0)
    imprint.cache.limit(bytes=before)
    (gone,) = f.explain(1).differences
    assert gone.new == "was dropped by the byte budget of 0 bytes"
    assert gone.remedy.startswith("Raise it with imprint.cache.limit(bytes=...)")
    f(1)
    assert f.explain(1).hit


def test_a_hit_lists_the_watched_values():
    names = {"SCALE": 2.0}
    exec("def f(x):\n    return x * SCALE", names)
    f = imprint.jit(names["f"])
    assert f.explain(1.0).watched == ()
    f(1.0)
    why = f.explain(1.0)
    assert why.hit
    assert why.watched == f.versions[0].watched == ("global SCALE in ?",)


def test_an_explanation_prints_as_its_sentence():
    f = imprint.jit(lambda x: x * 7.5)
    f(1.0)
    for why in (f.explain(1.0), f.explain(1), f.last_miss):
        assert repr(why) == str(why)
        assert len(repr(why).splitlines()) == 1
