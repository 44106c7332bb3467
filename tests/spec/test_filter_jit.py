"""`filter_jit`: traced arguments, static arguments, and results."""

import copy
import dataclasses
import enum
import functools
import gc
import pickle
import warnings
import weakref

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.filter_jit import filter_jit
from imprint.errors import ArgumentError, DTypeError
from imprint.module import Module, field
from tests.spec.work import Work, work_of


class Model(Module):
    weight: object
    activation: object
    power: int = 2

    def __call__(self, x):
        return self.activation(self.weight * x) ** self.power

    def loss(self, x):
        return self(x).sum()


@imprint.tree.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: object
    activation: object
    name: str = dataclasses.field(default="layer", metadata={"static": True})

    @filter_jit
    def step(self, x, scale=1):
        return self.activation(self.weight * x) * scale

    @filter_jit(donate="all")
    def update(self, x):
        return dataclasses.replace(self, weight=self.weight + x)


@filter_jit
def apply(model, x):
    return model(x)


@filter_jit
def module_function(x, k=1):
    return x * k


def double(x):
    return x * 2 + 0


# ---- static values ----

VALUES = {
    "int, float, bool": (2, 2.0, True),
    "zeros": (0.0, -0.0),
    "text and bytes": ("2", b"2"),
    "functions": (abs, double, lambda x: x * 3),
    "types": (int, float),
    "frozensets": (frozenset({1}), frozenset({1.0})),
}


@pytest.mark.unaudited
@pytest.mark.parametrize("name", VALUES)
def test_each_exact_value_is_a_version(name):
    seen = []
    f = filter_jit(lambda x, option: (seen.append(option), x + 1)[1])
    for option in VALUES[name] * 3:
        f(1.0, option)
    assert [*map(repr, seen)] == [*map(repr, VALUES[name])]
    assert f._cache_size() == len(VALUES[name])


def test_an_int_after_an_equal_float_is_an_int():
    def scaled(x, k):
        return x * k

    x = np.arange(3, dtype=np.int32)
    ours, theirs = filter_jit(scaled), eqx.filter_jit(scaled)
    # Equinox answers the int from the version of the float, imprint does not.
    assert [theirs(x, 2.0).dtype, theirs(x, 2).dtype] == ["float32", "float32"]
    assert [ours(x, 2.0).dtype, ours(x, 2).dtype] == ["float32", "int32"]


def test_arrays_of_either_kind_are_traced():
    f = filter_jit(lambda tree: tree["x"] + 1)
    x = np.ones(3, np.float32)
    for value in (inp.asarray(x), x, inp.asarray(x) * 2, x * 2, x[::-1]):
        assert np.array_equal(f({"x": value, "n": 3}), value + 1)
    assert f._cache_size() == 1
    assert f({"x": np.float32(2), "n": 3}) == 3
    assert f({"x": np.int32(2), "n": 3}) == 3
    assert f._cache_size() == 3


def test_host_and_device_arrays_may_take_turns():
    f = filter_jit(lambda model, x: model(x))
    host, device = np.ones(3, np.float32), inp.ones(3)
    for weight, x in [
        (host, device),
        (device, device),
        (device, host),
        (host, host),
    ] * 3:
        assert f(Model(weight, double), x).tolist() == [4, 4, 4]
    assert f._cache_size() == 1


def test_an_array_and_a_number_in_one_place_are_two_versions():
    f = filter_jit(lambda pair: pair[0] * pair[1])
    calls = [(inp.ones(()), 2), (2, inp.ones(())), (2, 2), (inp.ones(()), inp.ones(()))]
    for pair in calls * 3:
        f(pair)
    assert f._cache_size() == 4
    assert (f((2, 3)), type(f((2, 3)))) == (6, int)


def test_each_container_type_has_its_own_version():
    f = filter_jit(lambda tree: imprint.tree.leaves(tree)[0])
    x = inp.ones(2)
    trees = [(x, 1), [x, 1], (x, (1,)), (x, 1, None), (x, None, 1), {"a": x, "b": 1}]
    for tree in trees * 3:
        assert f(tree).tolist() == [1, 1]
    assert f._cache_size() == len(trees)


