"""Whose code it is."""

import collections
import json
import math

import numpy as np
import pytest

import imprint
from imprint.cli import tour
from imprint.core.libraries import (
    is_user_class,
    is_user_code,
    is_user_file,
    is_user_namespace,
)


@pytest.mark.parametrize(
    "name",
    [
        json.__file__,
        np.__file__,
        imprint.__file__,
        "<frozen importlib._bootstrap>",
        "/env/lib/python3.12/site-packages/flax/core.py",
        "/usr/lib/python3/dist-packages/yaml/reader.py",
        "C:\\env\\Lib\\site-packages\\flax\\core.py",
    ],
)
def test_files_of_libraries(name):
    assert not is_user_file(name)


@pytest.mark.parametrize(
    "name", [__file__, tour.__file__, "/a_project/model.py", "<ipython-input-3>"]
)
def test_files_of_the_user(name):
    assert is_user_file(name)


def test_code_made_from_text_belongs_to_its_module():
    code = compile("1", "<string>", "eval")
    assert is_user_code(code, globals())
    assert not is_user_code(code, vars(json))


def test_methods_that_a_library_generates():
    pair = collections.namedtuple("pair", "x y")
    assert not is_user_code(pair.__new__.__code__, pair.__new__.__globals__)
    assert not is_user_file("<attrs generated init model.Layer>")


def test_modules():
    assert is_user_namespace(globals())
    assert is_user_namespace({"__name__": "__main__"})
    assert not is_user_namespace({"__name__": "namedtuple_Pair"})  # of `collections`
    assert is_user_namespace({"__name__": "namedtuple_x", "__file__": __file__})
    assert is_user_namespace({})
    assert not is_user_namespace(vars(math))
    assert not is_user_namespace({"__name__": "sys"})


def test_classes():
    class Mine:
        pass

    assert is_user_class(Mine)
    assert not is_user_class(int)
    assert not is_user_class(np.ndarray)
    assert not is_user_class(type("Lost", (), {"__module__": "json"}))
    assert is_user_class(type("Odd", (), {"__module__": 3}))


def test_a_class_of_a_script_is_the_users_whoever_runs_it():
    cls = type("Model", (), {"__module__": "__main__"})
    assert is_user_class(cls)  # though `__main__` is pytest here
