import equinox
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import tree
from imprint.errors import ArgumentError, TreeError
from imprint.module import (
    Module,
    filter_closure_convert,
    filter_eval_shape,
    filter_grad,
    filter_vmap,
    is_array,
)
from tests.units.module.equinox_parity import OURS, THEIRS, draw

# ---- filter_eval_shape ----


def _described(api, module, pytree):
    structs = (imprint.ShapeDtypeStruct, jax.ShapeDtypeStruct)
    return [
        (x.shape, x.dtype.name) if isinstance(x, structs) else x
        for x in api.tree.leaves(pytree)
    ]


def _same(program):
    ours, theirs = program(OURS), program(THEIRS)
    assert _described(imprint, OURS, ours) == [
        inp.tanh if x is jnp.tanh else x for x in _described(jax, THEIRS, theirs)
    ]
    return ours


def test_a_model_is_made_without_its_memory():
    ours = _same(lambda s: s.mod.filter_eval_shape(s.model))
    assert type(ours) is OURS.MLP
    assert (ours.name, ours.inference, ours.activation) == ("small", False, inp.tanh)


def test_arguments_may_be_anything_and_abstract():
    def program(s):
        struct = s.api.ShapeDtypeStruct((3,), "float32")
        abstract = s.mod.filter_eval_shape(s.model)
        return s.mod.filter_eval_shape(
            lambda m, x, n, *, k: {"out": m(x) * n, "n": n, "k": k, "x": x},
            *(abstract, struct, 2),
            k="text",
        )

    _same(program)


def test_the_function_may_be_an_abstract_model():
    def program(s):
        abstract = s.mod.filter_eval_shape(s.model)
        return s.mod.filter_eval_shape(abstract, draw(3))

    _same(program)


def test_nothing_is_computed():
    huge = imprint.ShapeDtypeStruct((1 << 20, 1 << 20), "float32")
    out = filter_eval_shape(lambda x: (x @ x, "text"), huge)
    assert out == (huge, "text")


# ---- filter_closure_convert ----


def _captures(np_, weights):
    vector, scalar = np_.asarray(weights), np_.asarray(2.5)
    return lambda x, *, n=1: {
        "out": np_.sin(vector * x) * scalar + n,
        "n": n,
        "s": "text",
    }


