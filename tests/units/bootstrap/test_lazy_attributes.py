"""Lazy names are offered, agree with type checkers, and load on first use."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

FACES = ("imprint", "imprint.lax", "imprint.nn", "imprint.numpy", "imprint.random")
FACES += ("imprint.scipy.special",)


def seen_by_type_checkers(face):
    """Return the module and the name of each import that runs in no program."""
    source = Path(importlib.import_module(face).__file__).read_text(encoding="utf-8")
    blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    imports = [n for b in blocks for n in b.body if isinstance(n, ast.ImportFrom)]
    return {(node.module, alias.asname) for node in imports for alias in node.names}


@pytest.mark.parametrize("face", FACES)
def test_lazy_names_are_those_that_type_checkers_see(face):
    module = importlib.import_module(face)
    offered = {
        pair
        for file, names in module._LAZY.items()
        for name in names.split() or ["."]
        for pair in [file.rpartition(".")[::2] if name == "." else (file, name)]
    }
    assert offered == seen_by_type_checkers(face)
    # Only methods and protocols use these.
    hidden = {"At", "byteswap", "numpy_function", "numpy_ufunc", "places_of"}
    hidden |= {"take_at", "ufunc_methods", "view", "getitem"}
    hidden |= {"__array_api_version__", "__array_namespace_info__", "ad_checkpoint"}
    assert {name for _, name in offered} - hidden == (
        {name for _, name in offered} & set(dir(module))
    )


@pytest.mark.parametrize("face", FACES)
def test_no_file_has_the_name_of_its_member(face):
    """Otherwise an import of the file would replace the function by the module."""
    table = importlib.import_module(face)._LAZY
    own = {f.rpartition(".")[2]: f for f in table if f.rpartition(".")[0] == face}
    assert not [f for name, f in own.items() if name in table[f].split()]


@pytest.mark.parametrize("face", FACES)
def test_an_import_loads_no_lazy_module(face):
    files = sorted(importlib.import_module(face)._LAZY)
    program = f"import {face}, sys; print(sorted(sys.modules.keys() & set({files})))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
