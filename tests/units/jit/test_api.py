"""Declared types of compiled functions hold at run time."""

import inspect

import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.api import JittedFunction
from imprint._src.jit.calls.options import FilterJitKeywords, JitKeywords

TOLD = {name for name in vars(JittedFunction) if not name.startswith("_")}
TOLD |= {"__call__", "__get__", "__wrapped__", "_cache_size"}
TOLD |= JittedFunction.__annotations__.keys()


class Model(imprint.Module):
    weight: imprint.Array

    @imprint.filter_jit
    def filtered(self, x):
        return self.weight * x

    @imprint.jit
    def jitted(self, x):
        return self.weight * x


MODEL = Model(inp.ones(2))


@pytest.mark.parametrize(
    "function",
    [imprint.jit(lambda x: x), MODEL.filtered, MODEL.jitted, Model.jitted],
)
def test_compiled_functions_have_the_declared_attributes(function):
    assert [name for name in sorted(TOLD) if not hasattr(function, name)] == []


def test_the_options_are_those_of_the_parameters():
    for function, declared in (
        (imprint.jit, JitKeywords),
        (imprint.filter_jit, FilterJitKeywords),
    ):
        _, *options = inspect.signature(function).parameters.values()
        assert {p.name: p.annotation for p in options} == declared.__annotations__


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match=r"jit\(\) got an unexpected .* 'static'"):
        imprint.jit(lambda x: x, static=1)
    with pytest.raises(TypeError, match=r"filter_jit\(\) got an .* 'inline'"):
        imprint.filter_jit(lambda x: x, inline=True)
