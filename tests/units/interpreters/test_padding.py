"""Padded programs: whole ones, at sizes up to the bounds, with garbage in the padding."""

import math

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax, nn, random
from imprint._src import runtime
from imprint._src.control_flow.interpret import interpret
from imprint._src.core.aval import ShapedArray
from imprint._src.core.padding import NoPaddingError
from imprint._src.dynamic_shapes import SymbolicScope
from imprint._src.dynamic_shapes.values import evaluate
from imprint._src.interpreters.padding import padded
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, hoist_consts, stage
from tests.lanes import exhaustive
from tests.laws.law import compile_closed
from tests.tolerances import assert_within, tolerance

F32, I32 = np.dtype(np.float32), np.dtype(np.int32)
BOUNDS = {"n": 9, "m": 7}
SIZES = ({"n": 3, "m": 1}, {"n": 4, "m": 3}, {"n": 8, "m": 7}, {"n": 9, "m": 6})


def softmax(x):
    return nn.softmax(x, axis=0), nn.log_softmax(x, axis=-1), nn.logsumexp(x)


def moments(x):
    return x.mean(), x.var(0, ddof=1), x.std(-1), inp.average(x, weights=x**2)


def layernorm(x):
    mean = x.mean(0, keepdims=True)
    return (x - mean) / inp.sqrt(x.var(0, keepdims=True) + 1e-5)


def attention(x):
    scores = x @ x.T / math.sqrt(x.shape[1])
    seen = inp.tril(inp.ones(scores.shape, bool))
    return nn.softmax(inp.where(seen, scores, -inp.inf), axis=-1) @ x


def of_attention(x):
    return imprint.grad(lambda x: (attention(x) ** 2).sum())(x)


def mlp(x):
    def loss(w):
        return (inp.tanh(x @ w) ** 2).mean()

    return imprint.value_and_grad(loss)(inp.ones((3, 2)) / 3)


def cumulative(x):
    return inp.cumsum(x, 0), lax.cummax(x, reverse=True), lax.cumlogsumexp(x)


def convolution(x):
    rows, kernel = x.T[None], inp.arange(18.0).reshape(2, 3, 3) / 9

    def loss(rows, kernel):
        return (lax.conv_general_dilated(rows, kernel, (2,), [(1, 1)]) ** 2).sum()

    return imprint.grad(loss, (0, 1))(rows, kernel)


def rnn(x):
    def step(carry, row):
        carry = inp.tanh(carry * 0.5 + row)
        return carry, carry.sum() + row

    def count(i, _):
        return i + 1, i

    def run(x, *, reverse):
        return lax.scan(step, inp.zeros(3), x, reverse=reverse)

    slope = imprint.grad(lambda x: (run(x, reverse=True)[1] ** 2).sum())(x)
    return run(x, reverse=False), slope, lax.scan(count, 0, x)


def loops(x):
    halved = lax.while_loop(lambda c: inp.abs(c).max() > 1, lambda c: c / 2, x)
    shared = lax.fori_loop(0, 2, lambda _, c: c / c.sum(), x)
    each = imprint.vmap(lambda r: lax.while_loop(lambda c: c < 9, lambda c: c * 2, r))
    return halved, shared, each(inp.abs(x[:, 0]) + 1)


def choices(x):
    return lax.cond(x.sum() > 0, lambda y: y / y.sum(), lambda y: y - y.mean(), x)


def order(x):
    return inp.sort(x, 0), inp.argsort(-x[:, 0]), lax.top_k(x.T, 2), x.argmin(0)


def segments(x, i):
    return (
        imprint.ops.segment_sum(x, i, num_segments=4),
        imprint.ops.segment_max(x, i, num_segments=4),
    )


def lookups(x, i):
    table = inp.arange(15.0).reshape(5, 3)
    slope = imprint.grad(lambda table: (table[i] * x).sum())(table)
    return table[i], slope


def cross_entropy(x, i):
    def loss(x):
        logs = nn.log_softmax(x, axis=-1)
        picked = inp.take_along_axis(logs, (i % 3)[:, None], axis=-1)
        return -picked.mean() - (logs * nn.one_hot(i, 3)).sum()

    return imprint.value_and_grad(loss)(x)


