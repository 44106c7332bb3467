"""Keys that are used twice, with `debug_key_reuse`; compared with JAX's checker."""

import gc

import numpy as np
import pytest

import imprint
from imprint._src.primitives import key_uses
from imprint.errors import KeyReuseError
from tests.oracle import jax

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


@program
def two_draws(x):
    key = x.random.key(0)
    x.random.bits(key)
    x.random.bits(key)


@program
def draw_after_split(x):
    key = x.random.key(0)
    x.random.split(key)
    x.random.bits(key)


@program
def split_keys(x):
    first, second = x.random.split(x.random.key(0))
    x.random.bits(first)
    x.random.bits(second)


@program
def one_of_split_keys_twice(x):
    first, _ = x.random.split(x.random.key(0))
    x.random.bits(first)
    x.random.bits(first)


@program
def fold_in_consumes_nothing(x):
    key = x.random.key(0)
    x.random.bits(x.random.fold_in(key, 1))
    x.random.bits(x.random.fold_in(key, 1))
    x.random.bits(key)


@program
def a_clone_is_new(x):
    key = x.random.key(0)
    x.random.bits(key)
    x.random.bits(x.random.clone(key))


@program
def raw_data_is_not_looked_at(x):
    key = x.random.PRNGKey(0)
    x.random.bits(key)
    x.random.bits(key)


@program
def words_consume_nothing(x):
    key = x.random.key(0)
    x.random.key_data(key)
    x.random.bits(key)
    x.random.bits(x.random.wrap_key_data(x.random.key_data(key)))


@program
def twice_in_a_program(x):
    x.jit(lambda key: x.random.bits(key) + x.random.bits(key))(x.random.key(0))


@program
def two_calls_of_a_program(x):
    f = x.jit(lambda key: x.random.bits(key))
    key = x.random.key(0)
    f(key)
    f(key)


@program
def two_programs_with_a_key_each(x):
    f = x.jit(lambda key: x.random.bits(key))
    f(x.random.key(0))
    f(x.random.key(0))


@program
def a_key_that_a_program_returns(x):
    key = x.jit(lambda key: key)(x.random.key(0))
    x.random.bits(key)
    x.random.bits(key)


@program
def a_consumed_key_that_a_program_returns(x):
    key, _ = x.jit(lambda key: (key, x.random.bits(key)))(x.random.key(0))
    x.random.bits(key)


@program
def a_new_key_that_a_program_returns(x):
    key = x.jit(lambda key: x.random.split(key, 1)[0])(x.random.key(0))
    x.random.bits(key)


@program
def a_captured_key(x):
    key = x.random.key(0)
    f = x.jit(lambda: x.random.bits(key))
    f()
    f()


@program
def a_key_of_a_nested_program(x):
    f = x.jit(lambda key: x.random.bits(key))
    x.jit(lambda key: f(key) + x.random.bits(key))(x.random.key(0))


@program
def a_key_for_a_nested_program(x):
    f = x.jit(lambda key: x.random.bits(key))
    x.jit(lambda keys: f(keys[0]) + f(keys[1]))(x.random.split(x.random.key(0)))


@program
def a_key_in_another_shape(x):
    def f(key):
        return x.random.bits(key) + x.random.bits(key.reshape((1,))[0])

    x.jit(f)(x.random.key(0))


@program
def a_mapped_key(x):
    keys = x.random.split(x.random.key(0), 3)
    x.vmap(x.random.bits)(keys)
    x.vmap(x.random.bits)(keys)


@program
def a_mapped_function(x):
    f = x.jit(x.vmap(lambda key: x.random.bits(key) + x.random.bits(key)))
    f(x.random.split(x.random.key(0), 3))


@program
def keys_of_both_branches(x):
    def f(key):
        return x.lax.cond(True, x.random.bits, lambda k: x.random.bits(k) + 1, key)

    x.jit(f)(x.random.key(0))


@program
def a_key_after_a_branch(x):
    def f(key):
        a = x.lax.cond(True, x.random.bits, lambda _: np.uint32(1), key)
        return a + x.random.bits(key)

    x.jit(f)(x.random.key(0))


