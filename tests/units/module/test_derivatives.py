import functools

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import tree
from imprint.errors import ArgumentError, NotDifferentiableError, TreeError
from imprint.module import (
    Module,
    filter_grad,
    filter_jvp,
    filter_value_and_grad,
    filter_vjp,
)
from tests.units.module.equinox_parity import OURS, agree, draw


def _loss(model, x, y=1.0):
    return ((model(x) - y) ** 2).sum()


# ---- gradients ----


@pytest.mark.slow
def test_filter_grad_of_a_model():
    agree(lambda s: s.mod.filter_grad(_loss)(s.model(), draw(3)))
    agree(lambda s: s.mod.filter_grad(_loss)(s.model(), draw(3), y=0.5))


@pytest.mark.slow
def test_filter_value_and_grad_of_a_model():
    agree(lambda s: s.mod.filter_value_and_grad(_loss)(s.model(), draw(3)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["filter_grad", "filter_value_and_grad"])
def test_aux_may_be_anything(name):
    def program(s):
        def loss(model, x):
            out = model(x)
            return out.sum(), {"out": out, "name": model.name, "n": 3, "same": x}

        return getattr(s.mod, name)(loss, has_aux=True)(s.model(), draw(3))

    agree(program)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["filter_grad", "filter_value_and_grad"])
def test_the_first_argument_may_be_any_tree(name):
    tree_of = lambda s: {
        "array": s.np.asarray(draw(3)),
        "host": draw(3),
        "ints": s.np.arange(3),
        "python": 2.0,
        "text": "text",
        "none": None,
    }

    def program(s):
        loss = lambda t, k: (t["array"] * t["host"] * t["python"] * k).sum()
        return getattr(s.mod, name)(loss)(tree_of(s), 3)

    agree(program)


@pytest.mark.slow
def test_several_arguments_are_differentiated_as_one_tuple():
    agree(
        lambda s: s.mod.filter_grad(lambda xy: (xy[0] * xy[1]).sum())(
            (s.np.asarray(draw(2)), s.np.asarray(draw(2) + 1))
        )
    )


def test_nothing_to_differentiate_gives_none_everywhere():
    agree(lambda s: s.mod.filter_grad(lambda t: 2.0)({"a": 1, "b": "text"}))
    assert filter_grad(lambda t: 2.0)({"a": 1, "b": "text"}) == {"a": None, "b": None}


@pytest.mark.slow
def test_options_of_grad_are_passed_on():
    def program(s):
        z = s.np.asarray(draw(2) + 1j * draw(2))
        return s.mod.filter_grad(lambda x: (x**2).sum(), holomorphic=True)(z)

    agree(program)


@pytest.mark.parametrize("name", ["filter_grad", "filter_value_and_grad"])
def test_it_decorates_functions_and_methods(name):
    transform = getattr(OURS.mod, name)

    @transform
    def bare(x):
        """Square and sum."""
        return (x**2).sum()

    @transform(has_aux=True)
    def with_options(x):
        return (x**2).sum(), "aux"

    class Plain:
        @transform
        def method(self, x):
            return (self.scale * x).sum()

    class Square(Module):
        w: imprint.Array

        @transform
        def loss(self, x):
            return (self.w * x).sum()

    x = inp.ones(2)
    plain = Plain()
    plain.scale = 3.0
    pick = (
        (lambda out: out[1]) if name == "filter_value_and_grad" else (lambda out: out)
    )
    np.testing.assert_array_equal(pick(bare(x)), [2, 2])
    assert with_options(x)[name == "filter_grad"] is not None
    assert pick(plain.method(x)) is None  # self is the first argument, and no array
    np.testing.assert_array_equal(pick(Square(x).loss(3 * x)).w, [3, 3])
    assert bare.__name__ == "bare"
    assert bare.__wrapped__.__doc__ == "Square and sum."


def test_a_wrapped_model_has_the_leaves_of_the_model():
    model = OURS.model()
    wrapped = filter_grad(model)
    assert len(tree.leaves(wrapped)) == len(tree.leaves(model))
    assert len(tree.leaves(filter_grad(lambda x: x))) == 1


# ---- products with the Jacobian ----


