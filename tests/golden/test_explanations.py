"""The whole explanation of a call that compiles, and that its advice helps."""

import inspect
import re

import pytest

from tests.golden import explained_programs

PROGRAMS = {
    name: program
    for name, program in inspect.getmembers(explained_programs, inspect.isfunction)
    if program.__module__ == explained_programs.__name__ and name[0] != "_"
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_whole_explanation(name, golden):
    found = PROGRAMS[name]()
    why, followed = found if isinstance(found, tuple) else (found, None)
    text = re.sub(r"about \d\.\d\d s", "about … s", str(why))
    golden(f"{name}.explain.txt", text)
    assert followed is None or followed.hit
