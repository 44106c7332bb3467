"""What a program cannot have as-jax: one sentence each, and nothing half-replaced."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAD = """
import imprint.as_jax
import imprint, jax, jaxlib, pickle, sys
"""
MISSING = "is missing: imprint, which stands in for JAX, does not have it. See docs/"
REFUSED = {
    "unknown flag": (
        "jax.config.update('jax_no_such_flag', True)",
        "ConfigError: config.update: expected a flag, one of ",
    ),
    "unknown flag that is read": (
        "jax.config.no_such_flag",
        "AttributeError: config has no flag 'no_such_flag'",
    ),
    "private module": (
        "import jax._src.no_such",
        f"ModuleNotFoundError: jax._src.no_such {MISSING}",
    ),
    "private name": (
        "jax._src.core.no_such",
        "AttributeError: jax._src.core.no_such is missing: imprint, which stands",
    ),
    "private name that is imported": (
        "from jax._src.core import no_such",
        "ImportError: cannot import name 'no_such' from 'jax._src.core'",
    ),
    # JAX pickles an array as a call of its own private function.
    "pickled array of JAX": (
        r"pickle.loads(b'cjax._src.array\n_reconstruct_array\n.')",
        f"ModuleNotFoundError: jax._src.array {MISSING}",
    ),
    "library in C++": (
        "jaxlib._jax.array_result_handler(jax.numpy.ones(2), 1, 2, 3)",
        ": incompatible function arguments.",  # of a TypeError by nanobind
    ),
}


def run(text):
    return subprocess.run(
        [sys.executable, "-c", HEAD + text],
        env={**os.environ, "PYTHONPATH": str(ROOT), "IMPRINT_CACHE": "off"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def errors():
    """Return the first line of the error of each, all in one process."""
    lines = [
        f"try:\n    {code}\nexcept Exception as err:\n"
        "    print(type(err).__name__, str(err).splitlines()[0], sep=': ')"
        for code, _ in REFUSED.values()
    ]
    done = run("from jaxlib import _jax\n" + "\n".join(lines))
    assert not done.returncode, done.stderr
    return dict(zip(REFUSED, done.stdout.splitlines(), strict=True))


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_in_a_sentence(name, errors):
    assert REFUSED[name][1] in errors[name]


def test_a_program_that_patches_jax_changes_its_own_names_alone():
    text = """
def patched(x):
    return "patched"
jax.numpy.sin = patched
from jax.numpy import sin
import jax.numpy as jnp
print(sin is patched, jnp.sin(0.0), imprint.numpy.sin(0.0))
del jax.numpy.sin
print(jax.numpy.sin is imprint.numpy.sin)
"""
    assert run(text).stdout.splitlines() == ["True patched 0.0", "True"]


def test_the_real_jax_is_not_imported_afterwards():
    text = "import jax as again, jax.numpy; print(again is jax, again.__imprint__)"
    assert run(text).stdout.startswith("True 0.")
