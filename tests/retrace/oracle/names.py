"""Sources: names that hide library names or builtins, and other state of functions.

`pieces` describes the parts of a piece.
"""

from tests.retrace.oracle.pieces import piece

NAMES = {
    "library's function": piece(
        "op# = np.negative",
        "op#(3)",
        ("op# = lambda v: ?", "op# = np.negative", "op# = np.abs", "del op#"),
    ),
    "library's module": piece(
        "m# = np",
        "m#.sign(-3)",
        (
            "m# = types.SimpleNamespace(sign=lambda v: ?)",
            *("m# = np", "m# = None", "del m#", "m# = inp"),
        ),
    ),
    "library's constant": piece(
        "import math\ntau# = math.tau", "tau#", ("tau# = ?", "tau# = math.tau")
    ),
    "library's function on an object": piece(
        "O# = types.SimpleNamespace(op=abs); cfg.op# = abs",
        "(O#.op(-1), cfg.op#(-1))",
        (
            "O#.op = lambda v: ?",
            "cfg.op# = lambda v: ?",
            "cfg.op# = abs",
            "O#.op = abs",
        ),
    ),
    "hidden builtin in a nested function": piece(
        "",
        "(lambda: [pow(2, 3) for _ in 'a'])()",
        ("pow = lambda *a: ?", "del pow", "import builtins; pow = builtins.pow"),
    ),
    "hidden builtin of another module": piece(
        'exec("def b#(): return round(2.5)", vars(cfg))',
        "cfg.b#()",
        ("cfg.round = lambda v: ?", "del cfg.round"),
    ),
    "name, text and annotations": piece(
        """
        def h#(a: 1 = ?, *, b=?): "text"
        """,
        "(h#.__name__, h#.__qualname__, h#.__doc__, h#.__annotations__, h#.__defaults__)",
        (
            *("h#.__name__ = 'a'", "h#.__qualname__ = 'b'", "h#.__doc__ = 'c'"),
            *("h#.__annotations__['a'] = ?", "h#.__annotations__ = {}"),
            *("h#.__defaults__ = (?,)", "h#.__defaults__ = None"),
        ),
    ),
    "name of a class": piece(
        "class K#: 'text'",
        "(K#.__name__, K#.__doc__)",
        ("K#.__name__ = 'a'", "K#.__doc__ = 'c'"),
    ),
    "imported inside, replaced": piece(
        """
        cfg.J# = ?; other.J# = ?
        def h#():
            import oracle_cfg as c
            return c.J#
        """,
        "h#()",
        (
            *("cfg.J# = ?", "sys.modules['oracle_cfg'] = other", "other.J# = ?"),
            *("sys.modules['oracle_cfg'] = cfg", "sys.modules['oracle_cfg'] = None"),
        ),
    ),
    "imported from inside, replaced": piece(
        """
        cfg.J# = ?; other.J# = ?
        def h#():
            from oracle_other import J#
            return (lambda: J#)()
        """,
        "h#()",
        ("other.J# = ?", "sys.modules['oracle_other'] = cfg", "cfg.J# = ?"),
    ),
    "generator that began": piece(
        """
        W# = ?
        def g#():
            while True: yield W#
        G# = g#(); next(G#)
        """,
        "next(G#)",
        ("W# = ?", "G# = g#(); next(G#)"),
    ),
    "views and methods of containers": piece(
        """
        D# = {'a': ?}; L# = [?, ?]
        V# = D#.values(); get# = D#.get; at# = L#.__getitem__; log# = []; put# = log#.append
        """,
        "([*V#], get#('a'), at#(-1), put#(1))",
        (
            *("D#['a'] = ?", "D#['b'] = ?", "L#[-1] = ?", "L#.append(?)", "L#[0] = ?"),
            *(
                "get# = {'a': ?}.get",
                "V# = D#.copy().values()",
                "at# = [?].__getitem__",
            ),
        ),
    ),
    "state beside new keys": piece(
        """
        D# = {"w": ?, "l": [?]}
        def h#():
            D#[len(D#)] = 1
            D#.setdefault("seen", []).append(1)
            D#.update(last=1)
            return D#["w"], D#["l"]
        """,
        "h#()",
        (
            *("D#['w'] = ?", "D#['l'].append(?)", "D#['l'] = [?]"),
            "D# = {'w': ?, 'l': [?]}",
        ),
    ),
}
