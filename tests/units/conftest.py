"""`user(name, text)` makes a module of the user's that goes when the test ends."""

import sys

import pytest

from tests.units.modules import make_module


@pytest.fixture
def user():
    made = []

    def make(name, text):
        made.append(name)
        return make_module(name, text)

    yield make
    for name in made:
        sys.modules.pop(name, None)
