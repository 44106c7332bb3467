"""Whose code it is."""

import collections
import importlib
import json
import math
import sys

import numpy as np
import pytest

import imprint
from imprint.cli import tour
from imprint.core.libraries import (
    is_user,
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


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Return what imports a module from a folder `site-packages` or `project`."""
    made = set()

    def install(name, text="", *, at="site-packages"):
        path = tmp_path / at / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        monkeypatch.syspath_prepend(tmp_path / at)
        made.add(name.partition(".")[0])
        return importlib.import_module(name)

    yield install
    for name in [n for n in sys.modules if n.partition(".")[0] in made]:
        del sys.modules[name]


def test_a_namespace_package_is_a_librarys_where_its_folders_are_installed(installed):
    module = installed("a_space.part.work")
    assert not is_user_namespace(vars(module))
    for name in ("a_space", "a_space.part"):
        package = sys.modules[name]
        assert getattr(package, "__file__", None) is None
        assert not is_user_namespace(vars(package))
        assert not is_user(package)


def test_a_namespace_package_is_the_users_where_a_folder_is(installed):
    installed("a_space.part", at="project")
    assert is_user(sys.modules["a_space"])
    installed("a_space.other.work")
    assert is_user(sys.modules["a_space"])  # both have a part of it
    assert not is_user(sys.modules["a_space.other"])


@pytest.mark.parametrize("path", [["/env/lib/site-packages/a"], ["/a_project/a"], []])
def test_a_path_that_is_a_list(path):
    assert is_user_namespace({"__path__": path}) is not any("site" in x for x in path)


def test_a_path_of_another_class_is_not_asked():
    class Path(list):
        def __iter__(self):
            raise AssertionError("user code")

    assert is_user_namespace({"__path__": Path(["/env/lib/site-packages/a"])})


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