def test_captured_values_become_leaves():
    ours = filter_closure_convert(_captures(inp, draw(3)), inp.ones(3), n=2)
    theirs = equinox.filter_closure_convert(_captures(jnp, draw(3)), jnp.ones(3), n=2)
    mine = [np.asarray(x) for x in tree.leaves(ours)]
    wanted = [np.asarray(x) for x in jax.tree.leaves(theirs) if equinox.is_array(x)]
    assert len(mine) == 2
    for a, b in zip(mine, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    x = draw(3) + 1
    result, expected = ours(inp.asarray(x), n=2), theirs(jnp.asarray(x), n=2)
    np.testing.assert_allclose(result["out"], expected["out"], rtol=1e-6)
    assert (result["n"], result["s"]) == (expected["n"], expected["s"]) == (2, "text")


def test_it_is_traced_once():
    traces = []

    def f(x):
        traces.append(1)
        return x + 1

    converted = filter_closure_convert(f, imprint.ShapeDtypeStruct((2,), "float32"))
    for _ in range(3):
        np.testing.assert_array_equal(converted(np.ones(2, "float32")), [2, 2])
    assert len(traces) == 1


def test_a_tracer_that_was_captured_is_differentiated():
    def loss(w):
        converted = filter_closure_convert(lambda x: w * x**2, inp.ones(2))
        assert len(tree.leaves(converted)) == 1
        return converted(inp.asarray([2.0, 3.0])).sum()

    np.testing.assert_array_equal(imprint.grad(loss)(inp.ones(2)), [4, 9])
    np.testing.assert_array_equal(imprint.jit(imprint.grad(loss))(inp.ones(2)), [4, 9])
    np.testing.assert_array_equal(imprint.grad(loss)(2.0), 13)


def test_it_is_a_pytree_that_transforms_take():
    weights = inp.asarray(draw(3))
    converted = filter_closure_convert(lambda x: (weights * x).sum(), inp.ones(3))
    x = inp.asarray(draw(3) + 1)
    grads = filter_grad(lambda f: f(x))(converted)
    np.testing.assert_array_equal(tree.leaves(grads)[0], x)
    jitted = imprint.jit(lambda f, y: f(y))
    np.testing.assert_allclose(jitted(converted, x), converted(x), rtol=1e-6)
    doubled = tree.map(lambda w: 2 * w, converted)
    np.testing.assert_allclose(jitted(doubled, x), 2 * converted(x), rtol=1e-6)
    assert jitted._cache_size() == 1
    mapped = filter_vmap(converted)(inp.ones((4, 3)))
    np.testing.assert_allclose(mapped, np.full(4, draw(3).sum()), rtol=1e-5)
    np.testing.assert_allclose(imprint.jit(converted)(x), converted(x), rtol=1e-6)


def test_two_conversions_are_two_functions():
    first = filter_closure_convert(lambda x: x + 1, inp.ones(2))
    second = filter_closure_convert(lambda x: x - 1, inp.ones(2))
    assert tree.structure(first) != tree.structure(second)
    run = imprint.jit(lambda f, x: f(x))
    assert float(run(first, inp.ones(2))[0]) == 2
    assert float(run(second, inp.ones(2))[0]) == 0
    assert float(imprint.jit(first)(inp.ones(2))[0]) == 2
    assert float(imprint.jit(second)(inp.ones(2))[0]) == 0


def test_a_model_is_converted():
    converted = filter_closure_convert(OURS.model(), draw(3))
    np.testing.assert_allclose(converted(draw(3)), OURS.model()(draw(3)), rtol=1e-6)
    assert isinstance(converted, Module)
    assert all(is_array(x) for x in tree.leaves(converted))


def test_a_weak_type_of_an_argument_is_no_difference():
    converted = filter_closure_convert(lambda x: x + 1, inp.asarray(1.0))
    assert float(converted(np.float32(2))) == 3
    converted = filter_closure_convert(lambda x: x + 1, np.float32(1))
    assert float(converted(inp.asarray(2.0))) == 3


# ---- errors ----


def _example(x, n=1):
    return x["a"] * n


CONVERTED = filter_closure_convert(_example, {"a": inp.ones(2)}, 2)


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        (
            ({"a": inp.ones(3)}, 2),
            ArgumentError,
            "_example: expected float32[2] as argument 0['a'], as when it was converted, "
            "got float32[3]. Convert it again for other arrays.",
        ),
        (
            ({"a": inp.arange(2)}, 2),
            ArgumentError,
            "_example: expected float32[2] as argument 0['a'], as when it was converted, "
            "got int32[2]. Convert it again for other arrays.",
        ),
        (
            ({"a": inp.ones(2)}, 2.0),
            ArgumentError,
            "_example: expected what is no array as when it was converted, "
            "(({'a': None}, 2), {}), got (({'a': None}, 2.0), {}). Convert it again for "
            "other values.",
        ),
        (
            ({"b": inp.ones(2)}, 2),
            TreeError,
            "_example: expected a dict with keys {'a'} at [1][0], got a dict with keys "
            "{'b'}. Pass trees that have the structure of the first.",
        ),
    ],
)
def test_a_call_of_another_kind_is_refused(args, error, text):
    with pytest.raises(error) as caught:
        CONVERTED(*args)
    assert str(caught.value) == text


def test_values_that_python_calls_equal_are_distinguished():
    ours = filter_closure_convert(lambda x, n: x * n, inp.arange(2), 2)
    scale = jnp.arange(2)
    theirs = equinox.filter_closure_convert(
        lambda x, n: x * n + 0 * scale, jnp.arange(2), 2
    )
    assert theirs(jnp.arange(2), 2.0).dtype == "int32"  # should be float32
    with pytest.raises(ArgumentError, match=r"got \(\(None, 2.0\), \{\}\)"):
        ours(inp.arange(2), 2.0)


@pytest.mark.parametrize("function", [filter_eval_shape, filter_closure_convert])
def test_objects_that_are_no_functions_are_refused(function):
    with pytest.raises(ArgumentError, match="expected a function, got 3 of type int"):
        function(3)
