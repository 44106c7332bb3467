"""`imprint check`: the names of JAX that a program uses and imprint lacks."""

import pytest

from imprint._src.as_jax.check import check, lacks
from imprint.cli import main

PROGRAM = """\
from __future__ import annotations
import jax, numpy as np
import jax.numpy as jnp
import jax.experimental.pallas as pl
from jax import lax, random as jr
from jax.scipy import special
from typing import TYPE_CHECKING
import helper

if TYPE_CHECKING:
    from jax.nowhere import Hint
try:
    from jax import not_there
except ImportError:
    not_there = None
try:
    jax.also_missing()
except (AttributeError, TypeError):
    pass
print(jnp.sin, jnp.fft.rfft, jnp.nope(1).shape, lax.linalg.cholesky, jr.normal)
print(special.gammaln, special.lambertw(2), jax.Array.at, np.nope)
"""
HELPER = """\
import library
from jax.lax import missing_here
from . import other
"""
LIBRARY = "import jax\njax.missing_in_a_library\n"


@pytest.fixture
def program(tmp_path, monkeypatch):
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "library.py").write_text(LIBRARY)
    (tmp_path / "helper.py").write_text(HELPER)
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)
    monkeypatch.syspath_prepend(site)
    monkeypatch.chdir(tmp_path)
    return str(script)


def places(text):
    """Return the places and names of missing names."""
    return [line.split(" is missing")[0] for line in text.splitlines()[:-1]]


def test_each_missing_name_is_listed_with_its_line(program, capsys):
    assert check([program]) == 1
    out = capsys.readouterr().out
    assert places(out) == [
        "helper.py:2: jax.lax.missing_here",
        "train.py:4: jax.experimental.pallas",
        "train.py:20: jax.numpy.nope",
        "train.py:21: jax.scipy.special.lambertw",
    ]
    assert "pure_callback" in out, "the way around a name that has one"
    assert out.splitlines()[-1] == "Names of JAX: 15, in 2 files; 4 missing."


def test_deep_reads_libraries_too(program, capsys):
    assert check([program], deep=True) == 1
    assert "site-packages/library.py:2: jax.missing_in_a_library" in places(
        capsys.readouterr().out
    )


def test_a_program_that_has_all_names_passes(tmp_path, capsys):
    script = tmp_path / "train.py"
    script.write_text("import jax\nprint(jax.numpy.linalg.norm(jax.numpy.ones(2)))\n")
    assert main(["check", str(script)]) == 0
    assert capsys.readouterr().out == "Names of JAX: 3, in 1 files; all are there.\n"


def test_nothing_of_the_program_runs(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import jax\nraise SystemExit(7)\n")
    assert check([str(script)]) == 0


def test_a_file_that_is_no_python_is_named(tmp_path, capsys):
    script = tmp_path / "train.py"
    script.write_text("import jax\nprint 1\n")
    assert check([str(script)]) == 0
    assert "train.py: was not read: " in capsys.readouterr().out


def test_a_missing_script_is_a_usage_error(capsys):
    assert main(["check", "nowhere.py"]) == 2
    assert "expected a script" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name",
    ["jax", "jax.numpy.sin", "jax.lax.linalg", "jax.tree.map", "jax.Array.anything"],
)
def test_a_name_that_is_there_is_not_missing(name):
    assert not lacks(name)