def parts(x):
    n = x.shape[0]
    return x[1:] * x[:-1], x[::2], x[::-1], x[n // 2 :], x[-1], inp.roll(x, 1, 0)


def updated(x):
    filled = x.at[1:].set(x[:-1]).at[-1].add(2.0).at[:, 0].multiply(3.0)
    slope = imprint.grad(lambda x: (x.at[1:].set(x[:-1] * 2).at[0].set(1) ** 2).sum())
    return filled, x.at[::2].set(0).at[-2:].min(1), x.at[::-1].set(x * 2), slope(x)


def walked(x):
    def step(i, c):
        return c.at[i + 1].add(c[i]) * x[-i - 1].sum()

    last = lax.dynamic_slice_in_dim(x, -2, 2) + lax.dynamic_slice_in_dim(
        x, x.argmax(), 2
    )
    return lax.fori_loop(0, x.shape[0] - 1, step, x), last


def looked_up(x, i):
    at = i % x.shape[0]
    slope = imprint.grad(lambda x: (x[at] ** 2).sum())
    return x[at], x[-1 - at], slope(x), x.at[at].add(1.0).at[at].max(2.0)


def joined(x):
    n = x.shape[0]
    grown = inp.pad(x, ((n, 1), (0, 0)))
    return inp.concatenate([x, x * 2, x]), inp.stack([x, x], 1), grown, inp.tile(x, 2)


def reshaped(x):
    table = x[:, None, :] + x[None, :, :]
    return x.reshape(-1), table.reshape(-1, 3), table.transpose(2, 0, 1).reshape(3, -1)


def sizes(x):
    n = x.shape[0]
    return (
        x.sum() / (2 * n + n // 2) + n % 3,
        inp.arange(n),
        inp.eye(n),
        inp.zeros((n, n)),
    )


def draws(x):
    key = random.key(0)
    return (
        random.normal(key, x.shape),
        random.uniform(key, (2, x.shape[0])),
        random.categorical(key, x),
        random.bits(key, (x.shape[0],)),
        random.bernoulli(key, 0.5, (x.shape[0], x.shape[0])),
    )


def systems(x):
    a = x @ x.T + 3 * inp.eye(x.shape[0])
    solved = inp.linalg.solve(a, x)
    return inp.linalg.cholesky(a), solved, inp.linalg.slogdet(a), inp.linalg.eigvalsh(a)


def two(x, y):
    return x @ y, inp.outer(x[:, 0], y[0]), (x.sum() + y.max(1)).min()


def nested(x):
    inner = imprint.jit(lambda y: y / y.sum(0))
    saved = imprint.checkpoint(lambda y: inp.sin(y.sum() * y))
    return inner(inner(x)), imprint.grad(lambda x: saved(x).sum())(x), nn.relu(x).max()


@imprint.custom_vjp
def scaled(x):
    return x * 2


scaled.defvjp(lambda x: (scaled(x), x.sum()), lambda total, ct: (ct * total,))


@imprint.custom_batching.custom_vmap
def summed(x):
    return x / x.sum()


@summed.def_vmap
def of_all(size, batched, x):
    del size
    return x / x.sum(1, keepdims=True), batched[0]


def of_rules(x):
    def matvec(v):
        return v * (1 + x[:, 0] ** 2)

    def root(f, guess):
        return lax.fori_loop(0, 20, lambda _, g: g - f(g) / 2, guess)

    def solved(_, b):
        return b / (1 + x[:, 0] ** 2)

    def halved(g, y):
        return y / g(inp.ones_like(y))

    return (
        imprint.grad(lambda x: (scaled(x) ** 2).sum())(x),
        imprint.vmap(summed)(x) + summed(x[:, 1])[:, None],
        lax.custom_linear_solve(matvec, x[:, 1], solved, symmetric=True),
        lax.custom_root(lambda y: y - x[:, 0], inp.zeros_like(x[:, 0]), root, halved),
    )


def computed(x):
    n = x.shape[0]
    whole = [n // 2, (n - 5) // 2, n % 4, (3 - n) % 4, n * n, max(n, 2), 7 - n]
    return [inp.asarray(k) * x.sum() for k in whole]


def derivatives(x):
    f = imprint.jacfwd(lambda v: v**2 / v.sum())
    return f(x[:, 0]), imprint.hessian(lambda v: (v**3).sum() * v.sum())(x[:, 1])


def found(x):
    return inp.searchsorted(inp.sort(x[:, 0]), x[:2, 1]), inp.unique(x, size=3)


ROWS = ((("n", 3), F32),)
PROGRAMS = [
    *(
        (f, ROWS)
        for f in (
            *(softmax, moments, layernorm, attention, of_attention, mlp, cumulative),
            *(
                convolution,
                rnn,
                loops,
                choices,
                order,
                parts,
                updated,
                walked,
                joined,
                reshaped,
            ),
            *(sizes, draws, systems, nested, derivatives, found),
            *(of_rules, computed),
        )
    ),
    *(
        (f, (*ROWS, (("n",), I32)))
        for f in (segments, lookups, looked_up, cross_entropy)
    ),
    (two, ((("n", "m"), F32), (("m", "n"), F32))),
]


def traced(function, arguments):
    scope = SymbolicScope(["n >= 3"])
    avals = [
        ShapedArray(tuple(named(scope, n) for n in shape), dtype)
        for shape, dtype in arguments
    ]

    def run(*xs):
        return [inp.asarray(x) for x in imprint.tree_util.tree_leaves(function(*xs))]

    return stage(run, avals, DebugInfo("test", function.__name__)), avals


def named(scope, n):
    if n == "-n + 9":
        return 9 - scope.name("n")
    return scope.name(n) if n in BOUNDS else n


def drawn(avals, env, seed, garbage=None):
    """Return arrays of the true sizes, and the same with garbage behind these."""
    rng = np.random.default_rng(seed)
    exact, given = [], []
    for aval in avals:
        shape = tuple(evaluate(n, env) for n in aval.shape)
        x = rng.normal(size=shape) if aval.dtype == F32 else rng.integers(0, 5, shape)
        wide = tuple(evaluate(n, BOUNDS) for n in aval.shape)
        worst = np.nan if aval.dtype == F32 else 2**31 - 1
        out = np.full(wide, worst if garbage is None else garbage, aval.dtype)
        out[tuple(map(slice, shape))] = x
        exact.append(x.astype(aval.dtype))
        given.append(out)
    return exact, given


def check(function, arguments, evaluated, fill=None):
    closed, avals = traced(function, arguments)
    program = padded(closed, BOUNDS, [fill] * len(avals))
    weak, expected = ([a.weak_type for a in x.out_avals] for x in (program, closed))
    assert weak == expected
    run = evaluated(program)
    for seed, env in enumerate(SIZES):
        exact, given = drawn(avals, env, seed, fill)
        want = imprint.tree_util.tree_leaves(function(*map(inp.asarray, exact)))
        got = run([*(np.int32(env[name]) for name in BOUNDS), *given])
        for x, w in zip(got, map(np.asarray, want), strict=True):
            inside = np.asarray(x)[tuple(map(slice, w.shape))]
            assert_within(inside.astype(w.dtype), w, tolerance(F32, "factored"))


def by_references(program):
    hoisted = hoist_consts(program)

    def run(values):
        consts = [*map(np.asarray, program.consts)]
        with np.errstate(all="ignore"):
            return interpret(hoisted.jaxpr, [*consts, *values])

    return run


def compiled(program):
    made = compile_closed(program, "padded")

    def run(values):
        kept = [(values[i], program.in_avals[i]) for i in made.kept]
        outs = made.run([runtime.put(x, aval, copy=True) for x, aval in kept])
        return [*map(runtime.read, outs, made.out_avals)]

    return run


def name_of(case):
    return getattr(case, "__name__", "")


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=name_of)
def test_a_padded_program_is_right_at_each_size(function, arguments):
    check(function, arguments, by_references)


@pytest.mark.parametrize("fill", [0, 7, -1])
@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=name_of)
def test_a_rule_may_know_the_value_of_the_padding(function, arguments, fill):
    check(function, arguments, by_references, fill)


def test_zeros_need_no_mask_where_they_are_added():
    def run(x):
        return inp.tanh(x).sum(0) + (x * x).mean(0) + (-x).sum(0), x @ inp.ones(3)

    program = padded(traced(run, ROWS)[0], BOUNDS, [0])
    assert "select_n" not in str(program)


def test_prefixes_need_no_mask():
    def run(x):
        return inp.cumsum(x, 0), inp.cumprod(x, 0), lax.cummax(x), lax.cumlogsumexp(x)

    program = padded(traced(run, ROWS)[0], BOUNDS)
    assert "select_n" not in str(program)


COMPILED = [case for case in PROGRAMS if case[0] in (of_attention, order)]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [*COMPILED, *exhaustive(*(case for case in PROGRAMS if case not in COMPILED))],
    ids=name_of,
)
def test_a_padded_program_is_one_executable(function, arguments):
    check(function, arguments, compiled)


