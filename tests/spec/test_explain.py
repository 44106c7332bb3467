"""Why a call compiled: the nearest version, what differs, what to do."""

import warnings

import pytest

import imprint
import imprint.numpy as inp
from imprint.compile.counters import COUNTERS


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
    "batch['x'].dtype: weak (a Python number) → strong (an array)": (
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


def test_a_hit_and_what_granularity_costs():
    inner = imprint.jit(lambda x: inp.sin(x) * 2 + 1)
    outer = imprint.jit(lambda x: inner(inner(inner(x))) + 1)
    assert str(outer.explain(1.0)).endswith("it has no version yet.")
    outer(1.0)
    explanation = outer.explain(2.0)
    assert explanation.hit
    for words in (
        "outside only: 10 equations in 1 programs",
        "Inside only: 3 equations in 1 programs",
        "4 dispatches a call",
        "Both: 4 equations in 1 programs",
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


def test_a_flag_is_named():
    f = imprint.jit(lambda x: x + 1)
    f(inp.ones(3, "int32"))
    with imprint.debug_nans(True):
        (difference,) = f.explain(inp.ones(3, "int32")).differences
    assert str(difference) == "config debug_nans: False → True"


def test_versions_and_counts():
    f = imprint.jit(lambda x: x + 1)
    for x in (1.0, 2.0, 1, 2, 3):
        f(x)
    info = f.cache_info()
    assert (info.hits, info.misses, info.versions) == (3, 2, 2)
    assert info.nbytes > 0
    assert [v.hits for v in f.versions] == [2, 3]


def test_misses_can_be_told_as_they_happen():
    f = imprint.jit(lambda x: x + 1)
    f(1.0)
    imprint.config.update("explain_misses", True)
    try:
        with pytest.warns(UserWarning, match=r"x\.dtype: float32 → int32"):
            f(1)
    finally:
        imprint.config.update("explain_misses", False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(inp.ones(2))
