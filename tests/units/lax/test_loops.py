"""Loops as in JAX: values, types, derivatives, batches, and nests of these."""

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax, tree
from imprint._src.jit.compilation.counters import COUNTERS
from tests.lanes import exhaustive_but
from tests.units.lax.loop_programs import PROGRAMS, agree, assert_same, of, total

pytestmark = pytest.mark.slow
XS = np.arange(3, dtype="float32")
QUICK = {"recurrent", "handed_on", "nested", "until", "scan_of_while"}


def every_program(*, reversible=False):
    programs = [p for p in PROGRAMS if p.is_reversible or not reversible]
    quick = [p for p in programs if str(p) in QUICK]
    cases = exhaustive_but(quick, programs)
    return pytest.mark.parametrize("program", cases, ids=str)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_values_and_types_are_those_of_jax(program):
    agree(lambda lib, f: f, program, compiled=True)
    want = jax.eval_shape(lambda *xs: program.function(jax, *xs), *program.args)
    got = imprint.eval_shape(lambda *xs: program.function(imprint, *xs), *program.args)
    kinds = [
        [(x.shape, x.dtype, x.weak_type) for x in tree.leaves(t)] for t in (got, want)
    ]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize(
    "program", [p for p in PROGRAMS if str(p) != "no_step"], ids=str
)
def test_without_jit_a_loop_is_one_of_pythons(program):
    def disabled(lib):
        with lib.disable_jit():
            return lib.tree.map(lib.numpy.asarray, of(lib, program)(*program.args))

    assert_same(disabled(imprint), disabled(jax))


@every_program(reversible=True)
def test_gradients(program):
    agree(lambda lib, f: lib.grad(total(f), (0, 1, 2)), program, compiled=True)


@every_program()
def test_tangents(program):
    def pushed(lib, f):
        return lambda *args: lib.jvp(f, args, tuple(0.5 * x for x in args))

    agree(pushed, program, compiled=True)

    def linearized(lib, f):
        return lambda *args: lib.linearize(f, *args)[1](*args)

    agree(linearized, program)


