"""The pieces of drawn programs: where a value is bound, and how it is edited.

A piece is text. `#` is its number, so that a program can have it twice; each `?` is a
constant of its own, each `?!` a hashable one. `read` is an expression for the value that
the piece holds; `edits` are statements that a user may run between two calls. Only
`strict=True` sees those of `holes`; the page "What is not tracked" lists them.
A carrier is a piece around another piece's expression, `<>`: a function, a method or a
closure that reads it. `sources` has the places of values; `holders` and `ways` have owners
of attributes, and the ways to reach and read them.
"""

from textwrap import dedent
from typing import NamedTuple


class Piece(NamedTuple):
    define: str
    read: str
    edits: tuple[str, ...]
    holes: tuple[str, ...]


def piece(define, read, edits, holes=()):
    return Piece(dedent(define).strip(), read, edits, holes)


CONSTANTS = (
    *("0", "1", "2", "3", "5", "7", "True", "1.0", "0.0", "-0.0", "2.5", "None"),
    *("'a'", "(1, 2)", "(1, 2.0)", "[1]", "float('nan')", "np.float32(1)", "b'a'"),
)

INDICES = (
    *("0", "1", "-1", "2", "[0, 1]", "[1, 0]", "(0, 1)", "slice(1)", "None", "True"),
    *("slice(None, None, -1)", "np.array([0, 2])", "np.array([True, False, True])"),
    *("np.array(1)", "np.int8(2)", "np.array([2, 0], np.int8)", "...", "'a'"),
    *("(slice(1), [0, 2])", "[True, False, False]"),
)
"""Constants where a value is an index."""
