"""Each public name works in completion, help, copies, pickles and type inspection."""

import copy
import importlib
import inspect
import pickle
import pydoc
import rlcompleter
import typing
from contextlib import suppress

import pytest

import imprint

HOMES = (
    "imprint",
    "imprint.cache",
    "imprint.debug",
    "imprint.errors",
    "imprint.lax",
    "imprint.module",
    "imprint.nn",
    "imprint.numpy",
    "imprint.numpy.linalg",
    "imprint.optim",
    "imprint.random",
    "imprint.scipy.special",
    "imprint.sharding",
    "imprint.stages",
    "imprint.testing",
    "imprint.tree",
)


def public_objects(home):
    """Return the objects that a module offers, by name, without its modules."""
    module = importlib.import_module(home)
    names = [name for name in dir(module) if name[0] != "_"]
    offered = {name: getattr(module, name) for name in names}
    return {n: x for n, x in offered.items() if not inspect.ismodule(x)}


@pytest.mark.parametrize("home", HOMES)
def test_completion_and_help_work(home):
    for name, value in public_objects(home).items():
        with suppress(ValueError):  # as classes of NumPy raise
            assert not callable(value) or inspect.signature(value), name
        assert pydoc.render_doc(value), name
        assert dir(value), name


@pytest.mark.parametrize("home", HOMES)
def test_annotations_resolve(home):
    for value in public_objects(home).values():
        if inspect.isfunction(value) or inspect.isclass(value):
            typing.get_type_hints(value)


@pytest.mark.parametrize("home", HOMES)
def test_functions_and_classes_are_copied_and_pickled_by_name(home):
    for name, value in public_objects(home).items():
        if inspect.isfunction(value) or inspect.isclass(value):
            assert copy.copy(value) is copy.deepcopy(value) is value, name
            assert pickle.loads(pickle.dumps(value)) is value, name


def test_the_repl_completes_names():
    completer = rlcompleter.Completer({"imprint": imprint})
    found = [completer.complete("imprint.", state) for state in range(200)]
    assert "imprint.vmap(" in found
    assert "imprint.BoundMethod(" in found
