"""Every flag has a reader: none is accepted and then ignored."""

import ast

import pytest

from imprint._src.config import Config, Flag
from tests.meta.sources import PACKAGE

FLAGS = [name for name, flag in vars(Config).items() if isinstance(flag, Flag)]


def read_in(tree):
    """Return the names that a file reads of `config`, `settings()`, or a name for it."""
    holders = {"config"} | {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and is_settings(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and (
            is_settings(node.value)
            or (isinstance(node.value, ast.Name) and node.value.id in holders)
        )
    }


def is_settings(node):
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "settings"
    )


def test_every_flag_is_read():
    sources = [source for source in PACKAGE if source.path.name != "config.py"]
    assert set(FLAGS) <= set().union(*(read_in(source.tree) for source in sources))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("if config.strict: pass", {"strict"}),
        ("x = settings().enable_x64", {"enable_x64"}),
        ("flags = settings()\nf(flags.debug_nans)", {"debug_nans"}),
        ("from imprint._src.config import strict", set()),
        ("other.strict\nconfig.strict = 1", set()),
    ],
)
def test_expressions_that_read_a_flag(code, found):
    assert read_in(ast.parse(code)) == found
