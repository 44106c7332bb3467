"""Kinds: values whose state is in a base class, in slots, or in C.

`KINDS` are bound where any source is: `strict=True` sees writes to them.
`STATIC_KINDS` are static arguments. `pieces` describes the parts of a piece.
"""

from tests.retrace.oracle.pieces import piece

KINDS = {
    "matrix": piece(
        "A# = np.ones((1, 2)).view(np.matrix)",
        "A#.tolist()",
        ("A# = np.zeros((1, 2)).view(np.matrix)",),
        ("A#[0, 0] += 1",),
    ),
    "masked array": piece(
        "A# = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])",
        "(A#.tolist(), A#.filled().tolist(), float(A#.fill_value))",
        ("A# = np.ma.array([1.0, 2.0], mask=[0, 1])",),
    ),
    "array of objects": piece(
        "A# = np.array([?!, [?], None], object)",
        "repr(A#.tolist())",
        ("A# = np.array([?!, ?!], object)",),
    ),
    "subclass of an array": piece(
        """
        class A#(np.ndarray):
            pass
        V# = np.arange(3.0).view(A#); V#.unit = ?
        """,
        "(V#.tolist(), V#.unit)",
        ("V# = np.arange(4.0).view(A#); V#.unit = ?",),
        ("V#[0] += 1", "V#.unit = ?", "V#.other = ?"),
    ),
    "record": piece(
        "A# = np.array([(1, 2.0)], [('a', 'i4'), ('b', 'f4')]); R# = A#[0]",
        "(R#.tolist(), A#.view(np.recarray).a.tolist())",
        (),
        ("R#['a'] += 1", "A#['b'] += 1"),
    ),
    "chain of dicts": piece(
        "D# = collections.ChainMap({'a': ?}, {'b': ?})",
        "(D#['a'], D#['b'])",
        ("D# = collections.ChainMap({'a': ?, 'b': ?})",),
    ),
    "proxy of a dict": piece(
        "D# = {'a': ?}; P# = types.MappingProxyType(D#)",
        "P#['a']",
        ("P# = types.MappingProxyType({'a': ?})", "D#['a'] = ?"),
    ),
    "subclasses of containers": piece(
        """
        class L#(list): pass
        class D#(dict): pass
        class S#(set): pass
        class T#(tuple): pass
        F# = L#([?]), D#(a=?), S#([1]), T#(([?],))
        for each in F#: each.w = ?
        """,
        "(repr(F#[0]), repr(F#[1]), repr(F#[2]), repr(F#[3]), [each.w for each in F#])",
        (
            *("F#[0].append(?)", "F#[0][0] = ?", "F#[2].add(?!)", "F#[2].clear()"),
            "F#[1]['b'] = ?",
        ),
        (
            "F#[3][0].append(?)",
            "F#[0].w = ?",
            "F#[1].w = ?",
            "F#[2].w = ?",
            "F#[3].w = ?",
        ),
    ),
    "subclasses of ordered containers": piece(
        """
        class O#(collections.OrderedDict): pass
        class Q#(collections.deque): pass
        class D#(collections.defaultdict): pass
        class C#(collections.Counter): pass
        F# = O#(a=?, b=?), Q#([?, ?]), D#(lambda: ?, a=?), C#(a=1)
        for each in F#: each.w = ?
        """,
        "([*F#[0]], [*F#[1]], [*F#[2]], [*F#[3]], [each.w for each in F#], "
        "F#[0]['a'], F#[2].default_factory())",
        (
            *("F#[0]['a'] = ?", "F#[0].move_to_end('a')", "F#[0]['c'] = ?"),
            *("F#[1].rotate()", "F#[1].append(?)"),
            *("F#[2]['c'] = ?", "F#[3]['b'] += 1"),
        ),
        (
            "F#[2].default_factory = lambda: ?",
            "F#[0].w = ?",
            "F#[1].w = ?",
            "F#[2].w = ?",
            "F#[3].w = ?",
        ),
    ),
    "member with attributes": piece(
        """
        class E#(enum.Enum):
            RED = 1
        class I#(enum.IntEnum):
            BLUE = [2][0]
        """,
        "(getattr(E#.RED, 'w', None), getattr(I#.BLUE, 'w', None))",
        (),
        ("E#.RED.w = ?", "I#.BLUE.w = ?"),
    ),
    "scalars with attributes": piece(
        """
        class I#(int): pass
        class S#(str): pass
        F# = I#(1), S#('a')
        """,
        "[getattr(each, 'w', None) for each in F#]",
        (),
        ("F#[0].w = ?", "F#[1].w = ?"),
    ),
    "exceptions": piece(
        """
        class X#(Exception): pass
        F# = X#(?), OSError(3, 'text')
        """,
        "(F#[0].args, getattr(F#[0], 'w', None), F#[1].errno)",
        (),
        ("F#[0].args = (?,)", "F#[0].w = ?", "F#[1].errno = 7"),
    ),
    "cached property": piece(
        """
        class K#:
            @functools.cached_property
            def w(self):
                return ?
        O# = K#()
        """,
        "O#.w",
        (),
        ("O#.w = ?", "del O#.w"),
    ),
    "class without a module": piece(
        """
        N# = {}; exec('class K: pass', N#)
        O# = N#['K'](), types.new_class('K#')()
        for each in O#: each.w = ?
        """,
        "[each.w for each in O#]",
        (),
        ("O#[0].w = ?", "O#[1].w = ?"),
    ),
    "bound method of a list": piece(
        "L# = [?]; M# = L#.__len__",
        "M#()",
        ("M# = [].__len__",),
        ("L#.append(?)",),
    ),
}

STATIC_KINDS = {
    "value with parts of all kinds": piece(
        """
        class State:
            def __eq__(self, other): return self is other
            def __hash__(self): return 1
        S = State()
        S.a = np.zeros(500); S.b = array.array('d', [1]); S.c = [[0] for _ in range(99)]
        S.d = types.MappingProxyType({'a': [?]}); S.e = ValueError(?)
        S.f = np.array([[?], None], object)
        """,
        "(n.a[0], n.b[0], n.c[7], n.d['a'], n.e.args, n.f[0])",
        (
            "S.d['a'].append(?)",
            "S.e.args = (?,)",
        ),
    ),
    "member of an enum": piece(
        """
        class E#(enum.Enum):
            RED = (1, (?,))
        S = E#.RED
        """,
        "(n.value, getattr(n, 'w', None))",
        ("S.w = ?",),
    ),
    "exception": piece(
        "S = ValueError(?)",
        "(n.args, getattr(n, 'w', None))",
        ("S.args = (?,)", "S.w = ?", "S = ValueError(?)"),
    ),
    "function with defaults": piece(
        """
        def S(a=?, *, k=[?]):
            return a, k
        """,
        "n()",
        ("S.__defaults__ = (?,)", "S.__kwdefaults__['k'].append(?)"),
    ),
    "subclass of a partial": piece(
        """
        class P#(functools.partial):
            pass
        S = P#(lambda a, b: (a, b), ?, [?])
        """,
        "n()",
        ("S = P#(S.func, ?, [?])",),
    ),
    "bound method of a list": piece(
        "L# = [?]; S = L#.__len__",
        "n()",
        ("L#.append(?)",),
    ),
}
