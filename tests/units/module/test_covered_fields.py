"""Properties and methods that stand for inherited fields, as in Equinox."""

import equinox
import jax
import pytest

import imprint

LIBS = {"equinox": (equinox, jax), "imprint": (imprint, imprint)}


def _property(lib):
    class Base(lib.Module):
        x: float
        y: float = 2.0

    class Derived(Base):
        def __init__(self, y):
            self.y = y

        @property
        def x(self):
            return self.y * 3

    return Derived(5.0)


def _method(lib):
    class Base(lib.Module):
        x: float
        y: float

    class Derived(Base):
        def __init__(self, y):
            self.y = y

        def x(self):
            return self.y * 3

    return Derived(5.0)


@pytest.mark.parametrize("make", [_property, _method])
def test_an_inherited_field_that_is_covered_is_no_leaf(make):
    def results(name):
        lib, jax_like = LIBS[name]
        module = make(lib)
        mapped = jax_like.tree.map(lambda leaf: leaf + 1, module)
        x = mapped.x() if make is _method else mapped.x
        return (
            jax_like.tree.leaves(module),
            x,
            float(jax_like.jit(lambda m: m.y)(module)),
        )

    assert results("imprint") == results("equinox") == ([5.0], 18.0, 5.0)
