"""The ceilings of a file and of a function, and the header every file has."""

import ast
import io
import tokenize

from tests.meta.sources import every_source

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 50
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


def docstring_lines(function):
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is None:
        return set()
    return set(range(first.lineno, first.end_lineno + 1))


def code_length(function, lines):
    own = lines.intersection(range(function.lineno, function.end_lineno + 1))
    return len(own - docstring_lines(function))


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
def test_header_says_what_the_file_is_in_3_to_10_lines(source):
    header = ast.get_docstring(source.tree, clean=False)
    assert header is not None
    lines = header.rstrip().splitlines()
    assert len(lines) >= HEADER_LINES.start
    if source.path.name == "__init__.py":  # a line for each file beside: `test_map`
        lines = [line for line in lines if not line.startswith(("- `", "  "))]
    assert len(lines) < HEADER_LINES.stop


def test_code_length_leaves_out_docstring_comments_and_blank_lines():
    text = 'def f(x):\n    """Say.\n\n    More.\n    """\n    # why\n\n    return x\n'
    (function,) = ast.parse(text).body
    assert code_length(function, code_lines(text)) == 2
