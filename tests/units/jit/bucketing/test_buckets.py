"""Programs for buckets: sizes share executables, and results are those of the true size."""

import gc
import weakref

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint._src import runtime
from imprint._src.array import padding_of
from imprint._src.jit.bucketing.buckets import bucket_of
from imprint.errors import ArgumentError, DeletedArrayError

N = {0: "n"}
RNG = np.random.default_rng(0)


def rows(n, m=3):
    return RNG.standard_normal((n, m), np.float32)


def bounds(f):
    return [str(v).partition(" where ")[2] for v in f.versions]


def test_the_buckets_are_powers_of_two_and_their_one_and_a_half_fold():
    found = [bucket_of("pow2", "n", n, "f") for n in range(1, 4097)]
    assert all(a >= n for n, a in enumerate(found, 1))
    assert sorted({*found}) == [
        *(16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024),
        *(1536, 2048, 3072, 4096),
    ]
    assert {n for n in found if bucket_of("pow2", "n", n, "f") != n} == set()


def normed(x):
    y = inp.tanh(x - x.mean(0))
    return {"y": y, "n": x.shape[0], "top": y.max(0), "one": y[1:], "sum": y.sum(1)}


def test_results_are_those_of_the_true_size():
    traces = []

    def f(x):
        traces.append(None)
        return normed(x)

    jitted = imprint.jit(f, abstracted_axes=N)
    for n in (2, 17, 16, 24, 5, 20):
        x = rows(n)
        for given in (x, inp.asarray(x), x.astype(np.float64)):
            came, expected = jitted(given), normed(inp.asarray(x))
            assert came["n"] == n
            for name in ("y", "top", "one", "sum"):
                assert came[name].shape == expected[name].shape
                np.testing.assert_allclose(came[name], expected[name], atol=1e-5)
    assert len(traces) == 1
    assert bounds(jitted) == ["n <= 16", "n <= 24"]
    assert sum(v.hits for v in jitted.versions) == 18
    assert str(jitted.versions[0]).startswith("f(x: float32[n,3]) where")


def test_a_result_is_an_array_like_any_other():
    f = imprint.jit(lambda x: (x * 2, (x * 2).T), abstracted_axes=N)
    x = rows(5)
    long, wide = f(x)
    assert (long.shape, wide.shape, long.size) == ((5, 3), (3, 5), 15)
    assert not long.is_deleted()
    assert long.block_until_ready() is long
    np.testing.assert_array_equal(np.asarray(wide), (x * 2).T)
    np.testing.assert_array_equal(imprint.jit(lambda x: x + 1)(wide), (x * 2).T + 1)
    np.testing.assert_array_equal(long[1:3] + 1, x[1:3] * 2 + 1)
    assert imprint.device_put(long).tolist() == (x * 2).tolist()
    long.delete()
    assert long.is_deleted()
    with pytest.raises(DeletedArrayError):
        np.asarray(long)


def test_results_are_where_the_arguments_are():
    f = imprint.jit(lambda x: x * 2, abstracted_axes=N)
    x = imprint.device_put(rows(5), imprint.devices()[0])
    for _ in range(2):
        x = f(x)
        assert x.committed
    assert not f(rows(5)).committed


def test_two_names_have_a_bucket_each():
    f = imprint.jit(lambda x, y: (x @ y.T).sum(1), abstracted_axes=(("n",), ("m",)))
    for n, m in ((3, 30), (17, 3), (16, 25), (1, 1)):
        x, y = rows(n), rows(m)
        np.testing.assert_allclose(f(x, y), (x @ y.T).sum(1), rtol=1e-4, atol=1e-5)
    assert bounds(f) == [
        "n <= 16, m <= 32",
        "n <= 24, m <= 16",
        "n <= 16, m <= 16",
    ]


def test_a_branch_has_programs_of_its_own():
    f = imprint.jit(
        lambda x: x[:4].sum() if x.shape[0] > 4 else x.sum() * 10, abstracted_axes=N
    )
    for n, expected in ((2, 20.0), (7, 4.0), (4, 40.0), (5, 4.0)):
        assert f(np.ones(n, np.float32)) == expected
    assert bounds(f) == ["n <= 4", "n > 4, n <= 16"]


