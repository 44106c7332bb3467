"""The pass `materialize`: materialized values, others, and unchanged results."""

import re

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax, nn
from imprint._src.passes import fusion_model
from imprint._src.passes import materialize as module
from imprint._src.passes.fusion_model import FusionModel
from imprint._src.passes.pipeline import run_passes
from tests.compose.programs import PROGRAMS
from tests.tolerances import assert_close

V = np.linspace(0.1, 0.9, 64, dtype="float32")
M = np.linspace(-1, 1, 64 * 64, dtype="float32").reshape(64, 64)


@pytest.fixture(autouse=True)
def _as_written():
    with imprint.roll_loops(False):
        yield


def field(x, y, z):
    return x - y, inp.tanh(y) * z + inp.exp(-z * z), z / (1 + y * y) + y * x


def midpoint(x, y, z):
    a, b, c = field(x, y, z)
    p, q, r = field(x + 0.05 * a, y + 0.05 * b, z + 0.05 * c)
    return x + 0.1 * p, y + 0.1 * q, z + 0.1 * r


def unrolled(steps, step=midpoint):
    def solve(x, y, z):
        for _ in range(steps):
            x, y, z = step(x, y, z)
        return x, y, z

    return solve


def sums(steps):
    def run(x):
        for _ in range(steps):
            x = inp.sin(x) * x + x.sum()
        return x

    return run


def cuts(fun, *args):
    return module.cuts_of(run_passes(imprint.make_jaxpr(fun)(*args)))


# ---- cuts ----


@pytest.mark.parametrize("shape", [(), (64,)])
def test_a_solver_is_cut_as_often_as_it_is_long(shape):
    state = [np.full(shape, v, "float32") for v in (0.1, 0.2, 0.3)]
    short, long = (len(cuts(unrolled(n), *state)) for n in (10, 40))
    assert 10 <= short <= 60
    assert long == pytest.approx(4 * short, rel=0.2)


def test_a_sum_next_to_the_values_is_cut():
    assert 8 <= len(cuts(sums(20), V)) <= 20


@pytest.mark.parametrize("size", [(), (64,)])
def test_recomputation_grows_with_the_length_alone(size):
    state = [np.full(size, v, "float32") for v in (0.1, 0.2, 0.3)]
    closed = run_passes(imprint.make_jaxpr(unrolled(30))(*state))
    kernels = FusionModel(closed.jaxpr).kernels
    again = sum(len(kernels.get(v, ())) for e in closed.eqns for v in e.outvars)
    assert again < 4 * len(closed.eqns)


def lorenz(s):
    x, y, z = s
    return 10 * (y - x), x * (28 - z) - y, x * y - 2.667 * z


def joined(steps, each):
    """Return the midpoint rule for three numbers, joined after each step or at the end."""

    def solve(s):
        for _ in range(steps):
            half = [v + 0.005 * d for v, d in zip(s, lorenz(s), strict=True)]
            s = [v + 0.01 * d for v, d in zip(s, lorenz(half), strict=True)]
            s = inp.stack(s) if each else s
        return inp.stack(s)

    return solve


@pytest.mark.parametrize("each", [False, True])
def test_numbers_that_are_joined_are_not_computed_along_each_way(each):
    state = np.array([0.9, 0.2, 0.5], "float32")
    short, long = (len(cuts(joined(n, each), state)) for n in (10, 40))
    assert 3 <= short <= 40
    assert long == pytest.approx(4 * short if each else short, rel=0.2)
    f = imprint.jit(joined(60, each))  # along each way it would take hours
    s = state.astype("float64")
    for _ in range(60):
        s = s + 0.01 * np.array(lorenz(s + 0.005 * np.array(lorenz(s))))
    np.testing.assert_allclose(f(state), s, rtol=1e-3)


