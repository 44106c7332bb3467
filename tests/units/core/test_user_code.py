"""The distinction of user code and library code."""

import collections
import functools
import importlib
import json
import math
import operator
import sys

import numpy as np
import pytest

import imprint
from imprint._src.core import user_code
from imprint._src.core.user_code import (
    adopt,
    is_user,
    is_user_class,
    is_user_code,
    is_user_file,
    is_user_function,
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


@pytest.mark.parametrize("name", [__file__, "/a_project/model.py", "<ipython-input-3>"])
def test_user_files(name):
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
    """Return an importer of modules from a folder `site-packages` or `project`."""
    made = set()

    def install(name, text="", *, at="site-packages"):
        path = tmp_path / at / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        monkeypatch.syspath_prepend(tmp_path / at)
        made.add(name.partition(".")[0])
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield install
    for name in [n for n in sys.modules if n.partition(".")[0] in made]:
        del sys.modules[name]
    importlib.invalidate_caches()


def test_a_namespace_package_in_installed_folders_is_library_code(installed):
    module = installed("a_space.part.work")
    assert not is_user_namespace(vars(module))
    for name in ("a_space", "a_space.part"):
        package = sys.modules[name]
        assert getattr(package, "__file__", None) is None
        assert not is_user_namespace(vars(package))
        assert not is_user(package)


def test_a_namespace_package_with_a_user_folder_is_user_code(installed):
    installed("a_space.part", at="project")
    assert is_user(sys.modules["a_space"])
    installed("a_space.other.work")
    assert is_user(sys.modules["a_space"])  # both have a part of it
    assert not is_user(sys.modules["a_space.other"])


@pytest.mark.parametrize("path", [["/env/lib/site-packages/a"], ["/a_project/a"], []])
def test_a_path_that_is_a_list(path):
    assert is_user_namespace({"__path__": path}) is not any("site" in x for x in path)


def test_a_path_of_another_class_is_not_called():
    class Path(list):
        def __iter__(self):
            raise AssertionError("user code")

    assert is_user_namespace({"__path__": Path(["/env/lib/site-packages/a"])})


# ---- the package that a jitted function comes from ----


def test_the_package_of_a_jitted_function_is_user_code(installed):
    installed("a_package.__init__")
    work = installed("a_package.part.work", "class Kind: pass\ndef f(x): return x")
    other = installed("a_package_too", "def f(x): return x")
    installed("a_package.other")
    for module in (work, other):
        assert not is_user(module)
        assert not is_user_file(module.__file__)
    assert not is_user_class(work.Kind)
    adopt(work.f)
    assert is_user(work)
    assert is_user(sys.modules["a_package.other"])
    assert is_user(sys.modules["a_package.part"])
    assert is_user_class(work.Kind)
    assert is_user_function(work.f)
    assert is_user_file(work.__file__)
    assert not is_user(other)
    assert not is_user_file(other.__file__)


def test_a_single_module_is_user_code_alone(installed):
    module, other = installed("a_module", "def f(x): return x"), installed("another")
    adopt(module.f)
    assert is_user(module)
    assert not is_user(other)


def test_the_top_regular_package_of_a_namespace_is_user_code(installed):
    installed("a_space.mine.__init__")
    work = installed("a_space.mine.part.work", "def f(x): return x")
    installed("a_space.mine.model")
    installed("a_space.others.work")
    adopt(work.f)
    assert is_user(sys.modules["a_space.mine.model"])
    assert is_user(sys.modules["a_space.mine.part"])
    assert not is_user(sys.modules["a_space.others.work"])
    assert not is_user(sys.modules["a_space"])


CALLABLES = """
import functools
from dataclasses import dataclass
def f(x): return x
class Kind:
    def method(self, x): return x
    def __call__(self, x): return x
    @classmethod
    def made(cls, x): return x
    @staticmethod
    def static(x): return x
kind = Kind()
partial = functools.partial(functools.partial(f), 1)
cached = functools.lru_cache(f)
text = eval("lambda x: x")
"""


@pytest.mark.parametrize(
    "name",
    [
        *("f", "Kind", "kind", "partial", "cached", "text"),
        *("kind.method", "kind.made", "Kind.made", "Kind.static", "Kind.method"),
    ],
)
def test_each_kind_of_callable_has_a_package(installed, name):
    module = installed("a_module", CALLABLES)
    adopt(operator.attrgetter(name)(module))
    assert is_user(module)


def test_the_function_under_a_decorator_has_the_package(installed):
    text = "from functools import wraps\ndef kept(f): return wraps(f)(lambda x: f(x))"
    decorators = installed("a_decorator", text)
    module = installed("a_module", "from a_decorator import kept\n@kept\ndef f(x): ...")
    adopt(module.f)
    assert is_user(module)
    assert not is_user(decorators)


def test_a_method_has_the_package_of_its_object_too(installed):
    base = installed("a_base", "class Base:\n    def step(self, x): return x")
    module = installed("a_module", "from a_base import Base\nclass Mine(Base): pass")
    adopt(module.Mine().step)
    assert is_user(module)
    assert is_user(base)


def around(fun):
    fun.__wrapped__ = fun
    return fun


@pytest.mark.parametrize(
    "fun",
    [
        *(np.linalg.norm, np.add, len, int, json.dumps, imprint.numpy.sin),
        *(functools.lru_cache(len), around(lambda x: x)),
    ],
)
def test_code_of_python_numpy_and_imprint_is_library_code(monkeypatch, fun):
    monkeypatch.setattr(user_code, "_decided", set())
    before = [*user_code._adopted]
    adopt(fun)
    assert user_code._adopted == before


def test_imprint_stays_a_library_wherever_it_is(monkeypatch):
    monkeypatch.setattr(user_code, "_adopted", ["/env/lib/site-packages/"])
    for name in ("numpy/linalg.py", "imprint/_src/jit/api.py", "ml_dtypes/__init__.py"):
        file = f"/env/lib/site-packages/{name}"
        before = [*user_code._adopted]
        user_code._adopt(file)
        assert user_code._adopted == before


def test_a_classified_function_is_not_inspected_again(monkeypatch):
    def f(x):
        return x

    adopt(f)
    monkeypatch.setattr(user_code, "_parts_of", None)
    adopt(f)


# ---- classes ----


def test_classes():
    class Mine:
        pass

    assert is_user_class(Mine)
    assert not is_user_class(int)
    assert not is_user_class(np.ndarray)
    assert not is_user_class(type("Lost", (), {"__module__": "json"}))
    assert is_user_class(type("Odd", (), {"__module__": 3}))


def test_a_class_of_a_script_is_user_code_under_every_runner():
    cls = type("Model", (), {"__module__": "__main__"})
    assert is_user_class(cls)  # though `__main__` is pytest here
