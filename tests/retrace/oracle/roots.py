"""Roots: the functions that are compiled, and those that they call compiled.

`pieces` describes the parts of a piece.
"""

from tests.retrace.oracle.pieces import piece

# A nested `jit` is called with `x`; the values it reads are its own part of the result.
NESTED = {
    "global": piece(
        """
        @imprint.jit
        def j#(x):
            return emit(x, <>, ?)
        """,
        "j#(x)",
        ("j# = imprint.jit(lambda x: emit(x, <>, ?))",),
    ),
    "of a dict's items": piece(
        """
        D# = {"a": ?, "b": ?}
        @imprint.jit
        def j#(x):
            return emit(x, <>, D#["a"], D#.get("c"))
        """,
        "j#(x)",
        (
            "D# = {**D#}",
            "D# = {**D#, 'b': ?}",
            "D#['a'] = ?",
            "D#['c'] = ?",
            "D# = {'a': ?}",
        ),
    ),
    "of a closure": piece(
        """
        def make#(a, b):
            def f(x):
                return emit(x, <>, a, b)
            return f
        f# = make#(?, [?])
        j# = imprint.jit(f#)
        """,
        "j#(x)",
        (
            "f#.__closure__[0].cell_contents = ?",
            "j# = imprint.jit(make#(?, [?]))",
            "f#.__closure__[1].cell_contents.append(?)",
        ),
    ),
    "made while tracing": piece(
        """
        def h#(x):
            @imprint.jit
            def inner(y):
                return emit(y, <>, ?)
            return inner(x)
        """,
        "h#(x)",
        ("h# = lambda x: imprint.jit(lambda y: emit(y, <>, ?))(x)",),
    ),
    "static": piece(
        """
        N# = ?!
        @functools.partial(imprint.jit, static_argnums=1)
        def j#(x, n):
            return emit(x, <>, n, ?)
        """,
        "j#(x, N#)",
        ("N# = ?!",),
    ),
    "function given to two": piece(
        """
        j# = imprint.jit(lambda v, g: g(v), static_argnums=1)
        p# = imprint.filter_jit(lambda v, g: g(v))
        def h#(v, k=2): return emit(v, <>, k)
        """,
        "31 * j#(x, h#) + p#(x, h#)",
        (
            "def h#(v, k=2): return emit(v, <>, k)",
            "h#.__defaults__ = (?,)",
            "h#.__code__ = (lambda v, k: emit(v, k, ?)).__code__",
        ),
    ),
    "function in an argument": piece(
        """
        j# = imprint.jit(lambda v, g: g(v))
        def h#(v, k=2): return emit(v, <>, k)
        P# = imprint.tree_util.Partial(h#)
        """,
        "j#(x, P#)",
        (
            "def h#(v, k=2): return emit(v, <>, k)",
            "def h#(v, k=2): return emit(v, <>, k)\nP# = imprint.tree_util.Partial(h#)",
            "h#.__defaults__ = (?,)",
            "h#.__code__ = (lambda v, k: emit(v, k, ?)).__code__",
        ),
    ),
    "method": piece(
        """
        class K#:
            def __init__(self):
                self.w = ?
            @functools.partial(imprint.jit, static_argnums=0)
            def m(self, x):
                return emit(x, <>, self.w)
        O# = K#()
        """,
        "O#.m(x)",
        (
            "O# = K#(); O#.w = ?",
            "O#.w = ?",
        ),
    ),
    "step of a scan": piece(
        """
        def s#(c, _):
            return emit(c, <>, ?), None
        """,
        "imprint.lax.scan(s#, x, None, 2)[0]",
        (
            "def s#(c, _):\n    return emit(c, <>, ?), None",
            "s#.__code__ = (lambda c, _: (emit(c, ?), None)).__code__",
            "s# = lambda c, _: (emit(c, <>, ?), None)",
        ),
    ),
    "step and condition of a while": piece(
        """
        class K#:
            def __init__(self):
                self.w, self.n = ?, 2
        O# = K#()
        """,
        "imprint.lax.while_loop(lambda c: c[0] < O#.n, "
        "lambda c: (c[0] + 1, emit(c[1], <>, O#.w)), (0, x))[1]",
        (
            "O#.w = ?",
            "O#.n = O#.n % 3 + 1",
            "O# = K#(); O#.w = ?",
        ),
    ),
    "step of a counted loop": piece(
        """
        W# = [?]
        N# = 2
        """,
        "imprint.lax.fori_loop(0, N#, lambda i, c: emit(c, <>, W#[0]), x)",
        (
            "W#[0] = ?",
            "W# = [?]",
            "N# = N# % 3 + 1",
        ),
    ),
    "vmap": piece(
        """
        def v#(x):
            return emit(x, <>, ?)
        """,
        "imprint.vmap(v#)(x[None])[0]",
        (
            "def v#(x):\n    return emit(x, <>, ?)",
            "v#.__code__ = (lambda x: emit(x, ?)).__code__",
        ),
    ),
    # Compiled, every branch is traced: each raises the error of the one that is taken.
    "conditional": piece(
        """
        def t#(y):
            return emit(y, <>, ?)
        def f#(y):
            return emit(y, <>)
        """,
        "imprint.lax.cond(x.sum() > 1, t#, f#, x)",
        (
            "def t#(y):\n    return emit(y, <>, ?)",
            "f#.__code__ = (lambda y: emit(y, <>, ?)).__code__",
            "t#, f# = f#, t#",
        ),
    ),
    "one of several": piece(
        """
        class K#:
            def __init__(self):
                self.w = ?
            def m(self, x):
                return emit(x, <>, self.w)
        O# = K#()
        W# = [?]
        """,
        "imprint.lax.switch(x.sum(), "
        "[lambda: emit(x, <>), lambda: O#.m(x), lambda: emit(x, <>, W#)])",
        (
            "O#.w = ?",
            "O# = K#(); O#.w = ?",
            "W#.append(?)",
            "K#.m = lambda self, x: emit(x, <>, ?)",
        ),
    ),
    "solution of an equation": piece(
        """
        W# = [?]
        def s#(matvec, b):
            return matvec(emit(b, <>, ?))
        """,
        "imprint.lax.custom_linear_solve(lambda y: emit(y, <>, W#[0]), x, s#)",
        (
            "W#[0] = ?",
            "def s#(matvec, b):\n    return matvec(emit(b, <>, ?))",
            "s#.__code__ = (lambda matvec, b: emit(b, ?)).__code__",
        ),
    ),
    "root": piece(
        """
        class K#:
            def __init__(self):
                self.w = ?
            def f(self, y):
                return emit(y, <>, self.w)
        O# = K#()
        def s#(f, y):
            return f(emit(y, ?))
        """,
        "imprint.lax.custom_root(O#.f, x, s#, lambda g, y: emit(y, O#.w))",
        (
            "O#.w = ?",
            "O# = K#(); O#.w = ?",
            "K#.f = lambda self, y: emit(y, <>, ?)",
            "def s#(f, y):\n    return emit(f(y), <>, ?)",
        ),
    ),
    "named axis": piece(
        """
        A# = "i", 2
        @imprint.jit
        def j#(x):
            return emit(x, <>, imprint.lax.axis_size("i"))
        def v#(f, x, name, size):
            return imprint.vmap(f, axis_name=name)(inp.stack([x] * size))[0]
        """,
        "v#(j#, x, *A#) + v#(j#, x, 'i', 3)",
        (
            "A# = 'i', 3",
            "A# = 'i', 4",
            "A# = 'j', 2",
            "A# = None, 2",
            "j# = imprint.jit(lambda x: emit(x, <>, imprint.lax.psum(?, 'i')))",
        ),
    ),
    "named axis around two": piece(
        """
        A# = "i", 2
        def g#(x):
            return emit(x, <>, imprint.lax.axis_size("i"))
        j# = imprint.jit(g#)
        k# = imprint.jit(lambda x: j#(x) * 3)
        def v#(f, x, name, size):
            return imprint.vmap(f, axis_name=name)(inp.stack([x] * size)).sum(0)
        """,
        "v#(lambda x: v#(k#, x, *A#), x, 'i', 3)",
        (
            "A# = 'i', 4",
            "A# = 'j', 2",
            "A# = None, 3",
            "def g#(x):\n    return emit(x, <>, imprint.lax.axis_size('i'))",
        ),
    ),
}