MIXES = [(0, None, None), (None, 0, None), (None, None, 0), (0, 0, 0), (1, 2, 1)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("axes", MIXES, ids=str)
@every_program()
def test_batches(program, axes):
    def stacked(x, axis):
        return x if axis is None else np.stack([x, x * 0.5, x * 1.5], axis)

    args = [stacked(x, axis) for x, axis in zip(program.args, axes, strict=True)]
    agree(lambda lib, f: lib.vmap(f, axes), program, args, compiled=True)
    if program.is_reversible:
        agree(
            lambda lib, f: lib.vmap(lib.grad(total(f), (0, 1, 2)), axes), program, args
        )


@every_program(reversible=True)
def test_second_derivatives(program):
    agree(lambda lib, f: lib.hessian(total(f)), program, compiled=True)
    agree(lambda lib, f: lib.jacrev(lib.grad(total(f))), program)


@every_program()
def test_second_tangents(program):
    agree(lambda lib, f: lib.jacfwd(lib.jacfwd(total(f))), program)


def test_the_error_of_reverse_mode_through_a_while_loop():
    loss = lambda x: lax.while_loop(lambda c: c < 10, lambda c: c * 2, x)
    with pytest.raises(ValueError, match="Reverse-mode"):
        jax.grad(lambda x: jax.lax.while_loop(lambda c: c < 10, lambda c: c * 2, x))(
            1.0
        )
    for differentiate in (imprint.grad(loss), imprint.jit(imprint.grad(loss))):
        with pytest.raises(ValueError, match=r"lax\.scan.*fori_loop.*jvp"):
            differentiate(1.0)


# ---- weak types ----


@pytest.mark.parametrize(
    ("init", "step"),
    [
        (0, lambda c, x: (c + x, c)),
        (0, lambda c, x: (c * 2.5, c)),
        (0.0, lambda c, x: (c + 1, x)),
        (1, lambda c, x: (c * x.astype("float16"), c)),
        ((0, 1.5), lambda c, x: ((c[1], c[0]), c)),
    ],
)
@pytest.mark.parametrize("x64", [False, True])
def test_a_weak_carry_is_promoted_as_in_jax(init, step, x64):
    xs = np.arange(3, dtype="float32")
    with jax.enable_x64(x64), imprint.enable_x64(x64):
        want = jax.lax.scan(step, init, xs)
        got = lax.scan(step, init, xs)
        for one, other in zip(tree.leaves(got), jax.tree.leaves(want), strict=True):
            assert one.dtype == other.dtype
            assert one.weak_type == other.weak_type
            np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


def test_promotion_goes_from_leaf_to_leaf():
    step = lambda c, x: ((c[1], c[0] + x), c)  # JAX promotes one of them, and gives up
    carry, _ = lax.scan(step, (0, 1), np.arange(3, dtype=np.float32))
    assert [x.dtype for x in carry] == [np.float32] * 2


@pytest.mark.parametrize(
    "loss",
    [
        lambda lib, w: lib.lax.scan(lambda c, x: (c * w, None), np.float32(1), XS)[0],
        lambda lib, w: lib.lax.scan(lambda c, x: (c + x, None), w, XS)[0],
        lambda lib, w: lib.lax.scan(lambda c, x: (w * c, x), w, XS)[0],
        lambda lib, w: lib.lax.fori_loop(0, 3, lambda i, c: c * w, np.float32(1)) + w,
        lambda lib, w: lib.lax.map(lambda x: x * w, XS).sum(),
    ],
    ids=["constant", "promoted", "carry", "also_outside", "map"],
)
def test_a_derivative_is_weak_where_it_is_in_jax(loss):
    for wrap in (lambda lib, f: f, lambda lib, f: lib.jit(f)):
        got, want = (
            wrap(lib, lib.grad(lambda w, lib=lib: loss(lib, w)))(0.5)
            for lib in (imprint, jax)
        )
        assert (float(got), got.weak_type) == (float(want), want.weak_type)


def _counts(i, _):
    return i


@pytest.mark.parametrize(
    "bounds",
    [(0, 3), (np.int16(0), 3), (0, np.uint8(3)), (3, 1), (0.0, 2.5), (False, True)],
)
def test_the_counter_has_the_type_that_it_has_in_jax(bounds):
    for wrap in (lambda lib, f: f, lambda lib, f: lib.jit(f)):
        ours, theirs = (
            wrap(lib, lambda lo, hi, lib=lib: lib.lax.fori_loop(lo, hi, _counts, 7))
            for lib in (imprint, jax)
        )
        try:
            want = theirs(*bounds)
        except TypeError:
            with pytest.raises(TypeError):
                ours(*bounds)
            continue
        got = ours(*bounds)
        assert (int(got), got.dtype, got.weak_type) == (
            int(want),
            want.dtype,
            want.weak_type,
        )


# ---- found by the definition ----


def test_a_loop_with_a_recreated_step_is_traced_and_compiled_once():
    def run(factor):
        total, _ = lax.scan(
            lambda c, x: (c + x * factor, c), 0.0, np.ones(3, "float32")
        )
        ended = lax.while_loop(lambda c: c < 10 * factor, lambda c: c + factor, 1.0)
        return float(total), float(ended)

    assert run(2.0) == (6.0, 21.0)
    traces, compiles = COUNTERS.traces, COUNTERS.compiles
    assert run(2.0) == (6.0, 21.0)
    assert (COUNTERS.traces, COUNTERS.compiles) == (traces, compiles)
    assert run(3.0) == (9.0, 31.0)
    assert COUNTERS.traces == traces + 2
    assert run(2.0) == (6.0, 21.0)
    assert COUNTERS.traces == traces + 2


RATE = 1.0


def test_a_loop_reads_globals_as_they_are(monkeypatch):
    def run():
        return float(lax.scan(lambda c, _: (c + RATE, None), 0.0, length=3)[0])

    assert run() == 3.0
    monkeypatch.setitem(globals(), "RATE", 2.0)
    assert run() == 6.0


def test_a_loop_reads_attributes_as_they_are():
    class Rates:
        rate = 1.0

        def step(self, carry, _):
            return carry + self.rate, None

    rates = Rates()
    run = lambda: float(lax.scan(rates.step, 0.0, length=3)[0])
    assert run() == 3.0
    rates.rate = 2.0
    assert run() == 6.0
    Rates.step = lambda self, carry, _: (carry - self.rate, None)
    assert run() == -6.0


def test_a_loop_reads_arrays_of_numpy_as_they_are():
    weights = np.ones(3, np.float32)

    def run():
        return np.asarray(
            lax.scan(lambda c, _: (c + weights, None), np.zeros(3), length=2)[0]
        )

    np.testing.assert_array_equal(run(), np.full(3, 2.0))
    weights[1] = 5.0
    np.testing.assert_array_equal(run(), [2.0, 10.0, 2.0])


def test_a_large_captured_array_is_no_matter_for_a_warning():
    data = inp.ones((600, 600))
    total, _ = lax.scan(lambda c, i: (c + data[i].sum(), None), 0.0, np.arange(3))
    assert float(total) == 1800.0


# ---- options ----


@pytest.mark.parametrize(
    ("first", "end", "by"), [(0, 1, 2), (5, 4, 2), (5, 2, 6), (0, 7, 3), (6, 2, 1)]
)
def test_a_loop_that_counts_by_any_number_takes_as_many_steps_as_in_python(
    first, end, by
):
    """XLA gives another number for the first three."""

    def steps():
        state = np.int32(first), np.int32(0)
        going = lax.while_loop(
            lambda s: s[0] < end, lambda s: (s[0] + by, s[1] + 1), state
        )
        return going[1]

    assert imprint.jit(steps)() == len(range(first, end, by))


def test_more_steps_in_one_turn_than_there_are():
    want, _ = lax.scan(lambda c, x: (c + x, None), 0.0, np.arange(3.0), unroll=8)
    assert float(want) == 3.0


def test_a_pair_may_be_a_list():
    carry, ys = lax.scan(lambda c, x: [c + x, x], 0.0, np.arange(3.0))
    assert float(carry) == 3.0
    assert ys.shape == (3,)


def test_the_carry_of_a_step_is_an_array():
    carry, ys = lax.scan(lambda c, x: (c, c), 1.5, length=2)
    assert isinstance(carry, imprint.Array)
    np.testing.assert_array_equal(np.asarray(ys), [1.5, 1.5])


WRONG = {
    "no pair": (lambda: lax.scan(lambda c, x: c, 0.0, length=2), "a pair"),
    "no length": (lambda: lax.scan(lambda c, x: (c, x), 0.0), "a length"),
    "two lengths": (
        lambda: lax.scan(lambda c, x: (c, x), 0, {"a": np.ones(3), "b": np.ones(4)}),
        r"xs\['a'\]: 3, xs\['b'\]: 4",
    ),
    "another length": (
        lambda: lax.scan(lambda c, x: (c, x), 0, np.ones(3), 4),
        "xs: 3, length: 4",
    ),
    "a scalar": (lambda: lax.scan(lambda c, x: (c, x), 0, 1.0), "no axis"),
    "a negative length": (lambda: lax.scan(lambda c, x: (c, x), 0, None, -1), "0 or"),
    "unroll -1": (
        lambda: lax.scan(lambda c, x: (c, x), 0, None, 3, unroll=-1),
        "unroll",
    ),
    "a text": (lambda: lax.scan(lambda c, x: (c, x), "a", None, 3), "init"),
    "a text returned": (lambda: lax.scan(lambda c, x: (c, "a"), 0, None, 3), r"\[1\]"),
    "no function": (lambda: lax.scan(3, 0, None, 3), "a function"),
    "no bool": (lambda: lax.while_loop(lambda c: c, lambda c: c, 1.0), r"bool\[\]"),
    "bools": (lambda: lax.while_loop(lambda c: c > 0, lambda c: c, np.ones(2)), "any"),
    "a tree": (lambda: lax.while_loop(lambda c: (True,), lambda c: c, 1.0), "bool"),
    "float bounds": (lambda: lax.fori_loop(0, 2.5, lambda i, c: c, 1.0), "one dtype"),
    "unroll": (
        lambda: imprint.jit(
            lambda n: lax.fori_loop(0, n, lambda i, c: c, 1.0, unroll=2)
        )(3),
        "unroll",
    ),
    "a negative batch": (
        lambda: lax.map(lambda x: x, np.ones(3), batch_size=-2),
        "bat",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_error_messages(wrong):
    run, pattern = WRONG[wrong]
    with pytest.raises((TypeError, ValueError), match=pattern):
        run()


def test_the_error_of_a_carry_that_changes_its_type():
    carry = {"a": 1.0, "b": np.ones(3, np.int32)}
    step = lambda c, _: ({"a": c["a"], "b": c["b"] * 2.5}, None)
    with pytest.raises(TypeError) as caught:
        lax.scan(step, carry, length=3)
    assert str(caught.value) == (
        "scan: expected <lambda> to return a carry of the types that it takes, got "
        "float32[3] for init['b'], which is int32[3].\n"
        "  It takes   {'a': float32[], 'b': int32[3]}\n"
        "  It returns {'a': float32[], 'b': float32[3]}\n"
        "  Return it cast, `.astype('int32')`, or begin with init['b'] as float32."
    )


def test_a_carry_that_changes_its_structure_is_shown():
    with pytest.raises(
        TypeError, match=r"It takes   float32\[\]\n  It returns \(float32"
    ):
        lax.while_loop(lambda c: True, lambda c: (c, c), 1.0)


def test_a_carry_that_changes_its_shape_is_shown():
    with pytest.raises(
        TypeError, match=r"It takes   float32\[3\]\n  It returns float32\[1\]"
    ):
        lax.fori_loop(0, 3, lambda i, c: c[:1], np.ones(3, np.float32))
