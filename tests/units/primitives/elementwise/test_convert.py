"""Conversions at their edges: out of range, NaN, fractions, every pair of dtypes, bits."""

import warnings

import numpy as np
import pytest

from imprint import dtypes as dt
from imprint._src.config import enable_x64
from imprint._src.core.aval import ShapedArray
from imprint._src.interpreters.batching import batch_flat
from imprint._src.primitives.elementwise.convert import (
    bitcast_convert_type,
    bitcast_convert_type_p,
    convert_element_type,
    convert_element_type_p,
)
from imprint.errors import DTypeError, ShapeError
from tests.laws.law import compiled
from tests.strategies import Call
from tests.units.primitives.agreement import assert_agreed, assert_same, by_jax, tangent

NAN, INF = np.nan, np.inf
SIGNED = ["int2", "int4", "int8", "int16", "int32", "int64"]
UNSIGNED = ["uint2", "uint4", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
WIDTHS = ["bool", *SIGNED[2:], *UNSIGNED[2:], *FLOATS, "complex64"]
NARROW = ["int2", "int4", "uint2", "uint4", "float8_e4m3fn", "float8_e5m2"]
NARROW += ["float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e3m4"]
PAIRS = [(source, target) for source in WIDTHS for target in WIDTHS]
for narrow in NARROW:
    PAIRS += [(narrow, wide) for wide in ("float32", "int8", "bool")]
    PAIRS += [("float32", narrow), ("int16", narrow)]


def integers(values, dtype):
    wide = np.uint64 if min(values) >= 0 else np.int64
    return np.array(values, wide).astype(dtype)


def converted(dtype):
    return lambda x: convert_element_type_p.bind1(
        x, new_dtype=dt.as_dtype(dtype), weak_type=False
    )


def assert_converts(source, values, target, want):
    source, target = dt.as_dtype(source), dt.as_dtype(target)
    x, out = np.array(values).astype(source), np.array(want).astype(target)
    assert_agreed(converted(target), [x], out)


# ---- to integers ----


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", SIGNED + UNSIGNED)
def test_infinities_saturate_and_nan_becomes_zero(source, target):
    info = dt.iinfo(target)
    limits = integers([0, int(info.max)], target), integers([int(info.min)], target)
    x = np.array([NAN, INF, -INF]).astype(source)
    assert_agreed(converted(target), [x], np.concatenate(limits))


def test_fractions_are_dropped_towards_zero():
    values = [0.9, -0.9, 1.5, -1.5, 127.9, -128.9, 128.5, -0.0]
    assert_converts("float32", values, "int8", [0, 0, 1, -1, 127, -128, 127, 0])
    assert_converts("float64", values, "uint8", [0, 0, 1, 0, 127, 0, 128, 0])


def test_limits_that_a_float_cannot_hold():
    values = [2.0**31 - 128, 2.0**31, -(2.0**31), -(2.0**31) - 256]
    most, least = 2**31 - 1, -(2**31)
    assert_converts("float32", values, "int32", [most - 127, most, least, least])
    values = [2.0**63, 2.0**64, 2.0**64 - 2048, -1.0]
    want = np.array([2**63, 2**64 - 1, 2**64 - 2048, 0], np.uint64)
    assert_converts("float64", values, "uint64", want)


def test_integers_keep_their_low_bits():
    assert_converts("int32", [300, -1, -129, 65536], "int8", [44, -1, 127, 0])
    assert_converts("int32", [300, -1, -129, 65536], "uint8", [44, 255, 127, 0])
    assert_converts("int64", [2**40 + 5, -(2**40)], "int32", [5, 0])
    assert_converts("int8", [-1, 127], "uint64", np.array([2**64 - 1, 127], np.uint64))


# ---- to booleans, from complex numbers, to narrower floats ----


def test_nonzero_values_are_true():
    assert_converts("float32", [0.0, -0.0, 0.1, NAN, -INF], "bool", [0, 0, 1, 1, 1])
    assert_converts("int32", [0, 256, -1], "bool", [0, 1, 1])
    assert_converts("complex64", [0, 1j, 1 + 1j], "bool", [0, 0, 1])  # the real part
    assert_converts("bool", [False, True], "bfloat16", [0.0, 1.0])


def test_complex_numbers_lose_their_imaginary_part():
    assert_converts("complex64", [1.9 + 2j, -3 - 1j], "int32", [1, -3])
    assert_converts("complex128", [1.5 + 2j, NAN], "float16", [1.5, NAN])
    x = np.array([1 + 1j], "complex64")
    with pytest.warns(np.exceptions.ComplexWarning) as caught:
        convert_element_type(x, "float32")
    assert str(caught[0].message) == (
        "convert_element_type: expected a real array for float32, got complex64[1], so "
        "dropped the imaginary part. Call imprint.numpy.real to say so."
    )


def test_float64_is_rounded_to_float16_by_way_of_float32():
    just_above_a_tie = 1 + 2.0**-11 + 2.0**-24
    assert_converts("float64", [just_above_a_tie, 65519.9], "float16", [1.0, 65504])


@pytest.mark.parametrize(
    ("target", "gap"),
    [
        ("float8_e4m3fn", 0.125),
        ("float8_e4m3b11fnuz", 0.125),
        ("float8_e4m3fnuz", 0.125),
        ("float8_e5m2", 0.25),
        ("float8_e5m2fnuz", 0.25),
        ("float8_e3m4", 0.0625),
    ],
)
def test_float64_is_rounded_to_a_float_of_8_bits_once(target, gap):
    tie, bit = 1 + gap / 2, 2.0**-40
    values = [tie, tie + bit, -tie - bit, tie + gap - bit, tie + gap, INF, NAN]
    want = [1, 1 + gap, -1 - gap, 1 + gap, 1 + 2 * gap, INF, NAN]
    assert_converts("float64", values, target, np.array(want, "float32"))


@pytest.mark.slow
def test_every_pair_of_dtypes_is_the_same_compiled():
    calls = [_call(*map(dt.as_dtype, pair)) for pair in PAIRS]
    operands = [(_values(call.avals[0].dtype),) for call in calls]
    with enable_x64(True):
        results = compiled(calls)(operands)
    for call, xs, (got,) in zip(calls, operands, results, strict=True):
        (want,) = call.reference(*xs)
        try:
            assert_same(got, want)
        except AssertionError as err:
            err.add_note(str(call))
            raise


def _call(source, target):
    aval = ShapedArray(_values(source).shape, source)
    params = {"new_dtype": target, "weak_type": False}
    return Call(convert_element_type_p, (aval,), params)


def _values(dtype):
    """Return edges of a dtype, none of them subnormal: the engine flushes these."""
    if dt.is_integer(dtype):
        info = dt.iinfo(dtype)
        every = [0, 1, -1, 3, 100, 2**24 + 1, 2**53 + 1, info.min, info.max]
        return integers([v for v in every if info.min <= v <= info.max], dtype)
    every = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 7.5, 100, -200, 300, INF, -INF, NAN]
    with np.errstate(over="ignore"):
        return np.array([*every, 40_000.7, -70_000.7, 2.0**31, 1e19]).astype(dtype)


