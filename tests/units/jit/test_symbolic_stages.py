"""A call lowered for symbolic sizes compiles to a function of every size."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, ShapeError

LENGTHS = (1, 2, 15, 16, 17, 100)


def struct(text, *constraints, dtype="float32"):
    shape = imprint.symbolic_shape(text, constraints=constraints)
    return imprint.ShapeDtypeStruct(shape, dtype)


def rows(n):
    return np.random.default_rng(n).standard_normal((n, 3), np.float32)


def summed(x):
    return {"mean": x.mean(0), "rest": x[1:] * 2}


@pytest.mark.parametrize("options", [{}, {"abstracted_axes": {0: "n"}}])
def test_one_compiled_object_takes_each_length(options):
    compiled = imprint.jit(summed, **options).lower(struct("n, 3")).compile()
    for n in LENGTHS:
        came, expected = compiled(rows(n)), imprint.jit(summed)(rows(n))
        np.testing.assert_allclose(came["mean"], expected["mean"], rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(came["rest"], expected["rest"])


def test_it_has_a_program_for_each_bucket():
    compiled = imprint.jit(summed).lower(struct("n, 3")).compile()
    programs: set[str] = set()
    for n in range(17, 49):
        compiled(rows(n))
        programs.add(compiled.as_text())
    assert len(programs) == 3


def test_a_function_that_cannot_be_padded_is_compiled_for_each_size():
    compiled = imprint.jit(inp.fft.fft).lower(struct("n")).compile()
    for n in (4, 5):
        np.testing.assert_allclose(compiled(np.ones(n, "f")), np.fft.fft(np.ones(n)))
    exact = imprint.jit(summed, buckets=None, abstracted_axes={0: "n"})
    exact = exact.lower(struct("n, 3")).compile()
    assert exact(rows(5))["rest"].shape == (4, 3)
    assert "5,3" in exact.as_text()


def test_sizes_may_be_expressions_and_constrained():
    x = struct("8*n", "n >= 100")
    compiled = imprint.jit(lambda x: x.reshape(8, -1).sum(0)).lower(x).compile()
    assert compiled(np.ones(808, "f")).shape == (101,)
    with pytest.raises(ShapeError, match="n >= 100"):
        compiled(np.ones(80, "f"))
    with pytest.raises(ShapeError, match="of shape"):
        compiled(np.ones(1001, "f"))


def test_a_length_of_zero_is_taken_where_it_is_stated():
    total = imprint.jit(lambda x: x.sum(0))
    assert total.lower(struct("n, 3", "n >= 0")).compile()(rows(0)).shape == (3,)
    with pytest.raises(ShapeError, match="at least 1"):
        total.lower(struct("n, 3")).compile()(rows(0))


def test_stages_show_their_shapes_with_names():
    lowered = imprint.jit(summed).lower(struct("n, 3"))
    assert "tensor<?x3xf32>" in lowered.as_text()
    assert "loc(" in lowered.as_text(debug_info=True)
    compiled = lowered.compile()
    for stage in (lowered, compiled):
        assert str(stage.in_avals[0][0].shape) == "(n, 3)"
        assert str(stage.out_avals["rest"].shape) == "(n - 1, 3)"


def test_the_reported_data_is_of_the_program_of_the_last_call():
    compiled = imprint.jit(summed).lower(struct("n, 3")).compile()
    assert "f32[16,3]" in compiled.as_text()
    few = compiled.cost_analysis()["flops"]
    compiled(rows(100))
    assert "f32[128,3]" in compiled.as_text()
    assert compiled.cost_analysis()["flops"] > few
    assert compiled.memory_analysis().argument_size_in_bytes > 128 * 3 * 4


def test_a_donated_array_is_deleted_with_and_without_a_copy():
    double = imprint.jit(lambda x: x * 2, donate_argnums=0)
    compiled = double.lower(struct("n, 3")).compile()
    for n in (5, 16):
        x = inp.asarray(rows(n))
        compiled(x)
        assert x.is_deleted()


def test_buckets_are_those_of_the_function():
    double = imprint.jit(lambda x: x * 2, abstracted_axes={0: "n"}, buckets=[10, 20])
    compiled = double.lower(struct("n")).compile()
    assert compiled(np.ones(12, "f")).shape == (12,)
    assert "f32[20]" in compiled.as_text()


def test_a_bucket_is_no_longer_than_the_constraints_allow():
    double = imprint.jit(lambda x: x * 2).lower(struct("n", "n <= 18")).compile()
    assert double(np.ones(17, "f")).shape == (17,)
    assert "f32[18]" in double.as_text()


def test_a_shape_that_does_not_fit_raises_with_both_shapes():
    f = imprint.jit(lambda x, y: x @ y)
    compiled = f.lower(*[imprint.ShapeDtypeStruct(s, "float32") for s in SHAPES])
    compiled = compiled.compile()
    assert compiled(np.ones((2, 5), "f"), np.ones((5, 3), "f")).shape == (2, 3)
    with pytest.raises(ShapeError, match=r"y of shape \(n, k\) where .*n = 5"):
        compiled(np.ones((2, 5), "f"), np.ones((4, 3), "f"))
    with pytest.raises(ArgumentError, match="compiled for; call the jitted"):
        compiled(np.ones((2, 5), "i"), np.ones((5, 3), "f"))
    with pytest.raises(ArgumentError, match="can be run"):
        imprint.jit(compiled)(np.ones((2, 5), "f"), np.ones((5, 3), "f"))


M, N, K = imprint.symbolic_shape("m, n, k")
SHAPES = ((M, N), (N, K))


def test_a_function_that_cannot_be_lowered_for_each_size_raises():
    (n, m), (other,) = imprint.symbolic_shape("n, m"), imprint.symbolic_shape("n")
    shapes = (n * m,), (n, other)
    for shape, message in zip(shapes, ("none for m, n", "one scope"), strict=True):
        with pytest.raises(ArgumentError, match=message):
            imprint.jit(lambda x: x).lower(imprint.ShapeDtypeStruct(shape, "float32"))
    with pytest.raises(ArgumentError, match="'hlo'"):
        imprint.jit(lambda x: x).lower(struct("n")).as_text("hlo")


def test_static_arguments_are_left_out_or_the_same():
    scaled = imprint.jit(lambda x, k: x * k, static_argnames="k")
    compiled = scaled.lower(struct("n"), k=3).compile()
    for result in (compiled(np.ones(4, "f")), compiled(np.ones(4, "f"), k=3)):
        np.testing.assert_array_equal(result, [3, 3, 3, 3])
    with pytest.raises(ArgumentError, match="static argument"):
        compiled(np.ones(4, "f"), k=4)


def test_a_function_lowered_for_all_sizes_is_lowered_as_usual():
    (n,) = imprint.symbolic_shape("n")
    f = imprint.jit(lambda x: x + 1)
    for shape in ((n,), (3,)):
        named = f.lower(imprint.ShapeDtypeStruct(shape, "float32"))
        assert type(named) is imprint.stages.Lowered
