"""A result is its operand only where it is in JAX, and else outlives it.

All functions of `imprint.numpy` and `imprint.lax` and all methods are called with a few
arguments. One that returns its operand itself must do so in JAX.
"""

import jax
import jax.numpy as jnp
import numpy as onp
import pytest
from jax import lax as jax_lax

import imprint
import imprint.numpy as np
from imprint import lax

VALUES = {
    "f3": onp.array([1, 2, 3], "float32"),
    "f23": onp.arange(6, dtype="float32").reshape(2, 3),
    "f222": onp.arange(8, dtype="float32").reshape(2, 2, 2),
    "f1": onp.array([1], "float32"),
    "f0": onp.float32(2),
    "i3": onp.array([1, 2, 3], "int32"),
    "b3": onp.array([True, False, True]),
    "c3": onp.array([1j, 2, 3], "complex64"),
}
ARGUMENTS = [
    *((), (0,), (1,), (0, 0), (0, 1), ((),), ((0,),), ((0, 1),), ((3,),), ((2, 3),)),
    *((None,), (None, None), ("float32",), (..., ), (slice(None),), ((), ())),
]  # fmt: skip
NOT_ASKED = {"delete", "Pair", "block_until_ready", "getitem"}
CLASSES = imprint.Array, type(np.float32)


OWN = [
    *(np.ravel, np.real, np.positive, np.squeeze, np.conj, np.atleast_1d, np.copy),
    *(np.array, np.clip, imprint.vmap(np.copy), imprint.vmap(np.positive)),
    lambda x: np.roll(x, 0),
    lambda x: np.repeat(x, 1),
    lambda x: np.round(x.astype("int32")).astype("float32"),
    lambda x: np.broadcast_arrays(x)[0],
    lambda x: np.hstack([x]),
    lambda x: imprint.jvp(np.copy, (x,), (x,))[1],
    lambda x: imprint.vjp(np.copy, x)[1](x)[0],
]


def calls(module):
    """Return the names of the functions of a module, or of the methods of arrays."""
    if module is imprint.Array:
        own = {"__pos__", "__abs__", "__round__", "__getitem__", "__copy__"}
        names = {name for name in dir(np.ones(1)) if name[0] != "_"} | own
    else:
        names = {name for name in dir(module) if name[0] != "_"}
    return sorted(names - NOT_ASKED)


def applied(module, name, x, arguments):
    """Return the result, or the parts of it; none where the call is wrong."""
    try:
        if module is imprint.Array:
            found = getattr(x, name)
            out = found(*arguments) if callable(found) else found
        else:
            out = getattr(module, name)(x, *arguments)
    except Exception:
        return []
    return out if isinstance(out, list | tuple) else [out]


def same(module, name, x, arguments):
    given = x if isinstance(x, list) else [x]
    results = applied(module, name, x, arguments)
    return any(r is a for r in results for a in given)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("module", "theirs"), [(np, jnp), (lax, jax_lax), (imprint.Array, imprint.Array)]
)
def test_a_result_is_its_operand_only_where_it_is_in_jax(module, theirs):
    wrong = []
    for name in calls(module):
        if isinstance(getattr(module, name, None), type):
            continue
        for kind, value in VALUES.items():
            x, y = np.asarray(value), jnp.asarray(value)
            for arguments in ARGUMENTS:
                if not same(module, name, x, arguments):
                    continue
                if applied(theirs, name, y, arguments) and not same(
                    theirs, name, y, arguments
                ):
                    wrong.append((name, kind, arguments))
            if (
                module is np
                and same(np, name, [x], ())
                and not same(jnp, name, [y], ())
            ):
                wrong.append((name, [kind]))
    assert wrong == []


@pytest.mark.parametrize("function", OWN)
@pytest.mark.parametrize("on_device", [False, True])
def test_values_that_are_no_operands_outlive_the_call(function, on_device):
    x = np.asarray(onp.array([1, 2, 3], "float32"))
    x = imprint.jit(lambda x: x * 1)(x) if on_device else x
    result = function(x)
    taking = imprint.jit(lambda x: x * 10, donate_argnums=0)
    assert taking(x).tolist() == [10, 20, 30]
    assert result.tolist() == [1, 2, 3]
    again = function(np.asarray(onp.array([1, 2, 3], "float32")))
    assert (taking(result).tolist(), again.tolist()) == ([10, 20, 30], [1, 2, 3])


def test_a_result_is_on_the_default_device():
    x = np.asarray(onp.ones(3, "float32"))
    *_, last = imprint.devices()
    with imprint.default_device(last):
        assert np.ravel(x).devices() == {last}


def test_a_copy_is_an_equation_as_in_jax():
    assert str(imprint.make_jaxpr(np.copy)(1.0)).count("copy") == 1
    assert str(jax.make_jaxpr(jnp.copy)(1.0)).count("copy") == 1
    jaxpr = imprint.make_jaxpr(np.ravel)(onp.ones(3))
    assert jaxpr.eqns == ()
