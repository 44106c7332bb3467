"""A method of a module is a node; in all else it is a method."""

import abc
import copy
import inspect
import pickle
from types import FunctionType

import equinox as eqx
import jax
import numpy
import pytest

import imprint
import imprint.numpy as np
from imprint import tree
from imprint.module import BoundMethod, Module, tree_pformat
from tests.units.module.models import Linear, Pair

FACTOR = 2.0


class Scale(Module):
    """Has methods of every kind."""

    factor: object

    def apply(self, x, *, twice=False):
        """Scale `x`."""
        return self.factor * x * (2 if twice else 1)

    @imprint.jit
    def compiled(self, x):
        return self.factor * x

    @imprint.jit
    def __call__(self, x):
        return self.factor * x

    def by_global(self, x):
        return self.factor * x * FACTOR


class Shifted(Scale):
    def apply(self, x):
        return super().apply(x) + 1


def test_a_method_is_a_node_whose_child_is_the_module():
    model = Linear(2)
    leaves, treedef = tree.flatten(model.loss)
    assert leaves[0] is model.weight
    assert [tree.keystr(path) for path in treedef.paths()] == [
        ".__self__.weight",
        ".__self__.bias",
    ]
    again = tree.unflatten(treedef, leaves)
    assert type(again) is BoundMethod
    assert again == model.loss


def test_its_paths_are_those_of_equinox():
    class Theirs(eqx.Module):
        factor: object

        def apply(self):
            pass

    ((path, _),) = jax.tree_util.tree_flatten_with_path(Theirs(1).apply)[0]
    ((ours, _),) = tree.flatten_with_path(Scale(1).apply)[0]
    assert tree.keystr(ours) == jax.tree_util.keystr(path)


def test_a_method_can_be_called_mapped_and_compared():
    apply = Scale(2.0).apply
    assert apply(3.0) == 6.0
    assert apply(3.0, twice=True) == 12.0
    assert tree.map(lambda x: x + 1, apply)(3.0) == 9.0
    assert apply == Scale(2.0).apply
    assert hash(apply) == hash(Scale(2.0).apply)
    assert apply != Scale(3.0).apply
    assert apply != Scale(2.0).by_global
    assert apply != 1


def test_a_method_looks_like_one():
    apply = Scale(2.0).apply
    assert apply.__name__ == "apply"
    assert str(inspect.signature(apply)) == "(x, *, twice=False)"
    assert repr(apply) == "<bound method Scale.apply of Scale(factor=2.0)>"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = apply.nothing


def test_decorated_methods_look_and_copy_like_methods():
    class Model(Module):
        factor: float

        @imprint.jit
        def jitted(self, x):
            return self.factor * x

        @imprint.filter_jit
        def filtered(self, x):
            return self.factor * x

        @imprint.filter_grad
        def slope(self, x):
            return self.factor * x

    model = Model(np.array(2.0))
    for method in (model.jitted, model.filtered, imprint.filter_jit(model.filtered)):
        assert copy.deepcopy(method)(3.0) == copy.copy(method)(3.0) == 6.0
        assert str(inspect.signature(method)) == "(x)"
    assert copy.deepcopy(model.slope)(3.0).factor == 3.0
    assert repr(model.slope) == "<bound method slope of Model(factor=weak_f32[])>"
    assert tree_pformat(model.slope) == repr(model.slope)


def test_the_class_still_holds_functions():
    assert type(Scale.apply) is FunctionType
    assert Scale.apply(Scale(2.0), 3.0) == 6.0
    assert inspect.getdoc(Scale.apply) == "Scale `x`."
    assert Shifted(2.0).apply(3.0) == 7.0


def test_methods_survive_a_pickle():
    again = pickle.loads(pickle.dumps(Scale(2.0).apply))
    assert again(3.0) == 6.0