def test_a_leaf_may_become_a_container_and_back():
    f = filter_jit(lambda model, x: x + len(str(model.activation)))
    x = inp.ones(2)
    for activation in [7, [7], 77, None, inp.ones(3), (7,), {"a": 7}] * 3:
        expected = 1 + len(str(activation)) if not hasattr(activation, "aval") else None
        result = f(Model(x, activation), x)
        assert expected is None or result.tolist() == [expected] * 2
    assert f._cache_size() == 7


# ---- static values that change in place ----


def test_a_rebound_closure_variable_is_another_value():
    scale = 2.0

    def activation(x):
        return x * scale

    model, x = Model(inp.ones(1), activation, 1), inp.ones(1)
    for value in (2.0, 3.0, 2.0, 3.0):
        scale = value
        assert [apply(model, x).tolist() for _ in range(3)] == [[value]] * 3
    assert apply._cache_size() == 2


def test_replaced_code_and_defaults_are_seen():
    def activation(x, k=2.0):
        return x * k

    model, x = Model(inp.ones(1), activation, 1), inp.ones(1)
    assert [apply(model, x).tolist() for _ in range(3)] == [[2]] * 3
    activation.__defaults__ = (5.0,)
    assert apply(model, x).tolist() == [5]
    activation.__code__ = (lambda x, k: x - k).__code__
    assert apply(model, x).tolist() == [-4]


def test_a_changed_object_is_another_value():
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return x * self.k

    scale = Scale(2.0)
    model, x = Model(inp.ones(1), scale, 1), inp.ones(1)
    for k in (2.0, 3.0, 2.0):
        scale.k = k
        assert [apply(model, x).tolist() for _ in range(3)] == [[k]] * 3
    assert apply._cache_size() == 2


@pytest.mark.unaudited
def test_a_static_leaf_may_have_a_call_counter():
    class Counter:
        def __init__(self):
            self.calls = 0

        def __call__(self, x):
            self.calls += 1
            return x

    counter = Counter()
    f = filter_jit(lambda g, x: g(x))
    assert work_of(lambda: [f(counter, inp.ones(2)) for _ in range(5)]).traces == 1
    assert counter.calls == 1


def test_a_model_is_not_kept_alive():
    def activation(x):
        return x + 4.25

    model = Model(inp.ones(2), activation)
    died = weakref.ref(activation), weakref.ref(model)
    for _ in range(4):
        apply(model, inp.ones(2))
    del activation, model
    gc.collect()
    assert died[1]() is None
    apply.clear_cache()  # a version watches the functions that its trace called
    gc.collect()
    assert died[0]() is None


class Activated(Module):
    weight: object
    activation: object = field(static=True)

    def __call__(self, x):
        return self.activation(self.weight * x)


@pytest.mark.parametrize("compiled", [imprint.jit, filter_jit])
def test_an_equal_model_is_traced_with_its_own_functions(compiled):
    def build():
        scale = 2.0

        def activation(x):
            return x * scale

        def rescale(k):
            nonlocal scale
            scale = k

        return Activated(inp.ones(1), activation), rescale

    def call():
        return compiled(lambda model, x: (model, model(x)))(model, inp.ones(1))

    model, rescale = build()
    assert call()[1].tolist() == [2]
    rescale(5.0)
    assert call()[1].tolist() == [5]
    imprint.clear_caches()
    model, _ = build()  # its structure is known, with the first one's function in it
    returned, result = call()
    assert result.tolist() == [2]
    assert returned.activation(1.0) == 2


# ---- results ----


def test_results_that_are_no_arrays_are_returned_unchanged():
    def f(model, x):
        return {
            "model": model,
            "y": x + 1,
            "name": "a",
            "none": None,
            "f": double,
            "n": 3,
        }

    x = inp.ones(2)
    compiled = filter_jit(f)
    for _ in range(3):
        result = compiled(Model(x, double), x)
        assert result["y"].tolist() == [2, 2]
        assert result["model"].weight.tolist() == [1, 1]
        assert result["model"].activation is double
        assert [result[k] for k in ("name", "none", "f", "n")] == ["a", None, double, 3]
        assert type(result["n"]) is int
    assert compiled._cache_size() == 1


