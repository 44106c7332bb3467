"""`dir` of a module and a star import from it give public names, and nothing else."""

import importlib
import types

import equinox
import jax
import numpy as np
import pytest

import imprint

FACES = ["imprint", "imprint.lax", "imprint.nn", "imprint.numpy", "imprint.random"]
FACES += ["imprint.image", "imprint.ops", "imprint.numpy.fft", "imprint.scipy.fft"]
FACES += ["imprint.scipy.ndimage"]
OWN = {
    "imprint": {
        "BoundMethod",
        "audit",
        "cache",
        "check_grads",
        "cut_recomputation",
        "empty_store",
        "explain_misses",
        "filter_jit",
        "generalise",
        "guards",
        "roll_loops",
    }
    | {"flatten_util", "max_compiles", "module", "optim", "replace", "testing"}
    | {"tree_flatten_one_level", "xla_computation"},
    "imprint.numpy": {"Array", "pad_to"},
    "imprint.random": {"KeyDType", "PRNGKeyArray"},
}
"""Names that are in none of the libraries whose names imprint takes."""
NEWER = {"Inline", "Key", "get_abstract_mesh", "get_mesh", "log2", "log2_p", "minmax"}
NEWER |= {"top_k"}
NEWER |= {"one_minus_square", "one_minus_square_p", "polynomial", "polynomial_p"}
"""Names that some of the tested releases of JAX lack."""


def others(face):
    name = face.removeprefix("imprint").removeprefix(".")
    found = [importlib.import_module(f"jax.{name}".rstrip("."))]
    found += {"": [equinox, jax.core, jax.export]}.get(name, [])
    found += {"nn": [equinox.nn], "numpy": [np]}.get(name, [])
    return found


@pytest.mark.parametrize("face", FACES)
def test_dir_shows_names_of_other_libraries_and_those_of_our_own(face):
    shown = dir(importlib.import_module(face))
    known = OWN.get(face, set()).union(NEWER, *map(dir, others(face)))
    assert sorted(set(shown) - known) == []
    assert OWN.get(face, set()) <= set(shown)
    assert shown == sorted(set(shown))


@pytest.mark.parametrize("face", FACES)
def test_names_in_dir_exist(face):
    module = importlib.import_module(face)
    assert all(hasattr(module, name) for name in dir(module))


@pytest.mark.parametrize("face", FACES[1:])
def test_a_star_import_gives_the_names_in_dir(face):
    names = {}
    exec(f"from {face} import *", names)
    assert names.keys() - {"__builtins__"} == {*dir(importlib.import_module(face))}


def test_submodules_are_attributes_and_not_shown():
    assert isinstance(imprint._src.numpy.elementwise.arithmetic, types.ModuleType)
    assert "arithmetic" not in dir(imprint.numpy)
    assert "eager" not in dir(imprint)
    assert {"numpy", "lax", "nn", "random", "tree", "tree_util"} <= set(dir(imprint))
