"""The stages by hand: trace, lower, compile, and the information of each."""

import copy
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import ShapeDtypeStruct, stages
from imprint.errors import ArgumentError, NonFiniteError
from tests.spec.work import Work, work_of


@imprint.jit(static_argnames="power")
def loss(params, batch, power=2):
    error = batch["x"] @ params["w"] - batch["y"]
    return {"loss": (error**power).sum(), "error": error}


PARAMS = {"w": np.ones((3, 2), np.float32)}
BATCH = {"x": np.ones((4, 3), np.float32), "y": np.zeros((4, 2), np.float32)}


def struct(*shape):
    return ShapeDtypeStruct(shape, "float32")


@pytest.fixture
def traced():
    return loss.trace(PARAMS, BATCH, power=3)


def test_all_stages_together_equal_a_call(traced):
    compiled = traced.lower().compile()
    want, got = loss(PARAMS, BATCH, power=3), compiled(PARAMS, BATCH)
    np.testing.assert_array_equal(got["error"], want["error"])
    assert got["loss"] == want["loss"] == 8 * 27


def test_stages_leave_the_versions_of_the_function_alone():
    f = imprint.jit(lambda x: x * 3.0625)
    f.lower(1.0).compile()(1.0)
    assert f._cache_size() == 0


def test_every_stage_knows_the_call(traced):
    lowered = traced.lower()
    for stage in (traced, lowered, lowered.compile()):
        params, batch = stage.args_info[0]
        assert (params["w"].shape, batch["x"].dtype) == ((3, 2), "float32")
        assert batch["y"] == stages.ArgInfo(struct(4, 2).aval, donated=False)
        assert stage.out_info == {"error": struct(4, 2), "loss": struct()}
        assert stage.in_tree == imprint.tree.structure(((PARAMS, BATCH), {}))
        assert stage.out_tree == imprint.tree.structure({"loss": 0, "error": 0})
        assert imprint.tree.map(str, stage.in_avals) == (
            *(({"w": "float32[3,2]"}, {"x": "float32[4,3]", "y": "float32[4,2]"}), {}),
        )
        assert imprint.tree.map(str, stage.out_avals) == {
            "error": "float32[4,2]",
            "loss": "float32[]",
        }


def affine(x, scale=1.0, *rest, shift=0.0, **more):
    return {"y": x["a"] * scale + shift, "rest": [*rest, *more.values()]}


X = {"a": np.ones(3, np.float32), "b": np.ones((), np.int32)}
SPELLINGS = {
    "positional": ({}, (X, 2.0), {}),
    "keywords": ({}, (X,), {"shift": 2.0, "scale": 3.0}),
    "all keywords": ({}, (), {"shift": np.int8(2), "x": X, "scale": 3.0}),
    "static position": ({"static_argnums": 1}, (X, 2.0), {"shift": 2.0}),
    "static keyword": ({"static_argnames": "shift"}, (X, 2.0), {"shift": 2.0}),
    "static default": ({"static_argnums": (1,)}, (X,), {}),
    "donated": ({"donate_argnums": 0}, (X, 2.0), {"shift": 3.0}),
    "donated keyword": ({"donate_argnames": "shift"}, (X,), {"shift": X["a"]}),
    "donated after static": (
        {"donate_argnums": 2, "static_argnums": 1},
        (X, 2.0, X["a"]),
        {},
    ),
    "rest": ({"donate_argnums": (3,)}, (X, 2.0, 3.0, [4.0, None]), {"shift": 5.0}),
    "more": ({"static_argnames": "one"}, (X,), {"zero": 0.5, "one": 1.5}),
    "shapes": ({}, (jax.ShapeDtypeStruct((3,), "float32"),), {}),
    "nothing": ({}, (), {}),
}


def stages_of(jit, function, options, args, kwargs):
    traced = jit(function, **options).trace(*args, **kwargs)
    lowered = traced.lower()
    return traced, lowered, lowered.compile()


