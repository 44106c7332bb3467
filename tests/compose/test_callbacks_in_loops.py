"""Callbacks inside loops and branches print the same as in JAX, in the same order."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.experimental import io_callback

ONE = np.float32(1)


def _scan(m, np, *, ordered):
    def body(carry, x):
        m.debug.print("c={} x={}", carry, x, ordered=ordered)
        return carry + x, carry * x

    return lambda x: m.lax.scan(body, x, np.arange(3.0))


def _while(m, np, *, ordered):
    def body(x):
        m.debug.print("w {}", x, ordered=ordered)
        return x * 2

    return lambda x: m.lax.while_loop(lambda x: x < 10, body, x)


def _while_cond(m, np, *, ordered):
    def cond(x):
        m.debug.print("cond {}", x, ordered=ordered)
        return x < 10

    return lambda x: m.lax.while_loop(cond, lambda x: x * 2, x)


def _fori(m, np, *, ordered):
    def body(i, x):
        m.debug.print("i {} {}", i, x, ordered=ordered)
        return x + i

    return lambda x: m.lax.fori_loop(0, 3, body, x)


def _cond(m, np, *, ordered):
    def on_true(x):
        m.debug.print("true {}", x, ordered=ordered)
        return x + 1

    def on_false(x):
        m.debug.print("false {}", x, ordered=ordered)
        return x - 1

    def f(x):
        return m.lax.cond(x > 2, on_true, on_false, x), m.lax.cond(
            x > 0, on_true, on_false, x
        )

    return f


def _nested(m, np, *, ordered):
    def body(carry, x):
        m.debug.print("outer {}", carry, ordered=ordered)
        inner = _scan(m, np, ordered=ordered)
        return m.lax.cond(x > 0, lambda c: inner(c)[0], lambda c: c, carry), None

    return lambda x: m.lax.scan(body, x, np.arange(2.0))[0]


def _unused(m, np, *, ordered):
    def f(x):
        _scan(m, np, ordered=ordered)(x)
        return x

    return f


PROGRAMS = [_scan, _while, _while_cond, _fori, _cond, _nested, _unused]
USES = {
    "eager": lambda m, f: f,
    "jit": lambda m, f: m.jit(f),
    "jvp": lambda m, f: lambda x: m.jvp(f, (x,), (x,)),
    "jit of linearize": lambda m, f: m.jit(lambda x: m.linearize(f, x)[0]),
}


CASES = [
    (program, use)
    for program in PROGRAMS
    for use in USES
    if program not in (_while, _while_cond) or use != "jit of linearize"
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(("program", "use"), CASES)
def test_prints_are_those_of_jax(program, use, ordered, capfd):
    texts, results = [], []
    for m, numpy in ((jax, jnp), (imprint, inp)):
        capfd.readouterr()
        results.append(USES[use](m, program(m, numpy, ordered=ordered))(ONE))
        m.effects_barrier()
        sys.stdout.flush()
        texts.append(capfd.readouterr().out)
    theirs, ours = texts
    assert ours == theirs != ""
    jax.tree.map(np.testing.assert_allclose, *results)


def test_callbacks_with_results_run_in_each_iteration():
    shape = imprint.ShapeDtypeStruct((), "float32")

    def body(carry, x):
        carry = imprint.pure_callback(lambda a, b: a + b, shape, carry, x)
        return io_callback(lambda a: a * 2, shape, carry, ordered=True), carry

    f = imprint.jit(lambda x: imprint.lax.scan(body, x, inp.arange(3.0)))
    carry, carries = f(ONE)
    assert float(carry) == 16
    assert np.asarray(carries).tolist() == [1, 3, 8]


def test_an_exception_ends_the_loop():
    seen = []

    def note(x):
        seen.append(float(x))
        if len(seen) == 3:
            raise OSError("third")

    def body(carry, x):
        imprint.debug.callback(note, x)
        return carry, None

    f = imprint.jit(lambda x: imprint.lax.scan(body, x, inp.arange(9.0))[0])
    with pytest.raises(OSError, match="third"):
        f(ONE)
    assert seen == [0, 1, 2]


def test_many_prints_leave_no_memory_behind():
    def size():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4

    def body(carry, x):
        imprint.debug.callback(lambda x: None, carry)
        return carry, None

    f = imprint.jit(lambda x: imprint.lax.scan(body, x, None, length=50_000)[0])
    f(ONE)
    before = size()
    f(ONE), f(ONE)
    assert size() - before < 2000  # KiB, of 100,000 calls
