"""Rules: user derivatives that read the value of another piece.

A rule runs when a program is differentiated, which may be long after the function with the
rule was traced. The value it reads is a factor of the derivative, which is a part of the
result. `pieces` describes the parts of a piece.
"""

from tests.retrace.oracle.pieces import piece

# Values that are absent at first: a definition, an expression that reads the value,
# statements that set it, and one that deletes it. A program whose rule fails is traced; its
# derivative is not.
COMING = {
    "global": ("", "W", ("W = 1", "W = 2"), "del W"),
    "global of a helper": ("def h(): return W", "h()", ("W = 1", "W = 2"), "del W"),
    "attribute of a module": ("", "cfg.w", ("cfg.w = 1", "cfg.w = 2"), "del cfg.w"),
    "attribute of a module that holds itself": (
        "def h(o):\n    p, q = 0, o\n    return q.w\ncfg.o = cfg",
        *("h(cfg.o)", ("cfg.w = 'a'", "cfg.w = 2"), "del cfg.w"),
    ),
    "attribute of an object": (
        "class K: pass\nK.k = K()\ndef h(o): return o.w",
        *("h(K.k)", ("K.k.w = 1", "K.w = 2"), "del K.w; del K.k.w"),
    ),
    "attribute of a class": (
        "class K: pass\ndef h(o=K): return o.w",
        *("h()", ("K.w = 1", "K.w = 2"), "del K.w"),
    ),
    "attribute of a result": (
        "class K: pass\nL = [K()]\ndef h(): return L[-1]",
        *("h().w", ("L[0].w = 1", "L.append(K()); L[1].w = 2"), "L[:] = [K()]"),
    ),
    "attribute of a function": ("def h(): return h.w", "h()", ("h.w = 1",), "del h.w"),
    "attribute in a closure": (
        "class K: pass\nk = K()\nh = (lambda o: lambda: o.w)(k)",
        *("h()", ("k.w = 1", "k.w = 2"), "del k.w"),
    ),
    "item": ("D = {}", "D['w']", ("D['w'] = 1", "D = {'w': 2}"), "D.clear()"),
    "item of a helper": (
        "D = {}\ndef h(d): return d['a']['w']",
        *("h(D)", ("D['a'] = {'w': 1}", "D['a']['w'] = 2"), "del D['a']['w']"),
    ),
    "module": (
        "def h():\n    import oracle_sub_w\n    return oracle_sub_w.w",
        "h()",
        ("sys.modules['oracle_sub_w'] = types.SimpleNamespace(w=1)",),
        "del sys.modules['oracle_sub_w']",
    ),
}

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
    "rules of two that one factory made": piece(
        """
        def make#(w):
            g = imprint.custom_jvp(lambda y: y)
            g.defjvp(lambda p, t: (p[0], t[0] * emit(0, <>, w)))
            def put(v):
                nonlocal w
                w = v
            return imprint.jit(lambda y: g(y)), put
        w# = ?
        (c#, put#), (d#, set#) = make#(w#), make#(w#)
        """,
        f"{_DERIVED.format('c#')} + 31 * ({_DERIVED.format('d#')})",
        (
            "put#(?)",
            "set#(?)",
            "put#(?); set#(w#)",
            "(c#, put#), (d#, set#) = make#(w#), make#(w#)",
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
    "rule for batches of what is jitted": piece(
        """
        @imprint.custom_batching.custom_vmap
        def c#(y):
            return y * 1
        @c#.def_vmap
        def r#(count, batched, y):
            return y * 1 + emit(0, <>, ?)[0], True
        j# = imprint.jit(lambda y: c#(y) * 1)
        """,
        "imprint.vmap(j#)(inp.arange(2, dtype='int32')) + x",
        (
            "c#.def_vmap(lambda n, b, y: (y + emit(0, <>, ?)[0], True))",
            "r#.__code__ = (lambda n, b, y: (y + emit(0, ?)[0], True)).__code__",
            "j# = imprint.jit(lambda y: c#(y) * 2)",
        ),
    ),
    "policy": piece(
        """
        def p#(primitive, *avals, **params):
            return parity(<>, ?)
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
