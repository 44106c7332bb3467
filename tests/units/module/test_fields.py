"""`field` adds two words to those of dataclasses: static and converter."""

import dataclasses

import equinox as eqx
import pytest

import imprint.numpy as np
from imprint import tree
from imprint.errors import ArgumentError
from imprint.module import Module, field


def both(static, converter, **kwargs):
    """Return a class with one such field, as imprint and as Equinox make it."""
    ours = type(Module)(
        "Ours",
        (Module,),
        {
            "__annotations__": {"x": object},
            "x": field(static=static, converter=converter, **kwargs),
        },
    )
    theirs = type(eqx.Module)(
        "Theirs",
        (eqx.Module,),
        {
            "__annotations__": {"x": object},
            "x": eqx.field(static=static, converter=converter, **kwargs),
        },
    )
    return ours, theirs


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("converter", [None, float])
@pytest.mark.parametrize("kwargs", [{}, {"default": 2}, {"kw_only": True}], ids=str)
def test_fields_behave_as_in_equinox(static, converter, kwargs):
    ours, theirs = both(static, converter, **kwargs)
    given = {"x": 1} if kwargs.get("default") is None else {}
    mine, its = ours(**given), theirs(**given)
    assert type(mine.x) is type(its.x)
    assert mine.x == its.x
    assert tree.leaves(mine) == ([] if static else [mine.x])


def test_a_converter_gets_the_values_of_a_written_init():
    class Scaled(Module):
        x: float = field(converter=lambda x: x * 2)

        def __init__(self, x):
            self.x = x + 1

    assert Scaled(1).x == 4


def test_a_converter_is_inherited_and_runs_once():
    class Base(Module):
        x: int = field(converter=lambda x: x + 1)

    class Child(Base):
        y: int = 0

    assert Child(1).x == 2
    assert tree.map(lambda x: x, Child(1)).x == 2


def test_metadata_is_kept_and_may_not_repeat_options_of_field():
    class Noted(Module):
        x: int = field(metadata={"unit": "m"}, static=True)

    (declared,) = dataclasses.fields(Noted)
    assert dict(declared.metadata) == {"unit": "m", "static": True}
    with pytest.raises(ArgumentError) as caught:
        field(metadata={"static": True})
    assert str(caught.value) == (
        "field: expected metadata without the key 'static', which is field's own, got "
        "{'static': True}. Write field(static=...)."
    )


def test_repr_and_compare_are_fields_of_dataclasses():
    class Quiet(Module):
        x: int
        y: object = field(repr=False, default=1)

    assert repr(Quiet(1)) == "Quiet(x=1)"


def test_converters_make_arrays_of_defaults():
    class Scale(Module):
        factor: object = field(default=2.0, converter=np.asarray)

    assert Scale().factor.shape == ()
