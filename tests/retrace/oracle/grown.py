"""Sources to which the trace itself writes: the rest of each is still guarded.

The written value is not read, so the plain function and the compiled one agree. It is
written only during a trace, because each call of the plain function would be an edit
otherwise; or both write the same. `pieces` describes the parts of a piece.
"""

from tests.retrace.oracle.pieces import piece

DICT_EDITS = (
    "D#['a'] = ?",
    "D#['b'] = ?",
    "D#.pop('a', None)",
    "D#.pop('n', None)",
    "D#['n'] = 7",
    "D#['a'] = D#.pop('a', ?)",
    "D#.clear()",
    "D#.update(a=?, c=?)",
)
REST = "[(k, v) for k, v in D#.items() if k != 'n']"

GROWN = {
    "dict that gains a key": piece(
        """
        from imprint._src.core.trace import current_trace
        D# = {'a': ?, 1: ?}
        def write#():
            if current_trace() is not None:
                D#.setdefault('n', 0)
        """,
        f"(write#(), {REST})[1]",
        (*DICT_EDITS, "D# = {'a': ?}", "D# = dict(D#)"),
    ),
    "dict with a count": piece(
        """
        from imprint._src.core.trace import current_trace
        D# = {'n': 0, 'a': ?}
        def write#():
            if current_trace() is not None:
                D#['n'] = D#.get('n', 0) + 1
        """,
        f"(write#(), {REST})[1]",
        (*DICT_EDITS, "D# = {'n': 0, 'a': ?}"),
    ),
    "dict whose items move": piece(
        """
        from imprint._src.core.trace import current_trace
        D# = {'a': ?, 'b': ?, 'c': ?}
        def write#():
            if current_trace() is not None and D#:
                key = min(D#)
                D#[key] = D#.pop(key)
        """,
        "(write#(), sorted(D#.items(), key=lambda item: item[0]))[1]",
        ("D#['a'] = ?", "D#['d'] = ?", "D#.pop('a', None)", "D#.clear()"),
    ),
    "captured dict that gains a key": piece(
        f"""
        from imprint._src.core.trace import current_trace
        def keep#(D#):
            def read():
                if current_trace() is not None:
                    D#['n'] = D#.get('n', 0) + 1
                return {REST}
            return read
        D# = {{'a': ?, 1: ?}}
        r# = keep#(D#)
        """,
        "r#()",
        (*DICT_EDITS, "D# = {'a': ?}; r# = keep#(D#)", "r# = keep#(dict(D#))"),
    ),
    "list that is emptied and filled anew": piece(
        """
        class T#:
            def __init__(self, v): self.v = v
        L# = []; V# = ?
        def fill#():
            L#.clear()
            L#.append(T#(V#))
            return L#[0].v, len(L#)
        """,
        "fill#()",
        ("V# = ?", "L#.append(T#(?))", "L# = [T#(?)]", "L#.clear()", "T#.w = ?"),
    ),
    "dict that is emptied and filled anew": piece(
        """
        class T#:
            def __init__(self, v): self.v, self.me = v, self
        D# = collections.defaultdict(list); V# = ?
        def fill#():
            D#.clear()
            D#['a'].append(T#(V#))
            return D#['a'][0].v, len(D#)
        """,
        "fill#()",
        ("V# = ?", "D#['a'].append(T#(?))", "D#['b'] = T#(?)", "D#.clear()"),
    ),
    "table of what was worked out": piece(
        """
        M# = {}; V# = ?; N# = 0
        def known#():
            if 'a' not in M#:
                M#['a'] = V#
            return M#['a']
        """,
        "known#()",
        # A table that is filled more than three times is no longer compared.
        (
            "N# += 1; V# = ?\nif N# < 3: M#.clear()",
            "N# += 1\nif N# < 3: M#.clear(); M#['a'] = ?",
            "V# = ?",
            "M# = {}",
        ),
    ),
    "default dict that gains a key": piece(
        """
        from imprint._src.core.trace import current_trace
        D# = collections.defaultdict(int, a=?)
        def write#():
            if current_trace() is not None:
                D#['n']
        """,
        f"(write#(), {REST})[1]",
        DICT_EDITS,
    ),
    "dict in a list that gains a key": piece(
        """
        from imprint._src.core.trace import current_trace
        D# = {'a': ?}
        L# = [D#, ?]
        def write#():
            if current_trace() is not None:
                L#[0]['n'] = [?]
        """,
        f"(write#(), {REST}, L#[1])[1:]",
        (*DICT_EDITS, "L#[1] = ?", "D# = {'a': ?}; L#[0] = D#"),
    ),
    "list that grows": piece(
        """
        from imprint._src.core.trace import current_trace
        L# = [?, ?]
        def write#():
            if current_trace() is not None:
                L#.append(...)
        """,
        "(write#(), [v for v in L# if v is not ...])[1]",
        ("L#[0] = ?", "L#[1] = ?", "L# = [?, ?]", "L#[:] = [?, ?]", "L# = L#[:1]"),
    ),
    "deque that grows": piece(
        """
        from imprint._src.core.trace import current_trace
        L# = collections.deque([?, ?])
        def write#():
            if current_trace() is not None:
                L#.append(...)
        """,
        "(write#(), [v for v in L# if v is not ...])[1]",
        ("L#[0] = ?", "L#[1] = ?", "L#.appendleft(('first', ?))"),
    ),
    "set that grows": piece(
        """
        from imprint._src.core.trace import current_trace
        S# = {1, ?!}
        def write#():
            if current_trace() is not None:
                S#.add(...)
        """,
        "(write#(), sorted(repr(v) for v in S# if v is not ...))[1]",
        ("S#.add(?!)", "S#.discard(1)", "S#.discard(...)", "S# = {?!}", "S#.clear()"),
    ),
    "table that is filled by need": piece(
        """
        D# = {}
        def keep#(k):
            if k not in D#:
                D#[k] = ?
            return D#[k]
        """,
        "[keep#(k) for k in ('a', 1, (1, 'b'), None, keep#)]",
        ("D#['a'] = ?", "D#[1] = ?", "D#[1, 'b'] = ?", "D#[keep#] = ?", "D# = {}"),
    ),
    "objects that are made by need": piece(
        """
        class O#:
            rate = ?
        D#, L# = {}, []
        def keep#(k):
            if k not in D#:
                D#[k] = O#()
            if not L#:
                L#.append(O#())
            return D#[k].rate, L#[0].rate
        """,
        "keep#(3)",
        (
            *("O#.rate = ?", "D#[3].rate = ?", "L#[0].rate = ?", "D#[3] = O#()"),
            *("L#[0] = D#[3]", "D# = {}", "L# = []"),
        ),
    ),
}
"""Items that follow the earlier ones of a list or deque are ignored."""
