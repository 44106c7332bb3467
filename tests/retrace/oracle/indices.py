"""Indices: values that index an array, to read it, add to it or write to it.

The value is bound where any value is, but its constants are indices: numbers, lists,
slices, masks. A program holds an index, so an edit of it must cause another one; only
captured arrays are arguments of programs. `pieces` describes the parts of a piece.
"""

from tests.retrace.oracle.pieces import piece

INDEXED = {
    "taken": piece("", "indexed(x, <>, lambda t, i: t[i])", ()),
    "taken of the last axis": piece("", "indexed(x, <>, lambda t, i: t[..., i])", ()),
    "added": piece("", "indexed(x, <>, lambda t, i: t.at[i].add(7))", ()),
    "set": piece("", "indexed(x, <>, lambda t, i: t.at[i].set(x.sum()))", ()),
    "gotten": piece("", "indexed(x, <>, lambda t, i: t.at[i].get(mode='clip'))", ()),
    "take": piece("", "indexed(x, <>, lambda t, i: inp.take(t, i, 1))", ()),
    "by NumPy": piece("", "indexed(x, <>, lambda t, i: np.take(t, i, 0))", ()),
    "of a captured array": piece(
        "A# = inp.arange(27).reshape(3, 3, 3)",
        "indexed(x, <>, lambda t, i: t + A#[i].sum())",
        ("A# = inp.arange(27).reshape(3, 3, 3)[::-1]",),
    ),
    "by a helper": piece(
        """
        def h#(t, i):
            return t[i]
        """,
        "indexed(x, <>, h#)",
        (
            "def h#(t, i):\n    return t.at[i].multiply(3)",
            "h#.__code__ = (lambda t, i: t.at[i].max(5)).__code__",
        ),
    ),
    "inside of what is jitted": piece(
        """
        @imprint.jit
        def j#(x):
            return emit(x, indexed(x, <>, lambda t, i: t[i]))
        """,
        "j#(x)",
        ("j# = imprint.jit(lambda x: emit(x, indexed(x, <>, lambda t, i: t[i], ?)))",),
    ),
    "in a loop": piece(
        """
        def s#(carry, row):
            return carry + row[<>].sum(), None
        """,
        "imprint.lax.scan(s#, x.sum(), inp.arange(9).reshape(3, 3))[0]",
        ("def s#(carry, row):\n    return carry * row[<>].sum(), None",),
    ),
    "mapped": piece(
        "",
        "imprint.vmap(lambda y: y[<>].sum())(inp.arange(9).reshape(3, 3) + x.sum())",
        (),
    ),
    "bounds": piece(
        "I# = ?",
        "indexed(x, slice(I#, <>), lambda t, i: t[i])",
        ("I# = ?", "del I#"),
    ),
    "of two axes": piece(
        "I# = [?]",
        "indexed(x, (I#[0], <>), lambda t, i: t[i])",
        ("I#[0] = ?", "I# = [?]"),
    ),
}
