"""Every public function has a runnable example, but for a list that only shrinks.

`without_example.txt` names the functions that still lack one. A function that is missing
from the list, and a name on the list that needs it no more, are both failures.
"""

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import imprint

LISTED = Path(__file__).with_name("without_example.txt")
FACES = (
    *("imprint", "imprint.cache", "imprint.debug", "imprint.flatten_util"),
    *("imprint.module", "imprint.nn", "imprint.numpy", "imprint.optim"),
    *("imprint.profiler", "imprint.random", "imprint.stages"),
    *("imprint.testing", "imprint.tree", "imprint.custom_batching"),
)


def public_functions():
    """Return the functions of the public modules, by the place that defines them."""
    faces = [importlib.import_module(name) for name in FACES]
    values = [
        getattr(face, name)
        for face in faces
        for name in getattr(face, "__all__", vars(face))
        if name[0] != "_"
    ]
    return {
        f"{value.__module__}.{value.__qualname__}": value
        for value in filter(inspect.isroutine, map(inspect.unwrap, values))
        if value.__module__.startswith("imprint.")
    }


def test_the_functions_without_an_example_are_those_of_the_list():
    functions = public_functions()
    lacking = {name for name, value in functions.items() if ">>> " not in value.__doc__}
    listed = set(LISTED.read_text(encoding="utf-8").split())
    assert sorted(lacking - listed) == [], "write an example into the docstring"
    assert sorted(listed - lacking) == [], (
        "take the name off the list: it has its example"
    )


def test_offered_names_exist():
    for name in dir(imprint):
        assert getattr(imprint, name) is not None


FACES_OF_JAX = (
    "dtypes",
    "flatten_util",
    "image",
    "lax",
    "nn",
    "numpy",
    "ops",
    "random",
    "tree_util",
)


MORE_FACES = ("module", "optim", "scipy", "testing", "tree", "typing")
IN_FORKS = """
import os, sys
import imprint
for face in sys.argv[1:]:
    if os.fork() == 0:
        print(getattr(imprint, face).__name__)
        sys.exit()
    os.wait()
"""


@pytest.fixture(scope="module")
def named():
    """Return the name of each face after a plain import, in a process of its own."""
    command = [sys.executable, "-c", IN_FORKS, *FACES_OF_JAX, *MORE_FACES]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(zip(command[3:], done.stdout.split(), strict=True))


@pytest.mark.parametrize("face", [*FACES_OF_JAX, *MORE_FACES])
def test_a_face_is_an_attribute_after_a_plain_import(face, named):
    assert named[face] == f"imprint.{face}"
    assert importlib.import_module(f"imprint.{face}") is getattr(imprint, face)


def test_model_libraries_are_loaded_on_first_use():
    program = (
        "import sys, imprint; before = set(sys.modules); imprint.nn.Linear; "
        "imprint.Module; print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"imprint.module", "imprint.nn"} <= set(loaded)


def test_a_missing_public_name():
    with pytest.raises(
        AttributeError, match="module 'imprint' has no attribute 'gard'"
    ):
        imprint.gard  # noqa: B018