def refused(function, arguments=ROWS, bounds=BOUNDS):
    closed, _ = traced(function, arguments)
    with pytest.raises(NoPaddingError) as caught:
        padded(closed, bounds)
    return caught.value


def test_an_equation_that_cannot_be_padded_is_named():
    error = refused(lambda x: inp.fft.fft(x, axis=0).real)
    assert str(error) == "each element of a Fourier transform depends on its length"
    assert error.equation.primitive.name == "fft"


def test_an_axis_that_may_be_longer_than_at_the_bounds_cannot_be_padded():
    error = refused(lambda x: inp.zeros(12 - x.shape[0] % 4))
    assert str(error) == "the length -mod(n, 4) + 12 is not the longest at the bounds"
    assert refused(lambda x: x, (((("n", "-n + 9")), F32),)).equation is None


def test_a_length_beyond_int32_cannot_be_padded():
    bounds = {"n": 1 << 16, "m": 1}
    error = refused(lambda x: x.sum() * x.shape[0] ** 2, bounds=bounds)
    assert str(error) == "int32 does not count to the length n^2"


def test_an_equation_without_padding_needs_no_rule():
    closed, _ = traced(lambda x: inp.fft.fft(x.sum(0)).real, ROWS)
    assert len(padded(closed, BOUNDS).out_avals) == 1


def test_nothing_is_filled_twice():
    def run(x):
        zeros = inp.where(inp.arange(x.shape[0]) < 0, 1.0, 0.0)
        filled = inp.pad(x, ((0, 2), (0, 0)))
        return (
            filled.sum(0),
            inp.zeros(x.shape).sum(0),
            x.sum(0),
            (x * x.sum()).sum(),
            zeros,
        )

    program = padded(traced(run, ROWS)[0], BOUNDS)
    fills = [e for e in program.eqns if e.primitive.name == "select_n"]
    # x for `pad` and its sums, the product, and the one of the user
    assert len(fills) == 3


def test_a_padded_program_is_made_once():
    closed, _ = traced(attention, ROWS)
    assert padded(closed, BOUNDS) is padded(closed, dict(BOUNDS))