# The function that is compiled: `ROOT = <read>` makes it, again and again.
ROOTS = {
    "function": piece(
        """
        def root(x):
            return emit(x, <>)
        """,
        "root",
        (
            "root.__code__ = (lambda x: emit(x, <>, ?)).__code__",
            "def root(x):\n    return emit(x, <>, ?)",
        ),
    ),
    "lambda": piece(
        """
        W = ?
        def make(a):
            return lambda x: emit(x, <>, a)
        """,
        "make(W)",
        (
            "W = ?",
            "ROOT.__closure__[0].cell_contents = ?",
        ),
    ),
    "closure": piece(
        """
        W = [?, [?], {'a': ?}, lambda: ?, functools.partial(lambda a: a, ?)]
        def make(a, b, c, f, p):
            def root(x):
                return emit(x, <>, a, b, c, f(), p())
            return root
        """,
        "make(*W)",
        (
            "W[0] = ?",
            "W[1].append(?)",
            "W[1] = [?]",
            "W[2]['a'] = ?",
            "W[2] = {'a': ?}",
            "W[3] = lambda: ?",
            "W[3].__code__ = (lambda: ?).__code__",
            "W[4] = functools.partial(lambda a: (a, ?), ?)",
            "W[1][0] = ?",
            "ROOT.__closure__[0].cell_contents = ?",
            "ROOT.__closure__[1].cell_contents = [?]",
            "ROOT.__closure__[3].cell_contents = lambda: ?",
            "del ROOT.__closure__[0].cell_contents",
        ),
    ),
    "closure over functions with defaults": piece(
        """
        def h(a=?, *, k=?):
            return a, k
        W = [h, functools.partial(lambda a, *, k=?: (a, k), ?)]
        def make(f, p):
            return lambda x: emit(x, <>, f(), p(), h())
        """,
        "make(*W)",
        (
            "W[0].__defaults__ = (?,)",
            "W[0].__kwdefaults__ = {'k': ?}",
            "W[0].__kwdefaults__['k'] = ?",
            "W[0].__code__ = (lambda a=0, *, k=0: (k, a)).__code__",
            "W[1].func.__kwdefaults__ = {'k': ?}",
            "h = lambda: ?",
            "W[0] = lambda: ?",
        ),
    ),
    "closures that count": piece(
        """
        class Model:
            n = 0
            def m(self):
                self.n += 1
                return self.w
        W = [Model(), {"n": 0, "w": ?, "l": [?]}]
        W[0].w = ?
        def counting(step):
            n = 0
            def helper():
                nonlocal n
                n += step
                return ?
            return helper
        def make(model, state, helper):
            calls = []
            def root(x):
                calls.append(1)
                state["n"] += 1
                return emit(x, <>, model.m(), state["w"], state["l"], helper())
            return root
        """,
        "make(*W, counting(1))",
        (
            "W[1]['w'] = ?",
            "W[1]['l'].append(?)",
            "W[1] = {'n': 0, 'w': ?, 'l': []}",
            "W[0] = Model(); W[0].w = ?",
            "i = ROOT.__code__.co_freevars.index('helper')\n"
            "ROOT.__closure__[i].cell_contents = lambda: ?",
            "i = ROOT.__code__.co_freevars.index('state')\n"
            "ROOT.__closure__[i].cell_contents = {'n': 0, 'w': ?, 'l': []}",
            "W[0].w = ?",
        ),
    ),
    "closure over a closure": piece(
        """
        W = [?, ?]
        def make(a, b):
            def inner():
                nonlocal a
                return a, b
            def put(v):
                nonlocal b
                b = v
            def root(x):
                return emit(x, <>, inner(), b)
            root.put = put
            return root
        """,
        "make(*W)",
        (
            "W[0] = ?",
            "W[1] = ?",
            "ROOT.put(?)",
            "W = [?, ?]",
        ),
    ),
    "closure over an object": piece(
        """
        class Model:
            rate = ?
            def m(self):
                return self.w, self.rate
        W = Model(); W.w = ?
        def make(self):
            def root(x):
                return emit(x, <>, self.m(), self.w)
            return root
        """,
        "make(W)",
        (
            "Model.rate = ?",
            "Model.m = lambda self: ?",
            "W = Model(); W.w = ?",
            "W.w = ?",
            "W.rate = ?",
            "W.m = lambda: ?",
        ),
    ),
    "closure over a long list": piece(
        """
        W = [0.5] * 40
        def make(a):
            return lambda x: emit(x, <>, repr(a))
        """,
        "make(W)",
        (
            "W[3] = ?",
            "W[7] = 0.5",
            "W.append(?)",
            "W = [*W]",
            "W = [0.5] * 40",
        ),
    ),
    "closure over a dict": piece(
        """
        W = {'a': [?]}
        def make(a):
            return lambda x: emit(x, <>, repr(a))
        """,
        "make(W)",
        (
            "W['a'].append(?)",
            "W['a'] = [?]",
            "W['b'] = ?",
            "W['a'] = W.pop('a')",
            "W = {'a': [?]}",
        ),
    ),
    "closure over dates": piece(
        """
        W = [np.arange(2000).astype('M8[s]')]
        def make(a):
            return lambda x: emit(x, <>, int(a.astype(int).sum()))
        """,
        "make(*W)",
        (
            "W[0] = W[0] + 1",
            "W[0] = np.arange(2000).astype('M8[s]')",
        ),
        ("W[0][0] += 1",),
    ),
    "closure over an array": piece(
        """
        W = [np.arange(3), inp.arange(2)]
        def make(a, b):
            return lambda x: emit(x, <>, a.tolist(), b.tolist())
        """,
        "make(*W)",
        (
            "W[0] = W[0] + 1",
            "W[1] = W[1] + 1",
            "W[0] = np.arange(3)",
        ),
        ("W[0][0] += 1",),
    ),
    "partial": piece(
        """
        W = [?, ?]
        def root(a, x, *, k):
            return emit(x, <>, a, k)
        """,
        "functools.partial(root, W[0], k=W)",
        (
            "W[0] = ?",
            "W.append(?)",
            "root.__code__ = (lambda a, x, *, k: emit(x, <>, k, ?)).__code__",
            "W = [?, ?]",
        ),
    ),
    "bound method": piece(
        """
        class Model:
            rate = ?
            def m(self, x):
                return emit(x, <>, self.w, self.rate)
        W = Model(); W.w = ?
        """,
        "W.m",
        (
            "Model.rate = ?",
            "Model.m = lambda self, x: emit(x, <>, ?)",
            "W = Model(); W.w = ?",
            "Model.m.__code__ = (lambda self, x: emit(x, ?)).__code__",
            "W.w = ?",
            "W.rate = ?",
        ),
    ),
    "method by hand": piece(
        """
        W = [?, ?]
        def make(a):
            return lambda self, x: emit(x, <>, self, a)
        """,
        "types.MethodType(make(W[0]), tuple(W))",
        (
            "W[0] = ?",
            "W[1] = ?",
            "ROOT.__func__.__closure__[0].cell_contents = ?",
            "ROOT.__func__.__code__ = make(0).__code__",
        ),
    ),
    "callable dataclass": piece(
        """
        @dataclass(frozen=True)
        class Model:
            w: object
            l: object
            def __call__(self, x):
                return emit(x, <>, self.w, self.l)
        W = Model(?, [?])
        """,
        "W",
        (
            "W = Model(?, [?])",
            "W.l.append(?)",
            "Model.__call__ = lambda self, x: emit(x, <>, self.w, ?)",
        ),
    ),
    "callable object": piece(
        """
        class Model:
            rate = ?
            def __call__(self, x):
                return emit(x, <>, self.w, self.rate)
        W = Model(); W.w = ?
        """,
        "W",
        (
            "W = Model(); W.w = ?",
            "Model.rate = ?",
            "Model.__call__ = lambda self, x: emit(x, <>, ?)",
            "W.w = ?",
        ),
    ),
    "decorated": piece(
        """
        def deco(f, k):
            @functools.wraps(f)
            def g(x):
                return emit(f(x), k)
            return g
        W = ?
        def plain(x):
            return emit(x, <>)
        """,
        "deco(plain, W)",
        (
            "W = ?",
            "plain.__code__ = (lambda x: emit(x, <>, ?)).__code__",
            "plain = lambda x: emit(x, <>, ?)",
            "ROOT.__closure__[1].cell_contents = ?",
        ),
    ),
}