@pytest.mark.parametrize("count", [lambda x: x.shape[0], lambda x: x.size])
def test_a_branch_for_one_element_has_a_bucket_of_one(count):
    def f(x):
        n = count(x)
        pairs = inp.arange(2 * n).reshape(2, n)
        return pairs if n < 2 else pairs * 10

    named = imprint.jit(f, abstracted_axes=("n", "m"))
    for shape, factor in (((1, 1), 1), ((2, 1), 10)):
        n = count(np.ones(shape))
        expected = np.arange(2 * n).reshape(2, n) * factor
        np.testing.assert_array_equal(named(np.ones(shape, np.float32)), expected)


def test_a_bucket_is_no_longer_than_the_sizes_of_its_branch():
    f = imprint.jit(lambda x: x + x if x.shape[0] <= 20 else x, abstracted_axes=N)
    x = f(np.ones(18, np.float32))
    assert padding_of(x).shape == (20,)
    seen = padding_of(x)
    assert f(x).tolist() == [4.0] * 18
    assert padding_of(x) is seen
    assert bounds(f) == ["n <= 20"]


def test_gradients_are_those_of_the_true_size():
    def loss(w, x):
        return inp.mean(inp.tanh(x @ w) ** 2)

    f = imprint.jit(imprint.value_and_grad(loss), abstracted_axes=(None, N))
    w = rows(3, 2)
    for n in (4, 11):
        x = rows(n)
        value, slope = f(w, x)
        expected, gradient = imprint.value_and_grad(loss)(inp.asarray(w), x)
        np.testing.assert_allclose(value, expected, rtol=1e-4)
        np.testing.assert_allclose(slope, gradient, rtol=1e-4, atol=1e-6)
    assert len(f.versions) == 1


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float8_e4m3fn"])
def test_nothing_in_the_padding_is_before_a_negative_nan(dtype):
    x = inp.asarray([-np.nan, -np.inf, 1.0, -2.0], dtype=dtype)
    f = imprint.jit(lambda x: lax.top_k(x, 4), abstracted_axes=N)
    values, at = f(x)
    wanted, places = lax.top_k(x, 4)
    np.testing.assert_array_equal(at, places)
    np.testing.assert_array_equal(
        np.asarray(values, np.float32), np.asarray(wanted, np.float32)
    )
    assert bounds(f)[-1] == "n >= 4, n <= 16"