def described(library, stage):
    """Return a stage's description of its arguments and results, common to both libraries."""

    def words(tree):
        return library.tree.map(
            lambda x: x if x is None else [x.shape, str(x.dtype)], tree
        )

    infos = library.tree.map(
        lambda x: [x.shape, str(x.dtype), x.donated], stage.args_info
    )
    weak = library.tree.map(lambda x: bool(x.weak_type), stage.in_avals)
    in_tree, out_tree = str(stage.in_tree), str(stage.out_tree)
    outs = words(stage.out_info)
    return infos, weak, words(stage.in_avals), in_tree, out_tree, outs


@pytest.mark.filterwarnings("ignore:Some donated buffers", "ignore:.*donated argument")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_stage_describes_the_call_as_jax_does(spelling):
    options, args, kwargs = SPELLINGS[spelling]
    function = {"nothing": lambda: 1.0, "shapes": lambda x: x}.get(spelling, affine)
    theirs = stages_of(jax.jit, function, options, args, kwargs)
    if spelling == "shapes":
        args = (struct(3),)
    ours = stages_of(imprint.jit, function, options, args, kwargs)
    for our, their in zip(ours, theirs, strict=True):
        assert described(imprint, our) == described(jax, their)
        assert our.donate_argnums == their.donate_argnums
        assert imprint.tree.structure(our.args_info) == our.in_tree
    assert str(ours[0].fun_name) == theirs[0].fun_name
    for name in ("input_shardings", "output_shardings"):
        our, their = getattr(ours[2], name), getattr(theirs[2], name)
        assert imprint.tree.structure(our) == imprint.tree.structure(their)
        placed = {device for s in imprint.tree.leaves(our) for device in s.device_set}
        assert placed <= {imprint.devices()[0]}


def test_stages_have_the_names_of_jax():
    mine = stages_of(imprint.jit, lambda x: x, {}, (1.0,), {})
    theirs = stages_of(jax.jit, lambda x: x, {}, (1.0,), {})
    # Layouts, and internals of JAX.
    absent = {"call", "input_formats", "output_formats", "lojax", "physicalize"}
    absent |= {"closure_convert", "with_consts_as_arg"}
    for ours, other in zip(mine, theirs, strict=True):
        wanted = {name for name in dir(other) if name[0] != "_"} - absent
        assert wanted <= set(dir(ours))
        assert type(ours) is getattr(stages, type(other).__name__)
    named = {name for name in vars(jax.stages) if name[0].isupper()}
    assert named <= set(vars(stages))


def test_an_argument_equal_to_its_default_is_no_argument_of_a_stage():
    scaled = imprint.jit(lambda x, k=2.0: x * k)
    assert imprint.tree.leaves(scaled.lower(1.0, 2.0).args_info) == (
        imprint.tree.leaves(scaled.lower(1.0).args_info)
    )


def test_of_a_filtered_function_stages_know_the_arrays():
    f = imprint.filter_jit(lambda p, x: p["f"](p["w"]) * x, donate="all-except-first")
    given = {"w": inp.ones(3), "f": inp.negative}, inp.ones(3)
    traced = f.trace(*given)
    assert traced.in_avals == (({"f": None, "w": struct(3).aval}, struct(3).aval), {})
    assert traced.donate_argnums == (1,)
    assert traced.in_tree.num_leaves == 2
    assert traced(*given).tolist() == f(*given).tolist()


def test_a_traced_can_be_run_and_transformed(traced):
    want = loss(PARAMS, BATCH, power=3)["loss"]
    assert traced(PARAMS, BATCH)["loss"] == want
    assert traced(PARAMS, batch=BATCH, power=3)["loss"] == want
    grad = imprint.grad(lambda p: traced(p, BATCH)["loss"])(PARAMS)
    np.testing.assert_array_equal(
        *(grad["w"], imprint.grad(lambda p: loss(p, BATCH, 3)["loss"])(PARAMS)["w"])
    )
    with pytest.raises(TypeError, match="A Traced takes only"):
        traced(PARAMS, [BATCH])
    assert traced.effects == frozenset()