# ---- the public function and its rules ----


def test_equal_dtypes_cost_nothing():
    x = convert_element_type(np.float32([1]), "float32")
    assert convert_element_type(x, np.float32) is x
    weak = convert_element_type(x, np.float32, weak_type=True)
    assert weak.weak_type
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not convert_element_type(weak, "float32").weak_type


def test_the_derivative_of_a_conversion_is_a_conversion():
    x, t = np.array([1.0, 2.0]), np.array([3.0, 4.0])

    def there_and_back(x):
        return convert_element_type(convert_element_type(x, "complex64"), "float64")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(tangent(there_and_back, [x], [t]), t)
    rounded = tangent(lambda x: convert_element_type(x, "int32"), [x], [t])
    np.testing.assert_array_equal(rounded, [0.0, 0.0])


# ---- bitcast_convert_type ----


@pytest.mark.parametrize(
    ("source", "target", "values", "want"),
    [
        ("float32", "uint32", [1.0, -0.0], [0x3F800000, 0x80000000]),
        ("int16", "bfloat16", [0x3F80, -0x8000], [1.0, -0.0]),
        ("uint32", "uint8", [0x04030201], [[1, 2, 3, 4]]),
        ("uint8", "uint32", [[1, 2, 3, 4]], [0x04030201]),
        ("float64", "uint32", [1.0], [[0, 0x3FF00000]]),
        ("int8", "int8", [-1], [-1]),
        ("int8", "uint4", [[0x21], [-1]], [[[1, 2]], [[15, 15]]]),
        ("uint8", "int4", [0xF7], [[7, -1]]),
        ("int4", "int16", [[1, 2, 3, -1]], [0xF321 - 2**16]),
    ],
)
def test_bits_are_reinterpreted(source, target, values, want):
    x = np.array(values).astype(dt.as_dtype(source))
    out = np.array(want).astype(dt.as_dtype(target))
    with enable_x64(True):
        got = np.asarray(bitcast_convert_type(x, target))
    assert_same(got, out)
    params = {"new_dtype": dt.as_dtype(target)}
    assert_same(got, by_jax(bitcast_convert_type_p, x, **params))


def test_vmap_of_a_widening_cast_leaves_the_hidden_axis():
    x = np.array([[1, 10], [2, 20], [3, 30], [4, 40]], "uint8")
    (out,), (dim,) = batch_flat(
        lambda x: [bitcast_convert_type(x, "uint32")], [x], (1,)
    )
    assert dim == 0
    np.testing.assert_array_equal(np.asarray(out), [0x04030201, 0x281E140A])


def test_values_without_bits_or_of_another_size():
    with pytest.raises(DTypeError) as wrong:
        bitcast_convert_type(np.ones(2, bool), "uint8")
    assert str(wrong.value) == (
        "bitcast_convert_type: expected integers or floats on both sides, got bool[2] "
        "to uint8. Convert booleans to uint8, and split complex numbers with "
        "imprint.numpy.real and imag."
    )
    with pytest.raises(ShapeError) as narrow:
        bitcast_convert_type(np.ones(3, "uint8"), "uint32")
    assert str(narrow.value) == (
        "bitcast_convert_type: expected a last axis that fills 32 bits, got uint8[3] "
        "with 8 bits an element for uint32. Reshape it to [..., 4]."
    )
