"""Small rules of transforms, loops and shardings that agree with JAX."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp

FLOAT0 = np.zeros((3,), jax.dtypes.float0)


def _wide_cotangent(lib, np_):
    f = lib.custom_vjp(lambda x: x * 2)
    f.defvjp(lambda x: (x * 2, None), lambda _, ct: (ct.astype("float32") * 3,))
    return lib.vjp(f, np_.ones(2, "bfloat16"))[1](np_.ones(2, "bfloat16"))[0]


def _partial(lib, np_):
    f = lib.custom_jvp(functools.partial(lambda x, y: x * y, y=2.0))
    f.defjvp(lambda p, t: (f(*p), t[0] * 3))
    return lib.grad(f)(1.0)


def _at_compile_time(lib, np_):
    f = lib.custom_jvp(lambda x: x * 2)
    f.defjvp(lambda p, t: (f(*p), t[0] * 3))

    def inner(x):
        with lib.ensure_compile_time_eval():
            return f(3.0) + x

    return lib.jit(lib.grad(inner))(1.0)


def _nondiff(lib, np_):
    f = lib.custom_jvp(lambda n, x: x * n, nondiff_argnums=(0,))
    f.defjvp(lambda n, p, t: (p[0] * n, t[0] * n))
    return lib.grad(lambda n, x: lib.vmap(f)(n, x).sum(), (0, 1))(
        np_.arange(3.0), np_.arange(3.0)
    )[1]


def _captured(lib, np_):
    def each(x, z):
        f = lib.custom_jvp(lambda z: z * 2)
        f.defjvp(lambda p, t: (p[0] * x, t[0] * x))
        return f(z)

    mapped = lib.vmap(each, (0, None))
    return lib.grad(lambda z: mapped(np_.arange(3.0), z).sum())(2.0)


def _parts(lib, np_):
    one = lib.sharding.SingleDeviceSharding(lib.devices()[0])
    return lib.jit(lambda x: lib.make_array_from_single_device_arrays((2,), one, [x]))(
        np_.ones(2)
    )


def _constrained(lib, np_):
    one = lib.sharding.SingleDeviceSharding(lib.devices()[0])
    constrain = functools.partial(lib.lax.with_sharding_constraint, shardings=one)
    x = np_.arange(4.0).reshape(2, 2)
    return constrain(x) + lib.jit(lib.vmap(constrain))(x)


def _sharding_of_shapes(lib, np_):
    one = lib.sharding.SingleDeviceSharding(lib.devices()[0])
    jitted = lib.jit(lambda x: {"a": x}, out_shardings=one)
    shapes = lib.eval_shape(jitted, np_.ones(2)), jitted.eval_shape(np_.ones(2))
    return np.array([s["a"].sharding == one for s in shapes])


CASES = {
    "a cotangent keeps its dtype": _wide_cotangent,
    "a partial has a rule": _partial,
    "a rule at compile time": _at_compile_time,
    "nondiff_argnums that are mapped": _nondiff,
    "a rule captures a mapped value": _captured,
    "a tracer has no parts": _parts,
    "one device constrains": _constrained,
    "shapes have shardings": _sharding_of_shapes,
    "float0 + array": lambda lib, np_: FLOAT0 + np_.ones(3),
    "array * float0": lambda lib, np_: np_.ones(3) * FLOAT0,
    "unroll=0": lambda lib, np_: lib.lax.scan(
        lambda c, x: (c + x, c), 0.0, np_.arange(3.0), unroll=0
    )[0],
    "unroll=-1": lambda lib, np_: lib.lax.scan(
        lambda c, x: (c + x, c), 0.0, np_.arange(3.0), unroll=-1
    )[0],
}


@pytest.mark.parametrize("name", CASES)
def test_they_agree_with_jax(name):
    try:
        expected = CASES[name](jax, jnp)
    except (ValueError, TypeError) as err:
        with pytest.raises(type(err)):
            CASES[name](imprint, inp)
        return
    got = CASES[name](imprint, inp)
    assert np.asarray(got).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(got, expected)
