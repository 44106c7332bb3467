"""Sizes of names: arithmetic is Python's, equal is one object, answers hold for all values."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import imprint
import imprint.numpy as inp
from imprint._src.core import dims
from imprint._src.dynamic_shapes.expression import SymbolicSize
from imprint._src.dynamic_shapes.values import evaluate, names_of
from imprint._src.jit.compilation.lowered import lower
from imprint.errors import ArgumentError, ConcretizationError, ShapeError
from tests.oracle import jax

N, M = imprint.symbolic_shape("n, m")
VALUES = [{"n": n, "m": m} for n in (1, 2, 3, 5, 8, 24) for m in (1, 2, 4, 7, 9)]

OPERATIONS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "max": lambda x, y: max(x, y) if _are_ints(x, y) else dims.maximum(x, y),
    "min": lambda x, y: min(x, y) if _are_ints(x, y) else dims.minimum(x, y),
}
NUMBERS = st.integers(-3, 9)
LEAVES = st.one_of(st.sampled_from("nm"), NUMBERS)
FACTORS = st.sampled_from(["n", "m", 2, 3, -1])
DIVISORS = st.sampled_from(["n", "m", 2, 3, 4, 8, -2, ("+", "n", 1), ("+", "m", "n")])


def _joined(parts):
    return st.one_of(
        st.tuples(st.sampled_from(["+", "-", "max", "min"]), parts, parts),
        st.tuples(st.just("*"), parts, FACTORS),
        st.tuples(st.sampled_from(["//", "%"]), parts, DIVISORS),
    )


EXPRESSIONS = st.recursive(LEAVES, _joined, max_leaves=8)


def _are_ints(*values):
    return all(type(value) is int for value in values)


def computed(tree, values):
    """Return the value of a tree: with sizes for the names, or with numbers."""
    if isinstance(tree, tuple):
        operation, *operands = tree
        return OPERATIONS[operation](*[computed(part, values) for part in operands])
    return values[tree] if isinstance(tree, str) else tree


def message(error, fun, *args):
    with pytest.raises(error) as caught:
        fun(*args)
    return str(caught.value)


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS)
def test_sizes_compute_as_their_values_and_decisions_hold(tree):
    size = computed(tree, {"n": N, "m": M})
    numbers = [computed(tree, values) for values in VALUES]
    assert [evaluate(size, values) for values in VALUES] == numbers
    if type(size) is int:
        return
    low, high = size.bounds()
    assert low <= min(numbers)
    assert high >= max(numbers)
    answers = {number >= 0 for number in numbers}
    assert size.is_non_negative() in (None, *(answers if len(answers) == 1 else ()))
    if 0 in numbers:
        assert size.is_zero() is not False


FORMS = [
    (lambda n, m: n * m - m * n, 0),
    (lambda n, m: (n + m) * (n - m), "n^2 - m^2"),
    (lambda n, m: (2 * n) // 2, "n"),
    (lambda n, m: (n * m) // m, "n"),
    (lambda n, m: (n * m + m) // m, "n + 1"),
    (lambda n, m: (n * m + m) // (n + 1), "m"),
    (lambda n, m: n // 2 * 2 + n % 2, "n"),
    (lambda n, m: 8 * (n // 8), "n - mod(n, 8)"),
    (lambda n, m: n // 4 + n // 4 * 3, "n - mod(n, 4)"),
    (lambda n, m: (n // 2) // 3, "floordiv(n, 6)"),
    (lambda n, m: (4 * n) // 6, "floordiv(2*n, 3)"),
    (lambda n, m: (4 * n) % 6, "2*mod(2*n, 3)"),
    (lambda n, m: (n + 8) // 8, "floordiv(n, 8) + 1"),
    (lambda n, m: (n + 8 * m) % 8, "mod(n, 8)"),
    (lambda n, m: n // -2, "floordiv(n, 2) - n"),
    (lambda n, m: dims.maximum(n + 1, m + 1), "max(m, n) + 1"),
    (lambda n, m: dims.maximum(n + 1, n), "n + 1"),
    (lambda n, m: dims.minimum(n, n + m), "n"),
    (lambda n, m: n % m % m, "mod(n, m)"),
    (lambda n, m: n**2 * n, "n^3"),
    (lambda n, m: n * np.int64(3) + True, "3*n + 1"),
    (lambda n, m: 7 - n, "-n + 7"),
    (lambda n, m: -(n - 7), "-n + 7"),
    (lambda n, m: 5 // (n + 5), 0),
    (lambda n, m: n**0, 1),
]


@pytest.mark.parametrize(("make", "form"), FORMS)
def test_one_form(make, form):
    size = make(N, M)
    assert (size if type(form) is int else str(size)) == form
    if type(size) is not int:
        assert make(N, M) is size
        assert {size: 1}[make(N, M)] == 1


DECIDED = [
    (lambda n, m: n >= 1, True),
    (lambda n, m: n > 0, True),
    (lambda n, m: n < n + m, True),
    (lambda n, m: n * m >= n + m - 1, True),
    (lambda n, m: (n + 3) // 4 >= 1, True),
    (lambda n, m: n // 2 <= n, True),
    (lambda n, m: n % m < m, True),
    (lambda n, m: dims.minimum(n, m) <= n, True),
    (lambda n, m: dims.maximum(n, 3) > 3, None),
    (lambda n, m: dims.maximum(n, 3) >= 3, True),
    (lambda n, m: 2 * n == 2 * m + 1, False),
    (lambda n, m: n == n + 1, False),
    (lambda n, m: n != n + 1, True),
    (lambda n, m: n + m == m + n, True),
    (lambda n, m: bool(n), True),
    (lambda n, m: n == "n", False),
    (lambda n, m: n > 4, None),
    (lambda n, m: n == m, None),
    (lambda n, m: bool(n - 1), None),
]


@pytest.mark.parametrize(("ask", "answer"), DECIDED)
def test_questions_are_answered_for_all_values_or_not_at_all(ask, answer):
    if answer is None:
        with pytest.raises(ShapeError, match="that depends on their values"):
            ask(N, M)
    else:
        assert ask(N, M) is answer


def test_comparisons_that_jax_decides_are_decided():
    n, m = jax.export.symbolic_shape("n, m")
    inconclusive = jax.errors.InconclusiveDimensionOperation
    for ask, answer in DECIDED:
        try:
            theirs = ask(n, m)
        except (inconclusive, TypeError, AttributeError):
            continue
        if answer is not None:  # an equation that may hold counts as false there
            assert theirs is answer


def test_an_undecided_question_shows_two_values_and_the_constraint():
    assert message(ShapeError, lambda: N > 4) == (
        "expected sizes of which it is known whether n > 4, got ones for which that "
        "depends on their values: it is 5 > 4 for n = 5, and not 1 > 4 for n = 1. State "
        'it: constraints=("n > 4",) of symbolic_shape; or give the axes one name, or fixed '
        "lengths."
    )
    with pytest.raises(ShapeError, match=r"it is 1 == 1 for m = 1, n = 1, and not"):
        dims.equal(N, M)
    with pytest.raises(ShapeError, match="whether m <= 3"):
        dims.at_least(3, M)


def test_a_size_is_no_number_of_python():
    for use in (int, float, range, [0].__getitem__):
        assert message(ConcretizationError, use, 2 * N) == (
            "expected a whole number, got the size 2*n, whose value comes later. Give the "
            "axis a fixed length, or compute with arrays: imprint.numpy.arange, where, "
            "imprint.lax.fori_loop."
        )
    with pytest.raises(ZeroDivisionError):
        N // 0


def test_sizes_of_two_scopes_do_not_mix():
    (other,) = imprint.symbolic_shape("n")
    assert other is not N
    assert other != N
    assert message(ArgumentError, lambda: N + other) == (
        "expected sizes of one scope, got n and n of two. Make them by one call of "
        "symbolic_shape, or pass scope= to both."
    )


def test_a_size_is_itself_when_copied_and_refuses_to_be_pickled():
    assert copy.deepcopy([N])[0] is N
    assert copy.copy(N) is N
    assert message(TypeError, pickle.dumps, N) == (
        "expected what can be pickled, got the size n, which belongs to a scope of this "
        "process. Keep its text, and create it again by symbolic_shape."
    )
    assert names_of((N // 2) * M) == ["m", "n"]


# ---- in programs ----


def test_sizes_compute_with_arrays_and_floats():
    def program(x):
        n = x.shape[0]
        parts = [
            x * n,
            n * x,
            x / n,
            n / 2,
            n * 0.5,
            2.0**n,
            n - x,
            n // x,
            x.sum() / n,
        ]
        return [part + 0 * x.sum() for part in parts]

    symbolic = imprint.make_jaxpr(program)(imprint.ShapeDtypeStruct((N,), "float32"))
    concrete = imprint.make_jaxpr(program)(imprint.ShapeDtypeStruct((3,), "float32"))
    shapes = [
        [dims.product(a.shape) for a in j.out_avals] for j in (symbolic, concrete)
    ]
    assert [evaluate(size, {"n": 3}) for size in shapes[0]] == shapes[1]
    assert [a.dtype for a in symbolic.out_avals] == [
        a.dtype for a in concrete.out_avals
    ]
    assert "dim_as_value[dim=n]" in str(symbolic)


def test_shapes_that_do_not_fit_raise_with_the_sizes():
    x = imprint.ShapeDtypeStruct((N, M), "float32")
    with pytest.raises(ShapeError, match="whether n == m"):
        imprint.eval_shape(lambda x: x + x.T, x)
    out = imprint.eval_shape(lambda x: inp.concatenate([x, x]) @ x.T, x)
    assert out.shape == (2 * N, N)
    assert str(out) == "ShapeDtypeStruct(shape=(2*n, n), dtype=float32)"


def test_one_program_does_not_have_names_for_sizes():
    x = imprint.ShapeDtypeStruct((N, 3), "float32")
    closed = imprint.make_jaxpr(lambda x: x * 2)(x)
    assert message(ConcretizationError, lower, closed, "double") == (
        "expected a program whose sizes are numbers, got the shape (n, 3). Sizes with "
        "names are for make_jaxpr, eval_shape and export: compile for a shape of "
        "numbers."
    )
    assert isinstance(N, SymbolicSize)


@pytest.mark.parametrize(
    ("constraint", "most"), [("floordiv(n, 2) <= 1", 3), ("n <= floordiv(n, 2) + 1", 2)]
)
def test_a_bound_may_be_requested_during_its_computation(constraint, most):
    (n,) = imprint.symbolic_shape("n", constraints=[constraint])
    assert n <= most
    assert n.scope.most_of("n") == most
    (m,) = imprint.symbolic_shape("m")
    assert m.scope.most_of("m") == math.inf
