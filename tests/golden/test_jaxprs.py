"""The printed form of jaxprs and modules: small programs, one idea each."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp


def _shared_call(np_, jit):
    f = jit(lambda x: np_.sin(x) * 2)
    return lambda x: (f(x) + f(x), x)


PROGRAMS = {
    "scalar_literal": lambda n, j: lambda x: x + 1,
    "two_operands": lambda n, j: lambda x: x * x - n.cos(x),
    "unused_result": lambda n, j: lambda x: (n.sin(x), x)[1],
    "nested_call": lambda n, j: lambda x: j(lambda y: y * 2)(x),
    "shared_call": _shared_call,
    "constant_result": lambda n, j: lambda x: 1 if x.shape[0] > 4 else -1,
    "reduction": lambda n, j: lambda x: n.exp(x).max(),
    "matmul": lambda n, j: lambda x: x.reshape(2, 4) @ x.reshape(4, 2),
    "transposed": lambda n, j: lambda x: x.reshape(2, 4).T,
    "convert": lambda n, j: lambda x: x.astype("int32"),
    "many_results": lambda n, j: lambda x: [x + i for i in range(12)],
    "select": lambda n, j: lambda x: n.exp(-x) + n.tanh(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_prints_as_jax_does(name):
    """Whole text equal to JAX's, but for params of sharding that imprint has not."""
    x = np.ones(8, np.float32)
    ours = str(imprint.make_jaxpr(PROGRAMS[name](inp, imprint.jit))(x))
    theirs = str(jax.make_jaxpr(PROGRAMS[name](jnp, jax.jit))(x))
    for foreign in (" out_sharding=None", " sharding=None", " out_sharding=None"):
        theirs = theirs.replace(foreign, "")
    theirs = theirs.replace("(([1], [0]), ([], []))", "(((1,), (0,)), ((), ()))")
    assert ours.split() == theirs.split()


@pytest.mark.parametrize("n", [8, 3])
def test_pruned_branch(n, golden):
    @imprint.jit
    def test(x):
        return inp.array(1 if x.shape[0] > 4 else -1)

    text = imprint.make_jaxpr(test)(inp.ones(n))
    golden(f"pruned_branch_{n}.jaxpr.txt", str(text))


def test_gradient(golden):
    f = imprint.jit(lambda w, x: inp.tanh(x @ w).sum())
    text = imprint.make_jaxpr(imprint.grad(f))(inp.ones((3, 2)), inp.ones((4, 3)))
    golden("gradient_of_a_layer.jaxpr.txt", str(text))


def test_module_of_a_shared_call(golden):
    f = imprint.jit(lambda x: inp.sin(x) * 2)
    lowered = imprint.jit(lambda x: f(x) + f(x + 1)).lower(inp.ones(3))
    golden("shared_call.mlir", lowered.as_text())
    assert lowered.as_text().count("func.func private") == 1