def test_a_result_without_an_array_is_returned_too():
    f = filter_jit(lambda x: "text")
    assert [f(inp.ones(2)) for _ in range(3)] == ["text"] * 3
    assert filter_jit(lambda x: None)(inp.ones(2)) is None
    assert filter_jit(lambda x: (x.shape, x.dtype))(inp.ones(2)) == ((2,), np.float32)


def test_numbers_are_returned_as_by_equinox():
    def f(x, n):
        return n, n + 1.5, x

    (a, b, _), (c, d, _) = (
        filter_jit(f)(inp.ones(1), 2),
        eqx.filter_jit(f)(jnp.ones(1), 2),
    )
    assert (a, b, type(a), type(b)) == (c, d, type(c), type(d))


def test_results_are_shown_before_they_are_computed():
    x = inp.ones((2, 3))
    f = filter_jit(lambda m, x: (m, x.sum(0)))
    model, struct = f.eval_shape(Model(x, double), x)
    assert model.activation is double
    assert (str(struct), model.weight.shape) == (
        "ShapeDtypeStruct(shape=(3,), dtype=float32)",
        (2, 3),
    )


# ---- spellings, methods, callables ----


def test_every_spelling_is_one_version():
    f = filter_jit(lambda x, k=2, *, g=double: g(x) * k)
    x = inp.ones(2)
    calls = [
        lambda: f(x),
        lambda: f(x, 2),
        lambda: f(x, k=2),
        lambda: f(x=x, k=2),
        lambda: f(k=2, x=x, g=double),
        lambda: f(x, g=double),
    ]
    assert [call().tolist() for call in calls * 2] == [[4, 4]] * 12
    assert f._cache_size() == 1
    f(x, 2.0)
    f(x, g=abs)
    assert f._cache_size() == 3


def test_a_default_is_known_by_its_name_too():
    mode = enum.Enum("Mode", "FAST EXACT")
    f = filter_jit(lambda x, mode=mode.FAST, kind=Model: x * len(mode.name))
    x = inp.ones(1)
    calls = f(x), f(x, mode.FAST), f(x, kind=Model, mode=mode.FAST)
    assert [out.tolist() for out in calls] == [[4]] * 3
    assert f._cache_size() == 1
    assert f(x, mode.EXACT).tolist() == [5]


def test_equinox_has_two_versions_of_a_default():
    traces = []
    f = eqx.filter_jit(lambda x, k=2: (traces.append(k), x * k)[1])
    f(jnp.ones(2)), f(jnp.ones(2), 2), f(jnp.ones(2), k=2)
    assert len(traces) == 2


def test_any_number_of_arguments():
    f = filter_jit(lambda *args, **kwargs: args[0] * args[1] + kwargs["bias"])
    for _ in range(3):
        assert f(inp.ones(1), 2, bias=inp.ones(1)).tolist() == [3]
    assert f._cache_size() == 1


def test_a_method_takes_its_model_as_an_argument():
    def layer():
        return Layer(inp.ones(2), lambda x: x * 3)

    work = work_of(lambda: [layer().step(inp.ones(2)) for _ in range(4)])
    assert work == Work(1, 1)
    bound = layer().step
    assert bound(inp.ones(2), scale=2).tolist() == [6, 6]
    assert bound.explain(inp.ones(2)).hit
    assert bound._cache_size() == Layer.step._cache_size() == 2
    assert "stablehlo" in bound.lower(inp.ones(2)).as_text()
    assert bound.trace(inp.ones(2)).fun_name == "step"
    assert bound.eval_shape(inp.ones(2)).shape == (2,)
    assert Layer.step(layer(), inp.ones(2)).tolist() == [3, 3]
    assert imprint.tree.leaves(bound)[0].tolist() == [1, 1]
    assert imprint.tree.structure(bound).paths()[0] == (
        imprint.tree.GetAttrKey("__self__"),
        imprint.tree.GetAttrKey("weight"),
    )


def test_a_method_of_a_class():
    class Scaled:
        k = 3

        @classmethod
        @filter_jit
        def of(cls, x):
            return x * cls.k

        @staticmethod
        @filter_jit
        def twice(x):
            return x * 2

    assert [Scaled.of(inp.ones(1)).tolist() for _ in range(3)] == [[3]] * 3
    assert Scaled().twice(inp.ones(1)).tolist() == [2]


