"""A concretization error names the construct, and its replacement."""

import cmath
import functools
import linecache
import math
import operator
import statistics
import subprocess
import sys

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ConcretizationError, ShapeError

X = np.float32(3.0)


def while_(x):
    while x < 2:
        x = x + 1


def if_(x):
    if x < 2:
        pass


def if_of_a_name(x):
    if x:
        pass


def if_not(x):
    if not x:
        pass


def if_with_and(x):
    if True and x < 2:
        pass


def if_with_and_before(x):
    if x < 2 and True:
        pass


def walrus(x):
    if y := x:
        return y
    return x


def elif_(x):
    if X is None:
        pass
    elif x > 2:
        x = 2


def if_of_a_call(x):
    if inp.any(x > 0):
        pass


def if_of_a_method(x):
    if x.any():
        pass


def if_of_an_element(x):
    if inp.stack([x, x])[0]:
        pass


def while_of_a_remainder(x):
    while x % 2:
        pass


def assert_(x):
    assert x > 0


def assert_not(x):
    assert not x, "text"


def match(x):
    match x:
        case 1:
            pass


def match_guard(x):
    match 1:
        case _ if x:
            pass


def over_lines(x):
    while (
        x
        + 1
        < 2
    ):  # fmt: skip
        pass


def in_a_decorator(fun):
    def decorated(define):
        return fun

    return decorated


@in_a_decorator(lambda x: not x)
def decorated():
    pass


