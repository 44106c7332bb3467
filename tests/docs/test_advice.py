"""Advice names only existing objects: each `imprint.x.y` in a text resolves."""

import ast
import importlib
import importlib.util
import re

from tests.meta.sources import every_source

NAME = re.compile(r"(?<![\w./])imprint(?:\.[A-Za-z]\w*)+(?![\w/{-])")


def texts(source):
    """Return the texts of a source, docstrings and messages; f-strings in one piece."""
    inside = set()
    for node in source.nodes(ast.JoinedStr):
        inside |= {id(part) for part in ast.walk(node) if part is not node}
        yield "".join(
            part.value if isinstance(part, ast.Constant) else "{}"
            for part in node.values
        )
    for node in source.nodes(ast.Constant):
        if isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def exists(name):
    """Return whether a dotted name is a module or an attribute."""
    if name == "imprint.as_jax":  # whose import takes JAX's name
        return importlib.util.find_spec(name) is not None
    head, *rest = name.split(".")
    value = importlib.import_module(head)
    for i, part in enumerate(rest):
        try:
            value = getattr(value, part)
        except AttributeError:
            try:
                value = importlib.import_module(".".join([head, *rest[: i + 1]]))
            except ImportError:
                return False
    return True


@every_source
def test_every_name_in_a_text_exists(source):
    names = {name for text in texts(source) for name in NAME.findall(text)}
    assert sorted(name for name in names if not exists(name)) == []


def test_names_are_found_and_missing_ones_noticed():
    text = "Write imprint.numpy.where, or imprint.lax.nonsense(x). See imprint/core.py."
    assert NAME.findall(text) == ["imprint.numpy.where", "imprint.lax.nonsense"]
    assert [exists(name) for name in NAME.findall(text)] == [True, False]
