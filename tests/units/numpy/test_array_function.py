"""NumPy's own functions of arrays and tracers, as in NumPy."""

import inspect

import numpy as np
import pytest
import scipy.special

import imprint
import imprint.numpy as inp
from imprint._src.numpy import array_function
from imprint.errors import ArgumentError, ConcretizationError

X = np.linspace(0.1, 1, 6, dtype="float32").reshape(2, 3)
MASK = X > 0.4

CALLS = {
    "ufuncs": lambda x: np.sin(x) + np.where(x > 0.4, x, 0) * np.float32(2),
    "a list beside it": lambda x: np.divide(x, [1, 2, 3]),
    "ufunc with a dtype": lambda x: np.add(x, 1, dtype="float32"),
    "ufuncs of two results": lambda x: [np.modf(x), np.frexp(x), np.divmod(x, 0.3)],
    "a matrix of NumPy's": lambda x: np.ones((4, 2), "float32") @ x,
    "add.reduce": np.add.reduce,
    "reduce over all": lambda x: np.maximum.reduce(x, axis=None),
    "reduce with options": lambda x: np.add.reduce(x, 1, initial=2, keepdims=True),
    "reduce by position": lambda x: np.multiply.reduce(x, -1, "float32"),
    "reduce where": lambda x: np.add.reduce(x, where=MASK),
    "logical reduce": lambda x: np.logical_and.reduce(x > 0.2),
    "accumulate": lambda x: np.add.accumulate(x, axis=1, dtype="float32"),
    "maximum.accumulate": lambda x: np.maximum.accumulate(-x, -1),
    "outer": lambda x: np.subtract.outer(x[0], [1, 2.0]),
    "reduceat": lambda x: np.add.reduceat(x, [0, 2, 1], 1),
    "concatenate": lambda x: np.concatenate([x, [[1, 2, 3]], MASK]),
    "stack": lambda x: np.stack((x, x), axis=-1),
    "vstack": lambda x: np.vstack([x, [1, 2, 3]]),
    "block": lambda x: np.block([[x, x], [x, MASK]]),
    "dot": lambda x: np.dot(x, [1, 2, 3]),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x),
    "einsum of lists": lambda x: np.einsum(x, [0, 1], x, [2, 1]),
    "clip": lambda x: np.clip(x, 0.2, 0.5),
    "clip by names": lambda x: np.clip(x, a_min=0.2, a_max=None),
    "pad": lambda x: np.pad(x, ((1, 1), (0, 2)), "constant", constant_values=3),
    "full_like": lambda x: np.full_like(x, 2, None, "K", True, (3,)),
    "zeros_like": lambda x: np.zeros_like(x, subok=False) + x,
    "sum": lambda x: np.sum(x, 0, where=MASK),
    "std": lambda x: np.std(x, ddof=1, axis=(0, 1)),
    "average": lambda x: np.average(x, axis=0, weights=[1, 2]),
    "select": lambda x: np.select([x < 0.3, x > 0.6], [x, -x], default=1),
    "split": lambda x: np.split(x, [1, 2], axis=1),
    "meshgrid": lambda x: np.meshgrid(x[0], x[1], indexing="ij"),
    "apply_along_axis": lambda x: np.apply_along_axis(lambda row: row * 2, 1, x),
    "reshape": lambda x: np.reshape(np.transpose(x, [1, 0]), shape=[2, -1]),
    "sort": lambda x: np.sort(x, 0, "mergesort") + np.argsort(x, kind="stable"),
    "gradient": lambda x: np.gradient(x, 0.5, [0, 1, 3], edge_order=1),
    "gradient along an axis": lambda x: np.gradient(x, 0.1, axis=1),
    "median": lambda x: np.median(x, axis=0, overwrite_input=True),
    "norm": lambda x: np.linalg.norm(x, axis=1) + np.abs(np.fft.fft(x[:, 0], n=2)),
    "solve": lambda x: np.linalg.solve(x @ x.T + np.eye(2, dtype="float32"), [1, 2]),
    "round": lambda x: np.round(x, 1),
    "shape": lambda x: x * np.shape(x)[0] * np.ndim(x) * np.size(x),
    "reversed": lambda x: np.ones(3, "float32") - x,
}


def leaves(tree):
    return [np.asarray(x) for x in imprint.tree.leaves(tree)]


