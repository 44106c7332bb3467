"""Callbacks: functions that a compiled program calls, and the values they read then.

`pieces` describes the parts of a piece. Each is a part of a result that depends on `x`: the
callback returns it, so a stale one is seen like a stale trace.
"""

from tests.retrace.oracle.pieces import piece

_CALL = "imprint.pure_callback({}, x, x, vmap_method='expand_dims')"

CALLBACKS = {
    "callback": piece(
        """
        def cb#(v):
            return emit(v, <>, ?)
        """,
        _CALL.format("cb#"),
        (
            "def cb#(v):\n    return emit(v, <>, ?)",
            "cb#.__code__ = (lambda v: emit(v, <>, ?)).__code__",
            "cb# = lambda v: emit(v, ?)",
            "del cb#",
        ),
    ),
    "callback defined again": piece(
        "def cb#(v, k=2): return emit(v, <>, k)",
        _CALL.format("cb#"),
        (
            "def cb#(v, k=2): return emit(v, <>, k)",
            "cb#.__defaults__ = (?,)",
            "cb#.__code__ = (lambda v, k: emit(v, k, ?)).__code__",
        ),
    ),
    "callback of a partial, defined again": piece(
        """
        def cb#(v, k=2): return emit(v, <>, k)
        p# = functools.partial(cb#)
        """,
        _CALL.format("p#"),
        (
            "def cb#(v, k=2): return emit(v, <>, k)\np# = functools.partial(cb#)",
            "p# = functools.partial(cb#)",
            "cb#.__defaults__ = (?,)",
            "cb#.__code__ = (lambda v, k: emit(v, k, ?)).__code__",
        ),
    ),
    "callback made while tracing": piece(
        "G# = ?",
        _CALL.format("lambda v: emit(v, <>, G#)"),
        ("G# = ?", "del G#"),
    ),
    "callback with a default": piece(
        "G# = ?; L# = [?]",
        _CALL.format("lambda v, g=G#, l=L#: emit(v, <>, g, l)"),
        ("G# = ?", "L# = [?]", "L#.append(?)", "L#[:] = [?]"),
    ),
    "callback of a closure": piece(
        """
        def make#(a, b):
            def cb(v):
                return emit(v, <>, a, b)
            def put(x):
                nonlocal a
                a = x
            return cb, put
        cb#, put# = make#(?, [?])
        """,
        _CALL.format("cb#"),
        (
            "put#(?)",
            "cb#.__closure__[1].cell_contents.append(?)",
            "cb#.__closure__[1].cell_contents = [?]",
            "cb#, put# = make#(?, [?])",
            "cb#, _ = make#(?, [?])",
        ),
    ),
    "callback in a compiled closure": piece(
        """
        def make#(a, b, c):
            def put(x, y):
                nonlocal a, c
                a, c = x, y
            @imprint.jit
            def j(x):
                y = CALL
                return emit(y, <>, c)
            return j, put, b
        j#, put#, b# = make#(?, [?], [?])
        """.replace("CALL", _CALL.format("lambda v: emit(v, a, b, c)")),
        "j#(x)",
        (
            "put#(?, [?])",
            "b#.append(?)",
            "j#, put#, b# = make#(?, [?], [?])",
            "j#, _, _ = make#(?, [?], [?])",
        ),
    ),
    "callback of a partial": piece(
        """
        L# = [?]
        def cb#(l, v):
            return emit(v, <>, l)
        """,
        _CALL.format("functools.partial(cb#, L#)"),
        ("L# = [?]", "L#.append(?)", "L#[:] = [?]", "def cb#(l, v): return emit(v, l)"),
    ),
    "callback method": piece(
        """
        class C#:
            def __init__(self):
                self.w = ?
            def m(self, v):
                return emit(v, <>, self.w)
        O# = C#()
        """,
        _CALL.format("O#.m"),
        ("O#.w = ?", "O# = C#()", "C#.m = lambda self, v: emit(v, self.w, ?)"),
    ),
    "callback of what the trace reads too": piece(
        """
        L# = [?]
        def cb#(v):
            return emit(v, <>, L#)
        """,
        "emit(" + _CALL.format("cb#") + ", L#)",
        ("L# = [?]", "L#.append(?)", "L#.clear()"),
    ),
    "callback that a trace runs too": piece(
        """
        def make#(a):
            def cb(v):
                return emit(v, <>, a)
            return cb, a
        cb#, a# = make#([?])
        """,
        "emit(" + _CALL.format("cb#") + ", cb#(x))",
        ("a#.append(?)", "cb#, a# = make#([?])"),
    ),
}
