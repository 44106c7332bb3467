"""Versions of one function: when one is made, and the cost of a hit."""

import gc
import logging

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ConcretizationError
from tests.spec.work import Work, work_of
from tests.units.modules import make_module


@imprint.jit
def test(x):
    if x.shape[0] > 4:
        return 1
    return -1


test.__test__ = False  # the name is in the jaxprs below; it is no test


def test_the_first_call_traces_and_compiles_and_the_second_does_neither():
    f = imprint.jit(lambda x: inp.sin(x) * 3.25)
    x = inp.ones(7)
    assert work_of(lambda: f(x)) == Work(traces=1, compiles=1)
    assert work_of(lambda: f(x)) == Work(traces=0, compiles=0)


def test_the_three_phases_can_be_run_separately():
    f = imprint.jit(lambda x: inp.sin(x) * 3.5)
    x = inp.ones(7)
    traced = f.trace(x)
    lowered = traced.lower()
    assert work_of(lowered.compile) == Work(traces=0, compiles=1)
    np.testing.assert_array_equal(lowered.compile()(x), f(x))


def test_the_three_phases_are_timed(caplog):
    f = imprint.jit(lambda x: inp.sin(x) * 3.75)
    with imprint.log_compiles(), caplog.at_level(logging.WARNING, "imprint"):
        f(inp.ones(7))
    (line,) = caplog.messages
    for phase in ("traced in", "lowered in", "compiled in"):
        assert phase in line


def test_a_shape_is_a_version():
    test.clear_cache()
    seen = [test._cache_size()]
    values = []
    for n in 8, 8, 3:
        values.append(repr(test(inp.ones(n))))
        seen.append(test._cache_size())
    assert seen == [0, 1, 1, 2]
    assert values == [
        "Array(1, dtype=int32, weak_type=True)",
        "Array(1, dtype=int32, weak_type=True)",
        "Array(-1, dtype=int32, weak_type=True)",
    ]


@pytest.mark.parametrize(("n", "taken"), [(8, 1), (3, -1)])
def test_an_if_on_a_shape_leaves_the_other_branch_out(n, taken):
    text = str(imprint.make_jaxpr(test)(inp.ones(n)))
    inner = f"{{ lambda ; a:f32[{n}]. let  in ({taken}:i32[],) }}"
    assert (
        text.split()
        == (
            f"{{ lambda ; a:f32[{n}]. let b:i32[] = jit[name=test jaxpr={inner}] a"
            " in (b,) }"
        ).split()
    )


def test_an_if_on_a_value_is_an_error_that_names_the_argument():
    @imprint.jit
    def magnitude(x):
        return x if x > 0 else -x

    with pytest.raises(ConcretizationError, match="argument x of magnitude"):
        magnitude(2.0)
    assert magnitude._cache_size() == 0


def test_a_dtype_is_a_version():
    f = imprint.jit(lambda x: x * 2)
    for dtype in ("float32", "int32", "bfloat16", "float32", "int32"):
        assert f(inp.ones(3, dtype)).dtype == dtype
    assert f._cache_size() == 3


def test_a_static_value_is_a_version():
    @imprint.jit(static_argnums=(0,))
    def ones(n):
        return inp.ones(n).sum()

    sizes = []
    for n in 8, 8, 3, 3:
        assert ones(n) == n
        sizes.append(ones._cache_size())
    assert sizes == [1, 1, 2, 2]


def test_a_shape_may_be_static_but_an_array_may_not():
    f = imprint.jit(lambda n: inp.ones(n).sum(), static_argnums=0)
    assert f(inp.ones(8).shape[0]) == 8
    with pytest.raises(ValueError, match="known before tracing, got an array"):
        f(inp.asarray(8))


def test_a_flag_is_a_version():
    f = imprint.jit(lambda x: x * 2)
    x = np.ones(3)
    for wide in (False, True, False, True):
        with imprint.enable_x64(wide):
            assert f(x).dtype == ("float64" if wide else "float32")
    assert f._cache_size() == 2


def test_a_version_is_found_again_however_many_there_are():
    f = imprint.jit(lambda x: x + 0.5)
    arrays = [inp.ones(n) for n in range(1, 9)]
    for x in arrays:
        f(x)
    assert f._cache_size() == 8
    assert work_of(lambda: [f(x) for x in arrays]) == Work(0, 0)


def test_a_limit_warns_and_drops_the_oldest():
    f = imprint.jit(lambda x: x, max_versions=2)
    f(inp.ones(1))
    f(inp.ones(2))
    with pytest.warns(UserWarning, match="at most 2 versions"):
        f(inp.ones(3))
    assert f._cache_size() == 2
    assert work_of(lambda: f(inp.ones(2))) == Work(0, 0)


def test_a_limit_can_be_an_error():
    f = imprint.jit(lambda x: x, max_versions=1, on_limit="error")
    f(inp.ones(1))
    with pytest.raises(imprint.errors.RecompileError, match="at most 1 version"):
        f(inp.ones(2))
    assert f(inp.ones(1)) == 1
    assert f._cache_size() == 1


READS = """
class C:
    def __init__(self, rate): self.rate = rate
def f(x): return x * cfg.rate
"""


def test_a_version_of_a_freed_object_is_dropped_at_the_next_trace():
    module = make_module("made_anew", READS)
    f = imprint.jit(module.f)
    for rate in range(20):
        module.cfg = module.C(rate)
        assert f(1.0) == rate
        assert f._cache_size() == 1
    f.versions[0].pin()
    kept = module.cfg = module.C(20)
    assert f(1.0) == 20
    module.cfg = module.C(21)
    assert f(1.0) == 21
    assert f._cache_size() == 3  # a pinned version stays, and one that may be restored
    module.cfg = kept
    assert work_of(lambda: f(1.0)) == Work(0, 0)


def test_a_nested_trace_of_a_freed_object_is_dropped_at_the_next_trace():
    module = make_module("inside", READS)
    inner = imprint.jit(module.f)
    f = imprint.jit(lambda x: inner(x) + 1)
    for rate in range(5):
        module.cfg = module.C(rate)
        assert f(1.0) == rate + 1
        assert len(inner._definition.traced) == f._cache_size() == 1


def test_a_version_outlives_objects_that_its_trace_created():
    module = make_module(
        "made_inside",
        "class V: rate = 2.0\n"
        "class P:\n    def __init__(self): self.v = V()\n"
        "    def scaled(self, x): return x * self.v.rate\n"
        "kept = []\n"
        "def made():\n    p = kept.pop() if kept else P()\n    return p\n"
        "def f(x): return made().scaled(x) * getattr(made(), 'V'.lower()).rate * k\n",
    )
    f = imprint.jit(module.f)
    module.kept += [module.P(), module.P()]
    for module.k in (1.0, 3.0):
        f(1.0)
    gc.collect()
    module.k = 5.0
    f(1.0)
    module.k = 1.0
    assert work_of(lambda: f(1.0)) == Work(0, 0)


def test_the_arrays_of_a_model_are_summed_up():
    @imprint.filter_jit
    def loss(model, x):
        return model["net"][0] * x + model["scale"]

    layers = [inp.ones((2, 3)), *[inp.ones(4)] * 8]
    loss({"net": layers, "scale": 2.0}, inp.ones(1) * inp.ones((2, 3)))
    (version,) = loss.versions
    assert str(version) == ("loss(model: 9 arrays of 38 elements, x: float32[2,3])")
    loss({"net": layers[:2], "scale": 2.0}, 1.0)
    assert "loss(model['net'][0]: float32[2,3], model['net'][1]: float32[4]" in (
        str(loss.versions[1])
    )