def test_functions_over_different_stages_are_different_functions():
    def over(stage):
        return imprint.jit(lambda x: stage(1.0) + x * 0)

    traced = [imprint.jit(lambda x, k=k: x * k).trace(1.0) for k in (2.0, 3.0, 2.0)]
    for given in (traced, [stage.lower().compile() for stage in traced]):
        functions = [over(stage) for stage in given]
        for _ in range(3):
            assert [f(1.0) for f in functions] == [2, 3, 2]
    static = imprint.jit(lambda x, stage: stage(x), static_argnums=1)
    assert [static(1.0, stage) for stage in traced] == [2, 3, 2]


def test_jit_returns_a_wrapped_stage():
    assert isinstance(loss, stages.Wrapped)
    assert isinstance(imprint.filter_jit(lambda x: x), stages.Wrapped)
    assert not isinstance(loss.__wrapped__, stages.Wrapped)
    assert isinstance(jax.jit(lambda x: x), stages.Wrapped)


def test_traced_shows_the_jaxpr(traced):
    assert traced.fun_name == "loss"
    assert "integer_pow[y=3]" in str(traced.jaxpr)
    assert str(traced.jaxpr) == str(
        imprint.make_jaxpr(lambda p, b: loss.__wrapped__(p, b, 3))(PARAMS, BATCH)
    )


def test_lowered_shows_stablehlo_with_and_without_lines(traced):
    lowered = traced.lower()
    assert "stablehlo.multiply" in lowered.as_text()
    assert "test_stages.py" not in lowered.as_text()
    assert "test_stages.py" in lowered.as_text(debug_info=True)
    assert lowered.compiler_ir() == lowered.as_text(debug_info=True)
    assert lowered.as_text("stablehlo") == lowered.as_text(None) == lowered.as_text()


def test_lowered_shows_the_hlo_that_nothing_has_optimized(traced):
    lowered = traced.lower()
    assert lowered.as_text("hlo").startswith("HloModule jit_loss")
    assert " multiply(" in lowered.as_text(dialect="hlo")
    assert "metadata=" not in lowered.as_text("hlo")
    assert "metadata=" in lowered.as_text("hlo", debug_info=True)
    assert lowered.compiler_ir("hlo") == lowered.as_text("hlo", debug_info=True)


def test_compiled_shows_hlo_and_its_costs(traced):
    compiled = traced.lower().compile()
    assert compiled.as_text().startswith("HloModule jit_loss")
    assert compiled.cost_analysis()["flops"] > 0
    assert compiled.cost_analysis() == traced.lower().cost_analysis()
    memory = compiled.memory_analysis()
    assert memory.argument_size_in_bytes == 4 * (6 + 12 + 8)
    assert memory.output_size_in_bytes >= 4 * (8 + 1)
    assert memory.temp_size_in_bytes >= 0
    theirs = jax.jit(lambda x: x).lower(1.0).compile().runtime_executable()
    assert type(compiled.runtime_executable()) is type(theirs)


def test_compiler_options_are_checked_when_they_are_given(traced):
    with pytest.raises(TypeError, match="expected a dictionary of XLA's options"):
        traced.lower().compile(["xla_cpu_enable_fast_math"])


def test_formulations_are_chosen_when_lowered(traced):
    with pytest.raises(ArgumentError) as caught:
        traced.lower().compile({"formulations": "plain"})
    assert str(caught.value) == (
        "compile: expected the formulations of the lowered program, got "
        "{'formulations': 'plain'}. Give them to jit, which lowers."
    )
    plain = imprint.jit(loss, compiler_options={"formulations": "plain"})
    assert plain.lower(PARAMS, BATCH).compile()(PARAMS, BATCH)["loss"] == 8 * 9


def test_shapes_replace_arrays():
    lowered = loss.lower({"w": struct(3, 2)}, {"x": struct(4, 3), "y": struct(4, 2)})
    assert lowered.compile()(PARAMS, BATCH)["loss"] == 8 * 9