def test_a_gradient_is_a_method_too():
    """A wrapped function is a node by itself, and still binds in the body of a class."""

    class Scaled(Module):
        k: object

        @filter_jit
        @imprint.filter_value_and_grad
        def loss(self, x):
            return (self.k * x).sum()

    class Plain:
        loss = filter_jit(imprint.filter_grad(lambda _, x: (x**2).sum()))

    def calls():
        losses = [Scaled(inp.full(2, float(i))).loss for i in range(3)]
        return [loss(inp.ones(2))[0].item() for loss in losses]

    assert work_of(calls) == Work(1, 1)
    assert calls() == [0, 2, 4]
    bound = Scaled(inp.full(2, 1.0)).loss
    assert bound.explain(inp.ones(2)).hit
    assert bound.eval_shape(inp.ones(2))[1].k.shape == (2,)
    value, grads = Scaled.loss(Scaled(inp.ones(2)), inp.full(2, 3.0))
    assert (value.item(), grads.k.tolist()) == (6, [3, 3])
    assert Plain().loss(inp.ones(2)) is None


def test_wrapped_functions_have_their_own_versions():
    """Each has the name, the parameters and the versions of its wrapped function."""

    @filter_jit
    @imprint.filter_grad
    def loss(weight, *, scale=2.0):
        return (weight * scale).sum()

    @filter_jit
    @imprint.filter_vmap
    def doubled(x):
        return x * 2

    assert doubled(inp.ones(3)).tolist() == [2, 2, 2]
    assert [loss(inp.ones(n)).shape for n in (1, 2, 1)] == [(1,), (2,), (1,)]
    assert loss(inp.ones(1), scale=2.0).tolist() == [2]
    assert (loss._cache_size(), doubled._cache_size()) == (2, 1)
    assert (loss.__name__, loss.last_miss.function) == ("loss", "loss")
    assert str(loss.explain(inp.ones(3)).differences[0]) == "weight.shape[0]: 2 → 3"
    assert message_of(ArgumentError, loss) == (
        "loss: expected arguments (weight, *, scale=2.0), got 0 positional: missing a "
        "required argument: 'weight'."
    )


def test_a_static_method_has_no_first_argument():
    """Below `staticmethod`; above it, an instance would be an argument too many."""

    class Holder:
        twice = staticmethod(filter_jit(double))

    assert (
        Holder.twice(inp.ones(1)).tolist()
        == Holder().twice(inp.ones(1)).tolist()
        == [2]
    )
    with pytest.raises(
        ArgumentError, match=r"Put @staticmethod above @imprint\.filter_jit"
    ):
        filter_jit(staticmethod(double))


def test_a_model_that_is_called_is_an_argument():
    """Its arrays are no constants: a trained model needs no version of its own."""
    models = [Model(inp.full(2, i), double) for i in range(4)]

    def calls():
        return [filter_jit(model)(inp.ones(2)).tolist() for model in models]

    assert work_of(calls) == Work(1, 1)
    assert calls() == [[4.0 * i**2] * 2 for i in range(4)]
    assert not filter_jit(models[0]).versions[0].program.consts


def test_equinox_treats_a_model_that_is_called_as_an_argument_too():
    traces = []

    class Twin(eqx.Module):
        weight: object

        def __call__(self, x):
            traces.append(1)
            return self.weight * x

    for i in range(4):
        eqx.filter_jit(Twin(jnp.full(2, float(i))))(jnp.ones(2))
    assert len(traces) == 1


def test_the_model_of_a_method_is_an_argument():
    models = [Model(inp.full(2, i), double) for i in range(4)]
    losses = [filter_jit(model.loss) for model in models]
    assert work_of(lambda: [loss(inp.ones(2)) for loss in losses]) == Work(1, 1)
    assert [loss(inp.ones(2)).item() for loss in losses] == [
        8.0 * i**2 for i in range(4)
    ]
    assert losses[0].last_miss.function == "loss"


