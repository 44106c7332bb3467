"""Values that are equal in Python and not in programs: each has a version of its own.

The expected results are those without `jit`. JAX, Equinox and Numba answer some of these
calls from the version of another value.
"""

import dataclasses
import enum
import math
from typing import NamedTuple

import numpy as np
import pytest

import imprint
import imprint.numpy as inp

ALIKE = (1, 1.0, True, np.int64(1), np.float32(1))


@dataclasses.dataclass(frozen=True)
class Config:
    value: object


class Pair(NamedTuple):
    first: object
    second: object = None


class Level(enum.IntEnum):
    ONE = 1


HOLDERS = {
    "bare": lambda v: v,
    "tuple": lambda v: (v,),
    "named tuple": Pair,
    "deep tuple": lambda v: ("a", (2, (v, None))),
    "frozen dataclass": Config,
    "dataclass of dataclass": lambda v: Config(Config((v,))),
    "frozenset": lambda v: frozenset({v}),
}


def the_number_in(value):
    if isinstance(value, Config):
        return the_number_in(value.value)
    if isinstance(value, (tuple, frozenset)):
        return next(the_number_in(v) for v in value if v not in ("a", 2) or v is True)
    return value


@pytest.mark.parametrize("holder", HOLDERS)
def test_equal_static_values_of_other_types_have_their_own_versions(holder):
    f = imprint.jit(lambda s: inp.asarray(the_number_in(s)), static_argnums=0)
    for _ in range(2):
        for value in ALIKE:
            got = f(HOLDERS[holder](value))
            assert got.dtype == inp.asarray(value).dtype
            assert got.weak_type == inp.asarray(value).weak_type
    assert f._cache_size() == len(ALIKE)


@pytest.mark.parametrize("holder", HOLDERS)
def test_the_sign_of_a_static_zero_is_part_of_the_key(holder):
    f = imprint.jit(
        lambda s: inp.asarray(math.copysign(3.0, the_number_in(s))), static_argnums=0
    )
    for _ in range(2):
        assert f(HOLDERS[holder](0.0)) == 3.0
        assert f(HOLDERS[holder](-0.0)) == -3.0
    assert f._cache_size() == 2


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_static_nan_is_itself(holder):
    f = imprint.jit(lambda x, s: x, static_argnums=1)
    f(1.0, HOLDERS[holder](float("nan")))
    f(1.0, HOLDERS[holder](float("nan")))
    assert f._cache_size() == 1


def test_complex_zeros_have_two_signs():
    f = imprint.jit(lambda s: inp.asarray(math.copysign(3.0, s.imag)), static_argnums=0)
    assert [f(complex(1, 0.0)), f(complex(1, -0.0))] == [3.0, -3.0]


def test_an_enum_member_is_not_its_number():
    f = imprint.jit(lambda x, s: x * (2 if s is Level.ONE else 3), static_argnums=1)
    assert [f(1.0, Level.ONE), f(1.0, 1), f(1.0, Level(1))] == [2.0, 3.0, 2.0]
    assert f._cache_size() == 2


def test_text_is_not_bytes():
    f = imprint.jit(lambda x, s: x * len(repr(s)), static_argnums=1)
    assert [f(1.0, "a"), f(1.0, b"a")] == [3.0, 4.0]


def test_keys_of_a_dictionary_argument_are_exact():
    f = imprint.jit(lambda d: inp.asarray(next(iter(d))))
    dtypes = [f({key: 0.0}).dtype for key in (1, 1.0, True) for _ in range(2)]
    assert dtypes == ["int32"] * 2 + ["float32"] * 2 + ["bool"] * 2


def test_the_kinds_of_python_numbers_are_exact():
    f = imprint.jit(lambda x: x)
    assert [f(v).dtype for v in (1, 1.0, True, 1j)] == [
        *("int32", "float32", "bool", "complex64")
    ]
    assert f._cache_size() == 4


@pytest.mark.parametrize("default", [1, 1.0, True, 0.0, -0.0, 2j, None, "relu"])
def test_an_argument_identical_to_its_default_is_left_out(default):
    f = imprint.jit(lambda x, option=default: x)
    assert [f(2.0), f(2.0, default), f(2.0, option=default)] == [2.0] * 3
    assert f._cache_size() == 1


@pytest.mark.parametrize("default", [1, 1.0, True, 0.0, -0.0])
def test_an_argument_only_equal_to_its_default_is_passed(default):
    f = imprint.jit(lambda x, option=default: inp.asarray(option))
    for option in (1, 1.0, True, 0.0, -0.0, default):
        got = f(2.0, option)
        assert got.dtype == inp.asarray(option).dtype
        assert math.copysign(1, float(got)) == math.copysign(1, option)


def test_static_data_of_a_node_is_exact():
    @imprint.tree.register_pytree_node_class
    class Scaled:
        def __init__(self, x, by):
            self.x, self.by = x, by

        def tree_flatten(self):
            return (self.x,), self.by

        @classmethod
        def tree_unflatten(cls, by, children):
            return cls(*children, by)

    f = imprint.jit(lambda s: s.x * s.by)
    assert [f(Scaled(2, by)).dtype for by in (3, 3.0, 3)] == [
        *("int32", "float32", "int32")
    ]
    assert f._cache_size() == 2