def test_a_function_is_traced_once_for_its_stages_and_its_calls():
    f = imprint.jit(lambda x: x * 3.1875)

    def everything():
        f.trace(1.0)
        f.lower(1.0).compile()
        f.eval_shape(1.0)
        f(1.0)

    assert work_of(everything).traces == 1


# ---- calls of a compiled stage ----


def test_a_compiled_takes_numpy_arrays_device_arrays_and_numbers():
    compiled = imprint.jit(lambda x, y: x + y).lower(inp.ones(3), 1.0).compile()
    for x in (inp.ones(3), np.ones(3, np.float32), np.ones(3)):
        assert compiled(x, 2.0).tolist() == [3, 3, 3]
        assert compiled(x, inp.float32(2)).tolist() == [3, 3, 3]


def test_static_arguments_are_left_out_or_the_same(traced):
    compiled = traced.lower().compile()
    calls = [
        lambda: compiled(PARAMS, BATCH),
        lambda: compiled(PARAMS, batch=BATCH),
        lambda: compiled(batch=BATCH, params=PARAMS),
        lambda: compiled(PARAMS, BATCH, 3),
        lambda: compiled(PARAMS, BATCH, power=3),
    ]
    assert [call()["loss"] for call in calls] == [216] * 5
    with pytest.raises(TypeError, match="static argument power"):
        compiled(PARAMS, BATCH, power=2)


def test_a_leading_static_argument_can_be_left_out():
    compiled = imprint.jit(lambda n, x: x * n, static_argnums=0).lower(3, 2.0).compile()
    assert [compiled(2.0), compiled(3, 2.0), compiled(x=2.0)] == [6, 6, 6]


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"x": np.ones((5, 3)), "y": BATCH["y"]}, r"float32\[4,3\] as argument batch"),
        ({"x": np.ones((4, 3), int), "y": BATCH["y"]}, r"got int32\[4,3\]"),
        ({"x": BATCH["x"]}, "structure"),
        ({"x": BATCH["x"], "y": "none"}, r"got str 'none' as argument batch\['y'\]"),
    ],
    ids=["shape", "dtype", "key", "no array"],
)
def test_a_compiled_stage_names_an_argument_that_does_not_fit(traced, batch, message):
    with pytest.raises(TypeError, match=message):
        traced.lower().compile()(PARAMS, batch)


def test_a_compiled_donates():
    double = imprint.jit(lambda x: x * 2, donate_argnums=0)
    x = inp.ones(3) + 1
    compiled = double.lower(x).compile()
    assert compiled(x).tolist() == [4, 4, 4]
    assert x.is_deleted()


def test_a_compiled_can_be_run_while_another_function_is_traced():
    double = imprint.jit(lambda x: x * 2).lower(1.0).compile()
    assert imprint.jit(lambda x: x + double(3.0))(1.0) == 7
    assert imprint.vmap(lambda x: x + double(3.0))(inp.ones(2)).tolist() == [7, 7]
    for apply in (imprint.jit, imprint.grad):
        with pytest.raises(TypeError, match="a Compiled can be run, and not traced"):
            apply(double)(1.0)
    with pytest.raises(TypeError, match="got a traced value"):
        imprint.vmap(double)(inp.ones(2))


# ---- later calls of a compiled stage, which are like one that passed ----


def scaled(x, y, factor=2.0, *, shift, power):
    return (x * factor - y) ** power + shift


X, HOST = inp.arange(3.0) + 1, np.array([1.0, 2.0, 3.0], np.float32)
ALIKE = {
    "arrays": lambda c: c(X, X, shift=X),
    "NumPy arrays": lambda c: c(HOST, HOST, shift=HOST),
    "NumPy arrays, wider": lambda c: c(X, HOST.astype(float), shift=X),
    "all by keyword": lambda c: c(shift=X, y=HOST, x=X),
    "the static argument too": lambda c: c(X, power=2, y=X, shift=X),
}


@pytest.fixture
def compiled():
    return (
        imprint.jit(scaled, static_argnames="power")
        .lower(X, X, shift=X, power=2)
        .compile()
    )


