"""`symbolic_shape` and `SymbolicScope`: the grammar is JAX's, constraints decide questions."""

import pytest

import imprint
from imprint._src.core import dims
from imprint._src.dynamic_shapes.values import evaluate
from imprint.errors import ArgumentError, ShapeError
from tests.oracle import jax

GRAMMAR = (
    "Write names, whole numbers, + - * ^, floordiv(a, b), mod(a, b), max(a, b), "
    "min(a, b): 'b, 2*n + 1'."
)
VALUES = [{"a": a, "b": b} for a in (1, 2, 5, 8) for b in (1, 3, 4)]


def message(error, fun, *args, **kwargs):
    with pytest.raises(error) as caught:
        fun(*args, **kwargs)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "a, b",
        "a, 2*a + 1, a*b, 3",
        "max(a, 3), min(a, b), mod(a, 2), floordiv(a + b, 2), a^2, 2*a^2*b",
        "(a, b)",
        "(a,)",
        " a ,b ",
        "",
        "7",
        "a - 1, -1 + a, -mod(a, 2) + 2",
        "floordiv(a, b), mod(a, b + 1)",
    ],
)
def test_shapes_are_those_of_jax(text):
    ours = imprint.symbolic_shape(text)
    theirs = jax.export.symbolic_shape(text)
    assert len(ours) == len(theirs)
    for x, y in zip(ours, theirs, strict=True):
        for values in VALUES:
            y_value = y if isinstance(y, int) else y._evaluate(values)
            assert evaluate(x, values) == y_value


def test_operators_of_python_mean_the_same():
    a, b, c = imprint.symbolic_shape("a**2, a // 2, a % 3")
    x, y, z = imprint.symbolic_shape("a^2, floordiv(a, 2), mod(a, 3)", scope=a.scope)
    assert a is x
    assert b is y
    assert c is z


def test_like_fills_open_axes():
    assert imprint.symbolic_shape("_, 4, ...", like=(2, 9, 5, 6)) == (2, 4, 5, 6)
    assert imprint.symbolic_shape(None, like=(2, 3)) == (2, 3)
    n, two = imprint.symbolic_shape("n, _", like=(None, 2))
    assert (str(n), two) == ("n", 2)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *[
            (text, "it cannot be read; an operator or a comma may be missing")
            for text in ("a b", "2a", "a,,b", "a+", "(a")
        ],
        ("1.5", "'1.5' is no size"),
        ("a/2", "'a / 2' is no size"),
        ("foo(a)", "'foo(a)' is no size"),
        ("max(a)", "'max(a)' is no size"),
        ("max", "max takes two operands in brackets"),
        ("a.b", "'a.b' is no size"),
        ("True", "'True' is no size"),
        ("a**b", "there is no number for a and b there"),
        ("floordiv(a, 0)", "there is no number for a and 0 there"),
        ("-a", "-a is negative"),
        ("a, ...", "`...` needs `like=`, a shape"),
        ("_", "`_` needs an entry 0 of `like=`"),
        ("__import__('os')", "\"__import__('os')\" is no size"),
    ],
)
def test_specs_that_are_no_shapes_are_refused(text, why):
    assert message(ArgumentError, imprint.symbolic_shape, text) == (
        f"symbolic_shape: expected sizes, got {text!r}: {why}. {GRAMMAR}"
    )


def test_contradictory_specs_are_refused():
    shape = imprint.symbolic_shape
    assert "`...` is the last entry" in message(
        ArgumentError, shape, "..., a", like=(1, 2)
    )
    assert "it has 1 entries, and like=(1, 2) 2" in message(
        ArgumentError, shape, "a", like=(1, 2)
    )
    assert "None in a place that takes its size" in message(
        ArgumentError, shape, "_", like=(None,)
    )
    assert message(ArgumentError, shape, (3, 4)) == (
        "symbolic_shape: expected a text such as 'b, 2*n', got (3, 4). Sizes that are "
        "numbers need no names: use the tuple."
    )
    assert message(
        ArgumentError, shape, "a", constraints=["a >= 2"], scope=imprint.SymbolicScope()
    ) == (
        "symbolic_shape: expected constraints or a scope, got both. Pass the constraints "
        "to imprint.SymbolicScope."
    )
    with pytest.raises(ShapeError, match="whether a - b >= 0"):
        shape("a - b")


# ---- constraints ----


@pytest.mark.parametrize(
    ("constraints", "ask", "answer"),
    [
        (["a >= 4"], lambda a, b: a > 3, True),
        (["a > 3"], lambda a, b: a >= 4, True),
        (["a <= 9"], lambda a, b: a < 10, True),
        (["a <= 9", "b >= 10"], lambda a, b: a == b, False),
        (["b <= a"], lambda a, b: a - b >= 0, True),
        (["b <= a", "a <= 2*b"], lambda a, b: 3 * b >= a + 1, True),
        (["mod(a, 8) == 0"], lambda a, b: a % 4 == 0, True),
        (["mod(a, 8) == 0"], lambda a, b: a // 8 * 8 == a, True),
        (["mod(a, 8) == 3"], lambda a, b: (a - 3) // 8 * 8 + 3 == a, True),
        (["a == 2*b"], lambda a, b: a // 2 == b, True),
        (["a == b"], lambda a, b: a is b, True),
        (["a >= 0"], lambda a, b: a >= 1, None),
        (["a*b <= 100"], lambda a, b: a * b < 101, True),
        (["3 <= a"], lambda a, b: a >= 3, True),
    ],
)
def test_constraints_decide(constraints, ask, answer):
    shape = imprint.symbolic_shape("a, b", constraints=constraints)
    if answer is None:
        with pytest.raises(ShapeError):
            ask(*shape)
    else:
        assert ask(*shape) is answer


def test_a_multiple_of_eight_reshapes_to_rows_of_eight():
    (n,) = imprint.symbolic_shape("n", constraints=["mod(n, 8) == 0"])
    x = imprint.ShapeDtypeStruct((n,), "float32")
    out = imprint.eval_shape(lambda x: x.reshape(-1, 8), x)
    assert out.shape == (n // 8, 8)
    (m,) = imprint.symbolic_shape("m")
    with pytest.raises(ShapeError, match=r"whether mod\(m, 8\) == 0"):
        imprint.eval_shape(
            lambda x: x.reshape(-1, 8), imprint.ShapeDtypeStruct((m,), "float32")
        )


def test_scopes_are_shared():
    scope = imprint.SymbolicScope(["n >= 2"])
    (n,) = imprint.symbolic_shape("n", scope=scope)
    (m,) = imprint.symbolic_shape("2*n", scope=scope)
    assert m == n + n
    assert dims.at_least(m, 4)
    assert repr(scope) == "SymbolicScope(['n >= 2'])"


@pytest.mark.parametrize(
    ("constraint", "why"),
    [
        ("3 >= 4", "it never holds"),
        ("a <= 0", "it never holds"),
        ("a == a + 1", "it never holds"),
        ("a >= -1", "a size is not negative"),
        (
            "2*a == 4",
            "the left side of == is a name or an operation, not on the right",
        ),
        ("a >= b or c", "'b or c' is no size"),
    ],
)
def test_empty_constraints_are_refused(constraint, why):
    assert message(ArgumentError, imprint.SymbolicScope, [constraint]) == (
        f"SymbolicScope: expected sizes, got {constraint!r}: {why}. {GRAMMAR}"
    )
    assert message(ArgumentError, imprint.SymbolicScope, ["a + 3"]) == (
        "SymbolicScope: expected a relation such as 'n >= 2', got 'a + 3'. Write two sizes "
        "with ==, >=, <=, > or < between."
    )
