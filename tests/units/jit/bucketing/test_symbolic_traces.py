"""One trace for all sizes: its conditions, refusals and nested calls."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ShapeError

N = {0: "n"}


def per_size(fun=None, spec=N, **options):
    if fun is None:
        return lambda fun: per_size(fun, spec, **options)
    return imprint.jit(fun, abstracted_axes=spec, buckets=None, **options)


def counted(traces):
    def normed(x):
        traces.append(x.shape)
        return (x - x.mean(0)) / x.shape[0], x.shape[0]

    return per_size(normed)


def test_one_trace_serves_all_sizes():
    traces = []
    f = counted(traces)
    for n in (1, 2, 5, 9, 5):
        x = np.arange(n * 2, dtype=np.float32).reshape(n, 2)
        result, size = f(x)
        np.testing.assert_allclose(result, (x - x.mean(0)) / n, rtol=1e-6, atol=1e-7)
        assert size == n
    assert [str(shape) for shape in traces] == ["(n, 2)"]
    assert len(f.versions) == 4
    f(np.ones((3, 4), np.float32))  # another length of an axis that has no name
    assert [str(shape) for shape in traces[1:]] == ["(n, 4)"]


def test_no_rows_are_traced_at_their_size():
    traces = []
    result, size = counted(traces)(np.ones((0, 2), np.float32))
    assert (result.shape, size, traces) == ((0, 2), 0, [(0, 2)])


def test_a_branch_makes_a_version_for_each_answer():
    traces = []

    @per_size
    def f(x):
        traces.append(None)
        return x[:4].sum() if x.shape[0] > 4 else x.sum() * 10

    answers = {n: float(f(np.ones(n, "f"))) for n in (2, 7, 4, 5, 3)}
    assert answers == {2: 20.0, 7: 4.0, 4: 40.0, 5: 4.0, 3: 30.0}
    assert len(traces) == 2
    conditions = {str(v).partition(" where ")[2] for v in f.versions}
    assert conditions == {
        *("n <= 4, n = 2", "n > 4, n = 7", "n <= 4, n = 4"),
        *("n > 4, n = 5", "n <= 4, n = 3"),
    }


def test_a_condition_that_follows_from_another_is_not_listed():
    @imprint.jit(abstracted_axes=N)
    def f(x):
        return x * (x.shape[0] >= 17) * (x.shape[0] >= 33)

    for n in (40, 20, 10):
        f(np.ones(n, "f"))
    conditions = [str(v).partition(" where ")[2] for v in f.versions]
    assert conditions == ["n >= 33, n <= 48", "n >= 17, n <= 24", "n <= 16"]


def test_questions_of_operations_are_conditions_too():
    @per_size(spec=(("n",), ("m",)))
    def f(x, y):
        return x + y if x.shape == y.shape else inp.concatenate([x, y])

    assert f(np.ones(3, "f"), np.ones(3, "f")).shape == (3,)
    assert f(np.ones(3, "f"), np.ones(4, "f")).shape == (7,)
    assert [str(v).partition(" where ")[2] for v in f.versions] == [
        "n == m, n = 3, m = 3",
        "n != m, n = 3, m = 4",
    ]


def test_a_function_that_needs_a_number_is_compiled_for_each_size_and_reported():
    traces = []

    @per_size
    def f(x):
        traces.append(x.shape)
        return sum(x[i] for i in range(x.shape[0]))

    assert float(f(np.ones(3, "f"))) == 3.0
    assert float(f(np.ones(4, "f"))) == 4.0
    assert [str(shape) for shape in traces] == ["(n,)", "(3,)", "(4,)"]
    said = str(f.explain(np.ones(3, "f")))
    assert "It is traced and compiled for each size: test_symbolic_traces.py:" in said
    assert "range(x.shape[0])" in said
    assert "It is traced and compiled for each size" in str(f.last_miss)


def test_a_function_that_fails_at_each_size_raises_as_without_names():
    def f(x):
        return x @ np.ones((3, 3), "f")

    def error(f):
        with pytest.raises(Exception, match=r"dot|matmul") as caught:
            f(np.ones((2, 4), "f"))
        return type(caught.value), str(caught.value)

    assert error(per_size(f)) == error(imprint.jit(f))


def test_a_global_that_changes_is_seen():
    @per_size
    def f(x):
        return x * FACTOR

    global FACTOR
    for factor in (2.0, 3.0):
        FACTOR = factor
        for n in (2, 3, 2):
            assert f(np.ones(n, "f"))[0] == factor
    FACTOR = 2.0
    assert f(np.ones(3, "f"))[0] == 2.0


FACTOR = 2.0


BY_SIZE = True


def total(x):
    return sum(x[i] for i in range(x.shape[0])) if BY_SIZE else x.sum()


def compiles_of(f, dtype, *sizes):
    """Call a function at sizes, and return how many programs that compiled."""
    before = imprint.debug.counters().compiles
    for n in sizes:
        assert float(f(np.ones(n, dtype))) == n
    return imprint.debug.counters().compiles - before


@pytest.mark.parametrize("generalise", ["auto", "off"])
def test_a_refused_function_is_retried_when_its_dependencies_change(
    monkeypatch, generalise
):
    is_auto = generalise == "auto"
    dtype = np.float32 if is_auto else np.int32  # programs of their own
    spec = None if is_auto else N
    f = imprint.jit(total, abstracted_axes=spec)
    f.clear_cache()
    with imprint.generalise(generalise):
        assert compiles_of(f, dtype, 3, 5, 6, 7) == 4
        assert "each size: test_symbolic_traces.py:" in str(f.last_miss)
        monkeypatch.setitem(globals(), "BY_SIZE", False)
        # A trial compiles the program for its size too.
        assert compiles_of(f, dtype, 3, 5, 6, 7) == (2 if is_auto else 1)
        assert "each size: test_symbolic_traces.py:" not in str(f.last_miss)
        monkeypatch.setitem(globals(), "BY_SIZE", True)
        assert compiles_of(f, dtype, 3, 5, 6, 7) == 0
        assert compiles_of(f, dtype, 8, 9) == 2


def test_branches_are_errors_in_a_trace_with_user_names():
    (n,) = imprint.symbolic_shape("n")
    f = per_size(lambda x: x if x.shape[0] > 4 else -x)
    struct = imprint.ShapeDtypeStruct((n,), "float32")
    for trace in (imprint.make_jaxpr(f), f.trace, f.eval_shape):
        with pytest.raises(ShapeError, match="State it: constraints="):
            trace(struct)


def test_user_names_are_traced_as_they_are():
    (n,) = imprint.symbolic_shape("k")
    struct = imprint.ShapeDtypeStruct((n, 2), "float32")
    f = per_size(lambda x: inp.concatenate([x, x]))
    assert f.eval_shape(struct).shape == (2 * n, 2)
    assert str(f.trace(struct).jaxpr.in_avals[0]) == "float32[k,2]"


def test_inside_another_function_the_sizes_are_the_callers():
    f = per_size(lambda x: x.sum() / x.shape[0], spec=({0: "n"},))
    x = np.arange(6, dtype=np.float32)
    assert imprint.jit(f)(x) == 2.5
    assert imprint.grad(f)(x)[0] == np.float32(1 / 6)
    assert imprint.vmap(f)(x.reshape(2, 3)).tolist() == [1.0, 4.0]
    outer = per_size(lambda x: f(x) + x.shape[0])
    assert [float(outer(np.ones(n, "f"))) for n in (2, 3)] == [3.0, 4.0]
    two = per_size(lambda x, y: x.sum() + y.sum())
    with pytest.raises(ShapeError, match="expected one size for n"):
        imprint.jit(two)(x, x[1:])


def test_derivatives_are_traced_once():
    traces = []

    def loss(w, x):
        traces.append(None)
        return inp.mean(inp.tanh(x @ w) ** 2)

    f = per_size(imprint.value_and_grad(loss), spec=(None, N))
    w = np.ones((3, 2), "f")
    for n in (2, 5, 7):
        x = np.ones((n, 3), "f") / 3
        value, slope = f(w, x)
        expected, gradient = imprint.value_and_grad(loss)(inp.asarray(w), x)
        np.testing.assert_allclose(value, expected, rtol=1e-5)
        np.testing.assert_allclose(slope, gradient, rtol=1e-5)
    assert len(traces) == 1 + 3


def test_a_result_that_is_no_array_may_hold_no_size():
    @imprint.filter_jit(abstracted_axes=N, buckets=None)
    def f(x):
        n = x.shape[0]
        return x, n, lambda: n

    for n in (3, 4):
        _, size, text = f(np.ones(n, "f"))
        assert (size, text()) == (n, n)
    assert "the function returns a size in what is no array" in str(f.last_miss)


def test_a_donated_argument_is_taken():
    f = per_size(lambda x: x * 2, donate_argnums=0)
    for n in (3, 4):
        x = inp.ones(n) + 0
        assert f(x).shape == (n,)
        assert x.is_deleted()


def test_threads_trace_families_of_their_own():
    f = per_size(lambda x: x * (10 if x.shape[0] > 4 else 1))
    with ThreadPoolExecutor(4) as pool:
        sizes = [2, 7, 3, 6, 4, 5] * 3
        found = list(pool.map(lambda n: float(f(np.ones(n, "f"))[0]), sizes))
    assert found == [10.0 if n > 4 else 1.0 for n in sizes]


def test_an_audit_finds_a_stale_trace_of_all_sizes_and_no_other():
    f = per_size(lambda x: (x * 2).mean())
    with imprint.audit(1.0):
        for n in (2, 3, 2, 3):
            assert f(np.ones(n, "f")) == 2.0


def test_a_function_that_looks_a_size_up_is_traced_at_each_size():
    scales = {3: 10.0, 5: 20.0}

    @imprint.jit(abstracted_axes=N)
    def scaled(x):
        if x.shape[0] in {3, 4}:
            x = x + 1
        return x * scales.get(x.shape[0], 1.0)

    for n in (3, 4, 5, 6):
        x = np.ones(n, np.float32)
        wanted = (x + (n in {3, 4})) * scales.get(n, 1.0)
        np.testing.assert_array_equal(scaled(x), wanted)
    text = str(scaled.last_miss)
    assert (
        "a set or dictionary that is asked for the size n: expected a number, got a size "
        "that stands for many. Ask with == instead."
    ) in text
