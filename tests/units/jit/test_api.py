"""What type checkers are told of compiled functions is true of them while they run."""

import inspect
from typing import get_type_hints

import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.api import JitKeywords, JittedFunction

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
def test_compiled_functions_have_what_checkers_are_told(function):
    assert [name for name in sorted(TOLD) if not hasattr(function, name)] == []


def test_the_options_are_those_of_the_parameters():
    told = get_type_hints(JitKeywords)
    taken = get_type_hints(imprint.jit)
    assert [*inspect.signature(imprint.jit).parameters] == ["fun", *told]
    assert told == {name: taken[name] for name in told}
