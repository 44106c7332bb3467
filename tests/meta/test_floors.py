"""Checks that import-linter and ruff lack: hidden imports, borrowed helpers, bare zip.

The floors themselves are contracts in pyproject.toml. An import inside a function is
ruff's PLC0415, and `test_ignores` checks that each exception to it has a reason.
"""

import ast

from tests.meta.sources import EXAMPLES, ROOT, every_source

# They use imprint as a user does.
USERS = ("examples/", "imprint/_src/cli/", "imprint/_src/testing/")


def calls(source, *names):
    return [
        node
        for node in source.nodes(ast.Call)
        if isinstance(node.func, ast.Name) and node.func.id in names
    ]


def imported_names(source):
    for node in source.nodes(ast.ImportFrom):
        module = node.module or ""
        if module.split(".")[0] in ("examples", "imprint") or node.level:
            yield from ((node, module, alias.name) for alias in node.names)


LATER = [
    f"imprint/{face}.py"
    for face in (
        "__init__",
        "lax",
        "numpy/__init__",
        "numpy/linalg",
        "random",
        "nn/__init__",
    )
]
"""Their names load when asked for; tests compare those with what type checkers see."""


@every_source
def test_no_import_is_hidden_from_the_interpreter(source):
    if str(source) in LATER:
        return
    hidden = [
        source.at(node)
        for node in source.nodes(ast.Name, ast.alias)
        if "TYPE_CHECKING" in (getattr(node, "id", ""), getattr(node, "name", ""))
    ]
    assert not hidden, "a cycle means that a word lives on the wrong floor"


@every_source
def test_no_helper_is_imported_from_another_file(source):
    borrowed = [
        f"{source.at(node)} {name}"
        for node, _, name in imported_names(source)
        if name.startswith("_") and not name.endswith("__")
    ]
    assert not borrowed, "drop the underscore, or move the helper to where it is used"


@every_source
def test_nothing_inside_imports_the_public_face(source):
    if str(source) == "imprint/__init__.py" or str(source).startswith(USERS):
        return
    face = [
        source.at(node)
        for node in source.nodes(ast.Import)
        if any(alias.name == "imprint" for alias in node.names)
    ]
    face += [
        f"{source.at(node)} {name}"
        for node, module, name in imported_names(source)
        if module == "imprint" and not is_submodule(name)
    ]
    assert not face, "import the name from the file that defines it"


def test_examples_use_public_names():
    modules = [
        f"{source.at(node)} {module}"
        for source in EXAMPLES
        for node, module, _ in imported_names(source)
        if module.startswith("imprint._src")
    ]
    assert not modules


def is_submodule(name):
    place = ROOT / "imprint" / name
    return place.is_dir() or place.with_suffix(".py").is_file()


@every_source
def test_zip_is_strict(source):
    lenient = [
        source.at(call)
        for call in calls(source, "zip")
        if not any(
            word.arg == "strict"
            and isinstance(word.value, ast.Constant)
            and word.value.value is True
            for word in call.keywords
        )
    ]
    assert not lenient


@every_source
def test_code_is_not_made_from_text_without_a_defence(source):
    made = [source.at(call) for call in calls(source, "eval", "exec")]
    header = ast.get_docstring(source.tree) or ""
    defended = any(c.isdigit() for c in header) and "exec" in header
    assert not made or defended, "the header must say with numbers what it buys"