@pytest.mark.slow
def test_filter_jvp_moves_leaves_with_tangents():
    def program(s):
        x, y = s.np.asarray(draw(2)), s.np.asarray(draw(2) + 1)

        def f(x, y, n, *, k):
            still = y * 2
            return {"moved": x * y * k, "still": still, "n": n, "text": "text"}

        return s.mod.filter_jvp(f, (x, y, 3), (s.np.ones(2), None, None), k=2.0)

    agree(program)


@pytest.mark.slow
def test_filter_jvp_of_a_model():
    def program(s):
        model = s.model()
        tangent = s.mod.filter(model, s.mod.is_inexact_array)
        return s.mod.filter_jvp(lambda m, x: m(x), (model, draw(3)), (tangent, None))

    agree(program)


@pytest.mark.slow
def test_filter_jvp_of_python_numbers():
    agree(lambda s: s.mod.filter_jvp(lambda x, n: (x**n, n), [3.0, 2], [1.0, None]))


@pytest.mark.slow
def test_filter_jvp_inside_of_itself():
    def program(s):
        def inner(x):
            return s.mod.filter_jvp(lambda y, z: (y * z, z), (x, x), (x * 2, None))

        x = s.np.asarray(draw(3))
        return s.mod.filter_jvp(inner, (x,), (x + 1,))

    agree(program)


@pytest.mark.slow
def test_filter_jvp_inside_of_another_transform():
    def program(s):
        def inner(x):
            out, tangent = s.mod.filter_jvp(
                lambda y, z: (y * z, z), (x, x), (x * 2, None)
            )
            assert tangent[1] is None
            return (out[0] * tangent[0]).sum()

        return s.api.grad(inner)(s.np.asarray(draw(3)))

    agree(program)


@pytest.mark.slow
@pytest.mark.parametrize("has_aux", [False, True])
def test_filter_vjp_of_a_model(has_aux):
    def program(s):
        model = s.model()

        def f(m, x, n):
            out = {"out": m(x) * n, "name": m.name, "steps": m.steps}
            return (out, {"aux": x, "n": n, "f": "text"}) if has_aux else out

        out, pullback, *aux = s.mod.filter_vjp(f, model, draw(3), 2, has_aux=has_aux)
        cotangent = {"out": s.np.ones(2), "name": None, "steps": None}
        return out, pullback(cotangent), aux

    agree(program)


def test_a_pullback_can_be_used_again_and_traced():
    out, pullback = filter_vjp(lambda x, n: x**n, inp.asarray(draw(3)), 2)
    first = pullback(inp.ones(3))
    mapped = imprint.vmap(lambda ct: pullback(ct)[0])(inp.ones((4, 3)))
    assert first[1] is None
    np.testing.assert_array_equal(mapped, np.stack([first[0]] * 4))
    np.testing.assert_allclose(first[0], 2 * draw(3), rtol=1e-6)
    np.testing.assert_allclose(out, draw(3) ** 2, rtol=1e-6)


# ---- compositions ----


def _jitted(s, f):
    """Return a function whose arrays go through `jit`."""

    def call(w, x):
        arrays, rest = s.mod.partition(w, s.mod.is_array)
        return s.api.jit(lambda arrays, x: f(s.mod.combine(arrays, rest), x))(arrays, x)

    return call


