"""Eager calls with large operands run as programs where that is faster."""

import numpy as np
import pytest

import imprint
import imprint.image
import imprint.nn as nn
import imprint.numpy as inp
from imprint._src.eager import evaluate, fusion, large_operands
from imprint._src.primitives import ALL

RNG = np.random.default_rng(0)
SIZE = 300_000
X = RNG.normal(size=SIZE).astype(np.float32)
X[:5] = [0.0, -0.0, np.inf, -np.inf, np.nan]
EDGES = RNG.normal(size=50).astype(np.float32)

FUNCTIONS = {
    "clip": lambda x: inp.clip(x, -1, 1),
    "maximum": lambda x: inp.maximum(x, 0),
    "nan_to_num": inp.nan_to_num,
    "logaddexp2": lambda x: inp.logaddexp2(x, 1.0),
    "frexp": inp.frexp,
    "spacing": inp.spacing,
    "polyval": lambda x: inp.polyval(inp.asarray([1.0, 2.0, 3.0]), x),
    "logaddexp": lambda x: inp.logaddexp(x, 1.0),
    "nanvar": inp.nanvar,
    "gelu": nn.gelu,
    "interp": lambda x: inp.interp(x, inp.sort(EDGES), inp.asarray(EDGES)),
    "resize": lambda x: imprint.image.resize(
        x[100_000:165_536].reshape(256, 256), (300, 300), "linear"
    ),
}
PRIMITIVES = {
    "nextafter": lambda x: inp.nextafter(x, 1.0),
    "expm1": inp.expm1,
    "log1p": inp.log1p,
    "tanh": inp.tanh,
    "searchsorted": lambda x: inp.searchsorted(inp.sort(x), x[:20_000]),
    "x[places]": lambda x: x[inp.arange(SIZE) // 2],
}


def assert_same(came, expected):
    for a, b in zip(
        imprint.tree.leaves(came), imprint.tree.leaves(expected), strict=True
    ):
        assert imprint.typeof(a) is imprint.typeof(b)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def assert_near(came, expected):
    for a, b in zip(
        imprint.tree.leaves(came), imprint.tree.leaves(expected), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        a, b = (np.asarray(y)[~np.isnan(y)] for y in (a, b))
        np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


@pytest.fixture
def compiled(monkeypatch):
    """Return a list with the modules that are compiled."""
    made = []

    def compile_module(module, **options):
        made.append(module)
        return evaluate.compile_module(module, **options)

    monkeypatch.setattr(fusion, "compile_module", compile_module)
    return made


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_large_arrays_is_a_program_from_its_first_call(name, compiled):
    function, x = FUNCTIONS[name], inp.asarray(X)
    fusion._known.update({f: fusion._FusedCalls() for f in fusion._known})
    first = function(x)
    assert compiled
    count = len(compiled)
    for _ in range(6):
        assert_same(function(x), first)
    assert len(compiled) == count
    assert_near(first, imprint.jit(function)(x))


@pytest.mark.parametrize("name", PRIMITIVES)
def test_a_slow_primitive_of_large_operands_is_a_program(name):
    function, x = PRIMITIVES[name], inp.asarray(X)
    evaluate._THERE.clear()
    first = function(x)
    assert evaluate._THERE
    assert_same(function(x), first)
    assert_near(first, imprint.jit(function)(x))


@pytest.mark.parametrize("name", [*FUNCTIONS, *PRIMITIVES])
def test_large_and_small_operands_give_the_same_values(name):
    if name in {"nanvar", "resize", "searchsorted", "x[places]"}:
        return  # a value depends on all of them
    function = {**FUNCTIONS, **PRIMITIVES}[name]
    few = function(inp.asarray(X[:1000]))
    many = function(inp.asarray(X))
    assert_near(few, imprint.tree.map(lambda y: y[:1000], many))


@pytest.mark.parametrize("function", [inp.spacing, lambda x: inp.ldexp(x, -1)])
def test_subnormal_numbers_are_as_those_of_few(function):
    least = np.finfo(np.float32).smallest_subnormal
    x = inp.asarray(np.arange(-SIZE // 2, SIZE // 2) * least)
    assert_same(function(x)[:1000], function(x[:1000]))


def test_a_cheap_function_and_a_small_operand_are_none(compiled):
    evaluate._THERE.clear()
    few, many = inp.asarray(X[:1000]), inp.asarray(X)
    for _ in range(6):
        inp.clip(few, -1, 1), inp.expm1(few), many + many, inp.sum(many), many[3]
        inp.trapezoid(many)
    assert not compiled
    assert not evaluate._THERE


def test_the_table_names_primitives():
    names = {p.name for p in ALL}
    assert large_operands.NANOSECONDS.keys() | large_operands._UNFUSED.keys() <= names


def test_flags_reach_large_operands():
    with imprint.debug_nans(True), pytest.raises(imprint.errors.NonFiniteError):
        inp.log1p(inp.asarray(X))


def test_an_effect_on_a_large_operand_has_no_results():
    seen = []
    imprint.debug.callback(seen.append, imprint.numpy.ones(1 << 13))
    imprint.effects_barrier()
    assert seen[0].shape == (1 << 13,)
