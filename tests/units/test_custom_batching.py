"""`custom_vmap` as in JAX: use of the rule, its arguments and its results."""

import importlib

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.custom_batching import custom_vmap, sequential_vmap
from imprint.errors import ArgumentError, TreeError
from tests.oracle import jax
from tests.tolerances import assert_close

THREE = np.float32([1, 2, 3])


def module_of(api):
    return importlib.import_module(f"{api.__name__}.custom_batching")


def weighted(api, calls):
    """Return a function whose rule has another result than the function."""

    @module_of(api).custom_vmap
    def f(x, y):
        return {"a": api.numpy.sin(x) * y, "b": y * 1.0}

    @f.def_vmap
    def rule(axis_size, in_batched, x, y):
        calls.append((axis_size, in_batched))
        on_x, on_y = in_batched
        out = {"a": api.numpy.sin(x) * y * 10, "b": y + 1.0}
        return out, {"a": on_x or on_y, "b": on_y}

    return f


PROGRAMS = {
    "a plain call": lambda api, f: f(2.0, THREE),
    "by name": lambda api, f: api.vmap(lambda x: f(y=x, x=1.0))(THREE),
    "both": lambda api, f: api.vmap(f)(THREE, THREE),
    "one": lambda api, f: api.vmap(f, (0, None))(THREE, 2.0),
    "none": lambda api, f: api.vmap(lambda x: (x, f(2.0, THREE)))(THREE),
    "along other axes": lambda api, f: api.vmap(f, (None, 1), out_axes=1)(
        2.0, np.ones((2, 3), "float32")
    ),
    "twice": lambda api, f: api.vmap(api.vmap(f, (0, None)), (None, 0))(THREE, THREE),
    "around jit": lambda api, f: api.vmap(api.jit(f))(THREE, THREE),
    "in jit": lambda api, f: api.jit(api.vmap(f))(THREE, THREE),
    "in a loop": lambda api, f: api.vmap(
        lambda x: api.lax.fori_loop(0, 2, lambda _, c: f(c, x)["a"], x)
    )(THREE),
    "jvp": lambda api, f: api.jvp(f, (2.0, 3.0), (1.0, 1.0)),
    "jvp around": lambda api, f: api.jvp(api.vmap(f), (THREE, THREE), (THREE, THREE)),
    "jvp inside": lambda api, f: api.vmap(lambda x, t: api.jvp(f, (x, x), (t, t)))(
        THREE, THREE
    ),
    "grad around": lambda api, f: api.grad(lambda x: api.vmap(f)(x, x)["a"].sum())(
        THREE
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_rule_is_used_where_the_function_is_batched(name):
    ours, theirs = [], []
    got = PROGRAMS[name](imprint, weighted(imprint, ours))
    want = PROGRAMS[name](jax, weighted(jax, theirs))
    for x, y in zip(imprint.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert_close(x, y, "gradient")
    assert ours[:1] == theirs[:1]


MIXED = {
    "a tangent of a tangent": lambda f: imprint.vmap(
        lambda x, t: imprint.jvp(lambda y: imprint.jvp(f, (y, y), (t, t)), (x,), (t,))
    )(THREE, THREE),
    "tangents alone": lambda f: imprint.vmap(
        lambda t: imprint.jvp(f, (1.0, 2.0), (t, t))
    )(THREE),
    "primals alone": lambda f: imprint.vmap(
        lambda x: imprint.jvp(f, (x, x), (1.0, 1.0))
    )(THREE),
    "a primal without a tangent": lambda f: imprint.vmap(
        lambda x, t: imprint.jvp(lambda z: f(z, x), (x,), (t,))
    )(THREE, THREE),
}


@pytest.mark.parametrize("name", MIXED)
def test_where_a_tangent_is_batched_and_its_primal_is_not(name):
    """JAX calls the rule for the common part and batches it natively by the rest."""
    calls = []

    def f(x, y):
        return {"a": inp.sin(x) * y, "b": y * 1.0}

    @custom_vmap
    def own(x, y):
        return f(x, y)

    @own.def_vmap
    def rule(axis_size, in_batched, x, y):
        calls.append(in_batched)
        return f(x, y), {"a": any(in_batched), "b": in_batched[1]}

    got, want = MIXED[name](own), MIXED[name](f)
    for x, y in zip(imprint.tree.leaves(got), imprint.tree.leaves(want), strict=True):
        assert_close(x, y, "gradient")
    assert calls == [[True, True]] * len(calls) != []


def test_reverse_mode_uses_the_rule_for_values_and_the_function_for_cotangents():
    """JAX has none."""
    calls = []
    f = weighted(imprint, calls)
    assert_close(imprint.grad(lambda x: f(x, 3.0)["a"])(2.0), 3 * np.float32(np.cos(2)))
    assert calls == []
    value, gradient = imprint.vmap(
        imprint.value_and_grad(lambda x: f(x, np.float32(3))["a"])
    )(THREE)
    assert_close(value, 30 * np.sin(THREE), "gradient")
    assert_close(gradient, 3 * np.cos(THREE), "gradient")
    assert (3, [True, False]) in calls


def test_a_rule_that_is_replaced_is_another_program():
    @custom_vmap
    def f(x):
        return x * 2

    f.def_vmap(lambda size, batched, x: (x * 3, True))
    g = imprint.jit(lambda x: imprint.vmap(f)(x))
    assert g(THREE).tolist() == [3, 6, 9]
    f.def_vmap(lambda size, batched, x: (x * size * 4, True))
    assert g(THREE).tolist() == [12, 24, 36]
    assert f.vmap_rule is not None
    assert f.__name__ == "f"


def test_slices_in_sequence():
    def programs(api):
        f = module_of(api).sequential_vmap(lambda x, y: {"a": api.numpy.sin(x) * y})
        yield api.vmap(f, (0, None))(THREE, 2.0)
        yield api.vmap(f)(THREE, THREE)
        yield api.vmap(api.vmap(f, (0, None)), (None, 0))(THREE, THREE)
        yield api.jit(api.vmap(f))(THREE, THREE)
        yield api.jvp(api.vmap(f), (THREE, THREE), (THREE, THREE))

    for got, want in zip(programs(imprint), programs(jax), strict=True):
        for x, y in zip(imprint.tree.leaves(got), jax.tree.leaves(want), strict=True):
            assert_close(x, y, "gradient")
    f = sequential_vmap(inp.sin)
    assert "scan" in str(imprint.make_jaxpr(imprint.vmap(f))(THREE))
    gradient = imprint.grad(lambda x: imprint.vmap(f)(x).sum())(THREE)
    assert_close(gradient, np.cos(THREE), "gradient")


def test_a_function_without_a_rule():
    for api in (jax, imprint):
        with pytest.raises(AttributeError):
            module_of(api).custom_vmap(lambda x: x)(1.0)
    with pytest.raises(AttributeError) as caught:
        custom_vmap(abs)(1.0)
    assert str(caught.value) == (
        "custom_vmap(abs): expected a rule to be defined before the first call, got none. "
        "Define one: abs.def_vmap(rule)."
    )


@pytest.mark.parametrize(
    ("rule", "error", "text"),
    [
        (
            lambda size, batched, x: x,
            ArgumentError,
            "the rule of custom_vmap(f): expected a pair (result, which are batched), got "
            "ArrayImpl. Return exactly two things.",
        ),
        (
            lambda size, batched, x: ((x, x), (True, True)),
            TreeError,
            "the rule of custom_vmap(f): expected a result of structure PyTreeDef(*), as "
            "f returns, got PyTreeDef((*, *)). Return what f returns.",
        ),
        (
            lambda size, batched, x: (x, [True]),
            TreeError,
            "the rule of custom_vmap(f): expected a bool for each part of the result, of "
            "structure PyTreeDef(*), got PyTreeDef([*]). Return True where the mapped axis "
            "is in front.",
        ),
        (
            lambda size, batched, x: (x[:2], True),
            ArgumentError,
            "custom_vmap(f): expected its rule to return float32[3], as the function "
            "returns float32[], got float32[2]. Return what the function returns, with the "
            "mapped axis in front of what out_batched says is batched.",
        ),
        (
            lambda size, batched, x: (x, False),
            ArgumentError,
            "custom_vmap(f): expected its rule to return float32[], as the function "
            "returns float32[], got float32[3]. Return what the function returns, with the "
            "mapped axis in front of what out_batched says is batched.",
        ),
    ],
)
def test_a_rule_that_returns_something_else(rule, error, text):
    @custom_vmap
    def f(x):
        return x * 2

    f.def_vmap(rule)
    with pytest.raises(error) as caught:
        imprint.vmap(f)(THREE)
    assert str(caught.value) == text


def test_closed_over_values_may_not_be_batched():
    def mapped(z):
        f = custom_vmap(lambda x: x * z)
        f.def_vmap(lambda size, batched, x: (x, True))
        return f(2.0)

    with pytest.raises(imprint.errors.UnexpectedTracerError) as caught:
        imprint.vmap(mapped)(THREE)
    assert str(caught.value) == (
        "custom_vmap(<lambda>): expected to be batched by its arguments alone, got a "
        "batched value that it closes over. Its rule says nothing about such a value: "
        "pass it to <lambda> as an argument."
    )


def test_closed_over_values_may_be_traced_and_have_tangents():
    def outer(z):
        f = custom_vmap(lambda x, y: x * z * y)
        f.def_vmap(lambda size, batched, x, y: (x * z * y, True))
        both = imprint.jvp(lambda w: f(w, z), (z,), (2.0,))
        return f(THREE, z).sum() + imprint.vmap(f, (0, None))(THREE, z).sum() + both[1]

    want = imprint.grad(lambda z: 12 * z * z + 2 * z * z)(3.0)
    for g in (outer, imprint.jit(outer)):
        assert_close(imprint.grad(g)(3.0), want, "gradient")
        assert_close(imprint.jvp(g, (3.0,), (1.0,))[1], want, "gradient")
