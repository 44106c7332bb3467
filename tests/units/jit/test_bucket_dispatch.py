"""Automatic buckets from the third size on, if results equal the plain program's."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.bucket_dispatch import difference
from imprint._src.jit.compilation.counters import COUNTERS
from imprint.testing import max_compiles

pytestmark = [
    pytest.mark.unaudited,  # they count traces
    # Tests share functions, so how often one was compiled depends on which of them ran.
    pytest.mark.filterwarnings("ignore:.* was compiled .* times"),
]


@pytest.fixture(autouse=True)
def _auto():
    with imprint.generalise("auto"):
        yield


def jit(f, **options):
    """Compile a function that no other test has called."""
    jitted = imprint.jit(f, **options)
    jitted.clear_cache()
    return jitted


def rows(*shape):
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def conditions(f):
    return [str(v).partition(" where ")[2] for v in f.versions]


def check(f, plain, *calls, **options):
    """Call a compiled function, and compare each result with the plain function's."""
    jitted = jit(f, **options)
    for args in calls:
        expected = plain(*args)
        got = jitted(*args)
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    return jitted


def centred(x):
    return x - x.mean(0)


def test_the_third_size_is_a_bucket_for_those_that_follow():
    traces = []

    def f(x):
        traces.append(x.shape)
        return centred(x)

    jitted = check(f, centred, *[(rows(n, 3),) for n in (5, 6, 7, 8, 16, 20, 24)])
    assert [str(shape) for shape in traces] == ["(5, 3)", "(6, 3)", "(n, 3)", "(7, 3)"]
    assert conditions(jitted) == ["", "", "", "n <= 16", "n <= 24"]
    hits = jitted.cache_info().hits
    jitted(rows(9, 3))
    assert jitted.cache_info().hits == hits + 1
    assert jitted.explain(rows(10, 3)).hit


def test_sizes_of_0_and_1_have_programs_of_their_own():
    def f(x, y):
        return (x + y).sum(0) * x.shape[0]

    def pair(n, m):
        return rows(n, 2), rows(m, 2)

    sizes = [(5, 5), (6, 6), (7, 7), (8, 8), (1, 1), (9, 1), (1, 9), (0, 0), (0, 1)]
    jitted = check(f, f, *[pair(n, m) for n, m in sizes])
    assert conditions(jitted) == ["", "", "", "n <= 16", *[""] * 5]
    text = jitted.explain(*pair(1, 3)).differences[0].remedy
    assert text.endswith("sizes of 0 and 1 have programs of their own.")


def test_axes_that_part_have_two_names():
    def f(x, y):
        return x.sum() * y

    sizes = [(5, 5), (6, 6), (7, 7), (8, 8), (8, 9), (9, 10), (12, 11)]
    jitted = check(f, f, *[(rows(n), rows(m)) for n, m in sizes])
    assert conditions(jitted) == [*[""] * 3, "n <= 16", "", "n <= 16, m <= 16"]


def test_each_answer_to_a_question_is_traced():
    def f(x):
        return x[:8].sum() if x.shape[0] > 8 else x.sum() * 10

    jitted = check(f, f, *[(rows(n),) for n in (3, 4, 5, 6, 9, 10, 8, 17)])
    assert conditions(jitted) == [
        *("", "", "", "n <= 8"),
        *("", "n > 8, n <= 16", "n > 8, n <= 24"),
    ]


def test_past_four_answers_each_size_is_by_itself():
    traces = []

    def counted(x):
        traces.append(None)
        for k in range(3, 10):
            if x.shape[0] == k:
                return x * k
        return x

    def plain(x):
        return x * len(x)

    jitted = check(counted, plain, *[(rows(n),) for n in range(3, 10)])
    assert len(traces) == 7 + 4
    assert len(jitted.versions) == 7 + 4


def test_a_line_that_needs_a_number_is_compiled_for_each_size_and_named():
    traces = []

    def f(x):
        traces.append(str(x.shape))
        return sum(x[i] for i in range(x.shape[0]))

    jitted = check(f, lambda x: x.sum(), *[(rows(n),) for n in (3, 4, 5, 6)])
    assert traces == ["(3,)", "(4,)", "(n,)", "(5,)", "(6,)"]
    text = str(jitted.explain(rows(6)))
    assert "It is traced and compiled for each size: test_bucket_dispatch.py:" in text
    assert "range(x.shape[0])" in text
    (why,) = jitted.explain(rows(9)).differences
    assert why.remedy.startswith(
        "n is compiled for each size: test_bucket_dispatch.py:"
    )


