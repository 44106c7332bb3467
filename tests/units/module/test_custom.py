"""`filter_custom_jvp`, `filter_custom_vjp` and `filter_checkpoint` compared with Equinox's."""

import equinox
import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import NotDifferentiableError, TreeError, UndefinedRuleError
from imprint.module import filter_checkpoint, filter_custom_jvp, filter_custom_vjp
from tests.units.module.equinox_parity import OURS, THEIRS, agree

X = np.linspace(0.2, 1.0, 3, dtype=np.float32)


def by_jvp(side):
    @side.mod.filter_custom_jvp
    def call(x, y, *, fn):
        return {"a": fn(x, y), "b": (x * y).sum()}

    @call.def_jvp
    def rule(primals, tangents, *, fn):
        (x, y), (tx, ty) = primals, tangents
        assert ty is None
        out = call(x, y, fn=fn)
        return out, {"a": 2 * tx * y, "b": None}

    def loss(x, y):
        out = call(x, y, fn=side.np.multiply)
        return (out["a"] ** 2).sum() + out["b"]

    return loss


def by_vjp(side):
    @side.mod.filter_custom_vjp
    def call(model, y, *, power):
        return {"out": (model(y) * power), "power": power, "count": side.np.arange(2)}

    @call.def_fwd
    def fwd(perturbed, model, y, *, power):
        assert perturbed.layers[0] == (True, True)
        assert perturbed.steps is False
        return call(model, y, power=power), {"y": y, "name": "residual"}

    @call.def_bwd
    def bwd(residuals, cts, perturbed, model, y, *, power):
        assert residuals["name"] == "residual"
        assert (cts["power"], cts["count"]) == (None, None)
        moving = side.mod.filter(model, side.mod.is_inexact_array)
        tree_map = side.tree_map
        return tree_map(lambda w: w * cts["out"].sum() * 7.0, moving)

    def loss(model, y):
        out = call(model, y, power=3.0)
        return (out["out"] ** 2).sum() * out["power"]

    return loss


def by_checkpoint(side):
    def loss(model, y):
        run = side.mod.filter_checkpoint(model)
        options = {"policy": side.api.checkpoint_policies.dots_saveable}
        other = side.mod.filter_checkpoint(**options)(lambda m, y: (m(y), m.name))
        out, name = other(model, y)
        assert name == "small"
        return (run(y) * out).sum()

    return loss


for one, library in ((OURS, imprint), (THEIRS, equinox)):
    one.jit = library.filter_jit
    one.tree_map = imprint.tree.map if one is OURS else jax.tree.map

WAYS = {
    "value": lambda side, loss, *args: loss(*args),
    "grad": lambda side, loss, *args: side.mod.filter_grad(loss)(*args),
    "jit of grad": lambda side, loss, *args: side.jit(side.mod.filter_grad(loss))(
        *args
    ),
    "grad of jit": lambda side, loss, *args: side.mod.filter_grad(side.jit(loss))(
        *args
    ),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("define", [by_jvp, by_vjp, by_checkpoint])
def test_a_function_of_models_has_the_derivative_that_it_has_with_equinox(define, way):
    def program(side):
        first = side.np.asarray(X) if define is by_jvp else side.model()
        return way(side, define(side), first, side.np.asarray(X))

    agree(program)


def test_other_arguments_are_not_differentiated():
    f = filter_custom_vjp(lambda x, y: x * y)
    f.def_fwd(lambda perturbed, x, y: (x * y, None))
    f.def_bwd(lambda res, ct, perturbed, x, y: ct)
    with pytest.raises(NotDifferentiableError, match="Pack what is differentiated"):
        imprint.grad(f, argnums=1)(1.0 * inp.ones(()), inp.ones(()))

    g = filter_custom_jvp(lambda x, *, y: x * y)
    g.def_jvp(lambda p, t, *, y: (p[0] * y, t[0]))
    with pytest.raises(NotDifferentiableError, match="by position"):
        imprint.grad(lambda y: g(inp.ones(()), y=y))(inp.ones(()))


def test_a_cotangent_of_another_structure_is_refused_as_by_equinox():
    for lib in (imprint, equinox):
        f = lib.filter_custom_vjp(lambda x: x["a"] * 2.0)
        f.def_fwd(lambda perturbed, x: (x["a"] * 2.0, None))
        f.def_bwd(lambda res, ct, perturbed, x: ct)
        np_ = inp if lib is imprint else jax.numpy
        error = TreeError if lib is imprint else RuntimeError
        with pytest.raises(error, match="structure"):
            lib.filter_grad(f)({"a": np_.ones(())})


def test_half_a_rule_is_none():
    f = filter_custom_vjp(lambda x: x)
    f.def_fwd(lambda perturbed, x: (x, None))
    with pytest.raises(UndefinedRuleError, match="got no bwd"):
        f(1.0)


@pytest.mark.parametrize("make", ["jvp", "vjp"])
def test_an_edit_of_a_rule_is_seen(make):
    if make == "jvp":
        f = filter_custom_jvp(lambda x, fn: fn(x))

        def define(scale):
            f.def_jvp(lambda p, t: (f(*p), t[0] * scale))
    else:
        f = filter_custom_vjp(lambda x, fn: fn(x))
        f.def_fwd(lambda perturbed, x, fn: (f(x, fn), None))

        def define(scale):
            f.def_bwd(lambda res, ct, perturbed, x, fn: ct * scale)

    define(2.0)
    derivative = imprint.grad(imprint.jit(lambda x: f(x, inp.sin)))
    assert derivative(1.0) == 2.0
    define(3.0)
    assert derivative(1.0) == 3.0


def test_a_checkpointed_model_is_a_tree():
    model = filter_checkpoint(OURS.model())
    assert len(imprint.tree.leaves(model)) == len(imprint.tree.leaves(OURS.model()))
    assert model.__wrapped__.name == "small"


def test_each_backward_pass_has_the_marks_of_its_forward_pass():
    f = filter_custom_vjp(lambda d: d["a"] * d["b"])
    f.def_fwd(lambda perturbed, d: (d["a"] * d["b"], d))
    seen = []

    @f.def_bwd
    def bwd(d, ct, perturbed, _):
        seen.append(perturbed)
        return {"a": ct * d["b"], "b": ct * d["a"]}

    one = inp.ones(())
    both = imprint.jit(lambda a, b: f({"a": a, "b": b}))
    _, first = imprint.vjp(lambda a: both(a, one), one)
    _, second = imprint.vjp(lambda b: both(one, b), one)
    first(one)
    second(one)
    assert seen == [{"a": True, "b": False}, {"a": False, "b": True}]
