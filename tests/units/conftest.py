"""`user(name, text)` makes a user module for the duration of a test."""

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