def test_a_concatenation_of_little_use_is_not_cut():
    def pairs(x):
        even, odd = x[::2] * x[1::2], x[::2] - x[1::2]
        return inp.stack([even * odd, even + odd, even - odd])

    assert cuts(pairs, V) == ()
    assert cuts(lambda x: inp.concatenate([x * x + x, x[::-1]]), V) == ()


def test_a_chain_of_expensive_functions_is_cut_where_a_cut_is_cheap():
    def row(x):
        for _ in range(10):
            x = inp.tanh(x)
        return x

    assert len(cuts(row, np.zeros(20_000, "float32"))) == 4
    assert cuts(row, np.zeros(2_000, "float32")) == ()


@pytest.mark.parametrize("size", [20_000, 2_000])
def test_a_row_of_activations_is_cut_between_them(size):
    def row(x):
        for _ in range(12):
            x = 0.5 * x * (1 + inp.tanh(0.8 * (x + 0.04 * x * x * x)))
        return x

    closed = run_passes(imprint.make_jaxpr(row)(np.zeros(size, "float32")))
    copies = [e.outvars[0] for e in closed.eqns if e.primitive.name == "materialize"]
    assert len(copies) == (5 if size == 20_000 else 0)
    # The result of an activation is written, not the operand of its function.
    assert {sum([*e.invars].count(v) for e in closed.eqns) for v in copies} <= {5}


def test_functions_in_rows_side_by_side_are_cut_each():
    def rows(*xs):
        for _ in range(5):
            xs = [inp.tanh(x) for x in xs]
        return xs

    x = np.zeros(20_000, "float32")
    assert len(cuts(rows, x, x, x)) == 6
    assert len(cuts(rows, *[x] * 40)) == 80  # far from each other


@pytest.mark.parametrize(
    "around",
    [
        lambda f: lambda *s: lax.scan(lambda c, _: (f(*c), None), s, length=3)[0],
        lambda f: lambda *s: lax.while_loop(lambda c: c[0][0] < 1, lambda c: f(*c), s),
        lambda f: lambda *s: lax.cond(s[0][0] > 0, f, lambda *t: t, *s),
        lambda f: imprint.jit(f),
        lambda f: imprint.vmap(f),
    ],
    ids=["scan", "while", "cond", "call", "vmap"],
)
def test_bodies_are_cut(around):
    assert len(cuts(around(unrolled(10)), V, V, V)) >= 10


def test_the_backward_pass_is_cut_where_the_engine_does_not_write_by_itself():
    assert len(cuts(imprint.grad(lambda x: sums(20)(x).sum()), V)) >= 5
    assert cuts(imprint.grad(lambda *s: unrolled(10)(*s)[0].sum()), V, V, V) == ()


def test_steps_that_are_calls_are_cut_between():
    found = cuts(unrolled(20, imprint.jit(midpoint)), V, V, V)
    assert len(found) >= 10


def test_a_call_of_which_nothing_is_computed_again_is_not_cut():
    def chain(step):
        def run(x):
            for _ in range(20):
                x = step(x)
            return x

        return len(cuts(run, V))

    assert chain(imprint.jit(lambda x: x * x + x)) == 0
    assert chain(imprint.jit(lambda x: inp.sin(x) * x + x.sum())) >= 8


# ---- no cuts ----


def attention(q, k, v):
    return nn.softmax(q @ k.T / 8) @ v


def layer_norm(x):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / inp.sqrt(variance + 1e-5)


def network(weights, x):
    for w in weights:
        x = x + inp.tanh(x @ w)
    return (x**2).mean()


@pytest.mark.parametrize(
    ("fun", "args"),
    [
        (nn.softmax, [M]),
        (nn.log_softmax, [M]),
        (nn.logsumexp, [M]),
        (nn.gelu, [M]),
        (nn.selu, [M]),
        (nn.silu, [M]),
        (layer_norm, [M]),
        (attention, [M, M, M]),
        (lambda x: inp.exp(x) + inp.exp(x).T, [M]),
        (network, [[M] * 4, M]),
        (imprint.grad(network), [[M] * 4, M]),
        (lambda x: inp.var(x, axis=0), [M]),
    ],
    ids=[
        "softmax",
        "log_softmax",
        "logsumexp",
        "gelu",
        "selu",
        "silu",
        "layer_norm",
        "attention",
        "transposed",
        "network",
        "gradient",
        "var",
    ],
)
def test_values_with_few_uses_stay_one_fusion(fun, args):
    assert cuts(fun, *args) == ()


