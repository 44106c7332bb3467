"""Promotion: unchanged operands, literals, and cached conversions."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.numpy import promotion

X = np.ones((2, 3), np.float32)


def equations(fun, *args):
    text = str(imprint.make_jaxpr(fun)(*args))
    return " ".join(text.split("let", 1)[1].split())


def test_literals_are_typed_as_the_array():
    got = equations(lambda x: 2.0 * x + 1, X)
    assert got == (
        "b:f32[2,3] = mul 2.0:f32[] a c:f32[2,3] = add b 1.0:f32[] in (c,) }"
    )


def test_literals_next_to_a_weak_array_stay_weak():
    got = imprint.make_jaxpr(lambda x: x + 1)(1.0)
    assert str(got) == "{ lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }"
    assert got.eqns[0].outvars[0].aval.weak_type


def test_a_strong_operand_makes_a_weak_one_strong():
    got = equations(lambda x, y: x * y, X, 2.0)
    assert got == (
        "c:f32[] = convert_element_type[new_dtype=float32 weak_type=False] b "
        "d:f32[2,3] = mul a c in (d,) }"
    )


def test_rank_0_is_not_repeated_and_other_ranks_are():
    got = equations(lambda x: x - x.sum() + x[0], X)
    assert got.count("broadcast_in_dim") == 1
    assert "broadcast_in_dim[broadcast_dimensions=(1,) shape=(2, 3)]" in got


def test_scalars_of_numpy_are_strong_operands():
    assert (inp.arange(3) + np.float32(1)).dtype == np.float32
    assert (inp.arange(3) + np.float64(1)).dtype == np.float32
    assert (inp.arange(3, dtype="int8") + np.int32(1)).dtype == np.int32


def test_arrays_of_numpy_are_copied():
    values = np.ones(3, np.float32)
    x = inp.asarray(values)
    y = inp.add(values, 0)
    values[0] = 7
    assert x.tolist() == y.tolist() == [1, 1, 1]


def test_integer_scalars_are_checked_each_time():
    x = inp.ones(2, "int8")
    assert (x + 1).dtype == np.int8
    with pytest.raises(OverflowError, match="add: expected an integer that fits int8"):
        x + 1000
    with pytest.raises(OverflowError, match="add: expected an integer that fits int32"):
        inp.asarray(1) + 2**40


def test_cached_conversions_depend_on_the_settings():
    x = inp.ones(2, "int32")
    for x64, dtype in ((False, np.float32), (True, np.float64), (False, np.float32)):
        with imprint.enable_x64(x64):
            assert (x * 1.5).dtype == dtype


def test_the_memory_of_scalars_is_bounded(monkeypatch):
    monkeypatch.setattr(promotion, "_REMEMBERED", 4)
    for n in range(10):
        inp.ones((n, 1009)) * 2.0  # shapes that no other test has
    assert len(promotion._makers) <= 4
    assert len(promotion._literal_makers) <= 4


@pytest.mark.parametrize("value", [True, 1, 1.5, 2j])
def test_python_scalars_give_weak_arrays(value):
    x = inp.asarray(value)
    assert x.weak_type == (not isinstance(value, bool))
    assert x.shape == ()


def test_operators_leave_foreign_operands_alone():
    class Other:
        def __radd__(self, x):
            return "taken"

    assert inp.ones(2) + Other() == "taken"
    with pytest.raises(TypeError):
        inp.ones(2) + "text"


def test_functions_of_numpy_reach_tracers():
    def loss(x):
        return np.sum(np.tanh(x) ** 2) / np.float32(2) + np.mean(x) * np.std(x)

    x = inp.asarray(X) * inp.arange(3.0)
    assert float(imprint.jit(loss)(x)) == pytest.approx(float(loss(x)), rel=1e-6)
    assert float(loss(x)) == pytest.approx(float(loss(np.asarray(x))), rel=1e-6)
