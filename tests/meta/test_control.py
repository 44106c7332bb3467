"""Control primitives are known by their declarations: nothing outside names one.

Nor does anything outside put rules into a table while it is imported.
"""

import ast

import pytest

from imprint._src.control_flow import ALL
from imprint._src.core.control import ControlPrimitive
from imprint._src.core.primitive import Primitive
from tests.meta.sources import PACKAGE

OUTSIDE = [s for s in PACKAGE if not str(s).startswith("imprint/_src/control_flow/")]
NAMES = {f"{primitive.name}_p" for primitive in ALL}


def test_every_declaration_of_the_package_is_listed():
    declared = {
        ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        for source in PACKAGE
        if source not in OUTSIDE
        for node in source.nodes(ast.Assign, ast.AnnAssign)
        if node.value and ast.unparse(node.value).startswith("ControlPrimitive(")
    }
    assert declared == NAMES


# The files that offer them to authors of transforms, under JAX's names.
OFFERS = "imprint/lax.py"


@pytest.mark.parametrize("source", [s for s in OUTSIDE if str(s) != OFFERS], ids=str)
def test_nothing_outside_names_a_control_primitive(source):
    used = {node.id for node in source.nodes(ast.Name)}
    used |= {node.attr for node in source.nodes(ast.Attribute)}
    used |= {
        alias.name for node in source.nodes(ast.ImportFrom) for alias in node.names
    }
    assert not used & NAMES


@pytest.mark.parametrize("source", PACKAGE, ids=str)
def test_nothing_fills_a_table_of_another_file_while_it_is_imported(source):
    imported = {
        alias.asname or alias.name
        for node in source.nodes(ast.Import, ast.ImportFrom)
        for alias in node.names
    }
    filled = [
        ast.unparse(target)
        for statement in source.tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Subscript)
        and ast.unparse(target.value).partition(".")[0] in imported
    ]
    assert not filled


def test_a_control_primitive_with_a_forgotten_rule_cannot_be_declared():
    names = ("aval", "reference", "lower", "jvp", "transpose", "batch", "pad")
    rules = dict.fromkeys(names)
    Primitive(name="whole", fusion=None, makes_nan=False, samples=None, **rules)
    with pytest.raises(TypeError, match="'linearize', 'dce', 'jaxprs', 'eager'"):
        ControlPrimitive(name="half", **rules)
