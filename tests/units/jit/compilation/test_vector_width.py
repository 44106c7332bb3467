"""Which programs are compiled for vectors of 512 bits, on a CPU that has them."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import random
from imprint._src.config import enable_checks
from imprint._src.control_flow.call import call
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.jit.compilation import vector_width
from imprint._src.jit.compilation.lowered import lower
from imprint._src.jit.compilation.program import compile_module
from imprint._src.jit.compilation.vector_width import gains_from_width
from imprint._src.runtime import CompileOptions
from tests.tolerances import assert_close

X = np.linspace(0.1, 1.0, 1024, dtype=np.float32)
WIDTH = "xla_cpu_prefer_vector_width"


def gains(fun, *args):
    """Return the reported vector width of a program after the passes."""
    closed = imprint.make_jaxpr(fun)(*args or (X,))
    return gains_from_width(closed.jaxpr)


def chain(operation, times):
    """Return a program that repeats an operation on the last value and the first."""

    def run(x):
        y = x + 1
        for _ in range(times):
            y = operation(y, x)
        return y

    return run


def selu(x):
    return inp.where(x > 0, 1.05 * x, 1.67 * (inp.exp(x) - 1))


def gelu(x):
    return 0.5 * x * (1 + inp.tanh(0.798 * (x + 0.0447 * x * x * x)))


sines = chain(lambda y, _: inp.sin(y), 4)

GAINS = {
    "exp": inp.exp,
    "tanh": inp.tanh,
    "log": inp.log,
    "selu": selu,
    "gelu": gelu,
    "gradient": imprint.grad(lambda x: gelu(x).sum()),
    "long arithmetic": chain(lambda y, x: y * x - y + 1, 10),
    "random bits": lambda x: random.uniform(random.key(0), x.shape) + x,
    "long, with vector code": chain(lambda y, x: inp.tanh(y) * x - y, 900),
    "in a nested call": imprint.jit(imprint.jit(inp.exp)),
    "many scalar calls on a scalar": lambda x: inp.exp(x) * sines(x[0]),
    "a few scalar calls on little": lambda x: inp.exp(x) + inp.sin(x[:2]).sum(),
}
GAINS_NOTHING = {
    "sin": inp.sin,
    "pow": lambda x: x**x,
    "selu and sin": lambda x: selu(x) + inp.sin(x),
    "sin of a part": lambda x: inp.tanh(x) * inp.sin(x[:512]).sum(),
    "short arithmetic": lambda x: x * 2 + 1,
    "relu": lambda x: inp.maximum(x, 0),
    "nothing": lambda x: x,
    "matmul": lambda x: x.reshape(32, 32) @ x.reshape(32, 32),
    "many scalar calls on little": lambda x: inp.exp(x) + sines(x[:2]).sum(),
    "many of them in a nested call": lambda x: (
        inp.exp(x) + imprint.jit(sines)(x[:2]).sum()
    ),
    "scalar calls in a nested call": lambda x: imprint.jit(inp.sin)(x) + inp.exp(x),
    "too long": chain(lambda y, x: inp.tanh(y) * x - y, 1001),
    "no arguments": lambda x: inp.arange(1024.0),
}


@pytest.mark.parametrize("name", GAINS)
def test_a_program_with_vector_code_gains(name):
    assert gains(GAINS[name])


@pytest.mark.parametrize("name", GAINS_NOTHING)
def test_a_program_without_it_or_with_scalar_calls_does_not(name):
    assert not gains(GAINS_NOTHING[name])


def test_the_dtype_decides():
    with imprint.enable_x64(True):
        assert not gains(inp.log, X.astype("float64"))
        assert gains(inp.exp, X.astype("float64"))
    assert gains(inp.log)
    for dtype in ("float16", "complex64"):
        assert not gains(inp.exp, X.astype(dtype))


def test_a_shared_body_votes_once_for_each_call():
    inner = imprint.jit(lambda x: x * x - x + x * 3)
    assert not gains(inner)
    assert gains(chain(lambda y, _: inner(y), 8))


def test_deeply_shared_bodies_are_counted_once_each():
    closed = imprint.make_jaxpr(inp.tanh)(X)
    with enable_checks(False):  # checking goes into each of the 2 to the 40 calls
        for _ in range(40):
            closed = stage(twice(closed), closed.in_avals, DebugInfo("jit", "twice"))
    assert not gains_from_width(closed.jaxpr)


def twice(closed):
    return lambda x: [call(closed, (x,), "f")[0] + call(closed, (x,), "f")[0]]


# ---- effects ----


@pytest.fixture(params=[True, False], ids=["with AVX-512", "without"])
def has_wide_vectors(request, monkeypatch):
    monkeypatch.setattr(vector_width, "has_wide_vectors", lambda: request.param)
    return request.param


def lowered(fun):
    return lower(imprint.make_jaxpr(fun)(X), "f")


def in_force(module, **asked):
    return dict(
        compile_module(module, CompileOptions.of(asked)).options.compiler_options
    )


def test_the_option_is_in_force_where_the_program_gains(has_wide_vectors):
    expected = {WIDTH: "512"} if has_wide_vectors else {}
    assert in_force(lowered(selu)) == expected
    assert in_force(lowered(inp.sin)) == {}


def test_the_option_of_the_user_is_in_force(has_wide_vectors):
    assert in_force(lowered(selu), **{WIDTH: 128}) == {WIDTH: "128"}
    assert in_force(lowered(inp.sin), **{WIDTH: 512}) == {WIDTH: "512"}


@pytest.mark.parametrize("width", ["", 512])
def test_arc_tangents_are_right_under_every_option(width):
    options = {WIDTH: width} if width else None
    f = imprint.jit(
        lambda x: inp.arctan2(x, 1.0) + inp.tanh(x), compiler_options=options
    )
    assert_close(f(X), np.arctan(X) + np.tanh(X))


def test_a_program_that_is_watched_votes_as_it_does_alone(monkeypatch):
    monkeypatch.setattr(vector_width, "has_wide_vectors", lambda: True)
    for fun in (selu, lambda x: x * 1.01 + inp.sqrt(inp.abs(x)) * 0.5 - x * x):
        closed = imprint.make_jaxpr(fun)(X)
        assert lower(closed, "f", nans=True).options == lower(closed, "f").options
