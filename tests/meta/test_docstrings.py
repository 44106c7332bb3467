"""A public function documents each of its parameters, and its result.

`Args:` names the parameters of the signature, no more and no fewer, without those that
begin with `_`; `Returns:` or `Yields:` is there too. Most functions of arrays name their
source, such as NumPy's page, a section of DLMF or a paper, under `References:`.
"""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import NewType

import pytest

import imprint

MODULES = [
    "imprint",
    *(
        info.name
        for info in pkgutil.walk_packages(imprint.__path__, "imprint.")
        if "._" not in info.name and info.name != "imprint.as_jax"  # takes JAX's name
    ),
]
SOURCES = {"imprint.lax": 0.60, "imprint.numpy": 0.99, "imprint.scipy": 0.99}
"""The least part of the functions below each module that name their source."""

SECTION = re.compile(r"(\w+):$")
ARGUMENT = re.compile(r"    ((?:\*{0,2}\w+(?:, )?)+): ")


def functions(module):
    """Return the public functions of a module, each by its name."""
    face = importlib.import_module(module)
    values = {name: getattr(face, name) for name in dir(face) if name[0] != "_"}
    return {name: value for name, value in values.items() if is_function(value)}


def is_function(value):
    """Return whether a value is a function of ours, or an object that is called as one."""
    is_type = inspect.isclass(value) or isinstance(value, NewType)
    is_ours = str(getattr(value, "__module__", "")).startswith("imprint")
    return is_ours and callable(value) and not is_type


def sections(value):
    """Return the lines of each section of a docstring, by its heading."""
    found, lines = {}, []
    for line in (inspect.getdoc(value) or "").splitlines():
        heading = SECTION.match(line)
        if heading:
            lines = found.setdefault(heading[1], [])
        else:
            lines.append(line)
    return found


def parameters(value):
    names = inspect.signature(value).parameters
    return [name for name in names if not name.startswith("_")]


def documented(lines):
    """Return the names that a section `Args:` begins its entries with."""
    entries = filter(None, map(ARGUMENT.match, lines))
    names = [name for entry in entries for name in entry[1].split(", ")]
    return [name.lstrip("*") for name in names]


def faults(value):
    """Return where the docstring of a function and its signature differ."""
    expected, found = parameters(value), sections(value)
    listed = documented(found.get("Args", []))
    said = [f"lacks {name}" for name in expected if name not in listed]
    said += [f"has no parameter {name}" for name in listed if name not in expected]
    if expected and not found.keys() & {"Returns", "Yields"}:
        said.append("lacks Returns")
    return said


@pytest.mark.parametrize("module", MODULES)
def test_parameters_and_results_are_documented(module):
    found = {name: faults(value) for name, value in functions(module).items()}
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.parametrize("package", SOURCES)
def test_most_functions_name_their_source(package):
    modules = [name for name in MODULES if f"{name}.".startswith(f"{package}.")]
    known = {id(v): v for module in modules for v in functions(module).values()}
    named = ["References" in sections(v) for v in known.values() if parameters(v)]
    assert sum(named) / len(named) >= SOURCES[package]


def bare_examples(source):
    """Return the lines whose docstring has a doctest outside of a section `Example:`."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    owners = [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    texts = {owner: ast.get_docstring(owner) or "" for owner in owners}
    bare = [owner for owner, text in texts.items() if re.search("^>>>", text, re.M)]
    return [owner.body[0].lineno for owner in bare]


def test_examples_stand_in_their_section():
    """The site renders a doctest as code only there."""
    paths = sorted(Path(imprint.__file__).parent.rglob("*.py"))
    found = {str(path): bare_examples(path.read_text()) for path in paths}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_an_example_without_a_section_is_found():
    bare = 'def f():\n    """Do it.\n\n    >>> f()\n    """\n'
    assert bare_examples(bare) == [2]
    assert bare_examples(bare.replace(">>>", "Example:\n        >>>")) == []


def test_a_parameter_that_is_not_documented_is_found():
    def scaled(x, /, by, *rest, **options):
        """Return a product.

        Args:
            x: a number: the first
                by: factor.
            *rest: ignored.
            of: the other.

        Example:
            >>> scaled(2, 3)
        """

    said = ["lacks by", "lacks options", "has no parameter of", "lacks Returns"]
    assert faults(scaled) == said


def test_a_documented_function_has_no_faults():
    def scaled(x, by, *rest, _hidden=None):
        """Return a product.

        Args:
            x, by: numbers.
            *rest: ignored.

        Returns:
            Their product.
        """

    def nothing():
        """Do nothing."""

    assert faults(scaled) == faults(nothing) == []