@program
def a_constant_key_of_a_scan(x):
    def f(key):
        return x.lax.scan(lambda c, _: (c + x.random.uniform(key), None), 0.0, length=3)

    x.jit(f)(x.random.key(0))


@program
def a_key_of_a_carry(x):
    def f(key):
        return x.lax.scan(lambda k, _: (k, x.random.bits(k)), key, length=3)

    x.jit(f)(x.random.key(0))


@program
def a_split_key_of_a_carry(x):
    def step(key, _):
        key, subkey = x.random.split(key)
        return key, x.random.bits(subkey)

    def f(key):
        key, _ = x.lax.scan(step, key, length=3)
        return x.random.bits(key)

    x.jit(f)(x.random.key(0))


@program
def keys_of_a_scan(x):
    def f(keys):
        return x.lax.scan(lambda c, k: (c, x.random.bits(k)), 0.0, keys)

    x.jit(f)(x.random.split(x.random.key(0), 3))


@program
def a_key_after_a_scan_of_keys(x):
    def f(keys):
        outs = x.lax.scan(lambda c, k: (c, x.random.bits(k)), 0.0, keys)
        return outs, x.random.bits(keys[1])

    x.jit(f)(x.random.split(x.random.key(0), 3))


@program
def keys_that_a_scan_makes(x):
    def step(key, _):
        key, subkey = x.random.split(key)
        return key, subkey

    def f(key):
        _, keys = x.lax.scan(step, key, length=2)
        return x.random.bits(keys[0]) + x.random.bits(keys[1])

    x.jit(f)(x.random.key(0))


@program
def a_key_of_a_while_loop(x):
    def f(key):
        return x.lax.while_loop(
            lambda c: c < 3, lambda c: c + x.random.uniform(key), 0.0
        )

    x.jit(f)(x.random.key(0))


@program
def a_key_of_condition_and_step(x):
    def f(key):
        def step(key):
            return x.random.split(key, 1)[0]

        return x.lax.while_loop(lambda k: x.random.uniform(k) < 0.5, step, key)

    x.jit(f)(x.random.key(0))


@program
def a_split_key_of_a_while_loop(x):
    def step(carry):
        key, total = carry
        key, subkey = x.random.split(key)
        return key, total + x.random.uniform(subkey)

    def f(key):
        return x.lax.while_loop(lambda c: c[1] < 2, step, (key, 0.0))

    x.jit(f)(x.random.key(0))


@program
def a_checkpointed_function(x):
    f = x.checkpoint(lambda v, key: x.numpy.sin(v * x.random.uniform(key)))
    x.jit(x.grad(f))(1.0, x.random.key(0))


@program
def a_custom_derivative(x):
    @x.custom_jvp
    def f(v, key):
        return v * x.random.uniform(key)

    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0]))
    x.jit(lambda v, key: f(v, key) + x.random.uniform(key))(1.0, x.random.key(0))


@program
def any_two_keys(x):
    def f(keys, i):
        return x.random.bits(keys[i]) + x.random.bits(keys[i + 1])

    x.jit(f)(x.random.split(x.random.key(0), 3), 0)


@program
def keys_that_are_put_together(x):
    def f(a, b):
        keys = x.numpy.stack([a, b])
        return x.random.bits(keys[0]) + x.random.bits(a)

    x.jit(f)(x.random.key(0), x.random.key(1))


def reuses(library, errors, function):
    with library.debug_key_reuse(True):
        try:
            function(library)
        except errors.KeyReuseError:
            return True
    return False


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_keys_of_a_program_are_reused_as_in_jax(name):
    found = reuses(imprint, imprint.errors, PROGRAMS[name])
    assert found == reuses(jax, jax.errors, PROGRAMS[name])


@pytest.mark.parametrize(
    "name", ["two_draws", "twice_in_a_program", "a_key_of_a_carry"]
)
def test_without_the_flag_nothing_is_looked_at(name):
    PROGRAMS[name](imprint)
    text = str(imprint.make_jaxpr(imprint.random.normal)(imprint.random.key(0)))
    assert "use_key" not in text


# ---- more exact than JAX ----