# ---- results ----


@pytest.fixture
def cut_everywhere(monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 0.5)
    monkeypatch.setattr(fusion_model, "LIMIT", 0.5)
    imprint.clear_caches()
    yield
    imprint.clear_caches()


@pytest.mark.usefixtures("cut_everywhere")
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_results_are_those_without_cuts(program):
    fun, args = program.on(imprint), program.args
    with imprint.cut_recomputation(False):
        plain = imprint.jit(fun)(*args)
    assert_close(imprint.jit(fun)(*args), plain)


def test_a_solver_gives_the_uncut_result():
    state = V, V + 1, V * 2
    with imprint.cut_recomputation(False):
        plain = imprint.jit(unrolled(4))(*state)
    for ours, theirs in zip(imprint.jit(unrolled(4))(*state), plain, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_a_donated_argument_gives_its_memory_to_a_result_that_is_cut():
    def run(x):
        y = sums(10)(x)
        return y, y.sum()

    f = imprint.jit(run, donate_argnums=0)
    x = inp.asarray(V)
    f(x)
    assert f.versions[0].passes
    assert f.versions[0].program.module.donated == (0,)
    assert x.is_deleted()


def test_the_origin_of_a_nan_is_reported_alike():
    said = []
    for switch in (True, False):
        with imprint.cut_recomputation(switch), imprint.debug_nans(True):
            f = imprint.jit(lambda x: sums(6)(inp.log(x - 1)))
            with pytest.raises(FloatingPointError) as caught:
                f(V)
            said.append(str(caught.value))
    assert said[0] == said[1]
    assert "log" in said[0]


def test_sentinels_do_not_change_the_cuts():
    written = []
    for switch in (True, False):
        with imprint.debug_nans(switch):
            f = imprint.jit(sums(6))
            f(V)
            written.append([str(cut) for cut in f.versions[-1].passes])
    assert written[0] == written[1] != []


# ---- seen and switched ----


def test_a_version_lists_materialized_values_with_lines_and_reasons():
    f = imprint.jit(sums(4))
    f(V)
    (first, *_) = f.versions[0].passes
    line = sums.__code__.co_firstlineno + 3
    assert re.fullmatch(
        rf"add f32\[64\] at .*test_materialize\.py:{line}.*: 3 kernels would compute it, "
        r"44 additions an element are saved",
        str(first),
    )


def test_the_switch_is_in_the_key():
    f = imprint.jit(sums(10))
    f(V)
    with imprint.cut_recomputation(False):
        f(V)
        assert f.versions[-1].passes == ()
    f(V)
    assert len(f.versions) == 2


def test_it_can_be_switched_off():
    with imprint.cut_recomputation(False):
        assert cuts(sums(20), V) == ()


def test_equations_without_results_use_values_too():
    def noisy(x):
        y = inp.exp(x)
        imprint.debug.print("{}", y)
        return sums(20)(y + 1)

    assert len(cuts(noisy, V)) >= 8
    assert len(cuts(imprint.jit(noisy), V)) >= 8


def test_a_hash_is_left_alone():
    key = imprint.random.key(0)
    assert cuts(lambda key: imprint.random.bits(key, (64,)), key) == ()


def test_a_program_of_many_equations_is_walked_once():
    def long(x):
        for _ in range(4_000):
            x = x * x + 1
        return x

    closed = imprint.make_jaxpr(long)(np.float32(0.1))
    assert len(module.cuts_of(run_passes(closed))) < 4_000
