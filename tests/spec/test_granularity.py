"""Compile the whole, a part or both: results, equations and dispatches."""

import re

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.spec.work import Work, work_of
from tests.tolerances import assert_close

POINT = np.array([1.0, 2.0], np.float32)
RESULT = np.array([393.87866, 6888.6396], np.float32)


def f(x):
    return inp.sin(x) + 2 * x


def g_of(f):
    def g(x):
        return inp.exp(f(f(x))) - x

    return g


STRATEGIES = {
    "nothing": lambda: g_of(f),
    "all of g": lambda: imprint.jit(g_of(f)),
    "f alone": lambda: g_of(imprint.jit(f)),
    "f and g": lambda: imprint.jit(g_of(imprint.jit(f))),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_gives_the_same_result(name):
    assert_close(STRATEGIES[name]()(inp.asarray(POINT)), RESULT, "program")


def test_xla_fuses_the_whole_of_g():
    text = imprint.jit(g_of(f)).lower(POINT).compile().as_text()
    (fusion,) = re.findall(r"%(\S+) = \S+ fusion\(", text)
    assert fusion == "exponential_subtract_fusion"


def test_a_part_is_compiled_once_for_equal_shapes():
    part = imprint.jit(f)
    assert work_of(lambda: g_of(part)(inp.asarray(POINT))) == Work(1, 1)
    assert part._cache_size() == 1


def test_a_nested_function_is_one_shared_call():
    part = imprint.jit(f)
    whole = imprint.jit(lambda x: part(part(x)))
    jaxpr = str(whole.trace(POINT).jaxpr)
    assert jaxpr.count("jit[name=f jaxpr=f]") == 2
    text = whole.lower(POINT).as_text()
    assert text.count("func.func private @f(") == 1
    assert text.count("call @f(") == 2


def test_a_nested_function_is_traced_once_and_compiled_with_the_outer_one():
    part = imprint.jit(f)
    whole = imprint.jit(g_of(part))
    assert work_of(lambda: whole(POINT)) == Work(traces=2, compiles=1)
    assert (part._cache_size(), whole._cache_size()) == (0, 1)


@pytest.mark.parametrize("inline", [True, False, *imprint.Inline])
def test_inline_decides_where_a_nested_call_is_inlined(inline):
    part = imprint.jit(f, inline=inline)
    whole = imprint.jit(lambda x: part(part(x)))
    jaxpr = str(whole.trace(POINT).jaxpr)
    text = whole.lower(POINT).as_text()
    early = inline is imprint.Inline.JAX_EARLY
    late = inline in (True, imprint.Inline.JAX_LATE)
    assert jaxpr.count("jit[") == (0 if early else 2)
    assert text.count("call @f(") == (0 if early or late else 2)
    is_marked = getattr(inline, "name", "").startswith("XLA")
    assert text.count("inlineable") == (2 if is_marked else 0)
    np.testing.assert_allclose(whole(POINT), f(f(POINT)), rtol=1e-6)


@pytest.mark.skipif(not hasattr(jax, "Inline"), reason="JAX has it since 0.11")
@pytest.mark.parametrize("inline", [True, False, *imprint.Inline])
def test_inline_has_the_same_effect_as_in_jax(inline):
    def counts(lib, sin):
        own = inline if isinstance(inline, bool) else lib.Inline[inline.name]
        part = lib.jit(lambda x: sin(x) * 2, inline=own)
        whole = lib.jit(lambda x: part(lib.vmap(part)(x)) + lib.grad(part)(1.0))
        text = whole.lower(POINT).as_text()
        traced = str(whole.trace(POINT).jaxpr)
        return traced.count("jit["), text.count("call @"), text.count("inlineable")

    theirs = counts(jax, jax.numpy.sin)
    assert counts(imprint, imprint.numpy.sin) == theirs


def test_inline_is_one_of_these():
    assert [each.name for each in imprint.Inline] == [
        *("JAX_EARLY", "JAX_LATE", "XLA_EARLY", "XLA_LATE", "AUTO")
    ]
    for wrong in ("yes", 1, None):
        with pytest.raises(ValueError, match="expected inline True, False or a member"):
            imprint.jit(f, inline=wrong)


def test_inline_is_an_option_of_jit_and_no_argument_of_the_call():
    whole = imprint.jit(g_of(f))
    with pytest.raises(TypeError, match="unexpected keyword argument 'inline'"):
        whole(POINT, inline=False)


def test_a_layer_repeated_160_times_is_lowered_once():
    layer = imprint.jit(lambda x: inp.tanh(x) * 1.5)

    def network(x):
        for _ in range(160):
            x = layer(x)
        return x

    text = imprint.jit(network).lower(inp.ones(4)).as_text()
    assert text.count("func.func") == 2
    assert text.count("call @") == 160


def test_a_nested_call_with_other_static_values_is_another_function():
    @imprint.jit(static_argnames="power")
    def layer(x, power):
        return x**power

    text = imprint.jit(lambda x: layer(x, 2) + layer(x, 3) + layer(x, 2)).lower(2.0)
    assert text.as_text().count("func.func private") == 2


def test_gradients_pass_through_every_nesting():
    values = {
        float(imprint.grad(g)(1.0))
        for g in (
            imprint.jit(g_of(f)),
            imprint.jit(g_of(imprint.jit(f))),
            imprint.jit(g_of(imprint.jit(f, inline=True))),
        )
    }
    assert max(values) - min(values) <= 1e-4 * max(values)


def test_xla_computation_shows_the_input_of_the_compiler():
    lowered = imprint.xla_computation(f)(POINT)
    assert "stablehlo.sine" in lowered.as_text()
    assert lowered.as_text() == imprint.jit(f).lower(POINT).as_text()


def test_make_jaxpr_shows_the_program():
    program = """
        { lambda ; a:f32[2]. let
            b:f32[2] = sin a
            c:f32[2] = mul 2.0:f32[] a
            d:f32[2] = add b c
          in (d,) }"""
    assert str(imprint.make_jaxpr(f)(POINT)).split() == program.split()


# ---- running the Python each time ----


@pytest.mark.unaudited
def test_print_happens_while_tracing(capsys):
    @imprint.jit
    def increment(x):
        print("tracing", x)
        return x + 1

    assert [increment(1.0), increment(2.0)] == [2.0, 3.0]
    assert capsys.readouterr().out == "tracing JitTracer(~float32[])\n"


def test_disable_jit_runs_the_python(capsys):
    @imprint.jit
    def increment(x):
        print("running", x)
        return x + 1

    with imprint.disable_jit():
        assert [increment(1.0), increment(2.0)] == [2.0, 3.0]
    assert capsys.readouterr().out == "running 1.0\nrunning 2.0\n"
    assert increment._cache_size() == 0


def test_disable_jit_reaches_nested_functions_and_values():
    @imprint.jit
    def part(x):
        return x if x > 0 else -x

    with imprint.disable_jit():
        assert imprint.jit(lambda x: part(x) * 2)(inp.asarray(-3.0)) == 6.0


def test_one_function_can_be_run_as_python():
    @imprint.jit
    def part(x):
        return x if x > 0 else -x

    assert part.__wrapped__(-3.0) == 3.0


def test_annotations_that_are_no_types_are_ignored():
    @imprint.jit
    def annotated(x: inp.array, y: 3 = 2.0) -> inp.array:
        return x * y

    assert annotated(3.0) == 6.0


def test_the_size_of_a_program_is_linear_in_its_source():
    def chain(n):
        def program(x):
            for _ in range(n):
                x = inp.sin(x) * x + 1
            return x

        return len(imprint.jit(program).lower(1.0).as_text())

    short, long = chain(50), chain(400)
    assert long < 8.5 * short