PAIRS = {
    "jit_of_grad": lambda s, f: _jitted(s, s.mod.filter_grad(f)),
    "grad_of_jit": lambda s, f: s.mod.filter_grad(
        lambda w, x: s.api.jit(lambda x: f(w, x))(x)
    ),
    "grad_of_grad": lambda s, f: s.mod.filter_grad(
        lambda w, x: (s.mod.filter_grad(f)(w, x)[0][0] ** 2).sum()
    ),
    "vmap_of_grad": lambda s, f: (
        lambda w, x: s.mod.filter_vmap(s.mod.filter_grad(f), in_axes=(None, 0))(
            w, np.stack([x, 2 * x])
        )
    ),
    "grad_of_vmap": lambda s, f: s.mod.filter_grad(
        lambda w, x: s.mod.filter_vmap(f, in_axes=(None, 0))(w, np.stack([x, x])).sum()
    ),
    "jvp_of_grad": lambda s, f: (
        lambda w, x: s.mod.filter_jvp(
            s.mod.filter_grad(f),
            (w, x),
            (s.mod.filter(w, s.mod.is_inexact_array), None),
        )
    ),
    "vjp_of_grad": lambda s, f: (
        lambda w, x: s.mod.filter_vjp(s.mod.filter_grad(f), w, x)[0]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_compositions(pair):
    def program(s):
        weights = [(s.np.asarray(draw(4, 3)), s.np.tanh), ("text", 2)]

        def f(w, x):
            return (w[0][1](w[0][0] @ x) ** w[1][1]).sum()

        return PAIRS[pair](s, f)(weights, draw(3))

    agree(program)


def test_a_recreated_gradient_is_traced_once():
    traces = []

    def make():
        def loss(m, x):
            traces.append(1)
            return (m["w"] * x).sum()

        return loss

    for scale in (1.0, 2.0, 3.0):
        grads = imprint.jit(filter_grad(make()))(
            {"w": inp.ones(2)}, scale * inp.ones(2)
        )
        np.testing.assert_array_equal(grads["w"], [scale, scale])
    assert len(traces) == 1


# ---- errors ----


@pytest.mark.parametrize("transform", [filter_grad, filter_value_and_grad])
def test_argnums_are_refused(transform):
    with pytest.raises(ArgumentError) as caught:
        transform(lambda x: x, argnums=1)
    assert str(caught.value) == (
        "filter_grad: expected no argnums, got 1: the first argument is differentiated. "
        "Pass several as one tuple."
    )


def test_an_unknown_option_raises_at_once():
    with pytest.raises(ArgumentError) as caught:
        filter_grad(lambda x: x, hasaux=True)
    assert str(caught.value) == (
        "filter_grad: expected options among has_aux, holomorphic, allow_int, got hasaux. "
        "Did you mean 'has_aux'? Keywords of the function belong to the call."
    )


@pytest.mark.parametrize(
    ("kwargs", "came"),
    [({}, "no argument"), ({"x": 1, "y": 2}, "only the keywords x, y")],
)
def test_the_first_argument_is_positional(kwargs, came):
    def loss(x=0, y=0):
        return x + y

    with pytest.raises(ArgumentError) as caught:
        filter_grad(loss)(**kwargs)
    assert str(caught.value) == (
        "filter_grad(loss): expected a first argument by position, which is "
        f"differentiated, got {came}."
    )


def test_a_leaf_is_named_by_its_path():
    with pytest.raises(NotDifferentiableError) as caught:
        filter_grad(lambda m: m["w"][0].sum(), holomorphic=True)({"w": [inp.ones(2)]})
    assert str(caught.value) == (
        "grad(<lambda>, holomorphic=True): expected complex inputs, got float32[2] as "
        "argument 0['w'][0]. Convert it, or leave holomorphic out."
    )


def test_the_gradient_of_a_complex_leaf_is_that_of_equinox():
    leaf = np.array([1 + 2j, 3 - 1j], "complex64")

    def loss(model):
        return (abs(model["w"] ** 2)).sum()

    agree(lambda s: s.mod.filter_grad(loss)({"w": s.np.asarray(leaf)}))


def test_has_aux_needs_a_pair():
    def loss(x):
        return x.sum()

    for transform in (
        functools.partial(filter_grad(loss, has_aux=True), inp.ones(2)),
        functools.partial(filter_vjp, loss, inp.ones(2), has_aux=True),
    ):
        with pytest.raises(ArgumentError) as caught:
            transform()
        assert str(caught.value).endswith(
            "loss with has_aux=True: expected a pair (result, aux), got LinearizeTracer. "
            "Return exactly two things."
        )


def test_tangents_have_the_structure_of_the_primals():
    with pytest.raises(TreeError) as caught:
        filter_jvp(lambda x, y: x, (1.0, [2.0]), (1.0, [None, None]))
    assert str(caught.value) == (
        "filter_jvp tangents: expected a list of length 1 at [1], got a list of length "
        "2. Pass trees that have the structure of the first."
    )


@pytest.mark.parametrize(
    "transform",
    [
        filter_grad,
        lambda f: filter_jvp(f, (1.0,), (1.0,)),
        lambda f: filter_vjp(f, 1.0),
    ],
)
def test_objects_that_are_no_functions_are_refused(transform):
    with pytest.raises(ArgumentError, match="expected a function, got 3 of type int"):
        transform(3)