def test_existing_elements_come_in_order():
    def f(x):
        values, at = lax.top_k(x, x.shape[0])
        return values, at, lax.top_k(x, x.shape[0] // 2)[1]

    named = imprint.jit(f, abstracted_axes=N)
    slope = imprint.jit(
        imprint.grad(lambda x: (f(x)[0] * inp.arange(x.size)).sum()), abstracted_axes=N
    )
    for n in (2, 5, 16, 20):
        x = rows(n, 1)[:, 0]
        for came, expected in zip(named(x), f(inp.asarray(x)), strict=True):
            np.testing.assert_array_equal(came, expected)
        np.testing.assert_array_equal(slope(x), np.argsort(np.argsort(-x)))
    assert bounds(named) == bounds(slope) == ["n <= 16", "n <= 24"]


def test_a_function_without_padding_is_compiled_for_each_size_and_reported():
    f = imprint.jit(lambda x: inp.fft.fft(x).real, abstracted_axes=N)
    for n in (4, 7):
        x = rows(n, 1)[:, 0]
        np.testing.assert_allclose(f(x), np.fft.fft(x).real, atol=1e-4)
    assert bounds(f) == ["n = 4", "n = 7"]
    said = str(f.explain(x))
    assert "It is compiled for each size: fft at test_buckets.py:" in said
    assert "`inp.fft.fft(x)`" in said


def test_a_result_in_the_bucket_is_taken_as_it_is():
    f = imprint.jit(lambda x: x + 1, abstracted_axes=N)
    first = f(rows(1000))
    seen = padding_of(first)
    assert seen.shape == (1024, 3)
    second = f(first)
    assert padding_of(first) is seen
    np.testing.assert_array_equal(second, np.asarray(first) + 1)


def test_waiting_for_a_result_copies_nothing(monkeypatch):
    f = imprint.jit(lambda x: x + 1, abstracted_axes=N)
    result = f(rows(1000))
    monkeypatch.delattr(runtime, "put")
    assert result.block_until_ready() is result
    assert result.is_ready()


def test_memory_for_more_elements_is_taken_as_it_is():
    x = inp.pad_to(inp.asarray(rows(1000)), 1024)
    assert x.shape == (1000, 3)
    assert padding_of(x).shape == (1024, 3)
    f = imprint.jit(lambda x: x.sum(0), abstracted_axes=N)
    np.testing.assert_allclose(f(x), np.asarray(x).sum(0), rtol=1e-4, atol=1e-4)
    both = inp.pad_to(inp.pad_to(x, 1024), 4, axis=-1)
    assert (both.shape, padding_of(both).shape) == ((1000, 3), (1024, 4))
    assert inp.pad_to(x, 1000).shape == (1000, 3)
    assert imprint.jit(lambda x: inp.pad_to(x, 2000) * 2)(x).shape == (1000, 3)


def added(x):
    return x + 1, x.sum(0)


def test_elements_behind_the_end_of_prefixes_are_never_added():
    def f(x):
        up, down = inp.cumsum(x), lax.cumsum(x, reverse=True)
        return (
            up.sum(),
            down.sum(),
            imprint.grad(lambda x: (inp.cumsum(x) ** 2).sum())(x),
        )

    named = imprint.jit(f, abstracted_axes=N)
    for came, expected in zip(named(np.ones(3, "f")), f(inp.ones(3)), strict=True):
        np.testing.assert_array_equal(came, expected)


def test_elements_behind_a_reused_array_are_never_added():
    f = imprint.jit(added, abstracted_axes=N)
    x = np.arange(51, dtype=np.float32).reshape(17, 3)
    expected = x
    for _ in range(3):  # a result has ones behind it, then twos
        x, total = f(x)
        np.testing.assert_array_equal(total, expected.sum(0))
        expected = expected + 1
    assert np.asarray(padding_of(x))[17:].all()
    assert bounds(f) == ["n <= 24", "n <= 24 in reused memory"]
    for given in (np.asarray(x), x, x + 0):  # each finds its program
        assert f.explain(given).hit
        np.testing.assert_array_equal(f(given)[1], expected.sum(0))
    assert [v.hits for v in f.versions] == [3, 3]
    long = inp.pad_to(x, 24)
    np.testing.assert_array_equal(f(long)[1], expected.sum(0))
    assert [v.hits for v in f.versions] == [3, 4]


def test_elements_behind_a_donated_array_are_never_added():
    f = imprint.jit(added, abstracted_axes=N, donate_argnums=0)
    x = rows(1000)
    expected = x
    for _ in range(3):
        x, total = f(x)
        np.testing.assert_allclose(total, expected.sum(0), rtol=1e-3, atol=1e-2)
        expected = expected + 1


def test_elements_behind_one_of_two_arrays_are_never_added():
    f = imprint.jit(lambda x, y: (x + 1, (x * y).sum(), y.sum()), abstracted_axes=N)
    ones = np.ones(5, np.float32)
    long, *_ = f(ones, ones)
    for x, y in ((long, ones), (ones, long), (long, long), (ones, ones)):
        assert f(x, y)[1:] == (float(np.dot(x, y)), float(np.sum(y)))
    assert len(f.versions) == 2


def test_an_array_that_is_copied_into_another_bucket_is_followed_by_zeros():
    f = imprint.jit(added, abstracted_axes=N)
    g = imprint.jit(added, abstracted_axes=N, buckets=[20])
    long, _ = f(np.ones(5, np.float32))
    assert g(long)[1] == 10
    assert bounds(g) == ["n <= 20"]


def test_a_program_without_a_mask_exists_once():
    f = imprint.jit(lambda x: inp.tanh(x).max(0) + x, abstracted_axes=N)
    x = f(rows(5))
    f(f(x))
    assert bounds(f) == ["n <= 16"]


def test_a_miss_reports_reused_memory():
    f = imprint.jit(added, abstracted_axes=N)
    x, _ = f(np.ones(5, np.float32))
    (change,) = f.explain(x).differences
    assert str(change) == "x.shape[0]: n≤16 → 5"
    f(x)
    (change,) = f.last_miss.differences
    assert str(change) == "x.shape[0]: n≤16 → n≤16 in reused memory"
    assert change.remedy == (
        "x is in the memory of its bucket: zeros cannot be counted on there, so these "
        "calls share a second program."
    )


def test_a_donated_argument_in_the_bucket_gives_its_memory():
    f = imprint.jit(lambda x: x * 2, abstracted_axes=N, donate_argnums=0)
    x = inp.asarray(rows(1000))
    expected = np.asarray(x).copy()
    for _ in range(3):
        given, x = x, f(x)
        expected = expected * 2
        assert given.is_deleted()
        with pytest.raises(DeletedArrayError, match="donated as argument x"):
            np.asarray(given)
    np.testing.assert_array_equal(x, expected)
    (version,) = f.versions
    assert "input_output_alias={ {}: (0, {}, may-alias) }" in version.hlo


def test_a_result_is_cut_without_a_copy_or_a_program():
    f = imprint.jit(lambda x: (x * 2, x.T * 2), abstracted_axes=N)
    before = imprint.debug.counters().compiles
    long, wide = f(rows(1000))
    assert np.shares_memory(np.asarray(long), np.asarray(padding_of(long)))
    assert wide.shape == np.asarray(wide).shape == (3, 1000)
    assert imprint.debug.counters().compiles == before + 1


def test_a_view_of_a_donated_result_stays():
    f = imprint.jit(lambda x: x * 2, abstracted_axes=N, donate_argnums=0)
    x = f(rows(1000))
    seen = np.asarray(x)
    before = seen.copy()
    f(x)
    np.testing.assert_array_equal(seen, before)


def test_nan_checks_see_no_padding():
    f = imprint.jit(lambda x: x / x, abstracted_axes=N)
    with imprint.debug_nans(True):
        assert f(np.ones(5, np.float32)).tolist() == [1.0] * 5


def test_a_size_over_the_last_bucket_warns_once():
    f = imprint.jit(lambda x: x.sum(), abstracted_axes=N, buckets=[8, 20])
    assert f(np.ones(9, np.float32)) == 9
    with pytest.warns(UserWarning, match="expected sizes of n") as text:
        assert f(np.ones(41, np.float32)) == 41
    assert f(np.ones(70, np.float32)) == 70
    assert str(text[0].message) == (
        "<lambda>: expected sizes of n up to the last bucket, 20, got 41: a bucket of 80 "
        "is added. Put it into buckets=, or use 'pow2'."
    )
    assert bounds(f) == ["n <= 20", "n <= 80"]


def test_a_miss_names_the_previous_bucket():
    f = imprint.jit(lambda x: x.sum(), abstracted_axes=N)
    f(np.ones(9, np.float32))
    (change,) = f.explain(np.ones(20, np.float32)).differences
    assert str(change) == "x.shape[0]: n≤16 → 20"
    assert change.remedy == "A program is compiled for each bucket of lengths."
    assert len(f.explain(np.ones((3, 4), np.float32)).differences) == 1
    f(np.ones(20, np.float32))
    assert str(f.last_miss.differences[0]) == "x.shape[0]: n≤16 → n≤24"
    assert f.explain(np.ones(3, np.float32)).hit


def test_buckets_are_those_of_a_function():
    f = imprint.jit(
        lambda x: x.sum(), abstracted_axes=N, buckets=lambda n: -(-n // 10) * 10
    )
    for n in (3, 9, 10, 11):
        assert f(np.ones(n, np.float32)) == n
    assert bounds(f) == ["n <= 10", "n <= 20"]
    small = imprint.jit(lambda x: x.sum(), abstracted_axes=N, buckets=lambda n: n - 1)
    with pytest.raises(ArgumentError) as caught:
        small(np.ones(3, np.float32))
    assert str(caught.value) == (
        "<lambda>: expected buckets(3), for a size of n, to be a whole number of at "
        "least 3, got 2. Round up: lambda n: -(-n // 64) * 64."
    )


def test_no_elements_are_right():
    f = imprint.jit(lambda x: (x * 2, x.sum()), abstracted_axes=N)
    doubled, total = f(np.ones(0, np.float32))
    assert (doubled.shape, total) == ((0,), 0)


def test_random_numbers_are_those_of_the_true_size():
    def f(key, x):
        return imprint.random.normal(key, x.shape)

    jitted = imprint.jit(f, abstracted_axes=(None, N))
    key = imprint.random.key(0)
    for n in (5, 12):
        x = np.ones(n, np.float32)
        np.testing.assert_allclose(jitted(key, x), f(key, x), rtol=1e-6)


def test_models_are_flattened():
    class Model(imprint.Module):
        w: imprint.Array
        activation: object

        def __call__(self, x):
            return self.activation(x @ self.w)

    model = imprint.filter_jit(
        Model(rows(3, 2), inp.tanh), abstracted_axes=(N,), donate="none"
    )
    for n in (3, 9):
        assert model(rows(n)).shape == (n, 2)
    assert len(model.versions) == 1

    @imprint.filter_jit(abstracted_axes={"x": N})
    def step(model, x):
        return model, model(x).sum(0)

    for n in (3, 9):
        same, total = step(Model(rows(3, 2), inp.tanh), rows(n))
        assert (same.activation, total.shape) == (inp.tanh, (2,))
    assert len(step.versions) == 1


def test_a_global_that_comes_back_finds_its_program():
    f = imprint.jit(lambda x: x * FACTOR, abstracted_axes=N)
    global FACTOR
    for factor in (2.0, 3.0, 2.0, 3.0):
        FACTOR = factor
        for n in (2, 3):
            assert f(np.ones(n, np.float32))[0] == factor
    FACTOR = 2.0
    assert len(f.versions) == 2


FACTOR = 2.0


def test_an_audit_traces_for_all_sizes():
    f = imprint.jit(lambda x: (x * 2).mean(), abstracted_axes=N)
    with imprint.audit(1.0):
        for n in (2, 3, 2, 30):
            assert f(np.ones(n, np.float32)) == 2.0


def test_the_arguments_of_a_call_are_let_go():
    f = imprint.jit(lambda x: x.sum(), abstracted_axes=N)
    for _ in range(2):
        x = inp.asarray(rows(1000))
        seen = weakref.ref(x)
        f(x)
        del x
        gc.collect()
        assert seen() is None


@pytest.mark.parametrize(
    ("wrapped", "spec"),
    [
        (lambda x: x, {"arg": {0: "n"}}),
        (lambda x: {"mask": x}, {"arg": {"mask": {0: "n"}}}),
        (lambda x: [1.0, {"k": x}], {"arg": (None, {"k": {0: "n"}})}),
    ],
)
def test_the_second_length_proposes_options_to_paste(wrapped, spec):
    def total(arg):
        return sum(leaf.sum() for leaf in map(inp.asarray, imprint.tree.leaves(arg)))

    f = imprint.jit(total)
    f(wrapped(np.ones(3, np.float32)))
    proposal = str(f.explain(wrapped(np.ones(4, np.float32)))).partition("name it: ")[2]
    assert proposal == f"`abstracted_axes={spec}`."
    with imprint.generalise("off"):
        quiet = str(f.explain(wrapped(np.ones(4, np.float32))))
    assert "Pad axis 0 of arg" in quiet
    assert "abstracted_axes" not in quiet
    named = imprint.jit(total, abstracted_axes=spec)
    for n in (3, 4):
        assert named(wrapped(np.ones(n, np.float32))) in (n, n + 1)
    assert len(named.versions) == 1
