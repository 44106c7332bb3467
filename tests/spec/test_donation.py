"""Donated arguments: which are taken, which are kept, and the error of a later use."""

import copy
import gc

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import DeletedArrayError


def fresh(*shape):
    """Return an array of ones that a compiled function made."""
    return imprint.jit(lambda: inp.ones(shape))()


def deleted(tree):
    return imprint.tree.map(lambda x: x.is_deleted(), tree)


OPTIONS = {
    "position": {"donate_argnums": 0},
    "positions": {"donate_argnums": (0,)},
    "name": {"donate_argnames": "x"},
    "names": {"donate_argnames": ["x"]},
    "negative position": {"donate_argnums": -2},
    "both": {"donate_argnums": 0, "donate_argnames": "x"},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_donated_array_is_given_up(name):
    f = imprint.jit(lambda x, y: x + y, **OPTIONS[name])
    for spelled in (lambda x, y: f(x, y), lambda x, y: f(y=y, x=x)):
        x, y = fresh(4), fresh(4)
        assert spelled(x, y).tolist() == [2, 2, 2, 2]
        assert (x.is_deleted(), y.is_deleted()) == (True, False)
    assert f._cache_size() == 1


def test_nothing_is_donated_unless_it_is_said():
    x = fresh(4)
    imprint.jit(lambda x: x + 1)(x)
    assert not x.is_deleted()


def test_every_leaf_of_a_donated_tree_is_given_up():
    update = imprint.jit(
        lambda params, grads, *, state: (
            imprint.tree.map(lambda p, g: p - g, params, grads),
            {"count": state["count"] + 1},
        ),
        donate_argnames=("params", "state"),
    )
    params = {"w": fresh(3, 2), "b": [fresh(2), fresh(5)]}
    grads = {"w": fresh(3, 2), "b": [fresh(2), fresh(5)]}
    state = {"count": fresh()}
    (new, counted) = update(params, grads, state=state)
    assert deleted(params) == {"w": True, "b": [True, True]}
    assert deleted(grads) == {"w": False, "b": [False, False]}
    assert deleted(state) == {"count": True}
    assert float(new["w"].sum() + counted["count"]) == 2


def test_positions_include_static_arguments():
    f = imprint.jit(lambda n, x: x * n, static_argnums=0, donate_argnums=1)
    x = fresh(3)
    assert f(3, x).tolist() == [3, 3, 3]
    assert x.is_deleted()


def test_a_training_loop_donates_every_step():
    step = imprint.jit(lambda w, x: w - 0.5 * (w - x), donate_argnums=0)
    w, x = fresh(1000) * 0, fresh(1000)
    for _ in range(20):
        w = step(w, x)
    assert step._cache_size() == 1
    assert abs(float(w[0]) - 1) < 1e-5


# ---- using it again ----


USES = {
    "arithmetic": lambda x: x + 1,
    "numpy": np.asarray,
    "item": lambda x: x[0].item(),
    "a compiled function": lambda x: imprint.jit(lambda x: x + 1)(x),
    "a compiled function, twice": lambda x: imprint.jit(lambda x: [x, x])([x]),
    "the same function": lambda x: take(x),
    "gradient": lambda x: imprint.grad(lambda x: x.sum())(x),
    "list": lambda x: x.tolist(),
    "wait": lambda x: x.block_until_ready(),
    "device_get": imprint.device_get,
}


@imprint.jit(donate_argnums=0)
def take(weights):
    return weights + 1


@pytest.mark.parametrize("name", USES)
def test_using_it_again_names_the_call_that_took_it(name):
    x = fresh(3)
    take(x)
    with pytest.raises(
        DeletedArrayError, match=r"argument weights of take, at test_do"
    ):
        USES[name](x)
    assert repr(x) == "Array(<deleted>, shape=(3,), dtype=float32)"
    assert (x.shape, x.dtype, x.ndim) == ((3,), "float32", 1)


def test_a_deleted_array_names_the_line():
    x = fresh(3)
    x.delete()
    with pytest.raises(DeletedArrayError, match=r"deleted by a call of delete\(\), at"):
        x + 1


# ---- arrays that cannot be taken ----


def test_numpy_arrays_and_numbers_are_left_alone():
    f = imprint.jit(lambda x, y: (x + 1, y + 1), donate_argnums=(0, 1))
    x = np.ones(300, np.float32)
    assert float(f(x, 1.0)[0].sum()) == 600
    assert f(x, 1.0)[1] == 2
    assert x.sum() == 300


UNUSABLE = {
    "no result of its shape": (lambda x: x.sum(), r"no result left of float32\[4\]"),
    "no result of its dtype": (lambda x: x.astype("int32"), "no result left of"),
    "not used": (lambda x: inp.zeros(4), "the function does not use it"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_unusable_donation_gives_a_warning_and_is_not_made(name):
    fun, why = UNUSABLE[name]
    x = fresh(4)
    with pytest.warns(UserWarning, match=rf"none for argument x \({why}"):
        imprint.jit(fun, donate_argnums=0)(x)
    assert not x.is_deleted()
    assert x.sum() == 4
    with pytest.raises(ValueError, match=why):
        imprint.jit(fun, donate_argnums=0, strict=True)(x)


def test_only_arrays_with_a_matching_result_are_taken():
    f = imprint.jit(lambda batch: batch["a"] + batch["b"], donate_argnums=0)
    batch = {"a": fresh(4), "b": fresh(4)}
    with pytest.warns(UserWarning, match=r"argument batch\['b'\] \(no result left"):
        f(batch)
    assert deleted(batch) == {"a": True, "b": False}


# ---- one array, many uses ----


def test_an_array_can_be_donated_twice():
    f = imprint.jit(lambda x, y: (x + 1, y + 2), donate_argnums=(0, 1))
    x = fresh(3)
    first, second = f(x, x)
    assert (first.tolist(), second.tolist()) == ([2, 2, 2], [3, 3, 3])
    assert x.is_deleted()


def test_an_array_can_be_donated_and_passed():
    f = imprint.jit(lambda x, y: x + y, donate_argnums=0)
    x = fresh(3)
    assert f(x, x).tolist() == [2, 2, 2]
    assert x.is_deleted()


def test_an_array_can_be_donated_and_captured():
    table = fresh(3)
    f = imprint.jit(lambda x: x + table, donate_argnums=0)
    assert f(table).tolist() == [2, 2, 2]
    assert f(fresh(3)).tolist() == [2, 2, 2]


@pytest.mark.parametrize("make", [fresh, lambda n: inp.asarray(np.ones(n, "f"))])
def test_a_captured_array_that_another_call_takes_is_named(make):
    table = make(3)
    f = imprint.jit(lambda x: x + table)
    assert f(1.0).tolist() == [2, 2, 2]
    take(table)
    with pytest.raises(
        DeletedArrayError, match=r"closes over is gone.*weights of take"
    ):
        f(1.0).block_until_ready()


def test_a_numpy_view_stays_valid():
    for size in (4, 100_000):
        x = fresh(size)
        view = np.asarray(x)
        y = take(x)
        gc.collect()
        assert view.sum() == size
        assert float(y.sum()) == 2 * size
        assert x.is_deleted()


def test_a_result_can_be_the_donated_array():
    f = imprint.jit(lambda x: x, donate_argnums=0)
    x = fresh(3)
    y = f(x)
    assert y.tolist() == [1, 1, 1]
    assert (x.is_deleted(), y.is_deleted()) == (True, False)


# ---- where donation is ignored ----


def test_a_nested_donation_is_ignored():
    outer = imprint.jit(lambda x: take(x) + x)
    x = fresh(3)
    assert outer(x).tolist() == [3, 3, 3]
    assert not x.is_deleted()


def test_nothing_is_donated_while_jit_is_off():
    x = fresh(3)
    with imprint.disable_jit():
        assert take(x).tolist() == [2, 2, 2]
    assert not x.is_deleted()


@pytest.mark.parametrize(
    "transform",
    [
        lambda x: imprint.grad(lambda w: take(w).sum())(x),
        imprint.vmap(take),
        lambda x: imprint.make_jaxpr(take)(x),
        take.lower,
        take.eval_shape,
    ],
    ids=["grad", "vmap", "make_jaxpr", "lower", "eval_shape"],
)
def test_transforms_and_stages_take_nothing(transform):
    x = fresh(3)
    transform(x)
    assert not x.is_deleted()


def test_a_failed_call_takes_nothing():
    fail = [True]

    @imprint.jit(donate_argnums=0)
    def f(x):
        if fail:
            raise ValueError("not yet")
        return x + 1

    x = fresh(3)
    with pytest.raises(ValueError, match="not yet"):
        f(x)
    assert not x.is_deleted()
    fail.clear()
    assert f(x).tolist() == [2, 2, 2]


COPIES = {
    "x.copy()": lambda x: x.copy(),
    "np.copy": inp.copy,
    "np.array": inp.array,
    "np.asarray(copy=True)": lambda x: inp.asarray(x, copy=True),
    "np.array of its dtype": lambda x: inp.array(x, "float32"),
    "copy.copy": copy.copy,
    "copy.deepcopy": lambda x: copy.deepcopy({"w": x})["w"],
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("weak", [False, True])
def test_a_copy_outlives_a_donation_of_the_original(name, weak):
    f = imprint.jit(lambda x: x + 1, donate_argnums=0)
    x = imprint.jit(lambda x: x * 1)(2.0 if weak else inp.full(3, 2.0))
    kept = COPIES[name](x)
    before = np.asarray(kept).copy()
    f(x)
    assert x.is_deleted()
    np.testing.assert_array_equal(kept, before)
    assert kept.dtype == "float32"


def test_the_best_model_can_be_kept_while_its_arrays_are_donated():
    step = imprint.filter_jit(lambda model: {"w": model["w"] + 1}, donate="all")
    model = {"w": inp.zeros(4)}
    best = copy.deepcopy(model)
    for _ in range(3):
        model = step(model)
    np.testing.assert_array_equal(best["w"], np.zeros(4))
    np.testing.assert_array_equal(model["w"], np.full(4, 3))
