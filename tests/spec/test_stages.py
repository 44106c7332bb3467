"""The stages by hand: trace, lower, compile, and what each tells about the program."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import ShapeDtypeStruct
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


def test_all_stages_together_give_what_a_call_gives(traced):
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
        assert stage.args_info == {
            "params['w']": struct(3, 2),
            "batch['x']": struct(4, 3),
            "batch['y']": struct(4, 2),
        }
        assert stage.out_info == {"error": struct(4, 2), "loss": struct()}
        assert stage.in_tree == imprint.tree.structure((PARAMS, BATCH))
        assert stage.out_tree == imprint.tree.structure({"loss": 0, "error": 0})
        assert [str(a) for a in stage.in_avals] == [
            *("float32[3,2]", "float32[4,3]", "float32[4,2]")
        ]
        assert [str(a) for a in stage.out_avals] == ["float32[4,2]", "float32[]"]


def test_traced_shows_the_jaxpr(traced):
    assert traced.fun_name == "loss"
    assert "integer_pow[y=3]" in str(traced.jaxpr)
    assert str(traced.jaxpr) == str(
        imprint.make_jaxpr(lambda p, b: loss.__wrapped__(p, b, 3))(PARAMS, BATCH)
    )


def test_lowered_shows_stablehlo_with_and_without_lines(traced):
    lowered = traced.lower()
    assert "stablehlo.dot_general" in lowered.as_text()
    assert "test_stages.py" not in lowered.as_text()
    assert "test_stages.py" in lowered.as_text(debug_info=True)
    assert lowered.compiler_ir() == lowered.as_text(debug_info=True)
    assert lowered.as_text("stablehlo") == lowered.as_text()


def test_compiled_shows_hlo_and_what_it_takes(traced):
    compiled = traced.lower().compile()
    assert compiled.as_text().startswith("HloModule jit_loss")
    assert compiled.cost_analysis()["flops"] > 0
    assert compiled.cost_analysis() == traced.lower().cost_analysis()
    memory = compiled.memory_analysis()
    assert memory.argument_size_in_bytes == 4 * (6 + 12 + 8)
    assert memory.output_size_in_bytes >= 4 * (8 + 1)
    assert memory.temp_size_in_bytes >= 0


def test_shapes_stand_for_arrays():
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


# ---- calling what was compiled ----


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
def test_a_compiled_says_which_argument_does_not_fit(traced, batch, message):
    with pytest.raises(TypeError, match=message):
        traced.lower().compile()(PARAMS, batch)


def test_a_compiled_donates():
    double = imprint.jit(lambda x: x * 2, donate_argnums=0)
    x = inp.ones(3) + 1
    compiled = double.lower(x).compile()
    assert compiled(x).tolist() == [4, 4, 4]
    assert x.is_deleted()


# ---- without computing ----


def test_eval_shape_computes_nothing():
    shape = imprint.eval_shape(lambda x, y: {"z": x @ y}, struct(5, 3), np.ones((3, 2)))
    assert shape == {"z": struct(5, 2)}
    huge = ShapeDtypeStruct((10**6, 10**6), "float32")
    assert imprint.eval_shape(inp.sin, huge) == huge
    assert loss.eval_shape(PARAMS, BATCH)["loss"] == struct()


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


def test_the_result_of_a_number_stays_weak():
    assert repr(imprint.eval_shape(lambda x: x + 1, 2.0)) == (
        "ShapeDtypeStruct(shape=(), dtype=float32, weak_type=True)"
    )
