"""Carriers: functions, methods and closures that read the value of another piece.

`pieces` describes the parts of a piece.
"""

from tests.retrace.oracle.pieces import piece

CARRIERS = {
    "helper": piece(
        """
        def h#():
            return <>, ?
        """,
        "h#()",
        (
            "def h#():\n    return <>, ?",
            "h#.__code__ = (lambda: (<>, ?)).__code__",
            "h# = lambda: ?",
            "del h#",
        ),
    ),
    "helper with defaults": piece(
        """
        def h#(a=?, *, k=?, j=[?]):
            return <>, a, k, j
        """,
        "h#()",
        (
            "h#.__defaults__ = (?,)",
            "h#.__kwdefaults__['k'] = ?",
            "h#.__kwdefaults__ = {'k': ?, 'j': ?}",
            "h#.__kwdefaults__['j'].append(?)",
            "def h#(a=?, *, k=?):\n    return <>, a, k",
        ),
    ),
    "closure": piece(
        """
        def make#(a, b):
            def get():
                return <>, a, b
            def put(x):
                nonlocal a
                a = x
            return get, put
        get#, put# = make#(?, [?])
        """,
        "get#()",
        (
            "put#(?)",
            "get#.__closure__[1].cell_contents.append(?)",
            "get#.__closure__[0].cell_contents = ?",
            "get#, put# = make#(?, [?])",
            "del get#.__closure__[1].cell_contents",
            "get#, _ = make#(?, [?])",
            "get#.__code__ = make#(?, ?)[0].__code__",
        ),
    ),
    "lambda in a closure": piece(
        """
        def make#(f):
            return lambda: (f(), ?)
        l# = make#(lambda: <>)
        """,
        "l#()",
        (
            "l# = make#(lambda: (<>, ?))",
            "l#.__closure__[0].cell_contents = lambda: ?",
            "l#.__closure__[0].cell_contents.__code__ = (lambda: ?).__code__",
        ),
    ),
    "function in a function": piece(
        """
        def h#():
            def inner():
                return <>, ?
            return inner()
        """,
        "h#()",
        ("def h#():\n    def inner():\n        return <>, ?\n    return inner()",),
    ),
    "comprehension": piece(
        "",
        "[<> for _ in range(2)]",
        (),
    ),
    "generator": piece(
        "",
        "tuple(<> for _ in range(2))",
        (),
    ),
    "lambda": piece(
        "",
        "(lambda: <>)()",
        (),
    ),
    "class in a function": piece(
        """
        def h#():
            class C:
                w = <>
                def m(self):
                    return self.w
            return C().m()
        """,
        "h#()",
        (),
    ),
    "method": piece(
        """
        class K#:
            def m(self):
                return <>, ?
        O# = K#()
        """,
        "O#.m()",
        (
            "K#.m = lambda self: (<>, ?)",
            "K#.m.__code__ = (lambda self: ?).__code__",
            "O# = K#()",
            "del K#.m",
            "O#.m = lambda: ?",
            "del O#.m",
        ),
    ),
    "method of any arguments": piece(
        """
        class Shown#:
            def __init__(self, value):
                self.value = value
            def __get__(self, owner, cls):
                return self.value if owner is None else lambda *given: ?
        class K#:
            def m(*given):
                return <>, len(given), ?
        O# = K#()
        """,
        "O#.m()",
        (
            *("K#.m = staticmethod(K#.m)", "K#.m = K#.m", "K#.m = Shown#(K#.m)"),
            *("K#.m = classmethod(vars(K#)['m'])", "K#.m = property(lambda self: len)"),
        ),
    ),
    "inherited method": piece(
        """
        class Base#:
            def m(self):
                return <>, ?
        class K#(Base#):
            def m(self):
                return super().m(), ?
        """,
        "K#().m()",
        (
            "Base#.m = lambda self: (<>, ?)",
            "K#.m = lambda self: (<>, ?)",
            "del K#.m",
            "del Base#.m",
        ),
    ),
    "static and class methods": piece(
        """
        class K#:
            @staticmethod
            def s():
                return <>, ?
            @classmethod
            def c(cls):
                return cls.s(), ?
        """,
        "K#.c()",
        (
            "K#.s = staticmethod(lambda: (<>, ?))",
            "K#.c = classmethod(lambda cls: ?)",
            "K#.s = ?",
        ),
    ),
    "property": piece(
        """
        class K#:
            @property
            def w(self):
                return <>, ?
        O# = K#()
        """,
        "O#.w",
        (
            "K#.w = property(lambda self: (<>, ?))",
            "K#.w = ?",
            "del K#.w",
        ),
    ),
    "special methods": piece(
        """
        class K#:
            def __call__(self):
                return <>
            def __getitem__(self, i):
                return self(), i, ?
            def __len__(self):
                return 3
            def __add__(self, x):
                return self[x], ?
        O# = K#()
        """,
        "(O#(), O#[1], len(O#), O# + 1)",
        (
            "K#.__call__ = lambda self: (<>, ?)",
            "K#.__getitem__ = lambda self, i: ?",
            "K#.__len__ = lambda self: 4",
            "K#.__len__ = lambda *a: 5",
            "K#.__getitem__ = lambda *a: ?",
            "K#.__add__ = lambda self, x: (<>, ?)",
        ),
    ),
    "what a caller of who misses it goes on without": piece(
        """
        class K#: pass
        O# = K#()
        def g#(o):
            return o.w
        def h#():
            try:
                return g#(O#)
            except AttributeError:
                return <>
        """,
        "h#()",
        ("O#.w = ?", "K#.w = ?", "del O#.w", "del K#.w", "O# = K#()"),
    ),
    "special methods that are no functions": piece(
        """
        class B#: spare = 0
        class K#(B#):
            spare = 0
            __len__ = staticmethod(functools.partial(int, 3))
            __add__ = functools.partialmethod(lambda self, k, o: k, ?)
        O# = K#()
        """,
        "(len(O#), O# + 1, 7 if O# else 8, O# == 1, getattr(O#, 'w', 9))",
        (
            "K#.__len__ = staticmethod(functools.partial(int, 4))",
            "K#.__len__ = staticmethod(lambda: 5)",
            "K#.__add__ = functools.partialmethod(lambda self, k, o: k, ?)",
            "B#.__eq__ = lambda *a: True",
            "B#.__bool__ = lambda self: False",
            "K#.__bool__ = lambda self: ?",
            "B#.__getattr__ = lambda self, name: ?",
            "del B#.__eq__",
            "del B#.spare; B#.__bool__ = lambda self: False",
            "del K#.spare; K#.__bool__ = lambda self: True",
            "del K#.__bool__; K#.spare = 0",
        ),
    ),
    "context": piece(
        """
        class K#:
            def __enter__(self):
                return <>
            def __exit__(self, *_):
                pass
        def h#():
            with K#() as w:
                return w
        """,
        "h#()",
        ("K#.__enter__ = lambda self: (<>, ?)",),
    ),
    "generator function": piece(
        """
        def g#():
            yield <>
            yield ?
        """,
        "list(g#())",
        ("def g#():\n    yield <>, ?",),
    ),
    "decorated": piece(
        """
        def twice#(f):
            @functools.wraps(f)
            def g(*a):
                return f(*a), ?
            return g
        @twice#
        def h#():
            return <>
        """,
        "h#()",
        (
            "h# = twice#(lambda: (<>, ?))",
            "h# = h#.__wrapped__",
            "h#.__wrapped__.__code__ = (lambda: ?).__code__",
        ),
    ),
    "callable dataclass": piece(
        """
        @dataclass(frozen=True)
        class C#:
            w: object
            def __call__(self):
                return <>, self.w
        C#_ = C#(?)
        """,
        "C#_()",
        (
            "C#_ = C#(?)",
            "C#.__call__ = lambda self: (<>, ?)",
        ),
    ),
    "partial": piece(
        """
        def h#(*a):
            return <>, a
        p# = functools.partial(h#, ?)
        """,
        "p#()",
        (
            "p# = functools.partial(h#, ?)",
            "h#.__code__ = (lambda *a: ?).__code__",
        ),
    ),
    "try": piece(
        """
        def h#():
            try:
                return <>
            except Exception as e:
                return type(e).__name__
        """,
        "h#()",
        (),
    ),
}