def check(got, want):
    for ours, theirs in zip(leaves(got), leaves(want), strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", CALLS)
def test_numpy_code_runs_unchanged(name):
    f = CALLS[name]
    got = f(inp.asarray(X))
    assert all(isinstance(x, imprint.Array) for x in imprint.tree.leaves(got))
    check(got, f(X))
    traced = imprint.eval_shape(f, X)
    assert [x.shape for x in imprint.tree.leaves(traced)] == [
        x.shape for x in imprint.tree.leaves(got)
    ]


def energy(x):
    rolled = np.roll(x, 1, axis=0)
    return np.sum(np.square(x - rolled) + np.cos(x)) / np.prod(np.shape(x))


def test_numpy_code_is_jitted_differentiated_and_batched():
    check(imprint.jit(energy)(X), energy(X))
    slope = imprint.jit(imprint.grad(energy))(X)
    step = 1e-3 * np.ones_like(X)
    change = energy(X.astype("float64") + step) - energy(X.astype("float64") - step)
    assert float((slope * 1e-3).sum() * 2) == pytest.approx(float(change), rel=1e-2)
    check(imprint.vmap(energy)(X), [np.stack([energy(row) for row in X])])
    assert "sin" in str(imprint.make_jaxpr(np.sin)(X))


def test_methods_of_ufuncs_are_traced():
    for method in (
        lambda x: np.hypot.reduce(x, -1),
        lambda x: np.divide.accumulate(x),
        lambda x: np.maximum.reduceat(x, [1, 0], axis=1),
        lambda x: np.power.outer(x, 2),
        lambda x: np.add.reduceat(x, [0, 1], 0, "float32"),
    ):
        check(imprint.jit(method)(X), method(X))


def test_a_call_equals_a_fresh_trace():
    """`np` may be bound to another library, and a function of NumPy's to another."""
    names = {"np": np, "__name__": "__main__"}
    exec("def f(x): return np.sin(x) + np.where(x > 1, x, 0)", names)
    f = imprint.jit(names["f"])
    check(f(X), names["f"](X))
    names["np"] = inp
    check(f(X), names["f"](X))
    names["np"] = type("Other", (), {"sin": np.cos, "where": np.where})
    check(f(X), names["f"](X))
    assert f._cache_size() == 3


def test_a_function_of_numpy_that_was_replaced_reaches_the_original(monkeypatch):
    original = np.sin
    monkeypatch.setattr(np, "sin", lambda x: original(x) * 2)
    check(imprint.jit(lambda x: np.sin(x))(X), 2 * original(X))


# ---- functions that imprint lacks, and SciPy's ----


def test_numpy_computes_functions_that_imprint_lacks(monkeypatch):
    monkeypatch.setattr(array_function, "_named", lambda name: None)
    got = np.ptp(inp.asarray(X))
    assert not isinstance(got, imprint.Array)
    check(got, np.ptp(X))
    with pytest.raises(ConcretizationError, match=r"`numpy\.ptp\(\)` needs a concrete"):
        imprint.jit(lambda x: np.ptp(x))(X)


def test_a_ufunc_of_scipy_is_its_own():
    assert type(scipy.special.cbrt(inp.asarray(X))) is np.ndarray


def test_arguments_of_numpys_that_ours_lacks_go_to_numpy():
    got = np.nan_to_num(inp.asarray(X), copy=False)
    check(got, X)
    assert type(np.add(inp.asarray(X), X, casting="unsafe", dtype="int32")) is not X
    assert str(np.array2string(inp.asarray(X[0]), precision=1)) == "[0.1 0.3 0.5]"


class Quantity(np.ndarray):
    """A subclass of ndarray."""


def test_other_classes_with_the_protocol_come_first():
    class Other:
        def __array_function__(self, func, types, args, kwargs):
            return "other"

    assert np.concatenate([inp.asarray(X), Other()]) == "other"
    both = np.concatenate([inp.asarray(X), X.view(Quantity)])
    assert both.shape == (4, 3)


def test_every_function_of_numpy_that_dispatches_can_be_planned():
    """If our first parameter had another name than NumPy's, the call would fail."""
    for module in (np, np.linalg, np.fft):
        for name in dir(module):
            func = getattr(module, name)
            function = hasattr(func, "_implementation") and array_function._named(
                f"{func.__module__}.{func.__name__}".removeprefix("numpy.")
            )
            if not function or function is func:
                continue
            plan = array_function._plan(func, function)
            theirs = inspect.signature(func).parameters.values()
            required = [
                p.name
                for p in theirs
                if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
            ]
            assert {*required} <= {*plan.first, *plan.named}, name


# ---- writing ----

ZEROS = np.zeros(3, "float32")
WRITES = {
    "out": lambda x: np.add(x, x, out=np.zeros(3)),
    "out of a function": lambda x: np.sum(x, out=np.zeros(())),
    "in place": lambda x: np.zeros(3).__iadd__(x),
    "at": lambda x: np.add.at(np.zeros(3), [0], x[0]),
    "masked": lambda x: np.divide(x, x, out=np.zeros(3), where=x != 0),
    "masked without out": lambda x: np.divide(x, x, where=x != 0),
    "copyto": lambda x: np.copyto(np.zeros(3), x),
    "fill_diagonal": lambda x: np.fill_diagonal(x, 1),
    "putmask": lambda x: np.putmask(np.zeros(3), np.ones(3, bool), x),
}
NOT_FOR_TRACED = "got a NumPy array, which holds no traced value, for float32[3]. "
TEXTS = {
    "out": f"numpy.add: expected nothing to write into, {NOT_FOR_TRACED}Leave `out` "
    "away and use the result; for `a += x` write `a = a + x`.",
    "at": "numpy.add.at: expected nothing to write into, got a NumPy array, which holds "
    "no traced value, for float32[]. Write a = imprint.numpy.asarray(a).at[index].add(x).",
    "masked": f"numpy.divide: expected nothing to write into, {NOT_FOR_TRACED}Write "
    "imprint.numpy.where(mask, value, out), where value is what numpy.divide gives.",
    "masked without out": "numpy.divide: expected no `where`, got one for float32[3]: "
    "what it leaves out has no value. Write imprint.numpy.where(mask, value, other), "
    "where value is what numpy.divide gives.",
    "copyto": f"numpy.copyto: expected nothing to write into, {NOT_FOR_TRACED}Write "
    "a = imprint.numpy.where(mask, value, a), or a = value.",
    "fill_diagonal": "numpy.fill_diagonal: expected nothing to write into, got an array "
    "of imprint, float32[3]: arrays are immutable. Write a = "
    "imprint.numpy.fill_diagonal(a, value, inplace=False).",
}


@pytest.mark.parametrize("name", WRITES)
def test_traced_values_are_written_nowhere(name):
    with pytest.raises(ArgumentError) as caught:
        imprint.jit(WRITES[name])(ZEROS + 1)
    if name in TEXTS:
        assert str(caught.value) == TEXTS[name]


def test_arrays_are_not_written_into():
    x = inp.ones(3)
    for write in (
        lambda: np.add(ZEROS, 1, out=x),
        lambda: np.copyto(x, ZEROS),
        lambda: np.fill_diagonal(inp.eye(3), 1),
        lambda: np.cumsum(ZEROS, 0, None, x),
        lambda: np.add.at(x, [0], 1),
    ):
        with pytest.raises(ArgumentError, match=r"imprint, float32.*immutable"):
            write()


def test_numpy_arrays_take_the_values_of_concrete_arrays():
    x = inp.ones(3)
    out = np.zeros(3)
    assert np.add(x, x, out=out) is out
    np.copyto(out, x, where=[True, False, True])
    assert out.tolist() == [1, 2, 1]
    assert np.cumsum(x, 0, None, out) is out
    assert out.tolist() == [1, 2, 3]


ASSIGNMENTS = {
    "a slice": "a[:] = x",
    "an element": "a[0] = x[0]",
    "added to an element": "a[0] += x[0]",
    "a traced index": "a[x[0].astype(int)] = 1",
}


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_an_assignment_shows_the_functional_form(name, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"def f(a, x):\n    {ASSIGNMENTS[name]}\n    return a\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    for transform in (imprint.jit, imprint.vmap):
        with pytest.raises(ConcretizationError) as caught:
            transform(lambda x: names["f"](np.zeros(3), x))(np.ones((3, 3), "float32"))
        assert str(caught.value).startswith("an assignment to an item needs a concrete")
        assert "write a = a.at[index].set(value)" in str(caught.value)


GENERATOR = np.random.default_rng(0)


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: np.random.normal(x),  # noqa: NPY002
        lambda x: np.random.uniform(0, x[0]),  # noqa: NPY002
        lambda x: GENERATOR.normal(x),
    ],
)
def test_random_numbers_of_numpys_show_those_of_imprint(draw):
    with pytest.raises(ConcretizationError, match=r"`numpy\.random") as caught:
        imprint.jit(draw)(ZEROS)
    assert (
        "Inside a traced function NumPy draws while it is traced, once for all calls: "
        "draw\n  of a key, imprint.random.normal(key, shape), where the key is an argument"
    ) in str(caught.value)
