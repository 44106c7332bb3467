"""Derived names of Equinox: Jacobians, programs, partials, checks."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import tree
from imprint.errors import TreeError
from imprint.module import Module, Partial
from tests.tolerances import assert_close
from tests.units.module.equinox_parity import OURS, THEIRS, agree

LATER = {
    *("EquinoxRuntimeError", "EquinoxTracetimeError", "StrictConfig"),
    *("filter_pmap", "filter_shard"),
    *("importlib", "internal", "module_update_wrapper", "static_field"),
}
"""What needs more than there is, what Equinox deprecates, and its own imports."""


def test_the_other_names_of_equinox_are_here():
    theirs = {name for name in dir(eqx) if name[0] != "_"}
    assert theirs - set(dir(imprint)) == LATER


@pytest.mark.parametrize("kind", ["filter_jacfwd", "filter_jacrev", "filter_hessian"])
def test_jacobians_of_models_as_equinox(kind):
    def program(side):
        def run(model, x):
            return model(x)

        return getattr(side.mod, kind)(run)(side.model(), side.np.ones(3))

    agree(program)


@pytest.mark.parametrize("kind", ["filter_jacfwd", "filter_jacrev", "filter_hessian"])
def test_auxiliary_data_of_jacobians_may_be_anything(kind):
    found = getattr(imprint, kind)(has_aux=True)(lambda x: (x * x, ("aux", x.sum())))
    jacobian, (text, total) = found(inp.ones(2))
    reference = getattr(jax, kind.removeprefix("filter_"))(lambda x: x * x)
    assert_close(jacobian, reference(jnp.ones(2)))
    assert (text, total) == ("aux", 2.0)


def test_make_jaxpr_of_anything_as_equinox():
    for side, lib in ((OURS, imprint), (THEIRS, eqx)):
        struct = side.api.ShapeDtypeStruct((2,), "float32")
        out = lib.filter_make_jaxpr(lambda x, n: {"y": x * 2, "n": n})(struct, "text")
        jaxpr, shapes, rest = out
        assert [str(v.aval.dtype) for v in jaxpr.jaxpr.invars] == ["float32"]
        assert (shapes["n"], shapes["y"].shape) == (None, (2,))
        assert rest == {"y": None, "n": "text"}


class Scale(Module):
    by: object

    def __call__(self, x, power=1):
        return (self.by * x) ** power


def test_a_partial_holds_a_model_and_arguments():
    scaled = Partial(Scale(inp.array(3.0)), inp.array(2.0), power=2)
    assert [float(x) for x in tree.leaves(scaled)] == [3.0, 2.0, 2.0]
    assert imprint.filter_jit(lambda f: f())(scaled) == 36.0
    grads = imprint.filter_grad(lambda f: f())(scaled)
    assert (grads.func.by, grads.args, grads.keywords) == (
        24.0,
        (36.0,),
        {"power": None},
    )
    theirs = eqx.Partial(max, 1, key=abs)
    ours = Partial(max, 1, key=abs)
    assert ours(-5) == theirs(-5)


def test_one_level():
    value = {"a": 3, "b": (1, [2])}
    children, treedef = imprint.tree_flatten_one_level(value)
    theirs, their_tree = eqx.tree_flatten_one_level(value)
    assert (children, str(treedef)) == (theirs, str(their_tree))
    assert imprint.tree_flatten_one_level(4)[0] == eqx.tree_flatten_one_level(4)[0]


def test_updates_are_applied_as_in_equinox():
    def program(side):
        params = {"w": side.np.ones(2), "b": [side.np.arange(3.0), "name"], "n": 3}
        updates = {"w": side.np.full(2, 0.5), "b": None, "n": None}
        return side.mod.apply_updates(params, updates)

    agree(program)
    assert imprint.apply_updates is imprint.optim.apply_updates


def shared(value):
    return [value, {"a": value}]


LOOP = []
LOOP.append([LOOP])


@pytest.mark.parametrize("value", [1, [], None, np.ones(1)])
def test_leaves_and_empty_nodes_may_occur_twice(value):
    imprint.tree_check(shared(value))
    eqx.tree_check(shared(value))


@pytest.mark.parametrize("tree_", [shared([1]), shared((1, 2)), LOOP], ids=str)
def test_a_node_at_two_places_is_named(tree_):
    with pytest.raises(ValueError, match=r".*"):
        eqx.tree_check(tree_)
    with pytest.raises(TreeError) as caught:
        imprint.tree_check(tree_)
    assert "expected each node at one place, got " in str(caught.value)


def test_the_message_of_a_shared_node():
    with pytest.raises(TreeError) as caught:
        imprint.tree_check(shared([1]))
    assert str(caught.value) == (
        "tree_check: expected each node at one place, got list at tree[0] and at "
        "tree[1]['a']. Make a copy for one of them."
    )