def test_partials_of_trees_are_arguments_too():
    def scaled(k, x):
        return x * k

    parts = [imprint.tree.Partial(scaled, inp.full((), k)) for k in (1.0, 2.0)]
    work = work_of(lambda: [filter_jit(part)(inp.ones(1)) for part in parts])
    assert work == Work(1, 1)
    assert filter_jit(parts[1])(inp.ones(1)).tolist() == [2]
    assert filter_jit(functools.partial(scaled, 3))(inp.ones(1)).tolist() == [3]


def test_decorators_copies_and_pickles():
    assert module_function(inp.ones(1), 3).tolist() == [3]
    assert pickle.loads(pickle.dumps(module_function)) is module_function
    assert copy.copy(module_function)(inp.ones(1), 3).tolist() == [3]
    assert filter_jit(donate="none")(double)(inp.ones(1)).tolist() == [2]
    assert filter_jit()(double)(inp.ones(1)).tolist() == [2]
    assert module_function.__name__ == "module_function"
    bound = filter_jit(Layer(inp.ones(1), double).step)
    assert copy.copy(bound)(inp.ones(1)).tolist() == [2]


# ---- inside other transforms ----


def test_a_nested_call_is_one_equation_that_is_traced_once():
    x = inp.ones(2)

    def twice(w):
        return apply(Model(w, double), x) + apply(Model(w, double), x)

    assert work_of(lambda: imprint.jit(twice)(x)).traces == 2
    jaxpr = imprint.make_jaxpr(twice)(x)
    assert [str(e.primitive) for e in jaxpr.eqns] == ["jit", "jit", "add"]
    first, second, _ = jaxpr.eqns
    assert first.params["jaxpr"] is second.params["jaxpr"]


def test_grad_and_vmap_go_through():
    def loss(w, x):
        return apply(Model(w, inp.sin), x).sum()

    w, x = np.linspace(0.1, 1, 3, dtype=np.float32), np.ones(3, np.float32)
    expected = 2 * np.sin(w) * np.cos(w)
    np.testing.assert_allclose(imprint.grad(loss)(w, x), expected, rtol=1e-5)
    np.testing.assert_allclose(
        imprint.jit(imprint.grad(loss))(w, x), expected, rtol=1e-5
    )
    rows = imprint.vmap(lambda w: apply(Model(w, inp.sin), x))(np.stack([w, w]))
    np.testing.assert_allclose(rows, np.stack([np.sin(w) ** 2] * 2), rtol=1e-5)


def test_static_results_come_out_of_a_nested_call():
    @filter_jit
    def inner(x):
        return x + 1, "text", double

    @imprint.jit
    def outer(x):
        y, text, f = inner(x)
        assert (text, f) == ("text", double)
        return f(y)

    assert outer(inp.ones(1)).tolist() == [4]


def test_an_activation_may_close_over_a_traced_value():
    def loss(k):
        return apply(Model(inp.ones(()), lambda x: x * k, 1), inp.ones(()))

    assert imprint.grad(loss)(3.0) == 1
    assert imprint.jit(loss)(4.0) == 4


def test_disable_jit_calls_the_function():
    with imprint.disable_jit():
        assert work_of(lambda: apply(Model(inp.ones(1), double), 1.0)) == Work(0, 0)


# ---- stages and counts ----


def test_a_compiled_stage_takes_the_same_static_values():
    x = inp.ones(2)
    compiled = apply.lower(Model(x, double), x).compile()
    assert compiled(Model(x * 2, double), x).tolist() == [16, 16]
    with pytest.raises(ArgumentError) as caught:
        compiled(Model(x, abs), x)
    assert str(caught.value) == (
        "apply: expected the static argument model.activation with the value that was "
        f"compiled for, got {abs!r}. A Compiled takes only the kind of call it was "
        "compiled for; call the jitted function for another."
    )
    with pytest.raises(ArgumentError) as caught:
        compiled([double, x], x)
    assert str(caught.value) == (
        "apply: expected arguments of structure PyTreeDef((CustomNode(Model[()], "
        "[*, *, *]), *)), got PyTreeDef(([*, *], *)). A Compiled takes only the kind of "
        "call it was compiled for; call the jitted function for another."
    )
    with pytest.raises(ArgumentError) as caught:
        compiled(Model(x, double), 2)
    assert str(caught.value) == (
        "apply: expected arrays as model.weight, x and nothing else, got them as "
        "model.weight. A Compiled takes only the kind of call it was compiled for; call "
        "the jitted function for another."
    )