def test_a_refused_function_is_not_traced_for_other_answers():
    traces = []

    def f(x):
        traces.append(str(x.shape))
        doubled = x * 2 if x.shape[0] == 6 else x + x
        return sum(doubled[i] for i in range(x.shape[0]))

    check(f, lambda x: 2 * x.sum(), *[(rows(n),) for n in (3, 4, 5, 6)])
    assert traces == ["(3,)", "(4,)", "(n,)", "(5,)", "(6,)"]


def test_a_line_without_a_padding_rule_is_compiled_for_each_size_and_named():
    def f(x):
        return inp.fft.fft(x).real

    jitted = check(f, lambda x: np.fft.fft(x).real, *[(rows(n),) for n in (4, 5, 6, 7)])
    assert conditions(jitted) == [""] * 4
    assert "each size: fft at test_bucket_dispatch.py:" in str(jitted.last_miss)


def test_a_program_with_another_result_is_not_used():
    def f(x):
        return x * (2 if type(x.shape[0]) is int else 3)

    jitted = check(f, lambda x: x * 2, *[(rows(n),) for n in (3, 4, 5, 6)])
    assert conditions(jitted) == [""] * 4
    text = (
        "It is traced and compiled for each size: in a trial at n = 5, the program for "
        "a bucket gave another result."
    )
    assert text in str(jitted.explain(rows(5)))
    assert text in str(jitted.last_miss)


def test_a_program_that_fails_is_not_used():
    def f(x):
        if type(x.shape[0]) is int:
            return x * 2
        raise imprint.errors.ShapeError("no such sizes.")

    jitted = check(f, lambda x: x * 2, *[(rows(n),) for n in (3, 4, 5, 6)])
    assert "no such sizes." in str(jitted.last_miss)


def test_a_refusal_of_two_names_leaves_the_present_one():
    def f(x):
        return inp.fft.fft(x, axis=0).real + x.sum(1, keepdims=True)

    def plain(x):
        return np.fft.fft(x, axis=0).real + x.sum(1, keepdims=True)

    sizes = [(4, 5), (4, 6), (4, 7), (4, 8), (5, 8), (6, 9), (4, 9)]
    jitted = check(f, plain, *[(rows(*shape),) for shape in sizes])
    before = len(jitted.versions)
    jitted(rows(4, 10))
    jitted(rows(4, 11))
    assert len(jitted.versions) == before


HERE = imprint.sharding.NamedSharding(
    imprint.sharding.Mesh(np.array(imprint.devices()[:1]), ("x",)),
    imprint.sharding.PartitionSpec(),
)


@pytest.mark.filterwarnings("ignore:.* expected at most 3 versions")
@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"donate_argnums": 0}, None),
        ({"max_versions": 3}, None),
        ({"in_shardings": HERE}, None),
        ({}, HERE),
    ],
    ids=["donation", "no room for both", "a mesh", "arrays on a mesh"],
)
def test_calls_without_automatic_buckets(options, place):
    jitted = jit(centred, **options)
    for n in (3, 4, 5):
        x = imprint.device_put(rows(n, 2), place)
        assert jitted(x).shape == (n, 2)
    assert conditions(jitted) == [""] * 3
    assert "each size" not in str(jitted.last_miss)


def test_under_a_compile_limit_the_trial_waits():
    jitted = jit(centred)
    for n in (3, 4):
        jitted(rows(n, 2))
    with max_compiles(1):
        jitted(rows(5, 2))
    assert conditions(jitted) == [""] * 3
    jitted(rows(6, 2))
    assert conditions(jitted) == [*[""] * 4, "n <= 16"]


def test_loops_outside_of_traces_are_not_tried():
    before = COUNTERS.misses
    for n in (3, 4, 5):
        imprint.lax.fori_loop(0, 3, lambda _, x: x * 2, rows(n))
    assert COUNTERS.misses == before + 3


def test_random_numbers_are_those_of_the_true_size():
    def f(key, x):
        return imprint.random.uniform(key, x.shape) + x

    key = imprint.random.key(0)
    jitted = check(f, f, *[(key, rows(n)) for n in (3, 4, 5, 6)])
    assert conditions(jitted)[-1] == "n <= 16"


