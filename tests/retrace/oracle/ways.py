"""Ways of reading an attribute `w`, and keepers: objects between a name and an object.

A way is a function of the object, `<>`. A keeper gives the object that it carries, so
keepers nest. `pieces` describes the parts of a piece.
"""

from textwrap import dedent, indent

from tests.retrace.oracle.pieces import piece

# The expression of a way for the object `o`; its definitions come first, under `---`.
BODIES = {
    "at once": "return o.w",
    "lambda": "return (lambda: o.w)()",
    "lambda in a lambda": "return (lambda: (lambda: o.w)())()",
    "function": "def g(): return o.w\nreturn g()",
    "function in a function": "def g():\n    def h(): return o.w\n    return h()\nreturn g()",
    "list comprehension": "return [o.w for _ in range(2)]",
    "dict comprehension": "return {i: o.w for i in range(2)}",
    "genexpr": "return tuple(o.w for _ in range(2))",
    "genexpr in a genexpr": "return tuple(tuple(o.w for _ in 'a') for _ in 'b')",
    "over a display": "return [p.w for p in (o,)]",
    "over a list": "return tuple(p.w for p in [o, o])",
    "condition": "return [i for i in range(2) if o.w == i]",
    "default": "def g(p=o): return p.w\nreturn g()",
    "keyword-only default": "def g(*, p=o): return p.w\nreturn g()",
    "star": "def g(*a): return a[0].w\nreturn g(o)",
    "double star": "def g(**k): return [p.w for p in k.values()]\nreturn g(p=o)",
    "passed on": "def g(*a, **k): return h(*a, **k)\ndef h(p): return p.w\nreturn g(o)",
    "loop": "for p in (o, o): found = p.w\nreturn found",
    "loop over a dict": "for k, p in {'a': o}.items(): found = k, p.w\nreturn found",
    "enumerate": "return [(i, p.w) for i, p in enumerate([o])]",
    "zip": "for p, i in zip([o], [1], strict=True): found = p.w\nreturn found",
    "reversed": "return [p.w for p in reversed([o, o])]",
    "map": "return list(map(lambda p: p.w, [o]))",
    "filter": "return len(list(filter(lambda p: p.w == 1, [o])))",
    "sorted": "return sorted([o, o], key=lambda p: repr(p.w))[0].w",
    "reduce": "return functools.reduce(lambda a, p: (a, p.w), [o], 0)",
    "starmap": "return list(itertools.starmap(lambda p, i: (p.w, i), [(o, 1)]))",
    "next": "return next(p for p in [None, o] if p is not None).w",
    "nested containers": "return {'a': [({'b': o},)]}['a'][0][0]['b'].w",
    "slice": "return [0, o][1:][0].w",
    "walrus": "if (p := o) is not None: return p.w",
    "unpacked": "p, q = 0, o\nreturn q.w",
    "unpacked with a star": "p, *q = 0, o\nreturn q[0].w",
    "swapped": "p, q = o, None\np, q = q, p\nreturn q.w",
    "or": "return (None or o).w",
    "and": "return (1 and o).w",
    "bound under if": "p = None\nif p is None: p = o\nreturn p.w",
    "bound in except": "p = other\ntry: raise ValueError\nexcept ValueError: p = o\nreturn p.w",
    "bound in finally": "p = other\ntry: p = cfg\nfinally: p = o\nreturn p.w",
    "tried": "try: return o.w\nexcept AttributeError: return ?",
    "for and else": "for p in (): pass\nelse: p = o\nreturn p.w",
    "while": "p, todo = None, [o]\nwhile todo: p = todo.pop()\nreturn p.w",
    "with": "with contextlib.nullcontext(o) as p: return p.w",
    "generator": "def g(p): yield p.w\nreturn next(g(o))",
    "yield from": "def g(p): yield p.w\ndef h(p): yield from g(p)\nreturn list(h(o))",
    "getattr": "return getattr(o, 'w')",
    "getattr with a default": "return getattr(o, 'w', ?)",
    "getattr by a name": "g = getattr\nreturn g(o, 'w')",
    "getattr by partial": "return functools.partial(getattr, o, 'w')()",
    "hasattr": "return hasattr(o, 'w')",
    "attrgetter": "return operator.attrgetter('w')(o)",
    "map of attrgetter": "return list(map(operator.attrgetter('w'), [o]))",
    "match": "match o:\n    case object(w=r): return r\nreturn ?",
    "match in a dict": "match {'a': o}:\n    case {'a': object(w=r)}: return r\nreturn ?",
    "match in a list": "match [0, o]:\n    case [_, p]: return p.w",
    "copy": "return copy.copy(o).w",
    "partial": "return functools.partial(lambda p: p.w, o)()",
    "grad": """
        found = []
        imprint.grad(lambda y: (found.append(o.w), y * 2.0)[1])(1.0)
        return found
        """,
    "vmap": """
        found = []
        imprint.vmap(lambda y: (found.append(o.w), y)[1])(inp.ones(2))
        return found
        """,
    "class in a function": """
        class C:
            w = o.w
            def m(self): return self.w, o.w
        return C().m()
        """,
    "flag": "FLAG# = True; other.w = ?\n---\np = o if FLAG# else other\nreturn p.w",
    "helper": "def g#(p): return p.w\n---\nreturn g#(o)",
    "method": """
        class C#:
            def __init__(self, p): self.p = p
            def m(self): return self.p.w
        ---
        return C#(o).m()
        """,
    "super()": """
        class B#:
            def m(self): return self.p.w
        class C#(B#):
            def m(self): return super().m()
        ---
        c = C#()
        c.p = o
        return c.m()
        """,
    "attribute of super()": """
        class B#: w = ?
        class C#(B#):
            def m(self): return super().w
        ---
        return o.w, C#().m()
        """,
    "type(self)": """
        class C#:
            w = ?
            def m(self): return type(self).w, self.__class__.w
        ---
        return o.w, C#().m()
        """,
    "property": """
        class C#:
            v = property(lambda self: self.p.w)
        ---
        c = C#()
        c.p = o
        return c.v
        """,
    "proxy": """
        class C#:
            def __init__(self, p): self.__dict__["p"] = p
            def __getattr__(self, name): return getattr(self.p, name)
        ---
        return C#(o).w
        """,
    "special methods": """
        class C#:
            def __init__(self, p): self.p = p
            def __call__(self): return self.p.w
            def __getitem__(self, i): return self.p.w
            def __iter__(self): return iter([self.p])
        ---
        c = C#(o)
        return c(), c[0], [p.w for p in c]
        """,
    "context manager": """
        @contextlib.contextmanager
        def using#(p): yield p
        ---
        with using#(o) as p: return p.w
        """,
    "cached": """
        @functools.cache
        def g#(): return [None]
        ---
        g#()[0] = o
        return g#()[0].w
        """,
    "key gained": """
        D# = {"v": ?}
        ---
        D#["traced"] = True
        return o.w, D#["v"]
        """,
    "key gained by setdefault": """
        D# = {"v": ?}
        ---
        D#.setdefault("traced", []).append(1)
        return o.w, D#["v"]
        """,
    "default dict": """
        D# = collections.defaultdict(int, v=?)
        ---
        D#["n"] += 1
        return o.w, D#["v"]
        """,
}
WAY_EDITS = {
    "flag": ("FLAG# = not FLAG#", "other.w = ?"),
    "helper": ("g# = lambda p: (p.w, ?)",),
    "method": ("C#.m = lambda self: (self.p.w, ?)",),
    "super()": ("B#.m = lambda self: (self.p.w, ?)", "del C#.m"),
    "attribute of super()": ("B#.w = ?", "del B#.w", "C#.w = ?"),
    "type(self)": ("C#.w = ?", "del C#.w"),
    "property": ("C#.v = property(lambda self: (self.p.w, ?))",),
    "key gained": ("D#['v'] = ?", "D# = {'v': ?}"),
    "key gained by setdefault": ("D#['v'] = ?", "D# = {'v': ?}"),
    "default dict": ("D#['v'] = ?",),
}