@pytest.mark.parametrize("form", ALIKE)
def test_the_second_call_of_a_form_is_not_checked_again(form, compiled, monkeypatch):
    first = ALIKE[form](compiled)
    monkeypatch.setattr(stages.Compiled, "_checked", None)
    assert ALIKE[form](compiled).tolist() == first.tolist() == [2, 6, 12]


@pytest.mark.parametrize("value", [2.0, 2, True, np.float32(2), np.bool_(1)])
def test_a_number_is_not_checked_again(value, monkeypatch):
    compiled = imprint.jit(lambda x, y: x * y).lower(X, value).compile()
    first = compiled(X, value)
    monkeypatch.setattr(stages.Compiled, "_checked", None)
    assert compiled(X, value).tolist() == first.tolist()


def test_arguments_of_one_value_keep_their_order(compiled):
    """The call that passed cannot tell `y` from `shift`: they are one object."""
    compiled(shift=X, y=X, x=X)
    assert compiled(shift=X, y=0 * X, x=X).tolist() == [5, 18, 39]
    assert compiled(shift=0 * X, y=X, x=X).tolist() == [1, 4, 9]
    assert compiled(x=X, y=0 * X, shift=X).tolist() == [5, 18, 39]
    assert compiled(y=X, x=X, shift=0 * X).tolist() == [1, 4, 9]


def test_calls_that_are_not_alike_are_checked(compiled):
    compiled(HOST, X, shift=X)
    for wrong in (HOST[:2], HOST.astype(int), 1.0, "text"):
        with pytest.raises(TypeError, match="argument x"):
            compiled(wrong, X, shift=X)
    compiled(X, power=2, y=X, shift=X)
    with pytest.raises(ArgumentError, match="static argument power"):
        compiled(X, power=3, y=X, shift=X)
    with pytest.raises(ArgumentError, match="structure"):
        compiled(X, X, 3.0, shift=X, power=2)  # left out: the default is a constant


def test_a_default_that_is_passed_is_left_out_of_each_call():
    compiled = imprint.jit(lambda x, k=2.0: x * k).lower(X, 2.0).compile()
    for _ in range(2):
        assert compiled(X, 2.0).tolist() == [2, 4, 6]
    with pytest.raises(ArgumentError, match="structure"):
        compiled(X, 3.0)
    other = imprint.jit(lambda x, k=2.0: x * k).lower(X, 3.0).compile()
    assert [other(X, 3.0)[0], other(X, 4.0)[0]] == [3, 4]
    with pytest.raises(ArgumentError, match="structure"):
        other(X, 2.0)


def test_a_tree_of_host_values_is_not_checked_again(monkeypatch):
    compiled = imprint.jit(lambda t: t["a"] * t["b"][0]).lower({"a": X, "b": (X,)})
    compiled = compiled.compile()
    compiled({"b": (HOST,), "a": X})
    monkeypatch.setattr(stages.Compiled, "_checked", None)
    for tree in ({"a": HOST, "b": (X,)}, {"b": (HOST,), "a": HOST}):
        assert compiled(tree).tolist() == [1, 4, 9]


def test_a_filtered_call_is_not_checked_again(monkeypatch):
    def apply(model, x):
        return model["f"](x) * model["n"]

    model = {"f": inp.square, "n": 3}
    compiled = imprint.filter_jit(apply).lower(model, X).compile()
    for _ in range(3):  # the match of a tree is made when it comes again
        compiled(model, X)
    with pytest.raises(ArgumentError, match="static argument"):
        compiled({"f": inp.square, "n": 4}, X)
    monkeypatch.setattr(stages.Compiled, "_checked", None)
    assert compiled({"f": inp.square, "n": 3}, X + 1).tolist() == [12, 27, 48]


def test_a_donated_argument_with_a_host_value():
    add = imprint.jit(lambda x, y: x + y, donate_argnums=0)
    compiled = add.lower(X, X).compile()
    for call in (add, compiled):
        for _ in range(3):
            x = X + 0
            assert call(x, HOST).tolist() == [2, 4, 6]
            assert x.is_deleted()
        for _ in range(3):  # the host value is donated: nothing is deleted
            assert call(HOST, X).tolist() == [2, 4, 6]
        for _ in range(3):  # twice the same: a copy is donated
            x = X + 0
            assert call(x, x).tolist() == [2, 4, 6]
    assert HOST.tolist() == [1, 2, 3]