def test_an_effect_happens_once_a_call():
    seen = []

    def f(x):
        imprint.debug.callback(lambda total: seen.append(float(total)), x.sum())
        return x * 2

    jitted = jit(f)
    for n in (3, 4, 5, 6):
        jitted(np.ones(n, np.float32))
    imprint.effects_barrier()
    assert seen == [3.0, 4.0, 5.0, 6.0]
    assert "what has them is not tried" in str(jitted.last_miss)


def test_models_and_trees_are_generalised():
    class Scaled(imprint.Module):
        scale: imprint.Array

        def __call__(self, batch, *, kind):
            return {kind: batch["x"] * self.scale, "kind": kind}

    model = imprint.filter_jit(Scaled(inp.asarray(2.0)))
    for n in (3, 4, 5, 6, 7):
        found = model({"x": rows(n)}, kind="y")
        np.testing.assert_array_equal(found["y"], rows(n) * 2)
        assert found["kind"] == "y"
    assert conditions(model) == ["", "", "", "n <= 16"]


def test_dependencies_of_the_function_are_guarded():
    @imprint.jit
    def f(x):
        return x * FACTOR

    global FACTOR
    for factor in (2.0, 3.0, 2.0):
        FACTOR = factor
        for n in (3, 4, 5, 6, 7):
            assert f(np.ones(n, np.float32)).tolist() == [factor] * n
    FACTOR = 2.0
    before = len(f.versions)
    assert f(np.ones(9, np.float32))[0] == 2.0
    assert len(f.versions) == before


FACTOR = 2.0


def test_derivatives_and_nested_calls_are_generalised():
    inner = jit(lambda w, x: inp.mean(inp.tanh(x @ w) ** 2))
    w = rows(3, 2)

    def plain(w, x):
        with imprint.disable_jit():
            return imprint.grad(lambda w: inp.mean(inp.tanh(x @ w) ** 2))(
                inp.asarray(w)
            )

    jitted = check(imprint.grad(inner), plain, *[(w, rows(n, 3)) for n in (3, 4, 5, 9)])
    assert conditions(jitted)[-1] == "n <= 16"


def test_the_flag_decides_at_each_call():
    jitted = check(centred, centred, *[(rows(n, 3),) for n in (5, 6, 7, 8)])
    with imprint.generalise("ask"):
        assert not jitted.explain(rows(9, 3)).hit
        jitted(rows(9, 3))
        assert conditions(jitted)[-1] == ""
    before = len(jitted.versions)
    jitted(rows(10, 3))
    assert len(jitted.versions) == before
    jitted.clear_cache()
    jitted(rows(10, 3))
    assert conditions(jitted) == [""]


def test_an_audit_finds_a_program_for_a_bucket_as_it_was():
    with imprint.audit(1.0):
        check(centred, centred, *[(rows(n, 3),) for n in (5, 6, 7, 8, 8, 7)])


# ---- are two results equal? ----

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("x", "y", "dtype", "equal"),
    [
        ([1.0, NAN, INF], [1.0 + 1e-5, NAN, INF], "float32", True),
        ([1.0, 2.0], [1.0, 2.01], "float32", False),
        ([1.0, NAN], [1.0, 2.0], "float32", False),
        ([1.0, INF], [1.0, -INF], "float32", False),
        ([1.0, 2.0], [1.0, INF], "float32", False),
        ([1e6, 1e-3], [1e6, 2e-3], "float32", True),  # of the rest of large ones
        ([1.0, 1e-3], [1.0, 2e-3], "float32", False),
        ([1.0, 2.0], [1.0, 2.03], "bfloat16", True),
        ([1.0, 2.0], [1.0, 2.5], "bfloat16", False),
        ([1 + 1j, NAN], [1 + 1j, NAN], "complex64", True),
        ([1 + 1j], [1 - 1j], "complex64", False),
        ([1, 2], [1, 3], "int32", False),
        ([True], [False], "bool", False),
        ([], [], "float32", True),
    ],
)
def test_numbers_are_equal_but_for_the_order_of_sums(x, y, dtype, equal):
    text = difference({"a": inp.array(x, dtype)}, {"a": inp.array(y, dtype)})
    wanted = "" if equal else "the program for a bucket gave another result['a']."
    assert text == wanted


def test_results_of_another_type_are_reported():
    x = inp.ones(2)
    assert (
        difference(x, x.astype(int)) == "the program for a bucket gave another result."
    )
    assert difference([x, 1], [x, 2]).endswith("another result[1].")
    assert difference([x, "a"], [x, "a"]) == ""
    assert "gave" in difference([x], (x,))
