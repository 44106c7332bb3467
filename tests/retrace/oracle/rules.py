"""Rules: derivatives of the user's that read what another piece holds.

A rule runs when a program is differentiated, which may be long after the function with the
rule was traced. What it reads is a factor of the derivative, whose value is a part of the
result. What a piece is made of is told in `pieces`.
"""

from tests.retrace.oracle.pieces import piece

_DERIVED = "imprint.grad(lambda y: {}(y).sum())(inp.ones(2)).astype('int32') + x"

RULES = {
    "rule for tangents": piece(
        """
        @imprint.custom_jvp
        def c#(y):
            return y * 1.0
        @c#.defjvp
        def r#(p, t):
            return c#(*p), t[0] * emit(0, <>, ?)
        """,
        _DERIVED.format("c#"),
        (
            "c#.defjvp(lambda p, t: (c#(*p), t[0] * emit(0, <>, ?)))",
            "c#.defjvps(lambda t, y, *p: t * emit(0, <>, ?))",
            "r#.__code__ = (lambda p, t: (p[0], t[0] * emit(0, <>, ?))).__code__",
            "def r#(p, t):\n    return p[0], t[0] * emit(0, ?)",
            "c# = imprint.custom_jvp(lambda y: y); c#.defjvp(r#)",
        ),
    ),
    "rule of what is jitted": piece(
        """
        @imprint.custom_jvp
        def c#(y):
            return y * 1.0
        def h#():
            return emit(0, <>, ?)
        @c#.defjvp
        def r#(p, t):
            return c#(*p), t[0] * h#()
        j# = imprint.jit(lambda y: c#(y) * 1.0)
        """,
        _DERIVED.format("j#"),
        (
            "c#.defjvp(lambda p, t: (c#(*p), t[0] * emit(0, <>, ?)))",
            "r#.__code__ = (lambda p, t: (p[0], t[0] * emit(0, ?))).__code__",
            "def h#():\n    return emit(0, <>, ?)",
            "h#.__code__ = (lambda: emit(0, ?)).__code__",
            "j# = imprint.jit(lambda y: c#(y) * 2.0)",
        ),
    ),
    "rule for cotangents of what is jitted": piece(
        """
        @imprint.custom_vjp
        def c#(y):
            return y * 1.0
        def f#(y):
            return c#(y), None
        def b#(_, ct):
            return (ct * emit(0, <>, ?),)
        c#.defvjp(f#, b#)
        @imprint.jit
        def j#(y):
            return c#(y) * 1.0
        """,
        _DERIVED.format("j#"),
        (
            "c#.defvjp(f#, lambda _, ct: (ct * emit(0, <>, ?),))",
            "c#.defvjp(lambda y: (y, ?), b#)",
            "b#.__code__ = (lambda _, ct: (ct * emit(0, ?),)).__code__",
            "def b#(_, ct):\n    return (ct * emit(0, ?),)",
        ),
    ),
    "rule made with what it closes over": piece(
        """
        def make#(a, b):
            g = imprint.custom_vjp(lambda y: y)
            g.defvjp(
                lambda y: (y, None), lambda _, ct: (ct * emit(0, <>, a, b),)
            )
            return g
        c# = make#(?, [?])
        j# = imprint.jit(c#)
        """,
        _DERIVED.format("j#"),
        (
            "c# = make#(?, [?])",
            "j# = imprint.jit(make#(?, [?]))",
            "c#.bwd.__closure__[0].cell_contents = ?",
            "c#.bwd.__closure__[1].cell_contents.append(?)",
        ),
    ),
    "rule made while tracing": piece(
        """
        def h#(y):
            g = imprint.custom_jvp(lambda y: y)
            g.defjvp(lambda p, t: (p[0], t[0] * emit(0, <>, ?)))
            return g(y)
        j# = imprint.jit(h#)
        """,
        _DERIVED.format("j#"),
        (
            "def h#(y):\n    return y * emit(0, ?)",
            "j# = imprint.jit(lambda y: h#(y))",
        ),
    ),
    "policy": piece(
        """
        def p#(primitive, *avals, **params):
            return emit(0, <>, ?)[0] % 2
        @imprint.jit
        def j#(y):
            return imprint.checkpoint(lambda y: y * emit(0, <>), policy=p#)(y)
        """,
        _DERIVED.format("j#"),
        (
            "def p#(primitive, *avals, **params):\n    return ?",
            "p#.__code__ = (lambda primitive, *a, **p: ?).__code__",
        ),
    ),
}