def test_an_array_that_is_donated_twice_in_a_warm_call():
    add = imprint.jit(lambda xs: [x + i for i, x in enumerate(xs)], donate_argnums=0)
    for _ in range(4):
        x = X + 0
        assert [each.tolist() for each in add([x, x])] == [[1, 2, 3], [2, 3, 4]]


# ---- without computing ----


class Described:
    """Has a shape and a dtype but no data, like a dataset in a file."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype


@pytest.mark.parametrize(
    "dtype", ["int8", np.float64, np.dtype("float32"), inp.bfloat16]
)
def test_any_object_with_a_shape_and_a_dtype_replaces_an_array(dtype):
    for x in (Described((2, 3), dtype), Described([2, 3], dtype)):
        out = imprint.eval_shape(lambda x, y: (x["a"].sum(0), y), {"a": x}, y=x)
        assert out[0].shape == (3,)
        assert out[1] == imprint.ShapeDtypeStruct((2, 3), dtype)
        assert imprint.make_jaxpr(lambda x: x * 2)(x).in_avals[0] is out[1].aval
    with pytest.raises(TypeError):
        imprint.eval_shape(lambda x: x, Described((2,), object))
    with pytest.raises(TypeError):
        imprint.eval_shape(lambda x: x, object())


def test_eval_shape_computes_nothing():
    shape = imprint.eval_shape(lambda x, y: {"z": x @ y}, struct(5, 3), np.ones((3, 2)))
    assert shape == {"z": struct(5, 2)}
    huge = ShapeDtypeStruct((10**6, 10**6), "float32")
    assert imprint.eval_shape(inp.sin, huge) == huge
    assert loss.eval_shape(PARAMS, BATCH)["loss"] == struct()


def repeat(x, n):
    return [x] * n


@pytest.mark.parametrize("library", [jax, imprint], ids=["jax", "imprint"])
def test_the_static_arguments_of_a_jitted_function_stay_static(library):
    x = np.ones(3, np.float32)
    by_number, by_name = (
        library.jit(repeat, static_argnums=1),
        library.jit(repeat, static_argnames="n"),
    )
    for shapes in (
        library.eval_shape(by_number, x, 2),
        library.eval_shape(by_name, x, n=2),
        library.jit(lambda x: repeat(x, len(library.eval_shape(by_name, x, 2))))(x),
        library.vmap(lambda x: repeat(x, len(library.eval_shape(by_name, x, 2))))(x),
        library.make_jaxpr(by_number, static_argnums=1)(x, 2).out_avals,
        library.make_jaxpr(lambda x: by_name(x, n=2))(x).out_avals,
        library.jit(by_number, static_argnums=1)(x, 2),
        library.vmap(by_number, in_axes=(0, None))(x, 2),
        library.vmap(lambda x: by_name(x, n=2))(x),
    ):
        assert [shape.shape for shape in shapes] == [(3,), (3,)]
    for jitted in (by_number, by_name):
        total = lambda x, n, f=jitted: sum(f(x, n))
        assert library.grad(total)(2.0, 3) == 3
        assert library.jit(library.grad(total), static_argnums=1)(2.0, 3) == 3
    assert by_number.eval_shape(x, n=1)[0].shape == (3,)


def test_eval_shape_of_a_filtered_function():
    f = imprint.filter_jit(lambda x, n: [x] * n)
    assert len(imprint.eval_shape(f, struct(3), 2)) == 2


def test_eval_shape_compiles_nothing():
    f = imprint.jit(lambda x: x * 3.3125)
    assert work_of(lambda: f.eval_shape(1.0)) == Work(traces=1, compiles=0)


def test_a_shape_describes_itself():
    shape = ShapeDtypeStruct((2, 3), np.float64)
    assert (shape.shape, shape.dtype, shape.ndim, shape.size) == (
        *((2, 3), "float32", 2, 6),
    )
    assert repr(shape) == "ShapeDtypeStruct(shape=(2, 3), dtype=float32)"
    assert shape == struct(2, 3)
    assert len({shape, struct(2, 3), struct(3, 2)}) == 2


@pytest.mark.parametrize("library", [jax, imprint], ids=["jax", "imprint"])
def test_a_shape_is_edited_and_copied_and_pickled(library):
    shape = library.ShapeDtypeStruct((2, 3), "float32", weak_type=True)
    assert len(shape) == 2
    assert shape.update(shape=(4,), weak_type=False) == library.ShapeDtypeStruct(
        (4,), "float32"
    )
    for same in (shape.update(), copy.copy(shape), pickle.loads(pickle.dumps(shape))):
        assert same == shape
    with pytest.raises(TypeError, match=r"len\(\)"):
        len(shape.update(shape=()))
    with pytest.raises(ValueError, match="dtype"):
        library.ShapeDtypeStruct((), None)


def test_the_result_of_a_number_stays_weak():
    assert repr(imprint.eval_shape(lambda x: x + 1, 2.0)) == (
        "ShapeDtypeStruct(shape=(), dtype=float32, weak_type=True)"
    )


@pytest.mark.parametrize("when_compiled", [False, True])
def test_a_compiled_program_heeds_the_flags_of_the_call(when_compiled):
    def function(x):
        return {"a": x, "b": [x / x]}

    for tool, array, error in (
        (jax, jnp.zeros(2), Exception),
        (imprint, inp.zeros(2), NonFiniteError),
    ):
        with tool.debug_nans(when_compiled):
            compiled = tool.jit(function).lower(array).compile()
        assert compiled(array)["a"].tolist() == [0, 0]
        with tool.debug_nans(True):
            with pytest.raises(error, match=r"(?i)nan"):
                compiled(array)
            assert compiled(array + 1)["b"][0].tolist() == [1, 1]
        with tool.debug_infs(True):
            compiled(array)


def test_a_nan_of_a_compiled_program_is_named_by_its_result():
    compiled = (
        imprint.jit(lambda x: {"a": x, "b": [x / x]}).lower(inp.zeros(2)).compile()
    )
    match = r"lambda>: expected no NaN, got one as result\['b'\]\[0\]\. Call the jitted"
    with imprint.debug_nans(True), pytest.raises(NonFiniteError, match=match):
        compiled(inp.zeros(2))


def test_warm_calls_of_a_compiled_check_as_the_first_one():
    params = {name: inp.asarray(x) for name, x in PARAMS.items()}
    batch = {name: inp.asarray(x) for name, x in BATCH.items()}
    compiled = loss.lower(params, batch).compile()
    results = [compiled(params, batch)["loss"] for _ in range(3)]
    assert results == [8 * 9] * 3
    with pytest.raises(TypeError, match=r"as argument params\['w'\], got float32"):
        compiled({"w": inp.ones(3)}, batch)
    with pytest.raises(TypeError, match="structure"):
        compiled(params, {**batch, "z": inp.ones(3)})
    with imprint.debug_nans(True), pytest.raises(NonFiniteError, match="NaN"):
        compiled({"w": params["w"] + np.nan}, batch)
    assert compiled(PARAMS, batch)["loss"] == 8 * 9
    gone = params["w"] + 1
    gone.delete()
    with pytest.raises(imprint.errors.DeletedArrayError, match=r"deleted by a call"):
        compiled({"w": gone}, batch)
    assert compiled(params, batch)["loss"] == 8 * 9


def test_warm_calls_of_a_compiled_donate():
    compiled = (
        imprint.jit(lambda x: x * 2, donate_argnums=0).lower(inp.ones(3)).compile()
    )
    x = inp.ones(3) + 1
    for _ in range(4):
        x, given = compiled(x), x
        assert given.is_deleted()
    assert x.tolist() == [32, 32, 32]
