"""The pieces that programs are made of: where a value can stand, and how it is edited.

A piece is text. `#` is its number, so that a program can have it twice; each `?` is a
constant of its own, each `?!` one that can be hashed. `read` is an expression that gives
what the piece holds; in `edits` are statements that a user may run between two calls.
What only `strict=True` sees is in `holes`; the page "What is not tracked" shows it.
A carrier is a piece around another's expression, `<>`: a function, a method, a closure
that reads it. The places where values stand are in `sources`; what has an attribute, what
may stand before it, and who reads it how, in `holders` and `ways`.
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