def test_methods_go_through_transforms():
    model, x = Linear(2), np.arange(2.0)
    assert float(imprint.jit(model.loss)(x)) == 1.0
    numpy.testing.assert_allclose(imprint.grad(model.loss)(x), [0, 2])
    assert imprint.vmap(model.loss)(np.ones((3, 2))).shape == (3,)
    through = imprint.jit(lambda method, x: method(x))
    assert float(through(model.loss, x)) == 1.0
    assert float(through(Linear(2).loss, x)) == 1.0
    assert len(through.versions) == 1


def test_a_jitted_method_in_the_body_traces_the_module():
    class Counted(Module):
        factor: object

        @imprint.jit
        def apply(self, x):
            traces.append(None)
            return self.factor * x

        @imprint.jit
        def __call__(self, x):
            traces.append(None)
            return self.factor * x

    traces = []
    assert [float(Counted(k).apply(3.0)) for k in (1.0, 2.0)] == [3.0, 6.0]
    assert len(traces) == 1
    assert [float(Counted(k)(3.0)) for k in (1.0, 2.0)] == [3.0, 6.0]
    assert len(traces) == 2
    assert isinstance(Counted(1.0).apply, BoundMethod)


def test_methods_of_equal_modules_share_versions():
    class Counted(Module):
        factor: object

        def apply(self, x):
            traces.append(None)
            return self.factor * x

    traces = []
    factor = np.ones(2)
    for _ in range(3):
        imprint.jit(Counted(factor).apply)(2.0)
    assert len(traces) == 1
    imprint.jit(Counted(np.ones(2)).apply)(2.0)
    assert len(traces) <= 2
    assert imprint.jit(Counted(np.zeros(2)).apply)(2.0).tolist() == [0, 0]
    assert len(traces) <= 3


def test_a_method_that_is_replaced_is_traced_again(monkeypatch):
    f = imprint.jit(lambda m, x: m.apply(x))
    assert float(f(Scale(2.0), 3.0)) == 6.0
    monkeypatch.setattr(Scale, "apply", lambda self, x: self.factor + x)
    assert float(f(Scale(2.0), 3.0)) == 5.0


def test_a_global_that_a_method_reads_is_watched(monkeypatch):
    f = imprint.jit(Scale(2.0).by_global)
    g = imprint.jit(lambda m, x: m.by_global(x))
    assert (float(f(3.0)), float(g(Scale(2.0), 3.0))) == (12.0, 12.0)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert (float(f(3.0)), float(g(Scale(2.0), 3.0))) == (18.0, 18.0)


def test_fields_that_hold_functions_are_no_methods():
    class Activated(Module):
        activation: object = abs

        def __init__(self, activation=abs):
            self.activation = activation

    def negate(x):
        return -x

    class Defaulted(Module):
        activation: object = lambda x: x

    assert type(Defaulted().activation) is FunctionType
    assert Activated().activation is abs
    assert Activated(negate).activation is negate
    assert Activated(negate).activation(1) == -1
    assert tree.leaves(Activated(negate)) == [negate]


def test_abstract_methods_stay_abstract_and_can_be_extended():
    class Base(Module):
        @abc.abstractmethod
        def apply(self, x):
            return x + 1

    class Child(Base):
        def apply(self, x):
            return super().apply(x) * 2

    assert Child().apply(1) == 4
    assert Base.__abstractmethods__ == {"apply"}


def test_a_module_in_a_module_keeps_its_method():
    kept = Pair(Scale(2.0).apply)
    assert tree.leaves(kept) == [2.0]
    assert kept.first(3.0) == 6.0


def test_a_function_that_is_set_on_the_class_later_is_a_method():
    class Later(Module):
        factor: object

    Later.apply = lambda self, x: self.factor * x
    Later.factor_of = staticmethod(lambda: 1.0)
    assert tree.leaves(Later(2.0).apply) == [2.0]
    assert Later(2.0).apply(3.0) == 6.0
    assert Later(2.0).factor_of() == 1.0
    Later.apply = Later.apply  # what the class returns may be set again
    assert tree.leaves(Later(2.0).apply) == [2.0]