def test_a_key_that_is_only_taken_is_not_consumed():
    def f(x):
        keys = x.random.split(x.random.key(0))

        def g(keys):
            assert keys[0].shape == keys[0].shape
            return x.random.bits(keys[0])

        x.jit(g)(keys)

    assert not reuses(imprint, imprint.errors, f)
    assert reuses(jax, jax.errors, f)


def test_a_chosen_key_is_either():
    def f(x):
        def g(flag, a, b):
            return x.random.bits(x.numpy.where(flag, a, b))

        x.jit(g)(True, x.random.key(0), x.random.key(1))

    assert not reuses(imprint, imprint.errors, f)
    assert reuses(jax, jax.errors, f)

    def g(flag, a, b):
        draw = imprint.random.bits
        return draw(imprint.numpy.where(flag, a, b)) + draw(b)

    with imprint.debug_key_reuse(True), pytest.raises(KeyReuseError):
        imprint.jit(g)(True, imprint.random.key(0), imprint.random.key(1))


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
def test_a_sampler_of_other_samplers_uses_a_key_once(impl):
    random = imprint.random
    with imprint.debug_key_reuse(True):
        first, second = random.split(random.key(0, impl=impl))
        random.permutation(first, 3)
        random.choice(second, 3, (2,))
        with pytest.raises(KeyReuseError):
            random.bits(second)


def test_a_transposed_batch_of_keys_is_followed():
    with imprint.debug_key_reuse(True):
        keys = imprint.random.split(imprint.random.key(0), (2, 3))
        turned = keys.T if hasattr(keys, "T") else imprint.numpy.transpose(keys)
        imprint.random.bits(turned[2, 1])
        imprint.random.bits(keys[0, 2])
        with pytest.raises(KeyReuseError):
            imprint.random.bits(keys[1, 2])


def test_a_loop_outside_of_jit_consumes_its_keys():
    with imprint.debug_key_reuse(True):
        keys = imprint.random.split(imprint.random.key(0), 3)
        imprint.lax.map(imprint.random.bits, keys)
        with pytest.raises(KeyReuseError):
            imprint.random.bits(keys[1])


# ---- what is said, and what is kept ----


def test_the_error_names_both_lines():
    def draw(key):
        return imprint.random.normal(key)

    with imprint.debug_key_reuse(True):
        key = imprint.random.key(0)
        imprint.random.split(key)
        with pytest.raises(KeyReuseError) as caught:
            imprint.jit(draw)(key)
    said = str(caught.value)
    assert said.startswith("normal at test_key_reuse.py:")
    assert "(`imprint.random.normal(key)`) called at test_key_reuse.py:" in said
    assert "(`imprint.jit(draw)(key)`): expected a key" in said
    assert "got one that split at test_key_reuse.py:" in said
    assert "(`imprint.random.split(key)`) used before. Split it first" in said


def test_a_refused_call_consumes_nothing():
    def draw(a, b):
        return imprint.random.bits(a) + imprint.random.bits(b)

    with imprint.debug_key_reuse(True):
        a, b = imprint.random.split(imprint.random.key(0))
        imprint.random.bits(b)
        with pytest.raises(KeyReuseError):
            imprint.jit(draw)(a, b)
        imprint.random.bits(a)


def test_nothing_is_kept_of_keys_that_are_gone():
    with imprint.debug_key_reuse(True):
        imprint.random.bits(imprint.random.key(0))
    gc.collect()
    before = len(key_uses._known)
    with imprint.debug_key_reuse(True):
        for seed in range(10):
            imprint.random.bits(imprint.random.key(seed))
    gc.collect()
    assert len(key_uses._known) == before


def test_draws_are_the_same_with_the_flag():
    def draw(key):
        a, b = imprint.random.split(key)
        return imprint.random.normal(a, (2,)) + imprint.random.uniform(b, (2,))

    f = imprint.jit(draw)
    expected = f(imprint.random.key(0)).tolist()
    with imprint.debug_key_reuse(True):
        assert f(imprint.random.key(0)).tolist() == expected
        assert draw(imprint.random.key(0)).tolist() == expected