def test_shapes_replace_arrays():
    struct = imprint.ShapeDtypeStruct((2,), "float32")
    model = Model(struct, double)
    assert apply.lower(model, struct).compile()(
        Model(inp.ones(2), double), inp.ones(2)
    ).tolist() == [4, 4]
    with pytest.raises(ArgumentError) as caught:
        apply(model, inp.ones(2))
    assert str(caught.value) == (
        "apply: expected an array with values, got ShapeDtypeStruct(shape=(2,), "
        "dtype=float32) as argument model.weight. Only lower, trace and eval_shape take "
        "a shape in the place of an array."
    )


def test_versions_are_counted_by_function():
    f, g = filter_jit(lambda x, n: x * n), filter_jit(lambda x, n: x + n)
    for n in (1, 2, 3):
        f(inp.ones(1), n)
    g(inp.ones(1), 1)
    assert (f._cache_size(), g._cache_size()) == (3, 1)
    f(inp.ones(1), 1)
    info = f.cache_info()
    assert (info.hits, info.misses, info.versions) == (1, 3, 3)
    assert f.versions[2].statics == {"n": "3"}
    assert str(f.versions[0]) == "<lambda>(x: float32[1], n=1)"
    f.clear_cache()
    assert (f._cache_size(), g._cache_size()) == (0, 1)


def test_versions_can_be_limited():
    f = filter_jit(lambda x, n: x * n, max_versions=1)
    f(inp.ones(1), 1)
    with pytest.warns(UserWarning, match="expected at most 1 version"):
        f(inp.ones(1), 2)
    assert f._cache_size() == 1


def test_jit_and_filter_jit_of_a_function_are_two():
    assert imprint.jit(double)(inp.ones(1)).tolist() == [2]
    assert work_of(lambda: filter_jit(double)(inp.ones(1))).traces == 1


# ---- explanations ----

ONES = inp.ones(2)
MISSES = {
    "static model.power: 2 → 3": (Model(ONES, double, 3), ONES),
    "static model.power: 2 → 2.0": (Model(ONES, double, 2.0), ONES),
    "model.power: static 2 → float32[]": (Model(ONES, double, inp.ones(())), ONES),
    "x: float32[2] → static 2": (Model(ONES, double), 2),
    "model.weight.shape[0]: 2 → 3": (Model(inp.ones(3), double), ONES),
    "static model.activation: function double at test_filter_jit.py:{line} → "
    "builtin function abs": (Model(ONES, abs), ONES),
}


@pytest.mark.parametrize("text", MISSES)
def test_a_difference_is_named_by_the_path_of_its_leaf(text):
    apply(Model(ONES, double), ONES)
    assert work_of(lambda: apply.explain(*MISSES[text])) == Work(0, 0)
    (difference,) = apply.explain(*MISSES[text]).differences
    line = double.__code__.co_firstlineno
    assert str(difference) == text.format(line=line)


def test_the_whole_explanation_of_a_static_leaf():
    apply(Model(ONES, double), ONES)
    explanation = dataclasses.replace(
        apply.explain(Model(ONES, double, 3), ONES), site=None
    )
    assert str(explanation) == (
        "apply compiles: it differs from version 0 in static model.power: 2 → 3. Each "
        "value of model.power compiles: pass it as an array if the program does not "
        "depend on it."
    )


def test_the_whole_explanation_of_a_leaf_that_became_an_array():
    apply(Model(ONES, double), ONES)
    explanation = dataclasses.replace(
        apply.explain(Model(ONES, double, inp.ones(())), ONES), site=None
    )
    assert str(explanation) == (
        "apply compiles: it differs from version 0 in model.power: static 2 → float32[]. "
        "Pass model.power always as an array, or never: only arrays are traced."
    )


def test_functions_with_equal_reprs_are_distinguished():
    def activation(k):
        return lambda x: x * k

    apply(Model(ONES, activation(2)), ONES)
    (difference,) = apply.explain(Model(ONES, activation(3)), ONES).differences
    assert str(difference) == "static closure variable k in model.activation: 2 → 3"


