"""Sources: the places where a value can be bound, with the ways in which users change it.

`pieces` describes the parts of a piece.
"""

from tests.retrace.oracle.pieces import piece

SOURCES = {
    "global": piece(
        "G# = ?",
        "G#",
        (
            "G# = ?",
            "del G#",
        ),
    ),
    "name that comes to be": piece(
        "",
        "U#",
        (
            "U# = ?",
            "del U#",
        ),
    ),
    "shadowed builtin": piece(
        "",
        "abs(-1)",
        (
            "abs = lambda x: ?",
            "del abs",
            "import builtins; abs = builtins.abs",
        ),
    ),
    "attribute of a module": piece(
        "cfg.G# = ?",
        "cfg.G#",
        (
            "cfg.G# = ?",
            "del cfg.G#",
            "cfg = other; cfg.G# = ?",
        ),
    ),
    "attribute of a submodule": piece(
        "cfg.sub.G# = ?; other.G# = ?",
        "cfg.sub.G#",
        (
            "cfg.sub.G# = ?",
            "cfg.sub = other",
            "del cfg.sub.G#",
        ),
    ),
    "imported inside": piece(
        """
        cfg.I# = ?
        def imported#():
            from oracle_cfg import I# as i
            return i
        """,
        "imported#()",
        (
            "cfg.I# = ?",
            "del cfg.I#",
        ),
    ),
    "module imported inside": piece(
        """
        cfg.J# = ?
        def imports#():
            import oracle_cfg as c
            return c.J#
        """,
        "imports#()",
        (
            "cfg.J# = ?",
            "del cfg.J#",
        ),
    ),
    "class attribute": piece(
        """
        class Base#:
            rate = ?
        class K#(Base#):
            own = ?
        class Other#:
            rate = ?
        """,
        "(K#.rate, K#.own)",
        (
            "K#.rate = ?",
            "del K#.rate",
            "Base#.rate = ?",
            "K#.own = ?",
            "K# = Other#",
            "del K#.own",
            "K#.__bases__ = (Other#,)",
        ),
    ),
    "class attribute of an instance": piece(
        """
        class Base#:
            rate = ?
        class K#(Base#):
            pass
        O# = K#()
        """,
        "O#.rate",
        (
            "K#.rate = ?",
            "del K#.rate",
            "Base#.rate = ?",
            "O# = K#(); O#.rate = ?",
            "O#.rate = ?",
            "del O#.rate",
            "O#.__dict__['rate'] = ?",
        ),
    ),
    "attribute": piece(
        """
        class K#:
            def __init__(self, w):
                self.w = w
        O# = K#(?)
        """,
        "O#.w",
        (
            "O# = K#(?)",
            "O#.w = ?",
            "del O#.w",
            "O#.__dict__ = {'w': ?}",
        ),
    ),
    "class of an instance": piece(
        """
        class K#:
            rate = ?
        class L#:
            rate = ?
        O# = K#()
        """,
        "O#.rate",
        (
            "K#.rate = ?",
            "O# = L#()",
            "O#.__class__ = L#",
            "O#.__class__ = K#",
        ),
    ),
    "attribute that is missing": piece(
        """
        class K#:
            def __getattr__(self, name):
                return ?, name
        O# = K#()
        """,
        "O#.w",
        (
            "K#.w = ?",
            "del K#.w",
            "K#.__getattr__ = lambda self, name: ?",
        ),
    ),
    "slot": piece(
        """
        class K#:
            __slots__ = ('w',)
        O# = K#(); O#.w = ?
        """,
        "O#.w",
        (
            "O# = K#(); O#.w = ?",
            "O#.w = ?",
            "del O#.w",
        ),
    ),
    "object in an object": piece(
        """
        class K#:
            rate = ?
        O# = K#(); O#.a = K#(); O#.a.w = ?
        """,
        "(O#.a.w, O#.a.rate)",
        (
            "O# = K#(); O#.a = K#(); O#.a.w = ?",
            "K#.rate = ?",
            "O#.a.w = ?",
            "O#.a = K#(); O#.a.w = ?",
            "O#.a.rate = ?",
        ),
    ),
    "simple namespace": piece(
        "O# = types.SimpleNamespace(w=?, x=[?])",
        "(O#.w, O#.x[0])",
        (
            "O# = types.SimpleNamespace(w=?, x=[?])",
            "O#.w = ?",
            "O#.x[0] = ?",
        ),
    ),
    "frozen dataclass": piece(
        """
        @dataclass(frozen=True)
        class P#:
            w: object
            x: object
        O# = P#(?, [?])
        """,
        "(O#.w, O#.x, O# == P#(1, [1]))",
        (
            "O# = P#(?, [?])",
            "O#.x.append(?)",
            "O#.x[0] = ?",
            "P#.w = ?",
        ),
    ),
    "dataclass": piece(
        """
        @dataclass
        class P#:
            w: object = ?!
        O# = P#()
        """,
        "(O#.w, P#.w)",
        (
            "O# = P#(?)",
            "P#.w = ?",
            "O#.w = ?",
        ),
    ),
    "named tuple": piece(
        """
        N# = collections.namedtuple('N#', 'a b')
        T# = N#(?, [?])
        """,
        "(T#.a, T#[1])",
        (
            "T# = N#(?, [?])",
            "T#.b.append(?)",
            "T#[1][0] = ?",
        ),
    ),
    "enum": piece(
        """
        E# = enum.Enum('E#', 'RED BLUE')
        C# = E#.RED
        """,
        "(C#.value, E#.BLUE.name)",
        (
            "C# = E#.BLUE",
            "C# = E#.RED",
        ),
    ),
    "code of a function": piece(
        """
        A#, B# = 7, 2
        def h#(a=3, b=5):
            return A# - a, B#
        """,
        "h#()",
        (
            "def h#(a=3, b=5):\n    return A# + a, B#",
            "def h#(a=3, b=5):\n    return B# - a, A#",
            "def h#(a=3, b=5):\n    return A# - b, B#",
            "def h#(b=3, a=5):\n    return A# - a, B#",
            "def h#(a=3, b=5):\n    return [A# - a, B#]",
        ),
    ),
    "flag": piece(
        """
        FLAG# = True
        X# = ?
        Y# = ?
        """,
        "(X# if FLAG# else Y#)",
        (
            "FLAG# = not FLAG#",
            "X# = ?",
            "Y# = ?",
            "FLAG# = 1",
        ),
    ),
    "attribute of a function": piece(
        """
        def h#():
            return h#.w
        h#.w = ?
        """,
        "(h#(), h#.w)",
        (
            "h#.w = ?",
            "del h#.w",
            "h# = lambda: ?; h#.w = ?",
        ),
    ),
    "attribute that a function gets": piece(
        """
        def h#():
            try:
                return h#.w
            except AttributeError:
                return ?
        """,
        "h#()",
        ("h#.w = ?", "del h#.w"),
    ),
    "equal functions in a list": piece(
        """
        def make#(a):
            return lambda: (a, 1)
        FUNS# = [lambda: 1, make#(?)]
        """,
        "tuple(f() for f in FUNS#)",
        (
            "FUNS#[0] = lambda: 1",
            "FUNS#[0].__code__ = (lambda: ?).__code__",
            "FUNS#[1] = make#(FUNS#[1].__closure__[0].cell_contents)",
            "FUNS#[1].__closure__[0].cell_contents = ?",
        ),
    ),
    "list of functions": piece(
        "FUNS# = [lambda: ?, lambda: ?]",
        "tuple(f() for f in FUNS#)",
        (
            "FUNS#[0] = lambda: ?",
            "FUNS#.append(lambda: ?)",
            "FUNS#[0].__code__ = (lambda: ?).__code__",
        ),
    ),
    "dict of closures": piece(
        """
        def make#(a):
            return lambda: a
        FUNS# = {'a': make#(?), 'b': (make#(?),)}
        """,
        "(FUNS#['a'](), FUNS#['b'][0]())",
        (
            "FUNS#['a'] = make#(?)",
            "FUNS#['b'] = (make#(?),)",
            "FUNS#['a'].__closure__[0].cell_contents = ?",
            "FUNS#['b'][0].__closure__[0].cell_contents = ?",
        ),
    ),
    "partial": piece(
        "P# = functools.partial(lambda *a, **k: (a, k), ?, k=[?])",
        "P#()",
        (
            "P# = functools.partial(lambda *a: (a, 1), ?)",
            "P#.keywords['k'].append(?)",
            "P# = functools.partial(P#, ?)",
            "P#.func.__code__ = (lambda *a, **k: (a, k, ?)).__code__",
        ),
    ),
    "bound method": piece(
        """
        class K#:
            def m(self):
                return ?, self.w
            w = ?
        O# = K#()
        M# = O#.m
        """,
        "M#()",
        (
            "K#.w = ?",
            "M# = K#().m",
            "M#.__func__.__code__ = (lambda self: ?).__code__",
            "O#.w = ?",
        ),
    ),
    "effect": piece(
        """
        COUNT# = 0
        CALLS# = []
        def count#():
            global COUNT#
            COUNT# += 1
            CALLS#.append(1)
            count#.n = getattr(count#, 'n', 0) + 1
            return ?
        """,
        "count#()",
        (
            "COUNT# = 5",
            "CALLS#.clear()",
            "count#.n = 3",
        ),
    ),
    "class of self": piece(
        """
        class K#:
            rate = ?
            def m(self):
                return self.__class__.rate, type(self).rate
        class L#(K#):
            pass
        O# = L#()
        """,
        "O#.m()",
        (
            "K#.rate = ?",
            "L#.rate = ?",
            "del L#.rate",
            "O# = K#()",
            "O#.__class__ = K#",
        ),
    ),
    "__class__ of self": piece(
        """
        class K#:
            rate = ?
            def m(self):
                return self.__class__.rate
        class L#(K#):
            pass
        O# = L#()
        """,
        "O#.m()",
        (
            "K#.rate = ?",
            "L#.rate = ?",
            "O# = K#()",
            "O#.__class__ = K#",
        ),
    ),
    "metaclass": piece(
        """
        class Meta#(type):
            rate = ?
            def m(cls):
                return cls.rate
        class K#(metaclass=Meta#):
            pass
        """,
        "(K#.rate, K#.m())",
        (
            "Meta#.rate = ?",
            "K#.rate = ?",
            "del K#.rate",
            "Meta#.m = lambda cls: ?",
        ),
    ),
    "descriptor": piece(
        """
        class D#:
            w = ?
            def __get__(self, obj, cls):
                return self.w, ?
        class K#:
            d = D#()
        O# = K#()
        """,
        "(O#.d, K#.d)",
        (
            "D#.w = ?",
            "K#.d = ?",
            "K#.d = D#()",
            "D#.__get__ = lambda self, *_: ?",
            "vars(K#)['d'].w = ?",
        ),
    ),
    "class of a factory": piece(
        """
        def make#(a):
            class K:
                def m(self):
                    return a, self.w
                w = ?
            return K
        K# = make#(?)
        O# = K#()
        """,
        "O#.m()",
        (
            "K#.w = ?",
            "K# = make#(?); O# = K#()",
            "K#.m.__defaults__ = ()",
            "K#.m.__closure__[0].cell_contents = ?",
        ),
    ),
    "helper of another module": piece(
        'cfg.np = np\nexec("W# = ?!\\ndef h#():\\n    return W#, g#()\\ndef g#():\\n    return ?!\\n", vars(cfg))',
        "cfg.h#()",
        (
            "cfg.W# = ?",
            "cfg.g# = lambda: ?",
            "cfg.h# = lambda: ?",
        ),
    ),
    "attribute that a module computes": piece(
        "other.__getattr__ = lambda name: (name, ?)",
        "other.missing#",
        (
            "other.__getattr__ = lambda name: ?",
            "other.missing# = ?",
            "del other.missing#",
        ),
    ),
    "aliases": piece(
        """
        class K#:
            rate = ?
        O# = K#()
        cfg.R# = ?; other.R# = ?
        def h#():
            a, b = cfg, O#
            return a.R#, b.rate
        """,
        "h#()",
        (
            "cfg.R# = ?",
            "K#.rate = ?",
            "O# = K#()",
        ),
    ),
    "loop": piece(
        """
        class K#:
            rate = ?
            def m(self):
                return self.rate
        LOOP# = [K#(), K#()]
        cfg.R# = ?; other.R# = ?
        def h#():
            found = [m.R# for m in (cfg, other)]
            for o in LOOP#:
                found.append((o.rate, o.m()))
            return found
        """,
        "h#()",
        (
            "cfg.R# = ?",
            "other.R# = ?",
            "K#.rate = ?",
            "K#.m = lambda self: ?",
            "LOOP#.append(K#())",
            "LOOP#[0].rate = ?",
            "LOOP#[1].m = lambda: ?",
        ),
    ),
    "item": piece(
        """
        class K#:
            rate = ?
        D# = {'a': K#(), 'b': (cfg,)}
        cfg.R# = ?
        """,
        "(D#['a'].rate, D#['b'][0].R#)",
        (
            "K#.rate = ?",
            "cfg.R# = ?",
            "D#['a'] = K#()",
            "D#['a'].rate = ?",
        ),
    ),
    "state beside a counter": piece(
        """
        D# = {"n": 0, "w": ?, "l": [?]}
        C# = [[], [?]]
        def count#():
            D#["n"] += 1
            C#[0].append(1)
            return D#["w"], D#["l"], C#[1]
        """,
        "count#()",
        (
            "D#['w'] = ?",
            "D#['l'].append(?)",
            "D#['l'] = [?]",
            "D#['n'] = 0",
            "C#[1].append(?)",
            "C#[1] = [?]",
            "D# = {'n': 0, 'w': ?, 'l': [?]}",
        ),
    ),
    "object that counts": piece(
        """
        class K#:
            def __init__(self):
                self.n, self.w, self.log = 0, ?, []
            def m(self):
                self.n += 1
                self.log.append(1)
                return self.w
        O# = K#()
        """,
        "O#.m()",
        ("O# = K#(); O#.w = ?", "O#.w = ?", "O#.log = []"),
    ),
    "lazy": piece(
        """
        LAZY# = None
        W# = ?
        def lazy#():
            global LAZY#
            if LAZY# is None:
                LAZY# = [W#]
            return ?
        """,
        "lazy#()",
        (
            "W# = ?",
            "LAZY# = None",
        ),
    ),
    "implementation of a key": piece(
        "K# = imprint.random.key(3)",
        "(str(K#.dtype), imprint.random.key_data(K#).tolist())",
        (
            "K# = imprint.random.key(3, impl='rbg')",
            "K# = imprint.random.key(3, impl='unsafe_rbg')",
            "K# = imprint.random.clone(K#)",
        ),
    ),
}
