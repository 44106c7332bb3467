"""The ceilings of files, classes and functions, and the header every file has."""

import ast
import io
import tokenize

from tests.meta.sources import every_source

MAX_FILE_LINES = 800
MAX_CLASS_LINES = 400
MAX_CLASS_TABLES = 6
MAX_FUNCTION_LINES = 60
HEADER_LINES = range(3, 11)

SILENT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def code_lines(text):
    """Return the numbers of the lines that hold code: no blank and no comment."""
    return {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in SILENT
        for line in range(token.start[0], token.end[0] + 1)
    }


def docstring_lines(definition):
    first = definition.body[0]
    if ast.get_docstring(definition, clean=False) is None:
        return set()
    return set(range(first.lineno, first.end_lineno + 1))


def code_length(definition, lines):
    """Return the number of code lines of a function or class, without docstrings."""
    own = lines.intersection(range(definition.lineno, definition.end_lineno + 1))
    for node in ast.walk(definition):
        if isinstance(node, DEFINITIONS):
            own -= docstring_lines(node)
    return len(own)


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def tables(definition):
    """Return the attributes that a class makes as empty containers, to be filled."""
    return {
        target.attr
        for node in ast.walk(definition)
        if isinstance(node, ast.Assign | ast.AnnAssign) and is_empty(node.value)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute)
    }


def is_empty(value):
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, ast.List):
        return not value.elts
    makers = {"dict", "set", "list", "deque", "OrderedDict", "defaultdict"}
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") in makers


# Names × owners needs an index for each direction.
INDEXES = (
    "imprint/_src/jit/guards/reachable.py",
    "imprint/_src/jit/guards/chains.py",
)


@every_source
def test_file_and_functions_are_below_their_ceilings(source):
    assert len(source.lines) <= MAX_FILE_LINES, "find the second subject"
    lines = code_lines(source.text)
    long = {
        f"{source.at(node)} {node.name}": length
        for node in source.nodes(ast.FunctionDef, ast.AsyncFunctionDef)
        if (length := code_length(node, lines)) > MAX_FUNCTION_LINES
    }
    assert not long


@every_source
def test_classes_are_below_their_ceilings(source):
    lines = code_lines(source.text)
    classes = list(source.nodes(ast.ClassDef))
    long = {
        f"{source.at(node)} {node.name}": length
        for node in classes
        if (length := code_length(node, lines)) > MAX_CLASS_LINES
    }
    assert not long, "find the second subject"
    full = {
        f"{source.at(node)} {node.name}": sorted(found)
        for node in classes
        if len(found := tables(node)) > MAX_CLASS_TABLES
    }
    is_index = str(source) in INDEXES
    assert is_index or not full, "find the tables that belong together"


@every_source
def test_header_describes_the_file_in_3_to_10_lines(source):
    header = ast.get_docstring(source.tree, clean=False)
    assert header is not None
    lines = header.rstrip().splitlines()
    if not str(source).startswith(("examples/", "imprint/_src/")):  # faces re-export
        return
    assert len(lines) >= HEADER_LINES.start
    if source.path.name == "__init__.py":  # a line for each of its files: `test_map`
        lines = [line for line in lines if not line.startswith(("- `", "  "))]
    assert len(lines) < HEADER_LINES.stop


def test_code_length_leaves_out_docstring_comments_and_blank_lines():
    text = 'def f(x):\n    """Say.\n\n    More.\n    """\n    # why\n\n    return x\n'
    (function,) = ast.parse(text).body
    assert code_length(function, code_lines(text)) == 2


def test_tables_are_the_attributes_that_start_empty():
    text = "class A:\n def f(self, x):\n  self.a, b = {}, []\n  self.b: dict = {}\n"
    text += "  self.c = set()\n  self.d = x\n  self.e = [x]\n"
    (definition,) = ast.parse(text).body
    assert tables(definition) == {"b", "c"}