def test_trees_with_equal_leaf_names_are_distinguished():
    f = filter_jit(lambda pair: pair[0])
    f((ONES, 2))
    (difference,) = f.explain([ONES, 2]).differences
    assert str(difference) == "pair: tuple → list"


# ---- donation ----

DONATED = {
    "all": (True, True),
    "warn": (True, True),
    "all-except-first": (False, True),
    "warn-except-first": (False, True),
    "none": (False, False),
}


def fresh(n=4):
    return imprint.jit(lambda: inp.ones(n))()


@pytest.mark.parametrize("donate", DONATED)
def test_the_donate_option_selects_the_donated_arguments(donate):
    f = filter_jit(lambda a, b: (a["x"] + 1, b + a["k"]), donate=donate)
    theirs = eqx.filter_jit(lambda a, b: (a["x"] + 1, b + a["k"]), donate=donate)
    for _ in range(4):
        a, b = {"x": fresh(), "k": 2}, fresh()
        first, second = f(a, b)
        assert (first.tolist(), second.tolist()) == ([2] * 4, [3] * 4)
        given = a["x"].is_deleted(), b.is_deleted()
        c, d = {"x": jnp.ones(4) + 0, "k": 2}, jnp.ones(4) + 0
        theirs(c, d)
        assert given == (c["x"].is_deleted(), d.is_deleted()) == DONATED[donate]
    assert f._cache_size() == 1


@pytest.mark.parametrize("donate", DONATED)
def test_an_unused_donation_gives_the_warning_of_its_option(donate):
    f = filter_jit(lambda first, x: x.sum(), donate=donate)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f(inp.ones(()), fresh())
    texts = [str(warning.message) for warning in caught]
    if not donate.startswith("warn"):
        assert texts == []
        return
    first = "argument first (" if donate == "warn" else ""
    assert len(texts) == 1
    assert "argument x (" in texts[0]
    assert (first in texts[0]) if first else ("argument first" not in texts[0])


def test_an_unused_strict_donation_is_an_error():
    f = filter_jit(lambda x: x.sum(), donate="warn", strict=True)
    with pytest.raises(ArgumentError, match="expected each donated argument"):
        f(fresh())


def test_a_donated_array_without_a_use_is_kept():
    x, y = fresh(), jnp.ones(4) + 0
    filter_jit(lambda x: x.sum(), donate="all")(x)
    eqx.filter_jit(lambda y: y.sum(), donate="all")(y)
    assert (x.is_deleted(), y.is_deleted()) == (False, False)


def test_shared_arrays_may_be_donated():
    f = filter_jit(lambda m: Model(m.weight + 1, m.activation + 1), donate="all")
    x = fresh()
    model = f(Model(x, x))
    assert (model.weight.tolist(), model.activation.tolist()) == ([2] * 4, [2] * 4)


def test_methods_donate_their_model():
    layer = Layer(fresh(), double)
    new = layer.update(inp.ones(4))
    assert layer.weight.is_deleted()
    assert new.weight.tolist() == [2] * 4
    assert new.activation is double


@pytest.mark.parametrize("donate", DONATED)
def test_the_first_argument_of_a_model_is_not_the_model(donate):
    model, x = Model(fresh(), double, 1), fresh()
    compiled = filter_jit(lambda m: m, donate=donate)
    compiled(fresh())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filter_jit(model, donate=donate)(x)
    everything = donate in ("all", "warn")
    rest = donate != "none"
    assert model.weight.is_deleted() or x.is_deleted() or not rest
    assert not x.is_deleted() or everything


# ---- errors ----


def message_of(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_an_unknown_donate_option_is_refused():
    assert message_of(ArgumentError, lambda: filter_jit(double, donate="al")) == (
        "filter_jit: expected donate to be one of 'all', 'all-except-first', 'warn', "
        "'warn-except-first', 'none', got 'al'. Did you mean 'all'?"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"donate": ["all"]},
            "filter_jit: expected donate to be one of 'all', 'all-except-first', 'warn', "
            "'warn-except-first', 'none', got ['all']. Did you mean 'all'?",
        ),
        (
            {"max_versions": [1]},
            "jit: expected max_versions to be None or at least 1, got [1].",
        ),
    ],
    ids=str,
)
def test_an_unhashable_option_is_refused(options, message):
    assert message_of(ArgumentError, lambda: filter_jit(double, **options)) == message


