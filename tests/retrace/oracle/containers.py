"""Sources that are containers or arrays, with the ways in which users change them.

`pieces` describes the parts of a piece.
"""

from tests.retrace.oracle.pieces import piece

CONTAINERS = {
    "list": piece(
        "L# = [?, ?]",
        "(L#[0], len(L#), list(L#))",
        (
            "L#.append(?)",
            "L#[0] = ?",
            "L#.clear()",
            "L#.reverse()",
            "L# = [?]",
            "L#[:] = [?, ?]",
            "L# = [*L#]",
            "del L#[0]",
            "L# *= 2",
        ),
    ),
    "nested list": piece(
        "L# = [[?], {'a': (?, [?])}]",
        "repr(L#)",
        (
            "L#[0].append(?)",
            "L#[1]['a'] = ?",
            "L#[1]['a'][1].append(?)",
            "L#[0] = ?",
        ),
    ),
    "list that holds itself": piece(
        "L# = [?]; L#.append(L#)",
        "L#[1][1][0]",
        (
            "L#[0] = ?",
            "L#[1] = [?, ?]",
        ),
    ),
    "dict": piece(
        "D# = {'a': ?, 1: ?}",
        "(D#.get('a'), tuple(D#.items()))",
        (
            "D#['a'] = ?",
            "D#['b'] = ?",
            "D#.clear()",
            "D# = {'a': ?}",
            "D#.setdefault('c', ?)",
            "D#['a'] = D#.pop('a')",
            "D#[True] = ?",
            "D# = dict(D#)",
        ),
    ),
    "set": piece(
        "S# = {1, ?!}",
        "sorted(map(repr, S#))",
        (
            "S#.add(?!)",
            "S#.discard(1)",
            "S# |= {?!}",
            "S# = {?!}",
            "S#.clear()",
        ),
    ),
    "tuple": piece(
        "T# = (?, [?], (?, {}))",
        "repr(T#)",
        (
            "T# = (?, [?], (?, {}))",
            "T#[1].append(?)",
            "T#[2][1]['a'] = ?",
        ),
    ),
    "ordered dict": piece(
        "D# = collections.OrderedDict(a=?, b=?)",
        "list(D#.items())",
        (
            "D#['a'] = ?",
            "D#.move_to_end('a')",
            "del D#['b']",
        ),
    ),
    "default dict": piece(
        "D# = collections.defaultdict(lambda: ?, a=?)",
        "(D#['a'], len(D#))",
        (
            "D#['a'] = ?",
            "D#['c'] = ?",
            "D#.default_factory = list",
        ),
    ),
    "default of a default dict": piece(
        "D# = collections.defaultdict(lambda: ?)",
        "dict(D#).get('a', D#.default_factory())",
        (
            "D#.default_factory = lambda: ?",
            "D#['a'] = ?",
        ),
    ),
    "dict that is read by its keys": piece(
        "D# = {'a': ?, 'n': {'b': ?}}; E# = D#['n']",
        "(D#['a'], D#['n']['b'], E#.get('b'), D#.get('c'))",
        (
            "D# = {'a': ?, 'n': {'b': ?}}",
            "D# = {**D#}",
            "D#['n'] = {**D#['n']}",
            "D#['n']['b'] = ?",
            "E# = {'b': ?}",
            "E#['b'] = ?",
            "D# = {**D#, 'n': E#}",
            "D#['c'] = ?",
        ),
    ),
    "deque": piece(
        "D# = collections.deque([?, ?], 3)",
        "(list(D#), D#.maxlen)",
        (
            "D#.append(?)",
            "D#.rotate()",
            "D# = collections.deque(D#, 4)",
        ),
    ),
    "counter": piece(
        "C# = collections.Counter(a=1)",
        "list(C#.items())",
        ("C# = collections.Counter(a=2)",),
        (
            "C#['a'] += 1",
            "C#['b'] = ?",
        ),
    ),
    "subclass of list": piece(
        """
        class M#(list):
            pass
        L# = M#([?, ?])
        """,
        "(L#[0], len(L#))",
        ("L# = M#([?])", "L#[0] = ?", "L#.append(?)", "L#.extend([?])"),
    ),
    "big list": piece(
        "L# = [?] * 300",
        "(L#[0], L#[-1])",
        ("L# = [?] * 300",),
        (
            "L#[0] = ?",
            "L#[299] = ?",
        ),
    ),
    "long list of numbers": piece(
        "L# = [0.5] * 40",
        "repr(L#)",
        (
            "L#[3] = ?",
            "L#[7] = 0.5",
            "L#.append(?)",
            "L#.reverse()",
            "L#[:] = [0.5] * 40",
            "L# = [*L#]",
        ),
    ),
    "list of many objects": piece(
        """
        class C#:
            pass
        class D#:
            pass
        L# = [C#() for _ in range(40)]
        """,
        "[type(o).__name__ for o in L#]",
        (
            "L#[3] = D#()",
            "L#[3] = C#()",
            "L#[3] = None",
            "L#.append(D#())",
            "L#.reverse()",
            "del L#[0]",
            "L#.clear()",
        ),
    ),
    "big dict": piece(
        "D# = dict.fromkeys(range(300), ?)",
        "D#[7]",
        ("D# = dict.fromkeys(range(300), ?)",),
        ("D#[7] = ?",),
    ),
    "numpy array": piece(
        "A# = np.arange(3)",
        "A#.tolist()",
        (
            "A# = np.arange(4)",
            "A# = A# * 1.0",
            "A# = A# + 1",
        ),
        (
            "A#[0] += 1",
            "A# += 1",
            "A#.shape = (-1, 1)",
            "A#[1:] = 0",
        ),
    ),
    "big numpy array": piece(
        "A# = np.arange(3000)",
        "int(A#[7])",
        ("A# = A# + 1",),
        ("A#[7] += 1",),
    ),
    "list of arrays": piece(
        "A# = [np.arange(3), np.ones(2)]",
        "[a.tolist() for a in A#]",
        (
            "A#[0] = np.arange(4)",
            "A#.append(np.ones(1))",
            "A#.reverse()",
        ),
        (
            "A#[0][0] += 1",
            "A#[1] += 1",
        ),
    ),
    "array of imprint": piece(
        "A# = inp.arange(3)",
        "A#.tolist()",
        (
            "A# = inp.arange(4)",
            "A# = A# + 1",
        ),
    ),
    "numpy scalar": piece(
        "A# = np.float32(1)",
        "repr(A#)",
        (
            "A# = np.float64(1)",
            "A# = np.float32(?!)",
        ),
    ),
}
