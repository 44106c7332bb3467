"""`cond` and `switch` are as in JAX; invalid arguments raise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint.errors import (
    ArgumentError,
    BackendError,
    DTypeError,
    ShapeError,
    TreeError,
)
from tests.tolerances import assert_close

X = np.linspace(-1.5, 2, 6, dtype="float32").reshape(2, 3)
FLAGS = np.array([True, False, True])


def tree_of(lib, x):
    return {"x": x, "more": (x.sum(), 2)}


PROGRAMS = {
    "operands": lambda lib, np, p: lib.lax.cond(p, np.sin, np.cos, X),
    "several operands": lambda lib, np, p: lib.lax.cond(
        p, lambda x, y: x * y, lambda x, y: x - y, X, 2.0
    ),
    "operand as a keyword": lambda lib, np, p: lib.lax.cond(
        p, lambda d: d["a"] * 2, lambda d: -d["a"], operand={"a": X}
    ),
    "an operand that is None": lambda lib, np, p: lib.lax.cond(
        p, lambda none: 1.0, lambda none: 2.0, operand=None
    ),
    "operands of each branch": lambda lib, np, p: lib.lax.cond(
        p, 1.0, lambda x: x + 1, X[0, 0], lambda x: x * 7
    ),
    "trees": lambda lib, np, p: lib.lax.cond(
        p, lambda t: (t["x"], t["more"]), lambda t: (t["x"] + 1, (0.5, 3)),
        tree_of(lib, X),
    ),
    "captured": lambda lib, np, p: (lambda w, v: lib.lax.cond(
        p, lambda x: x @ w + v, lambda x: x[:, :2] * v, np.asarray(X)
    ))(np.asarray(X.T), np.arange(2.0)),
    "no results": lambda lib, np, p: lib.lax.cond(p, lambda: None, lambda: None),
    "a result that is an operand": lambda lib, np, p: lib.lax.cond(
        p, lambda x, y: (x, y + 1), lambda x, y: (x, y), X, 1.0
    ),
    "all results are operands": lambda lib, np, p: lib.lax.cond(
        p, lambda x, y: (y, x), lambda x, y: (y, x), X, 1.0
    ),
    "numbers": lambda lib, np, p: lib.lax.cond(p * 3, lambda: 1, lambda: 2),
    "floats": lambda lib, np, p: lib.lax.cond(p * 0.5, lambda: 1, lambda: 2),
    "integers": lambda lib, np, p: lib.lax.cond(
        p, lambda n: n + 1, lambda n: n // 2, np.arange(3)
    ),
    "nested": lambda lib, np, p: lib.lax.cond(
        p,
        lambda x: lib.lax.cond(x.sum() > 0, np.sin, np.cos, x),
        lambda x: lib.lax.switch(2, [np.exp, np.tanh, lambda x: x * x], x),
        X,
    ),
    "jitted branches": lambda lib, np, p: lib.lax.cond(
        p, lib.jit(np.sin), lib.jit(lambda x: x * 2), X
    ),
    "differentiated branches": lambda lib, np, p: lib.lax.cond(
        p, lib.grad(np.sin), lib.grad(lambda x: x**3), X[0, 1]
    ),
}  # fmt: skip
WAYS = {
    "eagerly": lambda lib, f: [f(True), f(False)],
    "jitted": lambda lib, f: [lib.jit(f)(True), lib.jit(f)(False)],
    "of a constant": lambda lib, f: [lib.jit(lambda: f(True))()],
    "mapped": lambda lib, f: [lib.vmap(f)(FLAGS)],
    "jitted and mapped": lambda lib, f: [lib.jit(lib.vmap(f))(FLAGS)],
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_as_in_jax(name, way):
    program, run = PROGRAMS[name], WAYS[way]
    want = jax.tree.leaves(run(jax, lambda p: program(jax, jnp, p)))
    got = imprint.tree.leaves(run(imprint, lambda p: program(imprint, inp, p)))
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        assert isinstance(one, imprint.Array)
        assert one.dtype == other.dtype
        assert_close(one, np.asarray(other), "program")


BRANCHES = (
    lambda np, x, w: np.sin(x) * w,
    lambda np, x, w: x * x + np.log(np.abs(w) + 1),
    lambda np, x, w: np.full_like(x, 2.0),
)


def switched(lib, np, index, x, w):
    functions = [lambda x, w, f=f: f(np, x, w) for f in BRANCHES]
    return lib.lax.switch(index, functions, x, w)


@pytest.mark.parametrize("index", [-5, 0, 1, 2, 9])
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8"])
def test_an_index_out_of_range_is_clamped(index, dtype):
    number = np.asarray(index).astype(dtype)
    want = switched(jax, jnp, number, X, X + 1)
    for run in (lambda f: f, imprint.jit):
        got = run(lambda i: switched(imprint, inp, i, X, X + 1))(number)
        assert_close(got, np.asarray(want), "program")


def test_an_index_beyond_int32_is_the_last_branch():
    index = np.uint32(2**32 - 1)  # JAX converts it first, and takes the first
    f = imprint.jit(lambda i: lax.switch(i, [lambda: 0, lambda: 1, lambda: 2]))
    assert f(index) == 2


def test_a_narrow_index_chooses_among_many_branches():
    functions = [lambda i=i: i for i in range(200)]
    f = imprint.jit(lambda i: lax.switch(i, functions))
    assert [f(np.int8(i)) for i in (-3, 5, 127)] == [0, 5, 127]
    assert f(np.uint8(250)) == 199


DERIVED = {
    "grad": lambda lib, f: lib.grad(lambda x, w: f(x, w).sum(), (0, 1)),
    "grad of grad": lambda lib, f: lib.grad(
        lambda x, w: lib.grad(lambda x: f(x, w).sum())(x).sum(), (0, 1)
    ),
    "jvp": lambda lib, f: lambda x, w: lib.jvp(f, (x, w), (w, x)),
    "vjp": lambda lib, f: lambda x, w: lib.vjp(f, x, w)[1](x),
    "linearize": lambda lib, f: lambda x, w: lib.linearize(f, x, w)[1](w, x),
    "vmap": lambda lib, f: lib.vmap(f, (0, 0)),
    "grad of vmap": lambda lib, f: lib.grad(
        lambda x, w: lib.vmap(f, (None, 1), 1)(x[:, 0], w).sum(), (0, 1)
    ),
    "jacfwd": lambda lib, f: lib.jacfwd(lambda x, w: f(x[0], w[0]), (0, 1)),
    "jacrev": lambda lib, f: lib.jacrev(lambda x, w: f(x[0], w[0]), (0, 1)),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.parametrize("name", DERIVED)
def test_derivatives_and_batches_are_those_of_jax(name, index):
    x, w = X, X[::-1] * 0.5 + 2

    def derived(lib, np, index):
        return DERIVED[name](lib, lambda x, w: switched(lib, np, index, x, w))

    want = jax.jit(lambda i, x, w: derived(jax, jnp, i)(x, w))(index, x, w)
    ours = (
        derived(imprint, inp, index)(x, w),
        imprint.jit(lambda i, x, w: derived(imprint, inp, i)(x, w))(index, x, w),
    )
    for got in ours:
        for one, other in zip(
            imprint.tree.leaves(got), jax.tree.leaves(want), strict=True
        ):
            assert_close(one, np.asarray(other), "gradient")


@pytest.mark.parametrize("name", ["grad", "grad of grad", "jvp", "vjp"])
def test_derivatives_of_a_mapped_choice_are_those_of_jax(name):
    rows = np.stack([X[0], X[1], X[0] + 1])

    def whole(lib, np):
        def f(x, w):
            each = lib.vmap(lambda i, x, w: switched(lib, np, i, x, w))
            return each(np.arange(3), x, w)

        return lib.jit(DERIVED[name](lib, f))(rows, rows + 2)

    want, got = (
        jax.tree.leaves(whole(jax, jnp)),
        imprint.tree.leaves(whole(imprint, inp)),
    )
    for one, other in zip(got, want, strict=True):
        assert_close(one, np.asarray(other), "gradient")


def test_a_branch_that_is_not_taken_gives_no_nan_to_a_mapped_gradient():
    def root(x):
        return lax.cond(x > 0, inp.sqrt, lambda x: x * 0.0, x)

    xs = np.array([0.0, 4.0, -1.0], "float32")
    assert imprint.vmap(imprint.grad(root))(xs).tolist() == [0.0, 0.25, 0.0]
    assert imprint.grad(lambda x: imprint.vmap(root)(x).sum())(xs).tolist() == [
        *(0.0, 0.25, 0.0)
    ]


@pytest.mark.parametrize("length", [2, 300])  # a large shared operand is not repeated
def test_a_shared_operand_gets_no_nan_of_branches_that_are_not_taken(length):
    w = np.linspace(1, 2, length).astype("float32")
    xs = np.array([3.0, 0.5, 1.5, -1.0], "float32")

    def gradients(lib, np, limit, flags):
        def one(w, x, flag):
            def root(x):  # its derivative is infinite or NaN where w <= x
                return np.sqrt(w - x).sum() * 2

            return lib.lax.cond((x < limit) & flag, root, lambda x: x * w[0], x)

        def total(w, xs):
            return lib.vmap(one, (None, 0, 0))(w, xs, flags).sum()

        return lib.jit(lib.grad(total, (0, 1)))(w, xs)

    for limit in (1.0, 1.25, -9.0):  # 1.0 is an element of w
        for flags in (xs < 9, xs < 0, xs > 9):
            ours = gradients(imprint, inp, limit, flags)
            theirs = gradients(jax, jnp, limit, flags)
            for got, want in zip(ours, theirs, strict=True):
                assert np.isfinite(want).all()
                assert_close(got, np.asarray(want), "gradient")


def test_a_large_shared_operand_is_not_repeated():
    w = inp.ones((64, 64))
    f = imprint.vmap(lambda p, x: lax.cond(p, lambda: inp.tanh(x @ w), lambda: x))
    xs, flags = np.ones((5, 64), "float32"), np.arange(5) > 2
    assert "5x64x64" not in imprint.jit(f).lower(flags, xs).as_text()
    want = np.where(flags[:, None], 1.0, xs)
    assert_close(f(flags, xs), want.astype("float32"), "program")
    assert f(flags[:0], xs[:0]).shape == (0, 64)


# ---- which branch runs ----


def test_a_known_choice_outside_of_jit_compares_the_branches_once():
    called = []

    def chosen(x):
        called.append("chosen")
        return x + 1

    def other(x):
        called.append("other")
        return x * 2

    for _ in range(3):
        assert lax.cond(True, chosen, other, 2.0) == 3
    assert called == ["chosen", "other", "chosen", "chosen"]
    lax.cond(True, chosen, other, inp.ones(2))
    assert called[4:] == ["chosen", "other"]


def test_a_function_that_is_called_outside_of_jit_takes_arrays():
    for _ in range(2):
        mean = lax.switch(1, [lambda x: x[0], lambda x: x.sum()], np.ones(2))
        assert isinstance(mean, imprint.Array)
        assert mean == 2
        assert lax.cond(True, lambda x: x.reshape(1), lambda x: x[None], 2.0).shape == (
            1,
        )


_MISMATCHES = {
    "tree": (lambda x: x, lambda x: (x, x)),
    "dtype": (lambda x: x, lambda x: x.astype(int)),
    "shape": (lambda x: x, lambda x: x[None]),
    "broadcast shape": (lambda x: x, lambda x: x + np.ones(2, np.float32)),
}


@pytest.mark.parametrize("name", _MISMATCHES)
@pytest.mark.parametrize("around", [lambda f: f, imprint.grad, imprint.vmap])
def test_branches_that_differ_are_an_error_outside_of_jit(name, around):
    one, two = _MISMATCHES[name]
    x = inp.ones(1) if around is imprint.vmap else inp.ones(())

    def choose(branches):
        return around(lambda x: inp.sum(lax.switch(0, branches, x)))(x)

    for branches in ([one, two], [one, two]):  # the second call is no cache hit
        with pytest.raises(ValueError, match=r"branches\[1\], <lambda> at .*, returns"):
            choose(branches)
    assert choose([one, one]) == 1


def test_what_a_branch_captures_is_part_of_its_signature():
    def add(y):
        return lax.cond(True, lambda x: x, lambda x: x + y, inp.ones(()))

    assert add(inp.ones(())) == 1
    with pytest.raises(ValueError, match="false_fun"):
        add(inp.ones(2))


def test_debug_nans_checks_the_result_of_an_eager_cond():
    def sinc(x):
        return inp.where(x == 0, 1.0, inp.sin(x) / x)

    with imprint.debug_nans(True):
        assert lax.cond(True, sinc, inp.sin, 0.0) == 1
        with pytest.raises(FloatingPointError, match="NaN"):
            lax.cond(True, lambda x: x / x, inp.sin, 0.0)


def test_inside_jit_both_are_traced_and_the_condition_stays():
    f = imprint.jit(lambda p, x: lax.cond(p, inp.sin, inp.cos, x))
    text = f.lower(True, X).as_text()
    assert '"stablehlo.case"' in text
    assert "stablehlo.select" not in text
    traced = []
    imprint.jit(
        lambda: lax.cond(True, lambda: traced.append(1), lambda: traced.append(0))
    )()
    assert traced == [1, 0]


def test_one_branch_needs_no_choice():
    jaxpr = imprint.make_jaxpr(lambda i, x: lax.switch(i, [inp.sin], x))(0, X)
    assert "cond" not in str(jaxpr)
    assert "sin" in str(jaxpr)


def test_a_result_is_weak_if_it_is_in_all_branches():
    def weak(*branches):
        f = imprint.jit(lambda i: lax.switch(i, branches))
        return f(0).weak_type

    one, two = lambda: 1.0, lambda: inp.float32(2)
    assert [weak(one, one), weak(one, two), weak(two, one)] == [True, False, False]


def test_the_jaxpr_is_that_of_jax():
    def program(lib, np):
        f = lambda p, x: lib.lax.cond(p, np.sin, lambda x: x * 2, x)
        return str(lib.make_jaxpr(f)(True, 1.0))

    assert program(imprint, inp) == program(jax, jnp)


def test_the_function_of_this_platform_is_called():
    def program(lib, np):
        f = lambda x: lib.lax.platform_dependent(x, tpu=np.cos, cpu=np.sin)
        g = lambda x: lib.lax.platform_dependent(x, cuda=np.cos, default=np.tanh)
        return [h(X) for f in (f, g) for h in (f, lib.jit(f), lib.vmap(f))] + [
            lib.grad(lambda x: f(x).sum())(X)
        ]

    for got, want in zip(program(imprint, inp), program(jax, jnp), strict=True):
        assert_close(got, np.asarray(want), "program")


def test_only_the_function_of_this_platform_is_in_the_program():
    f = imprint.jit(
        lambda x: lax.platform_dependent(x, cuda=inp.cos, default=lambda x: x * 2)
    )
    assert "cosine" not in f.lower(X).as_text()
    with pytest.raises(ShapeError, match="platform_dependent: expected branches that"):
        imprint.jit(lambda x: lax.platform_dependent(x, cuda=inp.sum, default=inp.sin))(
            X
        )


def test_an_operand_may_be_called():
    class Scale(imprint.Module):
        by: imprint.Array

        def __call__(self, x):
            return x * self.by

    model = Scale(by=inp.asarray(3.0))
    for run in (lambda f: f, imprint.jit):
        f = run(lambda x: lax.cond(x > 0, lambda x, m: m(x), lambda x, m: x, x, model))
        assert (f(2.0), f(-2.0)) == (6, -2)


# ---- errors ----

WRONG = {
    "a vector": (ShapeError, "rank 0, got bool[3]", lambda: lax.cond(FLAGS, abs, abs, 1)),
    "a list": (ArgumentError, "got list [True]", lambda: lax.cond([True], abs, abs, 1)),
    "None": (ArgumentError, "NoneType None", lambda: lax.cond(None, abs, abs, 1)),
    "complex": (DTypeError, "got ~complex64[]", lambda: lax.cond(1j, abs, abs, 1)),
    "no function": (
        *(ArgumentError, "a function as true_fun, got 1"),
        lambda: lax.cond(True, 1, abs),
    ),
    "both operands": (
        *(ArgumentError, "got both"),
        lambda: lax.cond(True, abs, abs, 1, operand=2),
    ),
    "a text": (
        *(ArgumentError, "got str 'a' as operands[0]['k']"),
        lambda: lax.cond(True, abs, abs, {"k": "a"}),
    ),
    "no branches": (ArgumentError, "got none", lambda: lax.switch(0, [])),
    "one function": (ArgumentError, "a list of functions", lambda: lax.switch(0, abs)),
    "a float index": (
        *(DTypeError, "an integer as the index, got ~float32[]"),
        lambda: lax.switch(1.0, [abs, abs], 1),
    ),
    "a bool index": (DTypeError, "by a bool", lambda: lax.switch(True, [abs, abs], 1)),
    "an index of rank 1": (
        *(ShapeError, "got int32[1]"),
        lambda: lax.switch(np.zeros(1, int), [abs, abs], 1),
    ),
    "no branch in the list": (
        *(ArgumentError, "a function as branches[1], got 3"),
        lambda: lax.switch(0, [abs, 3]),
    ),
    "no function for the platform": (
        *(BackendError, "a function for cpu, which computes, or a default, got tpu"),
        lambda: lax.platform_dependent(1, tpu=abs),
    ),
    "gpu": (
        *(ArgumentError, "Pass cuda= or rocm="),
        lambda: lax.platform_dependent(1, gpu=abs, cpu=abs),
    ),
    "a text as a result": (
        *(ArgumentError, "cond(<lambda>): expected to return arrays and numbers, got str"),
        lambda: lax.cond(True, lambda: "a", lambda: "b"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_error_messages(wrong):
    error, text, call = WRONG[wrong]
    for run in (call, lambda: imprint.jit(call)()):
        with pytest.raises(error) as caught:
            run()
        assert text in str(caught.value)
        assert error is BackendError or isinstance(caught.value, TypeError)  # as JAX's


def agreed(one, other):
    imprint.jit(lambda p: lax.cond(p, one, other))(True)


def test_the_error_of_branches_of_other_dtypes():
    def one():
        return {"a": inp.ones(3), "b": (inp.int32(1),)}

    def other():
        return {"a": inp.ones(3), "b": (inp.float32(1),)}

    with pytest.raises(DTypeError) as caught:
        agreed(one, other)
    assert str(caught.value).splitlines() == [
        "cond: expected branches that return the same tree, dtypes and shapes, got "
        "int32[] and float32[] at result['b'][0].",
        f"  true_fun, one at test_branching.py:{one.__code__.co_firstlineno}, returns "
        "{'a': float32[3], 'b': (int32[],)}",
        f"  false_fun, other at test_branching.py:{other.__code__.co_firstlineno}, "
        "returns {'a': float32[3], 'b': (float32[],)}",
        "  Cast what they return there: `.astype('float32')`.",
    ]


def test_the_error_of_branches_of_other_trees_and_shapes():
    with pytest.raises(TreeError, match="got a tuple of length 2 and a leaf"):
        agreed(lambda: (1, 2), lambda: 1)
    with pytest.raises(TreeError, match=r"got a leaf and None at result\[1\]"):
        agreed(lambda: (1, 2), lambda: (1, None))
    with pytest.raises(ShapeError, match=r"got float32\[2\] and float32\[3\]\."):
        agreed(lambda: inp.ones(2), lambda: inp.ones(3))
    with pytest.raises(DTypeError, match=r"branches\[2\]"):
        imprint.jit(lambda i: lax.switch(i, [lambda: 1, lambda: 2, lambda: 2.0]))(0)


def test_a_name_that_no_branch_has_raises_the_user_error():
    with pytest.raises(ZeroDivisionError):
        agreed(lambda: 1 / 0, lambda: 1.0)


def test_the_error_of_an_if_inside_a_branch():
    def branch(x):
        return x if x > 0 else -x

    cases = {
        r"argument operands\[0\] of branch, traced by cond": lambda p, x: lax.cond(
            p, branch, inp.sin, x
        ),
        "It depends on argument x of <lambda>, traced by jit": lambda p, x: lax.cond(
            p, lambda: branch(x), lambda: x
        ),
    }
    for text, function in cases.items():
        with pytest.raises(imprint.errors.ConcretizationError, match=text) as caught:
            imprint.jit(function)(True, 1.0)
        assert "close over a value that is one of Python's" in str(caught.value)
        assert "imprint.lax.cond(condition, f, g)" in str(caught.value)


def test_the_error_of_a_tracer_that_leaks_from_a_branch():
    kept = []

    def leak(x):
        kept.append(x * 2)
        return x

    with pytest.raises(imprint.errors.UnexpectedTracerError, match="leak, traced by"):
        imprint.jit(lambda p, x: lax.cond(p, leak, inp.sin, x) + kept[0])(True, 1.0)
    kept.clear()
    with imprint.check_tracer_leaks(True):
        imprint.jit(lambda p, x: lax.cond(p, lambda: x * 2, lambda: x))(True, 1.0)
        with pytest.raises(imprint.errors.UnexpectedTracerError, match="held by list"):
            imprint.jit(lambda p, x: lax.cond(p, leak, inp.sin, x))(True, 2.0)
        kept.clear()