CONSTRUCTS = {
    decorated: ("`not`", "imprint.numpy.logical_not(x)"),
    while_: ("`while`", "imprint.lax.while_loop(condition, step, value)"),
    over_lines: ("`while`", "imprint.lax.while_loop(condition, step, value)"),
    if_: ("`if`", "imprint.numpy.where(condition, a, b)"),
    if_of_a_name: ("`if`", "imprint.numpy.where(condition, a, b)"),
    if_of_a_call: ("`if`", "imprint.numpy.where(condition, a, b)"),
    if_of_a_method: ("`if`", "imprint.numpy.where(condition, a, b)"),
    if_of_an_element: ("`if`", "imprint.numpy.where(condition, a, b)"),
    while_of_a_remainder: ("`while`", "imprint.lax.while_loop(condition, step, value)"),
    if_not: ("`if`", "imprint.numpy.where(condition, a, b)"),
    if_with_and: ("`if`", "imprint.numpy.where(condition, a, b)"),
    if_with_and_before: ("`and`", "`(a) & (b)`"),
    walrus: ("`if`", "imprint.numpy.where(condition, a, b)"),
    elif_: ("`if`", "imprint.numpy.where(condition, a, b)"),
    assert_: ("`assert`", "imprint.debug.check"),
    assert_not: ("`assert`", "imprint.debug.check"),
    match: ("`match`", "imprint.numpy.where(x == case, a, b)"),
    match_guard: ("`match`", "imprint.numpy.where"),
    (lambda x: 1 if x < 2 else 0): (
        "`… if … else …`",
        "imprint.numpy.where(x < 2, 1, 0)",
    ),
    (lambda x: x and 2): ("`and`", "imprint.numpy.logical_and(a, b), or `(a) & (b)`"),
    (lambda x: x > 2 or 2): ("`or`", "imprint.numpy.logical_or(a, b), or `(a) | (b)`"),
    (lambda x: not x): ("`not`", "imprint.numpy.logical_not(x)"),
    (lambda x: 0 < x < 2): ("a chained comparison", "`(0 < x) & (x < 2)`"),
    (lambda x: min(x, 2.0)): ("`min()`", "imprint.numpy.minimum(a, b)"),
    (lambda x: max(x, 2.0)): ("`max()`", "imprint.numpy.maximum(a, b)"),
    (lambda x: max([x, x])): ("`max()`", "imprint.numpy.max(x)"),
    (lambda x: any([x > 2])): ("`any()`", "imprint.numpy.any(x)"),
    (lambda x: all(y > 2 for y in [x])): ("`all()`", "imprint.numpy.all(x)"),
    (lambda x: x in [1, 2]): ("`in`", "(imprint.numpy.asarray(values) == x).any()"),
    (lambda x: x not in [1, 2]): ("`in`", "(imprint.numpy.asarray(values) == x)"),
    (lambda x: sorted([x, x])): ("`sorted()`", "write imprint.numpy.sort(x)"),
    (lambda x: [y for y in [x] if y > 0]): ("the `if` of a comprehension", "keep them"),
    (lambda x: list(y for y in [x] if y > 0)): (  # noqa: C400
        "the `if` of a comprehension",
        "keep them all",
    ),
    (lambda x: sum(1 for y in [x] if y)): ("the `if` of a comprehension", "keep them"),
    (lambda x: [1 for y in [x] if y]): ("the `if` of a comprehension", "keep them"),
    (lambda x: f"{'a' if x > 0 else 'b'}"): ("`… if … else …`", "imprint.numpy.where"),
    (lambda x: f"{int(x)}"): ("`int()`", "`x.astype(int)`"),
    (lambda x: statistics.median([x, x, x])): (
        "`statistics.median()`",
        "imprint.numpy.where",
    ),
    (lambda x: functools.reduce(max, [x, x])): ("`functools.reduce()`", "where"),
    (lambda x: [1.0].index(x)): ("`.index()`", "imprint.numpy.where"),
    (lambda x: list(filter(lambda y: y > 0, [x]))): (None, "imprint.numpy.where"),
    (lambda x: [x] == [1]): ("a comparison of containers", "imprint.numpy.array_equal"),
    (lambda x: bool(x)): ("`bool()`", "`x.astype(bool)`"),
    (lambda x: int(x * 2)): ("`int()`", "`(x * 2).astype(int)`"),
    (lambda x: float(x)): ("`float()`", "`x.astype(float)`"),
    (lambda x: complex(x)): ("`complex()`", "`x.astype(complex)`"),
    (lambda x: f"{x:.2f}"): ("an f-string", "return it"),
    (lambda x: "{:.2f}".format(x)): ("`.format()`", "return it"),  # noqa: UP032
    (lambda x: "%.2f" % x): ("`%` of a text", "return it"),  # noqa: UP031
    (lambda x: x.item()): ("`.item()`", "return it and read it outside"),
    (lambda x: x.tolist()): ("`.tolist()`", "return it and read it outside"),
    (lambda x: math.sin(x)): ("`math.sin()`", "write imprint.numpy.sin;"),
    (lambda x: cmath.phase(x)): ("`cmath.phase()`", "write imprint.numpy.angle;"),
    (lambda x: math.erf(x)): ("`math.erf()`", "no\n  function for math.erf yet"),
    (lambda x: math.dist([x], [1.0])): (
        "`math.dist()`",
        "no\n  function for math.dist",
    ),
    (lambda x: np.concatenate([[x], [x]])): (
        "`numpy.concatenate()`",
        "write imprint.numpy.concatenate.",
    ),
    (lambda x: np.diag([x])): ("`numpy.diag()`", "write imprint.numpy.diag."),
    (lambda x: np.bitwise_or.reduce([x])): (
        "`numpy.bitwise_or.reduce()`",
        "write\n  imprint.numpy.bitwise_or.reduce, and make a list an array with "
        "imprint.numpy.asarray.",
    ),
    (lambda x: np.add.reduceat([x], [0])): (
        "`numpy.add.reduceat()`",
        "imprint.numpy.add.reduceat, and make a list an array",
    ),
    (lambda x: np.r_[x, x]): ("`numpy.r_[]`", "write imprint.numpy.r_."),
    (lambda x: np.real_if_close(x)): (
        "`numpy.real_if_close()`",
        "no\n  function for numpy.real_if_close yet",
    ),
    (lambda x: {x: 1}): ("a key of a dict or set", "look up outside"),
    (lambda x: hash(x)): ("a key of a dict or set", "look up outside"),
}
INTEGERS = {
    (lambda i: range(i)): (
        "`range()`",
        "imprint.lax.fori_loop(lower, upper, step, value)",
    ),
    (lambda i: [1, 2, 3][i]): ("an index", "imprint.numpy.asarray([1, 2, 3])[i]"),
    (lambda i: np.ones(2)[i]): ("an index", "imprint.numpy.asarray(np.ones(2))[i]"),
    (lambda i: "abc"[i]): ("an index or a size", "must be known"),
    (lambda i: inp.arange(5)[:i]): ("a slice", "imprint.lax.dynamic_slice_in_dim("),
    (lambda i: inp.ones((2, 2))[0, i:]): (
        "a slice",
        "imprint.lax.dynamic_slice_in_dim(",
    ),
    (lambda i: inp.zeros(i)): ("`zeros()`", "take it from `x.shape`"),
    (lambda i: inp.arange(4).reshape(i, 2)): ("`.reshape()`", "take it from `x.shape`"),
    (lambda i: "-" * i): ("`*` of a text", "take it from `x.shape`"),
    (lambda i: operator.index(i)): ("`operator.index()`", "take them from `x.shape`"),
}
CASES = [(f, X, *said) for f, said in CONSTRUCTS.items()]
CASES += [(f, 2, *said) for f, said in INTEGERS.items()]


@pytest.mark.parametrize(("fun", "argument", "name", "remedy"), CASES)
def test_the_construct_is_named_with_its_remedy(fun, argument, name, remedy):
    with pytest.raises(ConcretizationError) as caught:
        imprint.jit(fun)(argument)
    text = str(caught.value)
    assert name is None or text.startswith(f"{name} needs a concrete ")
    assert remedy in text
    assert "at test_concretization_hints.py:" in text
    needs_array = "needs a concrete array" in text
    assert needs_array != text.endswith("mark its argument static (static_argnums).")


