import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import tree
from imprint.errors import ArgumentError, ShapeError, TreeError
from imprint.module import Module, filter_vmap, if_array
from tests.units.module.equinox_parity import OURS, THEIRS, agree, draw

# ---- axes ----

AXES = {
    "default": ({}, (draw(4, 3), draw(4, 2))),
    "a number is passed whole": ({}, (draw(4, 3), 2.0)),
    "integers": ({"in_axes": (1, 0)}, (draw(3, 4), draw(4))),
    "negative": ({"in_axes": (-1, None)}, (draw(3, 4), draw(4))),
    "one for all": ({"in_axes": 1}, (draw(3, 4), draw(2, 4))),
    "none": ({"in_axes": (None, 0)}, (draw(3), draw(4, 2))),
    "by name": ({"in_axes": {"y": 1}}, (draw(4, 3), draw(2, 4))),
    "a function": ({"in_axes": lambda x: x.ndim - 1}, (draw(3, 4), draw(4))),
    "out": ({"out_axes": 1}, (draw(4, 3), 2.0)),
    "out negative": ({"out_axes": -1}, (draw(4, 3), 2.0)),
    "out of rank 3": ({"out_axes": 2}, (draw(4, 3, 5), 2.0)),
    "size": ({"axis_size": 4}, (draw(4, 3), 2.0)),
    "size alone": ({"in_axes": None, "axis_size": 4}, (draw(3), 2.0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", AXES)
def test_axes_are_as_in_equinox(name):
    options, args = AXES[name]
    agree(
        lambda s: s.mod.filter_vmap(lambda x, y: x * 2 + y.sum(), **options)(
            *_with_sum(s, args)
        )
    )


def test_collectives_know_the_axis_by_its_name():
    x = draw(4, 3)
    centred = filter_vmap(
        lambda x: x - imprint.lax.pmean(x, "batch"), axis_name="batch"
    )
    np.testing.assert_allclose(centred(x), x - x.mean(0), rtol=1e-5, atol=1e-6)


def _with_sum(s, args):
    return [s.np.asarray(x) if isinstance(x, np.ndarray) else _Number(x) for x in args]


class _Number(float):
    def sum(self):
        return float(self)


@pytest.mark.slow
def test_trees_of_axes():
    def program(s):
        args = ({"a": draw(4, 3), "b": draw(3, 4), "c": draw(2)}, [draw(4), "text"])
        axes = ({"a": 0, "b": 1, "c": None}, s.mod.if_array(0))
        out_axes = {"sliced": 1, "whole": None, "text": s.mod.if_array(0)}

        def f(x, y):
            return {
                "sliced": x["a"] + x["b"] * y[0],
                "whole": x["c"],
                "text": (y[1], x["a"], 3),
            }

        return s.mod.filter_vmap(f, in_axes=axes, out_axes=out_axes)(*args)

    agree(program)


@pytest.mark.slow
def test_an_ensemble_of_models_is_made_and_evaluated():
    def program(s):
        @s.mod.filter_vmap
        def make(w):
            return s.MLP([(w, w[:, 0])], s.np.tanh, s.np.arange(2), "small")

        @s.mod.filter_vmap(in_axes=(s.mod.if_array(0), None))
        def evaluate(model, x):
            return model(x)

        models = make(draw(5, 4, 3))
        each = s.mod.filter_vmap(lambda model, x: model(x))
        return models, evaluate(models, draw(3)), each(models, draw(5, 3))

    agree(program)


def test_arguments_that_take_their_default_have_no_axis():
    def program(s):
        f = lambda x, y, scale=2.0: x * y * scale
        return s.mod.filter_vmap(f, in_axes={"y": 1})(draw(2, 3), draw(3, 2))

    agree(program)


def test_results_that_are_no_arrays_pass_by():
    def program(s):
        f = lambda x, name: (x, name, s.np.tanh, {"n": 3, "none": None})
        return s.mod.filter_vmap(f)(draw(2, 3), "text")

    agree(program)


def test_without_arrays_the_function_is_called():
    agree(lambda s: s.mod.filter_vmap(lambda name, n: (name, n + 1))("text", 2))


def test_keys_are_mapped_by_their_own_axes():
    keys = imprint.random.split(imprint.random.key(0), 3)
    drawn = filter_vmap(lambda key, scale: scale * imprint.random.normal(key, (2,)))(
        keys, 2.0
    )
    wanted = np.stack([2.0 * imprint.random.normal(key, (2,)) for key in keys])
    np.testing.assert_array_equal(drawn, wanted)


def test_if_array_gives_the_axis_of_arrays():
    for s in (OURS, THEIRS):
        axis = s.mod.if_array(1)
        assert [axis(s.np.ones(2)), axis(np.ones(2)), axis(2.0), axis("text")] == [
            1,
            1,
            None,
            None,
        ]
        assert axis == s.mod.if_array(1)
        assert axis.axis == 1


# ---- as a decorator ----


def test_it_decorates_functions_and_methods():
    @filter_vmap
    def bare(x):
        return x.sum()

    @filter_vmap(in_axes=1, out_axes=0)
    def with_options(x):
        return x.sum()

    class Scale(Module):
        w: imprint.Array

        @filter_vmap(in_axes=(None, 0))
        def __call__(self, x):
            return (self.w * x).sum()

        @filter_vmap(in_axes=(None, 0))
        def apply(self, x):
            return self.w * x

    x = inp.asarray(draw(3, 2))
    scale = Scale(inp.asarray([2.0, 3.0]))
    np.testing.assert_allclose(bare(x), draw(3, 2).sum(1), rtol=1e-6)
    np.testing.assert_allclose(with_options(x), draw(3, 2).sum(0), rtol=1e-6)
    np.testing.assert_allclose(scale(x), (draw(3, 2) * [2, 3]).sum(1), rtol=1e-6)
    np.testing.assert_allclose(scale.apply(x), draw(3, 2) * [2, 3], rtol=1e-6)
    assert bare.__name__ == "bare"


def test_a_wrapped_model_is_traced_once_however_often_it_is_made():
    traces = []

    @imprint.jit
    def run(params, x):
        traces.append(1)
        model = filter_vmap(lambda y: params["w"] * y)
        return model(x)

    for i in range(3):
        run({"w": inp.ones(2) * i}, inp.ones((4, 2)))
    assert len(traces) == 1
    model = filter_vmap(OURS.model())
    assert len([x for x in tree.leaves(model) if isinstance(x, imprint.Array)]) == 5


# ---- compositions ----

PAIRS = {
    "vmap_of_vmap": lambda s, f: s.mod.filter_vmap(s.mod.filter_vmap(f)),
    "vmap_of_jit": lambda s, f: s.mod.filter_vmap(
        s.api.jit(lambda x: s.mod.filter_vmap(f)(x))
    ),
    "jit_of_vmap": lambda s, f: s.api.jit(
        lambda x: s.mod.filter_vmap(s.mod.filter_vmap(f))(x)
    ),
    "grad_of_vmap": lambda s, f: s.mod.filter_grad(
        lambda x: s.mod.filter_vmap(s.mod.filter_vmap(f))(x).sum()
    ),
    "vmap_of_grad": lambda s, f: s.mod.filter_vmap(
        s.mod.filter_vmap(s.mod.filter_grad(f))
    ),
    "vmap_of_jvp": lambda s, f: s.mod.filter_vmap(
        lambda x: s.mod.filter_jvp(f, (x,), (x * 2,))
    ),
    "vmap_of_vjp": lambda s, f: s.mod.filter_vmap(
        lambda x: s.mod.filter_vjp(f, x)[1](s.np.ones(()))
    ),
    "api_vmap_of_filter_vmap": lambda s, f: s.api.vmap(s.mod.filter_vmap(f)),
}


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_compositions(pair):
    agree(lambda s: PAIRS[pair](s, lambda x: s.np.sin(x).sum() ** 2)(draw(2, 3, 4)))


def test_a_wrapped_function_can_be_jitted():
    traces = []

    def make():
        def f(x):
            traces.append(1)
            return x.sum()

        return f

    for _ in range(3):
        out = imprint.jit(filter_vmap(make()))(inp.ones((2, 3)))
        np.testing.assert_array_equal(out, [3, 3])
    assert len(traces) == 1
    with pytest.raises(TypeError, match="unhashable"):
        THEIRS.api.jit(THEIRS.mod.filter_vmap(make()))(np.ones((2, 3)))


# ---- errors ----


def _f(x, y):
    return x


@pytest.mark.parametrize(
    ("options", "args", "error", "text"),
    [
        (
            {"in_axes": ("x", None)},
            (draw(2), 1),
            ArgumentError,
            "filter_vmap(_f) in_axes: expected integers, None, and functions of a leaf "
            "that return them, got 'x'. To map arrays alone, use imprint.if_array(0).",
        ),
        (
            {"in_axes": {"z": 0}},
            (draw(2), 1),
            ArgumentError,
            "filter_vmap(_f): expected names of arguments in in_axes, out of ['x', 'y'], "
            "got 'z'. Arguments that take their default have no axis.",
        ),
        (
            {"in_axes": (0,)},
            (draw(2), 1),
            TreeError,
            "filter_vmap(_f) in_axes: expected a tuple of length 2 at the root, got a "
            "tuple of length 1. Write it with the structure of its value, or give one "
            "leaf for the whole.",
        ),
        (
            {"out_axes": 2},
            (draw(2, 3), 1),
            ShapeError,
            "filter_vmap(_f): expected out_axes in [-2, 2) for a result of rank 2, got "
            "2.",
        ),
        (
            {"out_axes": None},
            (draw(2, 3), 1),
            ArgumentError,
            "vmap(_f): expected an unmapped result where out_axes is None, got one that "
            "depends on a mapped argument. Give out_axes an integer.",
        ),
        (
            {"in_axes": None},
            (inp.ones(3), 1),
            ArgumentError,
            "filter_vmap(_f): expected at least one mapped argument or axis_size, got "
            "none, and out_axes asks for a mapped result. Map an argument with in_axes, "
            "or pass axis_size.",
        ),
        (
            {},
            ({"a": draw(2), "b": draw(3)}, 1),
            ShapeError,
            "vmap(_f): expected mapped axes of one length, got argument 0['a']: 2, "
            "axis 0 of float32[2]; argument 0['b']: 3, axis 0 of float32[3]. Map axes of "
            "equal length, or None for arguments that are not mapped.",
        ),
        (
            {},
            (inp.ones(()), 1),
            ShapeError,
            "vmap(_f): expected argument 0 to have axis 0, which in_axes maps, got "
            "float32[]. Map another axis, or None to pass it whole.",
        ),
        (
            {"axis_name": ["batch"]},
            (draw(2), 1),
            ArgumentError,
            "vmap: expected axis_name to be hashable, got list ['batch']. Name an axis by "
            "a string; several, in a tuple.",
        ),
    ],
)
def test_the_whole_message(options, args, error, text):
    with pytest.raises(error) as caught:
        filter_vmap(_f, **options)(*args)
    assert str(caught.value) == text


def test_keywords_are_refused():
    with pytest.raises(ArgumentError) as caught:
        filter_vmap(_f)(draw(2), y=1)
    assert str(caught.value) == (
        "filter_vmap(_f): expected positional arguments only, got the keywords y. Pass "
        "them by position."
    )


def test_objects_that_are_no_functions_are_refused():
    with pytest.raises(ArgumentError, match="filter_vmap: expected a function, got 3"):
        filter_vmap(3)


def test_an_axis_is_no_bool():
    with pytest.raises(ArgumentError, match=r"^filter_vmap\(_f\) in_axes: .* got True"):
        filter_vmap(_f, in_axes=True)(draw(2), draw(2))
    assert if_array(0)(True) is None