def _way(name):
    before, _, body = dedent(BODIES[name]).strip().rpartition("---\n")
    text = f"{before.strip()}\ndef way#(o):\n{indent(body.strip(), '    ')}"
    return piece(text, "way#(<>)", WAY_EDITS.get(name, ()))


WAYS = {name: _way(name) for name in BODIES}

KEEPERS = {
    "list": piece("L# = [0, <>]", "L#[1]", ("L# = [1, <>]", "L#[1] = <>")),
    "dict": piece(
        "D# = {'a': <>}", "D#['a']", ("D# = {'a': <>}", "D#['a'] = <>", "D#['b'] = 1")
    ),
    "tuple": piece("T# = (0, (<>,))", "T#[1][0]", ("T# = (1, (<>,))",)),
    "deque": piece("Q# = collections.deque([<>])", "Q#[0]", ("Q#[0] = <>",)),
    "named tuple": piece(
        "N# = collections.namedtuple('N#', 'o'); T# = N#(<>)", "T#.o", ("T# = N#(<>)",)
    ),
    "attribute": piece(
        """
        class H#: pass
        H#_ = H#(); H#_.o = <>
        """,
        "H#_.o",
        ("H#_.o = <>", "H#_ = H#(); H#_.o = <>", "H#.o = <>; H#_ = H#()"),
    ),
    "attribute of an attribute": piece(
        "H# = types.SimpleNamespace(a=types.SimpleNamespace(o=<>))",
        "H#.a.o",
        ("H#.a.o = <>", "H#.a = types.SimpleNamespace(o=<>)"),
    ),
    "slot": piece(
        """
        class H#: __slots__ = ("o",)
        H#_ = H#(); H#_.o = <>
        """,
        "H#_.o",
        ("H#_.o = <>",),
    ),
    "class": piece(
        """
        class H#: pass
        H#.o = [<>]
        """,
        "H#.o[0]",
        ("H#.o = [<>]", "H#.o[0] = <>"),
    ),
    "module": piece("cfg.o# = <>", "cfg.o#", ("cfg.o# = <>", "del cfg.o#")),
    "alias": piece("A# = <>", "A#", ("A# = <>",)),
    "function": piece("def get#(): return <>", "get#()", ("get# = lambda: <>",)),
    "closure": piece(
        """
        def make#(o): return lambda: o
        c# = make#(<>)
        """,
        "c#()",
        ("c# = make#(<>)", "c#.__closure__[0].cell_contents = <>"),
    ),
    "default": piece(
        "def d#(o=<>): return o",
        "d#()",
        ("d#.__defaults__ = (<>,)", "def d#(*, o=<>): return o"),
    ),
    "partial": piece(
        "p# = functools.partial(lambda o: o, <>)",
        "p#()",
        ("p# = functools.partial(lambda o: o, <>)",),
    ),
    "function's attribute": piece(
        """
        def h#(): pass
        h#.o = <>
        """,
        "h#.o",
        ("h#.o = <>",),
    ),
    "property": piece(
        """
        class H#:
            o = property(lambda self: <>)
        H#_ = H#()
        """,
        "H#_.o",
        ("H#.o = property(lambda self: <>)",),
    ),
    "flag": piece(
        "F# = True; B# = <>", "(<> if F# else B#)", ("F# = not F#", "B# = <>")
    ),
    "or": piece("N# = None", "(N# or <>)", ("N# = <>", "N# = None")),
    "generator that began": piece(
        """
        def g#(o):
            while True: yield o
        G# = g#(<>); next(G#)
        """,
        "next(G#)",
        ("G# = g#(<>)", "G# = g#(<>); next(G#)"),
    ),
    "imported inside": piece(
        """
        cfg.m# = <>
        def get#():
            from oracle_cfg import m# as m
            return m
        """,
        "get#()",
        ("cfg.m# = <>", "del cfg.m#"),
    ),
}