def ran(text, filename="<cell>"):
    names = {"inp": inp}
    exec(compile(text, filename, "exec"), names)
    return names["f"]


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("while x < 2: pass", "a condition"),
        ("return x in [1]", "`in`"),
        ("return f'{x:.2f}'", "an f-string"),
        ("return int(x)", "`int()`"),
        ("return [1][inp.int32(x)]", "an index or a size"),
    ],
)
def test_without_its_source_the_message_is_general(body, name):
    with pytest.raises(ConcretizationError) as caught:
        imprint.jit(ran(f"def f(x):\n    {body}"))(X)
    assert str(caught.value).startswith(f"{name} needs a concrete ")


def test_a_cell_of_a_notebook_has_its_text_in_linecache():
    text = "def f(x):\n    while x < 2: pass\n"
    linecache.cache["<cell 7>"] = (len(text), None, text.splitlines(True), "<cell 7>")
    with pytest.raises(ConcretizationError, match=r"^`while` needs"):
        imprint.jit(ran(text, "<cell 7>"))(X)


def test_text_that_is_no_longer_python_is_no_obstacle():
    linecache.cache["<cell 8>"] = (3, None, ["def f(:\n", "?\n"], "<cell 8>")
    with pytest.raises(ConcretizationError, match=r"^a condition needs"):
        imprint.jit(ran("def f(x):\n    while x < 2: pass\n", "<cell 8>"))(X)


def test_a_user_name_is_not_taken_for_a_builtin():
    def min(x):  # noqa: A001 - the point
        return bool(x)

    with pytest.raises(ConcretizationError, match=r"^`bool\(\)` needs"):
        imprint.jit(lambda x: min(x))(X)


# ---- which transform made it abstract ----

V = np.ones(3, np.float32)


def branch(x):
    return x * x if x > 0 else x


ADVICE = {
    "vmap": (
        lambda: imprint.vmap(branch)(V),
        "pass its argument whole (in_axes=None).",
    ),
    "vmap of grad": (
        lambda: imprint.vmap(imprint.grad(branch))(V),
        "pass its argument whole (in_axes=None).",
    ),
    "jvp of vmap": (
        lambda: imprint.jvp(imprint.vmap(branch), (V,), (V,)),
        "pass its argument whole (in_axes=None).",
    ),
    "vmap of jit": (
        lambda: imprint.vmap(imprint.jit(branch))(V),
        "mark its argument static (static_argnums).",
    ),
    "jit of grad": (
        lambda: imprint.jit(imprint.grad(branch))(X),
        "mark its argument static (static_argnums).",
    ),
    "jit of vmap": (
        lambda: imprint.jit(imprint.vmap(branch))(V),
        "pass its argument whole (in_axes=None),\n"
        "  and mark its argument static (static_argnums).",
    ),
    "filter_jit": (
        lambda: imprint.filter_jit(branch)(X),
        "pass a number and no array: filter_jit holds numbers static.",
    ),
    "eval_shape": (
        lambda: imprint.eval_shape(branch, X),
        "close over it: lambda x: f(x, value).",
    ),
}


@pytest.mark.parametrize("name", ADVICE)
def test_the_advice_is_of_the_transform_that_made_it_abstract(name):
    call, advice = ADVICE[name]
    with pytest.raises(ConcretizationError) as caught:
        call()
    assert str(caught.value).endswith(f"to make it a Python value, {advice}")


def test_a_value_mapped_by_vmap_is_called_mapped():
    with pytest.raises(ConcretizationError, match="It is mapped by vmap in branch"):
        imprint.vmap(branch)(V)


def test_gradients_of_known_numbers_branch():
    assert imprint.grad(branch)(X) == 6


# ---- bool of several elements, as NumPy and JAX refuse it without a trace too ----


@pytest.mark.parametrize("wrap", [imprint.jit, imprint.make_jaxpr])
def test_several_elements_have_no_truth_value(wrap):
    with pytest.raises(
        ShapeError, match=r"needs one bool.*\n.*\n.*`\.any\(\)`"
    ) as caught:
        wrap(branch)(V)
    assert isinstance(caught.value, ValueError)


def test_the_traceback_has_no_frame_of_numpy():
    def f(x):
        return np.real_if_close(x)

    with pytest.raises(ConcretizationError) as caught:
        imprint.jit(f)(V)
    files = [str(entry.path) for entry in caught.traceback]
    assert files[-1] == __file__
    assert not [file for file in files if "numpy" in file]
    assert "(np.real_if_close(x)) at test_concretization_hints.py" in str(caught.value)


def test_formats_without_a_specification_are_the_tracer():
    seen = []
    imprint.jit(lambda x: seen.append(f"{x} {x!r}") or x)(X)
    assert seen == ["JitTracer(float32[]) JitTracer(float32[])"]
    imprint.jvp(lambda x: seen.append(f"{x:.1f}") or x, (X,), (X,))
    assert seen[1] == "3.0"


@pytest.mark.slow
def test_without_columns_the_message_is_general(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import imprint\n\ndef f(x):\n    while x < 2: pass\n\nimprint.jit(f)(1.0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "no_debug_ranges", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ConcretizationError: a condition needs a concrete bool" in done.stderr