def test_a_value_that_is_no_function_is_refused():
    assert message_of(ArgumentError, lambda: filter_jit(3)) == (
        "filter_jit: expected a function, got 3 of type int."
    )


def test_an_unhashable_leaf_is_refused():
    assert message_of(ArgumentError, lambda: apply(Model(ONES, {1, 2}), ONES)) == (
        "static argument model.activation: expected a hashable value, got set. Pass a "
        "frozenset."
    )


def test_an_array_of_no_numbers():
    texts = np.array(["a"])
    assert message_of(DTypeError, lambda: apply(Model(texts, double), ONES)) == (
        "apply: expected arrays of numbers, got one of dtype <U1 as argument "
        "model.weight. Encode the texts: numpy.unique(model.weight, "
        "return_inverse=True)[1]."
    )


def test_missing_arguments():
    assert message_of(ArgumentError, lambda: apply(ONES)) == (
        "apply: expected arguments (model, x), got 1 positional: missing a required "
        "argument: 'x'."
    )


class Holder:
    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return "Holder"


def test_a_result_that_would_carry_a_traced_array_out():
    f = filter_jit(lambda x: (x, Holder(x)))
    assert message_of(ArgumentError, lambda: f(ONES)) == (
        "<lambda>: expected results of which each array is a leaf, got Holder as "
        "result[1], which holds a traced array and is no pytree. Return the array beside "
        "it, or make its class a node: a Module, or imprint.tree.register_dataclass."
    )
    for carrier in (
        lambda x: lambda y: x + y,
        lambda x: functools.partial(double, x),
        lambda x: Holder([x]),
        lambda x: (lambda k: lambda: k)(Holder(x)),
    ):
        message_of(ArgumentError, lambda c=carrier: filter_jit(lambda x: c(x))(ONES))
    assert filter_jit(lambda x: Holder(3))(ONES).x == 3
    theirs = eqx.filter_jit(lambda x: (x, Holder(x)))(jnp.ones(2))[1]
    assert isinstance(theirs.x, jax.core.Tracer)


def test_a_static_field_of_a_module_is_part_of_the_structure():
    class Sized(Module):
        w: object
        size: int = field(static=True)

    f = filter_jit(lambda m: m.w * m.size)
    for size in (2, 3, 2.0, 2):
        assert [f(Sized(ONES, size)).tolist() for _ in range(3)] == [[size] * 2] * 3
    assert f._cache_size() == 3


def test_the_error_of_a_branch_says_that_filter_jit_holds_numbers_static():
    @imprint.filter_jit
    def choose(x, flag):
        return x if flag else -x

    with pytest.raises(imprint.errors.ConcretizationError) as caught:
        choose(inp.ones(2), inp.asarray(True))
    *_, traced, _, _, advice = str(caught.value).splitlines()
    assert "argument flag of choose, traced by filter_jit at" in traced
    assert advice == (
        "  to make it a Python value, pass a number and no array: filter_jit holds "
        "numbers static."
    )
    np.testing.assert_array_equal(choose(inp.ones(2), False), [-1, -1])


@pytest.mark.parametrize("transform", ["grad", "vmap"])
def test_the_error_of_a_transform_of_a_model_names_its_filtered_form(transform):
    with pytest.raises(imprint.errors.ArgumentError) as caught:
        getattr(imprint, transform)(lambda m: 1.0)({"act": len, "w": inp.ones(2)})
    assert str(caught.value).endswith(
        f"For a model, there is imprint.filter_{transform}."
    )


def test_a_number_in_the_place_of_an_array_is_static():
    """Also where both have one aval, as bool, and the call before had the array."""

    @imprint.filter_jit
    def scaled(x, flag):
        return x * (3 if isinstance(flag, bool) else 2)

    x, flag = inp.ones(2), np.array(True)
    for _ in range(3):
        assert scaled(x, flag).tolist() == [2, 2]
    assert scaled(x, True).tolist() == [3, 3]
    assert scaled(x, flag).tolist() == [2, 2]
