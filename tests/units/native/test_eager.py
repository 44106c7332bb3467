"""Primitives evaluated in C: equal to the evaluation in Python, which answers all else."""

import gc
import sys
import threading

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint._src import native
from imprint._src.array import from_host
from imprint._src.bootstrap import hooks
from imprint._src.core.primitive import Primitive
from imprint._src.eager.evaluate import evaluate
from imprint._src.eager.large_operands import FEWEST
from imprint._src.primitives.core_ops import add_p
from imprint.errors import (
    ArgumentError,
    DeletedArrayError,
    NonFiniteError,
    ShapeError,
    UnexpectedTracerError,
)
from tests.laws.law import every_primitive
from tests.strategies import Share, calls, pinned_operands

pytestmark = pytest.mark.skipif(native.core is None, reason=native.status)

VALUES = np.arange(6, dtype=np.float32)
X = inp.asarray(VALUES)
COUNTS = inp.asarray(np.arange(6, dtype=np.int8))
HALVES = inp.asarray(VALUES).astype(inp.bfloat16)
OPERATIONS = {
    "arrays": (lambda: X + X, VALUES + VALUES),
    "a number": (lambda: X * 2.5, VALUES * np.float32(2.5)),
    "a number first": (lambda: 1 - X, 1 - VALUES),
    "one operand": (lambda: -X, -VALUES),
    "parameters": (lambda: lax.reshape(X, (2, 3)), VALUES.reshape(2, 3)),
    "no operands": (lambda: lax.iota(np.int32, 4), np.arange(4, dtype=np.int32)),
    "rank 0": (lambda: X[3], VALUES[3]),
    "several operands": (
        lambda: inp.where(X > 2, X, 0),
        np.where(VALUES > 2, VALUES, np.float32(0)),
    ),
    "small integers": (lambda: COUNTS * COUNTS, np.arange(6, dtype=np.int8) ** 2),
    "a dtype that NumPy lacks": (lambda: HALVES + HALVES, VALUES * 2),
    "not a number": (lambda: lax.sqrt(-X - 1), np.full(6, np.nan, np.float32)),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_known_operation_stays_in_it(name, monkeypatch):
    operation, expected = OPERATIONS[name]
    operation()  # from here on the avals are known
    monkeypatch.setattr(Primitive, "out_avals", None)
    found = operation()
    assert found.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(found, expected.dtype), expected)


@every_primitive
def test_each_primitive_has_the_bits_of_python(primitive):
    if type(primitive) is not Primitive:
        pytest.skip("it is left to Python")
    for call in calls(primitive, Share.QUICK)[:3]:
        for (values,) in pinned_operands([call])[:2]:
            pairs = zip(call.avals, values, strict=True)
            operands = tuple([from_host(aval, np.array(x)) for aval, x in pairs])
            expected = evaluate(primitive, operands, call.params)
            found = native.core.evaluate(primitive, operands, call.params)
            assert [x.aval for x in found] == [x.aval for x in expected]
            pairs = zip(found, expected, strict=True)
            assert all(
                np.asarray(x).tobytes() == np.asarray(y).tobytes() for x, y in pairs
            )


# ---- what is left to Python ----


def test_it_evaluates_operations():
    assert hooks.eager is native.core.evaluate


def test_flags_of_values_are_heeded():
    with imprint.debug_nans(True), pytest.raises(NonFiniteError, match="sqrt"):
        lax.sqrt(-X - 1)
    with imprint.debug_infs(True), pytest.raises(NonFiniteError, match="div"):
        X / 0.0
    device = imprint.devices()[-1]
    with imprint.default_device(device):
        assert (X + 1.0).device == device


def test_large_operands_run_as_programs():
    x = inp.asarray(np.linspace(0, 1, 64 * FEWEST, dtype=np.float32))
    for _ in range(2):
        made = lax.tan(x)
        np.testing.assert_allclose(made, np.tan(x), rtol=1e-5)
        assert not hasattr(made, "_host")


def test_wrong_operands_raise_what_python_raises():
    gone = inp.asarray(VALUES)
    gone.delete()
    leaked = []
    imprint.jit(leaked.append)(X)
    for operands, kind in (
        ((gone, X), DeletedArrayError),
        ((X, X[:3]), ShapeError),
        ((X,), TypeError),
        ((X, "text"), ArgumentError),
        ((X, leaked[0]), UnexpectedTracerError),
    ):
        for run in (evaluate, native.core.evaluate):
            with pytest.raises(kind):
                run(add_p, operands, {})
    with pytest.raises(TypeError, match="unhashable"):
        native.core.evaluate(add_p, (X, X), {"axes": []})
    for args in ((), (add_p, (X, X)), (None, (X, X), {})):
        with pytest.raises((TypeError, AttributeError)):
            native.core.evaluate(*args)


def test_it_leaves_numpy_s_warnings_of_the_caller_alone():
    with np.errstate(all="raise"):
        for _ in range(2):
            assert np.isinf(X / 0.0)[1:].all()
        with pytest.raises(FloatingPointError):
            np.float32(1) / np.float32(0)


def test_threads_have_contexts_of_their_own():
    seen = []
    threads = [
        threading.Thread(target=lambda: seen.append(float((X / 0.0)[1])))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [np.inf] * 4


def test_operations_keep_no_references():
    watched = [X, X.aval, X._host, add_p, add_p.reference, np.dtype(np.float32)]

    def counted():
        gc.collect()
        return [sys.getrefcount(x) for x in watched]

    def repeat():
        for _ in range(50):
            for operation, _ in OPERATIONS.values():
                operation()
            with pytest.raises(ShapeError):
                add_p.bind1(X, X[:3])

    repeat()
    before = counted()
    repeat()
    assert max(b - a for a, b in zip(before, counted(), strict=True)) < 25
