"""The complete messages of imprint.numpy for invalid calls."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import (
    ArgumentError,
    ConcretizationError,
    DTypeError,
    NonConcreteBooleanIndexError,
    ShapeError,
)

X = np.ones((2, 3), np.float32)
V = np.ones(4, np.float32)

WRONG = {
    "shapes of an operator": (
        lambda: inp.asarray(X) + inp.asarray(V),
        ShapeError,
        "add: expected shapes that broadcast together, got float32[2,3] and float32[4]. "
        "From the right, lengths must be equal or 1: reshape an operand, or insert an "
        "axis with `x[:, None]`.",
    ),
    "a string": (
        lambda: inp.sin("1.0"),
        ArgumentError,
        "sin: expected an array or a number, got str '1.0'. Only arrays and numbers take "
        "part in array operations.",
    ),
    "a list": (
        lambda: inp.add(X, [1, 2, 3]),
        ArgumentError,
        "add: expected an array or a number, got list [1, 2, 3]. Make it an array with "
        "imprint.numpy.asarray.",
    ),
    "None": (
        lambda: inp.sum(None),
        ArgumentError,
        "sum: expected an array or a number, got NoneType None. Only arrays and numbers "
        "take part in array operations.",
    ),
    "an integer that does not fit": (
        lambda: inp.asarray(np.ones(2, np.int8)) + 300,
        OverflowError,
        "add: expected an integer that fits int8, between -128 and 127, got 300. "
        "Convert the array to a wider dtype first.",
    ),
    "a list that does not fit": (
        lambda: inp.array([2**40]),
        OverflowError,
        "array: expected integers between -2147483648 and 2147483647 for int32, got "
        "1099511627776 to 1099511627776. For 64-bit integers set "
        "imprint.config.update('enable_x64', True).",
    ),
    "std in an integer dtype": (
        lambda: inp.std(X, dtype="int32"),
        DTypeError,
        "std: expected a float or complex dtype, got int32. Leave dtype out, and convert "
        "the result.",
    ),
    "differences of no axis": (
        lambda: inp.diff(inp.asarray(3)),
        ShapeError,
        "diff: expected an axis to take differences along, got ~int32[]. Pass an array "
        "of rank 1 or more.",
    ),
    "differences fewer than none": (
        lambda: inp.diff(X, -1),
        ArgumentError,
        "diff: expected n of at least 0, got -1. It is how often to subtract.",
    ),
    "an initial value that is text": (
        lambda: inp.nansum(X, initial="a"),
        ArgumentError,
        "nansum: expected an array or a number, got str 'a'. Only arrays and numbers take "
        "part in array operations.",
    ),
    "axes that are a number": (
        lambda: imprint.lax.reduce_max(X, 1),
        ArgumentError,
        "reduce_max: expected a sequence of whole numbers, got int 1. Write them as Python "
        "ints, in a tuple.",
    ),
    "a length that is negative": (
        lambda: imprint.lax.full((2, -1), 0),
        ShapeError,
        "full: expected lengths of at least 0 in shape, got (2, -1). A length cannot be "
        "left open: give the number of elements.",
    ),
    "a count that is no integer": (
        lambda: inp.vander(inp.ones(3), 1.5),
        ArgumentError,
        "vander: expected a whole number, got float 1.5. Convert it with int().",
    ),
    "ends that are no text": (
        lambda: inp.trim_zeros(inp.ones(3), None),
        ArgumentError,
        "trim_zeros: expected trim to be 'f', 'b' or 'fb', got NoneType None. Name the "
        "ends: front, back or both.",
    ),
    "an order that is a list": (
        lambda: inp.linalg.cond(inp.eye(2), [1]),
        ArgumentError,
        "linalg.cond: expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf as the order of a "
        "matrix norm, got [1]. Name one axis for a norm of vectors.",
    ),
    "a norm of fft that is a list": (
        lambda: inp.fft.fft(X, norm=[1]),
        ArgumentError,
        "fft: expected norm to be one of ['backward', 'ortho', 'forward'], got list "
        "[1].",
    ),
    "starts that are a number": (
        lambda: imprint.lax.dynamic_slice(X, 1, (1, 1)),
        ArgumentError,
        "dynamic_slice: expected a sequence of starts, one for each axis of float32[2,3], "
        "got int 1. Give 2 starts, in a tuple.",
    ),
    "a choice for fewer axes": (
        lambda: imprint.lax.dynamic_slice(
            X, (0, 0), (1, 1), allow_negative_indices=[True]
        ),
        ArgumentError,
        "dynamic_slice: expected allow_negative_indices to be a bool, or one for each axis "
        "of float32[2,3], got list [True]. Leave it out if starts count from the end.",
    ),
    "sizes that are a number": (
        lambda: imprint.lax.broadcast(X, 3),
        ArgumentError,
        "broadcast: expected a sequence of whole numbers, got int 3. Write them as Python "
        "ints, in a tuple.",
    ),
    "dimension numbers of another kind": (
        lambda: imprint.lax.gather(X, inp.array([0]), (1, 0), (1, 1)),
        ArgumentError,
        "gather: expected dimension_numbers to be GatherDimensionNumbers, got tuple (1, "
        "0). Make one of imprint.lax.GatherDimensionNumbers.",
    ),
    "a scale for no axis": (
        lambda: imprint.image.scale_and_translate(
            X, (2, 3), (0, 1), 2.0, 1.0, "linear"
        ),
        ShapeError,
        "scale_and_translate: expected a scale and a translation for each of 2 axes, got "
        "~float32[] and ~float32[]. Give vectors of that length.",
    ),
    "a slice from a fraction": (
        lambda: inp.asarray(X)[0.5:2],
        TypeError,
        "indexing: expected whole numbers in a slice, got 0.5:2. Convert them with int().",
    ),
    "a slice without steps": (
        lambda: inp.asarray(X)[::0],
        ValueError,
        "indexing: expected a step other than 0 in a slice, got ::0. Leave the step out, "
        "or write -1 to go backwards.",
    ),
    "positions in a list": (
        lambda: inp.tril_indices_from([[1]]),
        ArgumentError,
        "tril_indices_from: expected an array or a number, got list [[1]]. Make it an "
        "array with imprint.numpy.asarray.",
    ),
    "a ragged list": (
        lambda: inp.array([[1, 2], [3]]),
        ShapeError,
        "array: expected nested sequences of equal lengths, got [[1, 2], [3]]. "
        "Pad the shorter ones.",
    ),
    "an object in a list": (
        lambda: inp.array([1, "a"]),
        ArgumentError,
        "array: expected numbers or arrays in the sequence, got str 'a'. "
        "Convert it to a number first.",
    ),
    "an unknown dtype": (
        lambda: inp.zeros(3, "float31"),
        DTypeError,
        "zeros: dtype: expected bool, the dtype of a number, or its name, got 'float31'. "
        "Did you mean 'float32'?",
    ),
    "a shape in two arguments": (
        lambda: inp.zeros(2, 3),
        DTypeError,
        "zeros: expected a dtype as second argument, got 3. A shape is one argument: "
        "zeros((2, 3)).",
    ),
    "a shape that is none": (
        lambda: inp.ones("ab"),
        ArgumentError,
        "ones: expected an int or a sequence of ints for the shape, got 'ab'. "
        "Sizes must be whole numbers known while tracing.",
    ),
    "a negative length": (
        lambda: inp.zeros((2, -1)),
        ShapeError,
        "zeros: expected lengths of at least 0, got (2, -1). Only reshape takes -1, for "
        "the length that remains.",
    ),
    "an axis outside": (
        lambda: inp.sum(X, axis=2),
        ShapeError,
        "sum: expected an axis in [-2, 2), got 2. The array has 2 axes.",
    ),
    "an axis that is a name": (
        lambda: inp.sum(X, axis="rows"),
        ArgumentError,
        "sum: expected an axis to be a whole number, got str 'rows'. Write it as a Python "
        "int.",
    ),
    "an axis that is an array": (
        lambda: inp.argmax(X, inp.asarray(V)),
        ArgumentError,
        "argmax: expected an axis to be a whole number, got ArrayImpl Array([1., 1., 1., "
        "1.], dtype=float32). Write it as a Python int.",
    ),
    "several axes for one": (
        lambda: inp.cumsum(X, axis=(0, 1)),
        ArgumentError,
        "cumsum: expected an axis to be a whole number, got tuple (0, 1). Write it as a "
        "Python int.",
    ),
    "an axis for all": (
        lambda: inp.transpose(X, 1),
        ShapeError,
        "transpose: expected each of 2 axes once for float32[2,3], got axes=(1,). To "
        "exchange two, call swapaxes.",
    ),
    "a fraction of decimals": (
        lambda: inp.round(X, 1.5),
        ArgumentError,
        "round: expected decimals to be a whole number, got float 1.5. Write it as a "
        "Python int.",
    ),
    "a diagonal that is a name": (
        lambda: inp.diag(X, "k"),
        ArgumentError,
        "diag: expected k to be a whole number, got str 'k'. Write it as a Python int.",
    ),
    "axes of lax that are names": (
        lambda: imprint.lax.reduce_max(X, "ab"),
        ArgumentError,
        "reduce_max: expected a sequence of whole numbers, got str 'ab'. Write them as Python ints, "
        "in a tuple.",
    ),
    "an axis twice": (
        lambda: inp.max(X, axis=(0, -2)),
        ShapeError,
        "max: expected distinct axes, got (0, -2), which is (0, 0) counted from 0. "
        "Name each axis once.",
    ),
    "max of nothing": (
        lambda: inp.max(inp.zeros((0, 3)), axis=0),
        ArgumentError,
        "max: expected at least one element along axes (0,), got float32[0,3]. "
        "Nothing has no max: pass initial=.",
    ),
    "where without initial": (
        lambda: inp.min(X, where=X > 0),
        ArgumentError,
        "min: expected initial beside where, got only where. No element may be left, and "
        "nothing has no min: pass initial=.",
    ),
    "where of one value": (
        lambda: inp.where(X > 0, X),
        ArgumentError,
        "where: expected a condition and both values, or a condition alone, got one "
        "value. Write where(condition, x, y).",
    ),
    "a complex order": (
        lambda: inp.clip(1j, 0, 1),
        ArgumentError,
        "clip: expected real numbers, got 1j. Take a part first: imprint.numpy.real, "
        "imag or abs.",
    ),
    "reshape": (
        lambda: inp.reshape(X, (4, -1)),
        ShapeError,
        "reshape: expected a shape of 6 elements, with at most one -1, for "
        "float32[2,3], got (4, -1). Make the product of the lengths 6.",
    ),
    "broadcast_to": (
        lambda: inp.broadcast_to(V, (3, 2)),
        ShapeError,
        "broadcast_to: expected a shape to which float32[4] can be repeated, got (3, 2). "
        "From the right, each length must be equal, or 1 in the array.",
    ),
    "concatenate": (
        lambda: inp.concatenate([X, V]),
        ShapeError,
        "concatenate: expected equal shapes but for axis 0, got float32[2,3], "
        "float32[4]. Join along another axis, or reshape.",
    ),
    "stack of nothing": (
        lambda: inp.stack([]),
        ArgumentError,
        "stack: expected at least one array, got none. Call imprint.numpy.empty for an "
        "array without elements.",
    ),
    "split": (
        lambda: inp.split(V, 3),
        ArgumentError,
        "split: expected a number of parts that divides 4, got 3. Call array_split for "
        "parts of unequal length.",
    ),
    "matmul": (
        lambda: inp.asarray(X) @ inp.asarray(X),
        ShapeError,
        "matmul: expected axis 1 of the left operand, of length 3, to be as long as axis 0 "
        "of the right one, of length 2, got float32[2,3] and float32[2,3]. Transpose an "
        "operand with `.mT`, or contract other axes with imprint.numpy.einsum.",
    ),
    "matmul of a vector": (
        lambda: inp.ones((3, 4)) @ inp.ones(3),
        ShapeError,
        "matmul: expected axis 1 of the left operand, of length 4, to be as long as axis 0 "
        "of the right one, of length 3, got float32[3,4] and float32[3]. Contract other "
        "axes with imprint.numpy.einsum.",
    ),
    "matmul of stacks": (
        lambda: inp.ones((2, 3, 3)) @ inp.ones((5, 3, 3)),
        ShapeError,
        "matmul: expected leading axes that broadcast, got float32[2,3,3] and "
        "float32[5,3,3]. Contract other axes with imprint.numpy.einsum.",
    ),
    "matmul of a scalar": (
        lambda: inp.matmul(X, 2.0),
        ShapeError,
        "matmul: expected operands with an axis, got float32[2,3] and ~float32[]. "
        "Multiply by a scalar with `*`.",
    ),
    "einsum lengths": (
        lambda: inp.einsum("ij,jk->ik", X, X),
        ShapeError,
        "einsum: expected one length for the axes named 'j', got 3 and 2 for ij,jk with "
        "float32[2,3] and float32[2,3]. Give different axes different letters.",
    ),
    "einsum letters": (
        lambda: inp.einsum("ijk->i", X),
        ShapeError,
        "einsum: expected a letter for each of 2 axes of float32[2,3], got 'ijk'. "
        "Add letters, or '...' for the axes that are not named.",
    ),
    "einsum result": (
        lambda: inp.einsum("ij->k", X),
        ArgumentError,
        "einsum: expected distinct letters of the operands in the result, got 'k'. "
        "The operands have 'ij'.",
    ),
    "an index outside": (
        lambda: inp.asarray(X)[0, 3],
        IndexError,
        "indexing: expected an index in [-3, 3) for axis 1 of float32[2,3], got 3. "
        "Check it against x.shape[1].",
    ),
    "too many indices": (
        lambda: inp.asarray(X)[0, 0, 0],
        IndexError,
        "indexing: expected at most as many indices as float32[2,3] has axes, 2, got 3. "
        "Leave out what has no axis.",
    ),
    "a shape of text": (
        lambda: inp.asarray(X).reshape("a"),
        TypeError,
        "reshape: expected a whole number, got str 'a'. Convert it with int().",
    ),
    "an identity of a float": (
        lambda: inp.eye(2.0),
        TypeError,
        "eye: expected a whole number, got float 2.0. Convert it with int().",
    ),
    "half a tile": (
        lambda: inp.tile(inp.asarray(X), (1, 1.5)),
        TypeError,
        "tile: expected a whole number, got float 1.5. Convert it with int().",
    ),
    "two ellipses": (
        lambda: inp.asarray(X)[..., 0, ...],
        IndexError,
        "indexing: expected at most one Ellipsis for float32[2,3], got 2. Write `:` for "
        "each axis that the others leave out.",
    ),
    "a float as index": (
        lambda: inp.asarray(V)[1.0],
        ArgumentError,
        "indexing: expected ints, slices, None or Ellipsis, got float 1.0 for float32[4]. "
        "Convert it to an int first.",
    ),
    "a traced mask as index": (
        lambda: imprint.jit(lambda x: x[x > 0])(V),
        NonConcreteBooleanIndexError,
        "indexing: expected a mask whose values are known while tracing, got bool[4] for "
        "float32[4]. The result would have an unknown shape: use "
        "imprint.numpy.where(mask, x, other), or the places imprint.numpy.nonzero(mask, "
        "size=n).",
    ),
    "an unknown padding": (
        lambda: inp.pad(V, 1, mode="reflekt"),
        ArgumentError,
        "pad: expected one of the modes constant, edge, empty, linear_ramp, maximum, "
        "mean, median, minimum, reflect, symmetric, wrap, got 'reflekt'. Did you mean "
        "'reflect'?",
    ),
    "an option of another padding": (
        lambda: inp.pad(V, 1, mode="edge", stat_length=1),
        ArgumentError,
        "pad: expected nothing beside mode='edge', got stat_length. Leave it out, or "
        "choose the mode that it is for.",
    ),
    "a step of 0": (
        lambda: inp.arange(0, 3, 0),
        ArgumentError,
        "arange: expected a step other than 0, got 0. Give the distance between numbers.",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_message(name):
    call, kind, message = WRONG[name]
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("index", "written", "remedy"),
    [
        (np.s_[1:-1, ..., None, ::2], "1:-1, ..., None, ::2", None),
        (inp.array([0, 1]), "index", None),
        ((1, inp.array([0, 1])), "1, index", None),
        (inp.array([True, False]), "mask", "imprint.numpy.where(mask, ..., x)"),
    ],
)
def test_an_assignment_is_shown_as_it_is_written(index, written, remedy):
    with pytest.raises(TypeError) as caught:
        inp.asarray(X)[index] = 1
    assert str(caught.value) == (
        f"expected no assignment: arrays are immutable, got `x[{written}] = ...` on "
        f"float32[2,3]. Write `x = {remedy or f'x.at[{written}].set(...)'}`, which returns "
        "another."
    )


def test_the_error_of_an_assignment_to_at():
    with pytest.raises(TypeError) as caught:
        inp.ones(3).at[0] = 2
    assert str(caught.value) == (
        "expected no assignment: arrays are immutable, got `x.at[index] = value`. Write "
        "`x = x.at[index].set(value)`."
    )


def test_a_traced_length():
    with pytest.raises(ConcretizationError) as caught:
        imprint.jit(lambda n: inp.zeros(n))(3)
    assert "needs a concrete int" in str(caught.value)
    assert "static_argnums" in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda i: inp.sum(X, axis=i),
        lambda i: inp.cumsum(X, axis=i),
        lambda i: inp.transpose(X, (i, 0)),
        lambda i: inp.round(X, i),
        lambda i: imprint.lax.reduce_max(inp.asarray(X), (i,)),
    ],
)
def test_a_traced_axis(call):
    with pytest.raises(ConcretizationError, match="must be known while tracing"):
        imprint.jit(call)(1)


def test_a_traced_count_in_arange():
    with pytest.raises(ConcretizationError):
        imprint.jit(lambda n: inp.arange(n))(3)


def test_64_bits_are_narrowed_with_a_warning():
    with pytest.warns(UserWarning, match="zeros: expected a dtype of at most 32 bits"):
        assert inp.zeros(2, "float64").dtype == np.float32


@pytest.mark.parametrize("mode", ["warn", "raise"])
def test_rank_promotion(mode):
    x, v = inp.asarray(X), inp.ones(3)
    message = (
        "add: expected operands of one rank, got float32\\[2,3\\] and float32\\[3\\] "
        f"while numpy_rank_promotion is '{mode}'. Insert axes"
    )
    with imprint.numpy_rank_promotion(mode):
        if mode == "warn":
            with pytest.warns(UserWarning, match=message):
                x + v
        else:
            with pytest.raises(ShapeError, match=message):
                x + v
        x + 1.0  # rank 0 with a shape is no promotion


def test_strict_dtypes():
    x = inp.asarray(X)
    with imprint.numpy_dtype_promotion("strict"):
        assert (x * 2.0).dtype == np.float32
        with pytest.raises(imprint.errors.PromotionError):
            x + inp.arange(3)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(7),
        lambda x: x["a"],
        lambda x: x[0, 5],
        lambda x: x @ x,
        lambda x: x.sum(axs=1),
    ],
)
def test_outside_jit_the_traceback_ends_at_the_method(call):
    with pytest.raises((TypeError, IndexError)) as caught:
        call(inp.asarray(X))
    files = [entry.path.name for entry in caught.traceback]
    assert set(files[files.index("test_errors.py") + 2 :]) <= {"array.py"}
    assert len(files) <= 4
