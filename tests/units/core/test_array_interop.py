"""Arguments and results that are no arrays: the message names the conversion."""

import dataclasses
import datetime
import decimal
import fractions
import random

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, DTypeError
from tests.oracle import jax


@dataclasses.dataclass
class Point:
    x: float = 1.0


def class_of(module, *methods):
    """Return an object of a class that imitates a library that is not installed."""
    named = {name: lambda self: None for name in methods}
    return type("Foreign", (), {"__module__": module, **named})()


class Series:
    """Has a shape and a dtype, which is enough where nothing is computed."""

    shape, dtype = (3,), np.dtype("float32")

    def to_numpy(self):
        return np.ones(3, "float32")


VALUES = {
    "array of JAX's": (jax.numpy.ones(3), "imprint.numpy.asarray(x)"),
    "series": (Series(), "x.to_numpy()"),
    "dataclass": (Point(), "imprint.tree.register_dataclass(Point)"),
    "data frame": (class_of("pandas.core.frame", "to_numpy"), "x.to_numpy()"),
    "torch": (
        class_of("torch", "detach", "numpy"),
        "x.detach().cpu().numpy()",
    ),
    "tensor": (class_of("tensorflow.python.framework.ops", "numpy"), "x.numpy()"),
    "sparse": (class_of("scipy.sparse._csr", "toarray"), "x.toarray()"),
    "date": (datetime.date(2020, 1, 1), "x.toordinal()"),
    "moment": (datetime.datetime(2020, 1, 1), "x.timestamp()"),
    "span": (datetime.timedelta(1), "x.total_seconds()"),
    "decimal": (decimal.Decimal(1), "float(x)"),
    "fraction": (fractions.Fraction(1, 2), "float(x)"),
    "set": ({1, 2}, "sorted(x)"),
    "generator": ((i for i in [1.0]), "list(x)"),
    "range": (range(3), "list(x)"),
    "bytes": (b"ab", "list(x)"),
    "random": (random.Random(0), "imprint.random.key(seed)"),
    "numpy random": (np.random.default_rng(0), "imprint.random.key(seed)"),
}


@pytest.mark.parametrize("name", VALUES)
def test_the_remedy_of_an_argument(name):
    value, remedy = VALUES[name]
    with pytest.raises(ArgumentError, match="as argument x") as caught:
        imprint.jit(lambda x: 1.0)(value)
    assert remedy in str(caught.value)


@pytest.mark.parametrize("name", VALUES)
def test_the_remedy_inside_a_container_and_of_a_result(name):
    value, remedy = VALUES[name]
    with pytest.raises(ArgumentError) as caught:
        imprint.jit(lambda batch: 1.0)({"a": value})
    assert remedy.replace("(x)", "(batch['a'])").replace("x.", "batch['a'].") in str(
        caught.value
    )
    with pytest.raises(ArgumentError) as caught:
        imprint.jit(lambda x: (x, value))(1.0)
    said = remedy.replace("(x)", "(result[1])").replace("x.", "result[1].")
    assert said in str(caught.value)


@pytest.mark.parametrize("name", VALUES)
def test_the_remedy_of_transforms_and_of_functions_of_numpy(name):
    value, remedy = VALUES[name]
    for call in (imprint.grad(lambda x: x), imprint.vmap(lambda x: x), inp.sin):
        with pytest.raises(ArgumentError) as caught:
            call(value)
        assert remedy in str(caught.value)


def test_the_line_for_a_dataclass_is_the_one_to_write():
    @dataclasses.dataclass
    class Pair:
        x: float = 1.0

    f = imprint.jit(lambda pair: pair.x + 1)
    with pytest.raises(
        ArgumentError, match=r"imprint\.tree\.register_dataclass\(Pair\)"
    ):
        f(Pair())
    imprint.tree.register_dataclass(Pair)
    assert f(Pair()) == 2


@pytest.mark.parametrize(
    ("array", "remedy", "converted"),
    [
        (np.ones(2, object), "x.astype('float32')", lambda x: x.astype("float32")),
        (
            np.array(["b", "a"]),
            "numpy.unique(x, return_inverse=True)[1]",
            lambda x: np.unique(x, return_inverse=True)[1],
        ),
        (
            np.arange(2).astype("M8[D]"),
            "(x - start) / unit",
            lambda x: (x - x[0]) / np.timedelta64(1, "h"),
        ),
        (
            np.arange(2).astype("m8[D]"),
            "x / unit",
            lambda x: x / np.timedelta64(1, "h"),
        ),
        (np.zeros(2, [("a", "f4")]), "x['field']", lambda x: x["a"]),
    ],
)
def test_arrays_that_hold_no_numbers(array, remedy, converted):
    f = imprint.jit(lambda x: x + 1)
    with pytest.raises(DTypeError, match="expected arrays of numbers") as caught:
        f(array)
    assert remedy in str(caught.value)
    f(converted(array))


def test_a_value_is_shown_on_one_line():
    class Frame:
        def __repr__(self):
            return "   a\n0  " + "1" * 80

    with pytest.raises(ArgumentError) as caught:
        imprint.jit(lambda x: x)(Frame())
    assert "got Frame a 0 1111" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 260


def test_a_misspelled_keyword_names_the_right_one():
    f = imprint.jit(lambda x, *, factor=1.0: x * factor)
    with pytest.raises(
        ArgumentError, match=r"argument 'facter'\. Did you mean 'factor'\?"
    ):
        f(1.0, facter=2.0)
    with pytest.raises(ArgumentError, match=r"argument 'other'\.$"):
        f(1.0, other=2.0)
